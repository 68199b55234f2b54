// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lowering of tiles says of the speed of its code, when it is asked.
// RUN: nereid-opt %s --nereid-cpu-tiles-to-loops=cpu=x86-64-v3 --remarks-filter=speed -o /dev/null 2>&1 | FileCheck %s
// RUN: nereid-opt %s --nereid-cpu-tiles-to-loops=cpu=x86-64-v3 -o /dev/null 2>&1 | FileCheck %s --check-prefix=QUIET --allow-empty
// QUIET-NOT: remark

// The addresses come from memory: nothing is known about neighbours, and what the store writes may
// be among them. Remarks come in the order of decisions, not of lines.
// CHECK-DAG: [[@LINE+8]]:8: remark: {{.*}}load: vectors of 8 elements, read where they lie
// CHECK-DAG: [[@LINE+10]]:8: remark: {{.*}}load: goes through scratch memory, as its use may write what it reads
// CHECK-DAG: [[@LINE+9]]:8: remark: {{.*}}load: element by element unless a vector's addresses turn out to be consecutive{{.*}}addresses made of one base, tl.arange and steps are vectors
// CHECK-DAG: [[@LINE+13]]:3: remark: {{.*}}store: element by element, as neighbouring elements lie 2 apart{{.*}}data of which neighbouring elements lie side by side
tt.func @gather(%p: !tt.ptr<f32>, %q: !tt.ptr<i32>, %o: !tt.ptr<f32>) {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %qs = tt.splat %q : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %qq = tt.addptr %qs, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %i = tt.load %qq : tensor<8x!tt.ptr<i32>>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %x = tt.load %pp : tensor<8x!tt.ptr<f32>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %c2 = arith.constant dense<2> : tensor<8xi32>
  %r2 = arith.muli %r, %c2 : tensor<8xi32>
  %oo = tt.addptr %os, %r2 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  tt.store %oo, %x : tensor<8x!tt.ptr<f32>>
  tt.return
}

// A product in a loop, and what a loop carries.
// CHECK-DAG: [[@LINE+11]]:8: remark: {{.*}}loop: carries 1 tiles of 4096 bytes together from round to round in scratch memory; products update 1 of them in place
// CHECK-DAG: [[@LINE+11]]:10: remark: {{.*}}dot: 32x32x32; A {{.*}}; B {{.*}}; sums in scratch memory between rounds of the loop{{.*}}a larger tile uses each number that is read more often
tt.func @product(%p: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %x = arith.constant dense<1.0> : tensor<32x32xf32>
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %s = tt.reshape %r : tensor<1024xi32> -> tensor<32x32xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %s : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32>) : i32 {
    %d = tt.dot %x, %x, %acc : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  }
  tt.store %pp, %a : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
