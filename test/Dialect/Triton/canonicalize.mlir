// RUN: nereid-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: tt.func @shape_of_constant
tt.func @shape_of_constant() -> (tensor<8x4xf32>, tensor<4x8xf32>, tensor<32xf32>) {
  // CHECK-DAG: %[[A:.*]] = arith.constant dense<1.000000e+00> : tensor<8x4xf32>
  // CHECK-DAG: %[[B:.*]] = arith.constant dense<1.000000e+00> : tensor<4x8xf32>
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
  %c = arith.constant 1.0 : f32
  %0 = tt.splat %c : f32 -> tensor<8xf32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  %2 = tt.broadcast %1 : tensor<8x1xf32> -> tensor<8x4xf32>
  %3 = tt.trans %2 {order = array<i32: 1, 0>} : tensor<8x4xf32> -> tensor<4x8xf32>
  %4 = tt.reshape %3 : tensor<4x8xf32> -> tensor<32xf32>
  // CHECK: tt.return %[[A]], %[[B]], %[[C]]
  tt.return %2, %3, %4 : tensor<8x4xf32>, tensor<4x8xf32>, tensor<32xf32>
}

// CHECK-LABEL: tt.func @shape_of_splat
// CHECK-SAME: %[[X:.*]]: f32
tt.func @shape_of_splat(%x: f32) -> (tensor<8x4xf32>, tensor<4x8xf32>, tensor<32xf32>) {
  // CHECK-DAG: %[[A:.*]] = tt.splat %[[X]] : f32 -> tensor<8x4xf32>
  // CHECK-DAG: %[[B:.*]] = tt.splat %[[X]] : f32 -> tensor<4x8xf32>
  // CHECK-DAG: %[[C:.*]] = tt.splat %[[X]] : f32 -> tensor<32xf32>
  %0 = tt.splat %x : f32 -> tensor<8xf32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  %2 = tt.broadcast %1 : tensor<8x1xf32> -> tensor<8x4xf32>
  %3 = tt.trans %2 {order = array<i32: 1, 0>} : tensor<8x4xf32> -> tensor<4x8xf32>
  %4 = tt.reshape %3 : tensor<4x8xf32> -> tensor<32xf32>
  // CHECK: tt.return %[[A]], %[[B]], %[[C]]
  tt.return %2, %3, %4 : tensor<8x4xf32>, tensor<4x8xf32>, tensor<32xf32>
}

// CHECK-LABEL: tt.func @shape_of_shape
// CHECK-SAME: %[[X:.*]]: tensor<2x1x1xf32>, %[[Y:.*]]: tensor<2x3x5xf32>
tt.func @shape_of_shape(%x: tensor<2x1x1xf32>, %y: tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<3x2x5xf32>, tensor<5x6xf32>) {
  // CHECK-DAG: %[[A:.*]] = tt.broadcast %[[X]] : tensor<2x1x1xf32> -> tensor<2x3x5xf32>
  %0 = tt.broadcast %x : tensor<2x1x1xf32> -> tensor<2x3x1xf32>
  %1 = tt.broadcast %0 : tensor<2x3x1xf32> -> tensor<2x3x5xf32>
  // First 5,2,3 then 3,2,5: dimension i of the result is dimension [1, 0, 2] of %y.
  // CHECK-DAG: %[[B:.*]] = tt.trans %[[Y]] {order = array<i32: 1, 0, 2>} : tensor<2x3x5xf32> -> tensor<3x2x5xf32>
  %2 = tt.trans %y {order = array<i32: 2, 0, 1>} : tensor<2x3x5xf32> -> tensor<5x2x3xf32>
  %3 = tt.trans %2 {order = array<i32: 2, 1, 0>} : tensor<5x2x3xf32> -> tensor<3x2x5xf32>
  // CHECK-DAG: %[[C:.*]] = tt.reshape %[[Y]] : tensor<2x3x5xf32> -> tensor<5x6xf32>
  %4 = tt.reshape %y : tensor<2x3x5xf32> -> tensor<30xf32>
  %5 = tt.reshape %4 : tensor<30xf32> -> tensor<5x6xf32>
  // CHECK: tt.return %[[A]], %[[B]], %[[C]]
  tt.return %1, %3, %5 : tensor<2x3x5xf32>, tensor<3x2x5xf32>, tensor<5x6xf32>
}

// CHECK-LABEL: tt.func @identities
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[P:.*]]: !tt.ptr<f32>, %[[S:.*]]: f32
tt.func @identities(%x: tensor<4x8xf32>, %p: !tt.ptr<f32>, %s: f32) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, !tt.ptr<f32>, f32) {
  %0 = tt.broadcast %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = tt.reshape %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = tt.trans %x {order = array<i32: 0, 1>} : tensor<4x8xf32> -> tensor<4x8xf32>
  %zero = arith.constant 0 : i64
  %3 = tt.addptr %p, %zero : !tt.ptr<f32>, i64
  %4 = tt.splat %s : f32 -> tensor<1xf32>
  %5 = tt.unsplat %4 : tensor<1xf32>
  // CHECK: tt.return %[[X]], %[[X]], %[[X]], %[[P]], %[[S]]
  tt.return %0, %1, %2, %3, %5 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, !tt.ptr<f32>, f32
}

