// RUN: nereid-opt %s --split-input-file --verify-diagnostics --nereid-read-ptx | FileCheck %s

// A register is what was last written to it.
// CHECK-LABEL: tt.func @halves
// CHECK-SAME: %[[X:.*]]: i32, %[[Y:.*]]: i32
// CHECK: %[[LOW:.*]] = arith.extui %[[X]] : i32 to i64
// CHECK: %[[HIGH:.*]] = arith.extui %[[Y]] : i32 to i64
// CHECK: %[[UP:.*]] = arith.shli %[[HIGH]], %c32
// CHECK: %[[R:.*]] = arith.ori %[[LOW]], %[[UP]]
// CHECK: tt.return %[[R]]
tt.func @halves(%x: i32, %y: i32) -> i64 {
  %r = tt.elementwise_inline_asm "mov.b64 $0, {$1, $2};" {constraints = "=l,r,r", packed_element = 1 : i32, pure = true} %x, %y : i32, i32 -> i64
  tt.return %r : i64
}

// -----

// Several words, each by itself; a result that is never written is there because there must be one.
// CHECK-LABEL: tt.func @words
// CHECK-SAME: %[[P:.*]]: !tt.ptr<f16>, %[[X:.*]]: i32
// CHECK: %[[B:.*]] = tt.bitcast %[[P]] : !tt.ptr<f16> -> !tt.ptr<i32>
// CHECK: tt.store %[[B]], %[[X]] {nereid.each_thread, nereid.order = "release"}
// CHECK: %[[NEXT:.*]] = tt.addptr %{{.*}}, %c1
// CHECK: tt.store %[[NEXT]], %{{.*}} {nereid.each_thread, nereid.order = "release"}
tt.func @words(%p: !tt.ptr<f16>, %x: i32) {
  %r = tt.elementwise_inline_asm "\n // two\n st.global.release.sys.v2.b32 [$1], {$2, 0x10};\n mov.u32 $0, 0;" {constraints = "=r,l,r", packed_element = 1 : i32, pure = false} %p, %x : !tt.ptr<f16>, i32 -> i32
  tt.return
}

// -----

// CHECK-LABEL: tt.func @predicated
// CHECK: %[[ON:.*]] = arith.cmpi eq
// CHECK: tt.load %{{.*}}, %[[ON]] {isVolatile = true, nereid.each_thread, nereid.order = "acquire"}
tt.func @predicated(%p: !tt.ptr<i32>, %n: i32) -> i32 {
  %r = tt.elementwise_inline_asm "{ .reg .pred %p0; setp.eq.s32 %p0, $2, 1; @%p0 ld.acquire.gpu.global.b32 $0, [$1+8]; }" {constraints = "=r,l,r", packed_element = 1 : i32, pure = false} %p, %n : !tt.ptr<i32>, i32 -> i32
  tt.return %r : i32
}

// -----

// Of each element.
// CHECK-LABEL: tt.func @block
// CHECK: tt.bitcast %{{.*}} : tensor<8xi16> -> tensor<8xbf16>
// CHECK: arith.extf %{{.*}} : tensor<8xbf16> to tensor<8xf32>
tt.func @block(%x: tensor<8xi32>) -> tensor<8xf32> {
  %r = tt.elementwise_inline_asm "{ .reg .b16 h<2>; mov.b32 {h0, h1}, $1; cvt.f32.bf16 $0, h1; }" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<8xi32> -> tensor<8xf32>
  tt.return %r : tensor<8xf32>
}

// -----

tt.func @unknown(%x: f32) -> f32 {
  // expected-error @below {{inline assembly is written for another target}}
  // expected-note @below {{it has 'ex2.approx.f32'}}
  %r = tt.elementwise_inline_asm "ex2.approx.f32 $0, $1;" {constraints = "=f,f", packed_element = 1 : i32, pure = true} %x : f32 -> f32
  tt.return %r : f32
}

// -----

tt.func @early(%x: i32) -> i32 {
  // expected-error @below {{inline assembly is written for another target}}
  // expected-note @below {{'h1' is read before it is written}}
  %r = tt.elementwise_inline_asm "add.u32 $0, $1, h1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : i32 -> i32
  tt.return %r : i32
}

// -----

tt.func @shuffle_without_threads(%x: i32) -> i32 {
  // expected-error @below {{inline assembly is written for another target}}
  // expected-note @below {{is known in kernels that ask for threads}}
  %r = tt.elementwise_inline_asm "shfl.sync.idx.b32 $0, $1, 0, 31, -1;" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %x : i32 -> i32
  tt.return %r : i32
}
