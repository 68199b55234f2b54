// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PreparedCall.cpp - Keys of calls, and launches without binding -----===//
//
// An operator of nereid.ops checks shapes, picks a kernel and binds its
// arguments in Python. For calls that look like one before, all of that is
// known: the table finds a prepared launch by the layouts of the arrays, and
// the launch puts the arrays where the parameters are. Everything that depends
// on addresses is still asked at each launch by the Dispatcher: divisibility,
// symmetric memory, whether the kernel is still right.
//
// Arrays may share memory, on which checks depend as well, so a key has how
// each two of them lie to each other: apart, the same bytes, or overlapping.
//
//===----------------------------------------------------------------------===//
#include "PreparedCall.h"
#include "ArgumentReader.h"
#include "ArrayView.h"
#include "Dispatcher.h"
#include "Errors.h"

#include <cstddef>
#include <functional>
#include <structmember.h>
#include <unordered_map>

namespace nb = nanobind;
using namespace nereid::python;

namespace {

//===----------------------------------------------------------------------===//
// PreparedLaunch
//===----------------------------------------------------------------------===//

struct PreparedLaunch {
  PyObject_HEAD vectorcallfunc vectorcall;
  struct State {
    nb::object kernel, grid;
    /// A value for each parameter; null where a call gives it.
    std::vector<nb::object> values;
    /// A tuple of names of launch options, and their values.
    nb::object options;
    std::vector<nb::object> optionValues;
    /// The parameter of each argument of a call.
    std::vector<size_t> given;
  } *state;
};

PyObject *run(PyObject *self, PyObject *const *args, size_t count, PyObject *kwnames,
              bool compileOnly) {
  const PreparedLaunch::State &state = *reinterpret_cast<PreparedLaunch *>(self)->state;
  if (count != state.given.size() || (kwnames && PyTuple_GET_SIZE(kwnames) > 0)) {
    PyErr_Format(PyExc_TypeError, "this launch takes %zu arguments by position",
                 state.given.size());
    return nullptr;
  }
  SmallBuffer<PyObject *, 48> values;
  const size_t parameters = state.values.size();
  values.resize(parameters + state.optionValues.size());
  for (size_t i = 0; i < parameters; ++i)
    values[i] = state.values[i].ptr();
  for (size_t i = 0; i < state.optionValues.size(); ++i)
    values[parameters + i] = state.optionValues[i].ptr();
  for (size_t i = 0; i < count; ++i)
    values[state.given[i]] = args[i];
  return launchKernel(state.kernel.ptr(), state.grid.ptr(), values.data(), parameters,
                      state.options.ptr(), compileOnly);
}

PyObject *callPrepared(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  return run(self, args, PyVectorcall_NARGS(nargsf), kwnames, /*compileOnly=*/false);
}

PyObject *compilePrepared(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  return run(self, args, count, nullptr, /*compileOnly=*/true);
}

int initPrepared(PyObject *self, PyObject *args, PyObject *kwargs) {
  PyObject *kernel = nullptr, *grid = nullptr, *given = nullptr, *fixed = nullptr,
           *options = nullptr;
  static const char *keywords[] = {"kernel", "grid", "given", "fixed", "options", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO!O!|O!", const_cast<char **>(keywords),
                                   &kernel, &grid, &PyTuple_Type, &given, &PyDict_Type, &fixed,
                                   &PyDict_Type, &options))
    return -1;
  if (!isDispatcher(kernel)) {
    setArgumentError("PreparedLaunch takes a jit function, not " + describeObject(kernel));
    return -1;
  }
  try {
    auto state = std::make_unique<PreparedLaunch::State>();
    state->kernel = nb::borrow(kernel);
    state->grid = nb::borrow(grid);
    nb::list names(state->kernel.attr("arg_names"));
    state->values.resize(nb::len(names));
    std::vector<bool> known(state->values.size());
    auto place = [&](nb::handle name) -> size_t {
      for (size_t i = 0; i < known.size(); ++i)
        if (!known[i] && nb::object(names[i]).equal(name)) {
          known[i] = true;
          return i;
        }
      throw nb::value_error(("PreparedLaunch: there is no parameter " +
                             std::string(nb::repr(name).c_str()) + ", or it has its value already")
                                .c_str());
    };
    for (nb::handle name : nb::borrow<nb::tuple>(given))
      state->given.push_back(place(name));
    for (auto [name, value] : nb::borrow<nb::dict>(fixed))
      state->values[place(name)] = nb::borrow(value);
    for (size_t i = 0; i < known.size(); ++i)
      if (!known[i])
        throw nb::value_error(("PreparedLaunch: the parameter " +
                               std::string(nb::repr(nb::object(names[i])).c_str()) +
                               " has no value")
                                  .c_str());
    if (options && PyDict_GET_SIZE(options) > 0) {
      auto taken = nb::borrow<nb::dict>(options);
      state->options = nb::tuple(taken.keys());
      for (auto [name, value] : taken)
        state->optionValues.push_back(nb::borrow(value));
    }
    auto *object = reinterpret_cast<PreparedLaunch *>(self);
    delete object->state;
    object->state = state.release();
    object->vectorcall = callPrepared;
    return 0;
  } catch (nb::python_error &error) {
    error.restore();
  } catch (std::exception &error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  }
  return -1;
}

