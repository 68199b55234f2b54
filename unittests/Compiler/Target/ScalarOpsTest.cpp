// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar tt operations, run.
#include "Kernel.h"

using namespace nereid;
using namespace nereid::test;
using ScalarOpsTest = KernelTest;

TEST_F(ScalarOpsTest, ProgramIdsAndGrid) {
  Kernel kernel = compile(R"(
tt.func public @ids(%out: !tt.ptr<i32>) {
  %x = tt.get_program_id x : i32
  %y = tt.get_program_id y : i32
  %z = tt.get_program_id z : i32
  %gx = tt.get_num_programs x : i32
  %gy = tt.get_num_programs y : i32
  %gz = tt.get_num_programs z : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i8
  %c4 = arith.constant 4 : i16
  %c5 = arith.constant 5 : i32
  %p1 = tt.addptr %out, %c1 : !tt.ptr<i32>, i32
  %p2 = tt.addptr %out, %c2 : !tt.ptr<i32>, i64
  %p3 = tt.addptr %out, %c3 : !tt.ptr<i32>, i8
  %p4 = tt.addptr %out, %c4 : !tt.ptr<i32>, i16
  %p5 = tt.addptr %out, %c5 : !tt.ptr<i32>, i32
  tt.store %out, %x : !tt.ptr<i32>
  tt.store %p1, %y : !tt.ptr<i32>
  tt.store %p2, %z : !tt.ptr<i32>
  tt.store %p3, %gx : !tt.ptr<i32>
  tt.store %p4, %gy : !tt.ptr<i32>
  tt.store %p5, %gz : !tt.ptr<i32>
  tt.return
})");
  int32_t out[6] = {};
  kernel.program.pid[0] = 3, kernel.program.pid[1] = 5, kernel.program.pid[2] = 7;
  kernel.program.grid[0] = 11, kernel.program.grid[1] = 13, kernel.program.grid[2] = 17;
  ASSERT_TRUE(kernel(out));
  EXPECT_EQ(std::vector<int32_t>(out, out + 6), (std::vector<int32_t>{3, 5, 7, 11, 13, 17}));
  EXPECT_EQ(argumentTypes(kernel.metadata), (std::vector<std::string>{"*i32"}));
  EXPECT_FALSE(kernel.metadata.blocking);
  EXPECT_FALSE(kernel.metadata.distributed);
}

TEST_F(ScalarOpsTest, ArgumentsOfAllKinds) {
  Kernel kernel = compile(R"(
tt.func public @arguments(%out: !tt.ptr<i64>, %a: i1, %b: i8, %c: i16, %d: i32, %e: i64, %f: f32, %g: f64) {
  %c1 = arith.constant 1 : i32
  %a64 = arith.extui %a : i1 to i64
  %b64 = arith.extsi %b : i8 to i64
  %c64 = arith.extsi %c : i16 to i64
  %d64 = arith.extsi %d : i32 to i64
  %f64 = arith.fptosi %f : f32 to i64
  %g64 = arith.fptosi %g : f64 to i64
  tt.store %out, %a64 : !tt.ptr<i64>
  %p1 = tt.addptr %out, %c1 : !tt.ptr<i64>, i32
  tt.store %p1, %b64 : !tt.ptr<i64>
  %p2 = tt.addptr %p1, %c1 : !tt.ptr<i64>, i32
  tt.store %p2, %c64 : !tt.ptr<i64>
  %p3 = tt.addptr %p2, %c1 : !tt.ptr<i64>, i32
  tt.store %p3, %d64 : !tt.ptr<i64>
  %p4 = tt.addptr %p3, %c1 : !tt.ptr<i64>, i32
  tt.store %p4, %e : !tt.ptr<i64>
  %p5 = tt.addptr %p4, %c1 : !tt.ptr<i64>, i32
  tt.store %p5, %f64 : !tt.ptr<i64>
  %p6 = tt.addptr %p5, %c1 : !tt.ptr<i64>, i32
  tt.store %p6, %g64 : !tt.ptr<i64>
  tt.return
})");
  int64_t out[7] = {};
  ASSERT_TRUE(kernel(out, true, int8_t(-5), int16_t(-300), int32_t(-70000), int64_t(-5000000000),
                     42.0f, -43.0));
  EXPECT_EQ(std::vector<int64_t>(out, out + 7),
            (std::vector<int64_t>{1, -5, -300, -70000, -5000000000, 42, -43}));
  EXPECT_EQ(argumentTypes(kernel.metadata),
            (std::vector<std::string>{"*i64", "i1", "i8", "i16", "i32", "i64", "fp32", "fp64"}));
}

