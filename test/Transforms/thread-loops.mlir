// RUN: nereid-opt %s --split-input-file --verify-diagnostics --nereid-thread-loops --canonicalize | FileCheck %s

// What depends on the thread is a loop; what does not happens once.
// CHECK-LABEL: tt.func public @store
// CHECK-SAME: %[[P:.*]]: !tt.ptr<i32>, %[[X:.*]]: i32
// CHECK: scf.for %[[T:.*]] = %c0{{.*}} to %c128{{.*}} step %c1
// CHECK-NEXT: %[[Q:.*]] = tt.addptr %[[P]], %[[T]]
// CHECK-NEXT: tt.store %[[Q]], %[[T]] {nereid.each_thread}
// CHECK: }
// CHECK-NEXT: tt.store %[[P]], %[[X]]
// CHECK-NOT: thread_barrier
module attributes {nereid.threads = 128 : i32} {
  tt.func public @store(%p: !tt.ptr<i32>, %x: i32) {
    %t = distributed.thread_id : i32
    %q = tt.addptr %p, %t : !tt.ptr<i32>, i32
    tt.store %q, %t {nereid.each_thread} : !tt.ptr<i32>
    distributed.thread_barrier
    tt.store %p, %x : !tt.ptr<i32>
    tt.return
  }
}

// -----

// A scalar of one loop that another needs has a place for each thread.
// CHECK-LABEL: tt.func public @kept
// CHECK: %[[SLOT:.*]] = llvm.alloca %{{.*}} x i32
// CHECK: scf.for %[[T:.*]] =
// CHECK: %[[V:.*]] = tt.load
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[SLOT]][%[[T]]]
// CHECK: llvm.store %[[V]], %[[AT]]
// CHECK: }
// CHECK: scf.for %[[U:.*]] =
// CHECK: %[[THERE:.*]] = llvm.getelementptr %[[SLOT]][%[[U]]]
// CHECK: %[[W:.*]] = llvm.load %[[THERE]]
// CHECK: tt.store %{{.*}}, %[[W]]
module attributes {nereid.threads = 64 : i32} {
  tt.func public @kept(%p: !tt.ptr<i32>) {
    %t = distributed.thread_id : i32
    %q = tt.addptr %p, %t : !tt.ptr<i32>, i32
    %v = tt.load %q {isVolatile = true, nereid.each_thread} : !tt.ptr<i32>
    distributed.thread_barrier
    tt.store %q, %v {nereid.each_thread} : !tt.ptr<i32>
    tt.return
  }
}

// -----

// Stores and atomics of the program are thread 0's.
// CHECK-LABEL: tt.func public @of_program
// CHECK: scf.for %[[T:.*]] =
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[T]], %c7
// CHECK: scf.if %[[BELOW]]
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[T]], %c0
// CHECK: scf.if %[[FIRST]]
// CHECK: tt.store
module attributes {nereid.threads = 128 : i32} {
  tt.func public @of_program(%p: !tt.ptr<i32>) {
    %c7 = arith.constant 7 : i32
    %t = distributed.thread_id : i32
    %some = arith.cmpi slt, %t, %c7 : i32
    scf.if %some {
      tt.store %p, %c7 : !tt.ptr<i32>
    }
    tt.return
  }
}

// -----

// A kernel that asks for no thread stays as it is.
// CHECK-LABEL: tt.func public @none
// CHECK-NOT: scf.for
module {
  tt.func public @none(%p: !tt.ptr<i32>, %x: i32) {
    tt.store %p, %x : !tt.ptr<i32>
    tt.return
  }
}

// -----

