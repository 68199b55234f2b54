// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Fixture.h"

using namespace nereid;
using namespace nereid::frontend;

namespace {

class DistributedTest : public SemanticTest {
protected:
  Value dl(const char *name, std::vector<Value> positional,
           std::vector<std::pair<std::string, Value>> keywords = {}) {
    return call("dl", name, std::move(positional), std::move(keywords));
  }
};

const std::string gpu = "gpu", acquire = "acquire";

TEST_F(DistributedTest, Ranks) {
  expectType(dl("rank", {}), i32);
  expectType(dl("num_ranks", {}), i32);
  expectIR({"arith.constant -1 : i32", "distributed.get_rank", "distributed.get_num_ranks"});
}

TEST_F(DistributedTest, SymmAt) {
  expectType(dl("symm_at", {pointer(fp16), value(i32)}), Type::pointer(fp16));
  expectType(dl("symm_at", {pointer(fp16), Int(1)}), Type::pointer(fp16));
  expectIR({"distributed.symm_at"});
  Tensor ps = pointers({16}, fp32);
  expectError(Diag::symm_at_block, "dl.symm_at(ptr, rank) + offsets",
              [&] { dl("symm_at", {ps, Int(0)}); });
  ASSERT_EQ(last.notes.size(), 1u);
  EXPECT_EQ(last.notes[0].range.line, ps.range.line);
  EXPECT_EQ(last.range.column, 20u) << "the caret is under the pointer";
  expectError(Diag::not_a_pointer, "symmetric tensor",
              [&] { dl("symm_at", {value(i32), Int(0)}); });
  expectError(Diag::rank_dtype, "rank.to(tl.int32)",
              [&] { dl("symm_at", {pointer(fp32), value(i64)}); });
}

TEST_F(DistributedTest, Wait) {
  expectType(dl("wait", {pointer(i32), Int(4), gpu, acquire}), i32);
  expectType(dl("wait", {pointer(u64), value(i32), std::string("sys"), std::string("relaxed")},
                {{"waitValue", value(i32)}}),
             i32);
  expectType(
      dl("wait", {pointer(i64), Int(1), std::string("npu"), acquire}, {{"waitValue", Int(7)}}),
      i32);
  expectIR({"scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32",
            "scope = sys semantic = relaxed", "arith.constant 7 : i64"});
  EXPECT_TRUE(warnings.list.empty());
  dl("wait", {pointer(i32), Int(1), gpu, std::string("release")});
  ASSERT_EQ(warnings.list.size(), 1u);
  EXPECT_EQ(warnings.list[0].severity, Severity::Warning);
  EXPECT_NE(warnings.list[0].message.find("treated as 'acquire'"), std::string::npos);
  dl("wait", {pointer(i32), Int(1), gpu, std::string("acq_rel")});
  EXPECT_EQ(warnings.list.size(), 2u);
  expectNoIR("semantic = release");
  expectError(Diag::bad_string, "accepted: 'gpu', 'npu', 'sys', 'cta'",
              [&] { dl("wait", {pointer(i32), Int(1), std::string("warp"), acquire}); });
  expectError(Diag::bad_string, "semantic='weak'",
              [&] { dl("wait", {pointer(i32), Int(1), gpu, std::string("weak")}); });
  expectError(Diag::signal_pointer, "pointer<fp32>",
              [&] { dl("wait", {pointer(fp32), Int(1), gpu, acquire}); });
  dl("wait", {pointer(i8), Int(1), gpu, acquire});
  expectError(Diag::negative_count, "is -2",
              [&] { dl("wait", {pointer(i32), Int(-2), gpu, acquire}); });
  expectError(Diag::signal_pointer, "block",
              [&] { dl("wait", {pointers({4}, i32), Int(1), gpu, acquire}); });
  expectError(Diag::missing_argument, "'semantic'",
              [&] { dl("wait", {pointer(i32), Int(1), gpu}); });
}

TEST_F(DistributedTest, ConsumeToken) {
  Value token = dl("wait", {pointer(i32), Int(1), gpu, acquire});
  Value sum = semantic.binary(BinaryOp::Add, token, token, range);
  expectType(dl("consume_token", {pointer(fp32), sum}), Type::pointer(fp32));
  expectType(dl("consume_token", {pointers({8}, fp32), token}),
             Type::block({8}, Type::pointer(fp32)));
  expectType(dl("consume_token", {block({8}, i32), token}), Type::block({8}, i32));
  expectType(dl("consume_token", {value(Type::blockPointer({8}, fp32)), token}),
             Type::blockPointer({8}, fp32));
  expectType(dl("consume_token", {value(Type::descriptor({8, 8}, fp32)), token}),
             Type::descriptor({8, 8}, fp32));
  expectIR({"distributed.consume_token"});
  expectError(Diag::token_dtype, "constexpr 0",
              [&] { dl("consume_token", {pointer(fp32), Int(0)}); });
  expectError(Diag::token_dtype, "fp32 scalar",
              [&] { dl("consume_token", {pointer(fp32), value(fp32)}); });
}

TEST_F(DistributedTest, Notify) {
  dl("notify", {pointer(i64), value(i32)});
  dl("notify", {pointer(i32), Int(0)},
     {{"signal", value(i64)},
      {"sig_op", std::string("add")},
      {"comm_scope", std::string("intra_node")}});
  expectIR({"\"distributed.notify\"", "sigOp = 1", "sigOp = 2", "commScope = 3", "commScope = 2",
            "arith.trunci"});
  expectError(Diag::bad_string, "accepted: 'set', 'add'",
              [&] { dl("notify", {pointer(i64), Int(0)}, {{"sig_op", std::string("max")}}); });
  expectError(Diag::bad_string, "'gpu', 'npu', 'intra_node', 'inter_node'",
              [&] { dl("notify", {pointer(i64), Int(0)}, {{"comm_scope", std::string("sys")}}); });
  expectError(Diag::signal_pointer, "pointer<fp16>",
              [&] { dl("notify", {pointer(fp16), Int(0)}); });
  expectError(Diag::rank_dtype, "int64", [&] { dl("notify", {pointer(i64), value(i64)}); });
}

TEST_F(DistributedTest, ExternCall) {
  Value table = tuple({tuple({tuple({Type(i32)}), tuple({std::string("team_my_pe"), Type(i32)})}),
                       tuple({tuple({Type(i64)}), tuple({std::string("quiet_pe"), tuple({})})}),
                       tuple({tuple({}), tuple({std::string("quiet"), Type(i32)})})});
  auto call = [&](const char *library, Tuple operands) {
    return dl("extern_call", {std::string(library), std::string(""), operands, table, false});
  };
  expectType(call("libshmem_device", tuple({value(i32)})), i32);
  EXPECT_TRUE(call("libshmem_device", tuple({value(i64)})).isNone());
  expectIR({"symbol = \"team_my_pe\"", "symbol = \"quiet_pe\""});
  expectError(Diag::extern_overload, "(int64)",
              [&] { call("libshmem_device", tuple({value(fp32)})); });
  expectError(Diag::extern_symbol, "lib.team_my_pe", [&] { call("lib", tuple({value(i32)})); });
  expectError(Diag::extern_result, "'quiet' returns nothing, not 'i32'",
              [&] { call("libshmem_device", tuple({})); });
}

TEST_F(DistributedTest, Ascend) {
  expectType(call("al", "sub_vec_id", {}), i64);
  EXPECT_EQ(call("al", "sub_vec_num", {}).as<Int>(), Int(1));
  options.profile = findTargetProfile("ascend910b");
  EXPECT_EQ(call("al", "sub_vec_num", {}).as<Int>(), Int(2));
  expectIR({"ascend.get_sub_vec_id : i64"});
}

} // namespace
