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

/// What a launcher must know.
struct KernelMetadata {
  std::string name;
  std::vector<std::string> argumentTypes; ///< "*fp32", "i32", ... one per slot
  uint64_t scratchBytes = 0;
  bool blocking = false;                    ///< programs must be able to wait for each other
  bool distributed = false;                 ///< uses ranks, signals or symmetric memory
  std::string launchMode;                   ///< "cv0:1" or "cv1:2"
  unsigned lanes = 1;                       ///< vector cores that run each program
  std::vector<unsigned> symmetricArguments; ///< slots that must be symmetric addresses
  std::vector<Site> sites;
  unsigned abiVersion = 0; ///< NRD_ABI_VERSION
  std::string targetCPU;

  /// JSON with the keys name, args, scratch_bytes, blocking, distributed,
  /// launch_mode, symmetric_args, sites ([file, line, column, function,
  /// text]), abi_version, target_cpu.
  std::string toJSON() const;
};

} // namespace nereid

#endif // NEREID_TARGET_KERNELMETADATA_H
