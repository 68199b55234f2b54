// RUN: nereid-opt %s --nereid-cpu-check --nereid-cpu-simplify | FileCheck %s
//
// What targets get of a kernel that moves pointers in a loop, adds a product to
// an accumulator and looks at its own heap.

// CHECK: module attributes {ascend.launch_mode = "cv1:2", nereid.blocking = false}
// CHECK-LABEL: tt.func public @kernel
// CHECK-SAME: %[[A:.*]]: !tt.ptr<f16> {nereid.symmetric}, %[[B:.*]]: !tt.ptr<f16>,
// CHECK-NOT: distributed.symm_at
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[OFF:.*]] = %{{.*}}) -> (tensor<16x16xf32>, i64)
// CHECK: tt.load
// CHECK: %[[D:.*]] = tt.dot %{{.*}}, %{{.*}}, %[[ACC]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[OFF]]
// CHECK: scf.yield %[[D]], %[[NEXT]] : tensor<16x16xf32>, i64
// CHECK-NOT: tt.call
// CHECK-NOT: tt.func private
tt.func public @kernel(%a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %c: !tt.ptr<f32>, %n: i32) {
  %axis = arith.constant -1 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %step = arith.constant dense<256> : tensor<16x16xi32>
  %me = distributed.get_rank %axis : i32
  %own = distributed.symm_at %a, %me, : !tt.ptr<f16>
  %tile = tt.call @tile() : () -> tensor<16x16xi32>
  %as = tt.splat %own : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
  %ap = tt.addptr %as, %tile : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
  %bp = tt.addptr %bs, %tile : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
  %y = tt.load %bp : tensor<16x16x!tt.ptr<f16>>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %p = %ap) -> (tensor<16x16xf32>, tensor<16x16x!tt.ptr<f16>>) : i32 {
    %x = tt.load %p : tensor<16x16x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %s = arith.addf %acc, %d : tensor<16x16xf32>
    %q = tt.addptr %p, %step : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
    scf.yield %s, %q : tensor<16x16xf32>, tensor<16x16x!tt.ptr<f16>>
  }
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %cp = tt.addptr %cs, %tile : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  tt.store %cp, %r#0 : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

tt.func private @tile() -> tensor<16x16xi32> {
  %c16 = arith.constant dense<16> : tensor<16x1xi32>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %i = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %j = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %rows = arith.muli %i, %c16 : tensor<16x1xi32>
  %rb = tt.broadcast %rows : tensor<16x1xi32> -> tensor<16x16xi32>
  %jb = tt.broadcast %j : tensor<1x16xi32> -> tensor<16x16xi32>
  %t = arith.addi %rb, %jb : tensor<16x16xi32>
  tt.return %t : tensor<16x16xi32>
}
