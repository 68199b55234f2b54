// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s -split-input-file -verify-diagnostics -nereid-fit-accesses -nereid-fit-signals -nereid-fit-waits=grid=41 -nereid-fit-atomics -nereid-fit-memory -nereid-fit-types | FileCheck %s

// Rows with a mask that is a range have nothing to report; every other lane is one.
// CHECK: nereid.fit.findings = [{check = "load_mask"
// CHECK-SAME: check = "store_mask"
tt.func public @masks(%p: !tt.ptr<f32>, %n: i32) {
  %one = arith.constant dense<1> : tensor<64xi32>
  %zero = arith.constant dense<0> : tensor<64xi32>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %at = tt.addptr %base, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %bound = tt.splat %n : i32 -> tensor<64xi32>
  %range = arith.cmpi slt, %r, %bound : tensor<64xi32>
  %x = tt.load %at, %range : tensor<64x!tt.ptr<f32>>
  tt.store %at, %x, %range : tensor<64x!tt.ptr<f32>>
  %bit = arith.andi %r, %one : tensor<64xi32>
  %even = arith.cmpi eq, %bit, %zero : tensor<64xi32>
  // expected-remark @below {{[load_mask]}}
  %y = tt.load %at, %even : tensor<64x!tt.ptr<f32>>
  // expected-remark @below {{[store_mask]}}
  tt.store %at, %y, %even : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func public @addresses(%p: !tt.ptr<f32>, %n: i32) {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %count = tt.splat %n : i32 -> tensor<64xi32>
  %three = arith.constant dense<3> : tensor<64xi32>
  %back = arith.constant dense<-1> : tensor<64xi32>
  // expected-remark @below {{[type_scalar] % of blocks of i32}}
  %wrapped = arith.remsi %r, %count : tensor<64xi32>
  %a = tt.addptr %base, %wrapped : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark @below {{[discrete_access] the addresses of this load do not progress evenly along dimension 0 (they are computed with a remainder)}}
  %x = tt.load %a : tensor<64x!tt.ptr<f32>>
  %wide = arith.muli %r, %three : tensor<64xi32>
  %b = tt.addptr %base, %wide : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark @below {{[strided_access] neighbouring lanes of this store lie 12 bytes apart}}
  tt.store %b, %x : tensor<64x!tt.ptr<f32>>
  %down = arith.muli %r, %back : tensor<64xi32>
  %c = tt.addptr %base, %down : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark @below {{[backward_address]}}
  tt.store %c, %x : tensor<64x!tt.ptr<f32>>
  // expected-remark @below {{[repeated_address]}}
  tt.store %base, %x : tensor<64x!tt.ptr<f32>>
  %five = tt.make_range {start = 0 : i32, end = 5 : i32} : tensor<5xi32>
  %short = tt.splat %p : !tt.ptr<f32> -> tensor<5x!tt.ptr<f32>>
  %d = tt.addptr %short, %five : tensor<5x!tt.ptr<f32>>, tensor<5xi32>
  // expected-remark @below {{[short_rows] the rows of this load have 20 bytes}}
  %y = tt.load %d : tensor<5x!tt.ptr<f32>>
  tt.return
}

// -----

// A signal behind a store, and one behind the fence that orders it.
tt.func public @order(%p: tensor<64x!tt.ptr<f32>>, %x: tensor<64xf32>, %s: !tt.ptr<i32>, %v: i32, %r: i32) {
  // expected-remark @below {{[discrete_access]}}
  tt.store %p, %x : tensor<64x!tt.ptr<f32>>
  // expected-remark @below {{[signal_order] nothing orders this dl.notify behind the store in line}}
  "distributed.notify"(%s, %v, %r) <{commScope = 2 : i32, sigOp = 1 : i32}> : (!tt.ptr<i32>, i32, i32) -> ()
  distributed.extern_call  {libname = "libshmem_device", libpath = "", pure = false, symbol = "fence"} : () -> ()
  "distributed.notify"(%s, %v, %r) <{commScope = 2 : i32, sigOp = 1 : i32}> : (!tt.ptr<i32>, i32, i32) -> ()
  tt.return
}

// -----

// The second round of a loop signals behind the store of the first.
tt.func public @order_in_loop(%p: tensor<64x!tt.ptr<f32>>, %x: tensor<64xf32>, %s: !tt.ptr<i32>, %v: i32, %r: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %v step %c1 : i32 {
    // expected-remark @below {{[signal_order]}}
    "distributed.notify"(%s, %v, %r) <{commScope = 2 : i32, sigOp = 1 : i32}> : (!tt.ptr<i32>, i32, i32) -> ()
    // expected-remark @below {{[discrete_access]}}
    tt.store %p, %x : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}

// -----

// Signals of ranks 4 bytes apart; 64 bytes apart they are fine.
tt.func public @lines(%s: !tt.ptr<i32>, %v: i32, %peer: i32) {
  %axis = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %r = distributed.get_rank %axis : i32
  %near = tt.addptr %s, %r : !tt.ptr<i32>, i32
  // expected-remark @below {{[signals_share_line] signals of neighbouring ranks lie 4 bytes apart}}
  "distributed.notify"(%near, %v, %peer) <{commScope = 2 : i32, sigOp = 1 : i32}> : (!tt.ptr<i32>, i32, i32) -> ()
  %slot = arith.muli %r, %c16 : i32
  %far = tt.addptr %s, %slot : !tt.ptr<i32>, i32
  "distributed.notify"(%far, %v, %peer) <{commScope = 2 : i32, sigOp = 1 : i32}> : (!tt.ptr<i32>, i32, i32) -> ()
  tt.return
}

// -----

tt.func public @barrier_without_dot() {
  // expected-remark @below {{[cube_barrier]}}
  // expected-remark @below {{[grid_waits] this kernel waits for other programs, and only 40 of 41 run at a time (40 vector cores of ascend910b3)}}
  distributed.extern_call  {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier_all"} : () -> ()
  distributed.extern_call  {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier_all_vec"} : () -> ()
  tt.return
}

// -----

// Polled by a plain load; by an atomic the loop stays.
tt.func public @spin(%p: !tt.ptr<i32>, %one: i32) {
  // expected-remark @below {{[grid_waits]}}
  scf.while : () -> () {
    // expected-remark @below {{[spin_loop] this loop waits for a change that another program makes, by a plain load}}
    %x = tt.load %p : !tt.ptr<i32>
    %c = arith.cmpi ne, %x, %one : i32
    scf.condition(%c)
  } do {
    distributed.yield
    scf.yield
  }
  tt.return
}

// -----

tt.func public @atomics(%p: !tt.ptr<i32>, %w: !tt.ptr<i64>, %peer: i32, %v: i32, %l: i64, %yes: i1, %some: i1) -> i32 {
  // expected-remark @below {{[scalar_atomic] triton-ascend 3.2.0 takes no notice of the mask of a scalar tl.atomic_add}}
  %a = tt.atomic_rmw add, acq_rel, gpu, %p, %v, %some : (!tt.ptr<i32>, i32, i1) -> i32
  // expected-remark @below {{[scalar_atomic] triton-ascend 3.2.0 crashes on a scalar tl.atomic_add without a mask}}
  // expected-remark @below {{[locked_atomic] tl.atomic_add on 64-bit elements is done under a lock}}
  %b = tt.atomic_rmw add, acq_rel, gpu, %w, %l : (!tt.ptr<i64>, i64) -> i64
  %q = distributed.symm_at %p, %peer, : !tt.ptr<i32>
  // expected-remark @below {{[peer_atomic] tl.atomic_add whose result is used on a peer's memory is done under a lock of this launch}}
  // expected-remark @below {{[scalar_atomic]}}
  %c = tt.atomic_rmw add, acq_rel, sys, %q, %v, %some : (!tt.ptr<i32>, i32, i1) -> i32
  // expected-remark @below {{[cas_result]}}
  // expected-remark @below {{[locked_atomic] tl.atomic_cas is done under a lock}}
  %d = tt.atomic_cas acq_rel, gpu, %p, %v, %c : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return %d : i32
}

// -----

// Two blocks of 128 KiB at once.
// CHECK: nereid.fit.memory = [{available = 196608 : i64, kind = "UB", needed = 262144 : i64}
tt.func public @overflow(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
  %r = tt.make_range {start = 0 : i32, end = 32768 : i32} : tensor<32768xi32>
  %a = tt.splat %p : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>>
  %b = tt.splat %q : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>>
  %i = tt.addptr %a, %r : tensor<32768x!tt.ptr<f32>>, tensor<32768xi32>
  %j = tt.addptr %b, %r : tensor<32768x!tt.ptr<f32>>, tensor<32768xi32>
  %x = tt.load %i : tensor<32768x!tt.ptr<f32>>
  // expected-remark @below {{[memory_overflow] about 256 KiB of the unified buffer are needed at once, and a core of ascend910b3 has 192 KiB}}
  %y = tt.load %j : tensor<32768x!tt.ptr<f32>>
  %z = arith.addf %x, %y : tensor<32768xf32>
  tt.store %i, %z : tensor<32768x!tt.ptr<f32>>
  tt.return
}

// -----

// Offsets of 64 bits are folded into transfers; data of 64 bits are computed one by one.
tt.func public @types(%p: !tt.ptr<i64>) {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %o = arith.extsi %r : tensor<64xi32> to tensor<64xi64>
  %o2 = arith.addi %o, %o : tensor<64xi64>
  %base = tt.splat %p : !tt.ptr<i64> -> tensor<64x!tt.ptr<i64>>
  %at = tt.addptr %base, %o : tensor<64x!tt.ptr<i64>>, tensor<64xi64>
  %x = tt.load %at : tensor<64x!tt.ptr<i64>>
  // expected-remark @below {{[type_scalar] + of blocks of i64 has no vector instruction: 64 elements}}
  %y = arith.addi %x, %x : tensor<64xi64>
  // expected-remark @below {{[type_refused] the compiler has no % of blocks of u64}}
  %z = arith.remui %y, %x : tensor<64xi64>
  tt.store %at, %z : tensor<64x!tt.ptr<i64>>
  tt.return
}
