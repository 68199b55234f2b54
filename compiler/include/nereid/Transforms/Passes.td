// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which targets run them: check-tokens, mark-spin-loops,
// infer-symmetric-args and infer-launch-mode look at what the user wrote, so
// they come before the inliner and canonicalizer; the others after these.
#ifndef NEREID_TRANSFORMS_PASSES_TD
#define NEREID_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Before any optimisation
//===----------------------------------------------------------------------===//

def NereidCheckTokens : Pass<"nereid-check-tokens", "::mlir::ModuleOp"> {
  let summary = "Reports waits that order nothing";
  let description = [{
    A `distributed.wait` orders only accesses whose address depends on its
    token; one whose token reaches no access is dead and would disappear. Tokens
    are followed through arithmetic, loops, branches, calls and `consume_token`.
    `unused-token` says what to do with a wait that reaches nothing:

    | value   | effect                                                          |
    | ------- | --------------------------------------------------------------- |
    | `error` | an error at the wait, with the loads that probably need the token |
    | `warn`  | a warning; the wait is removed                                  |
    | `keep`  | the wait gets `barrier`: it stays, and nothing moves across it  |

    A `consume_token` whose result is never accessed while the token is used
    elsewhere gets a warning. Has to run before the canonicalizer, which removes
    dead waits without a word.

    ```mlir
    tt.func @k(%s: !tt.ptr<i32>, %p: !tt.ptr<f32>, %n: i32, %v: i32) -> f32 {
      %t = distributed.wait %s, %n, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
      %x = tt.load %p : !tt.ptr<f32>        // %p did not consume %t
      tt.return %x : f32
    }
    // fails: the token of this wait is never consumed, so nothing is ordered after it
    ```
  }];
  let options = [
    Option<"unusedToken", "unused-token", "std::string", "\"error\"", "error, warn or keep">,
    Option<"pin", "pin", "bool", "false", "give every wait that stays `barrier`, so that no later simplification of "
           "its token can remove it">
  ];
}

def NereidCheckLoops : Pass<"nereid-check-loops"> {
  let summary = "Stops programs at loops that would not end";
  let description = [{
    An `scf.for` counts on until its counter has reached the end. With a step of
    zero, a negative one, or an end so near the greatest number of the type that
    the counter wraps around, it never gets there, or at the wrong place. What
    constants do not decide is asserted before the loop.

    ```mlir
    tt.func @k(%p: !tt.ptr<i32>, %end: i64, %step: i64) {
      %c0 = arith.constant 0 : i64
      scf.for %i = %c0 to %end step %step : i64 {
        %x = arith.trunci %i : i64 to i32
        tt.store %p, %x : !tt.ptr<i32>
      }
      tt.return
    }
    // becomes
    tt.func @k(%p: !tt.ptr<i32>, %end: i64, %step: i64) {
      %c0 = arith.constant 0 : i64
      %zero = arith.constant 0 : i64
      %positive = arith.cmpi sgt, %step, %zero : i64
      tt.assert %positive, "the step of this range is not positive; a range that counts down needs a constant step" {nereid.range_check} : i1
      %c1 = arith.constant 1 : i64
      %greatest = arith.constant 9223372036854775807 : i64
      %less = arith.subi %step, %c1 : i64
      %last = arith.subi %greatest, %less : i64
      %reached = arith.cmpi sle, %end, %last : i64
      %empty = arith.cmpi sge, %c0, %end : i64
      %fits = arith.ori %reached, %empty : i1
      tt.assert %fits, "the end of this range and one step do not fit in int64" {nereid.range_check} : i1
      scf.for %i = %c0 to %end step %step : i64 {
        %x = arith.trunci %i : i64 to i32
        tt.store %p, %x : !tt.ptr<i32>
      }
      tt.return
    }
    ```

    Loops with the constant step 1 are left alone. Has to run while all loops
    are the user's. The attribute tells later passes that an assertion is not.
  }];
}

