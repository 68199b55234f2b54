// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax of each row of up to 512 columns; device functions that are to be inlined.
module {
  tt.func public @softmax(%out: !tt.ptr<f32>, %in: !tt.ptr<f32>, %stride: i32, %columns: i32) {
    %row = tt.get_program_id x : i32
    %offset = arith.muli %row, %stride : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
    %bound = tt.splat %columns : i32 -> tensor<512xi32>
    %mask = arith.cmpi slt, %range, %bound : tensor<512xi32>
    %base = tt.addptr %in, %offset : !tt.ptr<f32>, i32
    %bases = tt.splat %base : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %ptrs = tt.addptr %bases, %range : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %lowest = arith.constant dense<0xFF800000> : tensor<512xf32>
    %x = tt.load %ptrs, %mask, %lowest : tensor<512x!tt.ptr<f32>>
    %max = tt.call @row_max(%x) : (tensor<512xf32>) -> f32
    %maxs = tt.splat %max : f32 -> tensor<512xf32>
    %shifted = arith.subf %x, %maxs : tensor<512xf32>
    %e = math.exp %shifted : tensor<512xf32>
    %sum = "tt.reduce"(%e) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<512xf32>) -> f32
    %sums = tt.splat %sum : f32 -> tensor<512xf32>
    %y = arith.divf %e, %sums : tensor<512xf32>
    %obase = tt.addptr %out, %offset : !tt.ptr<f32>, i32
    %obases = tt.splat %obase : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %optrs = tt.addptr %obases, %range : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    tt.store %optrs, %y, %mask : tensor<512x!tt.ptr<f32>>
    tt.return
  }
  tt.func private @row_max(%x: tensor<512xf32>) -> f32 {
    %max = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %m = tt.call @larger(%a, %b) : (f32, f32) -> f32
      tt.reduce.return %m : f32
    }) : (tensor<512xf32>) -> f32
    tt.return %max : f32
  }
  tt.func private @larger(%a: f32, %b: f32) -> f32 {
    %m = arith.maxnumf %a, %b : f32
    tt.return %m : f32
  }
}
