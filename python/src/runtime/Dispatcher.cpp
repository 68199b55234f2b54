// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dispatcher.cpp - One launch, from call to runtime ------------------===//
//
// A launch that finds its kernel runs no Python code, so it is written over
// Python's C API, in the order in which it happens:
//
//   bindArguments    arguments to parameters; compile options apart
//   hasChanged       has anything changed that the code of all kernels depends on? then
//                    forget them (_forget_compiled)
//   ArgumentReader   slots for the kernel, and the key: the bytes that say which kernel
//   the grid         which may be a function of the arguments
//   findKernel       by the key; on a miss compileMissing, which reads the arguments once
//                    more, now as Python objects for the compiler
//   launchImage      or a stream's queue, or copies for a device (Staging)
//
// References. `Bound` borrows: the caller of a vectorcall holds the arguments.
// Whatever may run Python code (a hook, a grid, a Watch that has to look
// closely, the compiler) may also launch this kernel again, clear its kernels
// or let go of objects. So a kernel is held by a new reference before it is
// used, `changes` tells findKernel that its iterator is stale, and destructors
// of what is dropped run last.
//
// A keyword is looked up among the parameters first, then among options that
// change the code, options of other compilers that do not, and options that are
// refused, each with an error of its own: a misspelt parameter must never pass
// for an option.
//
//===----------------------------------------------------------------------===//
#include "Dispatcher.h"
#include "ArgumentReader.h"
#include "Errors.h"
#include "Grid.h"
#include "JobState.h"
#include "KernelImage.h"
#include "LanguageObjects.h"
#include "Staging.h"
#include "StreamBindings.h"
#include "Watch.h"

#include <cstddef>
#include <functional>
#include <structmember.h>
#include <unordered_map>

namespace nb = nanobind;
using namespace nereid::python;

namespace {

//===----------------------------------------------------------------------===//
// State of a jit function
//===----------------------------------------------------------------------===//

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

struct CachedKernel {
  PyObject *kernel;         // nereid.CompiledKernel
  const KernelImage *image; // inside it
  /// What the functions among its constants depend on: a Watch, or null.
  PyObject *watch;
};

struct Dispatcher {
  std::string name;
  std::vector<Parameter> parameters;
  bool checkStrides = true;
  InternTable interned;
  std::unordered_map<std::string, CachedKernel, StringHash, std::equal_to<>> kernels;
  uint64_t changes = 0; ///< of `kernels`
  /// What the code of all kernels depends on: a Watch, or null.
  PyObject *watch = nullptr;
  /// Functions that get the arguments of each launch before it; a list or null.
  PyObject *preRunHooks = nullptr;
  /// Whether the code tells the threads of a program apart, so that num_warps, how many
  /// they are, is part of it.
  enum Threads { Unknown, Unasked, Asked } threads = Unknown;

