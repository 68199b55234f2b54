// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What differs between those that run one function together: the vector cores of
// an AI core, the threads of a program.
#ifndef NEREID_ANALYSIS_DIVERGENCE_H
#define NEREID_ANALYSIS_DIVERGENCE_H

#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/IR/Dominance.h"

#include <functional>

namespace nereid {

/// Which values and which code of a function depend on who runs it.
class Divergence {
public:
  /// `isSource`: the operation's results differ from one to the other whatever its
  /// operands are.
  Divergence(tt::FuncOp function, std::function<bool(mlir::Operation *)> isSource);

  /// Whether they may differ in whether they get here.
  bool isDivergent(mlir::Operation *op) const;
  /// Whether the value may differ.
  bool isDivergent(mlir::Value value) const { return values.contains(value); }
  /// Whether it decides by such a value which of its regions run, and how often.
  bool decides(mlir::Operation *op) const { return regions.contains(op); }
  /// Whether it is done differently by each of them, or by some of them only.
  bool dependsOn(mlir::Operation *op) const;

private:
  void taint(mlir::Value value) { changed |= values.insert(value).second; }
  /// Results and arguments of loops and branches: what flows into them.
  void flow(mlir::ValueRange from, mlir::ValueRange to, bool all);
  void visit(mlir::Operation *op);
  void visitBranch(mlir::Operation *op);
  void markRegion(mlir::Operation *op, bool divergent) {
    if (divergent)
      changed |= regions.insert(op).second;
  }

  std::function<bool(mlir::Operation *)> isSource;
  mlir::PostDominanceInfo postDominance;
  llvm::DenseSet<mlir::Value> values;
  llvm::DenseSet<mlir::Operation *> regions;
  llvm::DenseSet<mlir::Block *> blocks;
  bool changed = false;
};

} // namespace nereid

#endif // NEREID_ANALYSIS_DIVERGENCE_H
