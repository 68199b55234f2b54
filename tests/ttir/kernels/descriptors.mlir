// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tile moved through tensor descriptors.
module {
  tt.func public @descriptors(%in: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %m: i32, %n: i32) {
    %c1 = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %stride = arith.extsi %n : i32 to i64
    %from = tt.make_tensor_descriptor %in, [%m, %n], [%stride, %c1] : <f16>, <32x64xf16>
    %to = tt.make_tensor_descriptor %out, [%m, %n], [%stride, %c1] : <f16>, <32x64xf16>
    %x = tt.descriptor_load %from[%c0, %c0] evictionPolicy = evict_first : !tt.tensordesc<32x64xf16> -> tensor<32x64xf16>
    tt.descriptor_store %to[%c0, %c0], %x : !tt.tensordesc<32x64xf16>, tensor<32x64xf16>
    tt.return
  }
}
