// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a tile operation that needs loops of its own becomes. Stores are in
// elementwise.mlir, reductions in reduce.mlir, dots in dot.mlir.
// RUN: nereid-opt %s --nereid-cpu-tiles-to-loops=cpu=x86-64-v3 --canonicalize | FileCheck %s

// A tile of one element is that element.
// CHECK-LABEL: tt.func @unsplat
// CHECK-NOT: scf.for
// CHECK: %[[S:.*]] = arith.addf %[[V:.*]], %[[V]] : f32
// CHECK: tt.store %{{.*}}, %[[S]] : !tt.ptr<f32>
tt.func @unsplat(%p: !tt.ptr<f32>, %v: f32) {
  %x = tt.splat %v : f32 -> tensor<1xf32>
  %y = arith.addf %x, %x : tensor<1xf32>
  %s = tt.unsplat %y : tensor<1xf32>
  tt.store %p, %s : !tt.ptr<f32>
  tt.return
}

// Elements of the two halves take turns.
// CHECK-LABEL: tt.func @join
// CHECK: %[[B:.*]] = cpu.scratch
// CHECK: %[[J:.*]] = vector.interleave
// CHECK: llvm.store %[[J]], %[[B]] {{.*}} : vector<16xf32>
tt.func @join(%o: !tt.ptr<f32>, %v: f32, %w: f32) {
  %a = tt.splat %v : f32 -> tensor<8xf32>
  %b = tt.splat %w : f32 -> tensor<8xf32>
  %j = tt.join %a, %b : tensor<8xf32> -> tensor<8x2xf32>
  %c = tt.reshape %j : tensor<8x2xf32> -> tensor<16xf32>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %s = tt.splat %o : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %ss = tt.addptr %s, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  tt.store %ss, %c : tensor<16x!tt.ptr<f32>>
  tt.return
}

// The second half lies behind the first.
// CHECK-LABEL: tt.func @cat
// CHECK-SAME: ptr<f32>, %[[V:[^:]*]]: f32, %[[W:[^:]*]]: f32
// CHECK: %[[B:.*]] = cpu.scratch
// CHECK: %[[X:.*]] = vector.broadcast %[[V]]
// CHECK: llvm.store %[[X]], %[[B]]
// CHECK: %[[Y:.*]] = vector.broadcast %[[W]]
// CHECK: %[[E:.*]] = llvm.getelementptr %[[B]][8]
// CHECK: llvm.store %[[Y]], %[[E]]
tt.func @cat(%o: !tt.ptr<f32>, %v: f32, %w: f32) {
  %a = tt.splat %v : f32 -> tensor<8xf32>
  %b = tt.splat %w : f32 -> tensor<8xf32>
  %c = tt.cat %a, %b : tensor<8xf32> -> tensor<16xf32>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %s = tt.splat %o : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %ss = tt.addptr %s, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  tt.store %ss, %c : tensor<16x!tt.ptr<f32>>
  tt.return
}

// The source lies in a buffer, from which vectors are gathered.
// CHECK-LABEL: tt.func @gather
// CHECK: dense<[28, 24, 20, 16, 12, 8, 4, 0]>
// CHECK: %[[T:.*]] = cpu.scratch
// CHECK: %[[S:.*]] = cpu.scratch
// CHECK: llvm.store %{{.*}}, %[[S]]
// CHECK: llvm.ptrtoint %[[S]]
// CHECK: %[[G:.*]] = llvm.intr.masked.gather
// CHECK: llvm.store %[[G]], %[[T]]
tt.func @gather(%o: !tt.ptr<f32>, %v: f32) {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %s = tt.splat %o : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %ss = tt.addptr %s, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %x = tt.load %ss : tensor<8x!tt.ptr<f32>>
  %seven = arith.constant dense<7> : tensor<8xi32>
  %i = arith.subi %seven, %r : tensor<8xi32>
  %g = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>
  tt.store %ss, %g : tensor<8x!tt.ptr<f32>>
  tt.return
}

// One element after the other, as equal ones meet in one bin; what lies outside of
// the bins or is masked counts nowhere.
// CHECK-LABEL: tt.func @histogram
// CHECK-SAME: ptr<i32>, %[[M:[^:]*]]: i1
// CHECK: %[[B:.*]] = cpu.scratch
// CHECK: llvm.store %{{.*}}, %[[B]] {{.*}} : vector<8xi32>
// CHECK: scf.for
// CHECK: llvm.load
// CHECK: %[[X:.*]] = arith.extsi %{{.*}} : i32 to i64
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[X]], %{{.*}} : i64
// CHECK: %[[C:.*]] = arith.andi %[[IN]], %[[M]] : i1
// CHECK: scf.if %[[C]]
// CHECK: %[[P:.*]] = llvm.getelementptr %[[B]][%[[X]]]
// CHECK: %[[OLD:.*]] = llvm.load %[[P]]
// CHECK: %[[NEW:.*]] = arith.addi %[[OLD]], %{{.*}} : i32
// CHECK: llvm.store %[[NEW]], %[[P]]
tt.func @histogram(%o: !tt.ptr<i32>, %m: i1) {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %s = tt.splat %o : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %ss = tt.addptr %s, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %x = tt.load %ss : tensor<8x!tt.ptr<i32>>
  %mask = tt.splat %m : i1 -> tensor<8xi1>
  %h = tt.histogram %x, %mask : tensor<8xi32> -> tensor<8xi32>
  tt.store %ss, %h : tensor<8x!tt.ptr<i32>>
  tt.return
}

