// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How values travel unchanged through control flow: loops, branches, calls.
#ifndef NEREID_TRANSFORMS_VALUEFLOW_H
#define NEREID_TRANSFORMS_VALUEFLOW_H

#include "nereid/Dialect/Triton/IR/Triton.h"

namespace nereid {

/// The calls of each function of a module, and the function of each call.
class CallGraph {
public:
  explicit CallGraph(mlir::ModuleOp module);

  tt::FuncOp getCallee(tt::CallOp call) const { return functions.lookup(call.getCallee()); }
  llvm::ArrayRef<tt::CallOp> getCallers(tt::FuncOp function) const;

private:
  llvm::DenseMap<llvm::StringRef, tt::FuncOp> functions;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<tt::CallOp>> callers;
};

/// What an operation does with an operand.
enum class UseKind {
  /// Hands it on unchanged: to results, region arguments, block arguments.
  Forwarded,
  /// Decides with it which code runs, or how often.
  Control,
  /// Anything else.
  Other,
};

/// Tells what the owner of `use` does with it and, when it hands it on, appends
/// to `targets` the values that may be it.
UseKind getForwardedValues(mlir::OpOperand &use, const CallGraph &calls,
                           llvm::SmallVectorImpl<mlir::Value> &targets);

/// Appends to `sources` the values that `value` may be when it is a region or
/// block argument or the result of control flow or of a call; returns false when
/// it is neither (an argument of a function that nobody calls, or computed).
bool getSourceValues(mlir::Value value, const CallGraph &calls,
                     llvm::SmallVectorImpl<mlir::Value> &sources);

/// Calls `visit` once for every value that one of `start` is computed from, themselves
/// included: through arithmetic, control flow, calls, what loads have brought, and what
/// decides about the branches and loops on the way. Where `visit` returns false the walk
/// does not go further back.
void walkSources(mlir::ValueRange start, const CallGraph &calls,
                 llvm::function_ref<bool(mlir::Value)> visit);

/// What decides in the regions around `op`, up to its function, whether and how often
/// it is executed.
llvm::SmallVector<mlir::Value> getControl(mlir::Operation *op);

} // namespace nereid

#endif // NEREID_TRANSFORMS_VALUEFLOW_H
