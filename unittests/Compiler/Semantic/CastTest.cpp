// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Fixture.h"

using namespace nereid;
using namespace nereid::frontend;

namespace {

class CastTest : public SemanticTest {};

const Scalar all[] = {
    i1,   i8,   i16,  i32, i64, u8, u16, u32, u64, fp8e5, fp8e4, Scalar::Fp8E5B16, Scalar::Fp8E4B8,
    fp16, bf16, fp32, fp64};

TEST_F(CastTest, EveryPairVerifies) {
  for (Scalar from : all)
    for (Scalar to : all) {
      expectType(semantic.cast(value(from), to, range), to);
      expectType(semantic.cast(block({3, 5}, from), to, range), Type::block({3, 5}, to));
    }
  ir();
}

struct Chain {
  Scalar from, to;
  std::vector<const char *> operations;
};

TEST_F(CastTest, Chains) {
  const Chain chains[] = {
      {fp16, bf16, {"arith.extf", "arith.truncf"}},
      {bf16, fp16, {"arith.extf", "arith.truncf"}},
      {fp16, i32, {"arith.extf", "arith.fptosi"}},
      {bf16, u8, {"arith.extf", "arith.fptoui"}},
      {fp16, fp64, {"arith.extf", "arith.extf"}},
      {fp32, fp16, {"arith.truncf"}},
      {fp32, fp8e4, {"tt.fp_to_fp"}},
      {fp8e5, fp16, {"tt.fp_to_fp"}},
      {fp8e5, fp8e4, {"tt.fp_to_fp", "tt.fp_to_fp"}},
      {fp8e5, i32, {"tt.fp_to_fp", "arith.fptosi"}},
      {i1, fp32, {"arith.uitofp"}},
      {i32, fp32, {"arith.sitofp"}},
      {u32, fp16, {"arith.uitofp"}},
      {i8, i64, {"arith.extsi"}},
      {u8, i64, {"arith.extui"}},
      {i1, i32, {"arith.extui"}},
      {i64, i8, {"arith.trunci"}},
      {i32, u32, {}},
      {fp32, i64, {"arith.fptosi"}},
      {i32, i1, {"arith.constant", "arith.cmpi"}},
      {fp32, i1, {"arith.constant", "arith.cmpf"}},
      {fp16, i1, {"arith.constant", "arith.cmpf"}},
  };
  for (const Chain &chain : chains) {
    SCOPED_TRACE(Type(chain.from).str() + " -> " + Type(chain.to).str());
    Tensor x = value(chain.from);
    mlir::Block &body = function.getBody().front();
    while (!body.empty())
      body.back().erase();
    semantic.cast(x, chain.to, range);
    std::vector<std::string> found;
    for (mlir::Operation &op : body)
      found.push_back(op.getName().getStringRef().str());
    EXPECT_EQ(found, std::vector<std::string>(chain.operations.begin(), chain.operations.end()));
  }
}

TEST_F(CastTest, Pointers) {
  Tensor p = pointer(fp32);
  expectType(semantic.cast(p, i64, range), i64);
  expectType(semantic.cast(p, i1, range), i1);
  expectType(semantic.cast(p, Type::pointer(i8), range), Type::pointer(i8));
  expectType(semantic.cast(value(i64), Type::pointer(fp16), range), Type::pointer(fp16));
  expectType(semantic.cast(value(u32), Type::pointer(fp16), range), Type::pointer(fp16));
  expectType(semantic.cast(pointers({4}, fp32), u64, range), Type::block({4}, u64));
  expectIR({"tt.ptr_to_int", "tt.int_to_ptr", "tt.bitcast"});
  expectError(Diag::cast_invalid, "tl.int64", [&] { semantic.cast(p, i32, range); });
  expectError(Diag::cast_invalid, "tl.int64", [&] { semantic.cast(p, fp32, range); });
  expectError(Diag::cast_invalid, "only integers",
              [&] { semantic.cast(value(fp32), Type::pointer(i8), range); });
  // fp8e4b15 has no type in the IR; its values are 8-bit integers there.
  EXPECT_TRUE(semantic.cast(value(fp32), Scalar::Fp8E4B15, range).handle.getType().isInteger(8));
}

TEST_F(CastTest, Rule) {
  Tensor x = block({8}, fp32);
  expectType(call("tensor", "to", {x, Type(fp16)}), Type::block({8}, fp16));
  expectType(tl("cast", {x, Type(fp16), std::string("rtz")}), Type::block({8}, fp16));
  expectType(tl("cast", {x, Type(i32)}, {{"bitcast", true}}), Type::block({8}, i32));
  expectType(tl("cast", {Int(3), Type(fp16)}), fp16);
  expectType(tl("cast", {2.5, Type(i32)}), i32);
  expectType(tl("cast", {x, Type(i8)}, {{"overflow_mode", std::string("saturate")}}),
             Type::block({8}, i8));
  expectType(tl("cast", {block({8}, i32), Type(u8)}, {{"overflow_mode", std::string("saturate")}}),
             Type::block({8}, u8));
  expectIR({"rounding = rtz", "tt.bitcast"});
  expectError(Diag::rounding_invalid, "from fp32 to int32",
              [&] { tl("cast", {x, Type(i32), std::string("rtz")}); });
  expectError(Diag::rounding_invalid, "from fp16 to fp32",
              [&] { tl("cast", {value(fp16), Type(fp32), std::string("rtne")}); });
  expectError(Diag::bad_string, "'rtne', 'rtz'",
              [&] { tl("cast", {x, Type(fp16), std::string("up")}); });
  expectError(Diag::bitcast_width, "fp32 has 32 bits and fp16 has 16",
              [&] { tl("cast", {x, Type(fp16)}, {{"bitcast", true}}); });
  expectError(Diag::constexpr_kind, "a dtype such as tl.float32", [&] { tl("cast", {x, Int(4)}); });
  expectError(Diag::bad_string, "'trunc', 'saturate'",
              [&] { tl("cast", {x, Type(i8)}, {{"overflow_mode", std::string("wrap")}}); });
}

TEST_F(CastTest, Constants) {
  expectType(semantic.constant(1.5, fp8e4, range), fp8e4);
  expectType(semantic.constant(Int(255), u8, range), u8);
  expectType(semantic.constant(true, i1, range), i1);
  expectError(Diag::number_out_of_range, "0 to 255",
              [&] { semantic.constant(Int(256), u8, range); });
  expectError(Diag::float_to_integer_constant, "2.5", [&] { semantic.constant(2.5, i32, range); });
  expectError(Diag::not_a_runtime_value, "constexpr 'x'",
              [&] { semantic.toTensor(std::string("x"), range); });
  expectError(Diag::not_a_runtime_value, "None", [&] { semantic.toTensor(None{}, range); });
}

} // namespace