def NereidMarkSpinLoops : Pass<"nereid-mark-spin-loops", "::mlir::ModuleOp"> {
  let summary = "Lets other programs run while a loop spins";
  let description = [{
    A `scf.while` whose condition depends on something loaded inside it, by a
    plain or volatile load, an atomic or a library call, may spin until another
    program acts: it gets `distributed.yield` on its back edge, which also keeps
    the loop alive when it has no other effect. Loops with a trip count end by
    themselves and get none.

    The module attribute `nereid.blocking` says whether the kernel can block at
    all: in such a loop, a wait, a barrier, or a library call that waits. A
    kernel that cannot needs no more than one program running at a time.

    Has to run before the canonicalizer, which removes loops that only read.

    ```mlir
    tt.func @k(%p: !tt.ptr<i32>, %one: i32) {
      scf.while : () -> () {
        %x = tt.load %p : !tt.ptr<i32>
        %c = arith.cmpi ne, %x, %one : i32
        scf.condition(%c)
      } do {
        scf.yield
      }
      tt.return
    }
    // becomes
    module attributes {nereid.blocking = true} {
      tt.func @k(%p: !tt.ptr<i32>, %one: i32) {
        scf.while : () -> () {
          %x = tt.load %p : !tt.ptr<i32>
          %c = arith.cmpi ne, %x, %one : i32
          scf.condition(%c)
        } do {
          distributed.yield
          scf.yield
        }
        tt.return
      }
    }
    ```
  }];
  let dependentDialects = ["::nereid::distributed::DistributedDialect"];
}

