// RUN: nereid-opt %s --nereid-cpu-pipeline=cpu=x86-64-v3 | FileCheck %s
// RUN: nereid-opt %s --nereid-cpu-pipeline=cpu=x86-64-v3 | FileCheck %s --check-prefix=CLEAN --implicit-check-not=" tt." --implicit-check-not=" distributed." --implicit-check-not=" scf." --implicit-check-not=" vector." --implicit-check-not=unrealized
//
// From TTIR to the LLVM dialect: what must still be there at the end.

// CHECK: module attributes {{{.*}}ascend.launch_mode = "cv0:1"{{.*}}nereid.blocking = true
// CLEAN: llvm.func @wait_between_loads

// A wait between two loads of one address, its token consumed as a tile.
// CHECK: llvm.func @wait_between_loads
// CHECK: llvm.load
// CHECK: llvm.call @nrd_wait(
// CHECK: llvm.load
// CHECK: llvm.store
// The spin loop yields; the count of its rounds never wraps around.
// CHECK: llvm.atomicrmw
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK-NEXT: llvm.add %{{.*}}, %{{.*}} : i64
// CHECK: llvm.call @nrd_yield(
// One that only reads a signal waits.
// CHECK: llvm.call @nrd_shmem_wait_until(
// CHECK: llvm.call @nrd_notify(
// CHECK: llvm.return
tt.func public @wait_between_loads(%sig: !tt.ptr<i32>, %p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %v: i32) {
  %zero = arith.constant 0 : i32
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %before = tt.load %pp : tensor<8x!tt.ptr<f32>>
  %t = distributed.wait %sig, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %q = distributed.consume_token %pp, %t, : tensor<8x!tt.ptr<f32>>, i32 -> tensor<8x!tt.ptr<f32>>
  %after = tt.load %q : tensor<8x!tt.ptr<f32>>
  %d = arith.subf %before, %after : tensor<8xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %op = tt.addptr %os, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  tt.store %op, %d : tensor<8x!tt.ptr<f32>>
  scf.while : () -> () {
    %x = tt.atomic_rmw add, acq_rel, sys, %sig, %zero : (!tt.ptr<i32>, i32) -> i32
    %c = arith.cmpi ne, %x, %v : i32
    scf.condition(%c)
  } do {
    scf.yield
  }
  scf.while : () -> () {
    %x = tt.load %sig : !tt.ptr<i32>
    %c = arith.cmpi ne, %x, %v : i32
    scf.condition(%c)
  } do {
    scf.yield
  }
  "distributed.notify"(%sig, %v, %v) <{commScope = 2 : i32, sigOp = 1 : i32}> : (!tt.ptr<i32>, i32, i32) -> ()
  tt.return
}