  ~Dispatcher() {
    clear();
    Py_XDECREF(preRunHooks);
    for (Parameter &parameter : parameters) {
      Py_XDECREF(parameter.name);
      Py_XDECREF(parameter.defaultValue);
      Py_XDECREF(parameter.remembered.object);
    }
  }
  void clear() {
    auto old = std::move(kernels);
    kernels.clear();
    ++changes;
    for (auto &entry : old)
      drop(entry.second);
    Py_CLEAR(watch);
    threads = Unknown;
  }
  static void drop(const CachedKernel &entry) {
    Py_DECREF(entry.kernel);
    Py_XDECREF(entry.watch);
  }
};

struct DispatcherObject {
  PyObject_HEAD Dispatcher *state;
};

struct BoundLaunch {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject *dispatcher;
  PyObject *grid;
};

PyTypeObject *dispatcherType = nullptr;
PyTypeObject *boundLaunchType = nullptr;

Dispatcher &stateOf(PyObject *self) { return *reinterpret_cast<DispatcherObject *>(self)->state; }

/// "add_kernel(x_ptr, y_ptr, n, BLOCK: constexpr)" for messages.
std::string signatureText(const Dispatcher &state) {
  std::string text = state.name + "(";
  for (size_t i = 0; i < state.parameters.size(); ++i) {
    const Parameter &parameter = state.parameters[i];
    text += (i ? ", " : "") + parameter.nameText + (parameter.isConstexpr ? ": constexpr" : "");
    if (parameter.defaultValue)
      text += "=...";
  }
  return text + ")";
}

bool failLaunch(const Dispatcher &state, const std::string &text) {
  setArgumentError(state.name + ": " + text);
  return false;
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

/// The arguments of one launch by parameter; borrowed references.
struct Bound {
  SmallBuffer<PyObject *, 48> values;
  /// Keywords that are compile options, in the order of the call.
  std::vector<std::pair<PyObject *, PyObject *>> options;
  /// num_warps=, an option where kernels tell threads apart: name and value, or null.
  std::pair<PyObject *, PyObject *> warps;
};

int64_t parameterIndex(const Dispatcher &state, PyObject *name) {
  for (size_t i = 0; i < state.parameters.size(); ++i)
    if (state.parameters[i].name == name)
      return static_cast<int64_t>(i);
  if (PyUnicode_CHECK_INTERNED(name)) // as the names of parameters are
    return -1;
  for (size_t i = 0; i < state.parameters.size(); ++i)
    if (PyUnicode_Compare(state.parameters[i].name, name) == 0)
      return static_cast<int64_t>(i);
  return -1;
}

/// The name of a parameter or launch option close to `name`, for "did you mean".
std::string closestKeyword(const Dispatcher &state, PyObject *name) {
  nb::list names;
  for (const Parameter &parameter : state.parameters)
    names.append(nb::borrow(parameter.name));
  for (PyObject *options : {languageObjects().compileOptions, languageObjects().ignoredOptions})
    if (options)
      for (nb::handle option : nb::borrow(options))
        names.append(option);
  try {
    nb::object matches =
        nb::module_::import_("difflib").attr("get_close_matches")(nb::borrow(name), names, 1);
    if (nb::len(matches) > 0)
      return " Did you mean '" + std::string(nb::cast<nb::str>(matches[nb::int_(0)]).c_str()) +
             "'?";
  } catch (nb::python_error &) {
    PyErr_Clear();
  }
  return "";
}

/// Tells whoever wants to know that a launch option has no effect.
bool noteIgnored(const Dispatcher &state, PyObject *name) {
  PyObject *note = languageObjects().noteOption;
  return !note || nb::steal(PyObject_CallFunction(note, "sO", state.name.c_str(), name)).is_valid();
}

bool bindKeyword(Dispatcher &state, Bound &bound, size_t numPositional, PyObject *name,
                 PyObject *value) {
  const int64_t index = parameterIndex(state, name);
  const char *text = PyUnicode_AsUTF8(name);
  if (index >= 0) {
    if (static_cast<size_t>(index) < numPositional)
      return failLaunch(state, "parameter '" + std::string(text) +
                                   "' is given twice: as argument " + std::to_string(index + 1) +
                                   " and as a keyword");
    bound.values[index] = value;
    return true;
  }
  const std::string_view view(text);
  const LanguageObjects &language = languageObjects();
  if (language.compileOptions && PySet_Contains(language.compileOptions, name) == 1) {
    bound.options.emplace_back(name, value);
    return true;
  }
  if (language.ignoredOptions && PySet_Contains(language.ignoredOptions, name) == 1) {
    if (view == "num_warps" && value != Py_None) {
      bound.warps = {name, value};
      return true;
    }
    return value == Py_None || noteIgnored(state, name);
  }
  if (PyObject *why = language.refusedOptions
                          ? PyDict_GetItemWithError(language.refusedOptions, name)
                          : nullptr)
    return value == Py_None || failLaunch(state, PyUnicode_AsUTF8(why));
  if (view == "device" || view == "device_type" || view == "stream")
    return failLaunch(
        state, "the keyword '" + std::string(text) +
                   "' has no meaning here: a rank has one device, and launches run in order");
  if (view == "grid" || view == "warmup")
    return failLaunch(state,
                      "the keyword '" + std::string(text) + "' belongs to " + state.name +
                          ".run(...); with kernel[grid](...) the grid stands in the brackets");
  return failLaunch(state, "there is neither a parameter nor a launch option '" +
                               std::string(text) + "'." + closestKeyword(state, name) +
                               " The kernel is " + signatureText(state));
}

bool bindArguments(Dispatcher &state, Bound &bound, PyObject *const *args, size_t numPositional,
                   PyObject *kwnames) {
  const size_t count = state.parameters.size();
  for (const Parameter &parameter : state.parameters)
    if (parameter.isVariadic)
      return failLaunch(state, "the parameter '*" + parameter.nameText +
                                   "' takes any number of arguments, which a " +
                                   "kernel cannot; make it one parameter, which can be a tuple");
  if (numPositional > count)
    return failLaunch(state, "takes " + std::to_string(count) + " arguments, but " +
                                 std::to_string(numPositional) + " were given. The kernel is " +
                                 signatureText(state));
  bound.values.resize(count);
  for (size_t i = 0; i < count; ++i)
    bound.values[i] = i < numPositional ? args[i] : nullptr;
  const Py_ssize_t numKeywords = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t i = 0; i < numKeywords; ++i)
    if (!bindKeyword(state, bound, numPositional, PyTuple_GET_ITEM(kwnames, i),
                     args[numPositional + i]))
      return false;
  for (size_t i = 0; i < count; ++i) {
    if (bound.values[i])
      continue;
    const Parameter &parameter = state.parameters[i];
    bound.values[i] = parameter.defaultValue;
    if (bound.values[i])
      continue;
    if (parameter.isConstexpr)
      return failLaunch(state, "the constexpr parameter '" + parameter.nameText + "' (number " +
                                   std::to_string(i + 1) + ") has no value: write " +
                                   parameter.nameText + "=... in the call. The kernel is " +
                                   signatureText(state));
    return failLaunch(state, "argument " + std::to_string(i + 1) + " '" + parameter.nameText +
                                 "' is missing. The kernel is " + signatureText(state));
  }
  return true;
}

std::string parameterNames(const Dispatcher &state) {
  std::string names;
  for (const auto &parameter : state.parameters)
    names += (names.empty() ? "" : ", ") + parameter.nameText;
  return names;
}

/// The dict that a callable grid gets: every parameter with its value.
PyObject *boundDict(const Dispatcher &state, const Bound &bound) {
  PyObject *dict = PyDict_New();
  for (size_t i = 0; dict && i < state.parameters.size(); ++i) {
    PyObject *value = bound.values[i];
    PyObject *plain =
        isConstexpr(value) ? PyObject_GetAttrString(value, "value") : Py_NewRef(value);
    const bool ok = plain && PyDict_SetItem(dict, state.parameters[i].name, plain) == 0;
    Py_XDECREF(plain);
    if (!ok)
      Py_CLEAR(dict);
  }
  return dict;
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

enum class Mode { Launch, Warmup };

/// Whether what a Watch remembers has changed. It lives while it is asked: Python code
/// may run, which may forget the kernels.
bool hasChanged(PyObject *watch) {
  if (!watch)
    return false;
  Py_INCREF(watch);
  const bool changed = !isUnchanged(watch);
  Py_DECREF(watch);
  return changed;
}

/// The kernel for these arguments that was compiled before and is still right; null
/// if there is none.
/// Asking a Watch may run code of Python, which may launch, compile or forget kernels of this very
/// table: `changes` says whether it has to be looked up again.
const CachedKernel *findKernel(Dispatcher &state, std::string_view key) {
  auto found = state.kernels.find(key);
  if (found == state.kernels.end())
    return nullptr;
  PyObject *watch = found->second.watch;
  if (!watch)
    return &found->second;
  const uint64_t before = state.changes;
  const bool changed = hasChanged(watch);
  if (state.changes != before) {
    found = state.kernels.find(key);
    if (found == state.kernels.end())
      return nullptr;
  }
  if (!changed && found->second.watch == watch)
    return &found->second;
  const CachedKernel old = found->second;
  state.kernels.erase(found);
  ++state.changes;
  Dispatcher::drop(old);
  return nullptr;
}

/// Asks Python to compile (or find in the disk cache) the kernel for these
/// arguments, and remembers it. Null with an exception set.
const CachedKernel *compileMissing(PyObject *self, Dispatcher &state, const Bound &bound,
                                   std::string_view key, Mode mode) {
  nb::object specs = nb::steal(PyList_New(0));
  ArgumentReader reader(state.name, state.parameters, state.interned);
  reader.specs = specs.ptr();
  reader.dtypesArePointers = mode == Mode::Warmup;
  for (size_t i = 0; i < state.parameters.size(); ++i)
    if (!reader.read(i, bound.values[i]))
      return nullptr;
  nb::dict options;
  for (const auto &[name, value] : bound.options)
    options[nb::borrow(name)] = nb::borrow(value);
  try {
    nb::object kernel = nb::borrow(self).attr("_compile_specialisation")(specs, options);
    const KernelImage *image = nullptr; // of a target without a device
    if (nb::object held = kernel.attr("_image"); !held.is_none())
      image = nb::cast<const KernelImage *>(held);
    nb::object watch = nb::getattr(kernel, "_watch", nb::none());
    CachedKernel entry{kernel.release().ptr(), image,
                       isWatch(watch.ptr()) ? watch.release().ptr() : nullptr};
    auto [place, inserted] = state.kernels.try_emplace(std::string(key), entry);
    ++state.changes;
    if (!inserted) { // a launch from the compile itself, or from another thread
      std::swap(place->second, entry);
      Dispatcher::drop(entry);
    }
    return &place->second;
  } catch (nb::python_error &error) {
    error.restore();
  } catch (std::exception &error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  }
  return nullptr;
}

/// Names the argument in slot `slot` that symmetricArguments() has found.
void failNotSymmetric(const Dispatcher &state, const ArgumentReader &reader, const Bound &bound,
                      uint32_t slot) {
  const size_t index = reader.slotParameter[slot];
  const nereid::runtime::Job *parents = jobState().parents;
  if (parents && parents->ownerRank(reinterpret_cast<const void *>(reader.slots[slot])) >= 0) {
    setArgumentError(reader.place(index) + ": the " + describeObject(bound.values[index]) +
                     " is symmetric memory of the parent's job; " + forkedText(*parents));
    return;
  }
  setArgumentError(reader.place(index) +
                   ": the kernel uses it on other ranks (dl.symm_at, signals, put or get), so it "
                   "must lie in symmetric memory, but the " +
                   describeObject(bound.values[index]) +
                   " does not. Make it with nereid.symm.zeros(shape, dtype), empty, full or "
                   "from_array, on every rank");
}

/// Calls the functions of add_pre_run_hook with the arguments of a launch.
bool callPreRunHooks(PyObject *hooks, PyObject *const *args, size_t numPositional,
                     PyObject *kwnames) {
  try {
    nb::list positional;
    for (size_t i = 0; i < numPositional; ++i)
      positional.append(nb::borrow(args[i]));
    nb::dict keywords;
    for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); ++i)
      keywords[nb::borrow(PyTuple_GET_ITEM(kwnames, i))] = nb::borrow(args[numPositional + i]);
    nb::tuple given(positional);
    nb::object snapshot = nb::steal(PySequence_Tuple(hooks));
    for (nb::handle hook : snapshot) {
      PyObject *result = PyObject_Call(hook.ptr(), given.ptr(), keywords.ptr());
      if (!result)
        return false;
      Py_DECREF(result);
    }
    return true;
  } catch (nb::python_error &error) {
    error.restore();
    return false;
  }
}

