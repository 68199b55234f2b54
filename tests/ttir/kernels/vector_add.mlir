// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// out[i] = x[i] + y[i], blocks of 1024; masked loads without `other`.
module attributes {ascend.launch_mode = "cv0:1", nereid.blocking = false} {
  tt.func public @vector_add(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
    %c1024 = arith.constant 1024 : i32
    %pid = tt.get_program_id x : i32 loc("vector_add.py":7:11)
    %start = arith.muli %pid, %c1024 : i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %starts = tt.splat %start : i32 -> tensor<1024xi32>
    %offsets = arith.addi %starts, %range : tensor<1024xi32>
    %bound = tt.splat %n : i32 -> tensor<1024xi32>
    %mask = arith.cmpi slt, %offsets, %bound : tensor<1024xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %offsets : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %a = tt.load %xp, %mask : tensor<1024x!tt.ptr<f32>> loc("vector_add.py":9:9)
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %offsets : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %b = tt.load %yp, %mask evictionPolicy = evict_first : tensor<1024x!tt.ptr<f32>>
    %sum = arith.addf %a, %b : tensor<1024xf32>
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %op = tt.addptr %os, %offsets : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    tt.store %op, %sum, %mask : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}
