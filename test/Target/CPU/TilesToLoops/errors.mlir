// RUN: nereid-opt %s --nereid-rewrite-block-pointers --nereid-cpu-tiles-to-loops --split-input-file --verify-diagnostics

tt.func @assembly(%p: !tt.ptr<i32>, %x: i32) {
  %v = tt.splat %x : i32 -> tensor<8xi32>
  // expected-error @+1 {{inline assembly is written for another target; the CPU target cannot run it}}
  %y = tt.elementwise_inline_asm "nop" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %v : tensor<8xi32> -> tensor<8xi32>
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %pp = tt.addptr %ps, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  tt.store %pp, %y : tensor<8x!tt.ptr<i32>>
  tt.return
}

// -----

// expected-error @+1 {{takes a tile as an argument: inline it into its callers first}}
tt.func private @tile_argument(%x: tensor<8xf32>) {
  tt.return
}

// -----

// expected-error @+1 {{argument 1 is a '!tt.tensordesc<8x8xf32>'; pass the base pointer, sizes and strides, and make it in the kernel}}
tt.func @descriptor_argument(%i: i32, %d: !tt.tensordesc<8x8xf32>) {
  %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<8x8xf32> -> tensor<8x8xf32>
  tt.return
}
