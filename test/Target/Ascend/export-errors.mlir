// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s -split-input-file -verify-diagnostics -nereid-ascend-export-ttir

tt.func @ranks(%p: !tt.ptr<f32>) -> !tt.ptr<f32> {
  %zero = arith.constant 0 : i32
  // expected-error @below {{dl.rank cannot be expressed in the TTIR of triton-ascend 3.2: it has no operations between ranks}}
  %r = distributed.get_rank %zero : i32
  // expected-error @below {{dl.symm_at cannot be expressed}}
  %q = distributed.symm_at %p, %r, : !tt.ptr<f32>
  tt.return %q : !tt.ptr<f32>
}

// -----

tt.func @vector_core() -> i64 {
  // expected-error @below {{sub_vec_id cannot be expressed in the TTIR of triton-ascend 3.2: its dialect for vector cores is not among those that are written}}
  %v = ascend.get_sub_vec_id : i64
  tt.return %v : i64
}

// -----

tt.func @atomic_load(%p: !tt.ptr<i32>) -> i32 {
  // expected-error @below {{tt.load cannot be expressed in the TTIR of triton-ascend 3.2 as an atomic access: use tl.atomic_*}}
  %x = tt.load %p {nereid.order = "acquire"} : !tt.ptr<i32>
  tt.return %x : i32
}

// -----

tt.func @library(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'__nv_j0f' is a function of NVIDIA's library}}
  %y = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_j0f"} : (tensor<8xf32>) -> tensor<8xf32>
  tt.return %y : tensor<8xf32>
}
