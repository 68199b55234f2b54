// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_RUNTIME_DEVICE_CPU_LIBRARYSYMBOLS_H
#define NEREID_RUNTIME_DEVICE_CPU_LIBRARYSYMBOLS_H

#include "nereid/runtime/KernelCode.h"

#include <vector>

namespace nereid::runtime {

/// Functions of the C library and of the compiler's support library that
/// generated code may call beside the entry points of abi.h.
const std::vector<RuntimeSymbol> &librarySymbols();
/// The functions of abi/nereid/device_math.def.
const std::vector<RuntimeSymbol> &deviceMathSymbols();

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_LIBRARYSYMBOLS_H
