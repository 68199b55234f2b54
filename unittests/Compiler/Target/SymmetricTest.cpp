// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks, symmetric memory and signals as calls of the runtime.
#include "Kernel.h"

using namespace nereid;
using namespace nereid::test;

namespace {
/// Three ranks' heaps of 4096 bytes; this is rank 1.
struct SymmetricTest : KernelTest {
  alignas(64) uint8_t heaps[3 * 4096] = {};

  void join(Kernel &kernel) {
    kernel.program.rank = 1;
    kernel.program.num_ranks = 3;
    kernel.program.heap_base = heaps;
    kernel.program.heap_bytes = 4096;
    recorder().origin = reinterpret_cast<uintptr_t>(heaps);
  }
  using Calls = std::vector<std::string>;
};
} // namespace

TEST_F(SymmetricTest, SymmAt) {
  Kernel kernel = compile(R"(
tt.func public @remote(%p: !tt.ptr<i32>, %rank: i32, %v: i32) {
  %q = distributed.symm_at %p, %rank, : !tt.ptr<i32>
  tt.store %q, %v : !tt.ptr<i32>
  tt.return
})");
  join(kernel);
  EXPECT_TRUE(kernel.metadata.distributed);
  EXPECT_FALSE(kernel.metadata.blocking);
  auto word = [&](size_t offset) { return *reinterpret_cast<int32_t *>(heaps + offset); };
  uint8_t *mine = heaps + 4096;
  for (int rank = 0; rank < 3; ++rank) {
    ASSERT_TRUE(kernel(mine + 40, rank, 100 + rank));
    EXPECT_EQ(word(4096 * rank + 40), 100 + rank);
  }
  EXPECT_FALSE(kernel(mine, 3, 0));
  EXPECT_EQ(recorder().calls, (Calls{"fail_rank rank=3 site=0"}));
  EXPECT_FALSE(kernel(mine, -1, 0));
  EXPECT_EQ(recorder().calls, (Calls{"fail_rank rank=-1 site=0"}));
  // Another rank's heap, and the bytes around this rank's.
  EXPECT_FALSE(kernel(heaps, 0, 0));
  EXPECT_EQ(recorder().calls, (Calls{"fail_not_symmetric pointer=0 site=0"}));
  EXPECT_FALSE(kernel(mine - 4, 0, 0));
  EXPECT_FALSE(kernel(mine + 4096, 0, 0));
  EXPECT_EQ(recorder().calls, (Calls{"fail_not_symmetric pointer=8192 site=0"}));
  EXPECT_TRUE(kernel(mine + 4092, 0, 5));
  EXPECT_EQ(word(4092), 5);
}

TEST_F(SymmetricTest, SymmAtOutsideAJob) {
  Kernel kernel = compile(R"(
tt.func public @remote(%p: !tt.ptr<i32>, %rank: i32) {
  %q = distributed.symm_at %p, %rank, : !tt.ptr<i32>
  %c1 = arith.constant 1 : i32
  tt.store %q, %c1 : !tt.ptr<i32>
  tt.return
})");
  int32_t plain = 0;
  EXPECT_FALSE(kernel(&plain, 0));
  EXPECT_EQ(plain, 0);
}

TEST_F(SymmetricTest, RanksAndSubVectors) {
  Kernel kernel = compile(R"(
tt.func public @who(%out: !tt.ptr<i64>) {
  %axis = arith.constant -1 : i32
  %c1 = arith.constant 1 : i32
  %rank = distributed.get_rank %axis : i32
  %size = distributed.get_num_ranks %axis : i32
  %sub = ascend.get_sub_vec_id : i64
  %rank64 = arith.extsi %rank : i32 to i64
  %size64 = arith.extsi %size : i32 to i64
  tt.store %out, %rank64 : !tt.ptr<i64>
  %p1 = tt.addptr %out, %c1 : !tt.ptr<i64>, i32
  tt.store %p1, %size64 : !tt.ptr<i64>
  %p2 = tt.addptr %p1, %c1 : !tt.ptr<i64>, i32
  tt.store %p2, %sub : !tt.ptr<i64>
  tt.return
})");
  join(kernel);
  kernel.program.sub_vec_id = 1;
  int64_t out[3];
  ASSERT_TRUE(kernel(out));
  EXPECT_EQ(std::vector<int64_t>(out, out + 3), (std::vector<int64_t>{1, 3, 1}));
}

