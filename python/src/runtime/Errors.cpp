// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Errors.cpp - From the runtime's failures to exceptions -------------===//
//
// Each failure of the runtime becomes one exception of Python with everything
// in it as attributes, so that a program can look at them: code, rank, kernel,
// place, and a list of who waited for what.
//
// Ctrl-C is the hard case. It reaches all processes of a terminal, each at its
// own time. The rank that has it raises what its signal handler raised
// (KeyboardInterrupt as a rule), with the report as a note; another rank sees
// the job fail first. It waits half a second for its own signal
// (awaitOwnInterrupt), so that usually all ranks end by KeyboardInterrupt, not
// all but one by an error of the job.
//
//===----------------------------------------------------------------------===//
#include "Errors.h"
#include "JobState.h"

#include <chrono>
#include <thread>

namespace nb = nanobind;
using namespace nereid;
using namespace nereid::python;

/// How far apart the ranks may learn of one Ctrl-C.
static constexpr int kOwnInterruptMs = 500;

const ErrorTypes &python::errorTypes() {
  static const ErrorTypes types = [] {
    nb::object module = nb::module_::import_("nereid._base.errors");
    ErrorTypes found;
    found.argument = nb::object(module.attr("ArgumentError")).release().ptr();
    found.launch = nb::object(module.attr("LaunchError")).release().ptr();
    found.job = nb::object(module.attr("JobError")).release().ptr();
    return found;
  }();
  return types;
}

static nb::tuple programTuple(const std::array<int32_t, 3> &program) {
  return nb::make_tuple(program[0], program[1], program[2]);
}

/// What `error.blocked` holds for one group of programs.
static nb::dict blockedDict(const runtime::BlockedGroup &group) {
  nb::dict entry;
  entry["rank"] = group.rank;
  entry["kind"] = nb::str(group.kind.c_str());
  entry["programs"] = nb::str(group.programs.c_str());
  entry["program_count"] = group.programCount;
  entry["address"] = nb::str(group.address.c_str());
  if (group.hasValues) {
    entry["current"] = group.currentValue;
    entry["awaited"] = group.awaitedValue;
    entry["comparison"] = nb::str(group.comparison.c_str());
  }
  entry["note"] = nb::str(group.note.c_str());
  entry["site"] =
      group.site.known() ? nb::object(nb::str(group.site.str().c_str())) : nb::object(nb::none());
  return entry;
}

/// Adds what the ranks were doing to the KeyboardInterrupt (or whatever a signal
/// handler raised) that is set.
static void addReport(const runtime::Status &status) {
  PyObject *kind = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&kind, &value, &trace);
  PyErr_NormalizeException(&kind, &value, &trace);
  const runtime::FailureDetail &failure = status.failure();
  if (value && (failure.site.known() || !failure.blocked.empty())) {
    PyObject *done = PyObject_CallMethod(value, "add_note", "s", status.report().c_str());
    Py_XDECREF(done);
    PyErr_Clear(); // Python 3.10 has no notes
  }
  PyErr_Restore(kind, value, trace);
}

/// After another rank was interrupted: gives the same Ctrl-C a moment to come here.
/// True when it has, with the exception of its handler set.
static bool awaitOwnInterrupt(const runtime::Status &status) {
  int32_t rank = status.failure().rank;
  if (!jobState().active() || rank < 0 || rank == jobState().job->rank())
    return false;
  for (int i = 0; i < kOwnInterruptMs; ++i) {
    if (PyErr_CheckSignals() != 0)
      return true;
    Py_BEGIN_ALLOW_THREADS std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Py_END_ALLOW_THREADS
  }
  return false;
}

void python::setPythonError(const runtime::Status &status, PyObject *type) {
  if (status.code() == runtime::StatusCode::Interrupted) {
    if (PyErr_Occurred() || awaitOwnInterrupt(status)) {
      addReport(status);
      return;
    }
  } else if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
    addReport(status);
    return;
  }
  PyErr_Clear();
  try {
    const runtime::FailureDetail &failure = status.failure();
    nb::object error = nb::borrow(type)(nb::str(status.report().c_str()));
    error.attr("code") = nb::str(runtime::statusCodeName(failure.code));
    error.attr("message") = nb::str(failure.message.c_str());
    error.attr("rank") = failure.rank;
    error.attr("kernel") = nb::str(failure.kernel.c_str());
    error.attr("program") = failure.program[0] >= 0 ? nb::object(programTuple(failure.program))
                                                    : nb::object(nb::none());
    if (failure.site.known()) {
      error.attr("file") = nb::str(failure.site.file.c_str());
      error.attr("line") = failure.site.line;
      error.attr("column") = failure.site.column;
    }
    nb::list blocked;
    for (const runtime::BlockedGroup &group : failure.blocked)
      blocked.append(blockedDict(group));
    error.attr("blocked") = blocked;
    PyErr_SetObject(type, error.ptr());
  } catch (nb::python_error &inner) {
    inner.restore();
  }
}

void python::raiseJobError(const runtime::Status &status) {
  setPythonError(status, errorTypes().job);
  throw nb::python_error();
}

void python::addNote(const std::string &text) {
  PyObject *kind = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&kind, &value, &trace);
  PyErr_NormalizeException(&kind, &value, &trace);
  if (value && PyObject_HasAttrString(value, "add_note")) { // Python 3.11
    PyObject *done = PyObject_CallMethod(value, "add_note", "s", text.c_str());
    if (!done)
      PyErr_Clear();
    Py_XDECREF(done);
  }
  PyErr_Restore(kind, value, trace);
}

void python::setArgumentError(const std::string &text) {
  PyErr_SetString(errorTypes().argument, text.c_str());
}
