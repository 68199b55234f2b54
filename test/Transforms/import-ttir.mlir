// RUN: nereid-opt %s --nereid-import-ttir | FileCheck %s --check-prefixes=CHECK,READ
// RUN: nereid-opt %s --nereid-import-ttir-pipeline | FileCheck %s --check-prefixes=CHECK,SIMPLE

// The barriers of several versions of upstream.
// CHECK-LABEL: tt.func public @barriers
// CHECK-NEXT: tt.debug_barrier
// CHECK-NEXT: tt.debug_barrier
// CHECK-NEXT: tt.debug_barrier
tt.func public @barriers() {
  gpu.barrier
  ttg.barrier all
  ttg.barrier global_read|global_write
  tt.return
}

// Device functions with code after their return, called in a combining region.
// CHECK-LABEL: tt.func public @reduction
// READ: tt.call @"triton.language.standard.sum
// SIMPLE: "tt.reduce"
// SIMPLE-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// SIMPLE-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[B]]
// SIMPLE-NEXT: tt.reduce.return %[[S]]
// SIMPLE-NOT: tt.func private
tt.func public @reduction(%p: !tt.ptr<f32>, %x: tensor<8xf32>) attributes {noinline = false} {
  %0 = tt.call @"triton.language.standard.sum__fp32S8S__(1,)cconstexpr_0_"(%x) : (tensor<8xf32>) -> f32
  tt.store %p, %0 : !tt.ptr<f32>
  tt.return
}
tt.func private @"triton.language.standard.sum__fp32S8S__(1,)cconstexpr_0_"(%input: tensor<8xf32>) -> f32 attributes {noinline = false} {
  %0 = "tt.reduce"(%input) <{axis = 0 : i32}> ({
  ^bb0(%arg1: f32, %arg2: f32):
    %2 = tt.call @triton.language.standard._sum_combine__fp32_fp32__(%arg1, %arg2) : (f32, f32) -> f32
    tt.reduce.return %2 : f32
  }) : (tensor<8xf32>) -> f32
  tt.return %0 : f32
^bb1:  // no predecessors
  %1 = ub.poison : f32
  tt.return %1 : f32
}
tt.func private @triton.language.standard._sum_combine__fp32_fp32__(%a: f32, %b: f32) -> f32 attributes {noinline = false} {
  %0 = arith.addf %a, %b : f32
  tt.return %0 : f32
^bb1:  // no predecessors
  %1 = ub.poison : f32
  tt.return %1 : f32
}

// A descriptor that the launcher makes: a pointer, with the sizes and strides
// behind it.
// CHECK-LABEL: tt.func public @descriptor_argument
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<i32>, %[[M:.*]]: i32, %[[N:.*]]: i32, %[[S:.*]]: i64, %[[T:.*]]: i64)
// CHECK: %[[D:.*]] = tt.make_tensor_descriptor %[[P]], [%[[M]], %[[N]]], [%[[S]], %[[T]]] : <i32>, <2x4xi32>
// CHECK: tt.descriptor_load %[[D]]
// CHECK: tt.descriptor_reduce max, %[[D]]{{.*}} {nereid.unsigned} : !tt.tensordesc<2x4xi32>, tensor<2x4xi32>
tt.func public @descriptor_argument(%d: !tt.tensordesc<tensor<2x4xui32>>, %m: i32, %n: i32, %s: i64, %t: i64) {
  %x = tt.descriptor_load %d[%m, %n] : !tt.tensordesc<tensor<2x4xui32>> -> tensor<2x4xi32>
  tt.descriptor_reduce max, %d[%m, %n], %x : !tt.tensordesc<tensor<2x4xui32>>, tensor<2x4xi32>
  tt.return
}

// Tiles go through no call.
// CHECK-LABEL: tt.func public @calls
// READ: tt.call @tiles
// SIMPLE-NOT: tt.call @tiles
// CHECK: tt.call @scalars
tt.func public @calls(%p: !tt.ptr<f32>, %a: tensor<4xf32>, %b: f32) {
  %x = tt.call @tiles(%a) : (tensor<4xf32>) -> tensor<4xf32>
  tt.print "x" {hex = false, isSigned = array<i32: 0>} : %x : tensor<4xf32>
  tt.call @scalars(%b) : (f32) -> ()
  tt.return
}
// READ: tt.func private @tiles{{.*}} attributes {noinline = false}
tt.func private @tiles(%a: tensor<4xf32>) -> tensor<4xf32> attributes {noinline = true} {
  tt.return %a : tensor<4xf32>
}
// CHECK: tt.func private @scalars{{.*}} attributes {noinline = true}
tt.func private @scalars(%a: f32) attributes {noinline = true} {
  tt.print "a" {hex = false, isSigned = array<i32: 0>} : %a : f32
  tt.return
}