void deallocPrepared(PyObject *self) {
  delete reinterpret_cast<PreparedLaunch *>(self)->state;
  PyTypeObject *type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef preparedMethods[] = {
    {"compile", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(compilePrepared)),
     METH_FASTCALL, "compile(*args): compiles what a call with these arguments runs."},
    {nullptr, nullptr, 0, nullptr},
};
PyMemberDef preparedMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PreparedLaunch, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};
PyType_Slot preparedSlots[] = {
    {Py_tp_doc, const_cast<char *>("A launch whose arguments are bound but for some.")},
    {Py_tp_new, reinterpret_cast<void *>(PyType_GenericNew)},
    {Py_tp_init, reinterpret_cast<void *>(initPrepared)},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocPrepared)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_members, preparedMembers},
    {Py_tp_methods, preparedMethods},
    {0, nullptr},
};
PyType_Spec preparedSpec = {"nereid._runtime.PreparedLaunch", sizeof(PreparedLaunch), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, preparedSlots};

//===----------------------------------------------------------------------===//
// CallTable
//===----------------------------------------------------------------------===//

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

struct CallTable {
  PyObject_HEAD std::unordered_map<std::string, nb::object, StringHash, std::equal_to<>> *calls;
};

/// More kinds of calls than these are forgotten: a table never grows without end.
constexpr size_t mostCalls = 512;
constexpr size_t mostArrays = 8;

using Key = SmallBuffer<char, 512>;

/// How two arrays lie to each other: apart, in the same bytes, or something between.
char relation(const ArrayLayout &a, const ArrayLayout &b) {
  if (a.begin == a.end || b.begin == b.end || a.end <= b.begin || b.end <= a.begin)
    return 0;
  return a.begin == b.begin && a.end == b.end ? 1 : 2;
}

/// The key of a call with these arrays, among which may be None and bools; false without an
/// exception when one of them is not known.
bool makeKey(PyObject *const *arrays, size_t count, Key &key) {
  if (count > mostArrays)
    return false;
  ArrayLayout layouts[mostArrays];
  for (size_t i = 0; i < count; ++i) {
    ArrayLayout &layout = layouts[i];
    if (arrays[i] == Py_None || PyBool_Check(arrays[i])) {
      key.push_back(arrays[i] == Py_None ? 0 : arrays[i] == Py_False ? 64 : 65);
      continue;
    }
    if (!readLayout(arrays[i], layout))
      return false;
    const char head[] = {static_cast<char>(1 + static_cast<int>(layout.kind)),
                         static_cast<char>(layout.dtype), static_cast<char>(layout.writeable),
                         static_cast<char>(layout.gpu), static_cast<char>(layout.rank)};
    key.append(head, sizeof(head));
    key.append(reinterpret_cast<const char *>(layout.shape), layout.rank * sizeof(int64_t));
    key.append(reinterpret_cast<const char *>(layout.strides), layout.rank * sizeof(int64_t));
    for (size_t other = 0; other < i; ++other)
      if (arrays[other] != Py_None && !PyBool_Check(arrays[other]))
        key.push_back(relation(layouts[other], layout));
  }
  return true;
}

