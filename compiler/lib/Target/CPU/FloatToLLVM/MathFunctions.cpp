// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mathematical functions on fp32 as polynomials.
//
// In this order:
//
// 1. Before anything else log and log2 are given operands in the normal range
//   (scaleSubnormals): the polynomials take smaller ones for zero.
// 2. exp and exp2 are ours; rsqrt is a root and a division; log, log2, log1p,
//   expm1, tanh and erf are MLIR's approximations. fp16 goes through fp32.
// 3. What is left and has no intrinsic in LLVM is a call of the C library,
//   element by element: last, because a call is worst.
#include "Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace {

/// 2^x and e^x: x = n * step + r with |r| <= step / 2 (step is 1 or ln 2), the
/// base's r-th power by a polynomial, 2^n in two factors so that results below
/// the smallest normal number and overflow come out right.
template <typename Op> struct ExpandPower : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  static constexpr bool isNatural = std::is_same_v<Op, math::ExpOp>;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return failure();
    Location loc = op.getLoc();
    auto like = [&](Type element) -> Type {
      if (auto vector = dyn_cast<VectorType>(type))
        return vector.clone(element);
      return element;
    };
    Type i32 = like(rewriter.getI32Type());
    auto constant = [&](TypedAttr element, Type shaped) -> Value {
      if (auto vector = dyn_cast<VectorType>(shaped))
        return arith::ConstantOp::create(rewriter, loc,
                                         DenseElementsAttr::get(vector, Attribute(element)));
      return arith::ConstantOp::create(rewriter, loc, element);
    };
    auto f = [&](double value) { return constant(rewriter.getF32FloatAttr(float(value)), type); };
    auto c = [&](int32_t value) { return constant(rewriter.getI32IntegerAttr(value), i32); };
    auto power = [&](Value exponent) -> Value { // 2^exponent for -126 .. 127
      Value field = arith::AddIOp::create(rewriter, loc, exponent, c(127));
      Value bits = arith::ShLIOp::create(rewriter, loc, field, c(23));
      return arith::BitcastOp::create(rewriter, loc, type, bits);
    };

    // Beyond these the result is infinity or 0. NaN survives: the comparisons
    // are false for it and x itself goes on.
    Value x = op.getOperand();
    Value high = f(isNatural ? 89.5 : 129.0), low = f(isNatural ? -110.0 : -160.0);
    Value tooHigh = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OGT, x, high);
    x = arith::SelectOp::create(rewriter, loc, tooHigh, high, x);
    Value tooLow = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OLT, x, low);
    x = arith::SelectOp::create(rewriter, loc, tooLow, low, x);

    Value whole, r;
    if constexpr (isNatural) {
      // ln 2 in two parts, the first exact when multiplied by n.
      Value steps = arith::MulFOp::create(rewriter, loc, x, f(1.44269504088896341));
      whole = math::RoundEvenOp::create(rewriter, loc, steps);
      r = math::FmaOp::create(rewriter, loc, whole, f(-0x1.62e4p-1), x);
      r = math::FmaOp::create(rewriter, loc, whole, f(-0x1.7f7d1cf79abcap-20), r);
    } else {
      whole = math::RoundEvenOp::create(rewriter, loc, x);
      r = arith::SubFOp::create(rewriter, loc, x, whole);
    }
    // ln(base)^k / k!
    constexpr double exp2Taylor[] = {1.0,
                                     0.69314718055994530942,
                                     0.24022650695910071233,
                                     0.055504108664821579953,
                                     0.0096181291076284771620,
                                     0.0013333558146428443423,
                                     0.00015403530393381609954,
                                     0.000015252733804059840280};
    constexpr double expTaylor[] = {1.0,      1.0,       1.0 / 2,   1.0 / 6,
                                    1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040};
    const auto &taylor = isNatural ? expTaylor : exp2Taylor;
    Value polynomial = f(taylor[7]);
    for (int k = 6; k >= 0; --k)
      polynomial = math::FmaOp::create(rewriter, loc, polynomial, r, f(taylor[k]));

    // NaN's integer is meaningless, but the polynomial is NaN already.
    Value n = arith::FPToSIOp::create(rewriter, loc, i32, whole);
    Value half = arith::ShRSIOp::create(rewriter, loc, n, c(1));
    Value rest = arith::SubIOp::create(rewriter, loc, n, half);
    Value scaled = arith::MulFOp::create(rewriter, loc, polynomial, power(half));
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, scaled, power(rest));
    return success();
  }
};

/// 1 / sqrt(x), correctly rounded steps.
struct ExpandRsqrt : OpRewritePattern<math::RsqrtOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::RsqrtOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    FloatAttr one = rewriter.getFloatAttr(getElementTypeOrSelf(type), 1.0);
    Value numerator;
    if (auto vector = dyn_cast<VectorType>(type))
      numerator = arith::ConstantOp::create(rewriter, op.getLoc(),
                                            DenseElementsAttr::get(vector, Attribute(one)));
    else
      numerator = arith::ConstantOp::create(rewriter, op.getLoc(), one);
    Value root = math::SqrtOp::create(rewriter, op.getLoc(), op.getOperand());
    rewriter.replaceOpWithNewOp<arith::DivFOp>(op, numerator, root);
    return success();
  }
};

