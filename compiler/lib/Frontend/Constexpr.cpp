// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python's arithmetic on constants, exactly: a kernel computes sizes and masks
// with it, and must get what the same line gives outside of a kernel. Integers
// have 128 bits instead of any number; where that does not hold the result, it
// is an error, never a wrapped number. Where C differs:
//
//   //  %            round towards minus infinity, the remainder has the divisor's sign
//   /  on integers   the nearest double to the exact quotient, also beyond 2^53
//   <  on int, float compared without rounding the integer
//   **               of integers is exact; a negative exponent gives a float
//   True + True      a bool is the integer that it is; & | ^ of two bools stay bools
//
// What is equal and what is identical differ as in Python, so that 1 == True
// and 1 is not True.
#include "nereid/Frontend/Constexpr.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"

#include <cmath>
#include <limits>

namespace nereid::frontend {
namespace {

using llvm::APInt;

[[noreturn]] void overflow(const SourceRange &range) {
  throw CompileError(makeDiagnostic(Diag::constexpr_overflow, range));
}

[[noreturn]] void zeroDivision(const SourceRange &range) {
  throw CompileError(makeDiagnostic(Diag::constexpr_zero_division, range));
}

[[noreturn]] void badOperands(const char *op, const Value &lhs, const Value &rhs,
                              const SourceRange &range) {
  throw CompileError(
      makeDiagnostic(Diag::constexpr_operands, range, op, lhs.describe(), rhs.describe()));
}

/// A bool counts as the integer it is in Python.
std::optional<Int> asInt(const Value &value) {
  if (const bool *b = value.getIf<bool>())
    return Int(*b);
  if (const Int *i = value.getIf<Int>())
    return *i;
  return std::nullopt;
}

double asDouble(const Value &value) {
  if (const double *d = value.getIf<double>())
    return *d;
  return static_cast<double>(*asInt(value));
}

APInt magnitude(Int value, unsigned width) {
  auto bits = static_cast<unsigned __int128>(value);
  if (value < 0)
    bits = -bits;
  uint64_t words[2] = {static_cast<uint64_t>(bits), static_cast<uint64_t>(bits >> 64)};
  return APInt(128, words).zext(width);
}

/// The double nearest to lhs / rhs, ties to even, as Python's `/` on integers.
double trueDivide(Int lhs, Int rhs) {
  constexpr Int exact = Int(1) << 53;
  if (lhs >= -exact && lhs <= exact && rhs >= -exact && rhs <= exact)
    return static_cast<double>(lhs) / static_cast<double>(rhs);
  if (lhs == 0)
    return rhs < 0 ? -0.0 : 0.0;
  constexpr unsigned width = 384;
  APInt numerator = magnitude(lhs, width), denominator = magnitude(rhs, width);
  // Enough quotient bits for a double, and one that says whether any were lost.
  int shift = std::max(0, 66 - int(numerator.getActiveBits()) + int(denominator.getActiveBits()));
  numerator <<= shift;
  APInt quotient, remainder;
  APInt::udivrem(numerator, denominator, quotient, remainder);
  if (!remainder.isZero())
    quotient.setBit(0);
  llvm::APFloat rounded(llvm::APFloat::IEEEdouble());
  rounded.convertFromAPInt(quotient, /*IsSigned=*/false, llvm::APFloat::rmNearestTiesToEven);
  double result = std::ldexp(rounded.convertToDouble(), -shift);
  return (lhs < 0) != (rhs < 0) ? -result : result;
}

Int floorDivide(Int lhs, Int rhs) {
  Int quotient = lhs / rhs;
  return lhs % rhs != 0 && (lhs < 0) != (rhs < 0) ? quotient - 1 : quotient;
}

Int floorModulo(Int lhs, Int rhs) {
  Int remainder = lhs % rhs;
  return remainder != 0 && (remainder < 0) != (rhs < 0) ? remainder + rhs : remainder;
}

/// Python's float modulo: the sign of the divisor, exact.
double floatModulo(double lhs, double rhs) {
  double mod = std::fmod(lhs, rhs);
  if (mod != 0.0)
    return (rhs < 0) != (mod < 0) ? mod + rhs : mod;
  return std::copysign(0.0, rhs);
}

/// As CPython does it, from the exact remainder: the floor of lhs / rhs would be one too many where
/// the quotient was rounded up to an integer.
double floatFloorDivide(double lhs, double rhs) {
  double mod = std::fmod(lhs, rhs);
  double div = (lhs - mod) / rhs;
  if (mod != 0.0 && (rhs < 0) != (mod < 0))
    div -= 1.0;
  if (div == 0.0)
    return std::copysign(0.0, lhs / rhs);
  double floored = std::floor(div);
  return div - floored > 0.5 ? floored + 1.0 : floored;
}

double floatPower(double base, double exponent, const SourceRange &range) {
  if (base == 0.0 && exponent < 0)
    zeroDivision(range);
  if (base < 0 && std::isfinite(base) && std::isfinite(exponent) &&
      exponent != std::floor(exponent))
    throw CompileError(makeDiagnostic(Diag::constexpr_complex, range));
  double result = std::pow(base, exponent);
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent))
    overflow(range);
  return result;
}

