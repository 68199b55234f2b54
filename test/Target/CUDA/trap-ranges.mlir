// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s --split-input-file --nereid-check-loops --nereid-cuda-trap-ranges | FileCheck %s

// The user's assertions stay, also right before the loop and at its place.
// CHECK-LABEL: @product(
// CHECK: tt.assert %{{.*}}, "of the user"
// CHECK-NOT: tt.assert
// CHECK: %[[POSITIVE:.*]] = arith.cmpi sgt
// CHECK: %[[A:.*]] = arith.extui %[[POSITIVE]] : i1 to i32
// CHECK: tt.elementwise_inline_asm {{.*}}@p trap;{{.*}}pure = false{{.*}} %[[A]]
// CHECK: %[[FITS:.*]] = arith.ori
// CHECK: %[[B:.*]] = arith.extui %[[FITS]] : i1 to i32
// CHECK: tt.elementwise_inline_asm {{.*}}@p trap;{{.*}} %[[B]]
// CHECK-NOT: tt.assert
// CHECK: scf.for
tt.func @product(%p: !tt.ptr<f32>, %n: i32, %s: i32, %c: i1, %a: tensor<16x16xf16>, %z: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  tt.assert %c, "of the user" : i1
  %r = scf.for %i = %c0 to %n step %s iter_args(%x = %z) -> (tensor<16x16xf32>) : i32 {
    %d = tt.dot %a, %a, %x : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  tt.return %r : tensor<16x16xf32>
}

// -----

// Without a product the text of the assertion costs nothing.
// CHECK-LABEL: @no_product(
// CHECK: tt.assert {{.*}}"the end of this range and one step do not fit in int32
// CHECK-NOT: trap
tt.func @no_product(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  scf.for %i = %c0 to %n step %c2 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  }
  tt.return
}
