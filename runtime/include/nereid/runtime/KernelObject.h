// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelObject.h - Object files of the CPU --------------------*- C++ -*-===//
//
// Reads the section of a kernel's object file that abi/nereid/kernel.h
// describes, without loading its code. Objects of devices whose code is no
// relocatable ELF file consist of that section and the code behind it.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_KERNELOBJECT_H
#define NEREID_RUNTIME_KERNELOBJECT_H

#include "nereid/kernel.h"
#include "nereid/runtime/KernelDescription.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace nereid::runtime {

struct CPUKernelDescription : KernelDescription {
  /// Which instruction comes from which site, ascending.
  std::vector<nrd_kernel_line> lines;
  uint32_t codeBytes = 0; ///< of the section of code
  uint32_t entry = 0;     ///< where in it the kernel's function begins
};

/// Reads and verifies all that `object`, the bytes of a file, says: that it is whole
/// and undamaged, of this version of the interface, and that everything in it lies
/// within its bounds. Whether this machine can run it is for whoever loads it. Error:
/// InvalidArgument, with the reason ("it was compiled for version 4 of ...").
Expected<CPUKernelDescription> describeKernel(std::string_view object);

/// The code of an object that begins with its description, which describeKernel has
/// read; nothing of other objects.
std::string_view codeBehind(std::string_view object);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_KERNELOBJECT_H