/// Hands a launch to the stream of this thread. What it needs stays alive.
/// That is the kernel, whose image the launch points to, all arguments, and what was made of them
/// on the way: a caller may drop everything when kernel[grid](...) returns.
bool enqueueLaunch(const Dispatcher &state, const KernelImage &image, const Grid &size,
                   ArgumentReader &reader, const Bound &bound, PyObject *kernel) {
  auto launch =
      std::make_shared<PythonLaunch>(image, size.dims, reader.slots.data(), reader.slots.size());
  launch->keep(kernel);
  for (size_t i = 0; i < state.parameters.size(); ++i)
    launch->keep(bound.values[i]);
  for (PyObject *object : reader.takeKeepAlive())
    launch->keepStolen(object);
  return enqueue(launch);
}

/// Waits for the current stream of torch, if this process uses torch on a GPU: kernels
/// come after what it was given before.
bool finishForeignWork() {
  static PyObject *name = PyUnicode_InternFromString("torch.cuda");
  PyObject *modules = PyImport_GetModuleDict();
  PyObject *torch = modules ? PyDict_GetItemWithError(modules, name) : nullptr;
  if (!torch)
    return !PyErr_Occurred();
  nb::object ready = nb::steal(PyObject_CallMethod(torch, "is_initialized", nullptr));
  if (!ready.is_valid() || PyObject_IsTrue(ready.ptr()) != 1)
    return ready.is_valid();
  nb::object capturing =
      nb::steal(PyObject_CallMethod(torch, "is_current_stream_capturing", nullptr));
  if (!capturing.is_valid())
    return false;
  if (PyObject_IsTrue(capturing.ptr()) == 1) {
    setArgumentError("torch's current stream is being captured into a CUDA graph, which launches "
                     "of kernels cannot be part of; launch it outside of the capture");
    return false;
  }
  nb::object stream = nb::steal(PyObject_CallMethod(torch, "current_stream", nullptr));
  nb::object done = nb::steal(
      stream.is_valid() ? PyObject_CallMethod(stream.ptr(), "synchronize", nullptr) : nullptr);
  return done.is_valid();
}

