// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StreamBindings.cpp - runtime::Stream and Event for Python ----------===//
//
// A stream of Python is one of the runtime whose functions are Python's. What one of
// them raises is kept as it is, since a Status could not hold it.
//
//===----------------------------------------------------------------------===//
#include "StreamBindings.h"
#include "Errors.h"
#include "JobState.h"

#include "nereid/runtime/Stream.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <mutex>

namespace nb = nanobind;
using namespace nereid;
using namespace nereid::python;

namespace {

/// Python objects that the thread of a stream may let go of.
class Held {
public:
  explicit Held(nb::object object) : object(std::move(object)) {}
  Held(const Held &) = delete;
  Held &operator=(const Held &) = delete;
  ~Held() {
    if (!Py_IsInitialized()) { // the process ends
      object.release();
      return;
    }
    nb::gil_scoped_acquire gil;
    object.reset();
  }
  const nb::object &get() const { return object; }

private:
  nb::object object;
};

/// Makes a thread one of Python's for as long as it lives, so that what functions keep
/// in threading.local outlasts each of them.
class PythonThread {
public:
  PythonThread() : state(PyGILState_Ensure()), saved(PyEval_SaveThread()) {}
  ~PythonThread() {
    if (!Py_IsInitialized())
      return;
    PyEval_RestoreThread(saved);
    PyGILState_Release(state);
  }

private:
  PyGILState_STATE state;
  PyThreadState *saved;
};

} // namespace

/// The first exception of a stream's functions since its last synchronize().
class python::KeptException {
public:
  /// Takes the exception that is set, with the GIL held. The error for the stream.
  runtime::Status take(const std::string &stream, const std::string &place) {
    addNote("given to " + stream + " at " + place);
    nb::python_error error; // takes what is set
    auto held = std::make_shared<Held>(nb::borrow(error.value()));
    std::lock_guard<std::mutex> guard(lock);
    if (!first)
      first = held;
    return runtime::Status::error(runtime::StatusCode::Internal,
                                  "a function of Python in " + stream + " raised");
  }
  std::shared_ptr<Held> give() {
    std::lock_guard<std::mutex> guard(lock);
    return std::exchange(first, nullptr);
  }

private:
  std::mutex lock;
  std::shared_ptr<Held> first; ///< guarded by lock
};

static std::string callerPlace();

namespace {

/// Streams that may still have work or an error nobody has asked for, so that they
/// live until somebody does: a set of Python's.
PyObject *unsynchronized = nullptr;

} // namespace

class python::PythonStream {
public:
  PythonStream(std::string name, std::optional<uintptr_t> native)
      : stream(std::make_unique<runtime::Stream>(nullptr, std::move(name), native)),
        kept(std::make_shared<KeptException>()) {}
  PythonStream(const PythonStream &) = delete;
  PythonStream &operator=(const PythonStream &) = delete;
  ~PythonStream() {
    const bool ends = !Py_IsInitialized();
    if (ends || stream->pending())
      stream->detach();
    if (ends)
      return;
    nb::gil_scoped_release release; // its thread may want it
    stream.reset();
  }

  void call(nb::object function, std::string place) {
    auto held = std::make_shared<Held>(std::move(function));
    check(stream->call([held, place, kept = kept, name = stream->name()] {
      static thread_local PythonThread thread;
      nb::gil_scoped_acquire gil;
      PyObject *result = PyObject_CallNoArgs(held->get().ptr());
      if (!result)
        return kept->take(name, place);
      Py_DECREF(result);
      return runtime::Status();
    }));
  }

  void launch(const std::shared_ptr<PythonLaunch> &launch) {
    launch->kept = kept;
    launch->stream = stream->name();
    runtime::Status status;
    launch->tried = true;
    const bool done = stream->tryLaunch(launch, status);
    launch->tried = false;
    if (PyThreadState *released = std::exchange(launch->released, nullptr))
      PyEval_RestoreThread(released);
    if (!done) {
      nb::gil_scoped_release release; // another launch may have the turn
      status = stream->launch(launch);
    }
    check(status);
  }