/// By squares. The base is squared only while another factor is to come, so that a square which
/// nobody needs cannot overflow.
Value intPower(Int base, Int exponent, const SourceRange &range) {
  if (exponent < 0)
    return floatPower(static_cast<double>(base), static_cast<double>(exponent), range);
  Int result = 1;
  while (true) {
    if ((exponent & 1) && __builtin_mul_overflow(result, base, &result))
      overflow(range);
    exponent >>= 1;
    if (exponent == 0)
      return result;
    if (__builtin_mul_overflow(base, base, &base))
      overflow(range);
  }
}

Value foldInts(BinaryOp op, Int lhs, Int rhs, const SourceRange &range) {
  Int result = 0;
  switch (op) {
  case BinaryOp::Add:
    if (__builtin_add_overflow(lhs, rhs, &result))
      overflow(range);
    return result;
  case BinaryOp::Sub:
    if (__builtin_sub_overflow(lhs, rhs, &result))
      overflow(range);
    return result;
  case BinaryOp::Mult:
    if (__builtin_mul_overflow(lhs, rhs, &result))
      overflow(range);
    return result;
  case BinaryOp::Div:
  case BinaryOp::FloorDiv:
  case BinaryOp::Mod:
    if (rhs == 0)
      zeroDivision(range);
    if (op == BinaryOp::Div)
      return trueDivide(lhs, rhs);
    if (rhs == -1) { // the one quotient that may not fit
      if (op == BinaryOp::Mod)
        return Int(0);
      if (__builtin_sub_overflow(Int(0), lhs, &result))
        overflow(range);
      return result;
    }
    return op == BinaryOp::FloorDiv ? floorDivide(lhs, rhs) : floorModulo(lhs, rhs);
  case BinaryOp::Pow:
    return intPower(lhs, rhs, range);
  case BinaryOp::LShift:
  case BinaryOp::RShift:
    if (rhs < 0)
      throw CompileError(makeDiagnostic(Diag::constexpr_negative_shift, range));
    if (op == BinaryOp::RShift)
      return rhs > 127 ? Int(lhs < 0 ? -1 : 0) : lhs >> rhs;
    if (lhs == 0)
      return Int(0);
    if (rhs > 126 || ((lhs << rhs) >> rhs) != lhs)
      overflow(range);
    return lhs << rhs;
  case BinaryOp::BitAnd:
    return lhs & rhs;
  case BinaryOp::BitOr:
    return lhs | rhs;
  case BinaryOp::BitXor:
    return lhs ^ rhs;
  case BinaryOp::MatMult:
    break;
  }
  badOperands(spelling(op), lhs, rhs, range);
}

