// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s --split-input-file --verify-diagnostics --nereid-cuda-restrict-loops | FileCheck %s

// CHECK-LABEL: @between_ranks(
// CHECK: scf.for
// CHECK-NOT: tt.warp_specialize
// CHECK-NOT: tt.flatten
// CHECK: tt.return
tt.func @between_ranks(%s: !tt.ptr<i32>, %n: i32, %v: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-warning @below {{warp_specialize has no effect in a kernel with operations between ranks}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    %t = distributed.wait %s, %c1, %v, scope = sys semantic = acquire {barrier} : !tt.ptr<i32>, i32, i32 -> i32
  } {tt.flatten, tt.warp_specialize}
  tt.return
}

// -----

// Kernels of one rank keep their hints.
// CHECK-LABEL: @alone(
// CHECK: tt.warp_specialize
tt.func @alone(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.flatten, tt.warp_specialize}
  tt.return
}
