// RUN: nereid-opt %s --canonicalize --cse --loop-invariant-code-motion --canonicalize --cse | FileCheck %s
//
// What the optimiser may and may not do to synchronization: a wait only reads,
// so it is dead without a user, and no write may move across it.

// CHECK-LABEL: tt.func @unused_wait_is_dead
// CHECK-NEXT: %[[X:.*]] = tt.load
// CHECK-NEXT: tt.return %[[X]]
tt.func @unused_wait_is_dead(%s: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32) -> f32 {
  %t = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %x = tt.load %p : !tt.ptr<f32>
  tt.return %x : f32
}

// CHECK-LABEL: tt.func @consumed_wait_lives
// CHECK: %[[T:.*]] = distributed.wait
// CHECK: %[[Q:.*]] = distributed.consume_token %{{.*}}, %[[T]]
// CHECK: %[[X:.*]] = tt.load %[[Q]]
// CHECK: tt.return %[[X]]
tt.func @consumed_wait_lives(%s: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32) -> f32 {
  %t = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %q = distributed.consume_token %p, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %x = tt.load %q : !tt.ptr<f32>
  tt.return %x : f32
}

// A wait that is kept as a barrier needs no user.
// CHECK-LABEL: tt.func @barrier_wait_lives
// CHECK-NEXT: %[[X:.*]] = tt.load
// CHECK-NEXT: distributed.wait {{.*}} {barrier}
// CHECK-NEXT: %[[Y:.*]] = tt.load
// CHECK-NEXT: tt.return %[[X]], %[[Y]]
tt.func @barrier_wait_lives(%s: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32) -> (f32, f32) {
  %x = tt.load %p : !tt.ptr<f32>
  %t = distributed.wait %s, %v, %v, scope = gpu semantic = acquire {barrier} : !tt.ptr<i32>, i32, i32 -> i32
  %y = tt.load %p : !tt.ptr<f32>
  tt.return %x, %y : f32, f32
}

// Nothing was written in between: the second wait is satisfied.
// CHECK-LABEL: tt.func @equal_waits_merge
// CHECK: distributed.wait
// CHECK-NOT: distributed.wait
// CHECK: tt.return
tt.func @equal_waits_merge(%s: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32) -> (f32, f32) {
  %t = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %q = distributed.consume_token %p, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %x = tt.load %q : !tt.ptr<f32>
  %t2 = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %q2 = distributed.consume_token %p, %t2, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %y = tt.load %q2 : !tt.ptr<f32>
  tt.return %x, %y : f32, f32
}

// CHECK-LABEL: tt.func @waits_around_a_store
// CHECK: distributed.wait
// CHECK: tt.store
// CHECK: distributed.wait
// CHECK: distributed.consume_token
// CHECK: tt.load
tt.func @waits_around_a_store(%s: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32) -> (f32, f32) {
  %t = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %q = distributed.consume_token %p, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %x = tt.load %q : !tt.ptr<f32>
  tt.store %s, %v : !tt.ptr<i32>
  %t2 = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %q2 = distributed.consume_token %p, %t2, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %y = tt.load %q2 : !tt.ptr<f32>
  tt.return %x, %y : f32, f32
}

// CHECK-LABEL: tt.func @waits_around_a_notify
// CHECK: distributed.wait
// CHECK: "distributed.notify"
// CHECK: distributed.wait
tt.func @waits_around_a_notify(%s: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32) -> (f32, f32) {
  %t = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %q = distributed.consume_token %p, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %x = tt.load %q : !tt.ptr<f32>
  "distributed.notify"(%s, %v, %v) <{commScope = 2 : i32, sigOp = 1 : i32}> : (!tt.ptr<i32>, i32, i32) -> ()
  %t2 = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %q2 = distributed.consume_token %p, %t2, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %y = tt.load %q2 : !tt.ptr<f32>
  tt.return %x, %y : f32, f32
}