Value foldDoubles(BinaryOp op, const Value &lhs, const Value &rhs, const SourceRange &range) {
  double a = asDouble(lhs), b = asDouble(rhs);
  switch (op) {
  case BinaryOp::Add:
    return a + b;
  case BinaryOp::Sub:
    return a - b;
  case BinaryOp::Mult:
    return a * b;
  case BinaryOp::Div:
  case BinaryOp::FloorDiv:
  case BinaryOp::Mod:
    if (b == 0.0)
      zeroDivision(range);
    if (op == BinaryOp::Div)
      return a / b;
    return op == BinaryOp::FloorDiv ? floatFloorDivide(a, b) : floatModulo(a, b);
  case BinaryOp::Pow:
    return floatPower(a, b, range);
  default:
    badOperands(spelling(op), lhs, rhs, range);
  }
}

/// A string or tuple repeated `count` times, bounded so that a slip of the pen
/// does not eat the machine's memory.
template <typename Sequence, typename Append>
void repeat(Sequence &result, size_t length, Int count, const SourceRange &range, Append append) {
  if (count > 0 && length > 0 && (count > (1 << 20) || Int(length) * count > (1 << 20)))
    throw CompileError(makeDiagnostic(Diag::constexpr_too_long, range));
  for (Int i = 0; i < count; ++i)
    append(result);
}

/// Three-way comparison of an integer and a double without rounding; nullopt
/// for NaN.
std::optional<int> compareIntDouble(Int lhs, double rhs) {
  if (std::isnan(rhs))
    return std::nullopt;
  constexpr double limit = 0x1p127;
  if (rhs >= limit)
    return -1;
  if (rhs < -limit)
    return 1;
  double whole = std::floor(rhs);
  Int wholeInt = static_cast<Int>(whole);
  if (lhs != wholeInt)
    return lhs < wholeInt ? -1 : 1;
  return rhs > whole ? -1 : 0;
}

/// -1, 0, 1, or nullopt when unordered (NaN) ; `comparable` says whether Python
/// orders the two at all.
std::optional<int> order(const Value &lhs, const Value &rhs, bool &comparable) {
  comparable = true;
  auto sign = [](auto a, auto b) { return a < b ? -1 : a > b ? 1 : 0; };
  std::optional<Int> a = asInt(lhs), b = asInt(rhs);
  if (a && b)
    return sign(*a, *b);
  if (lhs.isNumber() && rhs.isNumber()) {
    if (a)
      return compareIntDouble(*a, rhs.as<double>());
    if (b) {
      std::optional<int> reversed = compareIntDouble(*b, lhs.as<double>());
      return reversed ? std::optional<int>(-*reversed) : std::nullopt;
    }
    double x = lhs.as<double>(), y = rhs.as<double>();
    if (std::isnan(x) || std::isnan(y))
      return std::nullopt;
    return sign(x, y);
  }
  if (lhs.is<std::string>() && rhs.is<std::string>())
    return sign(lhs.as<std::string>(), rhs.as<std::string>());
  if (lhs.is<Tuple>() && rhs.is<Tuple>()) {
    const auto &xs = lhs.as<Tuple>().items, &ys = rhs.as<Tuple>().items;
    for (size_t i = 0; i < std::min(xs.size(), ys.size()); ++i)
      if (!equal(xs[i], ys[i]))
        return order(xs[i], ys[i], comparable);
    return sign(xs.size(), ys.size());
  }
  comparable = false;
  return std::nullopt;
}

} // namespace

