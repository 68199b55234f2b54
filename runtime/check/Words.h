// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Words.h - What the numbers in a log mean ---------------------------===//
#ifndef NEREID_RUNTIME_CHECK_WORDS_H
#define NEREID_RUNTIME_CHECK_WORDS_H

#include "nereid/runtime/Status.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nereid::runtime::check {

/// The lines that one rank has written (Recorder.cpp says which).
struct Words {
  struct Name {
    uint64_t offset = 0, bytes = 0;
    std::string text;
  };
  struct KernelWords {
    std::string name;
    bool instrumented = false;
    uint32_t lanes = 1; ///< vector cores of a program
    std::map<uint32_t, SourceSite> sites;
  };
  int32_t ranks = 0;
  uint64_t heapBase = 0, heapBytes = 0;
  std::string profile;
  bool deadlock = false; ///< why the job has failed
  /// What was allocated from a launch on, until the next one that is listed.
  std::map<uint32_t, std::vector<Name>> allocations;
  std::map<std::string, KernelWords> kernels;
  std::map<uint32_t, std::string> launches; ///< to the number of the kernel
  std::map<uint32_t, std::string> places;   ///< of the host's operations

  /// Empty when the file is not there: the rank has never joined.
  static Words read(const std::string &path);

  const KernelWords *kernelOf(uint32_t launch) const;
  /// "'data' float32 (256,), bytes 0 to 15" for a range of a heap, at the time of a
  /// launch.
  std::string describe(uint64_t begin, uint64_t end, uint32_t launch) const;
};

} // namespace nereid::runtime::check

#endif // NEREID_RUNTIME_CHECK_WORDS_H
