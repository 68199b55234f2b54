// RUN: nereid-opt %s --nereid-fold-dot-accumulator | FileCheck %s

// CHECK-LABEL: tt.func @in_a_loop
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<4x4xf32>)
// CHECK: %[[D:.*]] = tt.dot %{{.*}}, %{{.*}}, %[[ACC]], inputPrecision = tf32 : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<4x4xf32>
// CHECK-NEXT: scf.yield %[[D]]
tt.func @in_a_loop(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %n: i32) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<4x4xf32>) : i32 {
    %d = tt.dot %a, %b, %zero, inputPrecision = tf32 : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<4x4xf32>
    %s = arith.addf %acc, %d : tensor<4x4xf32>
    scf.yield %s : tensor<4x4xf32>
  }
  tt.return %r : tensor<4x4xf32>
}

// The other order, integers, zeros as a splat, an accumulator computed later.
// CHECK-LABEL: tt.func @integers
// CHECK: %[[ACC:.*]] = arith.muli
// CHECK-NEXT: %[[D:.*]] = tt.dot %{{.*}}, %{{.*}}, %[[ACC]] : tensor<4x8xi8> * tensor<8x4xi8> -> tensor<4x4xi32>
// CHECK-NEXT: tt.return %[[D]]
tt.func @integers(%a: tensor<4x8xi8>, %b: tensor<8x4xi8>, %x: tensor<4x4xi32>) -> tensor<4x4xi32> {
  %c0 = arith.constant 0 : i32
  %zero = tt.splat %c0 : i32 -> tensor<4x4xi32>
  %d = tt.dot %a, %b, %zero : tensor<4x8xi8> * tensor<8x4xi8> -> tensor<4x4xi32>
  %acc = arith.muli %x, %x : tensor<4x4xi32>
  %s = arith.addi %d, %acc : tensor<4x4xi32>
  tt.return %s : tensor<4x4xi32>
}

// Not when the product is used again, has an accumulator, sums in fp16, or asks
// for partial sums of limited precision.
// CHECK-LABEL: tt.func @left_alone
// CHECK-COUNT-4: arith.addf
tt.func @left_alone(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %acc: tensor<4x4xf32>, %acc16: tensor<4x4xf16>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf16>, tensor<4x4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %zero16 = arith.constant dense<0.0> : tensor<4x4xf16>
  %d = tt.dot %a, %b, %zero : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<4x4xf32>
  %0 = arith.addf %acc, %d : tensor<4x4xf32>
  %e = tt.dot %a, %b, %acc : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<4x4xf32>
  %1 = arith.addf %acc, %e : tensor<4x4xf32>
  %f = tt.dot %a, %b, %zero16 : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<4x4xf16>
  %2 = arith.addf %acc16, %f : tensor<4x4xf16>
  %g = tt.dot %a, %b, %zero {maxNumImpreciseAcc = 32 : i32} : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<4x4xf32>
  %3 = arith.addf %acc, %g : tensor<4x4xf32>
  tt.return %0, %d, %1, %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf16>, tensor<4x4xf32>
}
