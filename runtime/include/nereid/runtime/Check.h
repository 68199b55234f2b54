// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Check.h - Races, found in what a job did -----------------*- C++ -*-===//
//
// A checked run (NEREID_CHECK, `nereid run --check`) writes what its ranks do to each
// other into a log. checkLog() says which two accesses of it nothing orders. docs/check.md
// says what is found, what not, and why it is done afterwards.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_CHECK_H
#define NEREID_RUNTIME_CHECK_H

#include "nereid/runtime/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nereid::runtime::check {

/// One of the two accesses of a finding.
struct End {
  int32_t rank = -1;
  int64_t program = -1; ///< number in the launch; -1: host code
  std::string kernel;   ///< empty: host code
  SourceSite site;
  std::string what; ///< "put to rank 1", "read", "update of a signal"
};

struct Finding {
  std::string code;  ///< "NRD-0004"
  std::string title; ///< what conflicts, in one clause
  /// In the order of the run; of a wait that never ends (NRD-0050) the second is the wait, and
  /// the first, if there is one, what explains it.
  End first, second;
  std::string bytes; ///< "'data' float32 (256,) on rank 1, bytes 0 to 1023"
  std::string order; ///< what the second knows of the first
  std::string help;  ///< what would order them
  std::string note;  ///< why the check may not know everything; empty: it does
  uint64_t more = 0; ///< further pairs of these two lines

  /// The report: several lines, each end with its source line.
  std::string text() const;
};

struct Verdict {
  std::vector<Finding> findings;
  uint64_t records = 0;
  uint64_t lost = 0; ///< events for which the log had no room: not checked
  int32_t ranks = 0;
  uint64_t launches = 0;
  /// Kernels whose loads, stores and atomics were not seen.
  std::vector<std::string> unseen;

  /// "check: 4 ranks, 12 launches, 3100 events, 1 error"
  std::string summary() const;
};

/// Makes the log of a run to come, with room for `events`. Errors: SystemError (the
/// path, no room on the disk).
Status createLog(const std::string &path, uint64_t events);
/// The verdict on a run that is over. Errors: SystemError, InvalidArgument (not a log).
Expected<Verdict> checkLog(const std::string &path);

} // namespace nereid::runtime::check

#endif // NEREID_RUNTIME_CHECK_H
