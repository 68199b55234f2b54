// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What upstream Triton reads, and errors for what it cannot express.
//
// Upstream's back end takes the same dialect, but not all of what this compiler
// makes of a kernel, and each version reads another text. The pass looks at
// everything first and reports all that cannot be said; only when nothing is
// left does it change the module, so that an error never leaves half of a
// rewritten one behind.
//
//   here                                  there
//   attributes nereid.*, distributed.*,    left out
//     ascend.*, cpu.*
//   distributed.yield                     left out: a GPU's programs run on their own
//   tt.barrier                            gpu.barrier
//   math functions that it does not take  the device library's, narrow types through fp32
//   atomic max, min of floats             two atomics of integers, by the number's sign
//   masked load without `other`           other = 0, which this compiler promises
//   narrowing conversion                  with its rounding written out
//   negation (3.6 only)                   -0 - x
//
// The form of the text (3.6 or 3.9) is a property of the dialect that its
// printers ask for; the pass sets it when all is done.
#include "nereid/Dialect/Ascend/IR/Ascend.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/Support/PassDiagnostics.h"
#include "nereid/Transforms/ExportForm.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/TypeSwitch.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDEXPORTTTIR
#include "nereid/Transforms/Passes.h.inc"

using namespace mlir;
using TextForm = tt::TritonDialect::TextForm;

namespace {

/// Most elements of a tensor.
constexpr int64_t maxElements = 1 << 20;

/// The name in NVIDIA's device library of what `op` computes on fp32 or fp64, for
/// operations that upstream's back end does not take; empty: none.
std::string findLibraryFunction(Operation *op, bool isDouble) {
  StringRef name = TypeSwitch<Operation *, StringRef>(op)
                       .Case([](math::TanOp) { return "tan"; })
                       .Case([](math::AsinOp) { return "asin"; })
                       .Case([](math::AcosOp) { return "acos"; })
                       .Case([](math::AtanOp) { return "atan"; })
                       .Case([](math::SinhOp) { return "sinh"; })
                       .Case([](math::CoshOp) { return "cosh"; })
                       .Case([](math::TanhOp) { return "tanh"; })
                       .Case([](math::AsinhOp) { return "asinh"; })
                       .Case([](math::AcoshOp) { return "acosh"; })
                       .Case([](math::AtanhOp) { return "atanh"; })
                       .Case([](math::ErfcOp) { return "erfc"; })
                       .Case([](math::CbrtOp) { return "cbrt"; })
                       .Case([](math::ExpM1Op) { return "expm1"; })
                       .Case([](math::Log10Op) { return "log10"; })
                       .Case([](math::Log1pOp) { return "log1p"; })
                       .Case([](math::TruncOp) { return "trunc"; })
                       .Case([](math::RoundOp) { return "round"; })
                       .Case([](math::RoundEvenOp) { return "rint"; })
                       .Case([](math::PowFOp) { return "pow"; })
                       .Case([](math::Atan2Op) { return "atan2"; })
                       .Case([](math::CopySignOp) { return "copysign"; })
                       .Default([](Operation *) { return ""; });
  if (name.empty())
    return {};
  return ("__nv_" + name + (isDouble ? "" : "f")).str();
}

struct ExportTTIR : impl::NereidExportTTIRBase<ExportTTIR> {
  using NereidExportTTIRBase::NereidExportTTIRBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (version == "3.6") {
      form = TextForm::Triton36;
    } else if (version == "3.9") {
      form = TextForm::Triton39;
    } else {
      emitError(module.getLoc(), "version is \"3.6\" or \"3.9\", got \"") << version << "\"";
      return signalPassFailure();
    }
    bool ok = true;
    SmallVector<Operation *> ops;
    module.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      ok &= succeeded(check(op)) && succeeded(checkTypes(op));
    if (!ok)
      return signalPassFailure();
    for (Operation *op : ops)
      rewrite(op);
    getContext().getLoadedDialect<tt::TritonDialect>()->setTextForm(form);
  }

private:
  TextForm form = TextForm::Nereid;

  InFlightDiagnostic cannot(Operation *op) {
    return reportError(op->getLoc(), Diag::ttir_lacks, userNameOf(op), "Triton " + version);
  }

