// RUN: nereid-opt %s --nereid-cpu-tiles-to-loops=cpu=x86-64-v4 --canonicalize --cse | FileCheck %s

// Along the lanes: four vectors of partial sums; the value that is needed again
// is written to its buffer on the way, so memory is read once.
// CHECK-LABEL: tt.func @row
// CHECK: %[[S:.*]]:4 = scf.for {{.*}} step %c64_i64 iter_args
// CHECK-COUNT-4: llvm.store {{.*}} : vector<16xf32>
// CHECK: scf.yield
// CHECK: vector.shuffle
// CHECK: scf.for
// CHECK-NOT: llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK: arith.mulf
// CHECK: llvm.store
tt.func @row(%p: !tt.ptr<f32>) {
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %x = tt.load %pp : tensor<1024x!tt.ptr<f32>>
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tt.reduce.return %t : f32
  }) : (tensor<1024xf32>) -> f32
  %ss = tt.splat %s : f32 -> tensor<1024xf32>
  %y = arith.mulf %x, %ss : tensor<1024xf32>
  tt.store %pp, %y : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// Across the lanes: each lane is a result.
// CHECK-LABEL: tt.func @columns
// CHECK: scf.for {{.*}} step %c16_i64
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<16xf32>)
// CHECK: arith.maxnumf
// CHECK-NOT: vector.shuffle
// CHECK: tt.return
tt.func @columns(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
  %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %cols = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %c32 = arith.constant dense<32> : tensor<32x1xi32>
  %rs = arith.muli %rows, %c32 : tensor<32x1xi32>
  %rb = tt.broadcast %rs : tensor<32x1xi32> -> tensor<32x32xi32>
  %cb = tt.broadcast %cols : tensor<1x32xi32> -> tensor<32x32xi32>
  %o = arith.addi %rb, %cb : tensor<32x32xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %o : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  %x = tt.load %pp : tensor<32x32x!tt.ptr<f32>>
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %t = arith.maxnumf %a, %b : f32
    tt.reduce.return %t : f32
  }) : (tensor<32x32xf32>) -> tensor<32xf32>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %qq = tt.addptr %qs, %r : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  tt.store %qq, %s : tensor<32x!tt.ptr<f32>>
  tt.return
}

// Sums of bf16 have fp32 partial results, in runs of 16 rows, and are rounded
// once.
// CHECK-LABEL: tt.func @narrow
// CHECK: scf.for {{.*}} step %c16_i64
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[TOTAL:.*]] = %{{.*}}) -> (vector<16xf32>)
// CHECK: %[[PART:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<16xf32>)
// CHECK: arith.extf %{{.*}} : vector<16xbf16> to vector<16xf32>
// CHECK-NEXT: arith.addf %{{.*}} : vector<16xf32>
// CHECK: arith.addf %[[TOTAL]], %[[PART]] : vector<16xf32>
// CHECK: arith.truncf %[[SUM]] : vector<16xf32> to vector<16xbf16>
// CHECK-NOT: truncf
// CHECK: tt.return
tt.func @narrow(%p: !tt.ptr<bf16>, %q: !tt.ptr<bf16>) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %n = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<256xi32> -> tensor<256x1xi32>
  %cols = tt.expand_dims %n {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %c32 = arith.constant dense<32> : tensor<256x1xi32>
  %rs = arith.muli %rows, %c32 : tensor<256x1xi32>
  %rb = tt.broadcast %rs : tensor<256x1xi32> -> tensor<256x32xi32>
  %cb = tt.broadcast %cols : tensor<1x32xi32> -> tensor<256x32xi32>
  %o = arith.addi %rb, %cb : tensor<256x32xi32>
  %ps = tt.splat %p : !tt.ptr<bf16> -> tensor<256x32x!tt.ptr<bf16>>
  %pp = tt.addptr %ps, %o : tensor<256x32x!tt.ptr<bf16>>, tensor<256x32xi32>
  %x = tt.load %pp : tensor<256x32x!tt.ptr<bf16>>
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: bf16, %b: bf16):
    %t = arith.addf %a, %b : bf16
    tt.reduce.return %t : bf16
  }) : (tensor<256x32xbf16>) -> tensor<32xbf16>
  %qs = tt.splat %q : !tt.ptr<bf16> -> tensor<32x!tt.ptr<bf16>>
  %qq = tt.addptr %qs, %n : tensor<32x!tt.ptr<bf16>>, tensor<32xi32>
  tt.store %qq, %s : tensor<32x!tt.ptr<bf16>>
  tt.return
}