Value foldBinary(BinaryOp op, const Value &lhs, const Value &rhs, const SourceRange &range) {
  std::optional<Int> a = asInt(lhs), b = asInt(rhs);
  if (a && b) {
    if (lhs.is<bool>() && rhs.is<bool>()) {
      bool x = lhs.as<bool>(), y = rhs.as<bool>();
      if (op == BinaryOp::BitAnd)
        return x && y;
      if (op == BinaryOp::BitOr)
        return x || y;
      if (op == BinaryOp::BitXor)
        return x != y;
    }
    return foldInts(op, *a, *b, range);
  }
  if (lhs.isNumber() && rhs.isNumber())
    return foldDoubles(op, lhs, rhs, range);

  if (op == BinaryOp::Add) {
    if (lhs.is<std::string>() && rhs.is<std::string>())
      return lhs.as<std::string>() + rhs.as<std::string>();
    if (lhs.is<Tuple>() && rhs.is<Tuple>()) {
      Tuple result;
      result.items = lhs.as<Tuple>().items;
      const auto &more = rhs.as<Tuple>().items;
      result.items.insert(result.items.end(), more.begin(), more.end());
      return result;
    }
  }
  if (op == BinaryOp::Mult && (a || b)) {
    const Value &sequence = a ? rhs : lhs;
    Int count = a ? *a : *b;
    if (const auto *text = sequence.getIf<std::string>()) {
      std::string result;
      repeat(result, text->size(), count, range, [&](std::string &r) { r += *text; });
      return result;
    }
    if (const auto *tuple = sequence.getIf<Tuple>()) {
      Tuple result;
      repeat(result, tuple->items.size(), count, range, [&](Tuple &r) {
        r.items.insert(r.items.end(), tuple->items.begin(), tuple->items.end());
      });
      return result;
    }
  }
  badOperands(spelling(op), lhs, rhs, range);
}

Value foldUnary(UnaryOp op, const Value &operand, const SourceRange &range) {
  if (op == UnaryOp::Not) {
    if (std::optional<bool> t = truth(operand))
      return !*t;
  } else if (std::optional<Int> i = asInt(operand)) {
    Int result = *i;
    if (op == UnaryOp::USub && __builtin_sub_overflow(Int(0), *i, &result))
      overflow(range);
    return op == UnaryOp::Invert ? ~result : result;
  } else if (const double *d = operand.getIf<double>(); d && op != UnaryOp::Invert) {
    return op == UnaryOp::USub ? -*d : *d;
  }
  throw CompileError(
      makeDiagnostic(Diag::constexpr_operand, range, spelling(op), operand.describe()));
}

bool foldCompare(CompareOp op, const Value &lhs, const Value &rhs, const SourceRange &range) {
  switch (op) {
  case CompareOp::Eq:
    return equal(lhs, rhs);
  case CompareOp::NotEq:
    return !equal(lhs, rhs);
  case CompareOp::Is:
    return identical(lhs, rhs);
  case CompareOp::IsNot:
    return !identical(lhs, rhs);
  case CompareOp::In:
  case CompareOp::NotIn: {
    bool found = false;
    if (const auto *tuple = rhs.getIf<Tuple>())
      found = llvm::any_of(tuple->items, [&](const Value &item) { return equal(lhs, item); });
    else if (lhs.is<std::string>() && rhs.is<std::string>())
      found = llvm::StringRef(rhs.as<std::string>()).contains(lhs.as<std::string>());
    else
      badOperands(spelling(op), lhs, rhs, range);
    return found == (op == CompareOp::In);
  }
  default:
    break;
  }
  bool comparable = false;
  std::optional<int> ordering = order(lhs, rhs, comparable);
  if (!comparable)
    badOperands(spelling(op), lhs, rhs, range);
  if (!ordering)
    return false;
  switch (op) {
  case CompareOp::Lt:
    return *ordering < 0;
  case CompareOp::LtE:
    return *ordering <= 0;
  case CompareOp::Gt:
    return *ordering > 0;
  default:
    return *ordering >= 0;
  }
}

std::optional<bool> truth(const Value &value) {
  if (value.isNone())
    return false;
  if (std::optional<Int> i = asInt(value))
    return *i != 0;
  if (const double *d = value.getIf<double>())
    return *d != 0.0;
  if (const auto *text = value.getIf<std::string>())
    return !text->empty();
  if (const auto *tuple = value.getIf<Tuple>())
    return !tuple->items.empty();
  if (value.is<Type>() || value.is<Function>() || value.is<Builtin>())
    return true;
  return std::nullopt;
}

