// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_LIB_TARGET_CPU_MATHSYMBOLS_H
#define NEREID_LIB_TARGET_CPU_MATHSYMBOLS_H

#include "nereid/Target/CPU/Loader.h"

namespace nereid::cpu {

/// Functions of the C library and of the compiler's support library that code
/// generation may call.
llvm::ArrayRef<Symbol> mathSymbols();

} // namespace nereid::cpu

#endif // NEREID_LIB_TARGET_CPU_MATHSYMBOLS_H
