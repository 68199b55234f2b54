// RUN: nereid-opt %s --nereid-structure-loop-pointers --canonicalize --cse | FileCheck %s

// Pointers count in i64; the i32 step is sign-extended, as addptr does.
// CHECK-LABEL: tt.func @pointers
// CHECK-SAME: %[[INIT:.*]]: tensor<8x!tt.ptr<f32>>, %[[S:.*]]: i32, %[[N:.*]]: i32
tt.func @pointers(%init: tensor<8x!tt.ptr<f32>>, %s: i32, %n: i32) -> tensor<8x!tt.ptr<f32>> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = tt.splat %s : i32 -> tensor<8xi32>
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i64
  // CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[OFF:.*]] = %[[ZERO]]) -> (i64)
  // CHECK: %[[T:.*]] = tt.splat %[[OFF]] : i64 -> tensor<8xi64>
  // CHECK: %[[P:.*]] = tt.addptr %[[INIT]], %[[T]] : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
  // CHECK: tt.load %[[P]]
  // CHECK: %[[E:.*]] = arith.extsi %[[S]] : i32 to i64
  // CHECK: %[[NEXT:.*]] = arith.addi %[[OFF]], %[[E]] : i64
  // CHECK: scf.yield %[[NEXT]] : i64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %init) -> (tensor<8x!tt.ptr<f32>>) : i32 {
    %x = tt.load %p : tensor<8x!tt.ptr<f32>>
    tt.store %p, %x : tensor<8x!tt.ptr<f32>>
    %next = tt.addptr %p, %step : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %next : tensor<8x!tt.ptr<f32>>
  }
  // After the loop the tile is the initial one plus what was added.
  // CHECK: %[[RT:.*]] = tt.splat %[[R]] : i64 -> tensor<8xi64>
  // CHECK: %[[RP:.*]] = tt.addptr %[[INIT]], %[[RT]]
  // CHECK: tt.return %[[RP]]
  tt.return %r : tensor<8x!tt.ptr<f32>>
}

// A constant step, two movements in one iteration, one of them i64.
// CHECK-LABEL: tt.func @two_steps
// CHECK: iter_args(%[[OFF:.*]] = %{{.*}}) -> (i64)
// CHECK: tt.load
// CHECK: tt.load
// CHECK: arith.addi %{{.*}}, %{{.*}} : i64
// CHECK: scf.yield %{{.*}} : i64
tt.func @two_steps(%init: tensor<8x!tt.ptr<f32>>, %s: i64, %n: i32, %o: tensor<8x!tt.ptr<f32>>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant dense<64> : tensor<8xi32>
  %step2 = tt.splat %s : i64 -> tensor<8xi64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %init) -> (tensor<8x!tt.ptr<f32>>) : i32 {
    %x = tt.load %p : tensor<8x!tt.ptr<f32>>
    %q = tt.addptr %p, %step : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %y = tt.load %q : tensor<8x!tt.ptr<f32>>
    %z = arith.addf %x, %y : tensor<8xf32>
    tt.store %o, %z : tensor<8x!tt.ptr<f32>>
    %next = tt.addptr %q, %step2 : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
    scf.yield %next : tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// Integer tiles count in their own width.
// CHECK-LABEL: tt.func @offsets
// CHECK: scf.for {{.*}} iter_args(%[[OFF:.*]] = %c0_i32) -> (i32)
// CHECK: %[[T:.*]] = tt.splat %[[OFF]] : i32 -> tensor<8xi32>
// CHECK: %[[O:.*]] = arith.addi %{{.*}}, %[[T]] : tensor<8xi32>
// CHECK: tt.addptr %{{.*}}, %[[O]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[OFF]], %{{.*}} : i32
// CHECK: scf.yield %[[NEXT]] : i32
tt.func @offsets(%base: !tt.ptr<f32>, %s: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %range = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %step = tt.splat %s : i32 -> tensor<8xi32>
  %bases = tt.splat %base : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %range) -> (tensor<8xi32>) : i32 {
    %p = tt.addptr %bases, %o : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %x = tt.load %p : tensor<8x!tt.ptr<f32>>
    tt.store %p, %x : tensor<8x!tt.ptr<f32>>
    %next = arith.addi %step, %o : tensor<8xi32>
    scf.yield %next : tensor<8xi32>
  }
  tt.return
}

