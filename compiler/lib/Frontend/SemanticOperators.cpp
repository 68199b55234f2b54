// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Promotion and the operators. The rules are those of the language's reference:
// numbers known at compile time give way to run-time dtypes of their kind or a
// higher one; otherwise floats by width, integers as in C.
//
// An operand is a number, known now, or a tensor. Two numbers have no
// operation: they are folded (Constexpr.h). A number and a tensor: the number
// takes the tensor's dtype where its kind allows it (bool < integer < float),
// which is what makes `x * 2` keep the dtype of x; only a float with an integer
// tensor, or an integer with a tensor of bools, is promoted as a tensor of its
// natural type would be. Two tensors: promote(), then both are cast and
// broadcast to one shape, so that the operations below see operands of one
// type.
#include "Rules.h"

#include "nereid/Frontend/Constexpr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace nereid;
using namespace nereid::frontend;
namespace arith = mlir::arith;

/// Help where a number is expected and a pointer comes.
static const char *const arrayForNumber =
    "a pointer stands for an array; pass a number as one: int(x) or x.item() "
    "instead of an array of one element";

const char *nereid::frontend::spelling(BinaryOp op) {
  static const char *const names[] = {"+",  "-",  "*", "/", "//", "%", "**",
                                      "<<", ">>", "&", "|", "^",  "@"};
  return names[int(op)];
}

const char *nereid::frontend::spelling(CompareOp op) {
  static const char *const names[] = {"==", "!=", "<",      "<=", ">",
                                      ">=", "is", "is not", "in", "not in"};
  return names[int(op)];
}

Value nereid::frontend::arithmetic(Semantic &s, BinaryOp op, const Value &lhs, const Value &rhs,
                                   const SourceRange &range) {
  if (lhs.isNumber() && rhs.isNumber())
    return foldBinary(op, lhs, rhs, range);
  return s.binary(op, lhs, rhs, range);
}

//===----------------------------------------------------------------------===//
// Promotion
//===----------------------------------------------------------------------===//

/// The first rule that fits: fp64 beside anything; a division with a float is one of fp32; fp32,
/// then fp16, beside anything; bf16 beside anything else is fp32; two fp8 types that differ meet in
/// fp16, and beside anything else fp8 is an error; integers as in C.
Type Semantic::promote(Type lhs, Type rhs, const OperandRules &rules, const SourceRange &range) {
  Type a = lhs.element(), b = rhs.element();
  auto either = [&](Scalar scalar) { return a == Type(scalar) || b == Type(scalar); };
  if (either(Scalar::Fp64))
    return Scalar::Fp64;
  if (rules.division && (a.isFloating() || b.isFloating()))
    return Scalar::Fp32;
  if (either(Scalar::Fp32))
    return Scalar::Fp32;
  if (either(Scalar::Fp16))
    return Scalar::Fp16;
  if (either(Scalar::BF16))
    return a == b ? Scalar::BF16 : Scalar::Fp32;
  if (a.isFp8() && b.isFp8())
    return a == b ? a : Type(Scalar::Fp16);
  if (a.isFloating() || b.isFloating())
    fail(Diag::operands_invalid, range, rules.what, a.str(), b.str(),
         "cast the fp8 operand first: x.to(tl.float16) or x.to(tl.float32)");
  // Integers.
  if (rules.division && a.isSigned() != b.isSigned())
    fail(Diag::signedness_differs, range, rules.what, a.str(), b.str());
  if (a.isSigned() == b.isSigned())
    return a.bits() >= b.bits() ? a : b;
  const Type &unsignedType = a.isSigned() ? b : a, &signedType = a.isSigned() ? a : b;
  return unsignedType.bits() >= signedType.bits() ? unsignedType : signedType;
}

Type Semantic::promoteNumber(const Value &number, Type other, const OperandRules &rules,
                             const SourceRange &range) {
  Type type = other.element();
  int numberKind = number.is<bool>() ? 0 : number.is<Int>() ? 1 : 2;
  int typeKind = type.isBool() ? 0 : type.isInteger() ? 1 : 2;
  if (numberKind <= typeKind) {
    if (rules.division && type.isFloating() && type.bits() < 32)
      return Scalar::Fp32;
    return type;
  }
  OperandRules plain = rules;
  plain.division =
      rules.division && numberKind == 2; // the number itself has no signedness to differ in
  return promote(naturalType(number, range), type, plain, range);
}

