// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The largest element of a block and its place; atomics, a barrier, a spin loop,
// volatile and hinted accesses, a narrow float, a scan, a print.
module {
  tt.func public @reduction(%in: !tt.ptr<f32>, %value: !tt.ptr<f32>, %place: !tt.ptr<i32>, %lock: !tt.ptr<i32>,
                            %small: !tt.ptr<f8E5M2>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %bases = tt.splat %in : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %ptrs = tt.addptr %bases, %range : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    %x = tt.load %ptrs evictionPolicy = evict_last : tensor<256x!tt.ptr<f32>>
    %best:2 = "tt.reduce"(%x, %range) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
      %gt = arith.cmpf ogt, %a, %b : f32
      %v = arith.select %gt, %a, %b : f32
      %i = arith.select %gt, %ai, %bi : i32
      tt.reduce.return %v, %i : f32, i32
    }) : (tensor<256xf32>, tensor<256xi32>) -> (f32, i32)
    scf.while : () -> () {
      %old = tt.atomic_cas acquire, gpu, %lock, %c0, %c1 : (!tt.ptr<i32>, i32, i32) -> i32
      %taken = arith.cmpi ne, %old, %c0 : i32
      scf.condition(%taken)
    } do {
      distributed.yield
      scf.yield
    }
    %current = tt.load %value {isVolatile = true} : !tt.ptr<f32>
    %larger = arith.cmpf ogt, %best#0, %current : f32
    scf.if %larger {
      tt.store %value, %best#0 cacheModifier = cg : !tt.ptr<f32>
      tt.store %place, %best#1 : !tt.ptr<i32>
      tt.print " place: " {hex = false, isSigned = array<i32: 1>} : %best#1 : i32
    }
    tt.debug_barrier
    %unlock = tt.atomic_rmw exch, release, gpu, %lock, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %sums = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.scan.return %s : f32
    }) : (tensor<256xf32>) -> tensor<256xf32>
    %narrow = tt.fp_to_fp %sums : tensor<256xf32> -> tensor<256xf8E5M2>
    %smalls = tt.splat %small : !tt.ptr<f8E5M2> -> tensor<256x!tt.ptr<f8E5M2>>
    %sptrs = tt.addptr %smalls, %range : tensor<256x!tt.ptr<f8E5M2>>, tensor<256xi32>
    tt.store %sptrs, %narrow : tensor<256x!tt.ptr<f8E5M2>>
    tt.return
  }
}
