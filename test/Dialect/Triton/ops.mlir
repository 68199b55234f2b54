// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// RUN: nereid-opt %s --mlir-print-op-generic | nereid-opt | FileCheck %s

// CHECK-LABEL: tt.func public @functions(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false}
tt.func public @functions(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
  // CHECK: tt.get_program_id x : i32
  %pid = tt.get_program_id x : i32
  // CHECK: tt.get_program_id z : i32
  %pz = tt.get_program_id z : i32
  // CHECK: tt.get_num_programs y : i32
  %np = tt.get_num_programs y : i32
  // CHECK: tt.call @helper__i32(%{{.*}}) : (i32) -> i32
  %r = tt.call @helper__i32(%pid) : (i32) -> i32
  // CHECK: tt.return
  tt.return
}

// CHECK: tt.func private @helper__i32(%arg0: i32) -> i32 attributes {noinline = false}
tt.func private @helper__i32(%a: i32) -> i32 attributes {noinline = false} {
  // CHECK: tt.return %arg0 : i32
  tt.return %a : i32
}

// CHECK-LABEL: tt.func @types
// CHECK-SAME: !tt.ptr<f32>, !tt.ptr<f32, 3>, !tt.ptr<tensor<128x32xf16>>, tensor<256x!tt.ptr<f32>>
// CHECK-SAME: !tt.tensordesc<128x64xf16>, !tt.tensordesc<128x64xf16>
// CHECK-SAME: tensor<20xi32>, tensor<f32>, tensor<4xf8E4M3FN>, f8E5M2
tt.func @types(!tt.ptr<f32, 1>, !tt.ptr<f32, 3>, !tt.ptr<tensor<128x32xf16>>, tensor<256x!tt.ptr<f32>>,
               !tt.tensordesc<128x64xf16>, !tt.tensordesc<tensor<128x64xf16>>,
               tensor<20xi32>, tensor<f32>, tensor<4xf8E4M3FN>, f8E5M2)

// CHECK-LABEL: tt.func @creation_and_shape
tt.func @creation_and_shape(%s: f32, %p: !tt.ptr<f32>, %m: tensor<4x8xf16>) {
  // CHECK: tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  // CHECK: tt.splat %{{.*}} : f32 -> tensor<8xf32>
  %1 = tt.splat %s : f32 -> tensor<8xf32>
  // CHECK: tt.splat %{{.*}} : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %2 = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %3 = tt.splat %s : f32 -> tensor<1x1xf32>
  // CHECK: tt.unsplat %{{.*}} : tensor<1x1xf32>
  %4 = tt.unsplat %3 : tensor<1x1xf32>
  // CHECK: tt.expand_dims %{{.*}} {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %5 = tt.expand_dims %0 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  // CHECK: tt.broadcast %{{.*}} : tensor<8x1xi32> -> tensor<8x16xi32>
  %6 = tt.broadcast %5 : tensor<8x1xi32> -> tensor<8x16xi32>
  // CHECK: tt.reshape %{{.*}} allow_reorder efficient_layout : tensor<4x8xf16> -> tensor<32xf16>
  %7 = tt.reshape %m allow_reorder efficient_layout : tensor<4x8xf16> -> tensor<32xf16>
  // CHECK: tt.reshape %{{.*}} : tensor<32xf16> -> tensor<2x16xf16>
  %8 = tt.reshape %7 : tensor<32xf16> -> tensor<2x16xf16>
  // CHECK: tt.trans %{{.*}} {order = array<i32: 1, 0>} : tensor<4x8xf16> -> tensor<8x4xf16>
  %9 = tt.trans %m {order = array<i32: 1, 0>} : tensor<4x8xf16> -> tensor<8x4xf16>
  // CHECK: tt.join %{{.*}}, %{{.*}} : tensor<8xf32> -> tensor<8x2xf32>
  %10 = tt.join %1, %1 : tensor<8xf32> -> tensor<8x2xf32>
  // CHECK: tt.split %{{.*}} : tensor<8x2xf32> -> tensor<8xf32>
  %11, %12 = tt.split %10 : tensor<8x2xf32> -> tensor<8xf32>
  // CHECK: tt.cat %{{.*}}, %{{.*}} : tensor<8xf32> -> tensor<16xf32>
  %13 = tt.cat %11, %12 : tensor<8xf32> -> tensor<16xf32>
  tt.return
}

