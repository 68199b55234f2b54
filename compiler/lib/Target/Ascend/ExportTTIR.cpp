// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What triton-ascend reads, without what it is known to do wrong, and errors for what
// it cannot express. Passes.td has the table.
#include "Target/Ascend/Passes.h"
#include "nereid/Analysis/Comparisons.h"
#include "nereid/Support/AttributeNames.h"

#include "nereid/Dialect/Ascend/IR/Ascend.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Support/PassDiagnostics.h"
#include "nereid/Transforms/ExportForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDASCENDEXPORTTTIR
#include "Target/Ascend/Passes.h.inc"

using namespace mlir;

namespace {

constexpr const char *reader = "triton-ascend 3.2";

struct ExportTTIR : impl::NereidAscendExportTTIRBase<ExportTTIR> {
  void runOnOperation() override {
    bool ok = true;
    SmallVector<Operation *> ops;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      ok &= succeeded(check(op));
    if (!ok)
      return signalPassFailure();
    for (Operation *op : ops) {
      stripOwnAttributes(op);
      rewrite(op);
    }
    getContext().getLoadedDialect<tt::TritonDialect>()->setTextForm(
        tt::TritonDialect::TextForm::Triton36);
  }

private:
  static InFlightDiagnostic cannot(Operation *op) {
    return reportError(op->getLoc(), Diag::ttir_lacks, userNameOf(op), reader);
  }

  static LogicalResult check(Operation *op) {
    if (isa<distributed::YieldOp>(op))
      return success(); // left out: programs of an NPU run on their own
    if (isa<distributed::DistributedDialect>(op->getDialect()))
      return cannot(op) << ": it has no operations between ranks";
    if (isa<ascend::AscendDialect>(op->getDialect()))
      return cannot(op) << ": its dialect for vector cores is not among those that are written";
    if (op->hasAttr(attr::order))
      return cannot(op) << " as an atomic access: use tl.atomic_*";
    if (auto call = dyn_cast<tt::ExternElementwiseOp>(op);
        call && call.getSymbol().starts_with("__nv_"))
      return cannot(op) << ": '" << call.getSymbol() << "' is a function of NVIDIA's library";
    if (op->hasAttr(attr::isUnsigned))
      return cannot(op) << " on unsigned elements: use pointers and tl.atomic_min, tl.atomic_max";
    if (isa<tt::AtomicPollOp, tt::MapElementwiseOp, tt::CallOp>(op))
      return cannot(op);
    Dialect *dialect = op->getDialect();
    if (isa_and_nonnull<tt::TritonDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                        cf::ControlFlowDialect, ub::UBDialect>(dialect) ||
        isa<ModuleOp, gpu::BarrierOp, LLVM::AssumeOp>(op))
      return success();
    return cannot(op);
  }

