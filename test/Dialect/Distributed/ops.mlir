// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// RUN: nereid-opt %s --mlir-print-op-generic | nereid-opt | FileCheck %s

// CHECK-LABEL: tt.func public @identity
tt.func public @identity() -> (i32, i32) {
  %axis = arith.constant -1 : i32
  // CHECK: distributed.get_rank %{{.*}} : i32
  %r = distributed.get_rank %axis : i32
  // CHECK: distributed.get_num_ranks %{{.*}} : i32
  %n = distributed.get_num_ranks %axis : i32
  tt.return %r, %n : i32, i32
}

// CHECK-LABEL: tt.func @symm_at
tt.func @symm_at(%p: !tt.ptr<f32>, %r: i32) -> !tt.ptr<f32> {
  // CHECK: distributed.symm_at %{{.*}}, %{{.*}}, : !tt.ptr<f32>
  %q = distributed.symm_at %p, %r, : !tt.ptr<f32>
  tt.return %q : !tt.ptr<f32>
}

// CHECK-LABEL: tt.func @wait
tt.func @wait(%p: !tt.ptr<i32>, %p64: !tt.ptr<i64>, %pp: tensor<4x!tt.ptr<i32>>, %n: i32, %v: i32, %v64: i64) -> i32 {
  // CHECK: distributed.wait %{{.*}}, %{{.*}}, %{{.*}}, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %a = distributed.wait %p, %n, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  // CHECK: distributed.wait %{{.*}}, scope = sys semantic = relaxed : !tt.ptr<i64>, i32, i64 -> i32
  %b = distributed.wait %p64, %n, %v64, scope = sys semantic = relaxed : !tt.ptr<i64>, i32, i64 -> i32
  // CHECK: distributed.wait %{{.*}}, scope = cta semantic = acq_rel : tensor<4x!tt.ptr<i32>>, i32, i32 -> i32
  %c = distributed.wait %pp, %n, %v, scope = cta semantic = acq_rel : tensor<4x!tt.ptr<i32>>, i32, i32 -> i32
  %s = arith.addi %a, %b : i32
  %t = arith.addi %s, %c : i32
  tt.return %t : i32
}

// CHECK-LABEL: tt.func @consume
tt.func @consume(%p: !tt.ptr<f32>, %pp: tensor<8x!tt.ptr<f32>>, %b: !tt.ptr<tensor<8x8xf32>>,
                 %d: !tt.tensordesc<8x8xf32>, %x: f32, %t: i32) {
  // CHECK: distributed.consume_token %{{.*}}, %{{.*}}, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %0 = distributed.consume_token %p, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  // CHECK: distributed.consume_token %{{.*}}, : tensor<8x!tt.ptr<f32>>, i32 -> tensor<8x!tt.ptr<f32>>
  %1 = distributed.consume_token %pp, %t, : tensor<8x!tt.ptr<f32>>, i32 -> tensor<8x!tt.ptr<f32>>
  // CHECK: distributed.consume_token %{{.*}}, : !tt.ptr<tensor<8x8xf32>>, i32 -> !tt.ptr<tensor<8x8xf32>>
  %2 = distributed.consume_token %b, %t, : !tt.ptr<tensor<8x8xf32>>, i32 -> !tt.ptr<tensor<8x8xf32>>
  // CHECK: distributed.consume_token %{{.*}}, : !tt.tensordesc<8x8xf32>, i32 -> !tt.tensordesc<8x8xf32>
  %3 = distributed.consume_token %d, %t, : !tt.tensordesc<8x8xf32>, i32 -> !tt.tensordesc<8x8xf32>
  // CHECK: distributed.consume_token %{{.*}}, : f32, i32 -> f32
  %4 = distributed.consume_token %x, %t, : f32, i32 -> f32
  tt.return
}

// CHECK-LABEL: tt.func @notify
tt.func @notify(%p: !tt.ptr<i64>, %q: !tt.ptr<i32>, %v: i64, %w: i32, %r: i32) {
  // CHECK: "distributed.notify"(%{{.*}}, %{{.*}}, %{{.*}}) <{commScope = 2 : i32, sigOp = 1 : i32}> : (!tt.ptr<i64>, i64, i32) -> ()
  "distributed.notify"(%p, %v, %r) <{commScope = 2 : i32, sigOp = 1 : i32}> : (!tt.ptr<i64>, i64, i32) -> ()
  // CHECK: "distributed.notify"(%{{.*}}, %{{.*}}, %{{.*}}) <{commScope = 3 : i32, sigOp = 2 : i32}> : (!tt.ptr<i32>, i32, i32) -> ()
  "distributed.notify"(%q, %w, %r) <{commScope = 3 : i32, sigOp = 2 : i32}> : (!tt.ptr<i32>, i32, i32) -> ()
  tt.return
}

// CHECK-LABEL: tt.func @extern_call
tt.func @extern_call(%p: !tt.ptr<f32>, %r: i32) -> !tt.ptr<f32> {
  // CHECK: distributed.extern_call  {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier_all"} : () -> ()
  distributed.extern_call  {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier_all"} : () -> ()
  // CHECK: distributed.extern_call %{{.*}}, %{{.*}} {libname = "libshmem_device", libpath = "", pure = true, symbol = "remote_ptr"} : (!tt.ptr<f32>, i32) -> !tt.ptr<f32>
  %q = distributed.extern_call %p, %r {libname = "libshmem_device", libpath = "", pure = true, symbol = "remote_ptr"} : (!tt.ptr<f32>, i32) -> !tt.ptr<f32>
  // CHECK: spelling = "barrier_all_block", symbol = "barrier_all"
  distributed.extern_call  {libname = "libshmem_device", libpath = "", pure = false, spelling = "barrier_all_block", symbol = "barrier_all"} : () -> ()
  tt.return %q : !tt.ptr<f32>
}

// CHECK-LABEL: tt.func @yield
tt.func @yield() {
  // CHECK: distributed.yield
  distributed.yield
  tt.return
}

// CHECK-LABEL: tt.func @access
tt.func @access(%p: !tt.ptr<f32>, %m: i1, %pp: tensor<8x!tt.ptr<f32>>, %mm: tensor<8xi1>) {
  // CHECK: distributed.access read %{{.*}} : !tt.ptr<f32>
  distributed.access read %p : !tt.ptr<f32>
  // CHECK: distributed.access write %{{.*}}, %{{.*}} : !tt.ptr<f32>, i1
  distributed.access write %p, %m : !tt.ptr<f32>, i1
  // CHECK: distributed.access read %{{.*}} {isVolatile} : tensor<8x!tt.ptr<f32>>
  distributed.access read %pp {isVolatile} : tensor<8x!tt.ptr<f32>>
  // CHECK: distributed.access write %{{.*}}, %{{.*}} : tensor<8x!tt.ptr<f32>>, tensor<8xi1>
  distributed.access write %pp, %mm : tensor<8x!tt.ptr<f32>>, tensor<8xi1>
  tt.return
}