/// The array whose address a slot holds: of a descriptor, what it describes.
nb::object arrayBehind(PyObject *value) {
  ArrayLayout layout;
  if (!readLayout(value, layout) && PyObject_HasAttrString(value, "block_shape"))
    if (nb::object base = nb::steal(PyObject_GetAttrString(value, "base")); base.is_valid())
      return base;
  PyErr_Clear();
  return nb::borrow(value);
}

/// Adds the arrays of the host among the arguments to `staging`; false with an
/// exception set.
/// Slots of them then hold addresses on the device. An array that the kernel cannot write, by its
/// parameter or by its own flag, is copied in one direction only.
bool stageArrays(const Dispatcher &state, const KernelImage &image, ArgumentReader &reader,
                 const Bound &bound, Staging &staging) {
  const auto &arguments = image.kernel->description->arguments;
  for (size_t slot = 0; slot < reader.slots.size(); ++slot) {
    if (!arguments[slot].isPointer() || (slot < 64 && reader.slotsOnGPU >> slot & 1))
      continue;
    const size_t index = reader.slotParameter[slot];
    nb::object array = arrayBehind(bound.values[index]);
    if (isOnGPU(array.ptr()))
      continue;
    ArrayLayout layout;
    const bool known = readLayout(array.ptr(), layout);
    const bool readOnly = state.parameters[index].isConst || (known && !layout.writeable);
    if (known && staging.add(array.ptr(), reader.slots[slot], readOnly))
      continue;
    setArgumentError(reader.place(index) + ": the " + describeObject(array.ptr()) +
                     " lies in memory of the host, from where it is not copied to the GPU; pass a "
                     "numpy array, a torch tensor or a symmetric tensor");
    return false;
  }
  return true;
}

