// RUN: nereid-opt %s --split-input-file --verify-diagnostics

tt.func @make_range_empty() {
  // expected-error @below {{needs end > start, got start = 4, end = 4}}
  %0 = tt.make_range {end = 4 : i32, start = 4 : i32} : tensor<1xi32>
  tt.return
}

// -----

tt.func @make_range_size() {
  // expected-error @below {{of 8 elements cannot have type 'tensor<4xi32>'}}
  %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<4xi32>
  tt.return
}

// -----

tt.func @dynamic_shape(%x: f32) {
  // expected-error @below {{must be statically shaped tensor}}
  %0 = tt.splat %x : f32 -> tensor<?xf32>
  tt.return
}

// -----

tt.func @splat_type(%x: f32) {
  // expected-error @below {{of 'f32' cannot give 'tensor<8xi32>'}}
  %0 = tt.splat %x : f32 -> tensor<8xi32>
  tt.return
}

// -----

tt.func @unsplat_many(%x: tensor<8xf32>) {
  // expected-error @below {{takes a tensor of one element, got 'tensor<8xf32>'}}
  %0 = tt.unsplat %x : tensor<8xf32>
  tt.return
}

// -----

tt.func @expand_dims_axis(%x: tensor<8xf32>) {
  // expected-error @below {{axis 2 is out of range for 'tensor<8xf32>'}}
  %0 = tt.expand_dims %x {axis = 2 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  tt.return
}

// -----

tt.func @expand_dims_shape(%x: tensor<8xf32>) {
  // expected-error @below {{of 'tensor<8xf32>' at axis 0 cannot give 'tensor<8x1xf32>'}}
  %0 = tt.expand_dims %x {axis = 0 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  tt.return
}

// -----

tt.func @broadcast_rank(%x: tensor<8xf32>) {
  // expected-error @below {{keeps the rank: 'tensor<8xf32>' cannot give 'tensor<8x8xf32>'}}
  %0 = tt.broadcast %x : tensor<8xf32> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @broadcast_dim(%x: tensor<4x2xf32>) {
  // expected-error @below {{repeats dimensions of size 1 only: dimension 1 is 2 in 'tensor<4x2xf32>' and 8 in 'tensor<4x8xf32>'}}
  %0 = tt.broadcast %x : tensor<4x2xf32> -> tensor<4x8xf32>
  tt.return
}

// -----

tt.func @reshape_count(%x: tensor<4x2xf32>) {
  // expected-error @below {{keeps the number of elements: 'tensor<4x2xf32>' cannot give 'tensor<7xf32>'}}
  %0 = tt.reshape %x : tensor<4x2xf32> -> tensor<7xf32>
  tt.return
}

// -----

tt.func @trans_order(%x: tensor<4x2xf32>) {
  // expected-error @below {{order names each of the 2 dimensions once}}
  %0 = tt.trans %x {order = array<i32: 0, 0>} : tensor<4x2xf32> -> tensor<2x4xf32>
  tt.return
}

// -----

tt.func @trans_shape(%x: tensor<4x2xf32>) {
  // expected-error @below {{of 'tensor<4x2xf32>' cannot give 'tensor<4x2xf32>'}}
  %0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<4x2xf32> -> tensor<4x2xf32>
  tt.return
}

// -----

tt.func @join_shape(%x: tensor<4xf32>) {
  // expected-error @below {{of two 'tensor<4xf32>' cannot give 'tensor<2x4xf32>'}}
  %0 = tt.join %x, %x : tensor<4xf32> -> tensor<2x4xf32>
  tt.return
}

// -----

tt.func @split_last(%x: tensor<2x4xf32>) {
  // expected-error @below {{takes a tensor whose last dimension is 2, got 'tensor<2x4xf32>'}}
  %0, %1 = tt.split %x : tensor<2x4xf32> -> tensor<2xf32>
  tt.return
}

// -----

tt.func @split_halves(%x: tensor<4x2xf32>) {
  // expected-error @below {{of 'tensor<4x2xf32>' gives two 'tensor<4xf32>'}}
  %0, %1 = tt.split %x : tensor<4x2xf32> -> tensor<2xf32>
  tt.return
}

// -----

tt.func @cat_shape(%x: tensor<4x2xf32>) {
  // expected-error @below {{of two 'tensor<4x2xf32>' cannot give 'tensor<4x4xf32>'}}
  %0 = tt.cat %x, %x : tensor<4x2xf32> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @cat_scalar(%x: tensor<f32>) {
  // expected-error @below {{takes tensors of rank 1 or more}}
  %0 = tt.cat %x, %x : tensor<f32> -> tensor<2xf32>
  tt.return
}

// -----

tt.func @addptr_shape(%pp: tensor<8x!tt.ptr<f32>>, %o: tensor<4xi32>) {
  // expected-error @below {{requires the same shape for all operands and results}}
  %0 = tt.addptr %pp, %o : tensor<8x!tt.ptr<f32>>, tensor<4xi32>
  tt.return
}

// -----

tt.func @addptr_scalar_offset(%pp: tensor<8x!tt.ptr<f32>>, %o: i32) {
  // expected-error @below {{requires the same shape for all operands and results}}
  %0 = tt.addptr %pp, %o : tensor<8x!tt.ptr<f32>>, i32
  tt.return
}

// -----

tt.func @bitcast_width(%x: f32) {
  // expected-error @below {{needs equal widths, got 'f32' and 'i16'}}
  %0 = tt.bitcast %x : f32 -> i16
  tt.return
}

// -----

tt.func @bitcast_pointer(%x: i64) {
  // expected-error @below {{between pointers and numbers is int_to_ptr or ptr_to_int}}
  %0 = tt.bitcast %x : i64 -> !tt.ptr<f32>
  tt.return
}

// -----

tt.func @widening_rounding(%x: f16) {
  // expected-error @below {{takes a rounding mode only when it narrows}}
  %0 = tt.fp_to_fp %x, rounding = rtne : f16 -> f32
  tt.return
}

// -----

tt.func @load_mask_shape(%pp: tensor<8x!tt.ptr<f32>>, %m: tensor<4xi1>) {
  // expected-error @below {{mask of 'tensor<4xi1>' does not fit 'tensor<8x!tt.ptr<f32>>'}}
  %0 = "tt.load"(%pp, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<8x!tt.ptr<f32>>, tensor<4xi1>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @load_other_type(%pp: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %o: tensor<8xf16>) {
  // expected-error @below {{`other` of 'tensor<8xf16>' does not fit 'tensor<8xf32>'}}
  %0 = "tt.load"(%pp, %m, %o) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<8x!tt.ptr<f32>>, tensor<8xi1>, tensor<8xf16>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @load_other_alone(%pp: tensor<8x!tt.ptr<f32>>, %o: tensor<8xf32>) {
  // expected-error @below {{takes `other` only with a mask}}
  %0 = "tt.load"(%pp, %o) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @load_result(%pp: tensor<8x!tt.ptr<f32>>) {
  // expected-error @below {{type of result is what ptr points to}}
  %0 = "tt.load"(%pp) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<8x!tt.ptr<f32>>) -> tensor<8xf16>
  tt.return
}

// -----

tt.func @load_boundary(%pp: tensor<8x!tt.ptr<f32>>) {
  // expected-error @below {{takes boundaryCheck only through a block pointer}}
  %0 = tt.load %pp {boundaryCheck = array<i32: 0>} : tensor<8x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @load_boundary_dim(%b: !tt.ptr<tensor<8x8xf32>>) {
  // expected-error @below {{boundaryCheck names dimension 2 of 'tensor<8x8xf32>'}}
  %0 = tt.load %b {boundaryCheck = array<i32: 2>} : !tt.ptr<tensor<8x8xf32>>
  tt.return
}

// -----

tt.func @store_block_pointer_mask(%b: !tt.ptr<tensor<8xf32>>, %x: tensor<8xf32>, %m: tensor<8xi1>) {
  // expected-error @below {{through a block pointer takes boundaryCheck, not a mask}}
  tt.store %b, %x, %m : !tt.ptr<tensor<8xf32>>
  tt.return
}

// -----

tt.func @load_hint(%p: !tt.ptr<f32>) {
  // expected-error @below {{unknown cache modifier 'best'}}
  %0 = tt.load %p cacheModifier = best : !tt.ptr<f32>
  tt.return
}

// -----

tt.func @load_evict(%p: !tt.ptr<f32>) {
  // expected-error @below {{unknown eviction policy 'never'}}
  %0 = tt.load %p evictionPolicy = never : !tt.ptr<f32>
  tt.return
}

// -----

tt.func @load_two_hints(%p: !tt.ptr<f32>) {
  // expected-error @below {{takes cachePolicy or the two hints by name, not both}}
  %0 = tt.load %p cacheModifier = cg {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>} : !tt.ptr<f32>
  tt.return
}

// -----

tt.func @fadd_int(%p: !tt.ptr<i32>, %v: i32) {
  // expected-error @below {{fadd needs floating-point elements, got 'i32'}}
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
  tt.return
}

// -----

tt.func @and_float(%p: !tt.ptr<f32>, %v: f32) {
  // expected-error @below {{and needs integer elements, got 'f32'}}
  %0 = tt.atomic_rmw and, acq_rel, gpu, %p, %v : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----

tt.func @atomic_mask(%p: !tt.ptr<f32>, %v: f32, %m: tensor<1xi1>) {
  // expected-error @below {{mask of 'tensor<1xi1>' does not fit '!tt.ptr<f32>'}}
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m : (!tt.ptr<f32>, f32, tensor<1xi1>) -> f32
  tt.return
}

// -----

tt.func @cas_bits(%p: !tt.ptr<i1>, %v: i1) {
  // expected-error @below {{compares elements of 8, 16, 32 or 64 bits, got 'i1'}}
  %0 = tt.atomic_cas acq_rel, sys, %p, %v, %v : (!tt.ptr<i1>, i1, i1) -> i1
  tt.return
}

// -----

tt.func @poll_type(%p: !tt.ptr<i64>, %v: i32) {
  // expected-error @below {{expects a value of type 'i32' at a pointer to 'i64'}}
  %0 = tt.atomic_poll acquire, gpu, %p, %v : !tt.ptr<i64>, i32 -> i1
  tt.return
}

// -----

tt.func @block_pointer_rank(%p: !tt.ptr<f16>, %m: i64, %a: i32) {
  // expected-error @below {{needs shape, strides, offsets and order of rank 2}}
  %0 = tt.make_tensor_ptr %p, [%m], [%m], [%a] {order = array<i32: 0>} : <tensor<8x8xf16>>
  tt.return
}

// -----

tt.func @block_pointer_order(%p: !tt.ptr<f16>, %m: i64, %a: i32) {
  // expected-error @below {{order names each of the 2 dimensions once}}
  %0 = tt.make_tensor_ptr %p, [%m, %m], [%m, %m], [%a, %a] {order = array<i32: 1, 1>} : <tensor<8x8xf16>>
  tt.return
}

// -----

tt.func @block_pointer_of_pointer(%p: !tt.ptr<f16>, %m: i64, %a: i32) {
  // expected-error @below {{makes a block pointer, got '!tt.ptr<f16>'}}
  %0 = tt.make_tensor_ptr %p, [%m], [%m], [%a] {order = array<i32: 0>} : <f16>
  tt.return
}

// -----

tt.func @advance_rank(%b: !tt.ptr<tensor<8x8xf16>>, %a: i32) {
  // expected-error @below {{needs 2 offsets, got 1}}
  %0 = tt.advance %b, [%a] : <tensor<8x8xf16>>
  tt.return
}

// -----

tt.func @descriptor_rank(%p: !tt.ptr<f16>, %m: i32, %s: i64) {
  // expected-error @below {{needs shape and strides of rank 2, got 1}}
  %0 = tt.make_tensor_descriptor %p, [%m], [%s] : <f16>, <8x8xf16>
  tt.return
}

// -----

tt.func @descriptor_element(%p: !tt.ptr<f32>, %m: i32, %s: i64) {
  // expected-error @below {{of a pointer to 'f32' cannot give '!tt.tensordesc<8xf16>'}}
  %0 = tt.make_tensor_descriptor %p, [%m], [%s] : <f32>, <8xf16>
  tt.return
}

// -----

tt.func @descriptor_load_tile(%d: !tt.tensordesc<8x8xf16>, %i: i32) {
  // expected-error @below {{tile of 'tensor<8x4xf16>' does not fit a descriptor of blocks 'tensor<8x8xf16>'}}
  %0 = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<8x8xf16> -> tensor<8x4xf16>
  tt.return
}

// -----

tt.func @descriptor_load_indices(%d: !tt.tensordesc<8x8xf16>, %i: i32) {
  // expected-error @below {{needs 2 indices, got 1}}
  %0 = tt.descriptor_load %d[%i] : !tt.tensordesc<8x8xf16> -> tensor<8x8xf16>
  tt.return
}

// -----

tt.func @descriptor_store_tile(%d: !tt.tensordesc<8x8xf16>, %i: i32, %x: tensor<8x8xf32>) {
  // expected-error @below {{tile of 'tensor<8x8xf32>' does not fit a descriptor of blocks 'tensor<8x8xf16>'}}
  tt.descriptor_store %d[%i, %i], %x : !tt.tensordesc<8x8xf16>, tensor<8x8xf32>
  tt.return
}

// -----

tt.func @descriptor_reduce_tile(%d: !tt.tensordesc<8x8xf16>, %i: i32, %x: tensor<8xf16>) {
  // expected-error @below {{tile of 'tensor<8xf16>' does not fit a descriptor of blocks 'tensor<8x8xf16>'}}
  tt.descriptor_reduce add, %d[%i, %i], %x : !tt.tensordesc<8x8xf16>, tensor<8xf16>
  tt.return
}

// -----

tt.func @descriptor_gather_block(%d: !tt.tensordesc<8x8xf16>, %i: i32, %x: tensor<4xi32>) {
  // expected-error @below {{takes a descriptor of blocks 1xN, got '!tt.tensordesc<8x8xf16>'}}
  %0 = tt.descriptor_gather %d[%x, %i] : (!tt.tensordesc<8x8xf16>, tensor<4xi32>, i32) -> tensor<4x8xf16>
  tt.return
}

// -----

tt.func @descriptor_gather_offsets(%d: !tt.tensordesc<1x8xf16>, %i: i32, %x: tensor<2x2xi32>) {
  // expected-error @below {{takes a 1-D tensor of row offsets, got 'tensor<2x2xi32>'}}
  %0 = tt.descriptor_gather %d[%x, %i] : (!tt.tensordesc<1x8xf16>, tensor<2x2xi32>, i32) -> tensor<4x8xf16>
  tt.return
}

// -----

tt.func @descriptor_scatter_tile(%d: !tt.tensordesc<1x8xf16>, %i: i32, %x: tensor<4xi32>, %v: tensor<8x8xf16>) {
  // expected-error @below {{tile of 'tensor<8x8xf16>' does not fit 'tensor<4xi32>' and a descriptor of blocks 'tensor<1x8xf16>'}}
  tt.descriptor_scatter %d[%x, %i], %v : !tt.tensordesc<1x8xf16>, tensor<4xi32>, i32, tensor<8x8xf16>
  tt.return
}

// -----

tt.func @dot_rank(%a: tensor<8xf16>, %b: tensor<8xf16>, %c: tensor<8xf32>) {
  // expected-error @below {{takes operands of equal rank 2 or 3, got 'tensor<8xf16>' and 'tensor<8xf16>'}}
  %0 = tt.dot %a, %b, %c : tensor<8xf16> * tensor<8xf16> -> tensor<8xf32>
  tt.return
}

// -----

tt.func @dot_inner(%a: tensor<4x8xf16>, %b: tensor<4x8xf16>, %c: tensor<4x8xf32>) {
  // expected-error @below {{inner dimensions differ: 'tensor<4x8xf16>' and 'tensor<4x8xf16>'}}
  %0 = tt.dot %a, %b, %c : tensor<4x8xf16> * tensor<4x8xf16> -> tensor<4x8xf32>
  tt.return
}

// -----

tt.func @dot_result(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %c: tensor<4x8xf32>) {
  // expected-error @below {{of 'tensor<4x8xf16>' and 'tensor<8x4xf16>' cannot give 'tensor<4x8xf32>'}}
  %0 = tt.dot %a, %b, %c : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<4x8xf32>
  tt.return
}

// -----

tt.func @dot_batch(%a: tensor<2x4x8xf16>, %b: tensor<3x8x4xf16>, %c: tensor<2x4x4xf32>) {
  // expected-error @below {{batch dimensions differ: 'tensor<2x4x8xf16>' and 'tensor<3x8x4xf16>' -> 'tensor<2x4x4xf32>'}}
  %0 = tt.dot %a, %b, %c : tensor<2x4x8xf16> * tensor<3x8x4xf16> -> tensor<2x4x4xf32>
  tt.return
}

// -----

tt.func @dot_widths(%a: tensor<4x8xf16>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>) {
  // expected-error @below {{element widths differ: 'tensor<4x8xf16>' and 'tensor<8x4xf32>'}}
  %0 = tt.dot %a, %b, %c : tensor<4x8xf16> * tensor<8x4xf32> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @dot_scaled_inner(%a: tensor<4x32xi8>, %b: tensor<32x4xf8E5M2>, %c: tensor<4x4xf32>) {
  // expected-error @below {{inner dimensions differ: 'tensor<4x32xi8>' holds 64, 'tensor<32x4xf8E5M2>' holds 32}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = e5m2 {fastMath = false} : tensor<4x32xi8> * tensor<32x4xf8E5M2> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @reduce_axis(%x: tensor<8xf32>) {
  // expected-error @below {{axis 1 is out of range for 'tensor<8xf32>'}}
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<8xf32>) -> f32
  tt.return
}

// -----

tt.func @reduce_result(%x: tensor<4x8xf32>) {
  // expected-error @below {{of 'tensor<4x8xf32>' along axis 1 gives 'tensor<4xf32>', not 'tensor<8xf32>'}}
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<4x8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @reduce_args(%x: tensor<8xf32>) {
  // expected-error @below {{combining region takes 2 scalars, got 1}}
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32):
    tt.reduce.return %a : f32
  }) : (tensor<8xf32>) -> f32
  tt.return
}

// -----

tt.func @reduce_elements(%x: tensor<8xf32>) {
  // expected-error @below {{combining region must work on 'f32' for operand 0}}
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f16, %b: f16):
    tt.reduce.return %a : f16
  }) : (tensor<8xf32>) -> f32
  tt.return
}

// -----

tt.func @reduce_returns(%x: tensor<8xf32>) {
  // expected-error @below {{combining region returns 1 scalars}}
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a, %b : f32, f32
  }) : (tensor<8xf32>) -> f32
  tt.return
}

// -----

tt.func @scan_result(%x: tensor<8xf32>) {
  // expected-error @below {{gives a result of each operand's type}}
  %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %a : f32
  }) : (tensor<8xf32>) -> tensor<8xi32>
  tt.return
}