  LogicalResult check(Operation *op) {
    if (isa<distributed::YieldOp>(op))
      return success(); // left out: the programs of a GPU run on their own
    if (isa<distributed::DistributedDialect>(op->getDialect()))
      return cannot(op) << ": it has no operations between ranks";
    if (isa<ascend::AscendDialect>(op->getDialect()))
      return cannot(op) << ": it has no vector cores";
    if (op->hasAttr(attr::order))
      return cannot(op) << " as an access of one thread that orders others: use tl.atomic_*";
    if (isa<tt::MakeTensorPtrOp, tt::AdvanceOp>(op))
      return cannot(op) << ": use tl.make_tensor_descriptor, or pointers and masks";
    if (isa<tt::AtomicPollOp>(op) && form == TextForm::Triton36)
      return cannot(op) << ": loop over tl.atomic_cas";
    if (auto atomic = dyn_cast<tt::AtomicRMWOp>(op)) {
      Type element = getElementTypeOrSelf(atomic.getVal().getType());
      bool isHalfSum = isa<FloatType>(element) && tt::getElementBits(element) == 16 &&
                       atomic.getAtomicRmwOp() == tt::RMWOp::FADD;
      if (tt::getElementBits(element) < 32 && !isHalfSum)
        return cannot(op) << " on elements of type " << element
                          << ": it has elements of 32 and 64 bits, and sums of 16-bit floats";
    }
    if (auto cas = dyn_cast<tt::AtomicCASOp>(op))
      if (tt::getElementBits(getElementTypeOrSelf(cas.getVal().getType())) < 16)
        return cannot(op) << " on elements of "
                          << tt::getElementBits(getElementTypeOrSelf(cas.getVal().getType()))
                          << " bits";
    if (auto dot = dyn_cast<tt::DotOp>(op))
      if (dot.getInputPrecision() == tt::InputPrecision::HF32)
        return cannot(op)
               << " with input_precision=\"hf32\": it has \"tf32\", \"tf32x3\" and \"ieee\"";
    if (op->hasAttr(attr::isUnsigned))
      return cannot(op) << " on unsigned elements: use pointers and tl.atomic_min, tl.atomic_max";
    if (auto call = dyn_cast<tt::CallOp>(op)) {
      auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
      if (llvm::any_of(call->getOperandTypes(), isTensor) ||
          llvm::any_of(call->getResultTypes(), isTensor))
        return emitError(op->getLoc()) << "the call of " << call.getCallee()
                                       << " has to be inlined: Triton's back end passes no tensors";
    }
    Dialect *dialect = op->getDialect();
    if (isa_and_nonnull<tt::TritonDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                        cf::ControlFlowDialect, ub::UBDialect>(dialect) ||
        isa<ModuleOp, gpu::BarrierOp, LLVM::AssumeOp>(op))
      return success();
    return cannot(op);
  }

  LogicalResult checkType(Operation *op, Type type) {
    if (auto pointer = dyn_cast<tt::PointerType>(type))
      type = pointer.getPointeeType();
    if (auto descriptor = dyn_cast<tt::TensorDescType>(type))
      type = descriptor.getBlockType();
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return success();
    for (int64_t size : tensor.getShape())
      if (!llvm::isPowerOf2_64(size))
        return reportError(op->getLoc(), Diag::ttir_shape, shape(tensor), "Triton " + version,
                           "its sizes are powers of two");
    if (tensor.getNumElements() > maxElements)
      return reportError(op->getLoc(), Diag::ttir_shape, shape(tensor), "Triton " + version,
                         "it has more than " + std::to_string(maxElements) + " elements");
    return success();
  }

  /// Each type that does not fit is reported once, where it is made first.
  LogicalResult checkTypes(Operation *op) {
    for (Type type : op->getResultTypes()) {
      if (rejected.contains(type))
        return failure();
      if (failed(checkType(op, type))) {
        rejected.insert(type);
        return failure();
      }
    }
    return success();
  }
  llvm::DenseSet<Type> rejected;

  static std::string shape(RankedTensorType type) {
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::interleaveComma(type.getShape(), os);
    return text;
  }

  /// Functions that upstream's back end takes from the device library by name;
  /// narrow types through fp32.
  static bool rewriteFunction(OpBuilder &builder, Operation *op) {
    auto element = dyn_cast<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
    if (!element)
      return false;
    std::string symbol = findLibraryFunction(op, element.isF64());
    if (symbol.empty())
      return false;
    Location loc = op->getLoc();
    Type type = op->getResult(0).getType(), wide = type;
    SmallVector<Value> operands(op->getOperands());
    bool isNarrow = element.getWidth() < 32;
    if (isNarrow) {
      wide = tt::getTypeLike(type, builder.getF32Type());
      for (Value &operand : operands)
        operand = arith::ExtFOp::create(builder, loc, wide, operand);
    }
    Value result = tt::ExternElementwiseOp::create(builder, loc, wide, operands, "", "", symbol,
                                                   /*pure=*/true);
    if (isNarrow)
      result = arith::TruncFOp::create(builder, loc, type, result);
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
    return true;
  }

