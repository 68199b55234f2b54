// RUN: nereid-opt %s --nereid-pin-waits --canonicalize --cse | FileCheck %s

// Two equal waits, neither used: both stay, with the loads between them.
// CHECK-LABEL: tt.func @waits
// CHECK-NEXT: tt.load
// CHECK-NEXT: distributed.wait {{.*}} {barrier}
// CHECK-NEXT: tt.load
// CHECK-NEXT: distributed.wait {{.*}} {barrier}
// CHECK-NEXT: tt.load
tt.func @waits(%s: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32) -> (f32, f32, f32) {
  %0 = tt.load %p : !tt.ptr<f32>
  %t = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %1 = tt.load %p : !tt.ptr<f32>
  %t2 = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %2 = tt.load %p : !tt.ptr<f32>
  tt.return %0, %1, %2 : f32, f32, f32
}