// -----

tt.func @gather_dims(%x: tensor<8x4xf32>, %i: tensor<8x2xi32>) {
  // expected-error @below {{source and indices differ in dimension 1: 'tensor<8x4xf32>' and 'tensor<8x2xi32>'}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8x4xf32>, tensor<8x2xi32>) -> tensor<8x2xf32>
  tt.return
}

// -----

tt.func @gather_rank(%x: tensor<8x4xf32>, %i: tensor<8xi32>) {
  // expected-error @below {{source and indices have the same rank, got 'tensor<8x4xf32>' and 'tensor<8xi32>'}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8x4xf32>, tensor<8xi32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @gather_axis(%x: tensor<8xf32>, %i: tensor<8xi32>) {
  // expected-error @below {{axis 1 is out of range for 'tensor<8xf32>'}}
  %0 = tt.gather %x[%i] {axis = 1 : i32} : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @gather_result(%x: tensor<8xf32>, %i: tensor<4xi32>) {
  // expected-error @below {{of 'tensor<8xf32>' by 'tensor<4xi32>' cannot give 'tensor<8xf32>'}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<4xi32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @histogram_rank(%x: tensor<8x8xi32>) {
  // expected-error @below {{counts a 1-D tensor into a 1-D tensor, got 'tensor<8x8xi32>' and 'tensor<16xi32>'}}
  %0 = tt.histogram %x : tensor<8x8xi32> -> tensor<16xi32>
  tt.return
}

// -----

tt.func @map_pack(%x: tensor<7xf32>) {
  // expected-error @below {{pack of 2 does not divide the elements of 'tensor<7xf32>'}}
  %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.map_elementwise.return %a, %b : f32, f32
  }) : (tensor<7xf32>) -> tensor<7xf32>
  tt.return
}

