// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is told of tiles: addresses as a base and strides, masks by dimension, and
// only what neither fits element by element. unittests/Runtime/AccessTest.cpp has
// the other side.
// RUN: nereid-opt %s --nereid-cpu-tiles-to-loops=cpu=x86-64-v3 --canonicalize | FileCheck %s

// Two strides, no loop at all; 1025 is a read of 4-byte elements.
// CHECK-LABEL: tt.func @matrix
// CHECK-NOT: scf.for
// CHECK: %[[HOW:.*]] = arith.constant 1025 : i32
// CHECK-NOT: scf.for
// CHECK: llvm.call @nrd_access(%{{.*}}, %{{.*}}, %[[HOW]], %{{.*}})
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func @matrix(%p: !tt.ptr<f32>, %stride: i32) {
  %rows = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %r = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %s = tt.splat %stride : i32 -> tensor<16x1xi32>
  %o = arith.muli %r, %s : tensor<16x1xi32>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
  %pr = tt.addptr %b, %o : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
  %q = tt.broadcast %pr : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
  %cols = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %c = tt.expand_dims %cols {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %cc = tt.broadcast %c : tensor<1x32xi32> -> tensor<16x32xi32>
  %qq = tt.addptr %q, %cc : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
  distributed.access read %qq : tensor<16x32x!tt.ptr<f32>>
  tt.return
}

// A mask of one dimension: as many bytes as that has. 2050 is a write of 8-byte elements.
// CHECK-LABEL: tt.func @row
// CHECK: %[[HOW:.*]] = arith.constant 2050 : i32
// CHECK: %[[B:.*]] = cpu.scratch
// CHECK: scf.for
// CHECK:   arith.cmpi slt
// CHECK:   llvm.store %{{.*}} : vector<{{.*}}xi8>
// CHECK: llvm.store %[[B]], %{{.*}}
// CHECK: llvm.call @nrd_access(%{{.*}}, %{{.*}}, %[[HOW]], %{{.*}})
tt.func @row(%p: !tt.ptr<i64>, %n: i32) {
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %b = tt.splat %p : !tt.ptr<i64> -> tensor<64x!tt.ptr<i64>>
  %q = tt.addptr %b, %range : tensor<64x!tt.ptr<i64>>, tensor<64xi32>
  %limit = tt.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %range, %limit : tensor<64xi32>
  distributed.access write %q, %mask : tensor<64x!tt.ptr<i64>>, tensor<64xi1>
  tt.return
}

// Addresses from memory: each of them.
// CHECK-LABEL: tt.func @gather
// CHECK: %[[B:.*]] = cpu.scratch
// CHECK: llvm.store %{{.*}} : vector<{{.*}}xi64>
// CHECK: llvm.call @nrd_access
tt.func @gather(%p: !tt.ptr<f32>, %from: !tt.ptr<i32>) {
  %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %froms = tt.splat %from : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %places = tt.addptr %froms, %range : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  %at = tt.load %places : tensor<32x!tt.ptr<i32>>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %q = tt.addptr %b, %at : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  distributed.access read %q : tensor<32x!tt.ptr<f32>>
  tt.return
}

// Each element of an atomic operation is told of around the operation.
// CHECK-LABEL: tt.func @atomics
// CHECK: scf.for
// CHECK:   llvm.call @nrd_atomic_begin
// CHECK-NEXT: llvm.atomicrmw add
// CHECK-NEXT: llvm.call @nrd_atomic_end
tt.func @atomics(%base: !tt.ptr<i32>, %one: i32) {
  %range = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %b = tt.splat %base : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %p = tt.addptr %b, %range : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %v = tt.splat %one : i32 -> tensor<8xi32>
  %0 = tt.atomic_rmw add, acq_rel, gpu, %p, %v {nereid.observed} : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>) -> tensor<8xi32>
  tt.return
}