// CHECK-LABEL: tt.func @pointers_and_casts
tt.func @pointers_and_casts(%p: tensor<8x!tt.ptr<f32>>, %o: tensor<8xi32>, %q: !tt.ptr<i8>, %n: i64, %x: f32) {
  // CHECK: tt.addptr %{{.*}}, %{{.*}} : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %0 = tt.addptr %p, %o : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // CHECK: tt.addptr %{{.*}}, %{{.*}} : !tt.ptr<i8>, i64
  %1 = tt.addptr %q, %n : !tt.ptr<i8>, i64
  // CHECK: tt.int_to_ptr %{{.*}} : i64 -> !tt.ptr<f32>
  %2 = tt.int_to_ptr %n : i64 -> !tt.ptr<f32>
  // CHECK: tt.ptr_to_int %{{.*}} : tensor<8x!tt.ptr<f32>> -> tensor<8xi64>
  %3 = tt.ptr_to_int %p : tensor<8x!tt.ptr<f32>> -> tensor<8xi64>
  // CHECK: tt.bitcast %{{.*}} : f32 -> i32
  %4 = tt.bitcast %x : f32 -> i32
  // CHECK: tt.bitcast %{{.*}} : !tt.ptr<i8> -> !tt.ptr<f32>
  %5 = tt.bitcast %q : !tt.ptr<i8> -> !tt.ptr<f32>
  // CHECK: tt.fp_to_fp %{{.*}}, rounding = rtne : f32 -> f16
  %6 = tt.fp_to_fp %x, rounding = rtne : f32 -> f16
  // CHECK: tt.fp_to_fp %{{.*}} : f32 -> f8E5M2
  %7 = tt.fp_to_fp %x : f32 -> f8E5M2
  tt.return
}

// CHECK-LABEL: tt.func @arithmetic
tt.func @arithmetic(%x: tensor<8xf32>, %s: f32, %i: tensor<8xi32>) {
  // CHECK: tt.clampf %{{.*}}, %{{.*}}, %{{.*}}, propagateNan = all : f32
  %0 = tt.clampf %s, %s, %s, propagateNan = all : f32
  // CHECK: tt.clampf %{{.*}}, %{{.*}}, %{{.*}}, propagateNan = none : tensor<8xf32>
  %1 = tt.clampf %x, %x, %x, propagateNan = none : tensor<8xf32>
  // CHECK: tt.precise_sqrt %{{.*}} : tensor<8xf32>
  %2 = tt.precise_sqrt %x : tensor<8xf32>
  // CHECK: tt.precise_divf %{{.*}}, %{{.*}} : tensor<8xf32>
  %3 = tt.precise_divf %x, %x : tensor<8xf32>
  // CHECK: tt.mulhiui %{{.*}}, %{{.*}} : tensor<8xi32>
  %4 = tt.mulhiui %i, %i : tensor<8xi32>
  // CHECK: tt.extern_elementwise %{{.*}} {libname = "", libpath = "", pure = true, symbol = "f"} : (tensor<8xf32>) -> tensor<8xf32>
  %5 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "f"} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: tt.elementwise_inline_asm "nop" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %{{.*}} : tensor<8xi32> -> tensor<8xi32>
  %6 = tt.elementwise_inline_asm "nop" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %i : tensor<8xi32> -> tensor<8xi32>
  tt.return
}

