// RUN: nereid-opt %s --nereid-cpu-tiles-to-loops=cpu=x86-64-v4 --canonicalize --cse | FileCheck %s

// The main loop of a matrix product: B to its buffer, A read where it is,
// products into the accumulator's buffer; each block asks for a share of what the
// next round reads. The accumulator is cleared before and read after.
//
// CHECK-LABEL: tt.func @gemm
// CHECK-DAG: %[[ACC:.*]] = cpu.scratch {offset = 0 : i64}
// CHECK-DAG: %[[B:.*]] = cpu.scratch {offset = 16384 : i64}
// CHECK: %[[P0:.*]] = llvm.getelementptr %[[ACC]]
// CHECK-NEXT: llvm.store %{{.*}}, %[[P0]]
// CHECK: scf.for %{{.*}} = %c0_i32 to %{{.*}} step %c1_i32
// CHECK: %[[PA:.*]] = tt.addptr %arg0
// CHECK: %[[A:.*]] = builtin.unrealized_conversion_cast %[[PA]]
// CHECK-NOT: getelementptr %[[ACC]]
// CHECK: %[[Y:.*]] = llvm.load %{{.*}} -> vector<16xf32>
// CHECK: %[[P2:.*]] = llvm.getelementptr %[[B]]
// CHECK-NEXT: llvm.store %[[Y]], %[[P2]]
// CHECK: llvm.intr.prefetch
// CHECK: %[[ROWS:.*]] = llvm.getelementptr %[[A]][%{{.*}}] {{.*}}, f32
// CHECK: llvm.getelementptr %[[ACC]]
// CHECK: llvm.getelementptr %[[B]]
// CHECK: llvm.getelementptr %[[ROWS]]
// CHECK: vector.fma
// CHECK: llvm.store {{.*}} : vector<64xf32>
// CHECK-NOT: iter_args
// CHECK: tt.return
tt.func @gemm(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %c64 = arith.constant dense<64> : tensor<32x1xi32>
  %c32 = arith.constant dense<32> : tensor<64x1xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %r0 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %k1 = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %k0 = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %ar = arith.muli %r1, %c32 : tensor<64x1xi32>
  %arb = tt.broadcast %ar : tensor<64x1xi32> -> tensor<64x32xi32>
  %akb = tt.broadcast %k0 : tensor<1x32xi32> -> tensor<64x32xi32>
  %ao = arith.addi %arb, %akb : tensor<64x32xi32>
  %bk = arith.muli %k1, %c64 : tensor<32x1xi32>
  %bkb = tt.broadcast %bk : tensor<32x1xi32> -> tensor<32x64xi32>
  %brb = tt.broadcast %r0 : tensor<1x64xi32> -> tensor<32x64xi32>
  %bo = arith.addi %bkb, %brb : tensor<32x64xi32>
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %pa = tt.addptr %a, %i : !tt.ptr<f32>, i32
    %as = tt.splat %pa : !tt.ptr<f32> -> tensor<64x32x!tt.ptr<f32>>
    %ap = tt.addptr %as, %ao : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
    %pb = tt.addptr %b, %i : !tt.ptr<f32>, i32
    %bs = tt.splat %pb : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>>
    %bp = tt.addptr %bs, %bo : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
    %av = tt.load %ap : tensor<64x32x!tt.ptr<f32>>
    %bv = tt.load %bp : tensor<32x64x!tt.ptr<f32>>
    %p = tt.dot %av, %bv, %acc : tensor<64x32xf32> * tensor<32x64xf32> -> tensor<64x64xf32>
    scf.yield %p : tensor<64x64xf32>
  }
  %c64b = arith.constant dense<64> : tensor<64x1xi32>
  %cr = arith.muli %r1, %c64b : tensor<64x1xi32>
  %crb = tt.broadcast %cr : tensor<64x1xi32> -> tensor<64x64xi32>
  %ccb = tt.broadcast %r0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %co = arith.addi %crb, %ccb : tensor<64x64xi32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %cp = tt.addptr %cs, %co : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %cp, %d : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// Masks are asked once whether they hold for the whole tile: where they do, both
// operands of a small product are read in place; where not, they are packed. C
// fits the registers: it goes to a place that LLVM makes values of.
//
// CHECK-LABEL: tt.func @masked
// CHECK: %[[C:.*]] = llvm.alloca
// CHECK: llvm.store %{{.*}}, %[[C]]
// CHECK: scf.for
// CHECK: %[[HOLDS:.*]] = arith.cmpi
// CHECK: scf.if %[[HOLDS]]
// CHECK: llvm.intr.masked.load
// CHECK: arith.select %[[HOLDS]], {{.*}} : !llvm.ptr
// CHECK: llvm.load %[[C]]
// CHECK: vector.fma
// CHECK: llvm.store %{{.*}}, %[[C]]
// CHECK: llvm.load %[[C]]
// CHECK: tt.return
tt.func @masked(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: !tt.ptr<f32>, %n: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %r0 = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %stride = tt.splat %n : i32 -> tensor<16x1xi32>
  %row = arith.muli %r1, %stride : tensor<16x1xi32>
  %rows = tt.broadcast %row : tensor<16x1xi32> -> tensor<16x16xi32>
  %columns = tt.broadcast %r0 : tensor<1x16xi32> -> tensor<16x16xi32>
  %o = arith.addi %rows, %columns : tensor<16x16xi32>
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %ap = tt.addptr %as, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %bs = tt.splat %b : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %bp = tt.addptr %bs, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %cp = tt.addptr %cs, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %d = scf.for %i = %c0 to %k step %c16 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %left = arith.subi %k, %i : i32
    %leftRow = tt.splat %left : i32 -> tensor<1x16xi32>
    %maskA = arith.cmpi slt, %r0, %leftRow : tensor<1x16xi32>
    %maskAs = tt.broadcast %maskA : tensor<1x16xi1> -> tensor<16x16xi1>
    %av = tt.load %ap, %maskAs, %zero : tensor<16x16x!tt.ptr<f32>>
    %bv = tt.load %bp : tensor<16x16x!tt.ptr<f32>>
    %p = tt.dot %av, %bv, %acc : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    scf.yield %p : tensor<16x16xf32>
  }
  tt.store %cp, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}
