// RUN: nereid-opt %s --nereid-cpu-guard-divisions | FileCheck %s

// CHECK-LABEL: llvm.func @unsigned
// CHECK: %[[ZERO:.*]] = arith.cmpi eq, %arg1, %{{.*}} : i32
// CHECK: %[[SAFE:.*]] = arith.select %[[ZERO]], %{{.*}}, %arg1 : i32
// CHECK: arith.remui %arg0, %[[SAFE]] : i32
llvm.func @unsigned(%n: i32, %d: i32) -> i32 {
  %q = arith.remui %n, %d : i32
  llvm.return %q : i32
}

// CHECK-LABEL: llvm.func @signed
// CHECK-DAG: %[[ZERO:.*]] = arith.cmpi eq, %arg1, %{{.*}} : vector<8xi64>
// CHECK-DAG: %[[LEAST:.*]] = arith.cmpi eq, %arg0, %{{.*}} : vector<8xi64>
// CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %{{.*}}, %arg1 : vector<8xi1>, vector<8xi64>
// CHECK: arith.divsi %arg0, %[[SAFE]] : vector<8xi64>
llvm.func @signed(%n: vector<8xi64>, %d: vector<8xi64>) -> vector<8xi64> {
  %q = arith.divsi %n, %d : vector<8xi64>
  llvm.return %q : vector<8xi64>
}

// A constant divisor costs nothing, unless it is 0 or -1.
// CHECK-LABEL: llvm.func @constant
// CHECK-NOT: arith.select
// CHECK: llvm.return
llvm.func @constant(%n: i32) -> i32 {
  %c = arith.constant 7 : i32
  %q = arith.divsi %n, %c : i32
  llvm.return %q : i32
}

// A shift by the width or more gives zeros, or copies of the sign.
// CHECK-LABEL: llvm.func @shifts
// CHECK-SAME: %[[X:.*]]: i32, %[[N:.*]]: i32
// CHECK: %[[IN:.*]] = arith.cmpi ule, %[[N]], %{{.*}} : i32
// CHECK-NEXT: %[[AMOUNT:.*]] = arith.select %[[IN]], %[[N]],
// CHECK-NEXT: %[[LEFT:.*]] = arith.shli %[[X]], %[[AMOUNT]]
// CHECK: arith.select %[[IN]], %[[LEFT]],
// CHECK: %[[SIGN:.*]] = arith.shrsi %[[X]], %{{.*}}
// CHECK-NOT: arith.select
// CHECK: %[[KNOWN:.*]] = arith.shrui %[[X]], %{{.*}}
llvm.func @shifts(%x: i32, %n: i32, %p: !llvm.ptr) {
  %c31 = arith.constant 31 : i32
  %a = arith.shli %x, %n : i32
  llvm.store %a, %p : i32, !llvm.ptr
  %b = arith.shrsi %x, %n : i32
  llvm.store %b, %p : i32, !llvm.ptr
  %c = arith.shrui %x, %c31 : i32
  llvm.store %c, %p : i32, !llvm.ptr
  llvm.return
}