/// A launch on a device that cannot read memory of the host.
bool launchOnDevice(const Dispatcher &state, const KernelImage &image, const Grid &size,
                    ArgumentReader &reader, const Bound &bound, PyObject *kernel) {
  Staging staging(image.kernel->device);
  if (!stageArrays(state, image, reader, bound, staging))
    return false;
  uint32_t badSlot = 0;
  if (currentStream()) {
    if (!staging.empty()) {
      setArgumentError(state.name + ": arrays of the host are copied to the GPU and back around a "
                                    "launch, which a stream does not wait for; inside `with "
                                    "stream:` pass symmetric tensors or torch tensors on the GPU");
      return false;
    }
    if (symmetricArguments(image, reader.slots.data(), badSlot))
      return enqueueLaunch(state, image, size, reader, bound, kernel);
    failNotSymmetric(state, reader, bound, badSlot);
    return false;
  }
  // What other libraries have begun in the streams of the GPU that they use comes first.
  if (!finishForeignWork())
    return false;
  auto copy = [&](nereid::runtime::Status (Staging::*step)()) {
    nereid::runtime::Status status;
    {
      nb::gil_scoped_release release;
      status = (staging.*step)();
    }
    if (!status.ok())
      setPythonError(status, errorTypes().launch);
    return status.ok();
  };
  if (!staging.empty() && !copy(&Staging::copyIn))
    return false;
  switch (launchImage(image, size.dims, reader.slots.data(), badSlot)) {
  case ImageLaunch::Done:
    return staging.empty() || copy(&Staging::copyOut);
  case ImageLaunch::NotSymmetric:
    failNotSymmetric(state, reader, bound, badSlot);
    return false;
  case ImageLaunch::Raised:
    return false;
  }
  return false;
}

