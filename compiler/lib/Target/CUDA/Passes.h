// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_TARGET_CUDA_PASSES_H
#define NEREID_TARGET_CUDA_PASSES_H

#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace nereid {
#define GEN_PASS_DECL
#include "Target/CUDA/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Target/CUDA/Passes.h.inc"

namespace cuda {
/// Module attribute that nereid-lower-distributed-to-tt sets: the places in the source
/// that reports of waits name by number.
inline constexpr llvm::StringLiteral sitesAttrName = "nereid.cuda.sites";

/// Module attribute, a boolean, of the same pass: the kernel has operations between ranks.
inline constexpr llvm::StringLiteral distributedAttrName = "nereid.cuda.distributed";

/// Of the arguments that the lowering adds for the runtime.
inline constexpr llvm::StringLiteral runtimesAttrName = "nereid.runtime";

/// What stands, as a comment, in the assembly number `mark`, and so in the PTX.
inline std::string markText(unsigned mark) { return "// nereid " + std::to_string(mark) + ";"; }

/// The mark in `op`; empty: none.
inline llvm::StringRef markOf(tt::ElementwiseInlineAsmOp op) {
  llvm::StringRef text = op.getAsmString();
  size_t begin = text.find("// nereid ");
  return begin == llvm::StringRef::npos ? "" : text.slice(begin, text.find(';', begin) + 1);
}

/// The processor that has asynchronous copies by descriptors.
inline constexpr int hopper = 90;

/// Assembly in which each thread waits for the copies that it has begun.
inline constexpr llvm::StringLiteral waitForCopies = "cp.async.bulk.wait_group 0;";

/// Is it an operation that Triton makes an asynchronous copy to memory of?
inline bool isDescriptorStore(mlir::Operation *op) {
  return mlir::isa<tt::DescriptorStoreOp, tt::DescriptorReduceOp, tt::DescriptorScatterOp>(op);
}
} // namespace cuda
} // namespace nereid

#endif // NEREID_TARGET_CUDA_PASSES_H
