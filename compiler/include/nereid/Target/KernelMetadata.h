// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a launcher must know of a compiled kernel.
#ifndef NEREID_TARGET_KERNELMETADATA_H
#define NEREID_TARGET_KERNELMETADATA_H

#include <cstdint>
#include <string>
#include <vector>

namespace nereid {

/// A source location that generated code refers to by number.
struct Site {
  std::string file;
  unsigned line = 0, column = 0;
  std::string function;
  std::string text; // of the line
};

/// A run-time argument of a kernel: one slot.
struct KernelArgument {
  std::string name;         ///< the parameter's; "arg3" when nothing names it
  std::string type;         ///< "*fp32", "i32", ...
  int64_t divisibility = 0; ///< of the value, or the address; 0: nothing is known
  bool symmetric = false;   ///< must be an address in symmetric memory
};

/// What a launcher must know. Targets whose code a device runs write it into their
/// objects: abi/nereid/kernel.h has the form.
struct KernelMetadata {
  std::string name;
  std::vector<KernelArgument> arguments;
  uint64_t scratchBytes = 0;
  bool blocking = false;     ///< programs must be able to wait for each other
  bool distributed = false;  ///< uses ranks, signals or symmetric memory
  bool instrumented = false; ///< tells observers of its own accesses
  std::string launchMode;    ///< "cv0:1" or "cv1:2"
  unsigned lanes = 1;        ///< vector cores that run each program
  std::vector<Site> sites;
};

} // namespace nereid

#endif // NEREID_TARGET_KERNELMETADATA_H
