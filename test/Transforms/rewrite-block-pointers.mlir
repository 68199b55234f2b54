// RUN: nereid-opt %s --nereid-rewrite-block-pointers --canonicalize --cse | FileCheck %s

// A loop carries the offsets that change, and only them.
// CHECK-LABEL: tt.func @advance
// CHECK-SAME: %[[BASE:.*]]: !tt.ptr<f32>, %[[N:.*]]: i64,
// CHECK: scf.for %{{.*}} iter_args(%[[O:.*]] = %c0_i32, %{{.*}} = %{{.*}}) -> (i32, f32)
// CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8x!tt.ptr<f32>>
// CHECK: %[[NEXT:.*]] = arith.addi %[[O]], %c8_i32 : i32
// CHECK: scf.yield %[[NEXT]], %{{.*}} : i32, f32
// CHECK-NOT: make_tensor_ptr
tt.func @advance(%base: !tt.ptr<f32>, %n: i64, %k: i32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %one = arith.constant 1 : i64
  %zero = arith.constant 0.0 : f32
  %p = tt.make_tensor_ptr %base, [%n, %n], [%n, %one], [%c0, %c0] {order = array<i32: 1, 0>} : <tensor<4x8xf32>>
  %r:2 = scf.for %i = %c0 to %k step %c1 iter_args(%q = %p, %sum = %zero) -> (!tt.ptr<tensor<4x8xf32>>, f32) : i32 {
    %v = tt.load %q {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<4x8xf32>>
    %flat = tt.reshape %v : tensor<4x8xf32> -> tensor<32xf32>
    %s = "tt.reduce"(%flat) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      tt.reduce.return %t : f32
    }) : (tensor<32xf32>) -> f32
    %total = arith.addf %sum, %s : f32
    %next = tt.advance %q, [%c0, %c8] : <tensor<4x8xf32>>
    scf.yield %next, %total : !tt.ptr<tensor<4x8xf32>>, f32
  }
  tt.return %r#1 : f32
}

// CHECK-LABEL: tt.func @descriptor
// CHECK: tt.store %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8x!tt.ptr<f16>>
// CHECK: tt.atomic_rmw fadd, relaxed, gpu
// CHECK-NOT: descriptor
tt.func @descriptor(%base: !tt.ptr<f16>, %m: i32, %n: i32, %s: i64) {
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %base, [%m, %n], [%s, %one] : <f16>, <4x8xf16>
  %v = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<4x8xf16> -> tensor<4x8xf16>
  %w = arith.addf %v, %v : tensor<4x8xf16>
  tt.descriptor_store %d[%c0, %n], %w : !tt.tensordesc<4x8xf16>, tensor<4x8xf16>
  tt.descriptor_reduce add, %d[%c0, %c0], %w : !tt.tensordesc<4x8xf16>, tensor<4x8xf16>
  tt.return
}
