// RUN: nereid-opt %s --nereid-export-ttir=version=3.6 | FileCheck %s --check-prefixes=CHECK,V36
// RUN: nereid-opt %s --nereid-export-ttir=version=3.9 | FileCheck %s --check-prefixes=CHECK,V39
// RUN: not nereid-opt %s --nereid-export-ttir=version=2.0 2>&1 | FileCheck %s --check-prefix=VERSION

// VERSION: error: version is "3.6" or "3.9", got "2.0"

// CHECK: module {
module attributes {ascend.launch_mode = "cv0:1", nereid.blocking = false} {

// CHECK-LABEL: tt.func public @attributes
// CHECK-SAME: (%{{.*}}: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %{{.*}}: !tt.ptr<f32>) attributes {noinline = false}
tt.func public @attributes(%p: !tt.ptr<f32> {nereid.symmetric, tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {nereid.symmetric}) attributes {nereid.anything = 1 : i32} {
  // CHECK: tt.load %{{.*}} {tt.contiguity = 4 : i32} : !tt.ptr<f32>
  %x = tt.load %p {nereid.note, tt.contiguity = 4 : i32} : !tt.ptr<f32>
  tt.store %q, %x : !tt.ptr<f32>
  tt.return
}

// CHECK-LABEL: tt.func @explicit
tt.func @explicit(%pp: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %s: !tt.ptr<f16>, %c: i1, %pq: tensor<8x!tt.ptr<!tt.ptr<f32>>>) {
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
  // CHECK-NEXT: tt.load %{{.*}}, %{{.*}}, %[[ZERO]] : tensor<8x!tt.ptr<f32>>
  %x = tt.load %pp, %m : tensor<8x!tt.ptr<f32>>
  // CHECK: %[[Z16:.*]] = arith.constant 0.000000e+00 : f16
  // CHECK-NEXT: tt.load %{{.*}}, %{{.*}}, %[[Z16]] : !tt.ptr<f16>
  %y = tt.load %s, %c : !tt.ptr<f16>
  // CHECK: tt.fp_to_fp %{{.*}}, rounding = rtne : tensor<8xf32> -> tensor<8xf8E5M2>
  %z = tt.fp_to_fp %x : tensor<8xf32> -> tensor<8xf8E5M2>
  // CHECK: tt.fp_to_fp %{{.*}} : tensor<8xf8E5M2> -> tensor<8xf16>
  %w = tt.fp_to_fp %z : tensor<8xf8E5M2> -> tensor<8xf16>
  tt.return
}

// CHECK-LABEL: tt.func @barriers
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tt.return
tt.func @barriers() {
  tt.debug_barrier
  distributed.yield
  tt.return
}

// CHECK-LABEL: tt.func @hints
tt.func @hints(%p: !tt.ptr<f32>, %x: f32) {
  // V36: tt.load %{{.*}} cacheModifier = ca evictionPolicy = evict_last : !tt.ptr<f32>
  // V39: tt.load %{{.*}} {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_last>} : !tt.ptr<f32>
  %0 = tt.load %p cacheModifier = ca evictionPolicy = evict_last : !tt.ptr<f32>
  // V36: tt.store %{{.*}}, %{{.*}} cacheModifier = cg : !tt.ptr<f32>
  // V39: tt.store %{{.*}}, %{{.*}} {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>} : !tt.ptr<f32>
  tt.store %p, %x cacheModifier = cg : !tt.ptr<f32>
  tt.return
}

// CHECK-LABEL: tt.func @descriptors
tt.func @descriptors(%p: !tt.ptr<f16>, %m: i32, %s: i64) {
  // V36: tt.make_tensor_descriptor %{{.*}} : <f16>, <tensor<8x8xf16>>
  // V39: tt.make_tensor_descriptor %{{.*}} : <f16>, <8x8xf16>
  %0 = tt.make_tensor_descriptor %p, [%m, %m], [%s, %s] : <f16>, <8x8xf16>
  // V36: tt.descriptor_load %{{.*}} : !tt.tensordesc<tensor<8x8xf16>> -> tensor<8x8xf16>
  // V39: tt.descriptor_load %{{.*}} : !tt.tensordesc<8x8xf16> -> tensor<8x8xf16>
  %1 = tt.descriptor_load %0[%m, %m] : !tt.tensordesc<8x8xf16> -> tensor<8x8xf16>
  tt.return
}

// Triton 3.6 compiles no negation of floats: it becomes a difference.
// CHECK-LABEL: tt.func public @negation
// V36: %[[ZERO:.*]] = arith.constant dense<-0.000000e+00> : tensor<8xf32>
// V36: arith.subf %[[ZERO]], %{{.*}} : tensor<8xf32>
// V39: arith.negf %{{.*}} : tensor<8xf32>
tt.func public @negation(%p: !tt.ptr<f32>, %x: tensor<8xf32>) {
  %y = arith.negf %x : tensor<8xf32>
  %ptrs = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  tt.store %ptrs, %y : tensor<8x!tt.ptr<f32>>
  tt.return
}

}

// Functions that upstream's back end has in its device library only.
// CHECK-LABEL: tt.func @library
tt.func @library(%x: tensor<8xf32>, %h: f16, %d: f64) {
  // CHECK: tt.extern_elementwise %{{.*}} {libname = "", libpath = "", pure = true, symbol = "__nv_tanhf"} : (tensor<8xf32>) -> tensor<8xf32>
  %0 = math.tanh %x : tensor<8xf32>
  // CHECK: %[[W:.*]] = arith.extf %{{.*}} : f16 to f32
  // CHECK: %[[P:.*]] = tt.extern_elementwise %[[W]], %[[W2:.*]] {{.*}}symbol = "__nv_powf"} : (f32, f32) -> f32
  // CHECK: arith.truncf %[[P]] : f32 to f16
  %1 = math.powf %h, %h : f16
  // CHECK: tt.extern_elementwise %{{.*}} {{.*}}symbol = "__nv_cbrt"} : (f64) -> f64
  %2 = math.cbrt %d : f64
  // CHECK: math.exp
  %3 = math.exp %x : tensor<8xf32>
  tt.return
}

// Upstream orders floats as integers, one operation for each sign.
// CHECK-LABEL: tt.func @float_order
tt.func @float_order(%p: tensor<8x!tt.ptr<f32>>, %x: tensor<8xf32>, %m: tensor<8xi1>, %q: !tt.ptr<f64>, %y: f64, %o: !tt.ptr<f64>) {
  // CHECK: %[[P:.*]] = tt.bitcast %{{.*}} : tensor<8x!tt.ptr<f32>> -> tensor<8x!tt.ptr<i32>>
  // CHECK: %[[X:.*]] = tt.bitcast %{{.*}} : tensor<8xf32> -> tensor<8xi32>
  // CHECK: %[[UP:.*]] = arith.cmpi sge, %[[X]]
  // CHECK: %[[DOWN:.*]] = arith.cmpi slt, %[[X]]
  // CHECK: %[[M1:.*]] = arith.andi %{{.*}}, %[[UP]]
  // CHECK: tt.atomic_rmw max, acq_rel, gpu, %[[P]], %[[X]], %[[M1]]
  // CHECK: %[[M2:.*]] = arith.andi %{{.*}}, %[[DOWN]]
  // CHECK: tt.atomic_rmw umin, acq_rel, gpu, %[[P]], %[[X]], %[[M2]]
  %0 = tt.atomic_rmw max, acq_rel, gpu, %p, %x, %m : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
  // CHECK: tt.atomic_rmw min, relaxed, gpu, %{{.*}} : (!tt.ptr<i64>, i64, i1) -> i64
  // CHECK: tt.atomic_rmw umax, relaxed, gpu, %{{.*}} : (!tt.ptr<i64>, i64, i1) -> i64
  // CHECK: %[[OLD:.*]] = tt.bitcast %{{.*}} : i64 -> f64
  // CHECK: tt.store %{{.*}}, %[[OLD]]
  %1 = tt.atomic_rmw min, relaxed, gpu, %q, %y : (!tt.ptr<f64>, f64) -> f64
  tt.store %o, %1 : !tt.ptr<f64>
  tt.return
}
