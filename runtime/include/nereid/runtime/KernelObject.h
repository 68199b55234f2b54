// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelObject.h - What an object file says of its kernel --*- C++ -*-===//
//
// Reads the section of a kernel's object file that abi/nereid/kernel.h
// describes, without loading its code. Objects of devices whose code is no
// relocatable ELF file consist of that section and the code behind it.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_KERNELOBJECT_H
#define NEREID_RUNTIME_KERNELOBJECT_H

#include "nereid/kernel.h"
#include "nereid/runtime/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
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

struct KernelDescription {
  std::string name;
  std::vector<KernelArgument> arguments;
  /// Bytes of tile buffers of one program.
  uint64_t scratchBytes = 0;
  /// Programs must be able to wait for each other.
  bool blocking = false;
  /// Uses ranks, signals or symmetric memory.
  bool distributed = false;
  /// Vector cores that run each program.
  int32_t lanes = 1;
  std::string launchMode;
  std::string architecture; ///< "x86_64"
  std::string cpu;          ///< LLVM's name of the processor, "znver4"
  /// What the code may use of the processor, by LLVM's names.
  std::vector<std::string> features;
  uint32_t abiVersion = 0;
  SiteTable sites;
  /// Which instruction comes from which site, ascending.
  std::vector<nrd_kernel_line> lines;
  uint32_t codeBytes = 0; ///< of the section of code
  uint32_t entry = 0;     ///< where in it the kernel's function begins
};

/// Reads and verifies all that `object`, the bytes of a file, says: that it is whole
/// and undamaged, of this version of the interface, and that everything in it lies
/// within its bounds. Whether this machine can run it is for whoever loads it. Error:
/// InvalidArgument, with the reason ("it was compiled for version 4 of ...").
Expected<KernelDescription> describeKernel(std::string_view object);

/// The code of an object that begins with its description, which describeKernel has
/// read; nothing of other objects.
std::string_view codeBehind(std::string_view object);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_KERNELOBJECT_H
