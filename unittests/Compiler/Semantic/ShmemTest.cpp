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
  expectType(shmem("team_translate_pe",
                   {constant("NVSHMEM_TEAM_WORLD"), value(i32), constant("NVSHMEMX_TEAM_NODE")}),
             i32);
  expectType(shmem("team_n_pes", {value(i32)}), i32);
  expectIR({"symbol = \"my_pe\"", "symbol = \"n_pes\"", "symbol = \"remote_ptr\"",
            "libname = \"libshmem_device\"", "pure = true", "pure = false",
            "symbol = \"team_n_pes\"", "symbol = \"team_translate_pe\""});
  expectNoIR("symbol = \"team_my_pe\"");
  expectError(Diag::shmem_pointer, "'local_ptr'",
              [&] { shmem("remote_ptr", {pointers({4}, fp32), Int(0)}); });
}

TEST_F(ShmemTest, Transfers) {
  for (const char *kind : {"putmem", "getmem", "putmem_nbi", "getmem_nbi"})
    for (const char *group : {"", "_block", "_warp", "_wave", "_wg"})
      shmem(std::string(kind) + group, {pointer(fp32), pointer(fp32), value(i32), Int(1)});
  for (const char *kind : {"putmem_rma", "putmem_rma_nbi_block"})
    shmem(kind, {pointer(fp32), pointer(fp32), value(i32), Int(1)});
  expectError(Diag::negative_count, "'nbytes' of libshmem_device.putmem is -4",
              [&] { shmem("putmem", {pointer(fp32), pointer(fp32), Int(-4), Int(0)}); });
  shmem("putmem_nbi", {pointer(fp32), pointer(fp32), Int(64), Int(1)}, {{"qp_id", Int(0)}});
  expectIR({"symbol = \"putmem\"", "symbol = \"getmem\"", "symbol = \"putmem_nbi\"",
            "symbol = \"getmem_nbi\"", "(!tt.ptr<f32>, !tt.ptr<f32>, i64, i32) -> ()"});
  // What the user wrote stays beside what it means.
  expectIR({"spelling = \"putmem_block\", symbol = \"putmem\"",
            "spelling = \"getmem_nbi_wg\", symbol = \"getmem_nbi\"",
            "spelling = \"putmem_rma_nbi_block\", symbol = \"putmem_nbi\"",
            "pure = false, symbol = \"putmem\""});
  expectNoIR("symbol = \"putmem_block\"");
  expectNoIR("symbol = \"putmem_rma");
  expectError(Diag::shmem_pointer, "'source' of libshmem_device.putmem",
              [&] { shmem("putmem", {pointer(fp32), value(i32), Int(4), Int(0)}); });
  expectError(Diag::argument_kind, "'nbytes'",
              [&] { shmem("putmem", {pointer(fp32), pointer(fp32), value(fp32), Int(0)}); });
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
    shmem("putmem_signal_nbi",
          {pointer(fp32), pointer(fp32), Int(4), pointer(u64), Int(1), of("_SIGNAL_SET"), Int(0)});
    EXPECT_EQ(lastConstant(5), 1) << family;
    shmem("putmem_signal_nbi",
          {pointer(fp32), pointer(fp32), Int(4), pointer(u64), Int(1), of("_SIGNAL_ADD"), Int(0)});
    EXPECT_EQ(lastConstant(5), 2) << family;
    const char *const comparisons[] = {"_CMP_EQ", "_CMP_NE", "_CMP_GT",
                                       "_CMP_LE", "_CMP_LT", "_CMP_GE"};
    for (int i = 0; i < 6; ++i) {
      Value result = shmem("signal_wait_until", {pointer(i32), of(comparisons[i]), Int(3)});
      expectType(result, i32);
      EXPECT_EQ(lastConstant(1), i) << family << comparisons[i];
    }
  }
  expectIR({"symbol = \"putmem_signal_nbi\"", "symbol = \"signal_wait_until\""});
}

