// RUN: nereid-opt %s --split-input-file --nereid-mark-spin-loops --canonicalize --cse --loop-invariant-code-motion | FileCheck %s

// CHECK: module attributes {nereid.blocking = true}
// CHECK-LABEL: tt.func @atomic
// CHECK: scf.while
// CHECK: tt.atomic_rmw
// CHECK: } do {
// CHECK-NEXT: distributed.yield
// CHECK-NEXT: scf.yield
tt.func @atomic(%s: !tt.ptr<i32>, %v: i32) {
  %zero = arith.constant 0 : i32
  scf.while : () -> () {
    %x = tt.atomic_rmw add, acquire, sys, %s, %zero : (!tt.ptr<i32>, i32) -> i32
    %c = arith.cmpi ne, %x, %v : i32
    scf.condition(%c)
  } do {
    scf.yield
  }
  tt.return
}

// -----

// A loop that only reads would be dead, and the load invariant.
// CHECK: module attributes {nereid.blocking = true}
// CHECK-LABEL: tt.func @plain_load
// CHECK: scf.while
// CHECK: tt.load
// CHECK: distributed.yield
tt.func @plain_load(%s: !tt.ptr<i32>, %v: i32) {
  scf.while : () -> () {
    %x = tt.load %s : !tt.ptr<i32>
    %c = arith.cmpi ne, %x, %v : i32
    scf.condition(%c)
  } do {
    scf.yield
  }
  tt.return
}

// -----

// The condition comes from the body of the previous iteration, through a branch.
// CHECK: module attributes {nereid.blocking = true}
// CHECK-LABEL: tt.func @flag_from_the_body
// CHECK: scf.while
// CHECK: tt.atomic_cas
// CHECK: distributed.yield
// CHECK-NEXT: scf.yield
tt.func @flag_from_the_body(%s: !tt.ptr<i32>, %v: i32, %go: i1) {
  %zero = arith.constant 0 : i32
  %true = arith.constant true
  %done = scf.while (%flag = %true) : (i1) -> i1 {
    scf.condition(%flag) %flag : i1
  } do {
  ^bb0(%flag: i1):
    %next = scf.if %go -> (i1) {
      %x = tt.atomic_cas acquire, gpu, %s, %zero, %v : (!tt.ptr<i32>, i32, i32) -> i32
      %c = arith.cmpi ne, %x, %zero : i32
      scf.yield %c : i1
    } else {
      scf.yield %true : i1
    }
    scf.yield %next : i1
  }
  tt.return
}

// -----

// A loop that counts does not spin, whatever it loads meanwhile.
// CHECK: module attributes {nereid.blocking = false}
// CHECK-LABEL: tt.func @counting
// CHECK-NOT: distributed.yield
tt.func @counting(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>, %n: i32) {
  %one = arith.constant 1 : i32
  %bound = tt.load %p : !tt.ptr<i32>
  %r = scf.while (%i = %n) : (i32) -> i32 {
    %c = arith.cmpi slt, %i, %bound : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    %x = tt.load %p {isVolatile = true} : !tt.ptr<i32>
    tt.store %o, %x : !tt.ptr<i32>
    %j = arith.addi %i, %one : i32
    scf.yield %j : i32
  }
  scf.for %i = %one to %n step %one : i32 {
    %x = tt.atomic_rmw add, relaxed, gpu, %p, %one : (!tt.ptr<i32>, i32) -> i32
  }
  tt.return
}

// -----

// CHECK: module attributes {nereid.blocking = true}
tt.func @wait(%s: !tt.ptr<i32>, %v: i32) -> i32 {
  %t = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  tt.return %t : i32
}

// -----

// CHECK: module attributes {nereid.blocking = true}
tt.func @barrier() {
  distributed.extern_call  {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier_all"} : () -> ()
  tt.return
}

// -----

// CHECK: module attributes {nereid.blocking = true}
tt.func @signal_wait(%s: !tt.ptr<i32>, %v: i32) {
  %0 = distributed.extern_call %s, %v, %v {libname = "libshmem_device", libpath = "", pure = false, symbol = "signal_wait_until"} : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return
}

// -----

// CHECK: module attributes {nereid.blocking = false}
tt.func @put_and_notify(%s: !tt.ptr<i32>, %v: i32) {
  distributed.extern_call %s, %s, %v, %v {libname = "libshmem_device", libpath = "", pure = false, symbol = "putmem_nbi"} : (!tt.ptr<i32>, !tt.ptr<i32>, i32, i32) -> ()
  "distributed.notify"(%s, %v, %v) <{commScope = 2 : i32, sigOp = 1 : i32}> : (!tt.ptr<i32>, i32, i32) -> ()
  tt.return
}