// CHECK-LABEL: tt.func @waits_around_a_library_call
// CHECK: distributed.wait
// CHECK: distributed.extern_call
// CHECK: distributed.wait
tt.func @waits_around_a_library_call(%s: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32) -> (f32, f32) {
  %t = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %q = distributed.consume_token %p, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %x = tt.load %q : !tt.ptr<f32>
  distributed.extern_call  {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier_all"} : () -> ()
  %t2 = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %q2 = distributed.consume_token %p, %t2, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %y = tt.load %q2 : !tt.ptr<f32>
  tt.return %x, %y : f32, f32
}

// Loads of one address on both sides of a wait that something consumes stay
// two loads only if the second went through the token.
// CHECK-LABEL: tt.func @load_before_and_after
// CHECK: %[[X:.*]] = tt.load %arg1
// CHECK: %[[T:.*]] = distributed.wait
// CHECK: %[[Q:.*]] = distributed.consume_token %arg1, %[[T]]
// CHECK: %[[Y:.*]] = tt.load %[[Q]]
// CHECK: tt.return %[[X]], %[[Y]]
tt.func @load_before_and_after(%s: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32) -> (f32, f32) {
  %x = tt.load %p : !tt.ptr<f32>
  %t = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %q = distributed.consume_token %p, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %y = tt.load %q : !tt.ptr<f32>
  tt.return %x, %y : f32, f32
}

// Operands that do not change in the loop do not make a wait invariant.
// CHECK-LABEL: tt.func @wait_in_a_loop
// CHECK: scf.for
// CHECK: distributed.wait
// CHECK: distributed.consume_token
// CHECK: tt.load
// CHECK: "distributed.notify"
tt.func @wait_in_a_loop(%s: !tt.ptr<i32>, %p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32, %v: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %t = distributed.wait %s, %v, %v, scope = sys semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
    %q = distributed.consume_token %p, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
    %x = tt.load %q : !tt.ptr<f32>
    tt.store %o, %x : !tt.ptr<f32>
    "distributed.notify"(%s, %v, %v) <{commScope = 2 : i32, sigOp = 1 : i32}> : (!tt.ptr<i32>, i32, i32) -> ()
  }
  tt.return
}

// The rank and the number of ranks leave the loop; symm_at, which fails for a
// pointer outside the heap, stays: the loop may not run at all.
// CHECK-LABEL: tt.func @symm_at_is_not_speculated
// CHECK: distributed.get_num_ranks
// CHECK: scf.for
// CHECK: distributed.symm_at
tt.func @symm_at_is_not_speculated(%p: !tt.ptr<f32>, %r: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %ranks = distributed.get_num_ranks %c0 : i32
    %q = distributed.symm_at %p, %r, : !tt.ptr<f32>
    %x = arith.sitofp %ranks : i32 to f32
    tt.store %q, %x : !tt.ptr<f32>
  }
  tt.return
}

// CHECK-LABEL: tt.func @unused_symm_at_is_dead
// CHECK-NEXT: tt.return
tt.func @unused_symm_at_is_dead(%p: !tt.ptr<f32>, %r: i32) {
  %q = distributed.symm_at %p, %r, : !tt.ptr<f32>
  tt.return
}

// CHECK-LABEL: tt.func @symm_at_merges
// CHECK: %[[Q:.*]] = distributed.symm_at
// CHECK-NEXT: tt.load %[[Q]]
// CHECK-NEXT: tt.store %[[Q]]
tt.func @symm_at_merges(%p: !tt.ptr<f32>, %r: i32) {
  %q = distributed.symm_at %p, %r, : !tt.ptr<f32>
  %x = tt.load %q : !tt.ptr<f32>
  %q2 = distributed.symm_at %p, %r, : !tt.ptr<f32>
  tt.store %q2, %x : !tt.ptr<f32>
  tt.return
}

// The own rank's heap is where the pointer already points; the axis plays no part.
// CHECK-LABEL: tt.func @symm_at_own_rank
// CHECK-SAME: %[[P:.*]]: !tt.ptr<f32>, %[[O:.*]]: i32
tt.func @symm_at_own_rank(%p: !tt.ptr<f32>, %o: i32) -> (!tt.ptr<f32>, !tt.ptr<f32>) {
  // CHECK-NEXT: %[[A:.*]] = tt.addptr %[[P]], %[[O]]
  // CHECK-NEXT: tt.return %[[P]], %[[A]]
  %axis = arith.constant -1 : i32
  %zero = arith.constant 0 : i32
  %me = distributed.get_rank %axis : i32
  %me2 = distributed.get_rank %zero : i32
  %same = arith.addi %me2, %zero : i32
  %q = distributed.symm_at %p, %me, : !tt.ptr<f32>
  %a = tt.addptr %p, %o : !tt.ptr<f32>, i32
  %b = distributed.symm_at %a, %same, : !tt.ptr<f32>
  tt.return %q, %b : !tt.ptr<f32>, !tt.ptr<f32>
}

