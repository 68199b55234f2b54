// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s --split-input-file --verify-diagnostics --cse | nereid-opt | FileCheck %s

// CHECK-LABEL: tt.func public @ops
tt.func public @ops() -> (!llvm.ptr, !llvm.ptr, i32, i32) {
  // CHECK: cpu.program : !llvm.ptr
  %program = cpu.program : !llvm.ptr
  // CHECK: cpu.scratch {offset = 64 : i64} : !llvm.ptr
  %scratch = cpu.scratch {offset = 64 : i64} : !llvm.ptr
  // Equal sites at different places stay apart.
  // CHECK: cpu.site : i32
  // CHECK: cpu.site : i32
  %a = cpu.site : i32
  %b = cpu.site : i32
  tt.return %program, %scratch, %a, %b : !llvm.ptr, !llvm.ptr, i32, i32
}

// -----

tt.func public @negative() {
  // expected-error @+1 {{attribute 'offset' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %scratch = cpu.scratch {offset = -8 : i64} : !llvm.ptr
  tt.return
}