// -----

tt.func @map_returns(%x: tensor<8xf32>) {
  // expected-error @below {{region returns 2 scalars, got 1}}
  %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.map_elementwise.return %a : f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @map_args(%x: tensor<8xf32>) {
  // expected-error @below {{region takes 1 scalars, got 2}}
  %0 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.map_elementwise.return %a : f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @print_signs(%x: i32) {
  // expected-error @below {{needs isSigned for each of 1 operands, got 0}}
  tt.print "x" {hex = false, isSigned = array<i32>} : %x : i32
  tt.return
}

// -----

tt.func @call_unknown() {
  // expected-error @below {{calls 'nowhere', which is not a function of this module}}
  tt.call @nowhere() : () -> ()
  tt.return
}

// -----

tt.func @call_type(%x: f32) {
  // expected-error @below {{does not match the type of 'callee': '(i32) -> i32'}}
  %0 = tt.call @callee(%x) : (f32) -> i32
  tt.return
}
tt.func private @callee(%x: i32) -> i32 {
  tt.return %x : i32
}

// -----

tt.func @return_type(%x: f32) -> i32 {
  // expected-error @below {{returns other types than @return_type declares}}
  tt.return %x : f32
}

// -----

// expected-error @below {{a descriptor's block is a ranked tensor, got 'f32'}}
tt.func @descriptor_type(!tt.tensordesc<f32>)
