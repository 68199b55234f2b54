// RUN: nereid-opt %s --nereid-infer-symmetric-args | FileCheck %s

// CHECK-LABEL: tt.func public @direct
// CHECK-SAME: (%{{.*}}: !tt.ptr<f32> {nereid.symmetric, tt.divisibility = 16 : i32}, %{{.*}}: !tt.ptr<i64> {nereid.symmetric}, %{{.*}}: !tt.ptr<f32>, %{{.*}}: !tt.ptr<i32>, %{{.*}}: i32, %{{.*}}: i64)
tt.func public @direct(%buf: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %sig: !tt.ptr<i64>, %in: !tt.ptr<f32>, %flag: !tt.ptr<i32>, %r: i32, %v: i64) {
  %base = tt.addptr %buf, %r : !tt.ptr<f32>, i32
  %peer = distributed.symm_at %base, %r, : !tt.ptr<f32>
  %x = tt.load %in : !tt.ptr<f32>
  tt.store %peer, %x : !tt.ptr<f32>
  "distributed.notify"(%sig, %v, %r) <{commScope = 2 : i32, sigOp = 1 : i32}> : (!tt.ptr<i64>, i64, i32) -> ()
  // A wait looks at memory of the own rank, of any kind.
  %t = distributed.wait %flag, %r, %r, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  tt.return
}

// Through control flow, a token, a cast and the call of a device function.
// CHECK-LABEL: tt.func public @indirect
// CHECK-SAME: (%{{.*}}: !tt.ptr<f32> {nereid.symmetric}, %{{.*}}: !tt.ptr<f32> {nereid.symmetric}, %{{.*}}: !tt.ptr<f16> {nereid.symmetric}, %{{.*}}: !tt.ptr<f16>, %{{.*}}: i1, %{{.*}}: i32)
tt.func public @indirect(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: !tt.ptr<f16>, %d: !tt.ptr<f16>, %go: i1, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %p = scf.if %go -> (!tt.ptr<f32>) {
    scf.yield %a : !tt.ptr<f32>
  } else {
    scf.yield %b : !tt.ptr<f32>
  }
  %last = scf.for %i = %zero to %n step %one iter_args(%q = %p) -> (!tt.ptr<f32>) : i32 {
    %peer = distributed.symm_at %q, %i, : !tt.ptr<f32>
    %x = tt.load %peer : !tt.ptr<f32>
    tt.store %q, %x : !tt.ptr<f32>
    %next = tt.addptr %q, %one : !tt.ptr<f32>, i32
    scf.yield %next : !tt.ptr<f32>
  }
  %ci = tt.bitcast %c : !tt.ptr<f16> -> !tt.ptr<i16>
  %ct = distributed.consume_token %ci, %n, : !tt.ptr<i16>, i32 -> !tt.ptr<i16>
  tt.call @helper(%ct, %n) : (!tt.ptr<i16>, i32) -> ()
  tt.return
}

// CHECK: tt.func private @helper
tt.func private @helper(%p: !tt.ptr<i16>, %r: i32) {
  %peer = distributed.symm_at %p, %r, : !tt.ptr<i16>
  %x = tt.load %peer : !tt.ptr<i16>
  tt.return
}

// Destination and signal of a put, source of a get, the signal waited on.
// CHECK-LABEL: tt.func public @library
// CHECK-SAME: (%{{.*}}: !tt.ptr<f32> {nereid.symmetric}, %{{.*}}: !tt.ptr<f32>, %{{.*}}: !tt.ptr<i32> {nereid.symmetric}, %{{.*}}: !tt.ptr<f32>, %{{.*}}: !tt.ptr<f32> {nereid.symmetric}, %{{.*}}: !tt.ptr<i32> {nereid.symmetric}, %{{.*}}: !tt.ptr<f32> {nereid.symmetric}, %{{.*}}: i32)
tt.func public @library(%dst: !tt.ptr<f32>, %src: !tt.ptr<f32>, %sig: !tt.ptr<i32>, %gdst: !tt.ptr<f32>, %gsrc: !tt.ptr<f32>, %wsig: !tt.ptr<i32>, %rp: !tt.ptr<f32>, %n: i32) {
  distributed.extern_call %dst, %src, %n, %sig, %n, %n, %n {libname = "libshmem_device", libpath = "", pure = false, symbol = "putmem_signal_nbi"} : (!tt.ptr<f32>, !tt.ptr<f32>, i32, !tt.ptr<i32>, i32, i32, i32) -> ()
  distributed.extern_call %gdst, %gsrc, %n, %n {libname = "libshmem_device", libpath = "", pure = false, symbol = "getmem"} : (!tt.ptr<f32>, !tt.ptr<f32>, i32, i32) -> ()
  %0 = distributed.extern_call %wsig, %n, %n {libname = "libshmem_device", libpath = "", pure = false, symbol = "signal_wait_until"} : (!tt.ptr<i32>, i32, i32) -> i32
  %1 = distributed.extern_call %rp, %n {libname = "libshmem_device", libpath = "", pure = true, symbol = "remote_ptr"} : (!tt.ptr<f32>, i32) -> !tt.ptr<f32>
  tt.return
}

// The own rank's heap is the symmetric heap too.
// CHECK-LABEL: tt.func public @own_rank
// CHECK-SAME: !tt.ptr<f32> {nereid.symmetric}
tt.func public @own_rank(%p: !tt.ptr<f32>) -> !tt.ptr<f32> {
  %axis = arith.constant -1 : i32
  %me = distributed.get_rank %axis : i32
  %q = distributed.symm_at %p, %me, : !tt.ptr<f32>
  tt.return %q : !tt.ptr<f32>
}