// In the order of the lanes; nobody asks for the old values, so no buffer holds them.
// CHECK-LABEL: tt.func @atomic_rmw
// CHECK-SAME: ptr<i32>, %[[M:[^:]*]]: i1
// CHECK-NOT: cpu.scratch
// CHECK: scf.for
// CHECK: scf.if %[[M]]
// CHECK: llvm.atomicrmw add %{{.*}}, %{{.*}} acq_rel
tt.func @atomic_rmw(%o: !tt.ptr<i32>, %m: i1) {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %s = tt.splat %o : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %ss = tt.addptr %s, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %mask = tt.splat %m : i1 -> tensor<8xi1>
  %h = tt.atomic_rmw add, acq_rel, gpu, %ss, %r, %mask : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> tensor<8xi32>
  tt.return
}

// CHECK-LABEL: tt.func @atomic_cas
// CHECK: %[[B:.*]] = cpu.scratch
// CHECK: scf.for
// CHECK: %[[R:.*]] = llvm.cmpxchg %{{.*}}, %{{.*}}, %{{.*}} acq_rel acquire
// CHECK: %[[OLD:.*]] = llvm.extractvalue %[[R]][0]
// CHECK: %[[P:.*]] = llvm.getelementptr %[[B]]
// CHECK: llvm.store %[[OLD]], %[[P]]
tt.func @atomic_cas(%o: !tt.ptr<i32>) {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %s = tt.splat %o : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %ss = tt.addptr %s, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %h = tt.atomic_cas acq_rel, gpu, %ss, %r, %r : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  tt.store %ss, %h : tensor<8x!tt.ptr<i32>>
  tt.return
}

// The region runs once for each pack.
// CHECK-LABEL: tt.func @map_elementwise
// CHECK: %[[B:.*]] = cpu.scratch
// CHECK: scf.for %{{.*}} = %{{.*}} to %c4_i64 step %c1_i64
// CHECK: %[[SUM:.*]] = arith.addi %[[X:.*]], %[[Y:.*]] : i32
// CHECK: %[[DIFFERENCE:.*]] = arith.subi %[[X]], %[[Y]] : i32
// CHECK: llvm.store %[[SUM]]
// CHECK: llvm.store %[[DIFFERENCE]]
tt.func @map_elementwise(%o: !tt.ptr<i32>) {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %s = tt.splat %o : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %ss = tt.addptr %s, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %h = "tt.map_elementwise"(%r) <{pack = 2 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    %d = arith.subi %a, %b : i32
    tt.map_elementwise.return %c, %d : i32, i32
  }) : (tensor<8xi32>) -> tensor<8xi32>
  tt.store %ss, %h : tensor<8x!tt.ptr<i32>>
  tt.return
}

// A call with effects runs once for each element, in order.
// CHECK-LABEL: tt.func @extern_elementwise
// CHECK: scf.for %[[I:.*]] = %c0_i64 to %c8_i64 step %c1_i64
// CHECK: %[[Y:.*]] = llvm.call @nrd_math_lgamma
// CHECK: %[[N:.*]] = arith.truncf %[[Y]]
// CHECK: llvm.store %[[N]]
tt.func @extern_elementwise(%o: !tt.ptr<f32>) {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %s = tt.splat %o : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %ss = tt.addptr %s, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %x = tt.load %ss : tensor<8x!tt.ptr<f32>>
  %y = tt.extern_elementwise %x {libname = "", libpath = "", pure = false, symbol = "__nv_lgammaf"} : (tensor<8xf32>) -> tensor<8xf32>
  tt.store %ss, %y : tensor<8x!tt.ptr<f32>>
  tt.return
}

// All elements are printed by one call; an assertion is one about all of them.
// CHECK-LABEL: tt.func @print_and_assert
// CHECK: %[[B:.*]] = cpu.scratch
// CHECK: llvm.store %{{.*}}, %[[B]]
// CHECK: llvm.call @nrd_print(%{{.*}}, %{{.*}}, %[[B]], %c8_i64
// CHECK: %[[ALL:.*]] = vector.reduction <and>
// CHECK: tt.assert %[[ALL]], "too large" : i1
tt.func @print_and_assert() {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %r : tensor<8xi32>
  %five = arith.constant dense<5> : tensor<8xi32>
  %small = arith.cmpi slt, %r, %five : tensor<8xi32>
  tt.assert %small, "too large" : tensor<8xi1>
  tt.return
}

// From the last element to the first: each lane with those behind it, in three steps.
// CHECK-LABEL: tt.func @scan(
// CHECK: %[[X:.*]] = llvm.load {{.*}} -> vector<8xi32>
// CHECK: %[[ONE:.*]] = vector.shuffle %[[X]], %[[X]] [1, 2, 3, 4, 5, 6, 7, 7]
// CHECK: %[[SUM:.*]] = arith.addi %[[ONE]], %[[X]]
// CHECK: arith.select %{{.*}}, %[[SUM]], %[[X]]
// CHECK: vector.shuffle %{{.*}} [2, 3, 4, 5, 6, 7, 6, 7]
// CHECK: vector.shuffle %{{.*}} [4, 5, 6, 7, 4, 5, 6, 7]
// CHECK-NOT: scf.for
tt.func @scan(%o: !tt.ptr<i32>) {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %s = tt.splat %o : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %ss = tt.addptr %s, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %x = tt.load %ss : tensor<8x!tt.ptr<i32>>
  %h = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tt.scan.return %c : i32
  }) : (tensor<8xi32>) -> tensor<8xi32>
  tt.store %ss, %h : tensor<8x!tt.ptr<i32>>
  tt.return
}