TEST_F(ShmemTest, NativeNumbers) {
  auto native = [&](const char *name) {
    return ShmemConstant::decode(constant(name).as<Int>())->nativeNumber();
  };
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
  expectError(
      Diag::shmem_family,
      "ACLSHMEM_CMP_EQ is a constant of ACLSHMEM, but this kernel already uses NVSHMEM_SIGNAL_SET "
      "of NVSHMEM",
      [&] { shmem("signal_wait_until", {pointer(u64), constant("ACLSHMEM_CMP_EQ"), Int(1)}); });
  ASSERT_EQ(last.notes.size(), 1u);
  EXPECT_NE(last.help.find("write NVSHMEM_CMP_EQ"), std::string::npos) << last.help;
  semantic.shmemFamily.reset();
  expectError(Diag::shmem_call_family,
              "NVSHMEM_TEAM_WORLD is a constant of NVSHMEM, but libshmem_device.barrier_vec is a "
              "function of ACLSHMEM",
              [&] { shmem("barrier_vec", {constant("NVSHMEM_TEAM_WORLD")}); });
  EXPECT_NE(last.help.find("ACLSHMEM_TEAM_WORLD"), std::string::npos) << last.help;
  expectError(
      Diag::shmem_call_family, "signal_op is a function of NVSHMEM, ACLSHMEM, MORI and MXSHMEM",
      [&] { shmem("signal_op", {pointer(u64), Int(1), constant("ROCSHMEM_SIGNAL_SET"), Int(0)}); });
}

TEST_F(ShmemTest, Profiles) {
  options.profile = findTargetProfile("cuda");
  expectError(Diag::shmem_missing,
              "NVSHMEM, for which the profile cuda stands, has no libshmem_device.barrier_all_vec",
              [&] { shmem("barrier_all_vec", {}); });
  EXPECT_NE(last.help.find("ACLSHMEM"), std::string::npos) << last.help;
  expectError(Diag::signal_width, "64-bit signals", [&] {
    shmem("signal_wait_until", {pointer(i32), constant("NVSHMEM_CMP_EQ"), Int(1)});
  });
  expectError(Diag::shmem_call_family, "ACLSHMEM_CMP_GE is a constant of ACLSHMEM", [&] {
    shmem("signal_wait_until", {pointer(u64), constant("ACLSHMEM_CMP_GE"), Int(1)});
  });
  expectError(Diag::signal_width, "64-bit", [&] { call("dl", "notify", {pointer(i32), Int(0)}); });
  shmem("barrier_all_block", {});
  options.profile = findTargetProfile("ascend910b");
  expectError(Diag::shmem_missing, "has no libshmem_device.barrier_all_block",
              [&] { shmem("barrier_all_block", {}); });
  expectError(Diag::signal_width, "32-bit", [&] {
    shmem("signal_op", {pointer(u64), Int(1), constant("ACLSHMEM_SIGNAL_ADD"), Int(0)});
  });
  shmem("signal_op", {pointer(i32), Int(1), Int(1), Int(0)}); // ACLSHMEM's ADD
  auto code =
      function.getBody().front().back().getOperand(2).getDefiningOp<mlir::arith::ConstantOp>();
  EXPECT_EQ(mlir::cast<mlir::IntegerAttr>(code.getValue()).getInt(), 2);
  expectError(Diag::shmem_constant, "is not a signal operation",
              [&] { shmem("signal_op", {pointer(i32), Int(1), Int(9), Int(0)}); });
}

TEST_F(ShmemTest, Atomics) {
  expectType(shmem("atomic_fetch_add_uint64", {pointer(u64), Int(1), Int(0)}, {{"qp_id", Int(0)}}),
             u64);
  expectType(shmem("int_atomic_compare_swap", {pointer(i32), Int(1), value(i32), Int(0)}), i32);
  expectType(shmem("float_atomic_swap", {pointer(fp32), 1.5, Int(0)}), fp32);
  shmem("atomic_int64_nonfetch", {pointer(i64), Int(1), constant("MORI_AMO_OR"), Int(0)});
  shmem("uint32_atomic_set", {pointer(u32), Int(7), value(i32)});
  expectType(shmem("atomic_uint32_fetch",
                   {pointer(u32), Int(1), Int(0), constant("MORI_AMO_FETCH_XOR"), Int(0)}),
             u32);
  expectIR({"symbol = \"atomic_fetch\"", "symbol = \"atomic_update\"",
            "(!tt.ptr<f32>, f32, f32, i32, i32) -> f32"});
  expectError(Diag::argument_kind, "returns nothing", [&] {
    shmem("atomic_int64_nonfetch", {pointer(i64), Int(1), constant("MORI_AMO_SWAP"), Int(0)});
  });
  expectError(Diag::shmem_typed_pointer, "int32_atomic_add takes a pointer to int32",
              [&] { shmem("int32_atomic_add", {pointer(u64), Int(1), Int(0)}); });
  EXPECT_NE(last.help.find("libshmem_device.ulong_atomic_add"), std::string::npos) << last.help;
}