  void put(const runtime::StreamedPut &put, nb::object kept) {
    runtime::Job *job = requireJob("put_async");
    if (!job)
      throw nb::python_error();
    auto held = std::make_shared<Held>(std::move(kept));
    std::string place = callerPlace();
    runtime::Status status;
    {
      nb::gil_scoped_release release;
      status = stream->put(
          put, held, [job] { return runtime::Expected<runtime::Job *>(job); }, std::move(place));
    }
    check(status);
  }

  void record(runtime::Event &event) { check(stream->record(event)); }
  void wait(const runtime::Event &event) { check(stream->wait(event)); }

  /// Raises what has gone wrong in the queue.
  void synchronize() {
    runtime::Status status;
    std::string place;
    {
      nb::gil_scoped_release release;
      status = stream->synchronize(&place);
    }
    std::shared_ptr<Held> error = kept->give();
    if (!stream->pending()) {
      PySet_Discard(unsynchronized, nb::find(*this).ptr());
      isListed = false;
    }
    if (PyErr_Occurred()) // Ctrl-C
      throw nb::python_error();
    if (status.ok())
      return;
    if (error) {
      PyObject *value = error->get().ptr();
      PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(value)), value);
    } else if (status.code() == runtime::StatusCode::InvalidArgument && place.empty()) {
      PyErr_SetString(PyExc_RuntimeError, status.message().c_str());
    } else {
      setPythonError(status, errorTypes().launch);
      if (!place.empty())
        addNote("given to " + stream->name() + " at " + place);
    }
    throw nb::python_error();
  }

  std::unique_ptr<runtime::Stream> stream;
  /// Launches that cannot wait for others run at once when nothing is left before them.
  bool eager = false;
  /// Calls given() of the stream before a launch goes into it.
  bool tells = false;

private:
  /// Of what was put into the queue.
  void check(const runtime::Status &status) {
    if (!status.ok()) {
      PyErr_SetString(PyExc_RuntimeError, status.message().c_str());
      throw nb::python_error();
    }
    if (isListed)
      return;
    if (PySet_Add(unsynchronized, nb::find(*this).ptr()) != 0)
      throw nb::python_error();
    isListed = true;
  }

  const std::shared_ptr<KeptException> kept;
  bool isListed = false; ///< among the unsynchronized; with the GIL held
};

static thread_local PyObject *threadStream = nullptr;
/// What is inside it.
static thread_local PythonStream *threadQueue = nullptr;

PyObject *python::currentStream() { return threadStream; }

/// The line outside the package that gives the work: "file:line".
static std::string callerPlace() {
  static const std::string package =
      nb::cast<std::string>(nb::module_::import_("nereid").attr("__path__")[0]) + "/";
  std::string place = "?";
  PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame) {
    PyCodeObject *code = PyFrame_GetCode(frame);
    const char *file = PyUnicode_AsUTF8(code->co_filename);
    const bool isOutside = file && std::strncmp(file, package.c_str(), package.size()) != 0;
    if (isOutside)
      place = std::string(file) + ":" + std::to_string(PyFrame_GetLineNumber(frame));
    Py_DECREF(code);
    PyFrameObject *back = isOutside ? nullptr : PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  PyErr_Clear();
  return place;
}

