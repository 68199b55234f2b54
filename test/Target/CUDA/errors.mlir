// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s --split-input-file --verify-diagnostics --nereid-lower-distributed-to-tt

tt.func public @narrow_signal(%s: !tt.ptr<i8>, %v: i8) {
  %c1 = arith.constant 1 : i32
  // expected-error @below {{the target cuda has signals of int32 and int64, not of 'i8'}}
  %t = distributed.wait %s, %c1, %v, scope = sys semantic = acquire {barrier} : !tt.ptr<i8>, i32, i8 -> i32
  tt.return
}

// -----

tt.func public @team(%t: i32) {
  // expected-error @below {{libshmem_device.barrier: the target cuda knows no team but the one of all ranks}}
  distributed.extern_call %t {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier"} : (i32) -> ()
  tt.return
}

// -----

tt.func public @operation(%s: !tt.ptr<i64>, %v: i64, %r: i32) {
  %three = arith.constant 3 : i32
  // expected-error @below {{the operation of a signal is SIGNAL_SET or SIGNAL_ADD, not 3}}
  distributed.extern_call %s, %v, %three, %r {libname = "libshmem_device", libpath = "", pure = false, symbol = "signal_op"} : (!tt.ptr<i64>, i64, i32, i32) -> ()
  tt.return
}

// -----

tt.func public @comparison(%s: !tt.ptr<i64>, %v: i64) {
  %six = arith.constant 6 : i32
  // expected-error @below {{there is no comparison of number 6; take CMP_EQ, CMP_NE, CMP_GT, CMP_LE, CMP_LT or CMP_GE}}
  distributed.extern_call %s, %six, %v {libname = "libshmem_device", libpath = "", pure = false, symbol = "signal_wait_until"} : (!tt.ptr<i64>, i32, i64) -> ()
  tt.return
}
