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