PyObject *launch(PyObject *self, PyObject *grid, PyObject *const *args, size_t numPositional,
                 PyObject *kwnames, Mode mode) {
  Dispatcher &state = stateOf(self);
  if (state.preRunHooks && mode == Mode::Launch &&
      !callPreRunHooks(state.preRunHooks, args, numPositional, kwnames))
    return nullptr;
  Bound bound;
  if (!bindArguments(state, bound, args, numPositional, kwnames))
    return nullptr;
  if (hasChanged(state.watch)) {
    PyObject *done = PyObject_CallMethod(self, "_forget_compiled", nullptr);
    if (!done)
      return nullptr;
    Py_DECREF(done);
  }

  ArgumentReader reader(state.name, state.parameters, state.interned);
  reader.dtypesArePointers = mode == Mode::Warmup;
  reader.key.push_back(char(&activeProfile() - nereid::targetProfiles));
  reader.key.push_back(languageObjects().target);
  for (size_t i = 0; i < state.parameters.size(); ++i)
    if (!reader.read(i, bound.values[i]))
      return nullptr;
  if (state.checkStrides && !reader.finish(bound.values.data()))
    return nullptr;
  if (bound.warps.first) {
    if (state.threads == Dispatcher::Unknown) {
      PyObject *asks = PyObject_GetAttrString(self, "asks_for_threads");
      if (!asks)
        return nullptr;
      state.threads = PyObject_IsTrue(asks) ? Dispatcher::Asked : Dispatcher::Unasked;
      Py_DECREF(asks);
    }
    if (state.threads == Dispatcher::Asked)
      bound.options.push_back(bound.warps);
    else if (!noteIgnored(state, bound.warps.first))
      return nullptr;
  }
  for (const auto &[name, value] : bound.options)
    if (!reader.addOption(name, value))
      return nullptr;

  Grid size;
  if (mode == Mode::Launch) {
    if (PyCallable_Check(grid)) {
      PyObject *dict = boundDict(state, bound);
      PyObject *made = dict ? PyObject_CallOneArg(grid, dict) : nullptr;
      if (dict && !made)
        addNote("in the grid function of kernel " + state.name + "; the arguments are " +
                parameterNames(state));
      Py_XDECREF(dict);
      const bool ok = made && parseGrid(state.name, made, /*called=*/true, size);
      Py_XDECREF(made);
      if (!ok)
        return nullptr;
    } else if (!parseGrid(state.name, grid, /*called=*/false, size)) {
      return nullptr;
    }
  }

  const CachedKernel *entry = findKernel(state, reader.keyBytes());
  if (!entry && !(entry = compileMissing(self, state, bound, reader.keyBytes(), mode)))
    return nullptr;
  PyObject *kernel = Py_NewRef(entry->kernel); // survives a cache that is cleared meanwhile
  if (mode == Mode::Warmup || size.empty())
    return kernel;

  if (!entry->image) {
    Py_DECREF(kernel);
    failLaunch(state, "its target makes code that is compiled only: no device of this build runs "
                      "it. warmup(...) returns the compiled kernel, NEREID_TARGET or --target "
                      "choose another target");
    return nullptr;
  }
  const KernelImage &image = *entry->image;
  if (image.numArgs() != reader.slots.size()) {
    PyErr_Format(PyExc_SystemError, "%s: compiled for %u arguments, launched with %zu",
                 state.name.c_str(), image.numArgs(), reader.slots.size());
    Py_DECREF(kernel);
    return nullptr;
  }
  uint32_t badSlot = 0;
  if (!image.kernel->device.hasHostMemory()) [[unlikely]] {
    if (launchOnDevice(state, image, size, reader, bound, kernel))
      return kernel;
    Py_DECREF(kernel);
    return nullptr;
  }
  if (goesIntoStream(image)) {
    if (!symmetricArguments(image, reader.slots.data(), badSlot)) {
      failNotSymmetric(state, reader, bound, badSlot);
    } else if (enqueueLaunch(state, image, size, reader, bound, kernel)) {
      return kernel;
    }
    Py_DECREF(kernel);
    return nullptr;
  }
  switch (launchImage(image, size.dims, reader.slots.data(), badSlot)) {
  case ImageLaunch::Done:
    return kernel;
  case ImageLaunch::NotSymmetric:
    failNotSymmetric(state, reader, bound, badSlot);
    break;
  case ImageLaunch::Raised:
    break;
  }
  Py_DECREF(kernel);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// BoundLaunch
//===----------------------------------------------------------------------===//

PyObject *callBound(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  auto *bound = reinterpret_cast<BoundLaunch *>(self);
  return launch(bound->dispatcher, bound->grid, args, PyVectorcall_NARGS(nargsf), kwnames,
                Mode::Launch);
}

void deallocBound(PyObject *self) {
  auto *bound = reinterpret_cast<BoundLaunch *>(self);
  Py_XDECREF(bound->dispatcher);
  Py_XDECREF(bound->grid);
  PyTypeObject *type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef boundMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(BoundLaunch, vectorcall), READONLY, nullptr},
    {"kernel", T_OBJECT, offsetof(BoundLaunch, dispatcher), READONLY, "The jit function."},
    {"grid", T_OBJECT, offsetof(BoundLaunch, grid), READONLY,
     "The grid that it will be launched with."},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot boundSlots[] = {
    {Py_tp_doc, const_cast<char *>("kernel[grid]: call it with the kernel's arguments to launch.")},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocBound)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_members, boundMembers},
    {0, nullptr},
};
PyType_Spec boundSpec = {"nereid._runtime.BoundLaunch", sizeof(BoundLaunch), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                             Py_TPFLAGS_DISALLOW_INSTANTIATION,
                         boundSlots};

