// RUN: nereid-opt %s --nereid-cpu-tiles-to-loops=cpu=x86-64-v4 --canonicalize --cse | FileCheck %s

// Along the lanes: four vectors of partial sums. The elements, which lie side by side, are read
// again from memory: a copy of them would cost a store more.
// CHECK-LABEL: tt.func @row(
// CHECK-NOT: cpu.scratch
// CHECK: %[[S:.*]]:4 = scf.for {{.*}} step %c64_i64 iter_args
// CHECK-COUNT-4: llvm.load {{.*}} -> vector<16xf32>
// CHECK-NOT: llvm.store
// CHECK: scf.yield
// CHECK: vector.shuffle
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<16xf32>
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

// A value that is dear and needed again is written to its buffer on the way.
// CHECK-LABEL: tt.func @row_of_powers
// CHECK: %[[S:.*]]:4 = scf.for {{.*}} step %c64_i64 iter_args
// CHECK-COUNT-4: llvm.store {{.*}} : vector<16xf32>
// CHECK: scf.yield
// CHECK: vector.shuffle
// CHECK: scf.for
// CHECK-NOT: math.exp
// CHECK: arith.mulf
// CHECK: llvm.store
tt.func @row_of_powers(%p: !tt.ptr<f32>) {
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %l = tt.load %pp : tensor<1024x!tt.ptr<f32>>
  %x = math.exp %l : tensor<1024xf32>
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

// What orders memory between the two uses keeps the copy: the store must not be seen.
// CHECK-LABEL: tt.func @row_and_a_store
// CHECK: cpu.scratch
// CHECK: scf.for {{.*}} step %c64_i64 iter_args
// CHECK-COUNT-4: llvm.store {{.*}} : vector<16xf32>
tt.func @row_and_a_store(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %x = tt.load %pp : tensor<1024x!tt.ptr<f32>>
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tt.reduce.return %t : f32
  }) : (tensor<1024xf32>) -> f32
  tt.store %q, %s : !tt.ptr<f32>
  %ss = tt.splat %s : f32 -> tensor<1024xf32>
  %y = arith.mulf %x, %ss : tensor<1024xf32>
  tt.store %pp, %y : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// A choice by a bound, as a mask: the fast loop ends at the bound and does not look.
// CHECK-LABEL: tt.func @row_with_choice
// CHECK: %[[END:.*]] = arith.andi %{{.*}}, %c-64_i64
// CHECK: scf.for {{.*}} to %[[END]] step %c64_i64 iter_args
// CHECK-NOT: arith.select
// CHECK: scf.yield
// CHECK: scf.for {{.*}} = %[[END]] to %c1024_i64 step %c16_i64
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<16xi1>, vector<16xf32>
tt.func @row_with_choice(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32) {
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %ns = tt.splat %n : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %r, %ns : tensor<1024xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %l = tt.load %pp : tensor<1024x!tt.ptr<f32>>
  %zero = arith.constant dense<0.0> : tensor<1024xf32>
  %x = arith.select %m, %l, %zero : tensor<1024xi1>, tensor<1024xf32>
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tt.reduce.return %t : f32
  }) : (tensor<1024xf32>) -> f32
  tt.store %q, %s : !tt.ptr<f32>
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

// Along the lanes a vector in each step, with the sum of all before it carried; the mask ends the
// fast loop.
// CHECK-LABEL: tt.func @long_scan(
// CHECK: scf.for %{{.*}} = %c16_i64 to %{{.*}} step %c16_i64 iter_args(%[[SUM:.*]] = %{{.*}}) -> (f32)
// CHECK: llvm.load {{.*}} -> vector<16xf32>
// CHECK-COUNT-4: vector.shuffle
// CHECK: %[[ALL:.*]] = vector.broadcast %[[SUM]]
// CHECK: %[[PREFIX:.*]] = arith.addf %[[ALL]]
// CHECK: llvm.store %[[PREFIX]]
// CHECK: %[[LAST:.*]] = vector.extract %[[PREFIX]][15]
// CHECK: scf.yield %[[LAST]]
tt.func @long_scan(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32) {
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %ns = tt.splat %n : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %r, %ns : tensor<1024xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %x = tt.load %pp, %m : tensor<1024x!tt.ptr<f32>>
  %h = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.scan.return %c : f32
  }) : (tensor<1024xf32>) -> tensor<1024xf32>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %qq = tt.addptr %qs, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %qq, %h, %m : tensor<1024x!tt.ptr<f32>>
  tt.return
}
