// RUN: nereid-opt %s --split-input-file --verify-diagnostics --nereid-check-tokens

// The loads that follow: of what other ranks write to when such memory is known
// (%data goes through symm_at), not of the signals, not from before the wait.
tt.func public @never_consumed(%sig: !tt.ptr<i32>, %data: !tt.ptr<f32>, %w: !tt.ptr<f32>, %v: i32, %r: i32) {
  %peer = distributed.symm_at %data, %r, : !tt.ptr<f32>
  %before = tt.load %data : !tt.ptr<f32>
  tt.store %peer, %before : !tt.ptr<f32>
  // expected-error @+2 {{the token of this wait is never consumed, so nothing is ordered after it}}
  // expected-note @+1 {{unused_token="keep" makes a wait a barrier for everything after it; "warn" removes it}}
  %t = distributed.wait %sig, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %s = tt.load %sig : !tt.ptr<i32>
  %y = tt.load %w : !tt.ptr<f32>
  %q = tt.addptr %data, %v : !tt.ptr<f32>, i32
  // expected-note @below {{this load probably reads what the wait is for: write `ptr = dl.consume_token(ptr, token)` before it and load through the new `ptr`}}
  %x = tt.load %q : !tt.ptr<f32>
  tt.store %w, %x : !tt.ptr<f32>
  tt.return
}

// -----

// Nothing shared is known: all loads after the wait, three at most.
tt.func public @nothing_shared(%sig: !tt.ptr<i32>, %a: !tt.ptr<f32>, %o: tensor<8x!tt.ptr<f32>>, %v: i32) {
  // expected-error @+2 {{the token of this wait is never consumed}}
  // expected-note @+1 {{unused_token="keep"}}
  %t = distributed.wait %sig, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %0 = tt.splat %a : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  // expected-note @below {{this load probably reads what the wait is for}}
  %1 = tt.load %0 : tensor<8x!tt.ptr<f32>>
  // expected-note @below {{this load probably reads what the wait is for}}
  %2 = tt.load %a : !tt.ptr<f32>
  // expected-note @below {{this load probably reads what the wait is for}}
  %3 = tt.load %a : !tt.ptr<f32>
  %4 = tt.load %a : !tt.ptr<f32>
  tt.store %o, %1 : tensor<8x!tt.ptr<f32>>
  tt.return
}

// -----

// The old pointer is used by mistake.
tt.func public @consumed_pointer_unused(%sig: !tt.ptr<i32>, %p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %v: i32) {
  // expected-error @+2 {{nothing is accessed through a pointer that consumed the token of this wait, so nothing is ordered after it}}
  // expected-note @+1 {{unused_token="keep"}}
  %t = distributed.wait %sig, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  // expected-note @below {{consumed here; access memory through the pointer that consume_token returns}}
  %q = distributed.consume_token %p, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %unused = tt.addptr %q, %v : !tt.ptr<f32>, i32
  // expected-note @below {{this load probably reads what the wait is for}}
  %x = tt.load %p : !tt.ptr<f32>
  tt.store %o, %x : !tt.ptr<f32>
  tt.return
}

// -----

// One pointer is used, the other is not.
tt.func public @second_pointer_unused(%sig: !tt.ptr<i32>, %p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %v: i32) {
  %t = distributed.wait %sig, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %q = distributed.consume_token %p, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  // expected-warning @below {{nothing is accessed through what this consume_token returns; an access through the value it was given is not ordered after the wait}}
  %q2 = distributed.consume_token %o, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %x = tt.load %q : !tt.ptr<f32>
  tt.store %o, %x : !tt.ptr<f32>
  tt.return
}

// -----

// A sum of tokens that is carried through a loop but consumed nowhere.
tt.func public @sum_unused(%sig: !tt.ptr<i32>, %v: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %i = %c0 to %v step %c1 iter_args(%acc = %c0) -> (i32) : i32 {
    // expected-error @+2 {{the token of this wait is never consumed}}
    // expected-note @+1 {{unused_token="keep"}}
    %t = distributed.wait %sig, %c1, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
    %next = arith.addi %acc, %t : i32
    scf.yield %next : i32
  }
  tt.return
}

// -----

// A load that may follow, one in the branch that excludes the wait.
tt.func public @branches_after(%sig: !tt.ptr<i32>, %p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %v: i32, %c: i1) {
  scf.if %c {
    // expected-error @+2 {{the token of this wait is never consumed}}
    // expected-note @+1 {{unused_token="keep"}}
    %t = distributed.wait %sig, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  } else {
    %y = tt.load %p : !tt.ptr<f32>
    tt.store %o, %y : !tt.ptr<f32>
  }
  // expected-note @below {{this load probably reads what the wait is for}}
  %x = tt.load %p : !tt.ptr<f32>
  tt.store %o, %x : !tt.ptr<f32>
  tt.return
}

// -----

