// RUN: nereid-opt %s --nereid-decompose-scaled-dots | FileCheck %s

// The scales spread over their groups along k; the right ones lie by columns.
// CHECK-LABEL: tt.func @both_scaled
// CHECK-SAME: %[[A:.*]]: tensor<4x64xf8E5M2>, %[[S:.*]]: tensor<4x2xi8>, %[[B:.*]]: tensor<64x8xbf16>, %[[T:.*]]: tensor<8x2xi8>, %[[C:.*]]: tensor<4x8xf32>
// CHECK: %[[X:.*]] = tt.fp_to_fp %[[A]] : tensor<4x64xf8E5M2> -> tensor<4x64xf32>
// CHECK: %[[Y:.*]] = arith.extf %[[B]] : tensor<64x8xbf16> to tensor<64x8xf32>
// CHECK: arith.extui %[[S]] : tensor<4x2xi8> to tensor<4x2xi32>
// CHECK: tt.broadcast %{{.*}} : tensor<4x2x1xf32> -> tensor<4x2x32xf32>
// CHECK: %[[F:.*]] = tt.reshape %{{.*}} : tensor<4x2x32xf32> -> tensor<4x64xf32>
// CHECK: %[[XF:.*]] = arith.mulf %[[X]], %[[F]]
// CHECK: tt.trans %{{.*}} {order = array<i32: 1, 0>} : tensor<8x64xf32> -> tensor<64x8xf32>
// CHECK: %[[YG:.*]] = arith.mulf %[[Y]],
// CHECK: tt.dot %[[XF]], %[[YG]], %[[C]] : tensor<4x64xf32> * tensor<64x8xf32> -> tensor<4x8xf32>
tt.func @both_scaled(%a: tensor<4x64xf8E5M2>, %s: tensor<4x2xi8>, %b: tensor<64x8xbf16>, %t: tensor<8x2xi8>,
                     %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %d = tt.dot_scaled %a scale %s, %b scale %t, %c lhs = e5m2 rhs = bf16 {fastMath = false} : tensor<4x64xf8E5M2>, tensor<4x2xi8> * tensor<64x8xbf16>, tensor<8x2xi8> -> tensor<4x8xf32>
  tt.return %d : tensor<4x8xf32>
}

// Two four-bit numbers of a byte lie side by side along k, the low one first.
// CHECK-LABEL: tt.func @packed
// CHECK: %[[LOW:.*]] = arith.andi
// CHECK: %[[HIGH:.*]] = arith.shrui
// CHECK: tt.join %[[LOW]], %[[HIGH]] : tensor<4x16xi32> -> tensor<4x16x2xi32>
// CHECK-NEXT: tt.reshape %{{.*}} : tensor<4x16x2xi32> -> tensor<4x32xi32>
// CHECK: tt.join %{{.*}} : tensor<16x8xi32> -> tensor<16x8x2xi32>
// CHECK-NEXT: tt.trans %{{.*}} {order = array<i32: 0, 2, 1>} : tensor<16x8x2xi32> -> tensor<16x2x8xi32>
// CHECK-NEXT: tt.reshape %{{.*}} : tensor<16x2x8xi32> -> tensor<32x8xi32>
// CHECK-NOT: arith.mulf
// CHECK: tt.dot
tt.func @packed(%a: tensor<4x16xi8>, %b: tensor<16x8xi8>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %d = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = e2m1 {fastMath = false} : tensor<4x16xi8> * tensor<16x8xi8> -> tensor<4x8xf32>
  tt.return %d : tensor<4x8xf32>
}