std::pair<Tensor, Tensor> Semantic::operands(const Value &lhs, const Value &rhs,
                                             const OperandRules &rules, const SourceRange &range) {
  auto check = [&](const Value &value, bool pointerAllowed) {
    const Tensor *tensor = value.getIf<Tensor>();
    bool valid = value.isNumber() ||
                 (tensor && !tensor->type.isBlockPointer() && !tensor->type.isDescriptor());
    if (!valid || (tensor && tensor->type.isPointerLike() && !pointerAllowed))
      failOperands(Diag::operands_invalid, range, lhs, rhs, rules.what, lhs.describe(),
                   rhs.describe(),
                   tensor && tensor->type.element().isPointer() ? std::string(arrayForNumber)
                                                                : helpForNone(value));
  };
  check(lhs, rules.leftPointer);
  check(rhs, rules.rightPointer);
  const Tensor *left = lhs.getIf<Tensor>(), *right = rhs.getIf<Tensor>();
  bool pointers = (left && left->type.isPointerLike()) || (right && right->type.isPointerLike());
  Tensor a, b;
  if (pointers) {
    a = toTensor(lhs, range);
    b = toTensor(rhs, range);
  } else {
    Type type;
    try {
      if (left && right)
        type = promote(left->type, right->type, rules, range);
      else if (left)
        type = promoteNumber(rhs, left->type, rules, range);
      else if (right)
        type = promoteNumber(lhs, right->type, rules, range);
      else
        type = promote(naturalType(lhs, range), naturalType(rhs, range), rules, range);
    } catch (const CompileError &error) {
      Diagnostic diagnostic = error.diagnostic;
      noteValue(diagnostic, lhs, "the left operand");
      noteValue(diagnostic, rhs, "the right operand");
      throw CompileError(std::move(diagnostic));
    }
    auto convert = [&](const Value &value) {
      if (const Tensor *tensor = value.getIf<Tensor>())
        return cast(*tensor, type, range);
      if (type.isInteger() && type.isUnsigned() && value.is<Int>() && value.as<Int>() < 0)
        fail(Diag::negative_with_unsigned, range, rules.what, type.str(),
             toString(value.as<Int>()));
      return constant(value, type, range);
    };
    a = convert(lhs);
    b = convert(rhs);
  }
  return broadcast(a, b, rules.what, range);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// `pointer` + `offset` (or - offset).
static Tensor addPointer(Semantic &s, const Tensor &pointer, Tensor offset, bool subtract,
                         const SourceRange &range) {
  if (offset.type.isUnsigned() && offset.type.bits() < 64)
    offset = s.cast(offset, Scalar::Int64, range); // zero-extends
  else if (offset.type.bits() < 32)
    offset = s.cast(offset, Scalar::Int32, range);
  if (subtract)
    offset = s.unary(UnaryOp::USub, offset, range).as<Tensor>();
  return s.wrap(s.emit<tt::AddPtrOp>(range, pointer.handle.getType(), pointer.handle, offset.handle)
                    .getResult(),
                pointer.type, range);
}

template <typename FloatOp, typename IntOp>
static mlir::Value numeric(Semantic &s, const Tensor &a, const Tensor &b,
                           const SourceRange &range) {
  if (a.type.isFloating())
    return s.emit<FloatOp>(range, a.handle, b.handle).getResult();
  return s.emit<IntOp>(range, a.handle, b.handle).getResult();
}

template <typename SignedOp, typename UnsignedOp>
static mlir::Value bySign(Semantic &s, const Tensor &a, const Tensor &b, const SourceRange &range) {
  if (a.type.isSigned())
    return s.emit<SignedOp>(range, a.handle, b.handle).getResult();
  return s.emit<UnsignedOp>(range, a.handle, b.handle).getResult();
}

/// fp8 values are storage: arithmetic on them is done in fp16 and rounded back.
static bool needsWidening(const Type &type) { return type.isFp8(); }

/// The operator's operation on `a` and `b` of one type and shape. `signedShift`: the
/// sign of what is shifted, which is that of the left operand as written. An integer
/// division gives floats: the caller converts.
static mlir::Value emitOperator(Semantic &s, BinaryOp op, const Tensor &a, const Tensor &b,
                                bool signedShift, const SourceRange &range) {
  auto emit = [&]<typename Op>() { return s.emit<Op>(range, a.handle, b.handle).getResult(); };
  switch (op) {
  case BinaryOp::Add:
    return numeric<arith::AddFOp, arith::AddIOp>(s, a, b, range);
  case BinaryOp::Sub:
    return numeric<arith::SubFOp, arith::SubIOp>(s, a, b, range);
  case BinaryOp::Mult:
    return numeric<arith::MulFOp, arith::MulIOp>(s, a, b, range);
  case BinaryOp::Div:
    return emit.operator()<arith::DivFOp>();
  case BinaryOp::FloorDiv:
    return bySign<arith::DivSIOp, arith::DivUIOp>(s, a, b, range);
  case BinaryOp::Mod:
    return a.type.isFloating() ? emit.operator()<arith::RemFOp>()
                               : bySign<arith::RemSIOp, arith::RemUIOp>(s, a, b, range);
  case BinaryOp::LShift:
    return emit.operator()<arith::ShLIOp>();
  case BinaryOp::RShift:
    return signedShift ? emit.operator()<arith::ShRSIOp>() : emit.operator()<arith::ShRUIOp>();
  case BinaryOp::BitAnd:
    return emit.operator()<arith::AndIOp>();
  case BinaryOp::BitOr:
    return emit.operator()<arith::OrIOp>();
  case BinaryOp::BitXor:
    return emit.operator()<arith::XOrIOp>();
  case BinaryOp::Pow:
  case BinaryOp::MatMult:
    break;
  }
  llvm_unreachable("an operator without an operation at run time");
}

/// Whether `value` is a pointer, a block of pointers or a block pointer.
static bool isPointerLike(const Value &value) {
  const Tensor *tensor = value.getIf<Tensor>();
  return tensor && tensor->type.isPointerLike();
}

Value Semantic::movePointer(BinaryOp op, const Value &lhs, const Value &rhs,
                            const SourceRange &range) {
  const char *what = spelling(op);
  bool left = isPointerLike(lhs), right = isPointerLike(rhs), subtract = op == BinaryOp::Sub;
  auto isTilePointer = [](const Value &value) {
    const Tensor *tensor = value.getIf<Tensor>();
    return tensor && tensor->type.kind() > Type::Kind::Block;
  };
  const Value &offset = left ? rhs : lhs;
  const Tensor *tensor = offset.getIf<Tensor>();
  bool integral = offset.is<Int>() || offset.is<bool>() || (tensor && tensor->type.isInteger());
  if (isTilePointer(lhs) || isTilePointer(rhs) || (left && right) || (subtract && right) ||
      !integral)
    failOperands(Diag::operands_invalid, range, lhs, rhs, what, lhs.describe(), rhs.describe(),
                 left && right
                     ? "add or subtract integers; for a distance cast both pointers to tl.int64"
                     : "only integers are added to or subtracted from pointers");
  auto [a, b] = operands(lhs, rhs, {what, true, true}, range);
  return left ? addPointer(*this, a, b, subtract, range) : addPointer(*this, b, a, false, range);
}

Value Semantic::binary(BinaryOp op, const Value &lhs, const Value &rhs, const SourceRange &range) {
  const char *what = spelling(op);
  if (op == BinaryOp::Pow)
    failOperands(Diag::power_runtime, range, lhs, rhs, lhs.describe(), rhs.describe());
  if (op == BinaryOp::MatMult)
    fail(Diag::matmul_operator, range);
  if ((isPointerLike(lhs) || isPointerLike(rhs)) && (op == BinaryOp::Add || op == BinaryOp::Sub))
    return movePointer(op, lhs, rhs, range);

  OperandRules rules{what};
  rules.division = op == BinaryOp::Div || op == BinaryOp::FloorDiv || op == BinaryOp::Mod;
  auto [a, b] = operands(lhs, rhs, rules, range);
  Type type = a.type;
  bool integerOnly = op == BinaryOp::FloorDiv || op == BinaryOp::LShift || op == BinaryOp::RShift ||
                     op == BinaryOp::BitAnd || op == BinaryOp::BitOr || op == BinaryOp::BitXor;
  if (integerOnly && !type.isInteger())
    failOperands(Diag::operands_invalid, range, lhs, rhs, what, lhs.describe(), rhs.describe(),
                 op == BinaryOp::FloorDiv ? "use tl.floor(x / y) for floats"
                                          : "it works on integers only");
  bool widen = needsWidening(type);
  if (widen || (op == BinaryOp::Div && type.isInteger())) {
    Scalar computed = widen ? Scalar::Fp16 : Scalar::Fp32;
    a = cast(a, computed, range);
    b = cast(b, computed, range);
  }
  bool signedShift = (lhs.isTensor() ? lhs.as<Tensor>().type : type).isSigned();
  Tensor result = wrap(emitOperator(*this, op, a, b, signedShift, range), a.type, range);
  return widen ? cast(result, type, range) : result;
}

Value Semantic::compare(CompareOp op, const Value &lhs, const Value &rhs,
                        const SourceRange &range) {
  if (op > CompareOp::GtE)
    fail(Diag::comparison_invalid, range, spelling(op));
  const Tensor *left = lhs.getIf<Tensor>(), *right = rhs.getIf<Tensor>();
  if ((left && left->type.isPointerLike()) || (right && right->type.isPointerLike()))
    try {
      failOperands(Diag::pointer_comparison, range, lhs, rhs, lhs.describe(), rhs.describe());
    } catch (const CompileError &error) {
      Diagnostic diagnostic = error.diagnostic;
      if (!(left && left->type.isPointerLike() && right && right->type.isPointerLike()))
        diagnostic.help = arrayForNumber;
      throw CompileError(diagnostic);
    }
  auto [a, b] = operands(lhs, rhs, {spelling(op)}, range);
  if (needsWidening(a.type)) {
    a = cast(a, Scalar::Fp16, range);
    b = cast(b, Scalar::Fp16, range);
  }
  Type type = a.type.withElement(Scalar::Int1);
  if (a.type.isFloating()) {
    static const arith::CmpFPredicate predicates[] = {
        arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE, arith::CmpFPredicate::OLT,
        arith::CmpFPredicate::OLE, arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE};
    return wrap(emit<arith::CmpFOp>(range, predicates[int(op)], a.handle, b.handle).getResult(),
                type, range);
  }
  using P = arith::CmpIPredicate;
  static const P signedPredicates[] = {P::eq, P::ne, P::slt, P::sle, P::sgt, P::sge};
  static const P unsignedPredicates[] = {P::eq, P::ne, P::ult, P::ule, P::ugt, P::uge};
  P predicate = (a.type.isSigned() ? signedPredicates : unsignedPredicates)[int(op)];
  return wrap(emit<arith::CmpIOp>(range, predicate, a.handle, b.handle).getResult(), type, range);
}

Value Semantic::unary(UnaryOp op, const Value &operand, const SourceRange &range) {
  static const char *const names[] = {"+", "-", "not", "~"};
  const char *what = names[int(op)];
  Tensor x = toTensor(operand, range);
  if (x.type.isBlockPointer() || x.type.isDescriptor() ||
      (x.type.isPointerLike() && op != UnaryOp::Not))
    fail(Diag::operand_invalid, range, what, operand.describe(), "");
  switch (op) {
  case UnaryOp::UAdd:
    return x;
  case UnaryOp::USub: {
    if (x.type.isFp8())
      return cast(unary(op, cast(x, Scalar::Fp16, range), range).as<Tensor>(), x.type.element(),
                  range);
    if (x.type.isFloating())
      return wrap(emit<arith::NegFOp>(range, x.handle).getResult(), x.type, range);
    Tensor zero = full(x.type.shape(), Int(0), x.type.element(), range);
    return wrap(emit<arith::SubIOp>(range, zero.handle, x.handle).getResult(), x.type, range);
  }
  case UnaryOp::Not: {
    Tensor bit = toBool(x, range);
    Tensor ones = full(bit.type.shape(), true, Scalar::Int1, range);
    return wrap(emit<arith::XOrIOp>(range, bit.handle, ones.handle).getResult(), bit.type, range);
  }
  case UnaryOp::Invert: {
    if (!x.type.isInteger())
      fail(Diag::operand_invalid, range, what, operand.describe(),
           "it works on integers and int1 only");
    Value ones = x.type.isBool()
                     ? Value(Int(1))
                     : (x.type.isSigned() ? Value(Int(-1)) : Value((Int(1) << x.type.bits()) - 1));
    Tensor mask = full(x.type.shape(), ones, x.type.element(), range);
    return wrap(emit<arith::XOrIOp>(range, x.handle, mask.handle).getResult(), x.type, range);
  }
  }
  return x;
}

Value Semantic::logical(bool isAnd, const Value &lhs, const Value &rhs, const SourceRange &range) {
  const char *what = isAnd ? "and" : "or";
  auto convert = [&](const Value &value) {
    Tensor tensor = toTensor(value, range);
    if (tensor.type.isBlockPointer() || tensor.type.isDescriptor())
      failOperands(Diag::operands_invalid, range, lhs, rhs, what, lhs.describe(), rhs.describe(),
                   "");
    return toBool(tensor, range);
  };
  Tensor left = convert(lhs), right = convert(rhs);
  auto [a, b] = broadcast(left, right, what, range);
  mlir::Value result = isAnd ? emit<arith::AndIOp>(range, a.handle, b.handle).getResult()
                             : emit<arith::OrIOp>(range, a.handle, b.handle).getResult();
  return wrap(result, a.type, range);
}
