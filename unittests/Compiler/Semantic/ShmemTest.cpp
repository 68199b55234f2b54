// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Fixture.h"

using namespace nereid;
using namespace nereid::frontend;

namespace {

class ShmemTest : public SemanticTest {
protected:
  Value shmem(const std::string &name, std::vector<Value> positional,
              std::vector<std::pair<std::string, Value>> keywords = {}) {
    return call("libshmem_device", name.c_str(), std::move(positional), std::move(keywords));
  }
  static Value constant(const char *name) { return *findConstant("libshmem_device", name); }
};

TEST_F(ShmemTest, Identity) {
  expectType(shmem("my_pe", {}), i32);
  expectType(shmem("n_pes", {}), i32);
  expectType(shmem("remote_ptr", {pointer(bf16), value(i32)}), Type::pointer(bf16));
  expectType(shmem("team_my_pe", {constant("NVSHMEM_TEAM_WORLD")}), i32);
  expectType(shmem("team_translate_pe", {constant("NVSHMEM_TEAM_WORLD"), value(i32), constant("NVSHMEMX_TEAM_NODE")}), i32);
  expectIR({"symbol = \"my_pe\"", "symbol = \"n_pes\"", "symbol = \"remote_ptr\"", "libname = \"libshmem_device\"",
            "pure = true", "pure = false"});
  expectError(Diag::shmem_unsupported, "whole job", [&] { shmem("team_n_pes", {constant("NVSHMEMX_TEAM_SAME_MYPE_NODE")}); });
  expectError(Diag::shmem_pointer, "'local_ptr'", [&] { shmem("remote_ptr", {pointers({4}, fp32), Int(0)}); });
}

TEST_F(ShmemTest, Transfers) {
  for (const char *kind : {"putmem", "getmem", "putmem_nbi", "getmem_nbi", "putmem_rma", "putmem_rma_nbi"})
    for (const char *group : {"", "_block", "_warp", "_wave", "_wg"})
      shmem(std::string(kind) + group, {pointer(fp32), pointer(fp32), value(i32), Int(1)});
  shmem("putmem_nbi", {pointer(fp32), pointer(fp32), Int(64), Int(1)}, {{"qp_id", Int(0)}});
  expectIR({"symbol = \"putmem\"", "symbol = \"getmem\"", "symbol = \"putmem_nbi\"", "symbol = \"getmem_nbi\"",
            "(!tt.ptr<f32>, !tt.ptr<f32>, i64, i32) -> ()"});
  expectNoIR("_block\"");
  expectNoIR("_rma");
  expectError(Diag::shmem_pointer, "'source' of libshmem_device.putmem",
              [&] { shmem("putmem", {pointer(fp32), value(i32), Int(4), Int(0)}); });
  expectError(Diag::argument_kind, "'nbytes'", [&] { shmem("putmem", {pointer(fp32), pointer(fp32), value(fp32), Int(0)}); });
}

TEST_F(ShmemTest, SignalConstantsAreNormalised) {
  for (const char *family : {"NVSHMEM", "ROCSHMEM", "ACLSHMEM", "MORI", "MXSHMEM"}) {
    semantic.shmemFamily.reset();
    auto of = [&](const char *name) { return constant((std::string(family) + name).c_str()); };
    auto lastConstant = [&](unsigned operand) {
      mlir::Operation &op = function.getBody().front().back();
      auto constantOp = op.getOperand(operand).getDefiningOp<mlir::arith::ConstantOp>();
      return mlir::cast<mlir::IntegerAttr>(constantOp.getValue()).getInt();
    };
    shmem("signal_op", {pointer(u64), Int(1), of("_SIGNAL_SET"), Int(0)});
    EXPECT_EQ(lastConstant(2), 1) << family;
    shmem("putmem_signal_nbi_block", {pointer(fp32), pointer(fp32), Int(4), pointer(u64), Int(1), of("_SIGNAL_ADD"), Int(0)});
    EXPECT_EQ(lastConstant(5), 2) << family;
    const char *const comparisons[] = {"_CMP_EQ", "_CMP_NE", "_CMP_GT", "_CMP_LE", "_CMP_LT", "_CMP_GE"};
    for (int i = 0; i < 6; ++i) {
      Value result = shmem("signal_wait_until", {pointer(i32), of(comparisons[i]), Int(3)});
      expectType(result, i32);
      EXPECT_EQ(lastConstant(1), i) << family << comparisons[i];
    }
  }
  expectIR({"symbol = \"signal_op\"", "symbol = \"putmem_signal_nbi\"", "symbol = \"signal_wait_until\""});
}

TEST_F(ShmemTest, NativeNumbers) {
  auto native = [&](const char *name) { return ShmemConstant::decode(constant(name).as<Int>())->nativeNumber(); };
  EXPECT_EQ(native("NVSHMEM_CMP_LE"), 3);
  EXPECT_EQ(native("NVSHMEM_CMP_GE"), 5);
  EXPECT_EQ(native("ROCSHMEM_CMP_GE"), 3);
  EXPECT_EQ(native("ACLSHMEM_CMP_LE"), 5);
  EXPECT_EQ(native("NVSHMEM_SIGNAL_SET"), 9);
  EXPECT_EQ(native("MORI_SIGNAL_ADD"), 10);
  EXPECT_EQ(native("ROCSHMEM_SIGNAL_SET"), 0);
  EXPECT_EQ(native("ACLSHMEM_SIGNAL_ADD"), 1);
  EXPECT_EQ(native("NVSHMEM_TEAM_INVALID"), -1);
}

TEST_F(ShmemTest, MixedFamilies) {
  shmem("signal_op", {pointer(u64), Int(1), constant("NVSHMEM_SIGNAL_SET"), Int(0)});
  expectError(Diag::shmem_family, "ACLSHMEM_CMP_EQ is a constant of ACLSHMEM",
              [&] { shmem("signal_wait_until", {pointer(u64), constant("ACLSHMEM_CMP_EQ"), Int(1)}); });
  ASSERT_EQ(last.notes.size(), 1u);
}

TEST_F(ShmemTest, PlainNumbers) {
  shmem("signal_wait_until", {pointer(u64), Int(0), Int(1)});
  EXPECT_TRUE(warnings.list.empty());
  shmem("signal_wait_until", {pointer(u64), Int(5), Int(1)});
  ASSERT_EQ(warnings.list.size(), 1u);
  EXPECT_NE(warnings.list[0].message.find("NVSHMEM_CMP_GE"), std::string::npos);
  shmem("signal_op", {pointer(u64), Int(1), Int(9), Int(0)});
  shmem("signal_op", {pointer(u64), Int(1), Int(1), Int(0)});
  expectError(Diag::shmem_constant, "NVSHMEM_SIGNAL_SET", [&] { shmem("signal_op", {pointer(u64), Int(1), Int(5), Int(0)}); });
  expectError(Diag::shmem_constant, "is not a comparison",
              [&] { shmem("signal_wait_until", {pointer(u64), constant("NVSHMEM_SIGNAL_SET"), Int(1)}); });
  expectError(Diag::not_constexpr, "'sig_op'", [&] { shmem("signal_op", {pointer(u64), Int(1), value(i32), Int(0)}); });
}

TEST_F(ShmemTest, Signals) {
  expectType(shmem("signal_wait_until", {pointer(u64), constant("NVSHMEM_CMP_GE"), value(i32)}), u64);
  expectType(shmem("uint64_wait_until_equals", {pointer(u64), Int(1)}), u64);
  shmem("ulong_put_signal", {pointer(u64), pointer(u64), Int(2), pointer(u64), Int(1), constant("NVSHMEM_SIGNAL_SET"), Int(0)});
  expectIR({"nereid.unsigned", "arith.muli"});
  expectError(Diag::shmem_pointer, "32- or 64-bit integer",
              [&] { shmem("signal_op", {pointer(fp32), Int(1), constant("NVSHMEM_SIGNAL_SET"), Int(0)}); });
}

TEST_F(ShmemTest, SingleElements) {
  shmem("int_p", {pointer(i32), value(i64), value(i32)});
  shmem("p", {pointer(fp16), 1.5, Int(0)});
  expectType(shmem("g", {pointer(fp32), Int(1)}), fp32);
  expectIR({"symbol = \"p\"", "symbol = \"g\"", "arith.trunci", "(!tt.ptr<f16>, f16, i32) -> ()"});
}

TEST_F(ShmemTest, Ordering) {
  for (const char *name : {"fence", "quiet", "quiet_pe", "fence_pe", "barrier_all", "barrier_all_vec", "barrier_all_block",
                           "barrier_all_warp", "sync_all", "sync_all_block"})
    shmem(name, {});
  for (const char *name : {"barrier", "barrier_block", "team_sync_block", "sync"})
    shmem(name, {constant("NVSHMEM_TEAM_WORLD")});
  expectIR({"symbol = \"fence\"", "symbol = \"quiet\"", "symbol = \"barrier_all\"", "symbol = \"barrier_all_vec\"",
            "symbol = \"sync_all\""});
  expectNoIR("_pe\"");
  expectError(Diag::shmem_unsupported, "dl.symm_at", [&] { shmem("remote_mc_ptr", {Int(0), pointer(fp32)}); });
  expectError(Diag::shmem_unsupported, "putmem or getmem",
              [&] { shmem("broadcast_block", {Int(0), pointer(fp32), pointer(fp32), Int(4), Int(0)}); });
}

} // namespace