// A branch that leads to a barrier is of the spine, with a mask of the threads that are on it.
// CHECK-LABEL: tt.func public @some_meet
// CHECK: %[[ANY:.*]] = llvm.alloca %{{.*}} x i8
// CHECK: %[[ON:.*]] = llvm.alloca %{{.*}} x i8
// CHECK: scf.for %[[T:.*]] =
// CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[T]], %c7
// CHECK: %[[BYTE:.*]] = arith.extui %[[SOME]]
// CHECK: llvm.store %[[BYTE]]
// CHECK: llvm.load %[[ANY]]
// CHECK: llvm.load %[[ANY]]
// CHECK: scf.if
// CHECK: scf.for %[[U:.*]] =
// CHECK: llvm.getelementptr %[[ON]][%[[U]]]
// CHECK: scf.if
// CHECK-NEXT: tt.addptr %{{.*}}, %[[U]]
// CHECK-NEXT: tt.store
// CHECK: scf.for %{{.*}} =
// CHECK: tt.load
// CHECK-NOT: thread_barrier
module attributes {nereid.threads = 128 : i32} {
  tt.func public @some_meet(%p: !tt.ptr<i32>) {
    %c7 = arith.constant 7 : i32
    %t = distributed.thread_id : i32
    %q = tt.addptr %p, %t : !tt.ptr<i32>, i32
    %some = arith.cmpi slt, %t, %c7 : i32
    scf.if %some {
      tt.store %q, %t {nereid.each_thread} : !tt.ptr<i32>
      // expected-warning @below {{only some threads of the program reach this barrier}}
      distributed.thread_barrier
      %x = tt.load %q {isVolatile = true, nereid.each_thread} : !tt.ptr<i32>
      tt.store %q, %x {nereid.each_thread} : !tt.ptr<i32>
    }
    tt.return
  }
}

// -----

// Each thread gives its value before any takes another's.
// CHECK-LABEL: tt.func public @shuffle
// CHECK: scf.for %[[T:.*]] =
// CHECK: %[[MINE:.*]] = tt.load
// CHECK: scf.for %[[G:.*]] =
// CHECK: llvm.store
// CHECK: scf.for %[[U:.*]] =
// CHECK: %[[FIRST:.*]] = arith.andi %[[U]], %c-32
// CHECK: %[[FROM:.*]] = arith.ori %[[FIRST]]
// CHECK: %[[AT:.*]] = llvm.getelementptr %{{.*}}[%[[FROM]]]
// CHECK: llvm.load %[[AT]]
// CHECK-NOT: shfl
module attributes {nereid.threads = 64 : i32} {
  tt.func public @shuffle(%p: !tt.ptr<i32>, %lane: i32) {
    %t = distributed.thread_id : i32
    %q = tt.addptr %p, %t : !tt.ptr<i32>, i32
    %mine = tt.load %q {isVolatile = true, nereid.each_thread} : !tt.ptr<i32>
    %theirs = tt.elementwise_inline_asm "shfl.sync.idx.b32" {constraints = "=r,r,r", packed_element = 1 : i32, pure = false} %mine, %lane : i32, i32 -> i32
    tt.store %q, %theirs {nereid.each_thread} : !tt.ptr<i32>
    tt.return
  }
}

// -----

module attributes {nereid.threads = 128 : i32} {
  tt.func public @block(%p: !tt.ptr<i32>) {
    %t = distributed.thread_id : i32
    // expected-error @below {{a block cannot depend on the number of a thread}}
    %b = tt.splat %t : i32 -> tensor<8xi32>
    %q = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    tt.store %q, %b : tensor<8x!tt.ptr<i32>>
    tt.return
  }
}

// -----

// The first thread of each warp calls what a warp calls together.
// CHECK-LABEL: tt.func public @warp
// CHECK: scf.for %[[T:.*]] =
// CHECK: %[[LANE:.*]] = arith.remsi %[[T]], %c32
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[LANE]], %c0
// CHECK: scf.if %[[FIRST]]
// CHECK-NEXT: distributed.extern_call
module attributes {nereid.threads = 128 : i32} {
  tt.func public @warp(%c64: i32) {
    %t = distributed.thread_id : i32
    %some = arith.cmpi slt, %t, %c64 : i32
    scf.if %some {
      distributed.extern_call {libname = "libshmem_device", libpath = "", nereid.together = "warp", pure = false, spelling = "fence", symbol = "fence"} : () -> ()
    }
    tt.return
  }
}

// -----

module attributes {nereid.threads = 128 : i32} {
  tt.func public @block_call(%c64: i32) {
    %t = distributed.thread_id : i32
    %some = arith.cmpi slt, %t, %c64 : i32
    scf.if %some {
      // expected-error @below {{only some threads of the program reach this}}
      distributed.extern_call {libname = "libshmem_device", libpath = "", nereid.together = "block", pure = false, symbol = "quiet"} : () -> ()
    }
    tt.return
  }
}
