// RUN: nereid-opt %s --nereid-check-loops | FileCheck %s

// The step may be anything: both are checked.
// CHECK-LABEL: tt.func @runtime_step
// CHECK: %[[POSITIVE:.*]] = arith.cmpi sgt, %{{.*}}, %c0_i32
// CHECK: tt.assert %[[POSITIVE]], "the step of this range is not positive
// CHECK: %[[FITS:.*]] = arith.cmpi sle
// CHECK: %[[EMPTY:.*]] = arith.cmpi sge
// CHECK: %[[OK:.*]] = arith.ori %[[FITS]], %[[EMPTY]]
// CHECK: tt.assert %[[OK]], "the end of this range and one step do not fit in int32; make
// CHECK: scf.for
tt.func @runtime_step(%a: i32, %n: i32, %s: i32) {
  scf.for %i = %a to %n step %s : i32 {
  }
  tt.return
}

// Unsigned bounds of 64 bits, a constant step: only the end can be wrong.
// CHECK-LABEL: tt.func @unsigned
// CHECK-NOT: not positive
// CHECK: arith.cmpi ule
// CHECK: arith.cmpi uge
// CHECK: tt.assert %{{.*}}, "the end of this range and one step do not fit in uint64" {nereid.range_check} : i1
tt.func @unsigned(%a: i64, %n: i64) {
  %s = arith.constant 128 : i64
  scf.for unsigned %i = %a to %n step %s : i64 {
  }
  tt.return
}

// Nothing can go wrong with step 1, nor with these constants.
// CHECK-LABEL: tt.func @harmless
// CHECK-NOT: tt.assert
tt.func @harmless(%a: i32, %n: i32) {
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %end = arith.constant 4096 : i32
  scf.for %i = %a to %n step %c1 : i32 {
  }
  scf.for %i = %a to %end step %c128 : i32 {
  }
  tt.return
}
