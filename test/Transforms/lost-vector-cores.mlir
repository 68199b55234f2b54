// RUN: nereid-opt %s --split-input-file --verify-diagnostics --nereid-split-vector-cores
// RUN: sed s/cv0:1/cv1:2/ %s | nereid-opt --split-input-file --verify-diagnostics --nereid-split-vector-cores=lanes=1

// One vector core runs each program: what is left to others is told.
module attributes {ascend.launch_mode = "cv0:1"} {
  tt.func public @address(%p: !tt.ptr<f32>, %x: f32) {
    // expected-warning @+1 {{sub_vec_id() is always 0 here}}
    %id = ascend.get_sub_vec_id : i64
    %q = tt.addptr %p, %id : !tt.ptr<f32>, i64
    tt.store %q, %x : !tt.ptr<f32>
    tt.return
  }
}

// -----

module attributes {ascend.launch_mode = "cv0:1"} {
  tt.func public @second(%p: !tt.ptr<f32>, %x: f32) {
    // expected-warning @+1 {{sub_vec_id() is always 0 here}}
    %id = ascend.get_sub_vec_id : i64
    %narrow = arith.trunci %id : i64 to i32
    %c1 = arith.constant 1 : i32
    %other = arith.cmpi eq, %narrow, %c1 : i32
    scf.if %other {
      tt.store %p, %x : !tt.ptr<f32>
    }
    tt.return
  }
}

// -----

module attributes {ascend.launch_mode = "cv0:1"} {
  tt.func public @either(%p: !tt.ptr<f32>, %x: f32, %y: f32) {
    // expected-warning @+1 {{sub_vec_id() is always 0 here}}
    %id = ascend.get_sub_vec_id : i64
    %c0 = arith.constant 0 : i64
    %first = arith.cmpi eq, %id, %c0 : i64
    scf.if %first {
      tt.store %p, %x : !tt.ptr<f32>
    } else {
      tt.store %p, %y : !tt.ptr<f32>
    }
    tt.return
  }
}

// -----

// Once for each program, which holds here too.
module attributes {ascend.launch_mode = "cv0:1"} {
  tt.func public @once(%p: !tt.ptr<f32>, %x: f32, %mask: i1) {
    %id = ascend.get_sub_vec_id : i64
    %c0 = arith.constant 0 : i64
    %first = arith.cmpi eq, %id, %c0 : i64
    scf.if %first {
      tt.store %p, %x : !tt.ptr<f32>
    }
    %both = arith.andi %first, %mask : i1
    tt.store %p, %x, %both : !tt.ptr<f32>
    tt.return
  }
}
