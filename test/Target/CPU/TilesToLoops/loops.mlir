// RUN: nereid-opt %s --nereid-cpu-tiles-to-loops=cpu=x86-64-v4 --canonicalize --cse | FileCheck %s

// Element by element in place: one buffer.
// CHECK-LABEL: tt.func @in_place
// CHECK: %[[B:.*]] = cpu.scratch {offset = 0 : i64}
// CHECK-NOT: cpu.scratch
// CHECK: scf.for %{{.*}} = %c0_i32
// CHECK: %[[X:.*]] = llvm.load %[[B]]
// CHECK: %[[Y:.*]] = arith.addf %[[X]]
// CHECK: llvm.store %[[Y]], %[[B]]
// CHECK-NEXT: {{^ *[}]$}}
tt.func @in_place(%p: !tt.ptr<f32>, %n: i32, %v: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<16xf32>
  %x = tt.splat %v : f32 -> tensor<16xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<16xf32>) : i32 {
    %b = arith.addf %a, %one : tensor<16xf32>
    scf.yield %b : tensor<16xf32>
  }
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  tt.store %pp, %y : tensor<16x!tt.ptr<f32>>
  tt.return
}

// A swap goes through a third buffer.
// CHECK-LABEL: tt.func @swap
// CHECK-COUNT-3: cpu.scratch
// CHECK: scf.for %{{.*}} = %c0_i32
// CHECK-COUNT-3: llvm.store
// CHECK-NEXT: {{^ *[}]$}}
tt.func @swap(%p: !tt.ptr<f32>, %n: i32, %v: f32, %w: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = tt.splat %v : f32 -> tensor<16xf32>
  %y = tt.splat %w : f32 -> tensor<16xf32>
  %z:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<16xf32>, tensor<16xf32>) : i32 {
    scf.yield %b, %a : tensor<16xf32>, tensor<16xf32>
  }
  %d = arith.subf %z#0, %z#1 : tensor<16xf32>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  tt.store %pp, %d : tensor<16x!tt.ptr<f32>>
  tt.return
}

// Scalars stay values of the loop.
// CHECK-LABEL: tt.func @mixed
// CHECK: %[[R:.*]] = scf.while (%[[I:.*]] = %c0_i32) : (i32) -> i32
// CHECK: scf.condition(%{{.*}}) %[[I]] : i32
// CHECK: tt.store %{{.*}}, %[[R]] : !tt.ptr<i32>
tt.func @mixed(%p: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0> : tensor<16xi32>
  %z:2 = scf.while (%a = %zero, %i = %c0) : (tensor<16xi32>, i32) -> (tensor<16xi32>, i32) {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %a, %i : tensor<16xi32>, i32
  } do {
  ^bb0(%a: tensor<16xi32>, %i: i32):
    %s = tt.splat %i : i32 -> tensor<16xi32>
    %b = arith.addi %a, %s : tensor<16xi32>
    %j = arith.addi %i, %c1 : i32
    scf.yield %b, %j : tensor<16xi32>, i32
  }
  tt.store %p, %z#1 : !tt.ptr<i32>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
  %pp = tt.addptr %ps, %r : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
  tt.store %pp, %z#0 : tensor<16x!tt.ptr<i32>>
  tt.return
}

// Tiles passed between blocks: copied on the edge that is taken.
// CHECK-LABEL: tt.func @blocks
// CHECK: cf.cond_br %{{.*}}, ^bb1, ^bb2
// CHECK-NOT: tensor<
// CHECK: tt.return
tt.func @blocks(%p: !tt.ptr<f32>, %c: i1, %v: f32) {
  %one = arith.constant dense<1.0> : tensor<16xf32>
  %x = tt.splat %v : f32 -> tensor<16xf32>
  cf.cond_br %c, ^end(%one : tensor<16xf32>), ^end(%x : tensor<16xf32>)
^end(%y: tensor<16xf32>):
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  tt.store %pp, %y : tensor<16x!tt.ptr<f32>>
  tt.return
}

// A tile that nobody defined may be anything.
// CHECK-LABEL: tt.func @undefined
// CHECK: scf.if
// CHECK-NOT: tensor<
// CHECK: tt.return
tt.func @undefined(%p: !tt.ptr<f32>, %c: i1, %v: f32) {
  %u = ub.poison : tensor<16xf32>
  %y = scf.if %c -> (tensor<16xf32>) {
    %x = tt.splat %v : f32 -> tensor<16xf32>
    scf.yield %x : tensor<16xf32>
  } else {
    scf.yield %u : tensor<16xf32>
  }
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  tt.store %pp, %y : tensor<16x!tt.ptr<f32>>
  tt.return
}
