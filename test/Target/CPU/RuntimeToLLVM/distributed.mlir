// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s --split-input-file --nereid-cpu-lower-runtime | FileCheck %s

// symm_at: the rank's range, the pointer's range, then one addition.

// CHECK: llvm.func @nrd_fail_not_symmetric(!llvm.ptr, !llvm.ptr, i32) attributes {passthrough = ["noreturn", "cold"]}
// CHECK: llvm.func @nrd_fail_rank(!llvm.ptr, i32, i32) attributes {passthrough = ["noreturn", "cold"]}
// CHECK-LABEL: llvm.func @symm_at(
// CHECK-SAME: %[[PROGRAM:.*]]: !llvm.ptr,
// CHECK: %[[NUM:.*]] = llvm.load %{{.*}} invariant : !llvm.ptr -> i32
// CHECK: %[[BAD:.*]] = arith.cmpi uge, %[[RANK:.*]], %[[NUM]] : i32
// CHECK: scf.if %[[BAD]] {
// CHECK:   llvm.call @nrd_fail_rank(%[[PROGRAM]], %[[RANK]], %{{.*}})
// CHECK: %[[BYTES:.*]] = llvm.load %{{.*}} invariant : !llvm.ptr -> i64
// CHECK: arith.subi
// CHECK: %[[OUT:.*]] = arith.cmpi uge, %{{.*}}, %[[BYTES]] : i64
// CHECK: scf.if %[[OUT]] {
// CHECK:   llvm.call @nrd_fail_not_symmetric(%[[PROGRAM]],
// CHECK: %[[DISTANCE:.*]] = arith.muli %{{.*}}, %[[BYTES]] : i64
// CHECK: llvm.getelementptr %{{.*}}[%[[DISTANCE]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
tt.func public @symm_at(%p: !tt.ptr<f32>, %rank: i32, %x: f32) {
  %q = distributed.symm_at %p, %rank, : !tt.ptr<f32>
  tt.store %q, %x : !tt.ptr<f32>
  tt.return
}

// -----

// CHECK: module attributes {
// CHECK-SAME: cpu.blocking = true
// CHECK-SAME: cpu.distributed = true
// CHECK-SAME: cpu.sites = {{\[\[}}"user.py", 3, 5, "helper"], ["user.py", 9, 1, "signals"{{\]\]}}
// CHECK-LABEL: llvm.func @signals
// CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : i32
// CHECK-DAG: %[[SITE0:.*]] = arith.constant 0 : i32
// CHECK: llvm.call @nrd_wait(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[FOUR]], %{{.*}}) : (!llvm.ptr, !llvm.ptr, i32, i64, i32, i32) -> i32
// CHECK: llvm.load
// CHECK: llvm.call @nrd_notify(
// CHECK: llvm.call @nrd_yield(
#callee = loc("helper"("user.py":3:5))
#caller = loc("user.py":20:1)
tt.func public @signals(%s: !tt.ptr<i32>, %data: !tt.ptr<f32>, %rank: i32, %n: i32, %out: !tt.ptr<f32>) {
  %t = distributed.wait %s, %n, %n, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32 loc(callsite(#callee at #caller))
  %d = distributed.consume_token %data, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %x = tt.load %d : !tt.ptr<f32>
  tt.store %out, %x : !tt.ptr<f32>
  "distributed.notify"(%s, %n, %rank) {sigOp = 1 : i32, commScope = 2 : i32} : (!tt.ptr<i32>, i32, i32) -> () loc(fused["user.py":9:1, "user.py":10:1])
  distributed.yield loc("user.py":9:1)
  tt.return
}
