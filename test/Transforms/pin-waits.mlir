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

// Tokens have nothing more to say.
// CHECK-LABEL: tt.func @tokens
// CHECK-SAME: %{{.*}}: !tt.ptr<i32>, %[[P:.*]]: tensor<8x!tt.ptr<f32>>
// CHECK-NEXT: distributed.wait {{.*}} {barrier}
// CHECK-NEXT: tt.load %[[P]]
tt.func @tokens(%s: !tt.ptr<i32>, %p: tensor<8x!tt.ptr<f32>>, %v: i32) -> tensor<8xf32> {
  %t = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %q = distributed.consume_token %p, %t, : tensor<8x!tt.ptr<f32>>, i32 -> tensor<8x!tt.ptr<f32>>
  %q2 = distributed.consume_token %q, %t, : tensor<8x!tt.ptr<f32>>, i32 -> tensor<8x!tt.ptr<f32>>
  %x = tt.load %q2 : tensor<8x!tt.ptr<f32>>
  tt.return %x : tensor<8xf32>
}