  /// max and min of fp32 and fp64 as upstream's front end writes them: bits of one
  /// sign are ordered as integers, upwards where positive (signed comparison),
  /// downwards where negative (unsigned).
  static void rewriteFloatOrder(OpBuilder &builder, tt::AtomicRMWOp atomic) {
    Location loc = atomic.getLoc();
    Type type = atomic.getVal().getType();
    Type element = builder.getIntegerType(getElementTypeOrSelf(type).getIntOrFloatBitWidth());
    Type integers = tt::getTypeLike(type, element);
    auto pointer = cast<tt::PointerType>(getElementTypeOrSelf(atomic.getPtr().getType()));
    Value place = tt::BitcastOp::create(
        builder, loc,
        tt::getTypeLike(atomic.getPtr().getType(),
                        tt::PointerType::get(element, pointer.getAddressSpace())),
        atomic.getPtr());
    Value bits = tt::BitcastOp::create(builder, loc, integers, atomic.getVal());
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(integers));
    Value positive = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, bits, zero);
    Value negative = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, bits, zero);
    auto emit = [&](tt::RMWOp kind, Value lanes) -> Value {
      if (atomic.getMask())
        lanes = arith::AndIOp::create(builder, loc, atomic.getMask(), lanes);
      return tt::AtomicRMWOp::create(builder, loc, integers, kind, place, bits, lanes,
                                     atomic.getSem(), atomic.getScope());
    };
    bool isMax = atomic.getAtomicRmwOp() == tt::RMWOp::MAX;
    Value upper = emit(isMax ? tt::RMWOp::MAX : tt::RMWOp::MIN, positive);
    Value lower = emit(isMax ? tt::RMWOp::UMIN : tt::RMWOp::UMAX, negative);
    Value old = arith::SelectOp::create(builder, loc, positive, upper, lower);
    atomic.replaceAllUsesWith(tt::BitcastOp::create(builder, loc, type, old).getResult());
    atomic.erase();
  }

  void rewrite(Operation *op) {
    stripOwnAttributes(op);
    OpBuilder builder(op);
    if (isa<distributed::YieldOp>(op)) {
      op->erase();
    } else if (isa<tt::BarrierOp>(op)) {
      gpu::BarrierOp::create(builder, op->getLoc());
      op->erase();
    } else if (auto negate = dyn_cast<arith::NegFOp>(op); negate && form == TextForm::Triton36) {
      // Its back end knows no negation; -0 - x is exact for zeros too.
      Type type = negate.getType();
      auto element = cast<FloatType>(getElementTypeOrSelf(type));
      APFloat zero = APFloat::getZero(element.getFloatSemantics(), /*Negative=*/true);
      TypedAttr value = builder.getFloatAttr(element, zero);
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        value = DenseElementsAttr::get(tensor, zero);
      Value minusZero = arith::ConstantOp::create(builder, negate.getLoc(), value);
      auto difference =
          arith::SubFOp::create(builder, negate.getLoc(), minusZero, negate.getOperand());
      negate.replaceAllUsesWith(difference.getResult());
      negate.erase();
    } else if (isa<math::MathDialect>(op->getDialect()) && rewriteFunction(builder, op)) {
    } else if (auto atomic = dyn_cast<tt::AtomicRMWOp>(op);
               atomic && isa<FloatType>(getElementTypeOrSelf(atomic.getVal().getType())) &&
               llvm::is_contained({tt::RMWOp::MAX, tt::RMWOp::MIN}, atomic.getAtomicRmwOp())) {
      rewriteFloatOrder(builder, atomic);
    } else if (auto load = dyn_cast<tt::LoadOp>(op)) {
      // Lanes that are masked off read as 0 here, as anything there.
      if (!load.getMask() || load.getOther())
        return;
      if (TypedAttr zero = builder.getZeroAttr(load.getType()))
        load.getOtherMutable().assign(arith::ConstantOp::create(builder, load.getLoc(), zero));
    } else if (auto cast = dyn_cast<tt::FpToFpOp>(op)) {
      unsigned from = getElementTypeOrSelf(cast.getSrc().getType()).getIntOrFloatBitWidth();
      unsigned to = getElementTypeOrSelf(cast.getType()).getIntOrFloatBitWidth();
      if (to < from && !cast.getRounding())
        cast.setRounding(tt::RoundingMode::RTNE);
    }
  }
};

} // namespace
} // namespace nereid
