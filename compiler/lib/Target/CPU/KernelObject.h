// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Object files that say what their kernel is.
#ifndef NEREID_LIB_TARGET_CPU_KERNELOBJECT_H
#define NEREID_LIB_TARGET_CPU_KERNELOBJECT_H

#include "Target/CPU/TargetFeatures.h"
#include "nereid/Target/KernelMetadata.h"

#include "llvm/Support/Error.h"

#include <string>

namespace nereid::cpu {

/// Turns what the code generator wrote, with the debug information of
/// attachLineTable, into a kernel's object file: the section that
/// abi/nereid/kernel.h describes takes the place of the debug information.
llvm::Expected<std::string> makeKernelObject(llvm::StringRef generated,
                                             const KernelMetadata &metadata,
                                             const TargetFeatures &target);

} // namespace nereid::cpu

#endif // NEREID_LIB_TARGET_CPU_KERNELOBJECT_H
