// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s --nereid-find-waits | FileCheck %s

// What comes first is compared before any read; the value that ends the loop is its result.
// CHECK-LABEL: tt.func @read_in_body
// CHECK-SAME: %[[P:.*]]: !tt.ptr<i64> {nereid.symmetric}, %[[N:.*]]: i64
// CHECK: %[[X:.*]] = tt.load %[[P]]
// CHECK: %[[C:.*]] = arith.cmpi ugt, %[[N]], %[[X]]
// CHECK: %[[R:.*]] = scf.if %[[C]] -> (i64)
// CHECK: %[[GE:.*]] = arith.constant 5 : i32
// CHECK: %[[SEEN:.*]] = distributed.extern_call %[[P]], %[[GE]], %[[N]] {{.*}}nereid.unsigned{{.*}}symbol = "signal_wait_until"
// CHECK: scf.yield %[[SEEN]]
// CHECK: scf.yield %[[X]]
// CHECK-NOT: scf.while
// CHECK: tt.return %[[R]]
tt.func @read_in_body(%p: !tt.ptr<i64> {nereid.symmetric}, %n: i64) -> i64 {
  %x = tt.load %p : !tt.ptr<i64>
  %r = scf.while (%a = %x) : (i64) -> i64 {
    %c = arith.cmpi ugt, %n, %a : i64
    scf.condition(%c) %a : i64
  } do {
  ^bb0(%b: i64):
    %y = tt.load %p : !tt.ptr<i64>
    distributed.yield
    scf.yield %y : i64
  }
  tt.return %r : i64
}

// Updates that change nothing are reads, unless they release.
// CHECK-LABEL: tt.func @updates
// CHECK-COUNT-2: distributed.extern_call
// CHECK: scf.while
// CHECK: tt.atomic_rmw add, acq_rel
// CHECK: scf.while
// CHECK: tt.atomic_rmw add, acquire, gpu, %{{.*}}, %c1
tt.func @updates(%p: !tt.ptr<i32> {nereid.symmetric}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.while : () -> () {
    %x = tt.atomic_rmw add, acquire, gpu, %p, %c0 : (!tt.ptr<i32>, i32) -> i32
    %c = arith.cmpi ne, %x, %c1 : i32
    scf.condition(%c)
  } do {
    distributed.yield
    scf.yield
  }
  scf.while : () -> () {
    %x = tt.atomic_cas relaxed, gpu, %p, %c1, %c1 : (!tt.ptr<i32>, i32, i32) -> i32
    %c = arith.cmpi ne, %x, %c1 : i32
    scf.condition(%c)
  } do {
    distributed.yield
    scf.yield
  }
  scf.while : () -> () {
    %x = tt.atomic_rmw add, acq_rel, gpu, %p, %c0 : (!tt.ptr<i32>, i32) -> i32
    %c = arith.cmpi ne, %x, %c1 : i32
    scf.condition(%c)
  } do {
    distributed.yield
    scf.yield
  }
  scf.while : () -> () {
    %x = tt.atomic_rmw add, acquire, gpu, %p, %c1 : (!tt.ptr<i32>, i32) -> i32
    %c = arith.cmpi ne, %x, %c1 : i32
    scf.condition(%c)
  } do {
    distributed.yield
    scf.yield
  }
  tt.return
}

// Loops that do more, whose bound or word changes, or that read other memory.
// CHECK-LABEL: tt.func @others
// CHECK-NOT: extern_call
// CHECK-COUNT-5: scf.while
// CHECK-NOT: extern_call
tt.func @others(%p: !tt.ptr<i32> {nereid.symmetric}, %plain: !tt.ptr<i32>, %rank: i32, %n: i32) {
  %c1 = arith.constant 1 : i32
  scf.while : () -> () {
    %x = tt.load %plain : !tt.ptr<i32>
    %c = arith.cmpi ne, %x, %c1 : i32
    scf.condition(%c)
  } do {
    distributed.yield
    scf.yield
  }
  %peer = distributed.symm_at %p, %rank, : !tt.ptr<i32>
  scf.while : () -> () {
    %x = tt.load %peer : !tt.ptr<i32>
    %c = arith.cmpi ne, %x, %c1 : i32
    scf.condition(%c)
  } do {
    distributed.yield
    scf.yield
  }
  scf.while : () -> () {
    %x = tt.load %p : !tt.ptr<i32>
    %c = arith.cmpi ne, %x, %c1 : i32
    scf.condition(%c)
  } do {
    tt.store %plain, %c1 : !tt.ptr<i32>
    distributed.yield
    scf.yield
  }
  %r = scf.while (%i = %n) : (i32) -> i32 {
    %x = tt.load %p : !tt.ptr<i32>
    %c = arith.cmpi ne, %x, %i : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    %j = arith.addi %i, %c1 : i32
    distributed.yield
    scf.yield %j : i32
  }
  scf.while : () -> () {
    %x = tt.load %p : !tt.ptr<i32>
    %y = arith.andi %x, %n : i32
    %c = arith.cmpi ne, %y, %c1 : i32
    scf.condition(%c)
  } do {
    distributed.yield
    scf.yield
  }
  tt.return
}
