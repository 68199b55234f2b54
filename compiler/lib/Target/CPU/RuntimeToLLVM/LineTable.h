// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source lines for every instruction, for reports about code that failed
// without calling the runtime.
#ifndef NEREID_TARGET_CPU_RUNTIMETOLLVM_LINETABLE_H
#define NEREID_TARGET_CPU_RUNTIMETOLLVM_LINETABLE_H

#include "mlir/IR/BuiltinOps.h"

namespace nereid::cpu {

/// Gives the operations of a module of the LLVM dialect locations whose line is
/// 1 + the number of their place in the table of sites, and the functions the
/// debug information that makes the code generator write them: the object
/// file's .debug_line then maps each instruction to a site. Extends the module's
/// `cpu.sites` by the places that had no number; source locations of the
/// operations are gone afterwards.
void attachLineTable(mlir::ModuleOp module);

} // namespace nereid::cpu

#endif // NEREID_TARGET_CPU_RUNTIMETOLLVM_LINETABLE_H
