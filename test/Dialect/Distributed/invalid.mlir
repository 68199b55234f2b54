// RUN: nereid-opt %s --split-input-file --verify-diagnostics

tt.func @symm_at_block(%p: tensor<8x!tt.ptr<f32>>, %r: i32) {
  // expected-error @below {{takes a scalar pointer, got a block of pointers 'tensor<8x!tt.ptr<f32>>'; take the peer's base pointer first, then add the offsets}}
  %q = distributed.symm_at %p, %r, : tensor<8x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @symm_at_number(%p: i64, %r: i32) {
  // expected-error @below {{takes a scalar pointer, got 'i64'}}
  %q = distributed.symm_at %p, %r, : i64
  tt.return
}

// -----

tt.func @symm_at_block_pointer(%p: !tt.ptr<tensor<8x8xf32>>, %r: i32) {
  // expected-error @below {{takes a scalar pointer, got a block pointer '!tt.ptr<tensor<8x8xf32>>'; take the peer's base pointer first, then make the block pointer from it}}
  %q = distributed.symm_at %p, %r, : !tt.ptr<tensor<8x8xf32>>
  tt.return
}

// -----

tt.func @wait_on_float(%p: !tt.ptr<f32>, %n: i32, %v: i32) {
  // expected-error @below {{waits on integer signals of 8 to 64 bits, got a pointer to 'f32'}}
  %t = distributed.wait %p, %n, %v, scope = gpu semantic = acquire : !tt.ptr<f32>, i32, i32 -> i32
  tt.return
}

// -----

tt.func @wait_on_bits(%p: !tt.ptr<i1>, %n: i32, %v: i1) {
  // expected-error @below {{waits on integer signals of 8 to 64 bits, got a pointer to 'i1'}}
  %t = distributed.wait %p, %n, %v, scope = gpu semantic = acquire : !tt.ptr<i1>, i32, i1 -> i32
  tt.return
}

// -----

tt.func @wait_for_other_type(%p: !tt.ptr<i64>, %n: i32, %v: i32) {
  // expected-error @below {{awaited value has type 'i32', the signal has type 'i64'}}
  %t = distributed.wait %p, %n, %v, scope = gpu semantic = acquire : !tt.ptr<i64>, i32, i32 -> i32
  tt.return
}

// -----

tt.func @wait_on_block_pointer(%p: !tt.ptr<tensor<8xi32>>, %n: i32, %v: i32) {
  // expected-error @below {{waits on signals, got a block pointer '!tt.ptr<tensor<8xi32>>'}}
  %t = distributed.wait %p, %n, %v, scope = gpu semantic = acquire : !tt.ptr<tensor<8xi32>>, i32, i32 -> i32
  tt.return
}

// -----

tt.func @wait_scope(%p: !tt.ptr<i32>, %n: i32, %v: i32) {
  // expected-error @below {{enum values for attribute 'scope' [gpu, cta, sys]}}
  %t = distributed.wait %p, %n, %v, scope = npu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  tt.return
}

// -----

tt.func @notify_float(%p: !tt.ptr<f32>, %v: i32, %r: i32) {
  // expected-error @below {{updates integer signals of 8 to 64 bits, got a pointer to 'f32'}}
  "distributed.notify"(%p, %v, %r) <{commScope = 2 : i32, sigOp = 1 : i32}> : (!tt.ptr<f32>, i32, i32) -> ()
  tt.return
}

// -----

tt.func @notify_other_type(%p: !tt.ptr<i64>, %v: i32, %r: i32) {
  // expected-error @below {{value has type 'i32', the signal has type 'i64'}}
  "distributed.notify"(%p, %v, %r) <{commScope = 2 : i32, sigOp = 1 : i32}> : (!tt.ptr<i64>, i32, i32) -> ()
  tt.return
}

// -----

tt.func @notify_sig_op(%p: !tt.ptr<i64>, %v: i64, %r: i32) {
  // expected-error @below {{Invalid attribute `sigOp`}}
  "distributed.notify"(%p, %v, %r) <{commScope = 2 : i32, sigOp = 9 : i32}> : (!tt.ptr<i64>, i64, i32) -> ()
  tt.return
}

// -----

tt.func @consume_changes_type(%p: !tt.ptr<f32>, %t: i32) {
  // expected-error @below {{result is of the value's type}}
  %q = "distributed.consume_token"(%p, %t) : (!tt.ptr<f32>, i32) -> !tt.ptr<f16>
  tt.return
}

// -----

tt.func @token_is_no_integer(%p: !tt.ptr<f32>, %t: f32) {
  // expected-error @below {{operand #1 must be integer, but got 'f32'}}
  %q = distributed.consume_token %p, %t, : !tt.ptr<f32>, f32 -> !tt.ptr<f32>
  tt.return
}
