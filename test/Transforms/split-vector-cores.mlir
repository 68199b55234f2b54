// RUN: nereid-opt %s --split-input-file --verify-diagnostics --nereid-split-vector-cores | FileCheck %s

// Nothing asks for the vector core: one runs the program.
// CHECK-LABEL: module
// CHECK-NOT: ascend.lanes
// CHECK: tt.func public @one_core
// CHECK-NOT: scf.if
// CHECK: tt.store
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @one_core(%p: !tt.ptr<f32>, %x: f32) {
    tt.store %p, %x : !tt.ptr<f32>
    tt.return
  }
}

// -----

// What does not depend on it happens on vector core 0; what does stays.
// CHECK: ascend.lanes = 2
// CHECK-LABEL: @both_cores
// CHECK: %[[C:.*]] = ascend.get_sub_vec_id
// CHECK: %[[FIRST:.*]] = arith.cmpi eq
// CHECK-NEXT: scf.if %[[FIRST]]
// CHECK-NEXT: tt.store %arg0, %arg1
// CHECK: %[[Q:.*]] = tt.addptr
// CHECK-NEXT: tt.store %[[Q]], %arg1
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @both_cores(%p: !tt.ptr<f32>, %x: f32) {
    %id = ascend.get_sub_vec_id : i64
    tt.store %p, %x : !tt.ptr<f32>
    %q = tt.addptr %p, %id : !tt.ptr<f32>, i64
    tt.store %q, %x : !tt.ptr<f32>
    tt.return
  }
}

// -----

// Under control flow that depends on it, each core that gets there does it; a
// barrier there stands for the program.
// CHECK-LABEL: @control
// CHECK: scf.if
// CHECK-NEXT: tt.store
// CHECK-NEXT: distributed.extern_call {{.*}}nereid.gated
// CHECK: distributed.extern_call
// CHECK-NOT: nereid.gated
// CHECK: tt.return
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @control(%p: !tt.ptr<f32>, %x: f32) {
    %id = ascend.get_sub_vec_id : i64
    %c1 = arith.constant 1 : i64
    %is = arith.cmpi eq, %id, %c1 : i64
    scf.if %is {
      tt.store %p, %x : !tt.ptr<f32>
      distributed.extern_call  {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier_all"} : () -> ()
    }
    distributed.extern_call  {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier_all"} : () -> ()
    tt.return
  }
}

// -----

// A scalar goes to both.
// CHECK-LABEL: @ticket
// CHECK: %[[R:.*]] = scf.if {{.*}} -> (i32)
// CHECK: tt.atomic_rmw
// CHECK: %[[S:.*]] = ascend.share %[[R]] : i32
// CHECK: arith.addi %[[S]]
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @ticket(%p: !tt.ptr<i32>, %one: i32, %true: i1) {
    %id = ascend.get_sub_vec_id : i64
    %old = tt.atomic_rmw add, acq_rel, gpu, %p, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %next = arith.addi %old, %one : i32
    %q = tt.addptr %p, %id : !tt.ptr<i32>, i64
    tt.store %q, %next : !tt.ptr<i32>
    tt.return
  }
}

// -----

module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @block(%p: tensor<8x!tt.ptr<i32>>, %one: tensor<8xi32>, %q: !tt.ptr<i32>) {
    %id = ascend.get_sub_vec_id : i64
    // expected-error @+1 {{both vector cores of the program need the block}}
    %old = tt.atomic_rmw add, acq_rel, gpu, %p, %one : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>) -> tensor<8xi32>
    %ids = tt.splat %q : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %at = tt.addptr %ids, %old : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    tt.store %at, %old : tensor<8x!tt.ptr<i32>>
    tt.return
  }
}
