// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Fixture.h"

using namespace nereid;
using namespace nereid::frontend;

namespace {

class AtomicTest : public SemanticTest {};

TEST_F(AtomicTest, ReadModifyWrite) {
  expectType(tl("atomic_add", {pointer(i32), Int(1)}), i32);
  expectType(tl("atomic_add", {pointers({8}, fp16), block({8}, fp32)}), Type::block({8}, fp16));
  expectType(tl("atomic_add", {pointers({8}, bf16), 1.0, block({8}, i1)}), Type::block({8}, bf16));
  expectType(tl("atomic_max", {pointer(u64), Int(1)}), u64);
  expectType(tl("atomic_min", {pointer(i8), Int(1)}), i8);
  expectType(tl("atomic_and", {pointer(i64), Int(1)}), i64);
  expectType(tl("atomic_or", {pointer(i32), Int(1)}), i32);
  expectType(tl("atomic_xor", {pointer(i32), Int(1)}), i32);
  expectType(tl("atomic_xchg", {pointer(fp32), Int(1)}), fp32);
  expectIR({"tt.atomic_rmw add, acq_rel, gpu", "tt.atomic_rmw fadd", "tt.atomic_rmw umax",
            "tt.atomic_rmw min", "tt.atomic_rmw and", "tt.atomic_rmw or", "tt.atomic_rmw xor",
            "tt.atomic_rmw exch", "dense<true> : tensor<8xi1>"});
}

TEST_F(AtomicTest, FloatExtremaAreOneOperation) {
  expectType(tl("atomic_max", {pointers({4}, fp32), block({4}, fp32)}), Type::block({4}, fp32));
  expectType(tl("atomic_min", {pointer(fp64), 1.0}), fp64);
  expectIR({"tt.atomic_rmw max", "tt.atomic_rmw min", "(tensor<4x!tt.ptr<f32>>, tensor<4xf32>",
            "(!tt.ptr<f64>, f64"});
}

TEST_F(AtomicTest, Orders) {
  Tensor p = pointer(i32);
  tl("atomic_add", {p, Int(0)}, {{"sem", std::string("acquire")}, {"scope", std::string("sys")}});
  tl("atomic_add", {p, Int(0)}, {{"sem", std::string("relaxed")}, {"scope", std::string("npu")}});
  tl("atomic_cas", {p, Int(0), Int(1)},
     {{"sem", std::string("release")}, {"scope", std::string("cta")}});
  expectType(tl("atomic_poll", {p, Int(1)}), i1);
  expectIR({"add, acquire, sys", "add, relaxed, gpu", "tt.atomic_cas release, cta",
            "tt.atomic_poll acquire, gpu"});
  expectError(Diag::bad_string, "'acquire', 'release', 'acq_rel', 'relaxed'",
              [&] { tl("atomic_add", {p, Int(0)}, {{"sem", std::string("seq_cst")}}); });
  expectError(Diag::bad_string, "'gpu', 'npu', 'cta', 'sys'",
              [&] { tl("atomic_add", {p, Int(0)}, {{"scope", std::string("node")}}); });
}

TEST_F(AtomicTest, Errors) {
  expectError(Diag::not_a_pointer, "tl.atomic_add",
              [&] { tl("atomic_add", {value(i32), Int(1)}); });
  expectError(Diag::atomic_dtype, "integers only", [&] { tl("atomic_and", {pointer(fp32), 1.0}); });
  expectError(Diag::atomic_dtype, "fp8e5", [&] { tl("atomic_add", {pointer(fp8e5), 1.0}); });
  expectError(Diag::store_const, "tl.const",
              [&] { tl("atomic_add", {value(Type::pointer(i32, 1, true)), Int(1)}); });
  expectError(Diag::scalar_pointer_block, "'val'",
              [&] { tl("atomic_add", {pointer(i32), block({4}, i32)}); });
  expectError(Diag::scalar_pointer_block, "'mask'",
              [&] { tl("atomic_add", {pointer(i32), Int(1), block({4}, i1)}); });
  expectError(Diag::mask_not_bool, "offsets < n",
              [&] { tl("atomic_add", {pointers({4}, i32), Int(1), block({4}, fp32)}); });
  expectError(Diag::signal_pointer, "fp32", [&] { tl("atomic_poll", {pointer(fp32), Int(1)}); });
}

} // namespace
