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
    %t = distributed.wait %s, %n, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
    %x = tt.load %p : !tt.ptr<f32>        // error: %p did not consume %t
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
    tt.assert %positive, "the step of this range is not positive; ..." : i1   // new
    tt.assert %fits, "the end of this range and one step do not fit in int32; ..." : i1   // new
    scf.for %i = %begin to %end step %step : i32 { ... }
    ```

    Loops with the constant step 1 are left alone. Has to run while all loops
    are the user's.
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
    scf.while : () -> () {
      %x = tt.load %p : !tt.ptr<i32>
      %c = arith.cmpi ne, %x, %one : i32
      scf.condition(%c)
    } do {
      distributed.yield                   // inserted
      scf.yield
    }
    ```
  }];
  let dependentDialects = ["::nereid::distributed::DistributedDialect"];
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
    tt.func public @k(%p: !tt.ptr<f32> {nereid.symmetric}, %r: i32) {
      %q = distributed.symm_at %p, %r, : !tt.ptr<f32>
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
    module attributes {ascend.launch_mode = "cv1:2"} { ... }
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

def NereidFoldDotAccumulator : Pass<"nereid-fold-dot-accumulator"> {
  let summary = "acc + dot(a, b, 0) -> dot(a, b, acc)";
  let description = [{
    For accumulators of 32 bits and more, where adding into the accumulator
    rounds no worse than adding afterwards. The product must have no other use.

    ```mlir
    %p = tt.dot %a, %b, %zero : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<4x4xf32>
    %s = arith.addf %acc, %p : tensor<4x4xf32>
    // becomes
    %s = tt.dot %a, %b, %acc : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<4x4xf32>
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
    %d = tt.dot_scaled %a scale %s, %b, %c lhs = e5m2 rhs = bf16 {fastMath = false} : ...
    // becomes
    %x = arith.mulf %a_as_f32, %s_as_factors : tensor<16x64xf32>
    %d = tt.dot %x, %b_as_f32, %c : tensor<16x64xf32> * tensor<64x16xf32> -> tensor<16x16xf32>
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
    %r = scf.for ... iter_args(%p = %init) -> (tensor<8x!tt.ptr<f32>>) {
      %x = tt.load %p : tensor<8x!tt.ptr<f32>>
      %n = tt.addptr %p, %step : tensor<8x!tt.ptr<f32>>, tensor<8xi32>   // %step = tt.splat %s
      scf.yield %n
    }
    // becomes
    %o = scf.for ... iter_args(%off = %c0_i64) -> (i64) {
      %t = tt.splat %off : i64 -> tensor<8xi64>
      %p = tt.addptr %init, %t : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
      %x = tt.load %p : tensor<8x!tt.ptr<f32>>
      %e = arith.extsi %s : i32 to i64
      %n = arith.addi %off, %e : i64
      scf.yield %n : i64
    }
    %r = tt.addptr %init, (splat %o)
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
  }];
  let options = [
    Option<"keepDescriptors", "keep-descriptors", "bool", "false",
           "leave kernels alone that use descriptors and no block pointers">
  ];
}

//===----------------------------------------------------------------------===//
// Last
//===----------------------------------------------------------------------===//

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
    tt.store %p, %x : !tt.ptr<f32>
    // becomes
    %core = ascend.get_sub_vec_id : i64
    %first = arith.cmpi eq, %core, %c0 : i64
    scf.if %first { tt.store %p, %x : !tt.ptr<f32> }
    ```
  }];
  let options = [
    Option<"lanes", "lanes", "unsigned", "2", "vector cores of one AI core">
  ];
  let dependentDialects = ["::nereid::ascend::AscendDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def NereidPinWaits : Pass<"nereid-pin-waits"> {
  let summary = "Makes every remaining wait a barrier";
  let description = [{
    Ends the part of a pipeline in which waits may be moved and merged. From here
    on the order of the program is what counts: each wait has `barrier`, so that
    none is dead and no access moves across it, and `consume_token`, which has
    nothing more to say, is replaced by its value.

    ```mlir
    %t = distributed.wait %s, %n, %v, scope = gpu semantic = acquire {barrier} : !tt.ptr<i32>, i32, i32 -> i32
    ```
  }];
}

//===----------------------------------------------------------------------===//
// TTIR of upstream Triton
//===----------------------------------------------------------------------===//

def NereidImportTTIR : Pass<"nereid-import-ttir", "::mlir::ModuleOp"> {
  let summary = "Makes tt IR of what upstream's front end writes";
  let description = [{
    `gpu.barrier` and `ttg.barrier` become `tt.debug_barrier`; arguments that are
    descriptors become pointers, with `tt.make_tensor_descriptor` of the sizes and
    strides that follow them; descriptors of signed or unsigned elements become
    descriptors of plain ones; functions that take tiles may be inlined. All other
    differences of the text are dealt with when it is read.
  }];
  let dependentDialects = ["::nereid::tt::TritonDialect"];
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
  }];
  let options = [
    Option<"version", "version", "std::string", "\"3.6\"", "version of Triton: 3.6 or 3.9">
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::arith::ArithDialect"];
}

#endif // NEREID_TRANSFORMS_PASSES_TD
