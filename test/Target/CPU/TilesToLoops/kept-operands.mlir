// RUN: nereid-opt %s --split-input-file --nereid-cpu-tiles-to-loops=cpu=x86-64-v4 --canonicalize --cse | FileCheck %s

// B stays packed for the next program: the entry of this round is compared, written
// anew, and only if it held something else is anything packed. The store asks
// whether it meets the range of what is kept.
//
// CHECK-LABEL: tt.func @kept
// CHECK-DAG: %[[STATE:.*]] = cpu.scratch {offset = 0 : i64}
// CHECK: %[[READY:.*]] = llvm.load %[[STATE]]
// CHECK: %[[NEW:.*]] = arith.cmpi eq, %[[READY]]
// CHECK: scf.if %[[NEW]]
// CHECK: scf.for
// CHECK: scf.if {{.*}} -> (i1, i1)
// CHECK: %[[SAME:.*]] = arith.andi
// CHECK: scf.if
// CHECK: arith.maxui
// CHECK: scf.if
// CHECK: vector.fma
// CHECK: %[[MEETS:.*]] = arith.andi
// CHECK: %[[ONE:.*]] = arith.extui %[[MEETS]]
// CHECK: arith.addi %{{.*}}, %[[ONE]]
// CHECK: llvm.store {{.*}} : vector<16xf32>
tt.func @kept(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: !tt.ptr<f32>, %n: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %r0 = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %stride = tt.splat %n : i32 -> tensor<16x1xi32>
  %row = arith.muli %r1, %stride : tensor<16x1xi32>
  %rows = tt.broadcast %row : tensor<16x1xi32> -> tensor<16x16xi32>
  %columns = tt.broadcast %r0 : tensor<1x16xi32> -> tensor<16x16xi32>
  %o = arith.addi %rows, %columns : tensor<16x16xi32>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %ap = tt.addptr %as, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %bs = tt.splat %b : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %bp = tt.addptr %bs, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %cp = tt.addptr %cs, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %d = scf.for %i = %c0 to %k step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %av = tt.load %ap : tensor<16x16x!tt.ptr<f32>>
    %bv = tt.load %bp : tensor<16x16x!tt.ptr<f32>>
    %p = tt.dot %av, %bv, %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %p : tensor<16x16xf32>
  }
  tt.store %cp, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// -----

// The atomic may acquire what another program has stored: what was kept before it
// is not used any more.
//
// CHECK-LABEL: tt.func @acquires
// CHECK-DAG: %[[STATE:.*]] = cpu.scratch {offset = 0 : i64}
// CHECK: tt.atomic_rmw
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[STATE]][1]
// CHECK: %[[OLD:.*]] = llvm.load %[[AT]]
// CHECK: %[[NEW:.*]] = arith.addi %[[OLD]]
// CHECK: llvm.store %[[NEW]], %[[AT]]
// CHECK: scf.for
// CHECK: tt.return
tt.func @acquires(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %flag: !tt.ptr<i32>, %c: !tt.ptr<f32>, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %true = arith.constant true
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %r0 = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %o = tt.broadcast %r0 : tensor<1x16xi32> -> tensor<16x16xi32>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %ap = tt.addptr %as, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %bs = tt.splat %b : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %bp = tt.addptr %bs, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %old = tt.atomic_rmw add, acq_rel, gpu, %flag, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
  %d = scf.for %i = %c0 to %k step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %av = tt.load %ap : tensor<16x16x!tt.ptr<f32>>
    %bv = tt.load %bp : tensor<16x16x!tt.ptr<f32>>
    %p = tt.dot %av, %bv, %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %p : tensor<16x16xf32>
  }
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %cp = tt.addptr %cs, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  tt.store %cp, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}

// -----

// A loop that may poll: nothing is kept.
//
// CHECK-LABEL: tt.func @polls
// CHECK-NOT: arith.maxui
// CHECK: tt.return
tt.func @polls(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %flag: !tt.ptr<i32>, %c: !tt.ptr<f32>, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %r0 = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %o = tt.broadcast %r0 : tensor<1x16xi32> -> tensor<16x16xi32>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %ap = tt.addptr %as, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %bs = tt.splat %b : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %bp = tt.addptr %bs, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  scf.while : () -> () {
    %now = tt.load %flag : !tt.ptr<i32>
    %again = arith.cmpi eq, %now, %c0 : i32
    scf.condition(%again)
  } do {
    scf.yield
  }
  %d = scf.for %i = %c0 to %k step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %av = tt.load %ap : tensor<16x16x!tt.ptr<f32>>
    %bv = tt.load %bp : tensor<16x16x!tt.ptr<f32>>
    %p = tt.dot %av, %bv, %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %p : tensor<16x16xf32>
  }
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %cp = tt.addptr %cs, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  tt.store %cp, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}
