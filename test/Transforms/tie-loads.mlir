// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s --nereid-tie-loads --split-input-file | FileCheck %s
// RUN: nereid-opt %s --nereid-tie-loads --nereid-pin-waits --nereid-instrument-accesses --split-input-file | FileCheck %s --check-prefix=TOLD

// CHECK-LABEL: tt.func @loads
// By the address, by the mask, by what another load has brought, and not at all.
// CHECK: tt.load {{.*}} {nereid.tokens = 1 : i32}
// CHECK: tt.load {{.*}} {nereid.tokens = 2 : i32}
// CHECK: tt.load {{.*}} {nereid.tokens = 1 : i32}
// CHECK: tt.load {{.*}} {nereid.tokens = 0 : i32}
// By a token that is nobody's: it may be any.
// CHECK: tt.load %{{.*}} : !tt.ptr<f32>
// By a branch and by the rounds of a loop.
// CHECK: scf.if
// CHECK: tt.load {{.*}} {nereid.tokens = 2 : i32}
// CHECK: scf.for
// CHECK: tt.load {{.*}} {nereid.tokens = 3 : i32}
// TOLD-LABEL: tt.func @loads
// TOLD: distributed.access read {{.*}} {nereid.tokens = 1 : i32}
// TOLD: distributed.access read {{.*}} {nereid.tokens = 2 : i32}
tt.func @loads(%s: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32) -> (f32, f32, f32, f32, f32) {
  %zero = arith.constant 0 : i32
  %t = distributed.wait %s, %v, %v, scope = gpu semantic = acquire {nereid.slot = 0 : i32} : !tt.ptr<i32>, i32, i32 -> i32
  %t2 = distributed.wait %s, %v, %v, scope = gpu semantic = acquire {nereid.slot = 1 : i32} : !tt.ptr<i32>, i32, i32 -> i32
  %q = distributed.consume_token %p, %zero, {nereid.tokens = 1 : i32} : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %0 = tt.load %q : !tt.ptr<f32>
  %on = arith.cmpi eq, %t2, %zero : i32
  %1 = tt.load %p, %on : !tt.ptr<f32>
  %far = arith.fptosi %0 : f32 to i32
  %there = tt.addptr %p, %far : !tt.ptr<f32>, i32
  %2 = tt.load %there : !tt.ptr<f32>
  %3 = tt.load %p : !tt.ptr<f32>
  %any = distributed.consume_token %p, %v, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %4 = tt.load %any : !tt.ptr<f32>
  scf.if %on {
    %5 = tt.load %p : !tt.ptr<f32>
    tt.store %p, %5 : !tt.ptr<f32>
  }
  %last = scf.for %i = %zero to %t2 step %v iter_args(%carried = %q) -> !tt.ptr<f32> : i32 {
    %6 = tt.load %carried : !tt.ptr<f32>
    tt.store %p, %6 : !tt.ptr<f32>
    scf.yield %carried : !tt.ptr<f32>
  }
  tt.return %0, %1, %2, %3, %4 : f32, f32, f32, f32, f32
}

// -----

// Nothing is told of where it cannot be: where threads meet, in functions that are called,
// in code of several blocks.
// CHECK-NOT: nereid.tokens
tt.func @meeting(%s: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32) -> f32 {
  %t = distributed.wait %s, %v, %v, scope = gpu semantic = acquire {nereid.slot = 0 : i32} : !tt.ptr<i32>, i32, i32 -> i32
  tt.debug_barrier
  %0 = tt.load %p : !tt.ptr<f32>
  tt.return %0 : f32
}
tt.func private @called(%p: !tt.ptr<f32>) -> f32 {
  %0 = tt.load %p : !tt.ptr<f32>
  tt.return %0 : f32
}
tt.func @blocks(%p: !tt.ptr<f32>, %c: i1) -> f32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %0 = tt.load %p : !tt.ptr<f32>
  tt.return %0 : f32
^bb2:
  %1 = tt.load %p : !tt.ptr<f32>
  tt.return %1 : f32
}
