// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers of comparisons, as operands of library functions carry them: those of
// abi/nereid/abi.h, which the lowering for the CPU holds them to.
#ifndef NEREID_DIALECT_DISTRIBUTED_COMPARISONS_H
#define NEREID_DIALECT_DISTRIBUTED_COMPARISONS_H

#include <cstdint>

namespace nereid::distributed {

enum class Comparison : int32_t { EQ = 0, NE, GT, LE, LT, GE };

} // namespace nereid::distributed

#endif // NEREID_DIALECT_DISTRIBUTED_COMPARISONS_H
