// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s --split-input-file --verify-diagnostics --nereid-cpu-lower-runtime

tt.func public @tensors(%x: f32) {
  // expected-error @+1 {{'tt.splat' is not supported on the CPU}}
  %t = tt.splat %x : f32 -> tensor<8xf32>
  // expected-error @+1 {{'tt.reshape' is not supported on the CPU}}
  %r = tt.reshape %t : tensor<8xf32> -> tensor<2x4xf32>
  tt.return
}

// -----

// expected-error @+1 {{takes an argument of type '!tt.tensordesc<8x8xf32>', which kernels on the CPU cannot; pass a pointer, its shape and its strides}}
tt.func public @descriptor(%d: !tt.tensordesc<8x8xf32>) {
  tt.return
}

// -----

// expected-error @+1 {{is a kernel and must not return a value}}
tt.func public @returns(%x: i32) -> i32 {
  tt.return %x : i32
}