TEST_F(ScalarOpsTest, MaskedAccesses) {
  Kernel kernel = compile(R"(
tt.func public @masked(%in: !tt.ptr<f32>, %out: !tt.ptr<f32>, %mask: i1, %other: f32) {
  %c1 = arith.constant 1 : i32
  %x = tt.load %in, %mask, %other : !tt.ptr<f32>
  tt.store %out, %x : !tt.ptr<f32>
  %p1 = tt.addptr %out, %c1 : !tt.ptr<f32>, i32
  %y = tt.load %in, %mask : !tt.ptr<f32>
  tt.store %p1, %y : !tt.ptr<f32>
  %p2 = tt.addptr %p1, %c1 : !tt.ptr<f32>, i32
  tt.store %p2, %other, %mask : !tt.ptr<f32>
  tt.return
})");
  float in = 2.5f, out[3] = {-1, -1, -1};
  ASSERT_TRUE(kernel(&in, out, true, 9.0f));
  EXPECT_EQ(out[0], 2.5f);
  EXPECT_EQ(out[1], 2.5f);
  EXPECT_EQ(out[2], 9.0f);
  out[2] = -1;
  // Behind a false mask nothing is touched, whatever the address.
  ASSERT_TRUE(kernel(static_cast<float *>(nullptr), out, false, 9.0f));
  EXPECT_EQ(out[0], 9.0f);
  EXPECT_EQ(out[1], 0.0f);
  EXPECT_EQ(out[2], -1.0f);
}

TEST_F(ScalarOpsTest, BooleansPointersAndFp8InMemory) {
  Kernel kernel = compile(R"(
tt.func public @kinds(%flags: !tt.ptr<i1>, %table: !tt.ptr<!tt.ptr<i32>>, %small: !tt.ptr<f8E4M3FN>, %f: !tt.ptr<f32>) {
  %c1 = arith.constant 1 : i32
  %flag = tt.load %flags : !tt.ptr<i1>
  %true = arith.constant true
  %not = arith.xori %flag, %true : i1
  %flags1 = tt.addptr %flags, %c1 : !tt.ptr<i1>, i32
  tt.store %flags1, %not : !tt.ptr<i1>
  %table1 = tt.addptr %table, %c1 : !tt.ptr<!tt.ptr<i32>>, i32
  %p = tt.load %table1 : !tt.ptr<!tt.ptr<i32>>
  %v = tt.load %p : !tt.ptr<i32>
  %v2 = arith.addi %v, %c1 : i32
  tt.store %p, %v2 : !tt.ptr<i32>
  tt.store %table, %p : !tt.ptr<!tt.ptr<i32>>
  %s = tt.load %small : !tt.ptr<f8E4M3FN>
  %w = tt.fp_to_fp %s : f8E4M3FN -> f32
  tt.store %f, %w : !tt.ptr<f32>
  %i = tt.ptr_to_int %p : !tt.ptr<i32> -> i64
  %q = tt.int_to_ptr %i : i64 -> !tt.ptr<i32>
  %q8 = tt.bitcast %q : !tt.ptr<i32> -> !tt.ptr<i8>
  %b = tt.load %q8 : !tt.ptr<i8>
  %bits = tt.bitcast %w : f32 -> i32
  %sum = arith.addi %bits, %c1 : i32
  %next = tt.bitcast %sum : i32 -> f32
  %f1 = tt.addptr %f, %c1 : !tt.ptr<f32>, i32
  tt.store %f1, %next : !tt.ptr<f32>
  tt.return
})");
  uint8_t flags[2] = {1, 7}, small = 0x3c; // 1.5
  int32_t value = 41;
  int32_t *table[2] = {nullptr, &value};
  float f[2] = {};
  ASSERT_TRUE(kernel(flags, table, &small, f));
  EXPECT_EQ(flags[1], 0);
  EXPECT_EQ(value, 42);
  EXPECT_EQ(table[0], &value);
  EXPECT_EQ(f[0], 1.5f);
  EXPECT_EQ(f[1], std::nextafterf(1.5f, 2.0f));
}

