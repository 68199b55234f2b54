// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;

#include "nereid/Dialect/Triton/IR/TritonDialect.cpp.inc"

namespace {
/// Device functions may be inlined anywhere; their return becomes the values of
/// the call, or a branch to the continuation when the callee has several blocks.
struct TritonInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *call, Operation *callable, bool) const final {
    auto noinline = callable->getAttrOfType<BoolAttr>("noinline");
    return !noinline || !noinline.getValue();
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }

  void handleTerminator(Operation *op, Block *newDest) const final {
    auto ret = dyn_cast<nereid::tt::ReturnOp>(op);
    if (!ret)
      return;
    OpBuilder builder(op);
    cf::BranchOp::create(builder, op->getLoc(), newDest, ret.getSrcs());
    op->erase();
  }
  void handleTerminator(Operation *op, ValueRange valuesToReplace) const final {
    for (auto [old, value] :
         llvm::zip_equal(valuesToReplace, cast<nereid::tt::ReturnOp>(op).getSrcs()))
      old.replaceAllUsesWith(value);
  }
};
} // namespace

namespace nereid::tt {

void TritonDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "nereid/Dialect/Triton/IR/TritonOps.cpp.inc"
      >();
  addInterfaces<TritonInlinerInterface>();
}

Operation *TritonDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                              Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

} // namespace nereid::tt
