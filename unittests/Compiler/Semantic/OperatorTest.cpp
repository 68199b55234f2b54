// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Fixture.h"

using namespace nereid;
using namespace nereid::frontend;

namespace {

class OperatorTest : public SemanticTest {};

TEST_F(OperatorTest, IntegerDivisionTruncates) {
  semantic.binary(BinaryOp::FloorDiv, value(i32), value(i32), range);
  semantic.binary(BinaryOp::FloorDiv, value(u32), value(u32), range);
  semantic.binary(BinaryOp::Mod, value(i64), value(i32), range);
  semantic.binary(BinaryOp::Mod, value(u64), value(u8), range);
  semantic.binary(BinaryOp::Mod, value(fp32), value(fp32), range);
  semantic.binary(BinaryOp::Div, value(i32), value(i32), range);
  semantic.binary(BinaryOp::RShift, value(i32), Int(3), range);
  semantic.binary(BinaryOp::RShift, value(u32), Int(3), range);
  // The left operand is signed, the result is not.
  expectType(semantic.binary(BinaryOp::RShift, value(i32), value(u32), range), u32);
  expectIR({"arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.remf",
            "arith.sitofp", "arith.divf", "arith.shrsi", "arith.shrui", "arith.shrsi"});
}

TEST_F(OperatorTest, BitsNeedIntegers) {
  Tensor x = value(fp32), y = value(fp32);
  for (BinaryOp op :
       {BinaryOp::BitAnd, BinaryOp::BitOr, BinaryOp::BitXor, BinaryOp::LShift, BinaryOp::RShift})
    expectError(Diag::operands_invalid, "integers only", [&] { semantic.binary(op, x, y, range); });
  ASSERT_EQ(last.notes.size(), 2u) << "both operands are shown";
  EXPECT_NE(last.notes[0].message.find("fp32 scalar"), std::string::npos);
  expectError(Diag::operand_invalid, "integers and int1",
              [&] { semantic.unary(UnaryOp::Invert, x, range); });
  expectError(Diag::power_runtime, "libdevice.pow",
              [&] { semantic.binary(BinaryOp::Pow, x, Int(2), range); });
  expectError(Diag::matmul_operator, "tl.dot",
              [&] { semantic.binary(BinaryOp::MatMult, x, y, range); });
}

TEST_F(OperatorTest, Comparisons) {
  Tensor x = block({4}, fp32), n = block({4}, i32), u = block({4}, u32);
  for (CompareOp op : {CompareOp::Eq, CompareOp::NotEq, CompareOp::Lt, CompareOp::LtE,
                       CompareOp::Gt, CompareOp::GtE}) {
    expectType(semantic.compare(op, x, 1.0, range), Type::block({4}, i1));
    expectType(semantic.compare(op, n, Int(1), range), Type::block({4}, i1));
    expectType(semantic.compare(op, u, Int(1), range), Type::block({4}, i1));
  }
  expectIR({"cmpf oeq", "cmpf une", "cmpf olt", "cmpf oge", "cmpi slt", "cmpi sge", "cmpi ult",
            "cmpi uge", "cmpi ne"});
  expectError(Diag::comparison_invalid, "'is'",
              [&] { semantic.compare(CompareOp::Is, x, None{}, range); });
  Tensor p = pointer(fp32);
  expectError(Diag::pointer_comparison, "tl.int64",
              [&] { semantic.compare(CompareOp::Eq, p, p, range); });
}

TEST_F(OperatorTest, Unary) {
  expectType(semantic.unary(UnaryOp::USub, block({4}, fp16), range), Type::block({4}, fp16));
  expectType(semantic.unary(UnaryOp::USub, value(i32), range), i32);
  expectType(semantic.unary(UnaryOp::Not, value(i32), range), i1);
  expectType(semantic.unary(UnaryOp::Invert, block({2}, u64), range), Type::block({2}, u64));
  expectType(semantic.unary(UnaryOp::Invert, value(i1), range), i1);
  expectType(semantic.unary(UnaryOp::UAdd, value(fp32), range), fp32);
  expectIR({"arith.negf", "arith.subi", "arith.xori"});
}

TEST_F(OperatorTest, LogicalTestsForNonZero) {
  Value both = semantic.logical(true, block({4}, i32), value(fp32), range);
  expectType(both, Type::block({4}, i1));
  expectType(semantic.logical(false, value(i1), true, range), i1);
  expectIR({"arith.andi", "arith.ori", "cmpi ne", "cmpf une"});
}

TEST_F(OperatorTest, PointerArithmetic) {
  Tensor p = pointer(fp16), blockOfOffsets = block({16}, i32);
  expectType(semantic.binary(BinaryOp::Add, p, blockOfOffsets, range),
             Type::block({16}, Type::pointer(fp16)));
  expectType(semantic.binary(BinaryOp::Add, Int(3), p, range), Type::pointer(fp16));
  expectType(semantic.binary(BinaryOp::Sub, p, value(u32), range), Type::pointer(fp16));
  expectType(semantic.binary(BinaryOp::Add, p, value(i64), range), Type::pointer(fp16));
  expectIR({"tt.splat", "tt.addptr", "arith.extui", "tensor<16xi32>"});
  expectError(Diag::operands_invalid, "cast both pointers",
              [&] { semantic.binary(BinaryOp::Add, p, p, range); });
  expectError(Diag::operands_invalid, "cast both pointers",
              [&] { semantic.binary(BinaryOp::Sub, p, p, range); });
  expectError(Diag::operands_invalid, "only integers",
              [&] { semantic.binary(BinaryOp::Add, p, 1.5, range); });
  expectError(Diag::operands_invalid, "only integers",
              [&] { semantic.binary(BinaryOp::Sub, Int(1), p, range); });
  expectError(Diag::operands_invalid, "'*'",
              [&] { semantic.binary(BinaryOp::Mult, p, Int(2), range); });
}

TEST_F(OperatorTest, Broadcasting) {
  expectType(semantic.binary(BinaryOp::Add, block({8, 1}, fp32), block({1, 4}, fp32), range),
             Type::block({8, 4}, fp32));
  expectType(semantic.binary(BinaryOp::Add, block({4}, fp32), block({8, 4}, fp32), range),
             Type::block({8, 4}, fp32));
  expectType(semantic.binary(BinaryOp::Add, block({3, 5}, i32), Int(1), range),
             Type::block({3, 5}, i32));
  expectIR({"tt.broadcast", "tt.expand_dims"});
  Tensor a = block({8, 16}, fp32), b = block({8, 32}, fp32);
  expectError(Diag::broadcast_mismatch, "dimension 1 is 16 in one and 32 in the other",
              [&] { semantic.binary(BinaryOp::Add, a, b, range); });
  ASSERT_EQ(last.notes.size(), 2u);
  EXPECT_EQ(last.notes[0].range.line, a.range.line);
  EXPECT_EQ(last.notes[1].range.line, b.range.line);
}

TEST_F(OperatorTest, Conditions) {
  expectType(semantic.toCondition(value(i32), range), i1);
  expectType(semantic.toCondition(value(fp32), range), i1);
  expectType(semantic.toCondition(pointer(fp32), range), i1);
  expectError(Diag::block_condition, "tl.where",
              [&] { semantic.toCondition(block({4}, i1), range); });
}

TEST_F(OperatorTest, Subscripts) {
  Tensor x = block({8}, fp32);
  Slice all{std::make_shared<Value>(), std::make_shared<Value>(), std::make_shared<Value>()};
  expectType(semantic.subscript(x, tuple({all, None{}}), range), Type::block({8, 1}, fp32));
  expectType(semantic.subscript(x, tuple({None{}, all}), range), Type::block({1, 8}, fp32));
  expectType(semantic.subscript(x, tuple({None{}}), range), Type::block({1, 8}, fp32));
  expectType(semantic.subscript(block({2, 3}, i1), tuple({all, None{}, all}), range),
             Type::block({2, 1, 3}, i1));
  expectType(semantic.subscript(value(fp32), tuple({None{}}), range), Type::block({1}, fp32));
  Slice part{std::make_shared<Value>(Int(0)), std::make_shared<Value>(Int(4)), nullptr};
  expectError(Diag::subscript_invalid, "a slice with bounds",
              [&] { semantic.subscript(x, tuple({part}), range); });
  expectError(Diag::subscript_invalid, "tl.gather",
              [&] { semantic.subscript(x, tuple({Int(0)}), range); });
  expectError(Diag::subscript_rank, "which has 1",
              [&] { semantic.subscript(x, tuple({all, all}), range); });
  Tensor blockPointer = value(Type::blockPointer({4}, fp32));
  expectError(Diag::operand_invalid, "blocks and tuples",
              [&] { semantic.subscript(blockPointer, tuple({all}), range); });
}

TEST_F(OperatorTest, Attributes) {
  auto get = [&](const Value &v, const char *name) { return semantic.attribute(v, name, range); };
  Tensor x = block({8, 4}, fp16), p = pointer(bf16);
  EXPECT_EQ(get(x, "dtype")->as<Type>().str(), "fp16");
  EXPECT_EQ(pythonText(*get(x, "shape")), "(8, 4)");
  EXPECT_EQ(get(x, "numel")->as<Int>(), Int(32));
  EXPECT_EQ(get(x, "type")->as<Type>().str(), "fp16[8, 4]");
  expectType(*get(x, "T"), Type::block({4, 8}, fp16));
  EXPECT_EQ(get(*get(p, "dtype"), "element_ty")->as<Type>().str(), "bf16");
  EXPECT_EQ(get(*get(x, "type"), "scalar")->as<Type>().str(), "fp16");
  EXPECT_EQ(get(Type(fp8e4), "primitive_bitwidth")->as<Int>(), Int(8));
  EXPECT_EQ(get(Type(i64), "itemsize")->as<Int>(), Int(8));
  EXPECT_EQ(get(x, "to")->as<BoundMethod>().name, "to");
  EXPECT_EQ(get(x, "sum")->as<BoundMethod>().info, findBuiltin("tl", "sum"));
  EXPECT_EQ(get(Int(1), "to")->as<BoundMethod>().info, findBuiltin("tensor", "to"));
  EXPECT_EQ(get(Int(7), "value")->as<Int>(), Int(7));
  EXPECT_FALSE(get(x, "nothing_of_that_name"));
  EXPECT_FALSE(get(Type(i32), "nothing_of_that_name"));
  auto isFloating = get(Type(bf16), "is_floating")->as<BoundMethod>();
  BoundArgs args{*isFloating.info, {*isFloating.self}, {range}, range};
  EXPECT_TRUE(isFloating.info->rule(semantic, args).as<bool>());
}

} // namespace
