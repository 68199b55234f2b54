// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Fixture.h"

using namespace nereid;
using namespace nereid::frontend;

namespace {

class MathTest : public SemanticTest {};

TEST_F(MathTest, UnaryFunctionsKeepTheDtype) {
  for (const char *name : {"exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "sqrt_rn", "rsqrt",
                           "erf", "floor", "ceil"}) {
    SCOPED_TRACE(name);
    for (Scalar scalar : {fp16, bf16, fp32, fp64, fp8e5})
      expectType(tl(name, {block({5}, scalar)}), Type::block({5}, scalar));
    expectType(tl(name, {value(fp32)}), fp32);
    if (std::string(name) != "floor" && std::string(name) != "ceil")
      expectError(Diag::unsupported_dtype, "x.to(tl.float32)",
                  [&] { tl(name, {block({4}, i32)}); });
  }
  expectType(call("tl.math", "tanh", {block({5}, fp16)}), Type::block({5}, fp16));
  expectIR({"math.exp ", "math.exp2", "math.log2", "math.erf", "tt.precise_sqrt", "math.tanh",
            "arith.extf"});
}

TEST_F(MathTest, Abs) {
  for (Scalar scalar : {i8, i32, u32, fp16, bf16, fp32, fp64, fp8e4})
    expectType(tl("abs", {block({4}, scalar)}), Type::block({4}, scalar));
  expectIR({"math.absi", "math.absf"});
  expectError(Diag::operand_invalid, "abs", [&] { tl("abs", {pointer(fp32)}); });
}

TEST_F(MathTest, MaximumMinimum) {
  expectType(tl("maximum", {block({4}, fp32), 0.0}), Type::block({4}, fp32));
  expectType(tl("maximum", {block({4}, bf16), block({4}, bf16)}), Type::block({4}, fp32));
  expectType(tl("minimum", {block({4}, i32), value(i64)}), Type::block({4}, i64));
  expectType(tl("minimum", {value(u32), value(u32)}), u32);
  Value all = *findConstant("tl.PropagateNan", "ALL");
  // A number has its own type, fp32 or int32.
  expectType(tl("maximum", {block({4}, fp16), 0.0}, {{"propagate_nan", all}}),
             Type::block({4}, fp32));
  expectIR({"arith.maxnumf", "arith.maximumf", "arith.minsi", "arith.minui"});
  EXPECT_EQ(call("python", "max", {Int(3), Int(7), Int(5)}).as<Int>(), Int(7));
  EXPECT_EQ(call("python", "min", {Int(3), 2.5}).as<double>(), 2.5);
  expectType(call("python", "min", {value(i32), Int(4)}), i32);
}

TEST_F(MathTest, Clamp) {
  expectType(tl("clamp", {block({4}, fp16), 0.0, 1.0}), Type::block({4}, fp32));
  expectType(tl("clamp", {block({4}, fp32), value(fp32), block({4}, fp32)}),
             Type::block({4}, fp32));
  expectIR({"tt.clampf", "propagateNan = none"});
  expectError(Diag::unsupported_dtype, "tl.minimum",
              [&] { tl("clamp", {block({4}, i32), Int(0), Int(1)}); });
}

TEST_F(MathTest, SeveralOperands) {
  expectType(tl("fdiv", {block({4}, fp16), block({4}, fp16)}), Type::block({4}, fp32));
  expectType(tl("div_rn", {block({4}, fp32), value(fp32)}), Type::block({4}, fp32));
  expectType(tl("fma", {block({4}, fp32), 2.0, block({4, 1}, fp32)}), Type::block({4, 4}, fp32));
  expectType(tl("umulhi", {block({4}, u32), block({4}, u32)}), Type::block({4}, u32));
  expectIR({"tt.precise_divf", "math.fma", "tt.mulhiui"});
  expectError(Diag::operands_invalid, "both must be floating",
              [&] { tl("fdiv", {value(i32), value(i32)}); });
  expectError(Diag::operands_invalid, "32- or 64-bit",
              [&] { tl("umulhi", {value(u16), value(u16)}); });
}

TEST_F(MathTest, Cdiv) {
  EXPECT_EQ(tl("cdiv", {Int(10), Int(4)}).as<Int>(), Int(3));
  EXPECT_EQ(tl("cdiv", {Int(8), Int(4)}).as<Int>(), Int(2));
  EXPECT_EQ(tl("cdiv", {2.5, Int(2)}).as<double>(), 2.0);
  expectType(tl("cdiv", {value(i32), Int(16)}), i32);
  expectIR({"arith.constant 15", "arith.divsi"});
}

TEST_F(MathTest, Composed) {
  expectType(tl("sigmoid", {block({8}, fp16)}), Type::block({8}, fp16));
  expectType(tl("softmax", {block({4, 8}, fp16), Int(1)}), Type::block({4, 8}, fp16));
  expectType(tl("softmax", {block({8}, fp32)}), Type::block({8}, fp32));
  expectIR({"math.exp", "tt.reduce", "arith.maxnumf", "arith.divf"});
}

TEST_F(MathTest, Libdevice) {
  for (const char *name :
       {"exp",  "fast_expf", "expm1", "log10", "log1p",     "tan",   "asin",       "acos",
        "atan", "sinh",      "cosh",  "tanh",  "asinh",     "acosh", "atanh",      "cbrt",
        "erfc", "trunc",     "round", "rint",  "nearbyint", "abs",   "reciprocal", "relu"})
    for (Scalar scalar : {fp16, fp32, fp64})
      expectType(call("libdevice", name, {block({4}, scalar)}), Type::block({4}, scalar));
  for (const char *name : {"pow", "atan2", "copysign", "fmod", "hypot", "fast_dividef"})
    expectType(call("libdevice", name, {block({4}, fp32), value(fp32)}), Type::block({4}, fp32));
  for (const char *name : {"isnan", "isinf", "isfinited", "finitef"})
    expectType(call("libdevice", name, {block({4}, bf16)}), Type::block({4}, i1));
  for (const char *name : {"popc", "clz", "ffs"})
    expectType(call("libdevice", name, {block({4}, i64)}), Type::block({4}, i32));
  expectType(call("libdevice", "float_as_int", {block({4}, fp32)}), Type::block({4}, i32));
  expectType(call("libdevice", "ldexp", {block({4}, fp16), block({4}, i32)}),
             Type::block({4}, fp16));
  expectType(call("libdevice", "signbit", {value(fp32)}), i32);
  expectType(call("libdevice", "fma", {value(fp32), value(fp32), value(fp32)}), fp32);
  ir();
}

} // namespace