// CHECK-LABEL: tt.func @loads_and_stores
tt.func @loads_and_stores(%p: !tt.ptr<f32>, %pp: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %o: tensor<8xf32>, %x: f32,
                          %b: !tt.ptr<tensor<8x8xf32>>, %t: tensor<8x8xf32>) {
  // CHECK: tt.load %{{[^,]*}} : !tt.ptr<f32>
  %0 = tt.load %p : !tt.ptr<f32>
  // CHECK: tt.load %{{.*}}, %{{.*}} : tensor<8x!tt.ptr<f32>>
  %1 = tt.load %pp, %m : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} cacheModifier = cg evictionPolicy = evict_first {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  %2 = tt.load %pp, %m, %o cacheModifier = cg evictionPolicy = evict_first {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  // The order of the hints is free, and newer text has them in one attribute.
  // CHECK: tt.load %{{.*}} cacheModifier = ca evictionPolicy = evict_last : !tt.ptr<f32>
  %3 = tt.load %p evictionPolicy = evict_last cacheModifier = ca : !tt.ptr<f32>
  // CHECK: tt.load %{{.*}} cacheModifier = cv : !tt.ptr<f32>
  %4 = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = cv, eviction_policy = evict_normal>} : !tt.ptr<f32>
  // CHECK: tt.load %{{.*}} {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<8x8xf32>>
  %5 = tt.load %b {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<8x8xf32>>
  // CHECK: tt.store %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x!tt.ptr<f32>>
  tt.store %pp, %o, %m : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.store %{{.*}}, %{{.*}} cacheModifier = cg : !tt.ptr<f32>
  tt.store %p, %x cacheModifier = cg : !tt.ptr<f32>
  // CHECK: tt.store %{{.*}}, %{{.*}} evictionPolicy = evict_last : !tt.ptr<f32>
  tt.store %p, %x {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_last>} : !tt.ptr<f32>
  // CHECK: tt.store %{{.*}}, %{{.*}} {ignore_cta} : !tt.ptr<f32>
  tt.store %p, %x {ignore_cta} : !tt.ptr<f32>
  // CHECK: tt.store %{{.*}}, %{{.*}} {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<8x8xf32>>
  tt.store %b, %t {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<8x8xf32>>
  tt.return
}

// CHECK-LABEL: tt.func @atomics
tt.func @atomics(%p: !tt.ptr<i64>, %pp: tensor<8x!tt.ptr<f32>>, %x: tensor<8xf32>, %m: tensor<8xi1>, %v: i64, %q: !tt.ptr<i32>, %e: i32) {
  // CHECK: tt.atomic_rmw fadd, acq_rel, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %pp, %x, %m : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
  // CHECK: tt.atomic_rmw add, acquire, sys, %{{.*}}, %{{.*}} : (!tt.ptr<i64>, i64) -> i64
  %1 = tt.atomic_rmw add, acquire, sys, %p, %v : (!tt.ptr<i64>, i64) -> i64
  // CHECK: tt.atomic_rmw exch, release, cta, %{{.*}}, %{{.*}} : (!tt.ptr<i64>, i64) -> i64
  %2 = tt.atomic_rmw exch, release, cta, %p, %v : (!tt.ptr<i64>, i64) -> i64
  // CHECK: tt.atomic_cas acq_rel, sys, %{{.*}}, %{{.*}}, %{{.*}} : (!tt.ptr<i64>, i64, i64) -> i64
  %3 = tt.atomic_cas acq_rel, sys, %p, %v, %v : (!tt.ptr<i64>, i64, i64) -> i64
  // CHECK: tt.atomic_poll acquire, gpu, %{{.*}}, %{{.*}} timeout %{{.*}} : !tt.ptr<i32>, i32 -> i1
  %4 = tt.atomic_poll acquire, gpu, %q, %e timeout %v : !tt.ptr<i32>, i32 -> i1
  // CHECK: tt.atomic_poll relaxed, sys, %{{.*}}, %{{[^ ]*}} : !tt.ptr<i32>, i32 -> i1
  %5 = tt.atomic_poll relaxed, sys, %q, %e : !tt.ptr<i32>, i32 -> i1
  tt.return
}

// CHECK-LABEL: tt.func @block_pointers
tt.func @block_pointers(%p: !tt.ptr<f16>, %m: i64, %n: i64, %a: i32, %b: i32) {
  // CHECK: tt.make_tensor_ptr %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] {order = array<i32: 1, 0>} : <tensor<128x32xf16>>
  %0 = tt.make_tensor_ptr %p, [%m, %n], [%n, %m], [%a, %b] {order = array<i32: 1, 0>} : <tensor<128x32xf16>>
  // CHECK: tt.advance %{{.*}}, [%{{.*}}, %{{.*}}] : <tensor<128x32xf16>>
  %1 = tt.advance %0, [%a, %b] : <tensor<128x32xf16>>
  // CHECK: tt.advance %{{.*}}, [%{{.*}}, %{{.*}}] : <tensor<128x32xf16>>
  %2 = tt.advance %0, [%a, %b] : !tt.ptr<tensor<128x32xf16>>
  tt.return
}

// CHECK-LABEL: tt.func @descriptors
tt.func @descriptors(%p: !tt.ptr<f16>, %m: i32, %n: i32, %s: i64, %c1: i64, %v: tensor<128x64xf16>,
                     %rows: !tt.tensordesc<1x128xbf16>, %xs: tensor<32xi32>, %w: tensor<32x128xbf16>) {
  // CHECK: tt.make_tensor_descriptor %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] : <f16>, <128x64xf16>
  %0 = tt.make_tensor_descriptor %p, [%m, %n], [%s, %c1] : <f16>, <128x64xf16>
  // CHECK: tt.make_tensor_descriptor %{{.*}} {padding = 2 : i32} : <f16>, <128x64xf16>
  %1 = tt.make_tensor_descriptor %p, [%m, %n], [%s, %c1] {padding = 2 : i32} : !tt.ptr<f16>, !tt.tensordesc<tensor<128x64xf16>>
  // CHECK: tt.descriptor_load %{{.*}}[%{{.*}}, %{{.*}}] : !tt.tensordesc<128x64xf16> -> tensor<128x64xf16>
  %2 = tt.descriptor_load %0[%m, %n] : !tt.tensordesc<128x64xf16> -> tensor<128x64xf16>
  // CHECK: tt.descriptor_load %{{.*}}[%{{.*}}, %{{.*}}] cacheModifier = cg evictionPolicy = evict_last : !tt.tensordesc<128x64xf16> -> tensor<128x64xf16>
  %3 = tt.descriptor_load %0[%m, %n] cacheModifier = cg evictionPolicy = evict_last : !tt.tensordesc<128x64xf16> -> tensor<128x64xf16>
  // CHECK: tt.descriptor_store %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<128x64xf16>, tensor<128x64xf16>
  tt.descriptor_store %0[%m, %n], %v : !tt.tensordesc<128x64xf16>, tensor<128x64xf16>
  // CHECK: tt.descriptor_reduce add, %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<128x64xf16>, tensor<128x64xf16>
  tt.descriptor_reduce add, %0[%m, %n], %v : !tt.tensordesc<128x64xf16>, tensor<128x64xf16>
  // CHECK: tt.descriptor_gather %{{.*}}[%{{.*}}, %{{.*}}] : (!tt.tensordesc<1x128xbf16>, tensor<32xi32>, i32) -> tensor<32x128xbf16>
  %4 = tt.descriptor_gather %rows[%xs, %m] : (!tt.tensordesc<1x128xbf16>, tensor<32xi32>, i32) -> tensor<32x128xbf16>
  // CHECK: tt.descriptor_scatter %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<1x128xbf16>, tensor<32xi32>, i32, tensor<32x128xbf16>
  tt.descriptor_scatter %rows[%xs, %m], %w : !tt.tensordesc<1x128xbf16>, tensor<32xi32>, i32, tensor<32x128xbf16>
  tt.return
}

// CHECK-LABEL: tt.func @dots
tt.func @dots(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %c: tensor<4x4xf32>, %sa: tensor<4x1xi8>, %a8: tensor<4x32xf8E4M3FN>,
              %b8: tensor<32x4xf8E4M3FN>, %ba: tensor<2x4x8xf16>, %bb: tensor<2x8x4xf16>, %bc: tensor<2x4x4xf32>) {
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<4x4xf32>
  %0 = tt.dot %a, %b, %c : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<4x4xf32>
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}}, inputPrecision = tf32 {maxNumImpreciseAcc = 16 : i32} : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<4x4xf32>
  %1 = tt.dot %a, %b, %c, inputPrecision = tf32 {maxNumImpreciseAcc = 16 : i32} : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<4x4xf32>
  // CHECK: tt.dot %{{.*}}, inputPrecision = hf32 : tensor<2x4x8xf16> * tensor<2x8x4xf16> -> tensor<2x4x4xf32>
  %2 = tt.dot %ba, %bb, %bc, inputPrecision = hf32 : tensor<2x4x8xf16> * tensor<2x8x4xf16> -> tensor<2x4x4xf32>
  // CHECK: tt.dot_scaled %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<4x32xf8E4M3FN>, tensor<4x1xi8> * tensor<32x4xf8E4M3FN>, tensor<4x1xi8> -> tensor<4x4xf32>
  %3 = tt.dot_scaled %a8 scale %sa, %b8 scale %sa, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<4x32xf8E4M3FN>, tensor<4x1xi8> * tensor<32x4xf8E4M3FN>, tensor<4x1xi8> -> tensor<4x4xf32>
  tt.return
}

