// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobState.h - This process's membership in a job ----------*- C++ -*-===//
#ifndef NEREID_PYTHON_JOBSTATE_H
#define NEREID_PYTHON_JOBSTATE_H

#include "nereid/runtime/Job.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

namespace nereid::python {

/// At most one job per process. Never destroyed: arrays of the user's may lie
/// in its heap until the process ends.
struct JobState {
  runtime::Job *job = nullptr;
  /// In a forked child: the job of the process that it was forked from, whose
  /// memory is still mapped here. The child has no part in it.
  runtime::Job *parents = nullptr;

  /// Whether there is a job that can still be used.
  bool active() const { return job && !job->finalized(); }
};
JobState &jobState();

/// "this process was forked from rank 1 of a job and has no part in it ..." for
/// messages of a forked child.
std::string forkedText(const runtime::Job &parents);

/// The job, joined by nereid.init() or, in a world of one rank, made on first
/// use. Null with a Python exception set when init() is missing or failed;
/// `who` says what needs it, `device` what a job that is made here runs on; empty:
/// what the target of this process needs.
runtime::Job *requireJob(const std::string &who, std::string device = {});

void bindJob(nanobind::module_ &m);

} // namespace nereid::python

#endif // NEREID_PYTHON_JOBSTATE_H