// A reshape that may reorder is no identity.
// CHECK-LABEL: tt.func @reordering_reshape
tt.func @reordering_reshape(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: tt.reshape %{{.*}} allow_reorder
  %1 = tt.reshape %x allow_reorder : tensor<4x8xf32> -> tensor<4x8xf32>
  tt.return %1 : tensor<4x8xf32>
}

// CHECK-LABEL: tt.func @uniform_pointer
// CHECK-SAME: %[[P:.*]]: !tt.ptr<f32>, %[[O:.*]]: i32
tt.func @uniform_pointer(%p: !tt.ptr<f32>, %o: i32) -> (tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>) {
  // CHECK: %[[C:.*]] = arith.constant 64 : i64
  // CHECK: %[[A:.*]] = tt.addptr %[[P]], %[[O]] : !tt.ptr<f32>, i32
  // CHECK: %[[SA:.*]] = tt.splat %[[A]]
  // CHECK: %[[B:.*]] = tt.addptr %[[A]], %[[C]] : !tt.ptr<f32>, i64
  // CHECK: %[[SB:.*]] = tt.splat %[[B]]
  %0 = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %1 = tt.splat %o : i32 -> tensor<8xi32>
  %2 = tt.addptr %0, %1 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %c = arith.constant dense<64> : tensor<8xi64>
  %3 = tt.addptr %2, %c : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
  // CHECK: tt.return %[[SA]], %[[SB]]
  tt.return %2, %3 : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
}

// The uniform offset joins the base; the two offsets are not added, since i32
// could overflow where the addresses do not.
// CHECK-LABEL: tt.func @uniform_offset_after_tile
// CHECK-SAME: %[[P:.*]]: !tt.ptr<f32>, %[[O:.*]]: i32
tt.func @uniform_offset_after_tile(%p: !tt.ptr<f32>, %o: i32) -> tensor<8x4x!tt.ptr<f32>> {
  // CHECK: %[[R:.*]] = tt.make_range
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %e = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %0 = tt.splat %p : !tt.ptr<f32> -> tensor<8x1x!tt.ptr<f32>>
  %1 = tt.addptr %0, %e : tensor<8x1x!tt.ptr<f32>>, tensor<8x1xi32>
  %2 = tt.broadcast %1 : tensor<8x1x!tt.ptr<f32>> -> tensor<8x4x!tt.ptr<f32>>
  %3 = tt.splat %o : i32 -> tensor<8x4xi32>
  // CHECK: %[[B:.*]] = tt.addptr %[[P]], %[[O]] : !tt.ptr<f32>, i32
  // CHECK: %[[S:.*]] = tt.splat %[[B]] : !tt.ptr<f32> -> tensor<8x1x!tt.ptr<f32>>
  // CHECK: %[[T:.*]] = tt.addptr %[[S]], %{{.*}} : tensor<8x1x!tt.ptr<f32>>, tensor<8x1xi32>
  // CHECK: tt.broadcast %[[T]]
  %4 = tt.addptr %2, %3 : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
  tt.return %4 : tensor<8x4x!tt.ptr<f32>>
}

// CHECK-LABEL: tt.func @masks
// CHECK-SAME: %[[PP:.*]]: tensor<8x!tt.ptr<f32>>, %[[O:.*]]: tensor<8xf32>, %[[PI:.*]]: tensor<8x!tt.ptr<i32>>, %[[I:.*]]: tensor<8xi32>
tt.func @masks(%pp: tensor<8x!tt.ptr<f32>>, %o: tensor<8xf32>, %pi: tensor<8x!tt.ptr<i32>>, %i: tensor<8xi32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi32>) {
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
  %true = arith.constant dense<true> : tensor<8xi1>
  %false = arith.constant dense<false> : tensor<8xi1>
  // CHECK: %[[L:.*]] = tt.load %[[PP]] : tensor<8x!tt.ptr<f32>>
  %0 = tt.load %pp, %true, %o : tensor<8x!tt.ptr<f32>>
  %1 = tt.load %pp, %false, %o : tensor<8x!tt.ptr<f32>>
  %2 = tt.load %pp, %false : tensor<8x!tt.ptr<f32>>
  // CHECK-NEXT: tt.store %[[PP]], %[[O]] : tensor<8x!tt.ptr<f32>>
  tt.store %pp, %o, %true : tensor<8x!tt.ptr<f32>>
  tt.store %pp, %o, %false : tensor<8x!tt.ptr<f32>>
  // CHECK-NEXT: %[[A:.*]] = tt.atomic_rmw add, acq_rel, gpu, %[[PI]], %[[I]] : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>) -> tensor<8xi32>
  %3 = tt.atomic_rmw add, acq_rel, gpu, %pi, %i, %true : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> tensor<8xi32>
  // CHECK-NEXT: tt.return %[[L]], %[[O]], %[[ZERO]], %[[A]]
  tt.return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi32>
}
