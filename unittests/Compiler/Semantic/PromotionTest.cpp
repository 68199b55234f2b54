// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The promotion table, written out from the language's rules, over all pairs of
// dtypes; and the rules for compile-time numbers.
#include "Fixture.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace nereid;
using namespace nereid::frontend;

namespace {

const std::pair<const char *, Scalar> names[] = {
    {"i1", i1},    {"i8", i8},    {"i16", i16}, {"i32", i32},  {"i64", i64},
    {"u8", u8},    {"u16", u16},  {"u32", u32}, {"u64", u64},  {"e5", fp8e5},
    {"e4", fp8e4}, {"f16", fp16}, {"bf", bf16}, {"f32", fp32}, {"f64", fp64}};

Scalar byName(llvm::StringRef name) {
  for (auto [key, scalar] : names)
    if (name == key)
      return scalar;
  return Scalar::Void; // "--": an error
}

// Result of + - * and of comparisons' operands; row and column in the order of
// `names`. "--": not accepted.
const char *const table[15] = {
    //        i1  i8  i16 i32 i64 u8  u16 u32 u64 e5 e4 f16 bf  f32 f64
    /*i1 */ "i1  i8  i16 i32 i64 u8  u16 u32 u64 -- -- f16 f32 f32 f64",
    /*i8 */ "i8  i8  i16 i32 i64 u8  u16 u32 u64 -- -- f16 f32 f32 f64",
    /*i16*/ "i16 i16 i16 i32 i64 i16 u16 u32 u64 -- -- f16 f32 f32 f64",
    /*i32*/ "i32 i32 i32 i32 i64 i32 i32 u32 u64 -- -- f16 f32 f32 f64",
    /*i64*/ "i64 i64 i64 i64 i64 i64 i64 i64 u64 -- -- f16 f32 f32 f64",
    /*u8 */ "u8  u8  i16 i32 i64 u8  u16 u32 u64 -- -- f16 f32 f32 f64",
    /*u16*/ "u16 u16 u16 i32 i64 u16 u16 u32 u64 -- -- f16 f32 f32 f64",
    /*u32*/ "u32 u32 u32 u32 i64 u32 u32 u32 u64 -- -- f16 f32 f32 f64",
    /*u64*/ "u64 u64 u64 u64 u64 u64 u64 u64 u64 -- -- f16 f32 f32 f64",
    /*e5 */ "--  --  --  --  --  --  --  --  --  e5 f16 f16 f32 f32 f64",
    /*e4 */ "--  --  --  --  --  --  --  --  --  f16 e4 f16 f32 f32 f64",
    /*f16*/ "f16 f16 f16 f16 f16 f16 f16 f16 f16 f16 f16 f16 f16 f32 f64",
    /*bf */ "f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f16 bf f32 f64",
    /*f32*/ "f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f64",
    /*f64*/ "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64",
};

class PromotionTest : public SemanticTest {};

TEST_F(PromotionTest, AllPairs) {
  for (size_t row = 0; row < 15; ++row) {
    llvm::SmallVector<llvm::StringRef> cells;
    llvm::StringRef(table[row]).split(cells, ' ', -1, false);
    ASSERT_EQ(cells.size(), 15u) << row;
    for (size_t column = 0; column < 15; ++column) {
      SCOPED_TRACE(std::string(names[row].first) + " + " + names[column].first);
      Tensor a = value(names[row].second), b = block({4}, names[column].second);
      Scalar expected = byName(cells[column]);
      if (expected == Scalar::Void) {
        expectError(Diag::operands_invalid, "cast the fp8 operand",
                    [&] { semantic.binary(BinaryOp::Add, a, b, range); });
        continue;
      }
      for (BinaryOp op : {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mult})
        expectType(semantic.binary(op, a, b, range), Type::block({4}, expected));
      expectType(semantic.compare(CompareOp::Lt, a, b, range), Type::block({4}, i1));
    }
  }
  ir();
}

TEST_F(PromotionTest, Division) {
  auto isInt = [](size_t i) { return i < 9; };
  auto isSigned = [](size_t i) { return i >= 1 && i <= 4; };
  for (size_t row = 0; row < 15; ++row)
    for (size_t column = 0; column < 15; ++column) {
      SCOPED_TRACE(std::string(names[row].first) + " / " + names[column].first);
      Tensor a = value(names[row].second), b = value(names[column].second);
      bool ints = isInt(row) && isInt(column);
      if (ints && isSigned(row) != isSigned(column)) {
        for (BinaryOp op : {BinaryOp::Div, BinaryOp::FloorDiv, BinaryOp::Mod})
          expectError(Diag::signedness_differs, "differ in signedness",
                      [&] { semantic.binary(op, a, b, range); });
        continue;
      }
      bool is64 = names[row].second == fp64 || names[column].second == fp64;
      Type quotient = is64 ? fp64 : fp32;
      expectType(semantic.binary(BinaryOp::Div, a, b, range), quotient);
      if (ints) {
        llvm::SmallVector<llvm::StringRef> cells;
        llvm::StringRef(table[row]).split(cells, ' ', -1, false);
        expectType(semantic.binary(BinaryOp::FloorDiv, a, b, range), byName(cells[column]));
        expectType(semantic.binary(BinaryOp::Mod, a, b, range), byName(cells[column]));
      } else {
        expectType(semantic.binary(BinaryOp::Mod, a, b, range), quotient);
        expectError(Diag::operands_invalid, "tl.floor",
                    [&] { semantic.binary(BinaryOp::FloorDiv, a, b, range); });
      }
    }
  ir();
}

TEST_F(PromotionTest, NumbersGiveWay) {
  for (auto [name, scalar] : names) {
    SCOPED_TRACE(name);
    Tensor x = block({8}, scalar);
    bool isFloat = x.type.isFloating(), isBool = x.type.isBool();
    expectType(semantic.binary(BinaryOp::Mult, x, Int(2), range),
               Type::block({8}, isBool ? Type(i32) : Type(scalar)));
    expectType(semantic.binary(BinaryOp::Mult, Int(2), x, range),
               Type::block({8}, isBool ? Type(i32) : Type(scalar)));
    expectType(semantic.binary(BinaryOp::Add, x, true, range), Type::block({8}, scalar));
    if (isFloat)
      expectType(semantic.binary(BinaryOp::Mult, x, 2.0, range), Type::block({8}, scalar));
    else
      expectType(semantic.binary(BinaryOp::Mult, x, 2.5, range), Type::block({8}, fp32));
    // Division widens narrow floats.
    Type quotient = scalar == fp64 ? fp64 : fp32;
    expectType(semantic.binary(BinaryOp::Div, x, Int(2), range), Type::block({8}, quotient));
  }
  ir();
}

TEST_F(PromotionTest, NumbersThatDoNotFit) {
  Tensor unsignedValue = value(u32), narrow = value(i8);
  expectError(Diag::negative_with_unsigned, "negative number -1",
              [&] { semantic.binary(BinaryOp::Add, unsignedValue, Int(-1), range); });
  expectError(Diag::number_out_of_range, "-128 to 127",
              [&] { semantic.binary(BinaryOp::Add, narrow, Int(300), range); });
  expectError(Diag::number_out_of_range, "300",
              [&] { semantic.compare(CompareOp::Lt, narrow, Int(300), range); });
  expectType(semantic.binary(BinaryOp::Add, narrow, Int(127), range), i8);
  expectType(semantic.binary(BinaryOp::Add, unsignedValue, Int(4294967295), range), u32);
  expectError(Diag::number_too_large, "does not fit",
              [&] { semantic.toTensor(Int(1) << 70, range); });
}

TEST_F(PromotionTest, NaturalTypes) {
  auto natural = [&](const Value &v) { return semantic.naturalType(v, range).str(); };
  EXPECT_EQ(natural(true), "int1");
  EXPECT_EQ(natural(Int(0)), "int32");
  EXPECT_EQ(natural(Int(-2147483648LL)), "int32");
  EXPECT_EQ(natural(Int(2147483647)), "int32");
  EXPECT_EQ(natural(Int(2147483648LL)), "uint32");
  EXPECT_EQ(natural(Int(4294967296LL)), "int64");
  EXPECT_EQ(natural(Int(-2147483649LL)), "int64");
  EXPECT_EQ(natural(Int(1) << 63), "uint64");
  EXPECT_EQ(natural(1.5), "fp32");
  EXPECT_EQ(natural(0.0), "fp32");
  EXPECT_EQ(natural(std::numeric_limits<double>::infinity()), "fp32");
  EXPECT_EQ(natural(std::numeric_limits<double>::quiet_NaN()), "fp32");
  EXPECT_EQ(natural(1e300), "fp64");
  EXPECT_EQ(natural(1e-40), "fp64");
}

} // namespace
