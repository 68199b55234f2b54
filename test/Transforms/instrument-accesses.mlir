// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s --nereid-instrument-accesses | FileCheck %s

// CHECK-LABEL: tt.func @tiles
// CHECK-NEXT: distributed.access read %[[P:.*]], %[[M:.*]] : tensor<8x!tt.ptr<f32>>, tensor<8xi1>
// CHECK-NEXT: %[[X:.*]] = tt.load %[[P]], %[[M]]
// CHECK-NEXT: distributed.access read %[[P]] {isVolatile} : tensor<8x!tt.ptr<f32>>
// CHECK-NEXT: tt.load %[[P]] {isVolatile = true}
// CHECK-NEXT: distributed.access write %[[P]] : tensor<8x!tt.ptr<f32>>
// CHECK-NEXT: tt.store %[[P]], %[[X]]
tt.func @tiles(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>) {
  %x = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
  %y = tt.load %p {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  tt.store %p, %x : tensor<8x!tt.ptr<f32>>
  tt.return
}

// Single elements: past the caches is in one piece.
// CHECK-LABEL: tt.func @scalars
// CHECK-NEXT: distributed.access read %{{.*}}, %{{.*}} : !tt.ptr<i32>, i1
// CHECK-NEXT: tt.load
// CHECK-NEXT: distributed.access read %{{.*}} {isVolatile} : !tt.ptr<i32>
// CHECK-NEXT: tt.load
tt.func @scalars(%p: !tt.ptr<i32>, %m: i1) -> (i32, i32) {
  %x = tt.load %p, %m : !tt.ptr<i32>
  %y = tt.load %p cacheModifier = cv : !tt.ptr<i32>
  tt.return %x, %y : i32, i32
}

// What may order memory is told of by whoever carries it out.
// CHECK-LABEL: tt.func @atomics
// CHECK-NOT: distributed.access
// CHECK: tt.atomic_rmw add, {{.*}} {nereid.observed}
// CHECK-NEXT: tt.atomic_cas {{.*}} {nereid.observed}
// CHECK-NEXT: tt.atomic_poll {{.*}} {nereid.observed}
// CHECK-NEXT: tt.load {{.*}}nereid.observed, nereid.order = "acquire"
// CHECK-NEXT: tt.store {{.*}}nereid.observed, nereid.order = "release"
tt.func @atomics(%p: !tt.ptr<i32>, %v: i32) {
  %0 = tt.atomic_rmw add, acq_rel, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
  %1 = tt.atomic_cas acq_rel, sys, %p, %v, %v : (!tt.ptr<i32>, i32, i32) -> i32
  %2 = tt.atomic_poll acquire, sys, %p, %v : !tt.ptr<i32>, i32 -> i1
  %3 = tt.load %p {isVolatile = true, nereid.order = "acquire"} : !tt.ptr<i32>
  tt.store %p, %v {nereid.order = "release"} : !tt.ptr<i32>
  tt.return
}

// In functions that are called, in branches and in the regions of operations.
// CHECK-LABEL: tt.func private @called
// CHECK: scf.if
// CHECK-NEXT: distributed.access write
// CHECK-NEXT: tt.store
tt.func private @called(%p: !tt.ptr<i32>, %v: i32, %c: i1) attributes {noinline = true} {
  scf.if %c {
    tt.store %p, %v : !tt.ptr<i32>
  }
  tt.return
}
