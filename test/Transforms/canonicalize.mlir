// RUN: nereid-opt %s --nereid-canonicalize | FileCheck %s
// RUN: nereid-opt %s --nereid-canonicalize -o %t && nereid-opt %s --canonicalize | diff %t -

// Operations fold within loops, and loops fold after what is in them.
// CHECK-LABEL: tt.func @loops
// CHECK-NEXT: %[[N:.*]] = arith.constant dense<4> : tensor<8xi32>
// CHECK: scf.for
// CHECK-NEXT: %[[Y:.*]] = arith.addi %{{.*}}, %[[N]]
// CHECK-NEXT: tt.store %{{.*}}, %[[Y]]
// CHECK-NEXT: }
// CHECK-NEXT: tt.return
tt.func @loops(%p: tensor<8x!tt.ptr<i32>>, %x: tensor<8xi32>, %n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0> : tensor<8xi32>
  %two = arith.constant dense<2> : tensor<8xi32>
  scf.for %i = %c0 to %n step %c1 {
    %four = arith.addi %two, %two : tensor<8xi32>
    %same = arith.addi %x, %zero : tensor<8xi32>
    %y = arith.addi %four, %same : tensor<8xi32>
    tt.store %p, %y : tensor<8x!tt.ptr<i32>>
    scf.for %j = %c0 to %c0 step %c1 {
      tt.store %p, %same : tensor<8x!tt.ptr<i32>>
    }
  }
  tt.return
}