TEST_F(SymmetricTest, WaitConsumeNotify) {
  Kernel kernel = compile(R"(
tt.func public @exchange(%s32: !tt.ptr<i32>, %s64: !tt.ptr<i64>, %data: !tt.ptr<f32>, %rank: i32, %v: i64) {
  %c2 = arith.constant 2 : i32
  %m1 = arith.constant -1 : i32
  %t = distributed.wait %s32, %c2, %m1, scope = sys semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %d = distributed.consume_token %data, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %x = tt.load %d : !tt.ptr<f32>
  %t2 = distributed.wait %s64, %c2, %v, scope = gpu semantic = acquire : !tt.ptr<i64>, i32, i64 -> i32
  %x2 = distributed.consume_token %d, %t2, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  tt.store %x2, %x : !tt.ptr<f32>
  "distributed.notify"(%s64, %v, %rank) {sigOp = 2 : i32, commScope = 2 : i32} : (!tt.ptr<i64>, i64, i32) -> ()
  tt.return
})");
  join(kernel);
  EXPECT_TRUE(kernel.metadata.blocking);
  ASSERT_TRUE(kernel(heaps + 8, heaps + 16, heaps + 24, 2, int64_t(7)));
  ASSERT_EQ(recorder().calls.size(), 3u);
  EXPECT_TRUE(
      llvm::StringRef(recorder().calls[0]).starts_with("wait slots=8 count=2 value=-1 bytes=4"));
  EXPECT_TRUE(
      llvm::StringRef(recorder().calls[1]).starts_with("wait slots=16 count=2 value=7 bytes=8"));
  EXPECT_TRUE(llvm::StringRef(recorder().calls[2])
                  .starts_with("notify signal=16 value=7 rank=2 op=2 scope=2 bytes=8"));
}

