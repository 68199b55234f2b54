// RUN: nereid-opt %s --split-input-file --verify-diagnostics --nereid-cpu-pipeline

// The check comes before everything that would remove the wait.
tt.func public @unused_token(%sig: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32) {
  // expected-error @+2 {{the token of this wait is never consumed}}
  // expected-note @+1 {{unused_token="keep"}}
  %t = distributed.wait %sig, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  // expected-note @below {{this load probably reads what the wait is for}}
  %x = tt.load %p : !tt.ptr<f32>
  tt.store %p, %x : !tt.ptr<f32>
  tt.return
}
