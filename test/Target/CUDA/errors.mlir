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

tt.func public @operation(%s: !tt.ptr<i64>, %v: i64, %o: i32, %r: i32) {
  // expected-error @below {{the operation of a signal must be a constant, SIGNAL_SET or SIGNAL_ADD}}
  distributed.extern_call %s, %v, %o, %r {libname = "libshmem_device", libpath = "", pure = false, symbol = "signal_op"} : (!tt.ptr<i64>, i64, i32, i32) -> ()
  tt.return
}

// -----

tt.func public @comparison(%s: !tt.ptr<i64>, %o: i32, %v: i64) {
  // expected-error @below {{the comparison must be a constant, such as CMP_EQ}}
  distributed.extern_call %s, %o, %v {libname = "libshmem_device", libpath = "", pure = false, symbol = "signal_wait_until"} : (!tt.ptr<i64>, i32, i64) -> ()
  tt.return
}
