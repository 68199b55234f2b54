// RUN: nereid-opt %s | nereid-opt | FileCheck %s

// CHECK-LABEL: tt.func public @sub_vec
tt.func public @sub_vec() -> i64 {
  // CHECK: ascend.get_sub_vec_id : i64
  %i = ascend.get_sub_vec_id : i64
  tt.return %i : i64
}
