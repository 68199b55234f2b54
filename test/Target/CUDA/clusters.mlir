// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of several thread blocks: their barriers are the cluster's, one of their threads
// signals. What needs one thread's result in all of them is an error.
// RUN: nereid-opt %s --split-input-file --verify-diagnostics --nereid-lower-distributed-to-tt=num-ctas=2 --nereid-separate-accesses=num-ctas=2 | FileCheck %s

// CHECK-LABEL: @signal(
// CHECK: tt.debug_barrier
// CHECK-NEXT: barrier.cluster.arrive.release;\0Abarrier.cluster.wait.acquire;
// CHECK-NEXT: tt.debug_barrier
// CHECK-NEXT: mov.u32 t, %cluster_ctarank; setp.eq.and.u32 p, t, 0, p;\0A@p red.release.sys
// CHECK: SPIN: ld.acquire.sys
// CHECK-SAME: div.u32 a, a, 2;
// CHECK-NEXT: tt.debug_barrier
// CHECK-NEXT: barrier.cluster
// CHECK-NEXT: tt.debug_barrier
tt.func public @signal(%s: !tt.ptr<i64>, %r: i32, %v: i64) {
  %c1 = arith.constant 1 : i32
  "distributed.notify"(%s, %v, %r) <{commScope = 2 : i32, sigOp = 2 : i32}> : (!tt.ptr<i64>, i64, i32) -> ()
  %t = distributed.wait %s, %c1, %v, scope = sys semantic = acquire {barrier} : !tt.ptr<i64>, i32, i64 -> i32
  tt.return
}

// -----

// CHECK-LABEL: @accesses(
// CHECK: tt.load
// CHECK-NEXT: tt.debug_barrier
// CHECK-NEXT: barrier.cluster
// CHECK-NEXT: tt.debug_barrier
// CHECK-NEXT: tt.store
// CHECK-NEXT: tt.debug_barrier
// CHECK-NEXT: barrier.cluster
// CHECK-NEXT: tt.debug_barrier
// CHECK-NEXT: tt.return
tt.func public @accesses(%p: !tt.ptr<f32>) {
  %x = tt.load %p : !tt.ptr<f32>
  tt.store %p, %x : !tt.ptr<f32>
  tt.debug_barrier
  tt.return
}

// -----

tt.func public @all(%p: !tt.ptr<f32>) {
  // expected-error @below {{libshmem_device.barrier_all cannot be used by programs of several thread blocks, which would not all get its result: compile with num_ctas=1}}
  distributed.extern_call {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier_all"} : () -> ()
  tt.return
}
