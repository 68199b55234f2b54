// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s -split-input-file -nereid-ascend-export-ttir | FileCheck %s

// Attributes of ours and hints are gone, and the reader's form of a barrier stands there.
// CHECK-LABEL: tt.func public @hints(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}
// CHECK-NOT: assume
// CHECK: gpu.barrier
// CHECK-NOT: distributed
tt.func public @hints(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32, nereid.symmetric}, %c: i1) {
  llvm.intr.assume %c : i1
  tt.debug_barrier
  distributed.yield
  tt.return
}

// -----

// The reader loses the masks of scalar atomics: they stand under an if.
// CHECK-LABEL: @masked_atomic
// CHECK: %[[OLD:.*]] = scf.if %arg2 -> (i32) {
// CHECK: %[[TRUE:.*]] = arith.constant true
// CHECK: %[[NEW:.*]] = tt.atomic_rmw add, acq_rel, gpu, %arg0, %arg1, %[[TRUE]]
// CHECK: scf.yield %[[NEW]] : i32
// CHECK: } else {
// CHECK: scf.yield %{{.*}} : i32
// CHECK: tt.store %arg0, %[[OLD]]
tt.func @masked_atomic(%p: !tt.ptr<i32>, %v: i32, %m: i1) {
  %old = tt.atomic_rmw add, acq_rel, gpu, %p, %v, %m : (!tt.ptr<i32>, i32, i1) -> i32
  tt.store %p, %old : !tt.ptr<i32>
  tt.return
}

// -----

// It crashes where a scalar atomic has no mask: it gets one, without an if.
// CHECK-LABEL: @unmasked_atomic
// CHECK-NOT: scf.if
// CHECK: tt.atomic_rmw fadd, acq_rel, gpu, %arg0, %arg1, %true : (!tt.ptr<f32>, f32, i1) -> f32
tt.func @unmasked_atomic(%p: !tt.ptr<f32>, %v: f32) {
  %old = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----

// Blocks keep their masks: those it reads.
// CHECK-LABEL: @block_atomic
// CHECK-NOT: scf.if
// CHECK: tt.atomic_rmw fadd, acq_rel, gpu, %arg0, %arg1, %arg2
tt.func @block_atomic(%p: tensor<8x!tt.ptr<f32>>, %v: tensor<8xf32>, %m: tensor<8xi1>) {
  %old = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
  tt.return
}

// -----

// A comparison has its lanes on the left; two of lanes, or of scalars, stay as they are.
// CHECK-LABEL: @comparison
// CHECK: arith.cmpi slt, %arg0, %{{.*}} : tensor<8xi32>
// CHECK: arith.cmpi sge, %arg0, %{{.*}} : tensor<8xi32>
// CHECK: arith.cmpi sgt, %arg0, %arg2 : tensor<8xi32>
// CHECK: arith.cmpi sgt, %arg1, %arg3 : i32
tt.func @comparison(%lanes: tensor<8xi32>, %n: i32, %others: tensor<8xi32>, %m: i32) -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, i1) {
  %bound = tt.splat %n : i32 -> tensor<8xi32>
  %a = arith.cmpi sgt, %bound, %lanes : tensor<8xi32>
  %b = arith.cmpi sle, %bound, %lanes : tensor<8xi32>
  %c = arith.cmpi sgt, %lanes, %others : tensor<8xi32>
  %d = arith.cmpi sgt, %n, %m : i32
  tt.return %a, %b, %c, %d : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, i1
}

// -----

// Lanes that are masked off read as 0 here: there nothing is filled without `other`.
// CHECK-LABEL: @masked_load
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK: tt.load %arg0, %arg1, %[[ZERO]]
tt.func @masked_load(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>) -> tensor<8xf32> {
  %x = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
  tt.return %x : tensor<8xf32>
}

// -----

// Functions that the compiler behind the reader does not take.
// CHECK-LABEL: @functions
// CHECK: arith.cmpf uno, %arg0, %arg0
// CHECK: math.ceil %arg0
// CHECK: math.floor %arg0
// CHECK: arith.select
// CHECK: tt.extern_elementwise %arg0 {libname = "", libpath = "", pure = true, symbol = "__hmf_roundf"}
// CHECK: arith.bitcast
// CHECK-NOT: math.copysign
// CHECK: math.tanh %arg0
tt.func @functions(%x: tensor<8xf32>) -> (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %a = math.isnan %x : tensor<8xf32>
  %b = math.trunc %x : tensor<8xf32>
  %c = math.round %x : tensor<8xf32>
  %d = math.copysign %x, %b : tensor<8xf32>
  %e = math.tanh %x : tensor<8xf32>
  tt.return %a, %b, %c, %d, %e : tensor<8xi1>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: @never_read
// CHECK: arith.constant dense<0> : tensor<8xi32>
// CHECK-NOT: ub.poison
tt.func @never_read() -> tensor<8xi32> {
  %x = ub.poison : tensor<8xi32>
  tt.return %x : tensor<8xi32>
}
