// RUN: nereid-opt %s --nereid-cpu-tiles-to-loops=cpu=x86-64-v4 --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,V512
// RUN: nereid-opt %s --nereid-cpu-tiles-to-loops=cpu=x86-64-v3 --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,V256

// One load, one store, the same addresses: nothing to ask at run time. The mask
// shortens the fast loop; what is left runs under it, skipped when empty.
// CHECK-LABEL: tt.func @in_place
// CHECK-NOT: cpu.scratch
// CHECK-NOT: scf.if
// V512: scf.for %[[I:.*]] = %{{.*}} to %[[FULL:.*]] step %c16_i64
// V256: scf.for %[[I:.*]] = %{{.*}} to %[[FULL:.*]] step %c8_i64
// CHECK-NEXT: %[[P:.*]] = llvm.getelementptr %[[ROW:.*]][%[[I]]]
// V512-NEXT: %[[X:.*]] = llvm.load %[[P]] {{.*}} -> vector<16xf32>
// V256-NEXT: %[[X:.*]] = llvm.load %[[P]] {{.*}} -> vector<8xf32>
// CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[X]]
// CHECK-NEXT: llvm.store %[[Y]], %[[P]]
// CHECK-NEXT: {{^ *[}]$}}
// CHECK-NEXT: scf.for %{{.*}} = %[[FULL]] to
// CHECK: scf.if
// CHECK-NEXT: llvm.intr.masked.load
// CHECK: scf.if
// CHECK-NEXT: llvm.intr.masked.store
// CHECK-NOT: tensor<
tt.func @in_place(%p: !tt.ptr<f32>, %n: i32) {
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %ns = tt.splat %n : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %r, %ns : tensor<1024xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %x = tt.load %pp, %m : tensor<1024x!tt.ptr<f32>>
  %y = arith.addf %x, %x : tensor<1024xf32>
  tt.store %pp, %y, %m : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// Other addresses may overlap: asked at run time, with a way through buffers. The same ones do
// no harm, as each element is read before it is written.
// CHECK-LABEL: tt.func @may_overlap
// CHECK: %[[B:.*]] = cpu.scratch
// CHECK: %[[BEFORE:.*]] = arith.cmpi ule
// CHECK: %[[AFTER:.*]] = arith.cmpi ule
// CHECK: %[[APART:.*]] = arith.ori %[[BEFORE]], %[[AFTER]]
// CHECK: %[[SAME:.*]] = arith.cmpi eq
// CHECK: %[[SAFE:.*]] = arith.ori %[[APART]], %[[SAME]]
// CHECK: scf.if %[[SAFE]] {
// CHECK-NOT: getelementptr %[[B]]
// CHECK: } else {
// CHECK: llvm.getelementptr %[[B]]
// CHECK: llvm.getelementptr %[[B]]
tt.func @may_overlap(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %qq = tt.addptr %qs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %x = tt.load %pp : tensor<64x!tt.ptr<f32>>
  tt.store %qq, %x : tensor<64x!tt.ptr<f32>>
  tt.return
}

// A load stays before what may change memory.
// CHECK-LABEL: tt.func @load_before_store
// CHECK: llvm.load {{.*}} -> vector
// CHECK: tt.store %{{.*}}, %{{.*}} : !tt.ptr<f32>
// CHECK: llvm.store
tt.func @load_before_store(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %v: f32) {
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %qq = tt.addptr %qs, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %x = tt.load %pp : tensor<16x!tt.ptr<f32>>
  tt.store %p, %v : !tt.ptr<f32>
  tt.store %qq, %x : tensor<16x!tt.ptr<f32>>
  tt.return
}

// Sizes that are no multiple of a vector end in smaller ones: 16 + 4 + 2 + 1.
// CHECK-LABEL: tt.func @odd_size
// V512: llvm.store {{.*}} : vector<16xf32>
// V512: llvm.store {{.*}} : vector<4xf32>
// V512: llvm.store {{.*}} : vector<2xf32>
// V512: llvm.store {{.*}} : f32
tt.func @odd_size(%q: !tt.ptr<f32>, %v: f32) {
  %r = tt.make_range {end = 23 : i32, start = 0 : i32} : tensor<23xi32>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<23x!tt.ptr<f32>>
  %qq = tt.addptr %qs, %r : tensor<23x!tt.ptr<f32>>, tensor<23xi32>
  %x = tt.splat %v : f32 -> tensor<23xf32>
  tt.store %qq, %x : tensor<23x!tt.ptr<f32>>
  tt.return
}

// Along the dimension that is contiguous in memory, whichever it is.
// CHECK-LABEL: tt.func @columns
// CHECK: scf.for
// CHECK: llvm.store {{.*}} : vector<
// CHECK-NOT: masked.scatter
tt.func @columns(%q: !tt.ptr<f32>, %v: f32, %stride: i32) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %s = tt.splat %stride : i32 -> tensor<1x64xi32>
  %cs = arith.muli %columns, %s : tensor<1x64xi32>
  %rb = tt.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
  %cb = tt.broadcast %cs : tensor<1x64xi32> -> tensor<64x64xi32>
  %o = arith.addi %rb, %cb : tensor<64x64xi32>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %qq = tt.addptr %qs, %o : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %x = tt.splat %v : f32 -> tensor<64x64xf32>
  tt.store %qq, %x : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
