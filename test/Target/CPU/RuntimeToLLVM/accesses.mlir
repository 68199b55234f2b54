// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s --nereid-cpu-lower-runtime | FileCheck %s

// Under the mask of the access.
// CHECK-LABEL: llvm.func @scalars
// CHECK: scf.if
// CHECK:   llvm.call @nrd_access
// CHECK: }
// CHECK: llvm.call @nrd_access
tt.func public @scalars(%p: !tt.ptr<f32>, %m: i1) {
  distributed.access read %p, %m : !tt.ptr<f32>, i1
  distributed.access write %p : !tt.ptr<f32>
  tt.return
}

// Nothing stands between the calls but the operation.
// CHECK-LABEL: llvm.func internal @atomics
// CHECK: llvm.call @nrd_atomic_begin
// CHECK-NEXT: llvm.atomicrmw add
// CHECK-NEXT: llvm.call @nrd_atomic_end
// CHECK: llvm.call @nrd_atomic_begin
// CHECK-NEXT: llvm.cmpxchg
// CHECK: llvm.call @nrd_atomic_end
// CHECK: scf.while
// CHECK: scf.if
// CHECK:   llvm.call @nrd_atomic_seen
// CHECK: llvm.load volatile %{{.*}} atomic acquire
// CHECK: llvm.call @nrd_atomic_seen
// CHECK: llvm.call @nrd_atomic_begin
// CHECK-NEXT: llvm.store %{{.*}} atomic release
// CHECK-NEXT: llvm.call @nrd_atomic_end
tt.func private @atomics(%p: !tt.ptr<i32>, %v: i32) {
  %0 = tt.atomic_rmw add, acq_rel, gpu, %p, %v {nereid.observed} : (!tt.ptr<i32>, i32) -> i32
  %1 = tt.atomic_cas acq_rel, sys, %p, %v, %v {nereid.observed} : (!tt.ptr<i32>, i32, i32) -> i32
  %2 = tt.atomic_poll acquire, sys, %p, %v {nereid.observed} : !tt.ptr<i32>, i32 -> i1
  %3 = tt.load %p {isVolatile = true, nereid.observed, nereid.order = "acquire"} : !tt.ptr<i32>
  tt.store %p, %v {nereid.observed, nereid.order = "release"} : !tt.ptr<i32>
  tt.return
}
