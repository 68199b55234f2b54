// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Column sums through a block pointer that a loop advances; stock Triton has none.
module {
  tt.func public @block_pointers(%in: !tt.ptr<f16>, %out: !tt.ptr<f32>, %m: i64, %n: i64, %steps: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i32
    %one = arith.constant 1 : i64
    %zero = arith.constant dense<0.0> : tensor<16x64xf16>
    %p0 = tt.make_tensor_ptr %in, [%m, %n], [%n, %one], [%c0, %c0] {order = array<i32: 1, 0>} : <tensor<16x64xf16>>
    %r:2 = scf.for %i = %c0 to %steps step %c1 iter_args(%p = %p0, %acc = %zero) -> (!tt.ptr<tensor<16x64xf16>>, tensor<16x64xf16>) : i32 {
      %x = tt.load %p {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<16x64xf16>>
      %s = arith.addf %acc, %x : tensor<16x64xf16>
      %q = tt.advance %p, [%c16, %c0] : <tensor<16x64xf16>>
      scf.yield %q, %s : !tt.ptr<tensor<16x64xf16>>, tensor<16x64xf16>
    }
    %wide = arith.extf %r#1 : tensor<16x64xf16> to tensor<16x64xf32>
    %sums = "tt.reduce"(%wide) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<16x64xf32>) -> tensor<64xf32>
    %o = tt.make_tensor_ptr %out, [%n], [%one], [%c0] {order = array<i32: 0>} : <tensor<64xf32>>
    tt.store %o, %sums {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<64xf32>>
    tt.return
  }
}