TEST_F(SymmetricTest, LibraryCalls) {
  struct Case {
    const char *symbol, *operands, *type;
    const char *call;
    bool blocks = false;
  };
  // %p32, %p64, %f: pointers at 32, 64, 96; %n = 7, %op = 9, %r = 2, %v = 5 (i64).
  const Case cases[] = {
      {"barrier_all", "", "() -> ()", "barrier_all site=0", true},
      {"barrier_all_vec", "", "() -> ()", "barrier_all site=0", true},
      {"sync_all", "", "() -> ()", "sync_all site=0", true},
      {"fence", "", "() -> ()", "fence site=0"},
      {"quiet", "", "() -> ()", "quiet site=0"},
      {"putmem", "%f, %f, %v, %r", "(!tt.ptr<f32>, !tt.ptr<f32>, i64, i32) -> ()",
       "put 96 96 bytes=5 pe=2 nbi=0 site=0"},
      {"putmem_nbi", "%f, %p32, %n, %r", "(!tt.ptr<f32>, !tt.ptr<i32>, i32, i32) -> ()",
       "put 96 32 bytes=7 pe=2 nbi=1 site=0"},
      {"getmem_nbi", "%f, %p32, %n, %r", "(!tt.ptr<f32>, !tt.ptr<i32>, i32, i32) -> ()",
       "get 96 32 bytes=7 pe=2 nbi=1 site=0"},
      {"putmem_signal", "%f, %f, %v, %p64, %v, %op, %r",
       "(!tt.ptr<f32>, !tt.ptr<f32>, i64, !tt.ptr<i64>, i64, i32, i32) -> ()",
       "put_signal 96 96 bytes=5 signal=64 value=5 op=9 pe=2 signal_bytes=8 nbi=0 site=0"},
      {"signal_op", "%p32, %n, %r, %r", "(!tt.ptr<i32>, i32, i32, i32) -> ()",
       "signal_op 32 value=7 op=2 pe=2 bytes=4 site=0"},
      {"signal_wait_until", "%p64, %r, %v", "(!tt.ptr<i64>, i32, i64) -> ()",
       "wait_until 64 cmp=2 value=5 bytes=8 signed=1 site=0", true},
      {"p", "%p32, %n, %r", "(!tt.ptr<i32>, i32, i32) -> ()", "p 32 value=7 bytes=4 pe=2 site=0"},
  };
  for (const Case &c : cases) {
    std::string text = llvm::formatv(R"(
tt.func public @calls(%p32: !tt.ptr<i32>, %p64: !tt.ptr<i64>, %f: !tt.ptr<f32>, %n: i32, %op: i32, %r: i32, %v: i64) {{
  distributed.extern_call {1} {{libname = "libshmem_device", libpath = "", pure = false, symbol = "{0}"} : {2}
  tt.return
})",
                                     c.symbol, c.operands, c.type);
    Kernel kernel = compile(text);
    join(kernel);
    ASSERT_TRUE(kernel(heaps + 32, heaps + 64, heaps + 96, 7, 9, 2, int64_t(5)));
    EXPECT_EQ(recorder().calls, Calls{c.call}) << c.symbol;
    EXPECT_TRUE(kernel.metadata.distributed);
    EXPECT_EQ(kernel.metadata.blocking, c.blocks) << c.symbol;
  }
}

TEST_F(SymmetricTest, LibraryCallsWithResults) {
  Kernel kernel = compile(R"(
tt.func public @results(%p: !tt.ptr<i32>, %out: !tt.ptr<i32>, %rank: i32) {
  %c1 = arith.constant 1 : i32
  %me = distributed.extern_call {libname = "libshmem_device", libpath = "", pure = true, symbol = "my_pe"} : () -> i32
  %n = distributed.extern_call {libname = "libshmem_device", libpath = "", pure = true, symbol = "n_pes"} : () -> i32
  %sum = arith.addi %me, %n : i32
  tt.store %out, %sum : !tt.ptr<i32>
  %q = distributed.extern_call %p, %rank {libname = "libshmem_device", libpath = "", pure = false, symbol = "remote_ptr"} : (!tt.ptr<i32>, i32) -> !tt.ptr<i32>
  tt.store %q, %c1 : !tt.ptr<i32>
  %g = distributed.extern_call %p, %rank {libname = "libshmem_device", libpath = "", pure = false, symbol = "g"} : (!tt.ptr<i32>, i32) -> i32
  %out1 = tt.addptr %out, %c1 : !tt.ptr<i32>, i32
  tt.store %out1, %g : !tt.ptr<i32>
  tt.return
})");
  join(kernel);
  int32_t out[2] = {};
  ASSERT_TRUE(kernel(heaps, out, 2));
  EXPECT_EQ(out[0], 4);
  EXPECT_EQ(*reinterpret_cast<int32_t *>(heaps + 2000), 1);
  EXPECT_EQ(uint32_t(out[1]), 0x9abcdef0u);
}

TEST_F(SymmetricTest, ResultsMayBeLeftOut) {
  Kernel kernel = compile(R"(
tt.func public @results(%p: !tt.ptr<i32>, %rank: i32) {
  distributed.extern_call {libname = "libshmem_device", libpath = "", pure = false, symbol = "my_pe"} : () -> ()
  distributed.extern_call %p, %rank {libname = "libshmem_device", libpath = "", pure = false, symbol = "remote_ptr"} : (!tt.ptr<i32>, i32) -> ()
  distributed.extern_call %p, %rank {libname = "libshmem_device", libpath = "", pure = false, symbol = "g"} : (!tt.ptr<i32>, i32) -> ()
  distributed.extern_call %p, %rank, %rank, %rank, %rank {libname = "libshmem_device", libpath = "", pure = false, symbol = "atomic_fetch"} : (!tt.ptr<i32>, i32, i32, i32, i32) -> ()
  tt.return
})");
  join(kernel);
  ASSERT_TRUE(kernel(heaps, 2));
  EXPECT_EQ(recorder().calls.size(), 3u);
}

TEST_F(SymmetricTest, YieldMakesAKernelBlocking) {
  Kernel kernel = compile(R"(
tt.func public @spin(%p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  scf.while : () -> () {
    %x = tt.load %p {isVolatile = true} : !tt.ptr<i32>
    %again = arith.cmpi eq, %x, %c0 : i32
    scf.condition(%again)
  } do {
    distributed.yield
    scf.yield
  }
  tt.return
})");
  EXPECT_TRUE(kernel.metadata.blocking);
  int32_t flag = 1;
  ASSERT_TRUE(kernel(&flag));
}

TEST_F(SymmetricTest, Poll) {
  Kernel kernel = compile(R"(
tt.func public @poll(%p: !tt.ptr<i32>, %out: !tt.ptr<i1>, %v: i32, %ns: i64) {
  %found = tt.atomic_poll acquire, gpu, %p, %v timeout %ns : !tt.ptr<i32>, i32 -> i1
  tt.store %out, %found : !tt.ptr<i1>
  tt.return
})");
  EXPECT_TRUE(kernel.metadata.blocking);
  int32_t flag = 5;
  uint8_t found = 9;
  ASSERT_TRUE(kernel(&flag, &found, 5, int64_t(1000)));
  EXPECT_EQ(found, 1);
  EXPECT_EQ(recorder().calls, Calls{});
  ASSERT_TRUE(kernel(&flag, &found, 6, int64_t(1000)));
  EXPECT_EQ(found, 0);
  EXPECT_EQ(recorder().calls.size(), 9u); // looked at 100, 200, ... 1000 ns
}

TEST_F(SymmetricTest, UnsignedSignals) {
  Kernel kernel = compile(R"(
tt.func public @wait(%p: !tt.ptr<i32>, %v: i32) {
  %c5 = arith.constant 5 : i32
  %x = distributed.extern_call %p, %c5, %v {libname = "libshmem_device", libpath = "", nereid.unsigned, pure = false, symbol = "signal_wait_until"} : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return
})");
  join(kernel);
  ASSERT_TRUE(kernel(heaps, -1));
  EXPECT_EQ(recorder().calls,
            (Calls{"wait_until 0 cmp=5 value=4294967295 bytes=4 signed=0 site=0"}));
}