TEST_F(ScalarOpsTest, Arithmetic) {
  Kernel kernel = compile(R"(
tt.func public @arithmetic(%out: !tt.ptr<f32>, %u: !tt.ptr<i32>, %x: f32, %y: f32, %n: f32, %a: i32, %b: i32) {
  %c1 = arith.constant 1 : i32
  %lo = arith.constant -1.0 : f32
  %hi = arith.constant 1.0 : f32
  %clamped = tt.clampf %x, %lo, %hi, propagateNan = none : f32
  tt.store %out, %clamped : !tt.ptr<f32>
  %p1 = tt.addptr %out, %c1 : !tt.ptr<f32>, i32
  %nan = tt.clampf %n, %lo, %hi, propagateNan = all : f32
  tt.store %p1, %nan : !tt.ptr<f32>
  %p2 = tt.addptr %p1, %c1 : !tt.ptr<f32>, i32
  %root = tt.precise_sqrt %y : f32
  tt.store %p2, %root : !tt.ptr<f32>
  %p3 = tt.addptr %p2, %c1 : !tt.ptr<f32>, i32
  %quotient = tt.precise_divf %x, %y : f32
  tt.store %p3, %quotient : !tt.ptr<f32>
  %p4 = tt.addptr %p3, %c1 : !tt.ptr<f32>, i32
  %low = tt.clampf %n, %lo, %hi, propagateNan = none : f32
  tt.store %p4, %low : !tt.ptr<f32>
  %high = tt.mulhiui %a, %b : i32
  tt.store %u, %high : !tt.ptr<i32>
  tt.return
})");
  float out[5];
  uint32_t high;
  ASSERT_TRUE(kernel(out, &high, 7.0f, 3.0f, std::nanf(""), 0xfffffff0u, 0xf0000000u));
  EXPECT_EQ(out[0], 1.0f);
  EXPECT_TRUE(std::isnan(out[1]));
  EXPECT_EQ(out[2], std::sqrt(3.0f));
  EXPECT_EQ(out[3], 7.0f / 3.0f);
  EXPECT_EQ(out[4], -1.0f);
  EXPECT_EQ(high, uint32_t((0xfffffff0ull * 0xf0000000ull) >> 32));
}

TEST_F(ScalarOpsTest, Atomics) {
  struct Case {
    const char *kind;
    int32_t before, operand, after;
  };
  for (const Case &c : {Case{"add", 5, -7, -2}, Case{"and", 0b1100, 0b1010, 0b1000},
                        Case{"or", 0b1100, 0b1010, 0b1110}, Case{"xor", 0b1100, 0b1010, 0b0110},
                        Case{"max", -3, 2, 2}, Case{"min", -3, 2, -3}, Case{"umax", -3, 2, -3},
                        Case{"umin", -3, 2, 2}, Case{"exch", 5, 9, 9}})
    for (const char *semantic : {"relaxed", "acquire", "release", "acq_rel"}) {
      std::string text = llvm::formatv(R"(
tt.func public @atomic(%p: !tt.ptr<i32>, %old: !tt.ptr<i32>, %v: i32, %mask: i1) {{
  %o = tt.atomic_rmw {0}, {1}, gpu, %p, %v, %mask : (!tt.ptr<i32>, i32, i1) -> i32
  tt.store %old, %o : !tt.ptr<i32>
  tt.return
})",
                                       c.kind, semantic);
      Kernel kernel = compile(text);
      int32_t value = c.before, old = 77;
      ASSERT_TRUE(kernel(&value, &old, c.operand, true));
      EXPECT_EQ(value, c.after) << c.kind;
      EXPECT_EQ(old, c.before) << c.kind;
      value = c.before;
      ASSERT_TRUE(kernel(&value, &old, c.operand, false));
      EXPECT_EQ(value, c.before) << c.kind;
      EXPECT_EQ(old, 0) << c.kind;
    }
}

TEST_F(ScalarOpsTest, FloatAtomics) {
  Kernel kernel = compile(R"(
tt.func public @atomics(%s: !tt.ptr<f32>, %d: !tt.ptr<f64>, %h: !tt.ptr<f16>, %b: !tt.ptr<bf16>, %c: !tt.ptr<f32>) {
  %one = arith.constant 1.5 : f32
  %oned = arith.constant 1.5 : f64
  %oneh = arith.constant 1.5 : f16
  %oneb = arith.constant 1.5 : bf16
  %0 = tt.atomic_rmw fadd, relaxed, gpu, %s, %one : (!tt.ptr<f32>, f32) -> f32
  %1 = tt.atomic_rmw fadd, relaxed, gpu, %d, %oned : (!tt.ptr<f64>, f64) -> f64
  %2 = tt.atomic_rmw fadd, acq_rel, gpu, %h, %oneh : (!tt.ptr<f16>, f16) -> f16
  %3 = tt.atomic_rmw fadd, acq_rel, gpu, %b, %oneb : (!tt.ptr<bf16>, bf16) -> bf16
  %4 = tt.atomic_cas acq_rel, gpu, %c, %one, %0 : (!tt.ptr<f32>, f32, f32) -> f32
  tt.return
})");
  float s = 2, c = 1.5f;
  double d = 4;
  _Float16 h = 8;
  uint16_t b = 0x4180; // 16
  ASSERT_TRUE(kernel(&s, &d, &h, &b, &c));
  EXPECT_EQ(s, 3.5f);
  EXPECT_EQ(d, 5.5);
  EXPECT_EQ(float(h), 9.5f);
  EXPECT_EQ(b, 0x418c); // 17.5
  EXPECT_EQ(c, 2.0f);
}