def NereidReadPTX : Pass<"nereid-read-ptx", "::mlir::ModuleOp"> {
  let summary = "Makes operations of inline assembly for NVIDIA's GPUs";
  let description = [{
    For targets that take no such assembly. Each `tt.elementwise_inline_asm` becomes what
    its statements mean: moves, packing and unpacking of registers, conversions,
    arithmetic, comparisons and predicates, loads and stores of one or several words,
    atomics, fences and barriers. An instruction that is not read is an error that names it.

    ```mlir
    tt.func @k(%low: i32, %high: i32) -> i64 {
      %x = tt.elementwise_inline_asm "mov.b64 $0, {$1, $2};" {constraints = "=l,r,r", packed_element = 1 : i32, pure = true} %low, %high : i32, i32 -> i64
      tt.return %x : i64
    }
    // becomes
    tt.func @k(%low: i32, %high: i32) -> i64 {
      %l = arith.extui %low : i32 to i64
      %h = arith.extui %high : i32 to i64
      %c32 = arith.constant 32 : i64
      %s = arith.shli %h, %c32 : i64
      %x = arith.ori %l, %s : i64
      tt.return %x : i64
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::LLVM::LLVMDialect",
                           "::nereid::distributed::DistributedDialect", "::nereid::tt::TritonDialect"];
}

def NereidInferSymmetricArgs : Pass<"nereid-infer-symmetric-args", "::mlir::ModuleOp"> {
  let summary = "Finds the arguments that must lie in the symmetric heap";
  let description = [{
    A pointer argument from which the pointer of `symm_at`, the signal of
    `notify` or the remote operand of a library call is computed has to be a
    symmetric allocation; the launcher checks it. It gets the unit attribute
    `nereid.symmetric`. Runs before `symm_at` of the own rank is folded away, so
    that the answer does not depend on optimisations.

    ```mlir
    tt.func public @k(%p: !tt.ptr<f32>, %r: i32, %x: f32) {
      %q = distributed.symm_at %p, %r, : !tt.ptr<f32>
      tt.store %q, %x : !tt.ptr<f32>
      tt.return
    }
    // becomes
    tt.func public @k(%p: !tt.ptr<f32> {nereid.symmetric}, %r: i32, %x: f32) {
      %q = distributed.symm_at %p, %r, : !tt.ptr<f32>
      tt.store %q, %x : !tt.ptr<f32>
      tt.return
    }
    ```
  }];
}

def NereidInferLaunchMode : Pass<"nereid-infer-launch-mode", "::mlir::ModuleOp"> {
  let summary = "Records whether the kernel runs vector-only or mixed";
  let description = [{
    A kernel with `tt.dot` or a call of `barrier_all` runs mixed ("cv1:2"), any
    other vector-only ("cv0:1"). The answer is the module attribute
    `ascend.launch_mode`.

    ```mlir
    tt.func public @k(%a: tensor<16x16xf16>, %p: tensor<16x16x!tt.ptr<f32>>, %z: tensor<16x16xf32>) {
      %d = tt.dot %a, %a, %z : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
      tt.store %p, %d : tensor<16x16x!tt.ptr<f32>>
      tt.return
    }
    // becomes
    module attributes {ascend.launch_mode = "cv1:2"} {
      tt.func public @k(%a: tensor<16x16xf16>, %p: tensor<16x16x!tt.ptr<f32>>, %z: tensor<16x16xf32>) {
        %d = tt.dot %a, %a, %z : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
        tt.store %p, %d : tensor<16x16x!tt.ptr<f32>>
        tt.return
      }
    }
    ```

    With several vector cores (`lanes`), all functions of a mixed kernel may be
    inlined.
  }];
  let options = [
    Option<"lanes", "lanes", "unsigned", "1", "vector cores of one AI core">
  ];
}

//===----------------------------------------------------------------------===//
// Optimisations
//===----------------------------------------------------------------------===//

def NereidCanonicalize : Pass<"nereid-canonicalize"> {
  let summary = "Canonicalizes in time linear in the size of loops";
  let description = [{
    Applies folders and canonicalization patterns of all dialects as MLIR's
    `canonicalize` does, first to operations without regions alone. Otherwise
    each change in the body of a loop has the loop looked at again, by a walk
    over its body.

    ```mlir
    tt.func @k(%p: !tt.ptr<i32>, %x: i32, %n: i32) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      scf.for %i = %c0 to %n step %c1 : i32 {
        %a = arith.addi %x, %c0 : i32
        tt.store %p, %a : !tt.ptr<i32>
      }
      tt.return
    }
    // becomes
    tt.func @k(%p: !tt.ptr<i32>, %x: i32, %n: i32) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      scf.for %i = %c0 to %n step %c1 : i32 {
        tt.store %p, %x : !tt.ptr<i32>
      }
      tt.return
    }
    ```
  }];
}

def NereidFoldDotAccumulator : Pass<"nereid-fold-dot-accumulator"> {
  let summary = "acc + dot(a, b, 0) -> dot(a, b, acc)";
  let description = [{
    For accumulators of 32 bits and more, where adding into the accumulator
    rounds no worse than adding afterwards. The product must have no other use.

    ```mlir
    tt.func @k(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %acc: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %zero = arith.constant dense<0.0> : tensor<4x4xf32>
      %p = tt.dot %a, %b, %zero : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<4x4xf32>
      %s = arith.addf %acc, %p : tensor<4x4xf32>
      tt.return %s : tensor<4x4xf32>
    }
    // becomes
    tt.func @k(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %acc: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %s = tt.dot %a, %b, %acc : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<4x4xf32>
      tt.return %s : tensor<4x4xf32>
    }
    ```
  }];
}

def NereidDecomposeScaledDots : Pass<"nereid-decompose-scaled-dots"> {
  let summary = "dot_scaled -> products of scaled fp32 tiles";
  let description = [{
    The operands' elements (e2m1 two in a byte, e4m3, e5m2, bf16, fp16) are
    widened to fp32, which holds them exactly, and multiplied by their scales, the
    powers of two of e8m0; 255 is NaN. The product accumulates in fp32.

    ```mlir
    tt.func @k(%a: tensor<4x64xf8E5M2>, %s: tensor<4x2xi8>, %b: tensor<64x8xbf16>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %d = tt.dot_scaled %a scale %s, %b, %c lhs = e5m2 rhs = bf16 {fastMath = false} : tensor<4x64xf8E5M2>, tensor<4x2xi8> * tensor<64x8xbf16> -> tensor<4x8xf32>
      tt.return %d : tensor<4x8xf32>
    }
    // becomes
    tt.func @k(%a: tensor<4x64xf8E5M2>, %s: tensor<4x2xi8>, %b: tensor<64x8xbf16>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %0 = tt.fp_to_fp %a : tensor<4x64xf8E5M2> -> tensor<4x64xf32>
      %1 = arith.extf %b : tensor<64x8xbf16> to tensor<64x8xf32>
      %2 = arith.extui %s : tensor<4x2xi8> to tensor<4x2xi32>
      %cst = arith.constant dense<23> : tensor<4x2xi32>
      %3 = arith.shli %2, %cst : tensor<4x2xi32>
      %cst_0 = arith.constant dense<0> : tensor<4x2xi32>
      %4 = arith.cmpi eq, %2, %cst_0 : tensor<4x2xi32>
      %cst_1 = arith.constant dense<4194304> : tensor<4x2xi32>
      %5 = arith.select %4, %cst_1, %3 : tensor<4x2xi1>, tensor<4x2xi32>
      %cst_2 = arith.constant dense<255> : tensor<4x2xi32>
      %6 = arith.cmpi eq, %2, %cst_2 : tensor<4x2xi32>
      %cst_3 = arith.constant dense<2143289344> : tensor<4x2xi32>
      %7 = arith.select %6, %cst_3, %5 : tensor<4x2xi1>, tensor<4x2xi32>
      %8 = tt.bitcast %7 : tensor<4x2xi32> -> tensor<4x2xf32>
      %9 = tt.expand_dims %8 {axis = 2 : i32} : tensor<4x2xf32> -> tensor<4x2x1xf32>
      %10 = tt.broadcast %9 : tensor<4x2x1xf32> -> tensor<4x2x32xf32>
      %11 = tt.reshape %10 : tensor<4x2x32xf32> -> tensor<4x64xf32>
      %12 = arith.mulf %0, %11 : tensor<4x64xf32>
      %13 = tt.dot %12, %1, %c : tensor<4x64xf32> * tensor<64x8xf32> -> tensor<4x8xf32>
      tt.return %13 : tensor<4x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::nereid::tt::TritonDialect"];
}

def NereidStructureLoopPointers : Pass<"nereid-structure-loop-pointers"> {
  let summary = "Loop-carried tiles of pointers become tiles plus a carried scalar";
  let description = [{
    A tile of pointers, a tile of integer offsets or a block pointer that a loop
    carries and moves by the same amount in all lanes is replaced by the tile
    from before the loop plus a scalar that the loop carries. Targets then see
    a tile of known structure at an offset, and carry no tile of addresses.

    Pointers count in i64: offsets of other widths are sign-extended before they
    are added, as `addptr` does. Integer tiles count in their own width, where
    additions wrap as before.

    ```mlir
    tt.func @k(%init: tensor<8x!tt.ptr<f32>>, %s: i32, %n: i32, %x: tensor<8xf32>) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %step = tt.splat %s : i32 -> tensor<8xi32>
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %init) -> (tensor<8x!tt.ptr<f32>>) : i32 {
        tt.store %p, %x : tensor<8x!tt.ptr<f32>>
        %q = tt.addptr %p, %step : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
        scf.yield %q : tensor<8x!tt.ptr<f32>>
      }
      tt.return
    }
    // becomes, before what is dead is removed
    tt.func @k(%init: tensor<8x!tt.ptr<f32>>, %s: i32, %n: i32, %x: tensor<8xf32>) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %step = tt.splat %s : i32 -> tensor<8xi32>
      %zero = arith.constant 0 : i64
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%offset = %zero) -> (i64) : i32 {
        %t = tt.splat %offset : i64 -> tensor<8xi64>
        %p = tt.addptr %init, %t : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
        tt.store %p, %x : tensor<8x!tt.ptr<f32>>
        %wide = arith.extsi %s : i32 to i64
        %next = arith.addi %offset, %wide : i64
        %dead = tt.addptr %p, %step : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
        scf.yield %next : i64
      }
      %end = tt.splat %r : i64 -> tensor<8xi64>
      %q = tt.addptr %init, %end : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
      tt.return
    }
    ```
  }];
  let dependentDialects = ["::nereid::tt::TritonDialect"];
}

def NereidRewriteBlockPointers : Pass<"nereid-rewrite-block-pointers", "::mlir::ModuleOp"> {
  let summary = "Replaces block pointers and tensor descriptors by tiles of pointers";
  let description = [{
    `make_tensor_ptr`, `advance`, `make_tensor_descriptor` and the loads and
    stores through them become `addptr`, masks and ordinary loads and stores.
    A block pointer that a loop carries becomes its offsets.

    ```mlir
    tt.func @k(%base: !tt.ptr<f32>, %n: i64, %i: i32) -> tensor<8xf32> {
      %c1 = arith.constant 1 : i64
      %p = tt.make_tensor_ptr %base, [%n], [%c1], [%i] {order = array<i32: 0>} : !tt.ptr<tensor<8xf32>>
      %x = tt.load %p {boundaryCheck = array<i32: 0>, padding = 1 : i32} : !tt.ptr<tensor<8xf32>>
      tt.return %x : tensor<8xf32>
    }
    // becomes
    tt.func @k(%base: !tt.ptr<f32>, %n: i64, %i: i32) -> tensor<8xf32> {
      %c1 = arith.constant 1 : i64
      %bases = tt.splat %base : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
      %range = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
      %lanes = arith.extsi %range : tensor<8xi32> to tensor<8xi64>
      %first = arith.extsi %i : i32 to i64
      %firsts = tt.splat %first : i64 -> tensor<8xi64>
      %index = arith.addi %firsts, %lanes : tensor<8xi64>
      %strides = tt.splat %c1 : i64 -> tensor<8xi64>
      %offsets = arith.muli %index, %strides : tensor<8xi64>
      %pointers = tt.addptr %bases, %offsets : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
      %zero = arith.constant dense<0> : tensor<8xi64>
      %sizes = tt.splat %n : i64 -> tensor<8xi64>
      %above = arith.cmpi sge, %index, %zero : tensor<8xi64>
      %below = arith.cmpi slt, %index, %sizes : tensor<8xi64>
      %mask = arith.andi %above, %below : tensor<8xi1>
      %padding = arith.constant dense<0.0> : tensor<8xf32>
      %x = tt.load %pointers, %mask, %padding : tensor<8x!tt.ptr<f32>>
      tt.return %x : tensor<8xf32>
    }
    ```
  }];
  let options = [
    Option<"keepDescriptors", "keep-descriptors", "bool", "false",
           "leave kernels alone that use descriptors and no block pointers">
  ];
}

//===----------------------------------------------------------------------===//
// Last
//===----------------------------------------------------------------------===//

def NereidThreadLoops : Pass<"nereid-thread-loops", "::mlir::ModuleOp"> {
  let summary = "Does what the threads of a program do in loops over their numbers";
  let description = [{
    For targets whose programs are one thread each. The module attribute
    `nereid.threads` says how many threads the kernel is written for. What does not
    depend on `distributed.thread_id` happens once, as if no thread had been asked
    for. Runs of operations that do depend on it become a loop over the threads; a
    loop ends where the program does something as a whole: a block operation with an
    effect, a wait of all threads, a `distributed.thread_barrier`. Scalars that one such loop
    makes and another one needs are kept for each thread. Accesses with the
    attribute `nereid.each_thread` are every thread's own; stores, atomics and
    notifications without it belong to the program, and thread 0 makes them.

    Branches and loops by the thread that lead to a barrier, or to an exchange among
    the threads of a warp (`shfl.sync`, `vote.sync.ballot`), are gone along by the
    program with a mask of the threads that are on that way.

    Errors: a block that depends on the thread, a call of the whole program that only
    some threads reach. A barrier that only some reach is warned of.

    ```mlir
    module attributes {nereid.threads = 128 : i32} {
      tt.func public @k(%p: !tt.ptr<i32>) {
        %t = distributed.thread_id : i32
        %q = tt.addptr %p, %t : !tt.ptr<i32>, i32
        tt.store %q, %t {nereid.each_thread} : !tt.ptr<i32>
        distributed.thread_barrier
        tt.return
      }
    }
    // becomes
    module attributes {nereid.threads = 128 : i32} {
      tt.func public @k(%p: !tt.ptr<i32>) {
        %c0 = arith.constant 0 : i32
        %c128 = arith.constant 128 : i32
        %c1 = arith.constant 1 : i32
        scf.for %t = %c0 to %c128 step %c1 : i32 {
          %q = tt.addptr %p, %t : !tt.ptr<i32>, i32
          tt.store %q, %t {nereid.each_thread} : !tt.ptr<i32>
        }
        tt.return
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::nereid::tt::TritonDialect"];
}

def NereidSplitVectorCores : Pass<"nereid-split-vector-cores", "::mlir::ModuleOp"> {
  let summary = "Lets effects that do not depend on the vector core happen once";
  let description = [{
    In a mixed launch ("cv1:2") each vector core of a program runs the whole
    code. An effect (store, atomic, signal, transfer, print) that neither lies
    under control flow that depends on `ascend.get_sub_vec_id` nor has an operand
    that does happens on vector core 0 only; a scalar that it returns goes to the
    others by `ascend.share`, a block is an error. Effects that do depend on it
    stay with the cores that reach them. Waits happen on every core. Barriers
    that only some cores reach get `nereid.gated`: one call stands for the program.

    Sets the module attribute `ascend.lanes`, the number of vector cores that run
    each program, unless it is one: also when nothing asks for the vector core.

    ```mlir
    module attributes {ascend.launch_mode = "cv1:2"} {
      tt.func public @k(%p: !tt.ptr<f32>, %x: f32) {
        %core = ascend.get_sub_vec_id : i64
        %c1 = arith.constant 1 : i64
        %second = arith.cmpi eq, %core, %c1 : i64
        tt.store %p, %x : !tt.ptr<f32>
        tt.return
      }
    }
    // becomes
    module attributes {ascend.lanes = 2 : i32, ascend.launch_mode = "cv1:2"} {
      tt.func public @k(%p: !tt.ptr<f32>, %x: f32) {
        %core = ascend.get_sub_vec_id : i64
        %c1 = arith.constant 1 : i64
        %second = arith.cmpi eq, %core, %c1 : i64
        %own = ascend.get_sub_vec_id : i64
        %c0 = arith.constant 0 : i64
        %first = arith.cmpi eq, %own, %c0 : i64
        scf.if %first {
          tt.store %p, %x : !tt.ptr<f32>
        }
        tt.return
      }
    }
    ```
  }];
  let options = [
    Option<"lanes", "lanes", "unsigned", "2", "vector cores of one AI core">
  ];
  let dependentDialects = ["::nereid::ascend::AscendDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def NereidFindWaits : Pass<"nereid-find-waits"> {
  let summary = "Loops that only look at one word of symmetric memory become waits";
  let description = [{
    A loop that reads a word, which it does not change, until a comparison with
    something that does not change either holds, becomes a call of
    `signal_wait_until`. The word is reached from an argument with
    `nereid.symmetric`.

    ```mlir
    tt.func @k(%p: !tt.ptr<i32> {nereid.symmetric}, %n: i32) {
      scf.while : () -> () {
        %x = tt.load %p : !tt.ptr<i32>
        %less = arith.cmpi slt, %x, %n : i32
        scf.condition(%less)
      } do {
        distributed.yield
        scf.yield
      }
      tt.return
    }
    // becomes
    tt.func @k(%p: !tt.ptr<i32> {nereid.symmetric}, %n: i32) {
      %ge = arith.constant 5 : i32
      %seen = distributed.extern_call %p, %ge, %n {libname = "libshmem_device", libpath = "", pure = false, symbol = "signal_wait_until"} : (!tt.ptr<i32>, i32, i32) -> i32
      tt.return
    }
    ```
  }];
  let dependentDialects = ["::nereid::distributed::DistributedDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def NereidNumberWaits : Pass<"nereid-number-waits", "::mlir::ModuleOp"> {
  let summary = "Gives each wait a number, and each consume_token the numbers that it brings";
  let description = [{
    For the option `instrument`: `nereid.slot` of a wait is its number, the last of
    eight for all waits that have none of their own; `nereid.tokens` of a
    `consume_token` has a bit for each wait that its token was computed from,
    through arithmetic, control flow and calls. A token that an argument of the kernel,
    memory or a library's function has a part in may stand for any: the operation has no
    attribute. A wait that is a barrier orders everything and has no number.

    Runs before anything is simplified: of `token * 0` nothing is left afterwards,
    and yet it is a token.

    ```mlir
    tt.func @k(%s: !tt.ptr<i32>, %n: i32, %v: i32, %p: !tt.ptr<f32>) -> f32 {
      %t = distributed.wait %s, %n, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
      %q = distributed.consume_token %p, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
      %x = tt.load %q : !tt.ptr<f32>
      tt.return %x : f32
    }
    // becomes
    tt.func @k(%s: !tt.ptr<i32>, %n: i32, %v: i32, %p: !tt.ptr<f32>) -> f32 {
      %t = distributed.wait %s, %n, %v, scope = gpu semantic = acquire {nereid.slot = 0 : i32} : !tt.ptr<i32>, i32, i32 -> i32
      %q = distributed.consume_token %p, %t, {nereid.tokens = 1 : i32} : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
      %x = tt.load %q : !tt.ptr<f32>
      tt.return %x : f32
    }
    ```
  }];
}

def NereidTieLoads : Pass<"nereid-tie-loads", "::mlir::ModuleOp"> {
  let summary = "Says of each load which waits it depends on";
  let description = [{
    For the option `instrument`: `nereid.tokens` of a `tt.load` has a bit for each
    wait (`nereid.slot`) that its address, its mask, or the branches and loops around
    it were computed from, also through what other loads have brought. A load has no
    attribute where that cannot be told: in functions that are called, in functions of
    several blocks, and where threads of a program meet, which orders more.

    Stands before nereid-pin-waits, which removes what it follows.

    ```mlir
    tt.func @k(%s: !tt.ptr<i32>, %n: i32, %v: i32, %p: !tt.ptr<f32>) -> (f32, f32) {
      %t = distributed.wait %s, %n, %v, scope = gpu semantic = acquire {nereid.slot = 0 : i32} : !tt.ptr<i32>, i32, i32 -> i32
      %q = distributed.consume_token %p, %t, {nereid.tokens = 1 : i32} : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
      %x = tt.load %q : !tt.ptr<f32>
      %y = tt.load %p : !tt.ptr<f32>
      tt.return %x, %y : f32, f32
    }
    // becomes
    tt.func @k(%s: !tt.ptr<i32>, %n: i32, %v: i32, %p: !tt.ptr<f32>) -> (f32, f32) {
      %t = distributed.wait %s, %n, %v, scope = gpu semantic = acquire {nereid.slot = 0 : i32} : !tt.ptr<i32>, i32, i32 -> i32
      %q = distributed.consume_token %p, %t, {nereid.tokens = 1 : i32} : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
      %x = tt.load %q {nereid.tokens = 1 : i32} : !tt.ptr<f32>
      %y = tt.load %p {nereid.tokens = 0 : i32} : !tt.ptr<f32>
      tt.return %x, %y : f32, f32
    }
    ```
  }];
}

def NereidPinWaits : Pass<"nereid-pin-waits"> {
  let summary = "Makes every remaining wait a barrier";
  let description = [{
    Ends the part of a pipeline in which waits may be moved and merged. From here
    on the order of the program is what counts: each wait has `barrier`, so that
    none is dead and no access moves across it, and `consume_token`, which has
    nothing more to say, is replaced by its value.

    ```mlir
    tt.func @k(%s: !tt.ptr<i32>, %n: i32, %v: i32, %p: !tt.ptr<f32>) -> f32 {
      %t = distributed.wait %s, %n, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
      %q = distributed.consume_token %p, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
      %x = tt.load %q : !tt.ptr<f32>
      tt.return %x : f32
    }
    // becomes
    tt.func @k(%s: !tt.ptr<i32>, %n: i32, %v: i32, %p: !tt.ptr<f32>) -> f32 {
      %t = distributed.wait %s, %n, %v, scope = gpu semantic = acquire {barrier} : !tt.ptr<i32>, i32, i32 -> i32
      %x = tt.load %p : !tt.ptr<f32>
      tt.return %x : f32
    }
    ```
  }];
}

//===----------------------------------------------------------------------===//
// TTIR of upstream Triton
//===----------------------------------------------------------------------===//

def NereidInstrumentAccesses : Pass<"nereid-instrument-accesses"> {
  let summary = "Tells whoever watches the job of every load, store and atomic";
  let description = [{
    For checkers and traces: before each `tt.load` and `tt.store` stands a
    `distributed.access` of the same elements, and each atomic operation has
    `nereid.observed`, as have loads and stores of single threads that order
    memory (`nereid.order`), which are atomic operations, too. Transfers,
    signals and waits need nothing: the runtime carries them out and sees them.

    The last pass before a target's own, after nereid-pin-waits: the order of the
    program is the order of what is told, and no access comes or goes any more.
    Kernels are instrumented with the option `instrument`; without it the pass
    does not run, and code is what it would be if there were no such pass.

    ```mlir
    tt.func @k(%p: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>, %c: !tt.ptr<i32>, %one: i32) {
      %x = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
      %old = tt.atomic_rmw add, acq_rel, gpu, %c, %one : (!tt.ptr<i32>, i32) -> i32
      tt.return
    }
    // becomes
    tt.func @k(%p: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>, %c: !tt.ptr<i32>, %one: i32) {
      distributed.access read %p, %m : tensor<64x!tt.ptr<f32>>, tensor<64xi1>
      %x = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
      %old = tt.atomic_rmw add, acq_rel, gpu, %c, %one {nereid.observed} : (!tt.ptr<i32>, i32) -> i32
      tt.return
    }
    ```
  }];
  let dependentDialects = ["::nereid::distributed::DistributedDialect"];
}

def NereidImportTTIR : Pass<"nereid-import-ttir", "::mlir::ModuleOp"> {
  let summary = "Makes tt IR of what upstream's front end writes";
  let description = [{
    `gpu.barrier` and `ttg.barrier` become `tt.debug_barrier`; arguments that are
    descriptors become pointers, with `tt.make_tensor_descriptor` of the sizes and
    strides that follow them; descriptors of signed or unsigned elements become
    descriptors of plain ones; functions that take tiles may be inlined. All other
    differences of the text are dealt with when it is read.

    ```mlir
    tt.func public @k(%p: !tt.ptr<f32>, %x: f32) {
      gpu.barrier
      tt.store %p, %x : !tt.ptr<f32>
      tt.return
    }
    // becomes
    tt.func public @k(%p: !tt.ptr<f32>, %x: f32) {
      tt.debug_barrier
      tt.store %p, %x : !tt.ptr<f32>
      tt.return
    }
    ```
  }];
  let dependentDialects = ["::nereid::tt::TritonDialect"];
}

def NereidInlineAll : Pass<"nereid-inline-all", "::mlir::ModuleOp"> {
  let summary = "Lets the inliner take every function";
  let description = [{
    For readers of one function: what was marked `noinline` is no longer. Stands
    before the inliner.

    ```mlir
    tt.func private @f(%x: i32) -> i32 attributes {noinline = true} {
      tt.return %x : i32
    }
    // becomes
    tt.func private @f(%x: i32) -> i32 attributes {noinline = false} {
      tt.return %x : i32
    }
    ```
  }];
}

def NereidExportTTIR : Pass<"nereid-export-ttir", "::mlir::ModuleOp"> {
  let summary = "Leaves what a version of upstream Triton reads, or says why not";
  let description = [{
    For a module after inlining. What upstream cannot express is an error at the
    user's line: operations between ranks and on vector cores, block pointers,
    shapes that are no powers of two. The rest is made explicit: `other = 0` of
    masked loads, the rounding mode of narrowing casts; `tt.debug_barrier` is
    `gpu.barrier`; attributes of this project are removed.

    The module is printed in the text form of `version` from then on.

    ```mlir
    tt.func public @k(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>) {
      %x = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
      tt.store %p, %x, %m : tensor<8x!tt.ptr<f32>>
      tt.return
    }
    // becomes
    tt.func public @k(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>) attributes {noinline = false} {
      %zero = arith.constant dense<0.0> : tensor<8xf32>
      %x = tt.load %p, %m, %zero : tensor<8x!tt.ptr<f32>>
      tt.store %p, %x, %m : tensor<8x!tt.ptr<f32>>
      tt.return
    }
    ```
  }];
  let options = [
    Option<"version", "version", "std::string", "\"3.6\"", "version of Triton: 3.6 or 3.9">
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::arith::ArithDialect"];
}

#endif // NEREID_TRANSFORMS_PASSES_TD
