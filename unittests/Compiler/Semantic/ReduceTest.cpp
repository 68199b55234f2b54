// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Fixture.h"

using namespace nereid;
using namespace nereid::frontend;

namespace {

class ReduceTest : public SemanticTest {
protected:
  ReduceTest() {
    // What the walker does with a jit function: here the callee is a builtin of
    // the table, and its rule is applied to the scalars.
    semantic.call = [this](const Value &callee, llvm::ArrayRef<Value> args,
                           const SourceRange &where) -> Value {
      if (custom)
        return custom(args);
      const BuiltinInfo *info = callee.as<Builtin>().info;
      std::vector<Argument> arguments;
      for (const Value &arg : args)
        arguments.push_back({arg, where});
      return info->rule(semantic, bindArguments(*info, arguments, {}, where));
    };
  }
  std::function<Value(llvm::ArrayRef<Value>)> custom;
};

TEST_F(ReduceTest, Sums) {
  expectType(tl("sum", {block({4, 6}, fp32)}), fp32);
  expectType(tl("sum", {block({4, 6}, fp16), Int(1)}), Type::block({4}, fp16));
  expectType(tl("sum", {block({4, 6}, fp32), Int(-2)}, {{"keep_dims", true}}),
             Type::block({1, 6}, fp32));
  expectType(tl("sum", {block({4, 6}, fp32)}, {{"keep_dims", true}}), Type::block({1, 1}, fp32));
  expectType(tl("sum", {block({6}, fp32), Int(0), true}), Type::block({1}, fp32));
  expectType(tl("sum", {block({6}, i8)}), i32);
  expectType(tl("sum", {block({6}, u16)}), u32);
  expectType(tl("sum", {block({6}, i1)}), u32);
  expectType(tl("sum", {block({6}, i64)}), i64);
  expectType(tl("sum", {block({6}, i8)}, {{"dtype", Type(i64)}}), i64);
  expectIR({"\"tt.reduce\"", "tt.reduce.return", "axis = 0 : i32", "tt.reshape", "allow_reorder"});
  expectError(Diag::needs_block, "tl.sum", [&] { tl("sum", {value(fp32)}); });
  expectError(Diag::axis_out_of_range, "from -1 to 0",
              [&] { tl("sum", {block({6}, fp32), Int(1)}); });
  expectError(Diag::not_constexpr, "'axis'", [&] { tl("sum", {block({6}, fp32), value(i32)}); });
  expectError(Diag::unsupported_dtype, "pointer", [&] { tl("sum", {pointers({6}, fp32)}); });
}

TEST_F(ReduceTest, Extrema) {
  expectType(tl("max", {block({4, 6}, fp32), Int(1)}), Type::block({4}, fp32));
  expectType(tl("max", {block({6}, bf16)}), fp32);
  expectType(tl("min", {block({6}, fp16)}), fp32);
  expectType(tl("max", {block({6}, i8)}), i32);
  expectType(tl("min", {block({6}, u32)}), u32);
  Value both = tl("max", {block({4, 6}, fp16), Int(1)}, {{"return_indices", true}});
  expectType(both.as<Tuple>().items[0], Type::block({4}, fp16));
  expectType(both.as<Tuple>().items[1], Type::block({4}, i32));
  expectType(tl("argmax", {block({4, 6}, fp32), Int(0)}), Type::block({6}, i32));
  expectType(tl("argmin", {block({6}, i64), Int(0), false}), i32);
  expectType(tl("argmax", {block({4, 6}, fp32), None{}}), i32);
  expectType(tl("argmax", {block({4, 6}, fp32), Int(1)}, {{"keep_dims", true}}),
             Type::block({4, 1}, i32));
  expectIR({"arith.maxnumf", "arith.maxsi", "arith.minui", "arith.select", "tt.make_range"});
}

TEST_F(ReduceTest, Bits) {
  expectType(tl("xor_sum", {block({4, 6}, i32), Int(1)}), Type::block({4}, i32));
  expectType(tl("reduce_or", {block({6}, u8), Int(0)}), u8);
  expectIR({"arith.xori", "arith.ori"});
  expectError(Diag::unsupported_dtype, "integers only", [&] { tl("xor_sum", {block({4}, fp32)}); });
}

TEST_F(ReduceTest, UserFunctions) {
  Value maximum = Builtin{findBuiltin("tl", "maximum")};
  expectType(tl("reduce", {block({4, 6}, fp32), Int(1), maximum}), Type::block({4}, fp32));
  expectType(tl("associative_scan", {block({4, 6}, fp32), Int(1), maximum}),
             Type::block({4, 6}, fp32));
  custom = [&](llvm::ArrayRef<Value> args) {
    EXPECT_EQ(args.size(), 4u);
    return Value(tuple({semantic.binary(BinaryOp::Add, args[0], args[2], range),
                        semantic.binary(BinaryOp::Mult, args[1], args[3], range)}));
  };
  Value pair = tl("reduce", {tuple({block({4, 6}, fp32), block({4, 6}, i32)}), Int(0), maximum});
  expectType(pair.as<Tuple>().items[0], Type::block({6}, fp32));
  expectType(pair.as<Tuple>().items[1], Type::block({6}, i32));
  expectIR({"\"tt.scan\"", "tt.scan.return", "arith.muli"});
  expectError(Diag::combine_not_function, "@nereid.jit",
              [&] { tl("reduce", {block({4}, fp32), Int(0), Int(3)}); });
  expectError(Diag::reduce_shapes, "[4] and [5]", [&] {
    tl("reduce", {tuple({block({4}, fp32), block({5}, fp32)}), Int(0), maximum});
  });
  custom = [&](llvm::ArrayRef<Value> args) {
    return semantic.cast(args[0].as<Tensor>(), fp16, range);
  };
  expectError(Diag::combine_result, "fp16 scalar",
              [&] { tl("reduce", {block({4}, fp32), Int(0), maximum}); });
  custom = [&](llvm::ArrayRef<Value> args) { return Value(tuple({args[0], args[0]})); };
  expectError(Diag::combine_result, "tuple of 2",
              [&] { tl("reduce", {block({4}, fp32), Int(0), maximum}); });
}

TEST_F(ReduceTest, Scans) {
  expectType(tl("cumsum", {block({4, 6}, fp32)}), Type::block({4, 6}, fp32));
  expectType(tl("cumsum", {block({6}, i8)}), Type::block({6}, i32));
  expectType(tl("cumsum", {block({6}, bf16)}), Type::block({6}, fp32));
  expectType(tl("cumprod", {block({4, 6}, i16), Int(1), true}), Type::block({4, 6}, i16));
  expectIR({"reverse = true", "reverse = false", "arith.muli", "arith.addf"});
}

TEST_F(ReduceTest, Histogram) {
  expectType(tl("histogram", {block({512}, i32), Int(20)}), Type::block({20}, i32));
  expectType(tl("histogram", {block({512}, u32), Int(16), block({512}, i1)}),
             Type::block({16}, i32));
  expectIR({"tt.histogram"});
  expectError(Diag::histogram_invalid, "x.ravel()",
              [&] { tl("histogram", {block({4, 4}, i32), Int(4)}); });
  expectError(Diag::histogram_invalid, "tl.int32",
              [&] { tl("histogram", {block({4}, i64), Int(4)}); });
  expectError(Diag::histogram_invalid, "not a valid number of bins",
              [&] { tl("histogram", {block({4}, i32), Int(0)}); });
}

TEST_F(ReduceTest, Sorting) {
  expectType(tl("sort", {block({4, 8}, fp32)}), Type::block({4, 8}, fp32));
  expectType(tl("sort", {block({5}, i8)}, {{"descending", true}}), Type::block({5}, i8));
  expectType(tl("topk", {block({4, 8}, fp16), Int(3)}), Type::block({4, 3}, fp16));
  expectType(tl("bitonic_merge", {block({16}, u32), Int(-1)}), Type::block({16}, u32));
  expectIR({"tt.gather", "arith.select"});
  expectError(Diag::not_supported_yet, "permute",
              [&] { tl("sort", {block({4, 8}, fp32), Int(0)}); });
  expectError(Diag::argument_out_of_range, "k, which is 1 to 8",
              [&] { tl("topk", {block({8}, fp32), Int(9)}); });
  expectError(Diag::power_of_two, "use tl.sort", [&] { tl("bitonic_merge", {block({6}, fp32)}); });
}

TEST_F(ReduceTest, Random) {
  Tensor offsets = block({8}, i32);
  for (const char *name : {"rand", "randn"})
    expectType(tl(name, {Int(7), offsets}), Type::block({8}, fp32));
  expectType(tl("randint", {value(i32), offsets}), Type::block({8}, u32));
  expectType(tl("randint", {value(i64), block({8}, i64)}, {{"n_rounds", Int(7)}}),
             Type::block({8}, u32));
  for (const char *name : {"rand4x", "randn4x", "randint4x"})
    EXPECT_EQ(tl(name, {Int(7), offsets}).as<Tuple>().items.size(), 4u);
  expectType(tl("philox", {Int(7), offsets, Int(0), Int(0), Int(0)}).as<Tuple>().items[0],
             Type::block({8}, u32));
  expectType(tl("uint_to_uniform_float", {value(u64)}), fp32);
  expectType(
      tl("pair_uniform_to_normal", {block({8}, fp32), block({8}, fp32)}).as<Tuple>().items[1],
      Type::block({8}, fp32));
  expectIR({"tt.mulhiui", "math.cos"});
  expectError(Diag::argument_kind, "'offset'", [&] { tl("rand", {Int(7), block({8}, fp32)}); });
}

} // namespace