bool python::goesIntoStream(const KernelImage &image) {
  if (!threadStream)
    return false;
  const PythonStream &stream = *threadQueue;
  return !stream.eager || image.kernel->blocking || stream.stream->pending() != 0;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

PythonLaunch::PythonLaunch(const KernelImage &image, const std::array<int32_t, 3> &grid,
                           const uint64_t *arguments, size_t numSlots)
    : image(image) {
  slots.append(arguments, numSlots);
  spec.kernel = image.kernel.get();
  spec.args = slots.data();
  spec.grid = grid;
}

PythonLaunch::~PythonLaunch() {
  if (objects.size() == 0 || !Py_IsInitialized()) // the process ends
    return;
  nb::gil_scoped_acquire gil;
  for (size_t i = 0; i < objects.size(); ++i)
    Py_DECREF(objects[i]);
}

void PythonLaunch::release(std::vector<std::shared_ptr<StreamedLaunch>> &ended) {
  if (!Py_IsInitialized())
    return;
  nb::gil_scoped_acquire gil; // once for all
  ended.clear();
}

runtime::Expected<runtime::Job *> PythonLaunch::findJob() {
  auto find = [&]() -> runtime::Expected<runtime::Job *> {
    runtime::Job *job = nullptr;
    uint32_t bad = 0;
    const ImageLaunch found = python::findJob(image, slots.data(), job, bad);
    if (found == ImageLaunch::NotSymmetric)
      setArgumentError(image.name() +
                       ": memory of a symmetric argument was freed before the launch had its turn");
    if (found != ImageLaunch::Done)
      return kept->take(stream, where.empty() ? callerPlace() : where);
    return job;
  };
  if (tried) { // in the thread that has the GIL
    runtime::Expected<runtime::Job *> job = find();
    released = PyEval_SaveThread();
    return job;
  }
  nb::gil_scoped_acquire gil;
  return find();
}

std::string PythonLaunch::place() {
  nb::gil_scoped_acquire gil;
  return where = callerPlace();
}

bool python::enqueue(const std::shared_ptr<PythonLaunch> &launch) {
  try {
    if (threadQueue->tells)
      nb::handle(threadStream).attr("given")();
    threadQueue->launch(launch);
    return true;
  } catch (nb::python_error &error) {
    error.restore();
    return false;
  }
}

static void checkEvent(const runtime::Status &status) {
  if (status.ok())
    return;
  if (!PyErr_Occurred())
    PyErr_SetString(PyExc_RuntimeError, status.message().c_str());
  throw nb::python_error();
}

void python::bindStreams(nb::module_ &m) {
  unsynchronized = PySet_New(nullptr);
  if (!unsynchronized)
    throw nb::python_error();
  m.attr("unsynchronized_streams") = nb::borrow(unsynchronized);

  nb::class_<runtime::Event>(m, "StreamEvent", "A point in the queue of a stream.")
      .def(nb::init<>())
      .def("_record_now", [](runtime::Event &event) { event.record(); })
      .def("_recorded", &runtime::Event::recorded)
      .def("_query", &runtime::Event::query)
      .def("_nanoseconds", &runtime::Event::nanoseconds)
      .def("_synchronize", [](runtime::Event &event) {
        runtime::Status status;
        {
          nb::gil_scoped_release release;
          status = event.synchronize();
        }
        checkEvent(status);
      });
  nb::class_<PythonStream>(m, "StreamQueue", nb::is_weak_referenceable(),
                           "A queue of launches and functions that a thread of its own carries "
                           "out in order.")
      .def(nb::init<std::string, std::optional<uintptr_t>>(), nb::arg("name"),
           nb::arg("native") = nb::none())
      .def_prop_ro("name", [](const PythonStream &self) { return self.stream->name(); })
      .def(
          "_put",
          [](PythonStream &self, uintptr_t dest, uintptr_t source, uint64_t bytes, int32_t rank,
             uintptr_t signal, uint64_t value, int32_t signalBytes, std::optional<uintptr_t> after,
             nb::object kept) {
            self.put({reinterpret_cast<void *>(dest), reinterpret_cast<const void *>(source), bytes,
                      rank, reinterpret_cast<void *>(signal), value, signalBytes, after},
                     std::move(kept));
          },
          nb::arg("dest"), nb::arg("source"), nb::arg("bytes"), nb::arg("rank"), nb::arg("signal"),
          nb::arg("value"), nb::arg("signal_bytes"), nb::arg("after").none(), nb::arg("kept"))
      .def("_call", &PythonStream::call, nb::arg("function"), nb::arg("place"))
      .def("_record", &PythonStream::record, nb::arg("event"))
      .def("_wait", &PythonStream::wait, nb::arg("event"))
      .def("_synchronize", &PythonStream::synchronize)
      .def_rw("_eager", &PythonStream::eager)
      .def_rw("_tells", &PythonStream::tells)
      .def("_pending", [](const PythonStream &self) { return self.stream->pending(); });
  m.def(
      "set_current_stream",
      [](nb::object stream) {
        nb::object before = threadStream ? nb::steal(threadStream) : nb::none();
        threadQueue = stream.is_none() ? nullptr : &nb::cast<PythonStream &>(stream);
        threadStream = stream.is_none() ? nullptr : stream.release().ptr();
        return before;
      },
      nb::arg("stream").none(),
      "Where launches of this thread go; returns where they went before.");
  m.def("current_stream", []() -> nb::object {
    return threadStream ? nb::object(nb::borrow(threadStream)) : nb::none();
  });
}
