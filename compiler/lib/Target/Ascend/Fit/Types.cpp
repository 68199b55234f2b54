// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations on blocks of types that the compiler refuses, or computes one element
// after the other. Types.def has what the vendor's tools were asked.
#include "Target/Ascend/Fit/Blocks.h"
#include "Target/Ascend/Fit/Findings.h"
#include "Target/Ascend/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDFITTYPES
#include "Target/Ascend/Passes.h.inc"

using namespace mlir;
using namespace nereid::fit;

namespace {

enum class Outcome { Vector, Scalar, Refused };

struct Row {
  StringRef operation, type;
  Outcome outcome;
};

constexpr Row table[] = {
#define FIT_TYPE(operation, type, outcome) {#operation, #type, Outcome::outcome},
#include "Target/Ascend/Fit/Types.def"
#undef FIT_TYPE
};

Outcome lookup(StringRef operation, StringRef type) {
  for (const Row &row : table)
    if (row.operation == operation && row.type == type)
      return row.outcome;
  return Outcome::Vector; // not asked
}

/// How users write a row of the table.
std::string words(StringRef operation) {
  if (operation.consume_front("to_"))
    return ("conversion to " + operation).str();
  return llvm::StringSwitch<std::string>(operation)
      .Case("copy", "load or store")
      .Case("add", "+")
      .Case("sub", "-")
      .Case("mul", "*")
      .Case("div", "/")
      .Case("floordiv", "//")
      .Case("rem", "%")
      .Case("and", "bit operation")
      .Case("shl", "<<")
      .Case("shr", ">>")
      .Case("compare", "comparison")
      .Default("tl." + operation.str());
}

/// The row of an operation, and whether it reads its operands as unsigned.
struct Asked {
  StringRef operation;
  bool isUnsigned = false;
  Value of; ///< the block whose type decides
};

StringRef conversionTo(Type type, bool isUnsigned) {
  if (type.isF32())
    return "to_fp32";
  if (type.isF16())
    return "to_fp16";
  if (isUnsigned)
    return "";
  return type.isInteger(8)    ? "to_i8"
         : type.isInteger(32) ? "to_i32"
         : type.isInteger(64) ? "to_i64"
                              : "";
}

StringRef reductionOf(tt::ReduceOp reduce) {
  if (reduce.getNumOperands() == 2)
    return "argmax";
  StringRef name;
  reduce.getCombineOp().walk([&](Operation *op) {
    if (isa<arith::AddIOp, arith::AddFOp>(op))
      name = "sum";
    else if (isa<arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp, arith::MaxNumFOp,
                 arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp>(op))
      name = "max";
    else if (isa<arith::XOrIOp>(op))
      name = "xor_sum";
  });
  return name;
}

Asked ask(Operation *op) {
  auto of = [&](StringRef name, bool isUnsigned = false) {
    return Asked{name, isUnsigned, op->getOperand(0)};
  };
  auto cast = [&](bool isUnsigned) {
    return of(conversionTo(getElementTypeOrSelf(op->getResult(0).getType()), isUnsigned),
              isUnsigned);
  };
  return TypeSwitch<Operation *, Asked>(op)
      .Case([](tt::LoadOp load) { return Asked{"copy", false, load.getResult()}; })
      .Case([](tt::StoreOp store) { return Asked{"copy", false, store.getValue()}; })
      .Case<arith::AddIOp, arith::AddFOp>([&](auto) { return of("add"); })
      .Case<arith::SubIOp, arith::SubFOp>([&](auto) { return of("sub"); })
      .Case<arith::MulIOp, arith::MulFOp>([&](auto) { return of("mul"); })
      .Case<arith::DivFOp>([&](auto) { return of("div"); })
      .Case<arith::DivSIOp>([&](auto) { return of("floordiv"); })
      .Case<arith::DivUIOp>([&](auto) { return of("floordiv", true); })
      .Case<arith::RemSIOp, arith::RemFOp>([&](auto) { return of("rem"); })
      .Case<arith::RemUIOp>([&](auto) { return of("rem", true); })
      .Case<arith::AndIOp, arith::OrIOp, arith::XOrIOp>([&](auto) { return of("and"); })
      .Case<arith::ShLIOp>([&](auto) { return of("shl"); })
      .Case<arith::ShRSIOp>([&](auto) { return of("shr"); })
      .Case<arith::ShRUIOp>([&](auto) { return of("shr", true); })
      .Case<arith::CmpFOp>([&](auto) { return of("compare"); })
      .Case([&](arith::CmpIOp compare) {
        using P = arith::CmpIPredicate;
        bool isUnsigned =
            llvm::is_contained({P::ult, P::ule, P::ugt, P::uge}, compare.getPredicate());
        bool isOrder = !llvm::is_contained({P::eq, P::ne}, compare.getPredicate());
        return isOrder ? of("compare", isUnsigned) : Asked{};
      })
      .Case<arith::MaxSIOp, arith::MinSIOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
            arith::MinNumFOp>([&](auto) { return of("maximum"); })
      .Case<arith::MaxUIOp, arith::MinUIOp>([&](auto) { return of("maximum", true); })
      .Case<math::AbsIOp, math::AbsFOp>([&](auto) { return of("abs"); })
      .Case<math::ExpOp, math::Exp2Op>([&](auto) { return of("exp"); })
      .Case<math::SqrtOp, math::RsqrtOp, tt::PreciseSqrtOp>([&](auto) { return of("sqrt"); })
      .Case<math::SinOp, math::CosOp>([&](auto) { return of("sin"); })
      .Case<math::ErfOp>([&](auto) { return of("erf"); })
      .Case<math::FloorOp, math::CeilOp>([&](auto) { return of("floor"); })
      .Case<arith::SIToFPOp, arith::ExtSIOp, arith::TruncIOp, arith::FPToSIOp, arith::ExtFOp,
            arith::TruncFOp, tt::FpToFpOp>([&](auto) { return cast(false); })
      .Case<arith::UIToFPOp, arith::ExtUIOp>([&](auto) { return cast(true); })
      .Case<tt::ScanOp>([&](auto) { return of("cumsum"); })
      .Case([&](tt::ReduceOp reduce) { return of(reductionOf(reduce)); })
      .Case<tt::MulhiUIOp>([&](auto) { return of("umulhi", true); })
      .Default([](Operation *) { return Asked{}; });
}

struct FitTypes : impl::NereidFitTypesBase<FitTypes> {
  void runOnOperation() override {
    llvm::DenseSet<Value> data = dataBlocks(getOperation());
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<tt::ReduceOp, tt::ScanOp>(op->getParentOp()))
        return;
      if (isa<tt::MulhiUIOp>(op))
        report(op, checks::signed_umulhi);
      Asked asked = ask(op);
      auto type = asked.of ? dyn_cast<RankedTensorType>(asked.of.getType()) : nullptr;
      if (asked.operation.empty() || !type || !type.getElementType().isIntOrFloat() ||
          type.getElementType().isInteger(1))
        return;
      // Offsets and masks that are folded into transfers are not computed as blocks.
      bool isData = llvm::any_of(op->getResults(), [&](Value v) { return data.contains(v); });
      if (!isData && !isa<tt::StoreOp>(op))
        return;
      std::string name = typeText(type.getElementType());
      if (asked.isUnsigned && isa<IntegerType>(type.getElementType()))
        name[0] = 'u';
      check(op, asked.operation, name, type);
    });
  }

private:
  static void check(Operation *op, StringRef operation, const std::string &type,
                    RankedTensorType shape) {
    switch (lookup(operation, type)) {
    case Outcome::Vector:
      return;
    case Outcome::Refused:
      return report(op, checks::type_refused, words(operation), type, refusedRemedy(type));
    case Outcome::Scalar:
      return report(op, checks::type_scalar, words(operation), type, shape.getNumElements(),
                    scalarRemedy(type));
    }
  }

  static std::string refusedRemedy(StringRef type) {
    if (type == "fp64")
      return "use fp32: vector cores have no fp64";
    if (type.starts_with("u"))
      return "use a signed type, " + ("i" + type.drop_front()).str() +
             ", where the values fit into it";
    return "use fp32 or i32";
  }
  static std::string scalarRemedy(StringRef type) {
    return type.ends_with("64") ? "use 32 bits where the values fit into them"
                                : "use fp32 or i32, and convert at the end";
  }
};

} // namespace
} // namespace nereid
