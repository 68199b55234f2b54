// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function of Dialect/Distributed/LibraryFunctions.def: which arguments have
// to be symmetric, whether a kernel that calls it blocks, what several vector
// cores make of it, the launch mode that it asks for, and what it is on the CPU.
// tests/check/test_library_functions.py compares the functions here with the rows.
// RUN: nereid-opt %s --split-input-file --nereid-infer-symmetric-args --nereid-mark-spin-loops --nereid-split-vector-cores=lanes=2 | FileCheck %s --check-prefix=FACTS
// RUN: nereid-opt %s --split-input-file --nereid-infer-launch-mode | FileCheck %s --check-prefix=MODE
// RUN: nereid-opt %s --split-input-file --nereid-cpu-lower-runtime | FileCheck %s --check-prefix=CPU

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @my_pe()
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @my_pe(
// CPU: llvm.func @my_pe(
// CPU: llvm.load
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @my_pe() {
    %x = distributed.extern_call {libname = "libshmem_device", libpath = "", pure = true, symbol = "my_pe"} : () -> i32
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      %y = distributed.extern_call {libname = "libshmem_device", libpath = "", pure = true, symbol = "my_pe"} : () -> i32
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @n_pes()
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @n_pes(
// CPU: llvm.func @n_pes(
// CPU: llvm.load
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @n_pes() {
    %x = distributed.extern_call {libname = "libshmem_device", libpath = "", pure = true, symbol = "n_pes"} : () -> i32
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      %y = distributed.extern_call {libname = "libshmem_device", libpath = "", pure = true, symbol = "n_pes"} : () -> i32
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @team_my_pe({{%.*}}: i32)
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @team_my_pe(
// CPU: llvm.func @team_my_pe(
// CPU: llvm.call @nrd_team_my_pe(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @team_my_pe(%a: i32) {
    %x = distributed.extern_call %a {libname = "libshmem_device", libpath = "", pure = false, symbol = "team_my_pe"} : (i32) -> i32
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      %y = distributed.extern_call %a {libname = "libshmem_device", libpath = "", pure = false, symbol = "team_my_pe"} : (i32) -> i32
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @team_n_pes({{%.*}}: i32)
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @team_n_pes(
// CPU: llvm.func @team_n_pes(
// CPU: llvm.call @nrd_team_n_pes(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @team_n_pes(%a: i32) {
    %x = distributed.extern_call %a {libname = "libshmem_device", libpath = "", pure = false, symbol = "team_n_pes"} : (i32) -> i32
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      %y = distributed.extern_call %a {libname = "libshmem_device", libpath = "", pure = false, symbol = "team_n_pes"} : (i32) -> i32
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @team_translate_pe({{%.*}}: i32, {{%.*}}: i32, {{%.*}}: i32)
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @team_translate_pe(
// CPU: llvm.func @team_translate_pe(
// CPU: llvm.call @nrd_team_translate_pe(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @team_translate_pe(%a: i32, %b: i32, %c: i32) {
    %x = distributed.extern_call %a, %b, %c {libname = "libshmem_device", libpath = "", pure = false, symbol = "team_translate_pe"} : (i32, i32, i32) -> i32
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      %y = distributed.extern_call %a, %b, %c {libname = "libshmem_device", libpath = "", pure = false, symbol = "team_translate_pe"} : (i32, i32, i32) -> i32
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @remote_ptr({{%.*}}: !tt.ptr<f32> {nereid.symmetric}, {{%.*}}: i32)
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @remote_ptr(
// CPU: llvm.func @remote_ptr(
// CPU: llvm.call @nrd_shmem_ptr(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @remote_ptr(%a: !tt.ptr<f32>, %b: i32) {
    %x = distributed.extern_call %a, %b {libname = "libshmem_device", libpath = "", pure = false, symbol = "remote_ptr"} : (!tt.ptr<f32>, i32) -> !tt.ptr<f32>
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      %y = distributed.extern_call %a, %b {libname = "libshmem_device", libpath = "", pure = false, symbol = "remote_ptr"} : (!tt.ptr<f32>, i32) -> !tt.ptr<f32>
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = true
// FACTS-NEXT: tt.func public @barrier_all()
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NEXT: distributed.extern_call {{.*}}nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv1:2"
// MODE-NEXT: @barrier_all(
// CPU: llvm.func @barrier_all(
// CPU: llvm.call @nrd_barrier_all(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @barrier_all() {
    distributed.extern_call {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier_all"} : () -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier_all"} : () -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = true
// FACTS-NEXT: tt.func public @barrier_all_vec()
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NEXT: distributed.extern_call {{.*}}nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @barrier_all_vec(
// CPU: llvm.func @barrier_all_vec(
// CPU: llvm.call @nrd_barrier_all(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @barrier_all_vec() {
    distributed.extern_call {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier_all_vec"} : () -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier_all_vec"} : () -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = true
// FACTS-NEXT: tt.func public @sync_all()
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NEXT: distributed.extern_call {{.*}}nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @sync_all(
// CPU: llvm.func @sync_all(
// CPU: llvm.call @nrd_shmem_sync_all(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @sync_all() {
    distributed.extern_call {libname = "libshmem_device", libpath = "", pure = false, symbol = "sync_all"} : () -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call {libname = "libshmem_device", libpath = "", pure = false, symbol = "sync_all"} : () -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = true
// FACTS-NEXT: tt.func public @barrier({{%.*}}: i32)
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NEXT: distributed.extern_call {{.*}}nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @barrier(
// CPU: llvm.func @barrier(
// CPU: llvm.call @nrd_team_barrier(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @barrier(%a: i32) {
    distributed.extern_call %a {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier"} : (i32) -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call %a {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier"} : (i32) -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = true
// FACTS-NEXT: tt.func public @team_sync({{%.*}}: i32)
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NEXT: distributed.extern_call {{.*}}nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @team_sync(
// CPU: llvm.func @team_sync(
// CPU: llvm.call @nrd_team_barrier(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @team_sync(%a: i32) {
    distributed.extern_call %a {libname = "libshmem_device", libpath = "", pure = false, symbol = "team_sync"} : (i32) -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call %a {libname = "libshmem_device", libpath = "", pure = false, symbol = "team_sync"} : (i32) -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = true
// FACTS-NEXT: tt.func public @broadcast({{%.*}}: i32, {{%.*}}: !tt.ptr<f32>, {{%.*}}: !tt.ptr<f32> {nereid.symmetric}, {{%.*}}: i64, {{%.*}}: i32)
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NEXT: distributed.extern_call {{.*}}nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @broadcast(
// CPU: llvm.func @broadcast(
// CPU: llvm.call @nrd_team_broadcast(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @broadcast(%a: i32, %b: !tt.ptr<f32>, %c: !tt.ptr<f32>, %d: i64, %e: i32) {
    distributed.extern_call %a, %b, %c, %d, %e {libname = "libshmem_device", libpath = "", pure = false, symbol = "broadcast"} : (i32, !tt.ptr<f32>, !tt.ptr<f32>, i64, i32) -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call %a, %b, %c, %d, %e {libname = "libshmem_device", libpath = "", pure = false, symbol = "broadcast"} : (i32, !tt.ptr<f32>, !tt.ptr<f32>, i64, i32) -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = true
// FACTS-NEXT: tt.func public @fcollect({{%.*}}: i32, {{%.*}}: !tt.ptr<f32>, {{%.*}}: !tt.ptr<f32> {nereid.symmetric}, {{%.*}}: i64)
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NEXT: distributed.extern_call {{.*}}nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @fcollect(
// CPU: llvm.func @fcollect(
// CPU: llvm.call @nrd_team_fcollect(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @fcollect(%a: i32, %b: !tt.ptr<f32>, %c: !tt.ptr<f32>, %d: i64) {
    distributed.extern_call %a, %b, %c, %d {libname = "libshmem_device", libpath = "", pure = false, symbol = "fcollect"} : (i32, !tt.ptr<f32>, !tt.ptr<f32>, i64) -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call %a, %b, %c, %d {libname = "libshmem_device", libpath = "", pure = false, symbol = "fcollect"} : (i32, !tt.ptr<f32>, !tt.ptr<f32>, i64) -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @fence()
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @fence(
// CPU: llvm.func @fence(
// CPU: llvm.call @nrd_shmem_fence(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @fence() {
    distributed.extern_call {libname = "libshmem_device", libpath = "", pure = false, symbol = "fence"} : () -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call {libname = "libshmem_device", libpath = "", pure = false, symbol = "fence"} : () -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @fence_pe({{%.*}}: i32)
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @fence_pe(
// CPU: llvm.func @fence_pe(
// CPU: llvm.call @nrd_shmem_fence_pe(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @fence_pe(%a: i32) {
    distributed.extern_call %a {libname = "libshmem_device", libpath = "", pure = false, symbol = "fence_pe"} : (i32) -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call %a {libname = "libshmem_device", libpath = "", pure = false, symbol = "fence_pe"} : (i32) -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @quiet()
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @quiet(
// CPU: llvm.func @quiet(
// CPU: llvm.call @nrd_shmem_quiet(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @quiet() {
    distributed.extern_call {libname = "libshmem_device", libpath = "", pure = false, symbol = "quiet"} : () -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call {libname = "libshmem_device", libpath = "", pure = false, symbol = "quiet"} : () -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @quiet_pe({{%.*}}: i32)
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @quiet_pe(
// CPU: llvm.func @quiet_pe(
// CPU: llvm.call @nrd_shmem_quiet_pe(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @quiet_pe(%a: i32) {
    distributed.extern_call %a {libname = "libshmem_device", libpath = "", pure = false, symbol = "quiet_pe"} : (i32) -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call %a {libname = "libshmem_device", libpath = "", pure = false, symbol = "quiet_pe"} : (i32) -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @putmem({{%.*}}: !tt.ptr<f32> {nereid.symmetric}, {{%.*}}: !tt.ptr<f32>, {{%.*}}: i64, {{%.*}}: i32)
// FACTS: scf.if
// FACTS-NEXT: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @putmem(
// CPU: llvm.func @putmem(
// CPU: llvm.call @nrd_shmem_put(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @putmem(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: i64, %d: i32) {
    distributed.extern_call %a, %b, %c, %d {libname = "libshmem_device", libpath = "", pure = false, symbol = "putmem"} : (!tt.ptr<f32>, !tt.ptr<f32>, i64, i32) -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call %a, %b, %c, %d {libname = "libshmem_device", libpath = "", pure = false, symbol = "putmem"} : (!tt.ptr<f32>, !tt.ptr<f32>, i64, i32) -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @putmem_nbi({{%.*}}: !tt.ptr<f32> {nereid.symmetric}, {{%.*}}: !tt.ptr<f32>, {{%.*}}: i64, {{%.*}}: i32)
// FACTS: scf.if
// FACTS-NEXT: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @putmem_nbi(
// CPU: llvm.func @putmem_nbi(
// CPU: llvm.call @nrd_shmem_put(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @putmem_nbi(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: i64, %d: i32) {
    distributed.extern_call %a, %b, %c, %d {libname = "libshmem_device", libpath = "", pure = false, symbol = "putmem_nbi"} : (!tt.ptr<f32>, !tt.ptr<f32>, i64, i32) -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call %a, %b, %c, %d {libname = "libshmem_device", libpath = "", pure = false, symbol = "putmem_nbi"} : (!tt.ptr<f32>, !tt.ptr<f32>, i64, i32) -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @getmem({{%.*}}: !tt.ptr<f32>, {{%.*}}: !tt.ptr<f32> {nereid.symmetric}, {{%.*}}: i64, {{%.*}}: i32)
// FACTS: scf.if
// FACTS-NEXT: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @getmem(
// CPU: llvm.func @getmem(
// CPU: llvm.call @nrd_shmem_get(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @getmem(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: i64, %d: i32) {
    distributed.extern_call %a, %b, %c, %d {libname = "libshmem_device", libpath = "", pure = false, symbol = "getmem"} : (!tt.ptr<f32>, !tt.ptr<f32>, i64, i32) -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call %a, %b, %c, %d {libname = "libshmem_device", libpath = "", pure = false, symbol = "getmem"} : (!tt.ptr<f32>, !tt.ptr<f32>, i64, i32) -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @getmem_nbi({{%.*}}: !tt.ptr<f32>, {{%.*}}: !tt.ptr<f32> {nereid.symmetric}, {{%.*}}: i64, {{%.*}}: i32)
// FACTS: scf.if
// FACTS-NEXT: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @getmem_nbi(
// CPU: llvm.func @getmem_nbi(
// CPU: llvm.call @nrd_shmem_get(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @getmem_nbi(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: i64, %d: i32) {
    distributed.extern_call %a, %b, %c, %d {libname = "libshmem_device", libpath = "", pure = false, symbol = "getmem_nbi"} : (!tt.ptr<f32>, !tt.ptr<f32>, i64, i32) -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call %a, %b, %c, %d {libname = "libshmem_device", libpath = "", pure = false, symbol = "getmem_nbi"} : (!tt.ptr<f32>, !tt.ptr<f32>, i64, i32) -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @putmem_signal({{%.*}}: !tt.ptr<f32> {nereid.symmetric}, {{%.*}}: !tt.ptr<f32>, {{%.*}}: i64, {{%.*}}: !tt.ptr<i64> {nereid.symmetric}, {{%.*}}: i64, {{%.*}}: i32, {{%.*}}: i32)
// FACTS: scf.if
// FACTS-NEXT: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @putmem_signal(
// CPU: llvm.func @putmem_signal(
// CPU: llvm.call @nrd_shmem_put_signal(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @putmem_signal(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: i64, %d: !tt.ptr<i64>, %e: i64, %f: i32, %g: i32) {
    distributed.extern_call %a, %b, %c, %d, %e, %f, %g {libname = "libshmem_device", libpath = "", pure = false, symbol = "putmem_signal"} : (!tt.ptr<f32>, !tt.ptr<f32>, i64, !tt.ptr<i64>, i64, i32, i32) -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call %a, %b, %c, %d, %e, %f, %g {libname = "libshmem_device", libpath = "", pure = false, symbol = "putmem_signal"} : (!tt.ptr<f32>, !tt.ptr<f32>, i64, !tt.ptr<i64>, i64, i32, i32) -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @putmem_signal_nbi({{%.*}}: !tt.ptr<f32> {nereid.symmetric}, {{%.*}}: !tt.ptr<f32>, {{%.*}}: i64, {{%.*}}: !tt.ptr<i64> {nereid.symmetric}, {{%.*}}: i64, {{%.*}}: i32, {{%.*}}: i32)
// FACTS: scf.if
// FACTS-NEXT: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @putmem_signal_nbi(
// CPU: llvm.func @putmem_signal_nbi(
// CPU: llvm.call @nrd_shmem_put_signal(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @putmem_signal_nbi(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: i64, %d: !tt.ptr<i64>, %e: i64, %f: i32, %g: i32) {
    distributed.extern_call %a, %b, %c, %d, %e, %f, %g {libname = "libshmem_device", libpath = "", pure = false, symbol = "putmem_signal_nbi"} : (!tt.ptr<f32>, !tt.ptr<f32>, i64, !tt.ptr<i64>, i64, i32, i32) -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call %a, %b, %c, %d, %e, %f, %g {libname = "libshmem_device", libpath = "", pure = false, symbol = "putmem_signal_nbi"} : (!tt.ptr<f32>, !tt.ptr<f32>, i64, !tt.ptr<i64>, i64, i32, i32) -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @signal_op({{%.*}}: !tt.ptr<i64> {nereid.symmetric}, {{%.*}}: i64, {{%.*}}: i32, {{%.*}}: i32)
// FACTS: scf.if
// FACTS-NEXT: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @signal_op(
// CPU: llvm.func @signal_op(
// CPU: llvm.call @nrd_shmem_signal_op(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @signal_op(%a: !tt.ptr<i64>, %b: i64, %c: i32, %d: i32) {
    distributed.extern_call %a, %b, %c, %d {libname = "libshmem_device", libpath = "", pure = false, symbol = "signal_op"} : (!tt.ptr<i64>, i64, i32, i32) -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call %a, %b, %c, %d {libname = "libshmem_device", libpath = "", pure = false, symbol = "signal_op"} : (!tt.ptr<i64>, i64, i32, i32) -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = true
// FACTS-NEXT: tt.func public @signal_wait_until({{%.*}}: !tt.ptr<i64> {nereid.symmetric}, {{%.*}}: i32, {{%.*}}: i64)
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @signal_wait_until(
// CPU: llvm.func @signal_wait_until(
// CPU: llvm.call @nrd_shmem_wait_until(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @signal_wait_until(%a: !tt.ptr<i64>, %b: i32, %c: i64) {
    %x = distributed.extern_call %a, %b, %c {libname = "libshmem_device", libpath = "", pure = false, symbol = "signal_wait_until"} : (!tt.ptr<i64>, i32, i64) -> i64
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      %y = distributed.extern_call %a, %b, %c {libname = "libshmem_device", libpath = "", pure = false, symbol = "signal_wait_until"} : (!tt.ptr<i64>, i32, i64) -> i64
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @p({{%.*}}: !tt.ptr<f32> {nereid.symmetric}, {{%.*}}: f32, {{%.*}}: i32)
// FACTS: scf.if
// FACTS-NEXT: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @p(
// CPU: llvm.func @p(
// CPU: llvm.call @nrd_shmem_p(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @p(%a: !tt.ptr<f32>, %b: f32, %c: i32) {
    distributed.extern_call %a, %b, %c {libname = "libshmem_device", libpath = "", pure = false, symbol = "p"} : (!tt.ptr<f32>, f32, i32) -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call %a, %b, %c {libname = "libshmem_device", libpath = "", pure = false, symbol = "p"} : (!tt.ptr<f32>, f32, i32) -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @g({{%.*}}: !tt.ptr<f32> {nereid.symmetric}, {{%.*}}: i32)
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @g(
// CPU: llvm.func @g(
// CPU: llvm.call @nrd_shmem_g(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @g(%a: !tt.ptr<f32>, %b: i32) {
    %x = distributed.extern_call %a, %b {libname = "libshmem_device", libpath = "", pure = false, symbol = "g"} : (!tt.ptr<f32>, i32) -> f32
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      %y = distributed.extern_call %a, %b {libname = "libshmem_device", libpath = "", pure = false, symbol = "g"} : (!tt.ptr<f32>, i32) -> f32
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @fits_word({{%.*}}: i64, {{%.*}}: i32, {{%.*}}: i32)
// FACTS-NOT: scf.if
// FACTS: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @fits_word(
// CPU: llvm.func @fits_word(
// CPU: llvm.call @nrd_check_word(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @fits_word(%a: i64, %b: i32, %c: i32) {
    distributed.extern_call %a, %b, %c {libname = "libshmem_device", libpath = "", pure = false, symbol = "fits_word"} : (i64, i32, i32) -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call %a, %b, %c {libname = "libshmem_device", libpath = "", pure = false, symbol = "fits_word"} : (i64, i32, i32) -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @atomic_update({{%.*}}: !tt.ptr<f32> {nereid.symmetric}, {{%.*}}: f32, {{%.*}}: i32, {{%.*}}: i32)
// FACTS: scf.if
// FACTS-NEXT: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @atomic_update(
// CPU: llvm.func @atomic_update(
// CPU: llvm.call @nrd_shmem_atomic(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @atomic_update(%a: !tt.ptr<f32>, %b: f32, %c: i32, %d: i32) {
    distributed.extern_call %a, %b, %c, %d {libname = "libshmem_device", libpath = "", pure = false, symbol = "atomic_update"} : (!tt.ptr<f32>, f32, i32, i32) -> ()
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      distributed.extern_call %a, %b, %c, %d {libname = "libshmem_device", libpath = "", pure = false, symbol = "atomic_update"} : (!tt.ptr<f32>, f32, i32, i32) -> ()
    }
    tt.return
  }
}

// -----

// FACTS: nereid.blocking = false
// FACTS-NEXT: tt.func public @atomic_fetch({{%.*}}: !tt.ptr<f32> {nereid.symmetric}, {{%.*}}: f32, {{%.*}}: f32, {{%.*}}: i32, {{%.*}}: i32)
// FACTS: scf.if
// FACTS-NEXT: distributed.extern_call
// FACTS: scf.if
// FACTS-NOT: nereid.gated
// FACTS: tt.return
// MODE: ascend.launch_mode = "cv0:1"
// MODE-NEXT: @atomic_fetch(
// CPU: llvm.func @atomic_fetch(
// CPU: llvm.call @nrd_shmem_atomic(
module attributes {ascend.launch_mode = "cv1:2"} {
  tt.func public @atomic_fetch(%a: !tt.ptr<f32>, %b: f32, %c: f32, %d: i32, %e: i32) {
    %x = distributed.extern_call %a, %b, %c, %d, %e {libname = "libshmem_device", libpath = "", pure = false, symbol = "atomic_fetch"} : (!tt.ptr<f32>, f32, f32, i32, i32) -> f32
    %id = ascend.get_sub_vec_id : i64
    %one = arith.constant 1 : i64
    %second = arith.cmpi eq, %id, %one : i64
    scf.if %second {
      %y = distributed.extern_call %a, %b, %c, %d, %e {libname = "libshmem_device", libpath = "", pure = false, symbol = "atomic_fetch"} : (!tt.ptr<f32>, f32, f32, i32, i32) -> f32
    }
    tt.return
  }
}
