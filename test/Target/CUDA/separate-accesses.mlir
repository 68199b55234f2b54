// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s --split-input-file --nereid-separate-accesses | FileCheck %s

// The next round's load comes after this round's store.
// CHECK-LABEL: @carried(
// CHECK: scf.for
// CHECK-NEXT: tt.debug_barrier
// CHECK-NEXT: tt.load
// CHECK: tt.debug_barrier
// CHECK-NEXT: tt.store
tt.func @carried(%p: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = tt.load %p : !tt.ptr<f32>
    %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
    tt.store %q, %x : !tt.ptr<f32>
  }
  tt.return
}

// -----

// A loop that only loads has the barrier that it needs before it.
// CHECK-LABEL: @before_the_loop(
// CHECK: tt.store
// CHECK-NEXT: tt.debug_barrier
// CHECK-NEXT: scf.for
// CHECK-NOT: tt.debug_barrier
// CHECK: tt.return
tt.func @before_the_loop(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32, %v: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  tt.store %p, %v : !tt.ptr<f32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.for %j = %c0 to %n step %c1 : i32 {
      %x = tt.load %p : !tt.ptr<f32>
      %y = tt.load %q : !tt.ptr<f32>
    }
  }
  tt.return
}

// -----

// The loop inside loads only; what the round before has stored is separated from it once.
// CHECK-LABEL: @inner_loop(
// CHECK: scf.for
// CHECK-NEXT: tt.debug_barrier
// CHECK-NEXT: scf.for
// CHECK-NOT: tt.debug_barrier
// CHECK: tt.load
// CHECK: }
// CHECK: tt.debug_barrier
// CHECK-NEXT: tt.store
tt.func @inner_loop(%p: !tt.ptr<f32>, %n: i32, %v: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%a = %v) -> (f32) : i32 {
      %x = tt.load %p : !tt.ptr<f32>
      %y = arith.addf %a, %x : f32
      scf.yield %y : f32
    }
    tt.store %p, %s : !tt.ptr<f32>
  }
  tt.return
}

// -----

// Loops that only load need none.
// CHECK-LABEL: @apart(
// CHECK-NOT: tt.debug_barrier
// CHECK: tt.return
tt.func @apart(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = tt.load %p : !tt.ptr<f32>
    %y = tt.load %q : !tt.ptr<f32>
  }
  tt.return
}

// -----

// A symmetric argument may be the memory of any other.
// CHECK-LABEL: @symmetric(
// CHECK: tt.load
// CHECK-NEXT: tt.debug_barrier
// CHECK-NEXT: tt.store
tt.func @symmetric(%p: !tt.ptr<f32>, %q: !tt.ptr<f32> {nereid.symmetric}) {
  %x = tt.load %p : !tt.ptr<f32>
  tt.store %q, %x : !tt.ptr<f32>
  tt.return
}

// -----

// A barrier that is there is enough; one in a branch is not.
// CHECK-LABEL: @branches(
// CHECK: tt.load
// CHECK-NEXT: tt.debug_barrier
// CHECK-NEXT: tt.store
// CHECK-NEXT: scf.if
// CHECK-NEXT: tt.debug_barrier
// CHECK-NEXT: }
// CHECK-NEXT: tt.debug_barrier
// CHECK-NEXT: tt.load
tt.func @branches(%p: !tt.ptr<f32>, %b: i1, %out: !tt.ptr<f32>) {
  %x = tt.load %p : !tt.ptr<f32>
  tt.debug_barrier
  tt.store %p, %x : !tt.ptr<f32>
  scf.if %b {
    tt.debug_barrier
  }
  %y = tt.load %p : !tt.ptr<f32>
  tt.store %out, %y : !tt.ptr<f32>
  tt.return
}

// -----

// Nobody waits for a descriptor's copy but who asks for it, barrier or not.
// CHECK-LABEL: @descriptor(
// CHECK: tt.descriptor_store
// CHECK-NEXT: tt.debug_barrier
// CHECK-NEXT: cp.async.bulk.wait_group 0;
// CHECK-NEXT: tt.debug_barrier
// CHECK-NEXT: tt.load
tt.func @descriptor(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %n = arith.constant 64 : i32
  %stride = arith.constant 64 : i64
  %one = arith.constant 1 : i64
  %x = arith.constant dense<1.0> : tensor<64x64xf32>
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%stride, %one] : <f32>, <64x64xf32>
  tt.descriptor_store %d[%c0, %c0], %x : !tt.tensordesc<64x64xf32>, tensor<64x64xf32>
  tt.debug_barrier
  %y = tt.load %p : !tt.ptr<f32>
  tt.store %out, %y : !tt.ptr<f32>
  tt.return
}