  static void replace(Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  /// A constant of a scalar's or tensor's type; null for pointers.
  static Value zero(OpBuilder &b, Location loc, Type type) {
    TypedAttr value = b.getZeroAttr(type);
    return value ? arith::ConstantOp::create(b, loc, value).getResult() : Value();
  }

  /// Its lowering takes no notice of the mask of a scalar atomic, and crashes where there is none.
  static void guardAtomic(OpBuilder &b, tt::AtomicRMWOp atomic) {
    if (isa<RankedTensorType>(atomic.getType()))
      return;
    Location loc = atomic.getLoc();
    Value mask = atomic.getMask();
    auto yes = [&](OpBuilder &at) -> Value {
      return arith::ConstantOp::create(at, loc, at.getBoolAttr(true));
    };
    if (!mask || matchPattern(mask, m_One())) {
      atomic.getMaskMutable().assign(yes(b));
      return;
    }
    auto branch = scf::IfOp::create(b, loc, TypeRange{atomic.getType()}, mask, /*withElse=*/true);
    atomic.replaceAllUsesWith(branch.getResult(0));
    OpBuilder inner = branch.getThenBodyBuilder();
    auto yield = scf::YieldOp::create(inner, loc, atomic.getResult());
    atomic->moveBefore(yield);
    inner.setInsertionPoint(atomic);
    atomic.getMaskMutable().assign(yes(inner));
    OpBuilder other = branch.getElseBodyBuilder();
    scf::YieldOp::create(other, loc, zero(other, loc, atomic.getType()));
  }

  static Value splat(OpBuilder &b, Location loc, Type type, const APFloat &value) {
    TypedAttr attribute = b.getFloatAttr(getElementTypeOrSelf(type), value);
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      attribute = DenseElementsAttr::get(tensor, value);
    return arith::ConstantOp::create(b, loc, attribute);
  }

  static Value compare(OpBuilder &b, Location loc, arith::CmpFPredicate predicate, Value a,
                       Value c) {
    return arith::CmpFOp::create(b, loc, predicate, a, c);
  }

  /// It knows masks that are ranges only with the lanes on the left: `n > lanes` is
  /// `lanes < n`.
  static void orderComparison(arith::CmpIOp compare) {
    auto isUniform = [](Value value) {
      return value.getDefiningOp<tt::SplatOp>() || matchPattern(value, m_Constant());
    };
    if (!isa<RankedTensorType>(compare.getLhs().getType()) || !isUniform(compare.getLhs()) ||
        isUniform(compare.getRhs()))
      return;
    Value lanes = compare.getRhs();
    compare.getRhsMutable().assign(compare.getLhs());
    compare.getLhsMutable().assign(lanes);
    compare.setPredicate(swapped(compare.getPredicate()));
  }

  /// Functions that the compiler behind it does not take.
  static void rewriteFunction(OpBuilder &b, Operation *op) {
    Location loc = op->getLoc();
    Type type = op->getOperand(0).getType();
    Value x = op->getOperand(0);
    using P = arith::CmpFPredicate;
    auto infinity = [&] {
      return splat(
          b, loc, type,
          APFloat::getInf(cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics()));
    };
    if (isa<math::IsNaNOp>(op)) {
      replace(op, compare(b, loc, P::UNO, x, x));
    } else if (isa<math::IsInfOp>(op)) {
      Value size = math::AbsFOp::create(b, loc, x);
      replace(op, compare(b, loc, P::OEQ, size, infinity()));
    } else if (isa<math::IsFiniteOp>(op)) {
      Value size = math::AbsFOp::create(b, loc, x);
      replace(op, compare(b, loc, P::OLT, size, infinity()));
    } else if (isa<math::TruncOp>(op)) {
      // Keeps the sign of zeros, and NaN.
      Value isNegative = compare(b, loc, P::OLT, x, zero(b, loc, type));
      Value up = math::CeilOp::create(b, loc, x), down = math::FloorOp::create(b, loc, x);
      replace(op, arith::SelectOp::create(b, loc, isNegative, up, down));
    } else if (isa<math::CopySignOp>(op)) {
      unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
      Type integers = tt::getTypeLike(type, b.getIntegerType(bits));
      auto mask = [&](const APInt &value) -> Value {
        TypedAttr attribute = b.getIntegerAttr(getElementTypeOrSelf(integers), value);
        if (auto tensor = dyn_cast<RankedTensorType>(integers))
          attribute = DenseElementsAttr::get(tensor, value);
        return arith::ConstantOp::create(b, loc, attribute);
      };
      auto part = [&](Value value, const APInt &which) -> Value {
        Value all = arith::BitcastOp::create(b, loc, integers, value);
        return arith::AndIOp::create(b, loc, all, mask(which));
      };
      Value size = part(x, APInt::getSignedMaxValue(bits));
      Value sign = part(op->getOperand(1), APInt::getSignMask(bits));
      Value both = arith::OrIOp::create(b, loc, size, sign);
      replace(op, arith::BitcastOp::create(b, loc, type, both));
    } else if (isa<math::RoundOp>(op)) {
      Type wide = tt::getTypeLike(type, b.getF32Type());
      bool isNarrow = getElementTypeOrSelf(type).getIntOrFloatBitWidth() < 32;
      if (isNarrow)
        x = arith::ExtFOp::create(b, loc, wide, x);
      else if (wide != type)
        return;
      Value y =
          tt::ExternElementwiseOp::create(b, loc, wide, x, "", "", "__hmf_roundf", /*pure=*/true);
      replace(op, isNarrow ? arith::TruncFOp::create(b, loc, type, y).getResult() : y);
    }
  }

  static void rewrite(Operation *op) {
    OpBuilder b(op);
    TypeSwitch<Operation *>(op)
        .Case<distributed::YieldOp, LLVM::AssumeOp>([](auto hint) { hint.erase(); })
        .Case([&](tt::BarrierOp barrier) {
          gpu::BarrierOp::create(b, barrier.getLoc());
          barrier.erase();
        })
        .Case([&](tt::AtomicRMWOp atomic) { guardAtomic(b, atomic); })
        .Case([](arith::CmpIOp compare) { orderComparison(compare); })
        .Case([&](ub::PoisonOp poison) {
          if (Value value = zero(b, poison.getLoc(), poison.getType()))
            replace(poison, value);
        })
        .Case([&](tt::LoadOp load) {
          // Lanes that are masked off read as 0 here, as anything there.
          if (load.getMask() && !load.getOther())
            if (Value value = zero(b, load.getLoc(), load.getType()))
              load.getOtherMutable().assign(value);
        })
        .Case([](tt::FpToFpOp cast) {
          unsigned from = getElementTypeOrSelf(cast.getSrc().getType()).getIntOrFloatBitWidth();
          unsigned to = getElementTypeOrSelf(cast.getType()).getIntOrFloatBitWidth();
          if (to < from && !cast.getRounding())
            cast.setRounding(tt::RoundingMode::RTNE);
        })
        .Default([&](Operation *other) {
          if (isa<math::MathDialect>(other->getDialect()))
            rewriteFunction(b, other);
        });
  }
};

} // namespace
} // namespace nereid
