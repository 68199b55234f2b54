// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What CPUs lack of floats, made of what all of them have, in an order in which
// each step needs the one before:
//
// 1. Operations that compute on bf16 or fp8 do so in fp32: operands are
//   widened, each result is rounded back. So an operation rounds once.
// 2. Conversions of bf16 and fp8, of which step 1 has made more, become integer
//   arithmetic (NarrowFloats.cpp), functions of mathematics polynomials where
//   there is one (MathFunctions.cpp).
// 3. What is still of type bf16 is only moved. It becomes i16, because LLVM
//   moves bf16 by way of fp32 on some CPUs.
#include "Target/CPU/FloatToLLVM/Passes.h"

#include "Patterns.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDCPUEXPANDFLOATS
#include "Target/CPU/FloatToLLVM/Passes.h.inc"
} // namespace nereid

using namespace mlir;
using namespace nereid;

static bool isEmulated(Type type) {
  type = getElementTypeOrSelf(type);
  return type.isBF16() || (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8);
}

/// True for operations that compute on bf16 or fp8 values, not merely move or
/// convert them.
static bool computesOnNarrow(Operation *op) {
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::BitcastOp, arith::ConstantOp, arith::SelectOp>(op))
    return false;
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
      !isa<vector::ReductionOp, vector::FMAOp, vector::MultiDimReductionOp, vector::ContractionOp,
           vector::OuterProductOp>(op))
    return false;
  return llvm::any_of(op->getOperandTypes(), isEmulated) ||
         llvm::any_of(op->getResultTypes(), isEmulated);
}

/// Does `op` in fp32: operands are widened, results rounded back.
static void widenOperation(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  auto widened = [&](Type type) -> Type {
    Type f32 = builder.getF32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.clone(f32);
    return f32;
  };
  for (OpOperand &operand : op->getOpOperands())
    if (isEmulated(operand.get().getType()))
      operand.set(
          arith::ExtFOp::create(builder, loc, widened(operand.get().getType()), operand.get()));
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    Type narrow = result.getType();
    if (!isEmulated(narrow))
      continue;
    result.setType(widened(narrow));
    auto rounded = arith::TruncFOp::create(builder, loc, narrow, result);
    result.replaceAllUsesExcept(rounded, rounded);
  }
}

//===----------------------------------------------------------------------===//
// bf16 values as integers
//===----------------------------------------------------------------------===//

/// `type` with i16 in place of bf16.
static Type asInteger(Type type) {
  if (type.isBF16())
    return IntegerType::get(type.getContext(), 16);
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(asInteger(vector.getElementType()));
  if (auto structure = dyn_cast<LLVM::LLVMStructType>(type); structure && !structure.isIdentified())
    return LLVM::LLVMStructType::getLiteral(
        type.getContext(),
        llvm::map_to_vector(structure.getBody(), [](Type t) { return asInteger(t); }),
        structure.isPacked());
  return type;
}

static Attribute asInteger(Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value); number && number.getType().isBF16())
    return IntegerAttr::get(asInteger(number.getType()), number.getValue().bitcastToAPInt());
  if (auto elements = dyn_cast<DenseElementsAttr>(value);
      elements && elements.getElementType().isBF16())
    return elements.bitcast(asInteger(elements.getElementType()));
  return value;
}

/// By now bf16 values are only moved, and multiplied by one instruction. As
/// integers they move on every CPU; as floats, some would be converted to fp32
/// and back on the way.
static void retypeBF16(Operation *root) {
  SmallVector<arith::BitcastOp> casts;
  SmallVector<LLVM::CallIntrinsicOp> products;
  auto retype = [](Value value) {
    if (Type type = asInteger(value.getType()); type != value.getType())
      value.setType(type);
  };
  root->walk([&](Operation *op) {
    llvm::for_each(op->getResults(), retype);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), retype);
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      constant.setValueAttr(cast<TypedAttr>(asInteger(constant.getValue())));
    else if (auto constant = dyn_cast<LLVM::ConstantOp>(op))
      constant.setValueAttr(asInteger(constant.getValue()));
    else if (auto cast = dyn_cast<arith::BitcastOp>(op))
      casts.push_back(cast);
    else if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
             call && call.getIntrin().contains("dpbf16ps"))
      products.push_back(call);
    else if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op)) {
      LLVM::LLVMFunctionType type = function.getFunctionType();
      function.setFunctionType(LLVM::LLVMFunctionType::get(
          asInteger(type.getReturnType()),
          llvm::map_to_vector(type.getParams(), [](Type t) { return asInteger(t); }),
          type.isVarArg()));
    }
  });
  for (auto cast : casts)
    if (cast.getIn().getType() == cast.getType()) {
      cast.replaceAllUsesWith(cast.getIn());
      cast.erase();
    }
  for (LLVM::CallIntrinsicOp call : products)
    for (OpOperand &operand : llvm::drop_begin(call->getOpOperands())) {
      OpBuilder builder(call);
      auto integers = cast<VectorType>(operand.get().getType());
      operand.set(LLVM::BitcastOp::create(builder, call.getLoc(),
                                          integers.clone(builder.getBF16Type()), operand.get()));
    }
}

namespace {

struct ExpandFloats : nereid::impl::NereidCPUExpandFloatsBase<ExpandFloats> {
  void runOnOperation() override {
    SmallVector<Operation *> narrow;
    getOperation().walk([&](Operation *op) {
      if (computesOnNarrow(op))
        narrow.push_back(op);
    });
    llvm::for_each(narrow, widenOperation);
    cpu::prepareMathFunctions(getOperation());

    RewritePatternSet patterns(&getContext());
    cpu::populateNarrowFloatPatterns(patterns);
    cpu::populateMathFunctionPatterns(patterns);
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    retypeBF16(getOperation());
  }
};

} // namespace
