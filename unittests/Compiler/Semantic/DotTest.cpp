// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Fixture.h"

using namespace nereid;
using namespace nereid::frontend;

namespace {

class DotTest : public SemanticTest {};

TEST_F(DotTest, ResultDtypes) {
  auto dot = [&](Scalar a, Scalar b, std::vector<std::pair<std::string, Value>> keywords = {}) {
    return tl("dot", {block({16, 8}, a), block({8, 20}, b)}, std::move(keywords));
  };
  expectType(dot(fp16, fp16), Type::block({16, 20}, fp32));
  expectType(dot(fp16, fp16, {{"out_dtype", Type(fp16)}}), Type::block({16, 20}, fp16));
  expectType(dot(bf16, bf16), Type::block({16, 20}, fp32));
  expectType(dot(fp32, fp32, {{"out_dtype", Type(fp16)}}), Type::block({16, 20}, fp32));
  expectType(dot(fp64, fp64), Type::block({16, 20}, fp64));
  expectType(dot(i8, i8), Type::block({16, 20}, i32));
  expectType(dot(fp8e5, fp8e4), Type::block({16, 20}, fp32));
  expectType(dot(fp16, fp16, {{"acc", block({16, 20}, fp16)}}), Type::block({16, 20}, fp16));
  expectType(dot(fp16, fp16, {{"acc", block({16, 20}, fp32)}}), Type::block({16, 20}, fp32));
  expectType(tl("dot", {block({1, 1}, fp32), block({1, 1}, fp32)}), Type::block({1, 1}, fp32));
  expectType(tl("dot", {block({3, 4, 5}, fp32), block({3, 5, 6}, fp32)}),
             Type::block({3, 4, 6}, fp32));
  expectType(tl("dot", {block({2, 3, 4, 5}, fp32), block({2, 3, 5, 6}, fp32)}),
             Type::block({2, 3, 4, 6}, fp32));
  expectIR({"tt.dot", "dense<0.000000e+00> : tensor<16x20xf32>", "tensor<6x4x5xf32>"});
}

TEST_F(DotTest, Precision) {
  auto dot = [&](std::vector<std::pair<std::string, Value>> keywords) {
    return tl("dot", {block({4, 4}, fp32), block({4, 4}, fp32)}, std::move(keywords));
  };
  dot({});
  expectNoIR("inputPrecision");
  dot({{"input_precision", std::string("tf32x3")}});
  dot({{"allow_tf32", true}});
  dot({{"allow_tf32", false}});
  expectIR({"inputPrecision = tf32x3", "inputPrecision = tf32 "});
  expectError(Diag::bad_string, "'ieee', 'tf32', 'tf32x3'",
              [&] { dot({{"input_precision", std::string("fp4")}}); });
  expectError(Diag::dot_precision_twice, "only input_precision",
              [&] { dot({{"input_precision", std::string("ieee")}, {"allow_tf32", true}}); });
}

TEST_F(DotTest, Errors) {
  Tensor a = block({16, 8}, fp16), b = block({16, 8}, fp16);
  expectError(Diag::dot_shape,
              "tl.dot of [16, 8] and [16, 8]: the inner dimensions differ, 8 and 16",
              [&] { tl("dot", {a, b}); });
  EXPECT_EQ(last.notes.size(), 2u);
  expectError(Diag::dot_shape, "batch dimension 0 differs",
              [&] { tl("dot", {block({2, 4, 4}, fp16), block({3, 4, 4}, fp16)}); });
  expectError(Diag::dot_rank, "equal rank", [&] { tl("dot", {a, block({8}, fp16)}); });
  expectError(Diag::dot_rank, "fp16 scalar", [&] { tl("dot", {a, value(fp16)}); });
  expectError(Diag::dot_dtype, "fp16 by fp32", [&] { tl("dot", {a, block({8, 4}, fp32)}); });
  // The IR has no signs: a product of bytes is one of signed bytes.
  expectError(Diag::dot_dtype, "uint8 by uint8",
              [&] { tl("dot", {block({4, 4}, u8), block({4, 4}, u8)}); });
  expectError(Diag::dot_dtype, "int32",
              [&] { tl("dot", {block({4, 4}, i32), block({4, 4}, i32)}); });
  expectError(Diag::dot_out_dtype, ".to(tl.bfloat16)",
              [&] { tl("dot", {a, block({8, 4}, fp16)}, {{"out_dtype", Type(bf16)}}); });
  expectError(Diag::dot_acc, "tl.zeros((16, 4), tl.float32)",
              [&] { tl("dot", {a, block({8, 4}, fp16), block({16, 5}, fp32)}); });
  expectError(Diag::dot_acc, "fp64[16, 4] block",
              [&] { tl("dot", {a, block({8, 4}, fp16), block({16, 4}, fp64)}); });
}

TEST_F(DotTest, Scaled) {
  expectType(tl("dot_scaled", {block({16, 64}, fp8e4), block({16, 2}, u8), std::string("e4m3"),
                               block({32, 8}, u8), block({8, 2}, u8), std::string("e2m1")}),
             Type::block({16, 8}, fp32));
  expectIR({"tt.dot_scaled", "lhs = e4m3 rhs = e2m1"});
  expectError(Diag::bad_string, "'e2m1', 'e4m3', 'e5m2', 'bf16', 'fp16'", [&] {
    tl("dot_scaled", {block({16, 64}, fp8e4), None{}, std::string("e3m2"), block({64, 8}, fp8e4),
                      None{}, std::string("e4m3")});
  });
  expectError(Diag::dot_shape, "64 and 32", [&] {
    tl("dot_scaled", {block({16, 64}, fp16), None{}, std::string("fp16"), block({32, 8}, fp16),
                      None{}, std::string("fp16")});
  });
}

} // namespace
