// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads whose elements do not lie side by side.
// RUN: nereid-opt %s --nereid-cpu-tiles-to-loops=cpu=x86-64-v4 --canonicalize --cse | FileCheck %s

// Every third element: three vectors that cover them, of which the last ends with the last element.
// CHECK-LABEL: tt.func @every_third(
// CHECK: scf.for
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<16xf32>
// CHECK: vector.shuffle
// CHECK: llvm.getelementptr %{{.*}}[30]
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 19, 22, 25, 28, 31]
// CHECK-NOT: gather
// CHECK: tt.return
tt.func @every_third(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %three = arith.constant dense<3> : tensor<1024xi32>
  %thirds = arith.muli %r, %three : tensor<1024xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %thirds : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %x = tt.load %pp : tensor<1024x!tt.ptr<f32>>
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tt.reduce.return %t : f32
  }) : (tensor<1024xf32>) -> f32
  tt.store %q, %s : !tt.ptr<f32>
  tt.return
}

// Elements whose numbers are read from memory: 16 numbers of 32 bits, gathered from one address.
// CHECK-LABEL: tt.func @by_number(
// CHECK: %[[N:.*]] = llvm.load {{.*}} -> vector<16xi32>
// CHECK: %[[STEPS:.*]] = arith.addi {{.*}} : vector<16xi32>
// CHECK: arith.cmpi eq, %[[N]], %[[STEPS]] : vector<16xi32>
// CHECK: } else {
// CHECK: %[[WIDE:.*]] = arith.extsi %[[N]] : vector<16xi32> to vector<16xi64>
// CHECK: %[[P:.*]] = llvm.getelementptr %{{.*}}[%[[WIDE]]] : (!llvm.ptr, vector<16xi64>) -> vector<16x!llvm.ptr>, f32
// CHECK: llvm.intr.masked.gather %[[P]]
tt.func @by_number(%p: !tt.ptr<f32>, %i: !tt.ptr<i32>, %q: !tt.ptr<f32>) {
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %is = tt.splat %i : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
  %ii = tt.addptr %is, %r : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
  %n = tt.load %ii : tensor<1024x!tt.ptr<i32>>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %n : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %x = tt.load %pp : tensor<1024x!tt.ptr<f32>>
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tt.reduce.return %t : f32
  }) : (tensor<1024xf32>) -> f32
  tt.store %q, %s : !tt.ptr<f32>
  tt.return
}