PyObject *findCall(PyObject *self, PyObject *const *arrays, Py_ssize_t count) {
  const auto &calls = *reinterpret_cast<CallTable *>(self)->calls;
  Key key;
  if (makeKey(arrays, count, key))
    if (auto found = calls.find(std::string_view(key.data(), key.size())); found != calls.end())
      return found->second.inc_ref().ptr();
  Py_RETURN_NONE;
}

PyObject *addCall(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  auto &calls = *reinterpret_cast<CallTable *>(self)->calls;
  if (count < 1) {
    PyErr_SetString(PyExc_TypeError, "add takes what is found, and arrays");
    return nullptr;
  }
  Key key;
  if (makeKey(args + 1, count - 1, key)) {
    std::remove_reference_t<decltype(calls)> old; // goes last: destructors may run Python code
    if (calls.size() >= mostCalls)
      calls.swap(old);
    calls.insert_or_assign(std::string(key.data(), key.size()), nb::borrow(args[0]));
  }
  Py_RETURN_NONE;
}

PyObject *clearCalls(PyObject *self, PyObject *) {
  auto &calls = *reinterpret_cast<CallTable *>(self)->calls;
  std::remove_reference_t<decltype(calls)> old;
  calls.swap(old);
  Py_RETURN_NONE;
}

Py_ssize_t countCalls(PyObject *self) {
  return static_cast<Py_ssize_t>(reinterpret_cast<CallTable *>(self)->calls->size());
}

PyObject *newTable(PyTypeObject *type, PyObject *, PyObject *) {
  PyObject *self = type->tp_alloc(type, 0);
  if (self)
    reinterpret_cast<CallTable *>(self)->calls =
        new std::unordered_map<std::string, nb::object, StringHash, std::equal_to<>>();
  return self;
}

void deallocTable(PyObject *self) {
  delete reinterpret_cast<CallTable *>(self)->calls;
  PyTypeObject *type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef tableMethods[] = {
    {"find", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(findCall)), METH_FASTCALL,
     "find(*arrays): what was added for arrays (or None) that look alike; None when nothing was."},
    {"add", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(addCall)), METH_FASTCALL,
     "add(value, *arrays): `value` is found for arrays that look like these."},
    {"clear", clearCalls, METH_NOARGS, "Forgets everything."},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot tableSlots[] = {
    {Py_tp_doc, const_cast<char *>("What was prepared for calls, by how their arrays look.")},
    {Py_tp_new, reinterpret_cast<void *>(newTable)},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocTable)},
    {Py_tp_methods, tableMethods},
    {Py_mp_length, reinterpret_cast<void *>(countCalls)},
    {0, nullptr},
};
PyType_Spec tableSpec = {"nereid._runtime.CallTable", sizeof(CallTable), 0, Py_TPFLAGS_DEFAULT,
                         tableSlots};

} // namespace

void nereid::python::bindPreparedCalls(nb::module_ &m) {
  for (PyType_Spec *spec : {&preparedSpec, &tableSpec}) {
    nb::object type = nb::steal(PyType_FromSpec(spec));
    if (!type.is_valid())
      throw nb::python_error();
    m.attr(std::strrchr(spec->name, '.') + 1) = type;
  }
}
