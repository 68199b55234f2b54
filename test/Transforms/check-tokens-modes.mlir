// RUN: nereid-opt %s --nereid-check-tokens=unused-token=warn 2>&1 | FileCheck %s --check-prefix=WARN
// RUN: nereid-opt %s --nereid-check-tokens=unused-token=keep --canonicalize --cse 2>&1 | FileCheck %s --check-prefix=KEEP
// RUN: not nereid-opt %s --nereid-check-tokens=unused-token=maybe 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: unused-token is "error", "warn" or "keep", got "maybe"

// WARN: check-tokens-modes.mlir:[[#@LINE+17]]:8: warning: the token of this wait is never consumed, so nothing is ordered after it; the wait is removed
// WARN: check-tokens-modes.mlir:[[#@LINE+17]]:8: note: this load probably reads what the wait is for
// WARN-LABEL: tt.func public @kernel
// WARN-NEXT: tt.load
// WARN-NEXT: tt.load
// WARN-NEXT: tt.return

// The unused wait is a barrier: the loads around it are not merged. The used
// one stays as it is.
// KEEP-LABEL: tt.func public @kernel
// KEEP-NEXT: tt.load
// KEEP-NEXT: distributed.wait {{.*}} semantic = acquire {barrier} :
// KEEP-NEXT: tt.load
// KEEP-LABEL: tt.func public @fine
// KEEP-NEXT: distributed.wait {{.*}} semantic = acquire :
tt.func public @kernel(%sig: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32) -> (f32, f32) {
  %0 = tt.load %p : !tt.ptr<f32>
  %t = distributed.wait %sig, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %1 = tt.load %p : !tt.ptr<f32>
  tt.return %0, %1 : f32, f32
}

tt.func public @fine(%sig: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32) -> f32 {
  %t = distributed.wait %sig, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %q = distributed.consume_token %p, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %x = tt.load %q : !tt.ptr<f32>
  tt.return %x : f32
}
