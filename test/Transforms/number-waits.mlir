// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s --nereid-number-waits --split-input-file | FileCheck %s

// A token that arithmetic, a branch or a loop has changed is one of the same wait; a wait
// that is a barrier has no number, an argument may be any token, a constant is none.
// CHECK-LABEL: tt.func @flow
// CHECK: distributed.wait {{.*}} {nereid.slot = 0 : i32}
// CHECK: distributed.wait {{.*}} {nereid.slot = 1 : i32}
// CHECK: distributed.wait {{.*}} {barrier}
// CHECK: distributed.consume_token {{.*}} {nereid.tokens = 1 : i32}
// CHECK: distributed.consume_token {{.*}} {nereid.tokens = 3 : i32}
// CHECK: distributed.consume_token {{.*}} {nereid.tokens = 0 : i32}
// CHECK: distributed.consume_token {{.*}}, : !tt.ptr<f32>, i32
// CHECK: distributed.consume_token {{.*}} {nereid.tokens = 0 : i32}
// CHECK: scf.for
// CHECK: distributed.consume_token {{.*}} {nereid.tokens = 2 : i32}
tt.func @flow(%s: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32, %c: i1) {
  %zero = arith.constant 0 : i32
  %t = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %t2 = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %t3 = distributed.wait %s, %v, %v, scope = gpu semantic = acquire {barrier} : !tt.ptr<i32>, i32, i32 -> i32
  %times = arith.muli %t, %zero : i32
  %0 = distributed.consume_token %p, %times, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %either = scf.if %c -> i32 {
    scf.yield %t : i32
  } else {
    scf.yield %t2 : i32
  }
  %1 = distributed.consume_token %p, %either, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %2 = distributed.consume_token %p, %t3, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %3 = distributed.consume_token %p, %v, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %4 = distributed.consume_token %p, %zero, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %last = scf.for %i = %zero to %v step %v iter_args(%carried = %t2) -> i32 : i32 {
    %5 = distributed.consume_token %p, %carried, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
    %next = arith.addi %carried, %zero : i32
    scf.yield %next : i32
  }
  tt.return
}

// -----

// Through calls, both ways.
// CHECK-LABEL: tt.func private @called
// CHECK: distributed.consume_token {{.*}} {nereid.tokens = 1 : i32}
// CHECK-LABEL: tt.func @caller
// CHECK: distributed.wait {{.*}} {nereid.slot = 0 : i32}
tt.func private @called(%p: !tt.ptr<f32>, %t: i32) -> !tt.ptr<f32> {
  %q = distributed.consume_token %p, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  tt.return %q : !tt.ptr<f32>
}
tt.func @caller(%s: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32) {
  %t = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %q = tt.call @called(%p, %t) : (!tt.ptr<f32>, i32) -> !tt.ptr<f32>
  tt.return
}

// -----

// The ninth wait shares a number with the eighth.
// CHECK-LABEL: tt.func @many
// CHECK-COUNT-2: {nereid.slot = 7 : i32}
// CHECK-NOT: nereid.slot
tt.func @many(%s: !tt.ptr<i32>, %v: i32) {
  %0 = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %1 = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %2 = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %3 = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %4 = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %5 = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %6 = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %7 = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %8 = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  tt.return
}
