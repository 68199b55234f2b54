// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s --split-input-file --nereid-cpu-lower-runtime | FileCheck %s

// The kernel ABI: one 8-byte slot for each argument, read as its type.

// CHECK: module attributes {
// CHECK-SAME: cpu.arguments = ["*fp16", "i1", "i32", "fp32", "bf16", "fp64", "fp8e5"]
// CHECK-SAME: cpu.blocking = false
// CHECK-SAME: cpu.distributed = false
// CHECK-SAME: cpu.symmetric_arguments = array<i32: 0>
// CHECK-LABEL: llvm.func @arguments(
// CHECK-SAME: %[[PROGRAM:.*]]: !llvm.ptr, %[[SLOTS:.*]]: !llvm.ptr)
// CHECK-DAG: %[[P0:.*]] = llvm.getelementptr %[[SLOTS]][0]
// CHECK-DAG: llvm.load %[[P0]] invariant {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
// CHECK-DAG: %[[P1:.*]] = llvm.getelementptr %[[SLOTS]][8]
// CHECK-DAG: %[[BYTE:.*]] = llvm.load %[[P1]] invariant {alignment = 8 : i64} : !llvm.ptr -> i8
// CHECK-DAG: arith.cmpi ne, %[[BYTE]], %{{.*}} : i8
// CHECK-DAG: %[[P2:.*]] = llvm.getelementptr %[[SLOTS]][16]
// CHECK-DAG: llvm.load %[[P2]] invariant {alignment = 8 : i64} : !llvm.ptr -> i32
// CHECK-DAG: %[[P6:.*]] = llvm.getelementptr %[[SLOTS]][48]
// CHECK-DAG: %[[SMALL:.*]] = llvm.load %[[P6]] invariant {alignment = 8 : i64} : !llvm.ptr -> i8
// CHECK-DAG: arith.bitcast %[[SMALL]] : i8 to f8E5M2
// CHECK: llvm.return
tt.func public @arguments(%p: !tt.ptr<f16> {nereid.symmetric}, %a: i1, %b: i32, %c: f32, %d: bf16, %e: f64, %f: f8E5M2) {
  tt.return
}

// -----

// Device functions get the program first and return several values in a struct.

// CHECK-LABEL: llvm.func internal @two(
// CHECK-SAME: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i32) -> !llvm.struct<(i32, ptr)>
tt.func private @two(%p: !tt.ptr<f32>, %i: i32) -> (i32, !tt.ptr<f32>) {
  %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
  tt.return %i, %q : i32, !tt.ptr<f32>
}

// CHECK-LABEL: llvm.func @kernel(
// CHECK-SAME: %[[PROGRAM:.*]]: !llvm.ptr,
// CHECK: %[[R:.*]] = llvm.call @two(%[[PROGRAM]], %{{.*}}, %{{.*}})
// CHECK: llvm.extractvalue %[[R]][0]
// CHECK: llvm.extractvalue %[[R]][1]
tt.func public @kernel(%p: !tt.ptr<f32>, %x: f32) {
  %c1 = arith.constant 1 : i32
  %r:2 = tt.call @two(%p, %c1) : (!tt.ptr<f32>, i32) -> (i32, !tt.ptr<f32>)
  tt.store %r#1, %x : !tt.ptr<f32>
  tt.return
}

// -----

// Pointers in loops, branches and blocks become !llvm.ptr.

// CHECK-LABEL: llvm.func @flow(
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (!llvm.ptr)
// CHECK: cf.cond_br %{{.*}}, ^bb1(%{{.*}} : !llvm.ptr), ^bb2
// CHECK: ^bb1(%{{.*}}: !llvm.ptr):
// CHECK-NOT: !tt.ptr
tt.func public @flow(%p: !tt.ptr<f32>, %n: i32, %c: i1, %x: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%r = %p) -> (!tt.ptr<f32>) : i32 {
    %s = tt.addptr %r, %c1 : !tt.ptr<f32>, i32
    scf.yield %s : !tt.ptr<f32>
  }
  cf.cond_br %c, ^store(%q : !tt.ptr<f32>), ^end
^store(%t: !tt.ptr<f32>):
  tt.store %t, %x : !tt.ptr<f32>
  cf.br ^end
^end:
  tt.return
}
