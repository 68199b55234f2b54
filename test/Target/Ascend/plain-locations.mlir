// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: nereid-opt %s -nereid-plain-locations -mlir-print-debuginfo | FileCheck %s

// CHECK-NOT: {{ to :}}
// CHECK-DAG: loc("k.py":3:4)
// CHECK-DAG: loc("k.py":7:1)
// CHECK-DAG: loc("x_ptr"(
// CHECK-DAG: loc(callsite(
// CHECK-NOT: {{ to :}}
tt.func @k(%x: !tt.ptr<f32> loc("x_ptr"("k.py":1:2 to :9))) {
  %a = tt.load %x : !tt.ptr<f32> loc("k.py":3:4 to :9)
  tt.store %x, %a : !tt.ptr<f32> loc(callsite("k.py":7:1 to 8:3 at "k.py":9:2 to :4))
  tt.return
}