bool equal(const Value &lhs, const Value &rhs) {
  if (lhs.isNumber() && rhs.isNumber()) {
    bool comparable = false;
    std::optional<int> ordering = order(lhs, rhs, comparable);
    return ordering && *ordering == 0;
  }
  if (lhs.storage.index() != rhs.storage.index())
    return false;
  if (const auto *tuple = lhs.getIf<Tuple>()) {
    const auto &other = rhs.as<Tuple>();
    return tuple->items.size() == other.items.size() &&
           std::equal(tuple->items.begin(), tuple->items.end(), other.items.begin(),
                      [](const Value &a, const Value &b) { return equal(a, b); });
  }
  if (const auto *tensor = lhs.getIf<Tensor>())
    return tensor->handle == rhs.as<Tensor>().handle;
  if (const auto *text = lhs.getIf<std::string>())
    return *text == rhs.as<std::string>();
  if (const auto *type = lhs.getIf<Type>())
    return *type == rhs.as<Type>();
  if (const auto *function = lhs.getIf<Function>())
    return function->def == rhs.as<Function>().def;
  if (const auto *builtin = lhs.getIf<Builtin>())
    return builtin->info == rhs.as<Builtin>().info;
  if (const auto *host = lhs.getIf<Host>())
    return host->id == rhs.as<Host>().id;
  return lhs.isNone();
}

bool identical(const Value &lhs, const Value &rhs) {
  return lhs.storage.index() == rhs.storage.index() && equal(lhs, rhs);
}

std::optional<Int> parseInt(llvm::StringRef digits) {
  bool negative = digits.consume_front("-");
  if (digits.empty())
    return std::nullopt;
  Int result = 0; // kept negative, whose range is the larger one
  for (char c : digits) {
    if (c < '0' || c > '9' || __builtin_mul_overflow(result, Int(10), &result) ||
        __builtin_sub_overflow(result, Int(c - '0'), &result))
      return std::nullopt;
  }
  if (!negative && __builtin_sub_overflow(Int(0), result, &result))
    return std::nullopt;
  return result;
}

const char *spelling(UnaryOp op) {
  static constexpr const char *names[] = {"+", "-", "not", "~"};
  return names[static_cast<size_t>(op)];
}

size_t tupleIndex(const Tuple &tuple, const Value &index, const SourceRange &range) {
  std::optional<Int> i = asInt(index);
  if (!i)
    throw CompileError(makeDiagnostic(Diag::tuple_index_kind, range, index.describe()));
  Int size = tuple.items.size(), at = *i < 0 ? *i + size : *i;
  if (at < 0 || at >= size)
    throw CompileError(
        makeDiagnostic(Diag::tuple_index_range, range, toString(*i), tuple.items.size()));
  return static_cast<size_t>(at);
}

Value subscriptTuple(const Tuple &tuple, const Value &index, const SourceRange &range) {
  Int size = tuple.items.size();
  const Slice *slice = index.getIf<Slice>();
  if (!slice)
    return tuple.items[tupleIndex(tuple, index, range)];
  auto part = [&](const std::shared_ptr<Value> &value) -> std::optional<Int> {
    if (!value || value->isNone())
      return std::nullopt;
    std::optional<Int> i = asInt(*value);
    if (!i)
      throw CompileError(makeDiagnostic(Diag::tuple_index_kind, range, value->describe()));
    return i;
  };
  Int step = part(slice->step).value_or(1);
  if (step == 0)
    throw CompileError(makeDiagnostic(Diag::slice_step_zero, range));
  // Python's rule for slices: bounds outside of the tuple are moved to its ends.
  auto clamp = [&](Int i) {
    if (i < 0)
      i += size;
    Int low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    return i < low ? low : i > high ? high : i;
  };
  std::optional<Int> start = part(slice->start), stop = part(slice->stop);
  Int from = start ? clamp(*start) : step > 0 ? 0 : size - 1;
  Int to = stop ? clamp(*stop) : step > 0 ? size : -1;
  Tuple result;
  for (Int i = from; step > 0 ? i < to : i > to; i += step)
    result.items.push_back(tuple.items[static_cast<size_t>(i)]);
  return result;
}

} // namespace nereid::frontend