// CHECK-LABEL: tt.func @reductions
tt.func @reductions(%t: tensor<8xf32>, %i: tensor<8xi32>, %m: tensor<4x8xf32>, %mask: tensor<8xi1>) {
  // CHECK: "tt.reduce"(%{{.*}}) <{axis = 0 : i32}> ({
  // CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
  // CHECK: tt.reduce.return %{{.*}} : f32
  // CHECK: }) : (tensor<8xf32>) -> f32
  %0 = "tt.reduce"(%t) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<8xf32>) -> f32
  // Two operands: both left values, then both right ones.
  // CHECK: "tt.reduce"(%{{.*}}, %{{.*}}) <{axis = 0 : i32}> ({
  // CHECK: }) : (tensor<8xf32>, tensor<8xi32>) -> (f32, i32)
  %1:2 = "tt.reduce"(%t, %i) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %gt = arith.cmpf ogt, %a, %b : f32
    %v = arith.select %gt, %a, %b : f32
    %vi = arith.select %gt, %ai, %bi : i32
    tt.reduce.return %v, %vi : f32, i32
  }) : (tensor<8xf32>, tensor<8xi32>) -> (f32, i32)
  // CHECK: "tt.reduce"(%{{.*}}) <{axis = 1 : i32}> ({
  // CHECK: }) : (tensor<4x8xf32>) -> tensor<4xf32>
  %2 = "tt.reduce"(%m) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.maxnumf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<4x8xf32>) -> tensor<4xf32>
  // CHECK: "tt.scan"(%{{.*}}) <{axis = 0 : i32, reverse = false}> ({
  // CHECK: tt.scan.return %{{.*}} : f32
  // CHECK: }) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = "tt.scan"(%t) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.scan.return %s : f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: "tt.map_elementwise"(%{{.*}}) <{pack = 1 : i32}> ({
  // CHECK: tt.map_elementwise.return %{{.*}} : f32
  // CHECK: }) : (tensor<8xf32>) -> tensor<8xf32>
  %4 = "tt.map_elementwise"(%t) <{pack = 1 : i32}> ({
  ^bb0(%a: f32):
    tt.map_elementwise.return %a : f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: tt.histogram %{{.*}} : tensor<8xi32> -> tensor<16xi32>
  %5 = tt.histogram %i : tensor<8xi32> -> tensor<16xi32>
  // CHECK: tt.histogram %{{.*}}, %{{.*}} : tensor<8xi32> -> tensor<16xi32>
  %6 = tt.histogram %i, %mask : tensor<8xi32> -> tensor<16xi32>
  tt.return
}

// CHECK-LABEL: tt.func @gather
tt.func @gather(%t: tensor<128x16xf32>, %i: tensor<512x16xi32>) {
  // CHECK: tt.gather %{{.*}}[%{{.*}}] {axis = 0 : i32} : (tensor<128x16xf32>, tensor<512x16xi32>) -> tensor<512x16xf32>
  %0 = tt.gather %t[%i] {axis = 0 : i32} : (tensor<128x16xf32>, tensor<512x16xi32>) -> tensor<512x16xf32>
  tt.return
}

// CHECK-LABEL: tt.func @debugging
tt.func @debugging(%t: tensor<8xi32>, %c: tensor<8xi1>) {
  // CHECK: tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %{{.*}} : tensor<8xi32>
  tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %t : tensor<8xi32>
  // CHECK: tt.print "here" {hex = false, isSigned = array<i32>}
  tt.print "here" {hex = false, isSigned = array<i32>}
  // CHECK: tt.assert %{{.*}}, "msg" : tensor<8xi1>
  tt.assert %c, "msg" : tensor<8xi1>
  // CHECK: tt.debug_barrier
  tt.debug_barrier
  tt.return
}
