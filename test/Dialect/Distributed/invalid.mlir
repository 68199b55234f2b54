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

// -----

tt.func @unknown_function(%p: !tt.ptr<f32>) {
  // expected-error @below {{there is no library function 'libshmem_device.shout'}}
  distributed.extern_call %p {libname = "libshmem_device", libpath = "", pure = false, symbol = "shout"} : (!tt.ptr<f32>) -> ()
  tt.return
}

// -----

tt.func @spelling_as_symbol(%p: !tt.ptr<f32>, %n: i64, %r: i32) {
  // expected-error @below {{there is no library function 'libshmem_device.putmem_block'}}
  distributed.extern_call %p, %p, %n, %r {libname = "libshmem_device", libpath = "", pure = false, symbol = "putmem_block"} : (!tt.ptr<f32>, !tt.ptr<f32>, i64, i32) -> ()
  tt.return
}

// -----

tt.func @unknown_library() {
  // expected-error @below {{there is no library function 'libdevice.barrier_all'}}
  distributed.extern_call {libname = "libdevice", libpath = "", pure = false, symbol = "barrier_all"} : () -> ()
  tt.return
}

// -----

tt.func @too_few_operands(%p: !tt.ptr<f32>) {
  // expected-error @below {{'putmem' takes 4 arguments, not 1}}
  distributed.extern_call %p {libname = "libshmem_device", libpath = "", pure = false, symbol = "putmem"} : (!tt.ptr<f32>) -> ()
  tt.return
}

// -----

tt.func @too_many_operands(%n: i32) {
  // expected-error @below {{'fence' takes 0 arguments, not 1}}
  distributed.extern_call %n {libname = "libshmem_device", libpath = "", pure = false, symbol = "fence"} : (i32) -> ()
  tt.return
}

// -----

tt.func @signal_of_floats(%p: !tt.ptr<f32>, %n: i32) {
  // expected-error @below {{argument 1 of 'signal_op' must be a pointer to integers, not a value of type '!tt.ptr<f32>'}}
  distributed.extern_call %p, %n, %n, %n {libname = "libshmem_device", libpath = "", pure = false, symbol = "signal_op"} : (!tt.ptr<f32>, i32, i32, i32) -> ()
  tt.return
}

// -----

tt.func @atomic_of_halves(%p: !tt.ptr<f16>, %x: f16, %n: i32) {
  // expected-error @below {{argument 1 of 'atomic_update' must be a pointer to 32- or 64-bit elements, not a value of type '!tt.ptr<f16>'}}
  distributed.extern_call %p, %x, %n, %n {libname = "libshmem_device", libpath = "", pure = false, symbol = "atomic_update"} : (!tt.ptr<f16>, f16, i32, i32) -> ()
  tt.return
}

// -----

tt.func @rank_is_no_integer(%p: !tt.ptr<f32>, %x: f32) {
  // expected-error @below {{argument 2 of 'g' must be an integer, not a value of type 'f32'}}
  %v = distributed.extern_call %p, %x {libname = "libshmem_device", libpath = "", pure = false, symbol = "g"} : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----

tt.func @block_of_pointers(%p: tensor<4x!tt.ptr<f32>>, %n: i32) {
  // expected-error @below {{argument 1 of 'remote_ptr' must be a pointer, not a value of type 'tensor<4x!tt.ptr<f32>>'}}
  %v = distributed.extern_call %p, %n {libname = "libshmem_device", libpath = "", pure = false, symbol = "remote_ptr"} : (tensor<4x!tt.ptr<f32>>, i32) -> i64
  tt.return
}

// -----

tt.func @float_to_integers(%p: !tt.ptr<i32>, %x: f32, %n: i32) {
  // expected-error @below {{argument 2 of 'p' must be an integer, which argument 1 points to, not a value of type 'f32'}}
  distributed.extern_call %p, %x, %n {libname = "libshmem_device", libpath = "", pure = false, symbol = "p"} : (!tt.ptr<i32>, f32, i32) -> ()
  tt.return
}

// -----

tt.func @other_float(%p: !tt.ptr<f16>, %x: f32, %n: i32) {
  // expected-error @below {{argument 2 of 'p' must be a value of type 'f16', which argument 1 points to, not a value of type 'f32'}}
  distributed.extern_call %p, %x, %n {libname = "libshmem_device", libpath = "", pure = false, symbol = "p"} : (!tt.ptr<f16>, f32, i32) -> ()
  tt.return
}

// -----

tt.func @result_of_nothing() {
  // expected-error @below {{'fence' returns nothing, not 'i32'}}
  %v = distributed.extern_call {libname = "libshmem_device", libpath = "", pure = false, symbol = "fence"} : () -> i32
  tt.return
}

// -----

tt.func @two_results() {
  // expected-error @below {{'my_pe' returns a 32-bit integer, not 2 values}}
  %v:2 = distributed.extern_call {libname = "libshmem_device", libpath = "", pure = true, symbol = "my_pe"} : () -> (i32, i32)
  tt.return
}

// -----

tt.func @rank_of_64_bits() {
  // expected-error @below {{'my_pe' returns a 32-bit integer, not 'i64'}}
  %v = distributed.extern_call {libname = "libshmem_device", libpath = "", pure = true, symbol = "my_pe"} : () -> i64
  tt.return
}

// -----

tt.func @narrow_result(%p: !tt.ptr<f32>, %n: i32) {
  // expected-error @below {{'g' returns a value as wide as 'f32', which argument 1 points to, not 'i16'}}
  %v = distributed.extern_call %p, %n {libname = "libshmem_device", libpath = "", pure = false, symbol = "g"} : (!tt.ptr<f32>, i32) -> i16
  tt.return
}

// -----

tt.func @pure_barrier() {
  // expected-error @below {{'barrier_all' reads, changes or orders memory that others see, so it is not pure}}
  distributed.extern_call {libname = "libshmem_device", libpath = "", pure = true, symbol = "barrier_all"} : () -> ()
  tt.return
}

// -----

tt.func @access_mask(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<4xi1>) {
  // expected-error @below {{has a mask of another shape: 'tensor<4xi1>' for 'tensor<8x!tt.ptr<f32>>'}}
  distributed.access read %p, %m : tensor<8x!tt.ptr<f32>>, tensor<4xi1>
  tt.return
}

// -----

tt.func @access_volatile_write(%p: !tt.ptr<f32>) {
  // expected-error @below {{is volatile, which only reads can be}}
  distributed.access write %p {isVolatile} : !tt.ptr<f32>
  tt.return
}

// -----

tt.func @access_block_pointer(%p: !tt.ptr<tensor<8xf32>>) {
  // expected-error @below {{must be scalar pointer or tensor of pointers}}
  distributed.access read %p : !tt.ptr<tensor<8xf32>>
  tt.return
}
