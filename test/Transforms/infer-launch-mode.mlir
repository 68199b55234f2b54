// RUN: nereid-opt %s --split-input-file --nereid-infer-launch-mode | FileCheck %s

// CHECK: module attributes {ascend.launch_mode = "cv0:1"}
tt.func public @vector_only(%p: !tt.ptr<f32>) {
  %x = tt.load %p : !tt.ptr<f32>
  tt.store %p, %x : !tt.ptr<f32>
  tt.return
}

// -----

// CHECK: module attributes {ascend.launch_mode = "cv1:2"}
tt.func public @with_dot(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %d = tt.dot %a, %b, %c : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<4x4xf32>
  tt.return %d : tensor<4x4xf32>
}

// -----

// CHECK: module attributes {ascend.launch_mode = "cv1:2"}
tt.func public @with_barrier() {
  distributed.extern_call  {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier_all"} : () -> ()
  tt.return
}

// -----

// A barrier of vector cores alone, as any other library call, needs no cube core.
// CHECK: module attributes {ascend.launch_mode = "cv0:1"}
tt.func public @with_vector_barrier() {
  distributed.extern_call  {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier_all_vec"} : () -> ()
  tt.return
}
