// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waits, notifies and pointers to other ranks. Every chunk is also compiled by
// Triton: tests/targets/test_cuda.py.
// RUN: nereid-opt %s --split-input-file --nereid-lower-distributed-to-tt --nereid-canonicalize | FileCheck %s
// RUN: nereid-opt %s --split-input-file --nereid-lower-distributed-to-tt=arch=80 --nereid-canonicalize | FileCheck %s --check-prefix=SM80

// Before Hopper there is no second way to memory that would need a fence.
// SM80-NOT: fence.proxy.async
// SM80-NOT: cp.async.bulk

// One slot: every thread polls it; the report has the place's number plus one.
// CHECK-LABEL: @one_slot(
// CHECK: ld.acquire.sys.global.b64 v, [$1]; setp.eq.b64 p, v, $2; @p bra OK;
// CHECK-SAME: mov.u32 a, 1; st.relaxed.sys.global.b32 [s+64], a;
// CHECK-SAME: fence.acq_rel.sys; exit;
// CHECK-SAME: OK: fence.proxy.async.global;
// CHECK-SAME: constraints = "=r,l,l,l"
// CHECK-SAME: pure = false
// CHECK-NEXT: tt.debug_barrier
tt.func public @one_slot(%s: !tt.ptr<i64>, %v: i64) {
  %c1 = arith.constant 1 : i32
  %t = distributed.wait %s, %c1, %v, scope = gpu semantic = acquire {barrier} : !tt.ptr<i64>, i32, i64 -> i32
  tt.return
}

// -----

// Several slots, as many as are known at run time: threads share them.
// CHECK-LABEL: @slots(
// CHECK: setp.ge.s32 p, i, $2; @p bra DONE;
// CHECK-SAME: mad.wide.s32 q, i, 4, $1;
// CHECK-SAME: ld.acquire.sys.global.b32 v, [q];
// CHECK-NEXT: tt.debug_barrier
tt.func public @slots(%s: !tt.ptr<i32>, %n: i32, %v: i32) {
  %t = distributed.wait %s, %n, %v, scope = sys semantic = acquire {barrier} : !tt.ptr<i32>, i32, i32 -> i32
  tt.return
}

// -----

// The barrier comes before the release; what goes to another rank has the scope of
// the system whatever the user wrote.
// CHECK-LABEL: @notify_peer(
// CHECK: tt.addptr
// CHECK-NEXT: tt.debug_barrier
// CHECK-NEXT: red.release.sys.global.add.u32 [$1], $2;
tt.func public @notify_peer(%s: !tt.ptr<i32>, %v: i32, %r: i32) {
  "distributed.notify"(%s, %v, %r) <{commScope = 1 : i32, sigOp = 2 : i32}> : (!tt.ptr<i32>, i32, i32) -> ()
  tt.return
}

// -----

// CHECK-LABEL: @notify_own(
// CHECK: tt.debug_barrier
// CHECK-NEXT: st.release.gpu.global.b64 [$1], $2;
tt.func public @notify_own(%s: !tt.ptr<i64>, %v: i64) {
  %c0 = arith.constant 0 : i32
  %r = distributed.get_rank %c0 : i32
  "distributed.notify"(%s, %v, %r) <{commScope = 1 : i32, sigOp = 1 : i32}> : (!tt.ptr<i64>, i64, i32) -> ()
  tt.return
}

// -----

// A release waits for the copies that descriptors have begun.
// CHECK-LABEL: @notify_after_descriptor(
// CHECK: tt.descriptor_store
// CHECK: cp.async.bulk.wait_group 0;\0Afence.proxy.async.global;
// CHECK-NEXT: tt.debug_barrier
// CHECK-NEXT: st.release.sys.global.b32
tt.func public @notify_after_descriptor(%p: !tt.ptr<f32>, %s: !tt.ptr<i32>, %v: i32, %r: i32) {
  %c0 = arith.constant 0 : i32
  %n = arith.constant 64 : i32
  %stride = arith.constant 64 : i64
  %one = arith.constant 1 : i64
  %x = arith.constant dense<1.0> : tensor<64x64xf32>
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%stride, %one] : <f32>, <64x64xf32>
  tt.descriptor_store %d[%c0, %c0], %x : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
  "distributed.notify"(%s, %v, %r) <{commScope = 2 : i32, sigOp = 1 : i32}> : (!tt.ptr<i32>, i32, i32) -> ()
  tt.return
}

// -----

// A loop that spins looks now and then whether the host has given the launch up.
// CHECK-LABEL: @spin(
// CHECK: mov.u32 a, %clock;
tt.func public @spin(%p: !tt.ptr<i32>, %r: i32) {
  %q = distributed.symm_at %p, %r, : !tt.ptr<i32>
  %c0 = arith.constant 0 : i32
  scf.while : () -> () {
    %x = tt.load %q {isVolatile = true} : !tt.ptr<i32>
    %more = arith.cmpi eq, %x, %c0 : i32
    scf.condition(%more)
  } do {
    distributed.yield
    scf.yield
  }
  tt.return
}
