// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s --split-input-file --nereid-cpu-lower-runtime | FileCheck %s

// CHECK-LABEL: llvm.func @loads
// CHECK: scf.if %{{.*}} -> (f32)
// CHECK:   llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK: } else {
// CHECK:   scf.yield %[[OTHER:.*]] : f32
// CHECK: llvm.load volatile %{{.*}} atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
// CHECK: scf.if
// CHECK:   llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr
tt.func public @loads(%p: !tt.ptr<f32>, %q: !tt.ptr<i32>, %m: i1, %other: f32) {
  %x = tt.load %p, %m, %other : !tt.ptr<f32>
  %v = tt.load %q {isVolatile = true} : !tt.ptr<i32>
  %w = arith.sitofp %v : i32 to f32
  %s = arith.addf %x, %w : f32
  tt.store %p, %s, %m : !tt.ptr<f32>
  tt.return
}

// -----

// Orders of atomics.

// CHECK-LABEL: llvm.func @atomics
// CHECK: llvm.atomicrmw add %{{.*}}, %{{.*}} monotonic
// CHECK: llvm.atomicrmw umax %{{.*}}, %{{.*}} acquire
// CHECK: llvm.atomicrmw xchg %{{.*}}, %{{.*}} release
// CHECK: llvm.atomicrmw fadd %{{.*}}, %{{.*}} acq_rel
// CHECK: llvm.cmpxchg %{{.*}}, %{{.*}}, %{{.*}} acq_rel acquire
// CHECK: llvm.cmpxchg %{{.*}}, %{{.*}}, %{{.*}} release monotonic
tt.func public @atomics(%p: !tt.ptr<i32>, %f: !tt.ptr<f32>, %i: i32, %x: f32) {
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %i : (!tt.ptr<i32>, i32) -> i32
  %1 = tt.atomic_rmw umax, acquire, gpu, %p, %i : (!tt.ptr<i32>, i32) -> i32
  %2 = tt.atomic_rmw exch, release, gpu, %p, %i : (!tt.ptr<i32>, i32) -> i32
  %3 = tt.atomic_rmw fadd, acq_rel, sys, %f, %x : (!tt.ptr<f32>, f32) -> f32
  %4 = tt.atomic_cas acq_rel, sys, %p, %i, %i : (!tt.ptr<i32>, i32, i32) -> i32
  %5 = tt.atomic_cas release, sys, %p, %i, %i : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return
}

// -----

// fp16 has no machine atomics: compare and swap until nobody came between.

// CHECK-LABEL: llvm.func @half
// CHECK: %[[FIRST:.*]] = llvm.load %{{.*}} atomic monotonic {alignment = 2 : i64} : !llvm.ptr -> i16
// CHECK: scf.while (%{{.*}} = %[[FIRST]])
// CHECK:   arith.addf %{{.*}}, %{{.*}} : f32
// CHECK:   llvm.cmpxchg %{{.*}}, %{{.*}}, %{{.*}} acq_rel acquire : !llvm.ptr, i16
// CHECK:   scf.condition
tt.func public @half(%p: !tt.ptr<f16>, %x: f16) {
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %x : (!tt.ptr<f16>, f16) -> f16
  tt.return
}

// -----

// Rounding towards zero is kept for the expansion of floats.

// CHECK-LABEL: llvm.func @casts
// CHECK: arith.truncf %{{.*}} to_nearest_even : f32 to f16
// CHECK: arith.truncf %{{.*}} toward_zero : f32 to f8E5M2
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : f8E5M2 to f32
// CHECK: arith.truncf %[[WIDE]] : f32 to f8E4M3FN
tt.func public @casts(%x: f32, %p: !tt.ptr<f8E4M3FN>, %q: !tt.ptr<f16>) {
  %h = arith.truncf %x to_nearest_even : f32 to f16
  tt.store %q, %h : !tt.ptr<f16>
  %a = tt.fp_to_fp %x, rounding = rtz : f32 -> f8E5M2
  %b = tt.fp_to_fp %a : f8E5M2 -> f8E4M3FN
  tt.store %p, %b : !tt.ptr<f8E4M3FN>
  tt.return
}