TEST_F(ScalarOpsTest, CompareAndSwap) {
  Kernel kernel = compile(R"(
tt.func public @cas(%p: !tt.ptr<i64>, %old: !tt.ptr<i64>, %cmp: i64, %val: i64) {
  %o = tt.atomic_cas acquire, sys, %p, %cmp, %val : (!tt.ptr<i64>, i64, i64) -> i64
  tt.store %old, %o : !tt.ptr<i64>
  tt.return
})");
  int64_t value = 5, old = 0;
  ASSERT_TRUE(kernel(&value, &old, int64_t(4), int64_t(9)));
  EXPECT_EQ(value, 5);
  EXPECT_EQ(old, 5);
  ASSERT_TRUE(kernel(&value, &old, int64_t(5), int64_t(9)));
  EXPECT_EQ(value, 9);
  EXPECT_EQ(old, 5);
}

TEST_F(ScalarOpsTest, EarlyReturnAndPointersInLoops) {
  Kernel kernel = compile(R"(
tt.func public @early(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %none = arith.cmpi sle, %n, %c0 : i32
  cf.cond_br %none, ^done, ^work
^work:
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%q = %p, %s = %zero) -> (!tt.ptr<f32>, f32) : i32 {
    %x = tt.load %q : !tt.ptr<f32>
    %s1 = arith.addf %s, %x : f32
    %q1 = tt.addptr %q, %c1 : !tt.ptr<f32>, i32
    scf.yield %q1, %s1 : !tt.ptr<f32>, f32
  }
  %odd = arith.andi %n, %c1 : i32
  %isOdd = arith.cmpi ne, %odd, %c0 : i32
  %where = scf.if %isOdd -> (!tt.ptr<f32>) {
    scf.yield %out : !tt.ptr<f32>
  } else {
    %o1 = tt.addptr %out, %c1 : !tt.ptr<f32>, i32
    scf.yield %o1 : !tt.ptr<f32>
  }
  tt.store %where, %r#1 : !tt.ptr<f32>
  cf.br ^done
^done:
  tt.return
})");
  float in[] = {1, 2, 3, 4}, out[2] = {-1, -1};
  ASSERT_TRUE(kernel(in, out, 0));
  EXPECT_EQ(out[0], -1);
  ASSERT_TRUE(kernel(in, out, 3));
  EXPECT_EQ(out[0], 6);
  ASSERT_TRUE(kernel(in, out, 4));
  EXPECT_EQ(out[1], 10);
}

TEST_F(ScalarOpsTest, CallsOfDeviceFunctions) {
  Kernel kernel = compile(R"(
module {
tt.func private @both(%p: !tt.ptr<i32>, %x: i32) -> (i32, !tt.ptr<i32>) attributes {noinline = true} {
  %c1 = arith.constant 1 : i32
  %pid = tt.get_program_id x : i32
  %y = arith.addi %x, %pid : i32
  %q = tt.addptr %p, %c1 : !tt.ptr<i32>, i32
  tt.return %y, %q : i32, !tt.ptr<i32>
}
tt.func public @caller(%p: !tt.ptr<i32>) {
  %c5 = arith.constant 5 : i32
  %r:2 = tt.call @both(%p, %c5) : (!tt.ptr<i32>, i32) -> (i32, !tt.ptr<i32>)
  tt.store %r#1, %r#0 : !tt.ptr<i32>
  tt.return
}
})");
  int32_t out[2] = {};
  kernel.program.pid[0] = 100;
  ASSERT_TRUE(kernel(out));
  EXPECT_EQ(out[1], 105);
}

TEST_F(ScalarOpsTest, AssertAndPrint) {
  Kernel kernel = compile(R"(
tt.func public @debug(%x: i32, %f: f32) {
  %c3 = arith.constant 3 : i32
  %ok = arith.cmpi slt, %x, %c3 : i32
  tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %x : i32
  %half = arith.truncf %f : f32 to f16
  tt.print " f: " {hex = true, isSigned = array<i32: 0>} : %half : f16
  tt.assert %ok, "x must be below 3" : i1
  tt.return
})");
  ASSERT_TRUE(kernel(2, 1.5f));
  EXPECT_EQ(recorder().calls, (std::vector<std::string>{
                                  "print ' x: ' 02000000 count=1 kind=0 bytes=4 hex=0 site=0",
                                  "print ' f: ' 0000c03f count=1 kind=2 bytes=4 hex=1 site=1"}));
  ASSERT_FALSE(kernel(3, 1.5f));
  EXPECT_EQ(recorder().calls.back(), "fail_assert 'x must be below 3' site=2");
  ASSERT_GE(kernel.metadata.sites.size(), 3u);
  EXPECT_EQ(kernel.metadata.sites[2].line, 8u);
}