//===----------------------------------------------------------------------===//
// The Dispatcher class
//===----------------------------------------------------------------------===//

/// A tuple of nereid's JITParameter: name, constexpr, default, ...
bool readParameter(nb::handle row, Parameter &parameter) {
  nb::object name = row.attr("name");
  parameter.name = name.release().ptr();
  PyUnicode_InternInPlace(&parameter.name);
  parameter.nameText = PyUnicode_AsUTF8(parameter.name);
  parameter.isConstexpr = nb::cast<bool>(row.attr("is_constexpr"));
  parameter.isVariadic = nb::cast<bool>(row.attr("is_variadic"));
  parameter.isConst = nb::cast<bool>(row.attr("is_const"));
  parameter.noSpecialize = nb::cast<bool>(row.attr("do_not_specialize"));
  parameter.noAlignment = nb::cast<bool>(row.attr("do_not_specialize_on_alignment"));
  nb::object annotation = row.attr("annotation_type");
  if (!annotation.is_none())
    parameter.annotation = findDtype(nb::cast<nb::str>(annotation).c_str());
  if (nb::cast<bool>(row.attr("has_default")))
    parameter.defaultValue = nb::object(row.attr("default")).release().ptr();
  return true;
}

int initDispatcher(PyObject *self, PyObject *args, PyObject *kwargs) {
  const char *name = nullptr;
  PyObject *parameters = nullptr;
  int checkStrides = 1;
  static const char *keywords[] = {"name", "parameters", "check_strides", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sO|p", const_cast<char **>(keywords), &name,
                                   &parameters, &checkStrides))
    return -1;
  auto *object = reinterpret_cast<DispatcherObject *>(self);
  try {
    auto state = std::make_unique<Dispatcher>();
    state->name = name;
    state->checkStrides = checkStrides;
    for (nb::handle row : nb::borrow(parameters)) {
      state->parameters.emplace_back();
      readParameter(row, state->parameters.back());
    }
    delete object->state;
    object->state = state.release();
  } catch (nb::python_error &error) {
    error.restore();
    return -1;
  } catch (std::exception &error) {
    PyErr_SetString(PyExc_TypeError, error.what());
    return -1;
  }
  return 0;
}

