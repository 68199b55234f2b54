// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_TARGET_ASCEND_PASSES_H
#define NEREID_TARGET_ASCEND_PASSES_H

#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace nereid {
#define GEN_PASS_DECL
#include "Target/Ascend/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Target/Ascend/Passes.h.inc"
} // namespace nereid

#endif // NEREID_TARGET_ASCEND_PASSES_H
