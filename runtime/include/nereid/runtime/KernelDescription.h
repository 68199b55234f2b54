// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelDescription.h - What an object says of its kernel --*- C++ -*-===//
#ifndef NEREID_RUNTIME_KERNELDESCRIPTION_H
#define NEREID_RUNTIME_KERNELDESCRIPTION_H

#include "nereid/runtime/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nereid::runtime {

/// One run-time argument of a kernel: a slot of 8 bytes, encoded as abi.h says.
struct KernelArgument {
  std::string name;
  /// "*fp32", "i32", "bf16", ...: an address when it begins with '*'.
  std::string type;
  /// The value, or the address, must be a multiple of this; 0 or 1: of nothing.
  uint64_t divisibility = 0;
  /// Must be an address in symmetric memory of this rank.
  bool symmetric = false;

  bool isPointer() const { return !type.empty() && type[0] == '*'; }
};

/// The same for the objects of all devices; what a device does not have is empty.
struct KernelDescription {
  std::string name;
  std::vector<KernelArgument> arguments;
  /// Bytes of tile buffers of one program.
  uint64_t scratchBytes = 0;
  /// Of a GPU's shared memory that each thread block of a program has.
  uint64_t sharedBytes = 0;
  /// Programs must be able to wait for each other.
  bool blocking = false;
  /// Uses ranks, signals or symmetric memory.
  bool distributed = false;
  /// Tells observers of its loads, stores and atomics (the option `instrument`).
  bool instrumented = false;
  /// Vector cores that run each program.
  int32_t lanes = 1;
  std::string launchMode;
  std::string architecture; ///< "x86_64"
  std::string cpu;          ///< LLVM's name of the processor, "znver4"
  /// What the code may use of the processor, by LLVM's names.
  std::vector<std::string> features;
  uint32_t abiVersion = 0;
  SiteTable sites;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_KERNELDESCRIPTION_H
