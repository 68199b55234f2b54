// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s --nereid-cpu-pipeline | FileCheck %s
// RUN: nereid-opt %s --nereid-cpu-pipeline=cpu=x86-64-v3 | FileCheck %s --check-prefix=AVX2
// RUN: nereid-opt %s --nereid-cpu-check --nereid-cpu-simplify | FileCheck %s --check-prefix=TTIR

// Everything ends in the LLVM dialect.

// CHECK-NOT: {{ = (tt|arith|scf|vector|math|distributed|cpu)[.][a-z_]+ }}%
// CHECK-LABEL: llvm.func @add
// CHECK: llvm.fadd %{{.*}}, %{{.*}} : vector<16xf32>
// AVX2-LABEL: llvm.func @add
tt.func public @add(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %c64 = arith.constant 64 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c64 : i32
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %base = tt.splat %start : i32 -> tensor<64xi32>
  %offsets = arith.addi %base, %range : tensor<64xi32>
  %limit = tt.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %offsets, %limit : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %offsets : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %a = tt.load %xp, %mask : tensor<64x!tt.ptr<f32>>
  %s = arith.addf %a, %a : tensor<64xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %offsets : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %yp, %s, %mask : tensor<64x!tt.ptr<f32>>
  tt.return
}

// A wait stays in its loop, and the load that consumes its token behind it.

// TTIR-LABEL: tt.func public @waits
// TTIR: scf.for
// TTIR:   distributed.wait
// TTIR:   distributed.consume_token
// TTIR:   tt.load
// CHECK-LABEL: llvm.func @waits
// CHECK: ^[[BODY:bb[0-9]+]]:
// CHECK: llvm.call @nrd_wait
// CHECK-NEXT: %{{.*}} = llvm.load
tt.func public @waits(%s: !tt.ptr<i32>, %p: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f32) : i32 {
    %t = distributed.wait %s, %c1, %c1, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
    %q = distributed.consume_token %p, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
    %x = tt.load %q : !tt.ptr<f32>
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  tt.store %out, %sum : !tt.ptr<f32>
  tt.return
}