/// Calls of the C library for what LLVM has no intrinsic for, element by
/// element on vectors.
struct CallLibrary : RewritePattern {
  CallLibrary(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/0, context) {}

  static StringRef getFunctionName(Operation *op) {
    return llvm::TypeSwitch<Operation *, StringRef>(op)
        .Case([](math::ExpM1Op) { return "expm1"; })
        .Case([](math::Log1pOp) { return "log1p"; })
        .Case([](math::ErfOp) { return "erf"; })
        .Case([](math::ErfcOp) { return "erfc"; })
        .Case([](math::CbrtOp) { return "cbrt"; })
        .Case([](math::AsinhOp) { return "asinh"; })
        .Case([](math::AcoshOp) { return "acosh"; })
        .Case([](math::AtanhOp) { return "atanh"; })
        .Default([](Operation *) { return ""; });
  }

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    std::string name = getFunctionName(op).str();
    if (name.empty())
      return failure();
    Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
    if (element.isF32())
      name += 'f';
    else if (!element.isF64())
      return failure();
    Location loc = op->getLoc();
    auto module = op->getParentOfType<ModuleOp>();
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
    if (!function) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(module.getBody());
      SmallVector<Type> parameters(op->getNumOperands(), element);
      function = LLVM::LLVMFuncOp::create(rewriter, module.getLoc(), name,
                                          LLVM::LLVMFunctionType::get(element, parameters));
      function.setPassthroughAttr(rewriter.getStrArrayAttr({"nounwind", "willreturn"}));
      function.setMemoryEffectsAttr(LLVM::MemoryEffectsAttr::get(
          rewriter.getContext(), SmallVector<LLVM::ModRefInfo>(6, LLVM::ModRefInfo::NoModRef)));
    }
    auto vector = dyn_cast<VectorType>(type);
    if (!vector) {
      rewriter.replaceOp(
          op, LLVM::CallOp::create(rewriter, loc, function, op->getOperands()).getResult());
      return success();
    }
    Value result = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(vector));
    SmallVector<int64_t> strides = computeStrides(vector.getShape());
    for (int64_t i = 0, e = vector.getNumElements(); i < e; ++i) {
      SmallVector<int64_t> position = delinearize(i, strides);
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(vector::ExtractOp::create(rewriter, loc, operand, position));
      Value value = LLVM::CallOp::create(rewriter, loc, function, operands).getResult();
      result = vector::InsertOp::create(rewriter, loc, value, result, position);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

/// log and log2 of numbers below the smallest normal one: the expansions take
/// those for zero, so they are scaled into range first.
static void scaleSubnormals(Operation *log, double shiftPerBit) {
  OpBuilder builder(log);
  Location loc = log->getLoc();
  Type type = log->getOperand(0).getType();
  auto constant = [&](float value) -> Value {
    FloatAttr element = builder.getF32FloatAttr(value);
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(builder, loc,
                                       DenseElementsAttr::get(vector, Attribute(element)));
    return arith::ConstantOp::create(builder, loc, element);
  };
  Value x = log->getOperand(0);
  Value small =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, x, constant(0x1p-126f));
  Value scaled = arith::MulFOp::create(builder, loc, x, constant(0x1p24f));
  log->setOperand(0, arith::SelectOp::create(builder, loc, small, scaled, x));
  builder.setInsertionPointAfter(log);
  Value shift =
      arith::SelectOp::create(builder, loc, small, constant(float(24 * shiftPerBit)), constant(0));
  auto result = arith::SubFOp::create(builder, loc, log->getResult(0), shift);
  log->getResult(0).replaceAllUsesExcept(result, result);
}

void nereid::cpu::prepareMathFunctions(Operation *root) {
  SmallVector<Operation *> logs;
  root->walk([&](Operation *op) {
    if (isa<math::LogOp, math::Log2Op>(op) &&
        getElementTypeOrSelf(op->getResult(0).getType()).isF32())
      logs.push_back(op);
  });
  for (Operation *log : logs)
    scaleSubnormals(log, isa<math::Log2Op>(log) ? 1.0 : 0.69314718055994530942);
}

void nereid::cpu::populateMathFunctionPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandPower<math::ExpOp>, ExpandPower<math::Exp2Op>, ExpandRsqrt, CallLibrary>(
      patterns.getContext());
  // fp16 goes through fp32 whatever the function is.
  populateMathF32ExpansionPatterns(patterns, [](StringRef) { return true; });
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return llvm::is_contained({math::LogOp::getOperationName(), math::Log2Op::getOperationName(),
                               math::Log1pOp::getOperationName(), math::ExpM1Op::getOperationName(),
                               math::TanhOp::getOperationName(), math::ErfOp::getOperationName()},
                              name);
  });
}
