// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s --nereid-cpu-expand-floats | FileCheck %s

// Arithmetic on bf16 is done in fp32; conversions are integer arithmetic.

// CHECK-LABEL: llvm.func @bf16
// CHECK-NOT: arith.extf
// CHECK-NOT: arith.truncf
// CHECK: arith.addf %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK: arith.shrui
// CHECK: arith.trunci %{{.*}} : vector<16xi32> to vector<16xi16>
// CHECK: llvm.return
llvm.func @bf16(%x: vector<16xbf16>, %y: vector<16xbf16>) -> vector<16xbf16> {
  %s = arith.addf %x, %y : vector<16xbf16>
  llvm.return %s : vector<16xbf16>
}

// The CPU converts fp16 itself.

// CHECK-LABEL: llvm.func @f16
// CHECK: arith.truncf %{{.*}} : f32 to f16
llvm.func @f16(%x: f32) -> f16 {
  %h = arith.truncf %x : f32 to f16
  llvm.return %h : f16
}

// CHECK-LABEL: llvm.func @towards_zero
// CHECK-NOT: arith.truncf
// CHECK: llvm.return
llvm.func @towards_zero(%x: f32) -> f16 {
  %h = arith.truncf %x toward_zero : f32 to f16
  llvm.return %h : f16
}

// CHECK-LABEL: llvm.func @functions
// CHECK-NOT: math.exp
// CHECK-NOT: math.log
// CHECK: math.sin
// CHECK: llvm.return
llvm.func @functions(%x: vector<16xf32>) -> vector<16xf32> {
  %a = math.exp %x : vector<16xf32>
  %b = math.exp2 %a : vector<16xf32>
  %c = math.log %b : vector<16xf32>
  %d = math.sin %c : vector<16xf32>
  llvm.return %d : vector<16xf32>
}

// fp64 keeps LLVM's functions; what LLVM has none for is called.

// CHECK-LABEL: llvm.func @double
// CHECK: math.exp
// CHECK: llvm.call @expm1(%{{.*}}) : (f64) -> f64
// CHECK: llvm.call @cbrt(%{{.*}}) : (f64) -> f64
llvm.func @double(%x: f64) -> f64 {
  %a = math.exp %x : f64
  %b = math.expm1 %a : f64
  %c = math.cbrt %b : f64
  llvm.return %c : f64
}
