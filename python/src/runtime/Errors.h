// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Errors.h - From the runtime's Status to Python exceptions -*- C++ -*-===//
#ifndef NEREID_PYTHON_ERRORS_H
#define NEREID_PYTHON_ERRORS_H

#include "nereid/runtime/Status.h"

#include <nanobind/nanobind.h>

#include <string>

namespace nereid::python {

/// The classes of python/nereid/_base/errors.py, looked up once.
struct ErrorTypes {
  PyObject *argument; ///< nereid.ArgumentError
  PyObject *launch;   ///< nereid.LaunchError
  PyObject *job;      ///< nereid.JobError
};
const ErrorTypes &errorTypes();

/// Sets the Python exception that tells `status`, of class `type`
/// (errorTypes().launch or .job), with its code, rank and blocked programs as
/// attributes. KeyboardInterrupt comes from this process's own signals alone: a
/// pending one wins over every status, and one that is on its way (Ctrl-C goes to
/// all ranks, a moment apart) is waited for when another rank was interrupted.
/// Without one that is a failure of the job like others.
void setPythonError(const runtime::Status &status, PyObject *type);

/// The same, thrown through nanobind.
[[noreturn]] void raiseJobError(const runtime::Status &status);

/// Throws when `status` is not a success.
inline void checkJob(const runtime::Status &status) {
  if (!status.ok())
    raiseJobError(status);
}

/// Adds a note to the exception that is set, where Python has notes.
void addNote(const std::string &text);

/// Sets ArgumentError with `text`.
void setArgumentError(const std::string &text);

} // namespace nereid::python

#endif // NEREID_PYTHON_ERRORS_H