// Backwards, by an amount that differs between iterations and was computed as a tile.
// CHECK-LABEL: tt.func @varying_step
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[OFF:.*]] = %c0_i32) -> (i32)
// CHECK: %[[M:.*]] = arith.muli %[[I]], %{{.*}} : i32
// CHECK: arith.subi %[[OFF]], %[[M]] : i32
tt.func @varying_step(%init: tensor<8xi32>, %s: i32, %n: i32, %o: tensor<8x!tt.ptr<i32>>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %splat = tt.splat %s : i32 -> tensor<8xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %init) -> (tensor<8xi32>) : i32 {
    tt.store %o, %t : tensor<8x!tt.ptr<i32>>
    %iv = tt.splat %i : i32 -> tensor<8xi32>
    %amount = arith.muli %iv, %splat : tensor<8xi32>
    %next = arith.subi %t, %amount : tensor<8xi32>
    scf.yield %next : tensor<8xi32>
  }
  tt.return
}

// Inner loops first: their movement is one of the outer loop.
// CHECK-LABEL: tt.func @nested
// CHECK-SAME: %[[INIT:.*]]: tensor<8x!tt.ptr<f32>>
// CHECK: scf.for {{.*}} iter_args(%[[OUTER:.*]] = %{{.*}}) -> (i64)
// CHECK: scf.for {{.*}} iter_args(%[[INNER:.*]] = %{{.*}}) -> (i64)
// CHECK: arith.addi %{{.*}}, %{{.*}} : i64
// CHECK: tt.addptr %[[INIT]]
// CHECK: scf.yield %{{.*}} : i64
// CHECK: scf.yield %{{.*}} : i64
tt.func @nested(%init: tensor<8x!tt.ptr<f32>>, %s: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = tt.splat %s : i32 -> tensor<8xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %init) -> (tensor<8x!tt.ptr<f32>>) : i32 {
    %inner = scf.for %j = %c0 to %i step %c1 iter_args(%q = %p) -> (tensor<8x!tt.ptr<f32>>) : i32 {
      %x = tt.load %q : tensor<8x!tt.ptr<f32>>
      tt.store %q, %x : tensor<8x!tt.ptr<f32>>
      %next = tt.addptr %q, %step : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
      scf.yield %next : tensor<8x!tt.ptr<f32>>
    }
    scf.yield %inner : tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// The dependence on a token moves to the scalar.
// CHECK-LABEL: tt.func @token
// CHECK: scf.for {{.*}} iter_args(%[[OFF:.*]] = %{{.*}}) -> (i64)
// CHECK: %[[T:.*]] = distributed.wait
// CHECK: %[[C:.*]] = distributed.consume_token %[[OFF]], %[[T]], : i64, i32 -> i64
// CHECK: arith.addi %[[C]]
tt.func @token(%init: tensor<8x!tt.ptr<f32>>, %sig: !tt.ptr<i32>, %s: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = tt.splat %s : i32 -> tensor<8xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %init) -> (tensor<8x!tt.ptr<f32>>) : i32 {
    %x = tt.load %p : tensor<8x!tt.ptr<f32>>
    tt.store %p, %x : tensor<8x!tt.ptr<f32>>
    %t = distributed.wait %sig, %c1, %s, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
    %c = distributed.consume_token %p, %t, : tensor<8x!tt.ptr<f32>>, i32 -> tensor<8x!tt.ptr<f32>>
    %next = tt.addptr %c, %step : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %next : tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// A movement in one branch only.
// CHECK-LABEL: tt.func @branch
// CHECK: scf.for {{.*}} iter_args(%[[OFF:.*]] = %{{.*}}) -> (i64)
// CHECK: %[[B:.*]] = scf.if %{{.*}} -> (i64)
// CHECK: arith.addi %[[OFF]], %{{.*}} : i64
// CHECK: } else {
// CHECK: scf.yield %[[OFF]] : i64
// CHECK: scf.yield %[[B]] : i64
tt.func @branch(%init: tensor<8x!tt.ptr<f32>>, %s: i64, %n: i32, %sig: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = tt.splat %s : i64 -> tensor<8xi64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %init) -> (tensor<8x!tt.ptr<f32>>) : i32 {
    %x = tt.load %p : tensor<8x!tt.ptr<f32>>
    tt.store %p, %x : tensor<8x!tt.ptr<f32>>
    %odd = arith.trunci %i : i32 to i1
    %next = scf.if %odd -> (tensor<8x!tt.ptr<f32>>) {
      tt.store %sig, %i : !tt.ptr<i32>
      %moved = tt.addptr %p, %step : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
      scf.yield %moved : tensor<8x!tt.ptr<f32>>
    } else {
      scf.yield %p : tensor<8x!tt.ptr<f32>>
    }
    scf.yield %next : tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// CHECK-LABEL: tt.func @while_loop
// CHECK-SAME: %[[INIT:.*]]: tensor<8x!tt.ptr<f32>>
// CHECK: %[[R:.*]]:2 = scf.while (%[[I:.*]] = %{{.*}}, %[[OFF:.*]] = %{{.*}}) : (i32, i64) -> (i32, i64)
// CHECK: scf.condition(%{{.*}}) %[[I]], %[[OFF]] : i32, i64
// CHECK: ^bb0(%{{.*}}: i32, %[[OFF2:.*]]: i64):
// CHECK: %[[T:.*]] = tt.splat %[[OFF2]]
// CHECK: tt.addptr %[[INIT]], %[[T]]
// CHECK: scf.yield %{{.*}}, %{{.*}} : i32, i64
// CHECK: %[[RT:.*]] = tt.splat %[[R]]#1
// CHECK: tt.addptr %[[INIT]], %[[RT]]
tt.func @while_loop(%init: tensor<8x!tt.ptr<f32>>, %s: i32, %n: i32) -> (tensor<8x!tt.ptr<f32>>, i32) {
  %c1 = arith.constant 1 : i32
  %step = tt.splat %s : i32 -> tensor<8xi32>
  %r:2 = scf.while (%i = %n, %p = %init) : (i32, tensor<8x!tt.ptr<f32>>) -> (i32, tensor<8x!tt.ptr<f32>>) {
    %c = arith.cmpi sgt, %i, %c1 : i32
    scf.condition(%c) %i, %p : i32, tensor<8x!tt.ptr<f32>>
  } do {
  ^bb0(%i: i32, %p: tensor<8x!tt.ptr<f32>>):
    %x = tt.load %p : tensor<8x!tt.ptr<f32>>
    tt.store %p, %x : tensor<8x!tt.ptr<f32>>
    %next = tt.addptr %p, %step : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %j = arith.subi %i, %c1 : i32
    scf.yield %j, %next : i32, tensor<8x!tt.ptr<f32>>
  }
  tt.return %r#1, %r#0 : tensor<8x!tt.ptr<f32>>, i32
}

// Block pointers: one scalar for each dimension that moves.
// CHECK-LABEL: tt.func @block_pointers
// CHECK-DAG: %[[A:.*]] = tt.make_tensor_ptr %arg0
// CHECK-DAG: %[[B:.*]] = tt.make_tensor_ptr %arg1
// CHECK: scf.for {{.*}} iter_args(%[[K:.*]] = %c0_i32, %[[Y:.*]] = %c0_i32, %[[X:.*]] = %c0_i32) -> (i32, i32, i32)
// CHECK-DAG: %[[P:.*]] = tt.advance %[[A]], [%c0_i32, %[[K]]]
// CHECK-DAG: %[[Q:.*]] = tt.advance %[[B]], [%[[Y]], %[[X]]]
// CHECK-DAG: tt.load %[[P]]
// CHECK-DAG: tt.store %[[Q]]
// CHECK-DAG: %[[K1:.*]] = arith.addi %[[K]], %{{.*}} : i32
// CHECK-DAG: %[[Y1:.*]] = arith.addi %[[Y]], %{{.*}} : i32
// CHECK-DAG: %[[X1:.*]] = arith.addi %[[X]], %{{.*}} : i32
// CHECK: scf.yield %[[K1]], %[[Y1]], %[[X1]]
tt.func @block_pointers(%a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %m: i64, %n: i32, %s: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %pa = tt.make_tensor_ptr %a, [%m, %m], [%m, %m], [%n, %n] {order = array<i32: 1, 0>} : <tensor<8x8xf16>>
  %pb = tt.make_tensor_ptr %b, [%m, %m], [%m, %m], [%n, %n] {order = array<i32: 1, 0>} : <tensor<8x8xf16>>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %pa, %q = %pb) -> (!tt.ptr<tensor<8x8xf16>>, !tt.ptr<tensor<8x8xf16>>) : i32 {
    %x = tt.load %p : !tt.ptr<tensor<8x8xf16>>
    tt.store %q, %x : !tt.ptr<tensor<8x8xf16>>
    %p1 = tt.advance %p, [%c0, %c32] : <tensor<8x8xf16>>
    %q1 = tt.advance %q, [%s, %c32] : <tensor<8x8xf16>>
    scf.yield %p1, %q1 : !tt.ptr<tensor<8x8xf16>>, !tt.ptr<tensor<8x8xf16>>
  }
  tt.return
}

// CHECK-LABEL: tt.func @block_pointer_in_while
// CHECK: scf.while (%{{.*}} = %{{.*}}, %[[Y:.*]] = %c0_i32, %[[X:.*]] = %c0_i32) : (i32, i32, i32) -> (i32, i32, i32)
// CHECK: scf.condition(%{{.*}}) %{{.*}}, %[[Y]], %[[X]] : i32, i32, i32
// CHECK: tt.advance
// CHECK: %[[L:.*]] = tt.advance
// CHECK: tt.return %[[L]]
tt.func @block_pointer_in_while(%b: !tt.ptr<f16>, %m: i64, %n: i32, %s: i32) -> !tt.ptr<tensor<8x8xf16>> {
  %c1 = arith.constant 1 : i32
  %pb = tt.make_tensor_ptr %b, [%m, %m], [%m, %m], [%n, %n] {order = array<i32: 1, 0>} : <tensor<8x8xf16>>
  %r:2 = scf.while (%i = %n, %p = %pb) : (i32, !tt.ptr<tensor<8x8xf16>>) -> (i32, !tt.ptr<tensor<8x8xf16>>) {
    %c = arith.cmpi sgt, %i, %c1 : i32
    scf.condition(%c) %i, %p : i32, !tt.ptr<tensor<8x8xf16>>
  } do {
  ^bb0(%i: i32, %p: !tt.ptr<tensor<8x8xf16>>):
    %x = tt.load %p : !tt.ptr<tensor<8x8xf16>>
    tt.store %p, %x : !tt.ptr<tensor<8x8xf16>>
    %next = tt.advance %p, [%s, %c1] : <tensor<8x8xf16>>
    %j = arith.subi %i, %c1 : i32
    scf.yield %j, %next : i32, !tt.ptr<tensor<8x8xf16>>
  }
  tt.return %r#1 : !tt.ptr<tensor<8x8xf16>>
}

// A tile from outside the loop, different in each lane: the scalar counts iterations.
// CHECK-LABEL: tt.func @invariant_tile
// CHECK-SAME: %[[INIT:.*]]: tensor<8x!tt.ptr<f32>>, %[[D:.*]]: tensor<8xi32>
// CHECK: scf.for {{.*}} iter_args(%[[K:.*]] = %c0_i64) -> (i64)
// CHECK: %[[T:.*]] = tt.splat %[[K]] : i64 -> tensor<8xi64>
// CHECK: %[[E:.*]] = arith.extsi %[[D]] : tensor<8xi32> to tensor<8xi64>
// CHECK: %[[M:.*]] = arith.muli %[[E]], %[[T]] : tensor<8xi64>
// CHECK: tt.addptr %[[INIT]], %[[M]]
// CHECK: arith.addi %[[K]], %c1_i64 : i64
tt.func @invariant_tile(%init: tensor<8x!tt.ptr<f32>>, %d: tensor<8xi32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %init) -> (tensor<8x!tt.ptr<f32>>) : i32 {
    %x = tt.load %p : tensor<8x!tt.ptr<f32>>
    tt.store %p, %x : tensor<8x!tt.ptr<f32>>
    %next = tt.addptr %p, %d : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %next : tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// Not these: pointers loaded from memory, pointers that swap, a step that
// differs between lanes and iterations, a float accumulator.
// CHECK-LABEL: tt.func @left_alone
// CHECK: iter_args(%{{.*}}) -> (tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>, tensor<8xf32>)
tt.func @left_alone(%a: tensor<8x!tt.ptr<f32>>, %b: tensor<8x!tt.ptr<f32>>, %idx: tensor<8x!tt.ptr<i32>>, %f: tensor<8xf32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b, %s = %a, %g = %f)
      -> (tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>, tensor<8xf32>) : i32 {
    %x = tt.load %p : tensor<8x!tt.ptr<f32>>
    tt.store %q, %x : tensor<8x!tt.ptr<f32>>
    tt.store %s, %g : tensor<8x!tt.ptr<f32>>
    %d = tt.load %idx : tensor<8x!tt.ptr<i32>>
    %s1 = tt.addptr %s, %d : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %g1 = arith.addf %g, %one : tensor<8xf32>
    scf.yield %q, %p, %s1, %g1 : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>, tensor<8xf32>
  }
  tt.return
}