TEST_F(ShmemTest, PlainNumbers) {
  shmem("signal_wait_until", {pointer(u64), Int(0), Int(1)});
  EXPECT_TRUE(warnings.list.empty());
  shmem("signal_wait_until", {pointer(u64), Int(5), Int(1)});
  ASSERT_EQ(warnings.list.size(), 1u);
  EXPECT_NE(warnings.list[0].message.find("NVSHMEM_CMP_GE"), std::string::npos);
  shmem("signal_op", {pointer(u64), Int(1), Int(9), Int(0)});
  shmem("signal_op", {pointer(u64), Int(1), Int(1), Int(0)});
  expectError(Diag::shmem_constant, "NVSHMEM_SIGNAL_SET",
              [&] { shmem("signal_op", {pointer(u64), Int(1), Int(5), Int(0)}); });
  expectError(Diag::shmem_constant, "is not a comparison", [&] {
    shmem("signal_wait_until", {pointer(u64), constant("NVSHMEM_SIGNAL_SET"), Int(1)});
  });
  shmem("signal_op", {pointer(u64), Int(1), value(i32), Int(0)}); // as NVSHMEM numbers them
  expectIR({"arith.subi"});
}

TEST_F(ShmemTest, Signals) {
  expectType(shmem("signal_wait_until", {pointer(u64), constant("NVSHMEM_CMP_GE"), value(i32)}),
             u64);
  expectType(shmem("uint64_wait_until_equals", {pointer(u64), Int(1)}), u64);
  shmem("ulong_put_signal", {pointer(u64), pointer(u64), Int(2), pointer(u64), Int(1),
                             constant("NVSHMEM_SIGNAL_SET"), Int(0)});
  expectIR({"nereid.unsigned", "arith.muli"});
  expectError(Diag::shmem_pointer, "to integers", [&] {
    shmem("signal_op", {pointer(fp32), Int(1), constant("NVSHMEM_SIGNAL_SET"), Int(0)});
  });
}

TEST_F(ShmemTest, SingleElements) {
  shmem("int_p", {pointer(i32), value(i64), value(i32)});
  shmem("p", {pointer(fp16), 1.5, Int(0)});
  expectType(shmem("g", {pointer(fp32), Int(1)}), fp32);
  expectIR({"symbol = \"p\"", "symbol = \"g\"", "arith.trunci", "(!tt.ptr<f16>, f16, i32) -> ()"});
}

TEST_F(ShmemTest, Ordering) {
  for (const char *name :
       {"fence", "quiet", "quiet_pe", "fence_pe", "barrier_all", "barrier_all_vec",
        "barrier_all_block", "barrier_all_warp", "sync_all", "sync_all_block"})
    shmem(name, {});
  for (const char *name : {"barrier", "barrier_block", "team_sync_block", "sync"})
    shmem(name, {constant("NVSHMEM_TEAM_WORLD")});
  expectNoIR("symbol = \"barrier\"");
  shmem("barrier", {value(i32)});
  shmem("team_sync_warp", {constant("NVSHMEM_TEAM_SHARED")});
  shmem("quiet_pe", {value(i32)});
  expectIR({"symbol = \"barrier\"", "symbol = \"team_sync\"", "symbol = \"quiet_pe\""});
  expectIR({"symbol = \"fence\"", "symbol = \"quiet\"", "symbol = \"barrier_all\"",
            "symbol = \"barrier_all_vec\"", "symbol = \"sync_all\""});
  expectError(Diag::target_lacks, "dl.symm_at",
              [&] { shmem("remote_mc_ptr", {Int(0), pointer(fp32)}); });
  shmem("broadcast_block", {Int(0), pointer(fp32), pointer(fp32), Int(4), Int(0)});
  shmem("fcollectmem_block", {value(i32), pointer(fp32), pointer(fp32), value(i32)});
  expectIR({"symbol = \"broadcast\"", "symbol = \"fcollect\""});
  expectError(Diag::shmem_typed_pointer, "broadcast takes a pointer to fp32",
              [&] { shmem("broadcast", {Int(0), pointer(fp32), pointer(i32), Int(4), Int(0)}); });
}

} // namespace