// Another rank, a rank that may be the own one, a constant: no fold.
// CHECK-LABEL: tt.func @symm_at_other_rank
// CHECK-COUNT-3: distributed.symm_at
tt.func @symm_at_other_rank(%p: !tt.ptr<f32>, %c: i1, %r: i32) -> (!tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<f32>) {
  %axis = arith.constant -1 : i32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %me = distributed.get_rank %axis : i32
  %next = arith.addi %me, %one : i32
  %maybe = arith.select %c, %me, %r : i32
  %0 = distributed.symm_at %p, %next, : !tt.ptr<f32>
  %1 = distributed.symm_at %p, %maybe, : !tt.ptr<f32>
  %2 = distributed.symm_at %p, %zero, : !tt.ptr<f32>
  tt.return %0, %1, %2 : !tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<f32>
}

// An atomic or a volatile load in the condition of a loop that spins stays in
// it. (A plain load does not keep a loop alive: nereid-mark-spin-loops does.)
// CHECK-LABEL: tt.func @spin_loops
// CHECK: scf.while
// CHECK: tt.atomic_rmw
// CHECK: scf.while
// CHECK: tt.load {{.*}} {isVolatile = true}
// CHECK: scf.while
// CHECK: tt.atomic_cas
tt.func @spin_loops(%s: !tt.ptr<i32>, %v: i32) {
  %zero = arith.constant 0 : i32
  scf.while : () -> () {
    %x = tt.atomic_rmw add, acquire, sys, %s, %zero : (!tt.ptr<i32>, i32) -> i32
    %c = arith.cmpi ne, %x, %v : i32
    scf.condition(%c)
  } do {
    scf.yield
  }
  scf.while : () -> () {
    %x = tt.load %s {isVolatile = true} : !tt.ptr<i32>
    %c = arith.cmpi ne, %x, %v : i32
    scf.condition(%c)
  } do {
    scf.yield
  }
  scf.while : () -> () {
    %x = tt.atomic_cas acquire, gpu, %s, %zero, %v : (!tt.ptr<i32>, i32, i32) -> i32
    %c = arith.cmpi ne, %x, %zero : i32
    scf.condition(%c)
  } do {
    scf.yield
  }
  tt.return
}

// Two volatile loads are two loads, used or not.
// CHECK-LABEL: tt.func @volatile_loads
// CHECK-COUNT-3: tt.load {{.*}} {isVolatile = true}
tt.func @volatile_loads(%p: !tt.ptr<i32>) -> i32 {
  %0 = tt.load %p {isVolatile = true} : !tt.ptr<i32>
  %1 = tt.load %p {isVolatile = true} : !tt.ptr<i32>
  %2 = tt.load %p {isVolatile = true} : !tt.ptr<i32>
  %s = arith.addi %0, %1 : i32
  tt.return %s : i32
}

// A pure library call leaves the loop, another one does not.
// CHECK-LABEL: tt.func @library_calls
// CHECK: symbol = "remote_ptr"
// CHECK: scf.for
// CHECK-NOT: symbol = "remote_ptr"
// CHECK: symbol = "p"
tt.func @library_calls(%p: !tt.ptr<i32>, %r: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %q = distributed.extern_call %p, %r {libname = "libshmem_device", libpath = "", pure = true, symbol = "remote_ptr"} : (!tt.ptr<i32>, i32) -> !tt.ptr<i32>
    tt.store %q, %i : !tt.ptr<i32>
    distributed.extern_call %p, %c1, %r {libname = "libshmem_device", libpath = "", pure = false, symbol = "p"} : (!tt.ptr<i32>, i32, i32) -> ()
  }
  tt.return
}

// CHECK-LABEL: tt.func @yield_lives
// CHECK: tt.load
// CHECK: distributed.yield
// CHECK: tt.load
tt.func @yield_lives(%p: !tt.ptr<f32>) -> (f32, f32) {
  %x = tt.load %p : !tt.ptr<f32>
  distributed.yield
  %y = tt.load %p : !tt.ptr<f32>
  tt.return %x, %y : f32, f32
}
