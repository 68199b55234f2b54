// RUN: nereid-opt %s --split-input-file --verify-diagnostics --nereid-export-ttir

tt.func public @ranks(%p: !tt.ptr<f32>, %s: !tt.ptr<i32>, %v: i32) {
  // expected-error @below {{dl.rank cannot be expressed in the TTIR of Triton 3.6: it has no operations between ranks}}
  %r = distributed.get_rank %v : i32
  // expected-error @below {{dl.num_ranks cannot be expressed}}
  %n = distributed.get_num_ranks %v : i32
  // expected-error @below {{dl.symm_at cannot be expressed}}
  %q = distributed.symm_at %p, %r, : !tt.ptr<f32>
  // expected-error @below {{dl.wait cannot be expressed}}
  %t = distributed.wait %s, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  // expected-error @below {{dl.consume_token cannot be expressed}}
  %c = distributed.consume_token %q, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  // expected-error @below {{dl.notify cannot be expressed}}
  "distributed.notify"(%s, %v, %r) <{commScope = 2 : i32, sigOp = 1 : i32}> : (!tt.ptr<i32>, i32, i32) -> ()
  // expected-error @below {{libshmem_device.barrier_all cannot be expressed}}
  distributed.extern_call  {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier_all"} : () -> ()
  tt.return
}

// -----

tt.func public @one_thread(%p: !tt.ptr<i32>) -> i32 {
  // expected-error @below {{tt.load cannot be expressed in the TTIR of Triton 3.6 as an access of one thread that orders others}}
  %x = tt.load %p {isVolatile = true, nereid.each_thread, nereid.order = "acquire"} : !tt.ptr<i32>
  tt.return %x : i32
}

// -----

tt.func public @vector_cores() -> i64 {
  // expected-error @below {{sub_vec_id cannot be expressed in the TTIR of Triton 3.6: it has no vector cores}}
  %i = ascend.get_sub_vec_id : i64
  tt.return %i : i64
}

// -----

tt.func public @block_pointers(%p: !tt.ptr<f16>, %m: i64, %a: i32) {
  // expected-error @below {{tt.make_tensor_ptr cannot be expressed in the TTIR of Triton 3.6: use tl.make_tensor_descriptor, or pointers and masks}}
  %b = tt.make_tensor_ptr %p, [%m], [%m], [%a] {order = array<i32: 0>} : <tensor<8xf16>>
  // expected-error @below {{tt.advance cannot be expressed}}
  %c = tt.advance %b, [%a] : <tensor<8xf16>>
  tt.return
}

// -----

// A shape is reported where it is made first.
tt.func public @sizes(%x: f32) {
  // expected-error @below {{a tensor of shape [4, 20] cannot be expressed in the TTIR of Triton 3.6: its sizes are powers of two}}
  %0 = tt.splat %x : f32 -> tensor<4x20xf32>
  %1 = arith.addf %0, %0 : tensor<4x20xf32>
  // expected-error @below {{a tensor of shape [2048, 1024] cannot be expressed in the TTIR of Triton 3.6: it has more than 1048576 elements}}
  %2 = tt.splat %x : f32 -> tensor<2048x1024xf32>
  tt.return
}

// -----

tt.func public @poll(%p: !tt.ptr<i32>, %e: i32) {
  // expected-error @below {{tt.atomic_poll cannot be expressed in the TTIR of Triton 3.6: loop over tl.atomic_cas}}
  %0 = tt.atomic_poll relaxed, sys, %p, %e : !tt.ptr<i32>, i32 -> i1
  tt.return
}

// -----

tt.func public @precision(%a: tensor<16x16xf32>) {
  // expected-error @below {{tt.dot cannot be expressed in the TTIR of Triton 3.6 with input_precision="hf32": it has "tf32", "tf32x3" and "ieee"}}
  %0 = tt.dot %a, %a, %a, inputPrecision = hf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func public @call(%a: tensor<16xf32>) {
  // expected-error @below {{the call of helper has to be inlined: Triton's back end passes no tensors}}
  %0 = tt.call @helper(%a) : (tensor<16xf32>) -> tensor<16xf32>
  tt.return
}
tt.func private @helper(%a: tensor<16xf32>) -> tensor<16xf32> attributes {noinline = true} {
  tt.return %a : tensor<16xf32>
}

// -----

tt.func public @atomics(%p: !tt.ptr<f16>, %x: f16, %q: !tt.ptr<i8>, %i: i8, %h: !tt.ptr<bf16>, %b: bf16, %m: i1) {
  // expected-error @below {{tt.atomic_rmw cannot be expressed in the TTIR of Triton 3.6 on elements of type 'f16': it has elements of 32 and 64 bits, and sums of 16-bit floats}}
  %0 = tt.atomic_rmw max, relaxed, gpu, %p, %x, %m : (!tt.ptr<f16>, f16, i1) -> f16
  // expected-error @below {{tt.atomic_rmw cannot be expressed in the TTIR of Triton 3.6 on elements of type 'i8'}}
  %1 = tt.atomic_rmw add, relaxed, gpu, %q, %i, %m : (!tt.ptr<i8>, i8, i1) -> i8
  %2 = tt.atomic_rmw fadd, relaxed, gpu, %h, %b, %m : (!tt.ptr<bf16>, bf16, i1) -> bf16
  // expected-error @below {{tt.atomic_cas cannot be expressed in the TTIR of Triton 3.6 on elements of 8 bits}}
  %3 = tt.atomic_cas relaxed, gpu, %q, %i, %i : (!tt.ptr<i8>, i8, i8) -> i8
  tt.return
}

// -----

tt.func public @unsigned(%d: !tt.tensordesc<4xi32>, %x: tensor<4xi32>, %i: i32) {
  // expected-error @below {{tt.descriptor_reduce cannot be expressed in the TTIR of Triton 3.6 on unsigned elements: use pointers}}
  tt.descriptor_reduce max, %d[%i], %x {nereid.unsigned} : !tt.tensordesc<4xi32>, tensor<4xi32>
  tt.return
}