void deallocDispatcher(PyObject *self) {
  delete reinterpret_cast<DispatcherObject *>(self)->state;
  PyTypeObject *type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject *subscriptDispatcher(PyObject *self, PyObject *grid) {
  auto *bound = PyObject_New(BoundLaunch, boundLaunchType);
  if (!bound)
    return nullptr;
  bound->vectorcall = callBound;
  bound->dispatcher = Py_NewRef(self);
  bound->grid = Py_NewRef(grid);
  return reinterpret_cast<PyObject *>(bound);
}

PyObject *callDispatcher(PyObject *self, PyObject *, PyObject *) {
  const std::string &name = stateOf(self).name;
  setArgumentError(name + " is a kernel and needs a grid: write " + name + "[grid](...), e.g. " +
                   name + "[(8,)](...). Inside another jit function it is called without one");
  return nullptr;
}

/// _run(grid, args, kwargs, warmup) for run() and warmup().
PyObject *runDispatcher(PyObject *self, PyObject *args) {
  PyObject *grid = nullptr, *positional = nullptr, *keywords = nullptr;
  int warmup = 0;
  if (!PyArg_ParseTuple(args, "OO!O!p", &grid, &PyTuple_Type, &positional, &PyDict_Type, &keywords,
                        &warmup))
    return nullptr;
  const size_t count = PyTuple_GET_SIZE(positional);
  std::vector<PyObject *> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(PyTuple_GET_ITEM(positional, i));
  PyObject *names = PyTuple_New(PyDict_Size(keywords));
  if (!names)
    return nullptr;
  Py_ssize_t position = 0, i = 0;
  PyObject *key = nullptr, *value = nullptr;
  while (PyDict_Next(keywords, &position, &key, &value)) {
    PyTuple_SET_ITEM(names, i++, Py_NewRef(key));
    values.push_back(value);
  }
  PyObject *result =
      launch(self, grid, values.data(), count, names, warmup ? Mode::Warmup : Mode::Launch);
  Py_DECREF(names);
  return result;
}

/// _watch(Watch): what the code of all kernels depends on.
PyObject *watchObjects(PyObject *self, PyObject *watch) {
  if (!isWatch(watch)) {
    PyErr_SetString(PyExc_TypeError, "a Watch was expected");
    return nullptr;
  }
  Py_XSETREF(stateOf(self).watch, Py_NewRef(watch));
  Py_RETURN_NONE;
}

PyObject *addPreRunHook(PyObject *self, PyObject *hook) {
  Dispatcher &state = stateOf(self);
  if (!PyCallable_Check(hook)) {
    PyErr_SetString(PyExc_TypeError,
                    (state.name +
                     ".add_pre_run_hook takes a function of the launch's arguments, not " +
                     describeObject(hook))
                        .c_str());
    return nullptr;
  }
  if (!state.preRunHooks && !(state.preRunHooks = PyList_New(0)))
    return nullptr;
  if (PyList_Append(state.preRunHooks, hook) != 0)
    return nullptr;
  Py_RETURN_NONE;
}

PyObject *clearKernels(PyObject *self, PyObject *) {
  stateOf(self).clear();
  Py_RETURN_NONE;
}

PyObject *listKernels(PyObject *self, PyObject *) {
  PyObject *list = PyList_New(0);
  for (const auto &entry : stateOf(self).kernels)
    if (!list || PyList_Append(list, entry.second.kernel) != 0)
      return nullptr;
  return list;
}

PyMethodDef dispatcherMethods[] = {
    {"_run", runDispatcher, METH_VARARGS, nullptr},
    {"_watch", watchObjects, METH_O, "What the kernels depend on, asked at each launch."},
    {"add_pre_run_hook", addPreRunHook, METH_O,
     "Calls a function with the arguments of each launch, before it."},
    {"_clear", clearKernels, METH_NOARGS, "Forgets all compiled kernels of this function."},
    {"_kernels", listKernels, METH_NOARGS,
     "The compiled kernels of this function in this process."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot dispatcherSlots[] = {
    {Py_tp_doc, const_cast<char *>("Binds, specialises and launches: the base of JITFunction.")},
    {Py_tp_new, reinterpret_cast<void *>(PyType_GenericNew)},
    {Py_tp_init, reinterpret_cast<void *>(initDispatcher)},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocDispatcher)},
    {Py_tp_call, reinterpret_cast<void *>(callDispatcher)},
    {Py_mp_subscript, reinterpret_cast<void *>(subscriptDispatcher)},
    {Py_tp_methods, dispatcherMethods},
    {0, nullptr},
};
PyType_Spec dispatcherSpec = {"nereid._runtime.Dispatcher", sizeof(DispatcherObject), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, dispatcherSlots};

} // namespace

bool nereid::python::isDispatcher(PyObject *object) {
  return dispatcherType && PyObject_TypeCheck(object, dispatcherType);
}

PyObject *nereid::python::launchKernel(PyObject *kernel, PyObject *grid, PyObject *const *values,
                                       size_t count, PyObject *options, bool compileOnly) {
  return launch(kernel, grid, values, count, options, compileOnly ? Mode::Warmup : Mode::Launch);
}

void nereid::python::bindDispatcher(nb::module_ &m) {
  boundLaunchType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&boundSpec));
  dispatcherType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&dispatcherSpec));
  if (!boundLaunchType || !dispatcherType)
    throw nb::python_error();
  m.attr("BoundLaunch") = nb::borrow(reinterpret_cast<PyObject *>(boundLaunchType));
  m.attr("Dispatcher") = nb::borrow(reinterpret_cast<PyObject *>(dispatcherType));
}
