// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Frontend/Constexpr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace nereid;
using namespace nereid::frontend;

namespace {

Int parse(const char *digits) { return *parseInt(digits); }

Diag failure(BinaryOp op, Value lhs, Value rhs) {
  try {
    foldBinary(op, lhs, rhs, SourceRange());
  } catch (const CompileError &error) {
    return error.diagnostic.id;
  }
  ADD_FAILURE() << "no error";
  return Diag::unknown_name;
}

template <typename T> T fold(BinaryOp op, Value lhs, Value rhs) {
  return foldBinary(op, lhs, rhs, SourceRange()).as<T>();
}

TEST(Constexpr, FloorDivisionAndModuloFollowTheDivisor) {
  EXPECT_TRUE(fold<Int>(BinaryOp::FloorDiv, Int(-7), Int(2)) == -4);
  EXPECT_TRUE(fold<Int>(BinaryOp::Mod, Int(-7), Int(2)) == 1);
  EXPECT_TRUE(fold<Int>(BinaryOp::FloorDiv, Int(7), Int(-2)) == -4);
  EXPECT_TRUE(fold<Int>(BinaryOp::Mod, Int(7), Int(-2)) == -1);
  EXPECT_EQ(fold<double>(BinaryOp::Mod, -7.5, 2.0), 0.5);
  EXPECT_EQ(fold<double>(BinaryOp::FloorDiv, -7.5, 2.0), -4.0);
  EXPECT_TRUE(std::signbit(fold<double>(BinaryOp::Mod, 4.0, -2.0)));
}

TEST(Constexpr, IntegersOf128Bits) {
  Int big = parse("170141183460469231731687303715884105727"); // 2**127 - 1
  Int small = parse("-170141183460469231731687303715884105728");
  EXPECT_EQ(toString(big), "170141183460469231731687303715884105727");
  EXPECT_EQ(toString(small), "-170141183460469231731687303715884105728");
  EXPECT_FALSE(parseInt("170141183460469231731687303715884105728"));
  EXPECT_FALSE(parseInt("12a"));
  EXPECT_FALSE(parseInt("-"));
  EXPECT_EQ(failure(BinaryOp::Add, big, Int(1)), Diag::constexpr_overflow);
  EXPECT_EQ(failure(BinaryOp::Sub, small, Int(1)), Diag::constexpr_overflow);
  EXPECT_EQ(failure(BinaryOp::Mult, big, Int(2)), Diag::constexpr_overflow);
  EXPECT_EQ(failure(BinaryOp::FloorDiv, small, Int(-1)), Diag::constexpr_overflow);
  EXPECT_TRUE(fold<Int>(BinaryOp::Mod, small, Int(-1)) == 0);
  EXPECT_EQ(failure(BinaryOp::LShift, Int(1), Int(127)), Diag::constexpr_overflow);
  EXPECT_TRUE(fold<Int>(BinaryOp::RShift, small, Int(500)) == -1);
  EXPECT_TRUE(fold<Int>(BinaryOp::Pow, Int(2), Int(100)) == Int(1) << 100);
}

TEST(Constexpr, TrueDivisionIsRoundedOnce) {
  EXPECT_EQ(fold<double>(BinaryOp::Div, Int(7), Int(2)), 3.5);
  // 2**53 + 1 over 1 lies half way between two doubles; ties go to even.
  EXPECT_EQ(fold<double>(BinaryOp::Div, (Int(1) << 53) + 1, Int(1)), 0x1p53);
  EXPECT_EQ(fold<double>(BinaryOp::Div, (Int(1) << 53) + 3, Int(1)), 0x1p53 + 4);
  EXPECT_EQ(fold<double>(BinaryOp::Div, Int(1), Int(1) << 100), 0x1p-100);
  EXPECT_TRUE(std::signbit(fold<double>(BinaryOp::Div, Int(0), -((Int(1) << 60) + 1))));
}

TEST(Constexpr, ComparisonOfIntegersAndFloatsIsExact) {
  SourceRange range;
  Int odd = (Int(1) << 53) + 1;
  EXPECT_FALSE(foldCompare(CompareOp::Eq, odd, 0x1p53, range));
  EXPECT_TRUE(foldCompare(CompareOp::Gt, odd, 0x1p53, range));
  EXPECT_TRUE(foldCompare(CompareOp::Lt, 0.5, Int(1), range));
  EXPECT_TRUE(foldCompare(CompareOp::Lt, Int(-1), -0.5, range));
  EXPECT_TRUE(foldCompare(CompareOp::Eq, true, Int(1), range));
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(foldCompare(CompareOp::Eq, nan, nan, range));
  EXPECT_TRUE(foldCompare(CompareOp::NotEq, nan, Int(0), range));
  EXPECT_FALSE(foldCompare(CompareOp::LtE, nan, nan, range));
  EXPECT_TRUE(
      foldCompare(CompareOp::Gt, std::numeric_limits<double>::infinity(), Int(1) << 126, range));
}

TEST(Constexpr, IdentityLooksAtTheKind) {
  SourceRange range;
  EXPECT_TRUE(foldCompare(CompareOp::Is, Value(), Value(), range));
  EXPECT_FALSE(foldCompare(CompareOp::Is, Int(0), Value(), range));
  EXPECT_FALSE(foldCompare(CompareOp::Is, true, Int(1), range));
  EXPECT_TRUE(foldCompare(CompareOp::Is, Type(Scalar::Fp16), Type(Scalar::Fp16), range));
}

TEST(Constexpr, StringsAndTuples) {
  EXPECT_EQ(fold<std::string>(BinaryOp::Add, std::string("a"), std::string("b")), "ab");
  EXPECT_EQ(fold<std::string>(BinaryOp::Mult, Int(3), std::string("ab")), "ababab");
  EXPECT_EQ(fold<std::string>(BinaryOp::Mult, std::string("ab"), Int(-3)), "");
  Tuple tuple;
  for (int i = 0; i < 5; ++i)
    tuple.items.push_back(Int(i));
  EXPECT_EQ(failure(BinaryOp::Mult, tuple, Int(1) << 100), Diag::constexpr_too_long);
  EXPECT_EQ(failure(BinaryOp::Sub, tuple, Int(1)), Diag::constexpr_operands);
  auto at = [&](std::optional<int> start, std::optional<int> stop, std::optional<int> step) {
    auto part = [](std::optional<int> i) {
      return std::make_shared<Value>(i ? Value(Int(*i)) : Value());
    };
    return pythonText(
        subscriptTuple(tuple, Slice{part(start), part(stop), part(step)}, SourceRange()));
  };
  EXPECT_EQ(at(1, -1, {}), "(1, 2, 3)");
  EXPECT_EQ(at({}, {}, -2), "(4, 2, 0)");
  EXPECT_EQ(at(-100, 100, 3), "(0, 3)");
  EXPECT_EQ(at(100, -100, -1), "(4, 3, 2, 1, 0)");
  EXPECT_EQ(at(3, 1, {}), "()");
}

} // namespace