// All of these reach an access.
tt.func public @sum_in_a_loop(%sig: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %i = %c0 to %v step %c1 iter_args(%acc = %c0) -> (i32) : i32 {
    %t = distributed.wait %sig, %c1, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
    %next = arith.addi %acc, %t : i32
    scf.yield %next : i32
  }
  %q = distributed.consume_token %p, %sum, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %pp = tt.splat %q : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %x = tt.load %pp : tensor<8x!tt.ptr<f32>>
  tt.return
}

tt.func public @pointer_carried(%sig: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %last = scf.for %i = %c0 to %v step %c1 iter_args(%q = %p) -> (!tt.ptr<f32>) : i32 {
    %x = tt.load %q : !tt.ptr<f32>
    %t = distributed.wait %sig, %c1, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
    %n = distributed.consume_token %q, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
    scf.yield %n : !tt.ptr<f32>
  }
  tt.return
}

tt.func public @while_loop(%sig: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32) {
  %t = distributed.wait %sig, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %q = distributed.consume_token %p, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %n:2 = scf.while (%i = %v, %a = %q) : (i32, !tt.ptr<f32>) -> (i32, !tt.ptr<f32>) {
    %c = arith.cmpi ne, %i, %v : i32
    scf.condition(%c) %i, %a : i32, !tt.ptr<f32>
  } do {
  ^bb0(%i: i32, %a: !tt.ptr<f32>):
    %x = tt.load %a : !tt.ptr<f32>
    scf.yield %i, %a : i32, !tt.ptr<f32>
  }
  tt.return
}

tt.func public @branches(%sig: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32, %c: i1) {
  %token = scf.if %c -> (i32) {
    %t = distributed.wait %sig, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
    scf.yield %t : i32
  } else {
    scf.yield %v : i32
  }
  %u = arith.select %c, %token, %v : i32
  cf.cond_br %c, ^bb1(%u : i32), ^bb2
^bb1(%w: i32):
  %q = distributed.consume_token %p, %w, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %x = tt.load %q : !tt.ptr<f32>
  tt.return
^bb2:
  tt.return
}

tt.func public @calls(%sig: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32) {
  %t = tt.call @get_token(%sig, %v) : (!tt.ptr<i32>, i32) -> i32
  %x = tt.call @read(%p, %t) : (!tt.ptr<f32>, i32) -> f32
  tt.return
}
tt.func private @get_token(%sig: !tt.ptr<i32>, %v: i32) -> i32 attributes {noinline = true} {
  %t = distributed.wait %sig, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  tt.return %t : i32
}
tt.func private @read(%p: !tt.ptr<f32>, %t: i32) -> f32 attributes {noinline = true} {
  %q = distributed.consume_token %p, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %x = tt.load %q : !tt.ptr<f32>
  tt.return %x : f32
}

// As an address, a stored value, a condition, through a block pointer, into a
// remote store and a library call.
tt.func public @other_ways(%sig: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32, %n: i64, %r: i32) {
  %t0 = distributed.wait %sig, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %a = tt.addptr %p, %t0 : !tt.ptr<f32>, i32
  %x = tt.load %a : !tt.ptr<f32>
  tt.store %sig, %v : !tt.ptr<i32>
  %t1 = distributed.wait %sig, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  tt.store %sig, %t1 : !tt.ptr<i32>
  %t2 = distributed.wait %sig, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %c = arith.cmpi eq, %t2, %v : i32
  scf.if %c {
    tt.store %sig, %v : !tt.ptr<i32>
  }
  %t3 = distributed.wait %sig, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %b = tt.make_tensor_ptr %p, [%n], [%n], [%v] {order = array<i32: 0>} : <tensor<8xf32>>
  %bc = distributed.consume_token %b, %t3, : !tt.ptr<tensor<8xf32>>, i32 -> !tt.ptr<tensor<8xf32>>
  %y = tt.load %bc : !tt.ptr<tensor<8xf32>>
  tt.store %sig, %v : !tt.ptr<i32>
  %t4 = distributed.wait %sig, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %q = distributed.consume_token %p, %t4, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  %peer = distributed.symm_at %q, %r, : !tt.ptr<f32>
  tt.store %peer, %x : !tt.ptr<f32>
  %t5 = distributed.wait %sig, %v, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
  %q5 = distributed.consume_token %p, %t5, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
  distributed.extern_call %q5, %p, %n, %r {libname = "libshmem_device", libpath = "", pure = false, symbol = "putmem"} : (!tt.ptr<f32>, !tt.ptr<f32>, i64, i32) -> ()
  tt.return
}

// A wait that is a barrier already needs no token.
tt.func public @barrier(%sig: !tt.ptr<i32>, %v: i32) {
  %t = distributed.wait %sig, %v, %v, scope = gpu semantic = acquire {barrier} : !tt.ptr<i32>, i32, i32 -> i32
  tt.return
}
