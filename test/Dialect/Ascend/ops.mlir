// RUN: nereid-opt %s | nereid-opt | FileCheck %s

// CHECK-LABEL: tt.func public @sub_vec
tt.func public @sub_vec() -> i64 {
  // CHECK: ascend.get_sub_vec_id : i64
  %i = ascend.get_sub_vec_id : i64
  tt.return %i : i64
}

// CHECK-LABEL: tt.func public @share
tt.func public @share(%x: i32) -> i32 {
  // CHECK: ascend.share %{{.*}} : i32
  %y = ascend.share %x : i32
  tt.return %y : i32
}
