// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In this order, after nereid-pin-waits.
#ifndef NEREID_TARGET_CUDA_PASSES_TD
#define NEREID_TARGET_CUDA_PASSES_TD

include "mlir/Pass/PassBase.td"

def NereidCUDATrapRanges : Pass<"nereid-cuda-trap-ranges", "::mlir::ModuleOp"> {
  let summary = "Checks the ranges of loops without a call";
  let description = [{
    Triton makes a call of `tt.assert`, and in a kernel with a call `ptxas` waits
    after each matrix instruction (its note C7510). In a module with products, the
    assertions of nereid-check-loops become assembly that traps.

    ```mlir
    tt.func @k(%n: i32, %s: i32, %holds: i1, %a: tensor<16x16xf16>, %z: tensor<16x16xf32>) -> tensor<16x16xf32> {
      %c0 = arith.constant 0 : i32
      tt.assert %holds, "the step of this range is not positive" {nereid.range_check} : i1
      %r = scf.for %i = %c0 to %n step %s iter_args(%x = %z) -> (tensor<16x16xf32>) : i32 {
        %d = tt.dot %a, %a, %x : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
        scf.yield %d : tensor<16x16xf32>
      }
      tt.return %r : tensor<16x16xf32>
    }
    // becomes
    tt.func @k(%n: i32, %s: i32, %holds: i1, %a: tensor<16x16xf16>, %z: tensor<16x16xf32>) -> tensor<16x16xf32> {
      %c0 = arith.constant 0 : i32
      %w = arith.extui %holds : i1 to i32
      %y = tt.elementwise_inline_asm "{ .reg .pred p;\0Asetp.eq.u32 p, $1, 0; @p trap;\0Amov.u32 $0, 0;\0A}" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %w : i32 -> i32
      %r = scf.for %i = %c0 to %n step %s iter_args(%x = %z) -> (tensor<16x16xf32>) : i32 {
        %d = tt.dot %a, %a, %x : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
        scf.yield %d : tensor<16x16xf32>
      }
      tt.return %r : tensor<16x16xf32>
    }
    ```
  }];
}

def NereidCUDARestrictLoops : Pass<"nereid-cuda-restrict-loops", "::mlir::ModuleOp"> {
  let summary = "Takes the hints from loops with which Triton would lose waits";
  let description = [{
    Triton's warp specialisation deletes assembly with effects, and flattened
    loops carry waits into the inner loop, which is then not pipelined. In a
    kernel with operations between ranks `tt.warp_specialize` is removed from every
    loop, with a warning, and `tt.flatten` from loops that contain one of them.

    ```mlir
    tt.func @k(%s: !tt.ptr<i32>, %n: i32, %v: i32) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      scf.for %i = %c0 to %n step %c1 : i32 {
        %t = distributed.wait %s, %c1, %v, scope = sys semantic = acquire {barrier} : !tt.ptr<i32>, i32, i32 -> i32
      } {tt.flatten}
      tt.return
    }
    // becomes
    tt.func @k(%s: !tt.ptr<i32>, %n: i32, %v: i32) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      scf.for %i = %c0 to %n step %c1 : i32 {
        %t = distributed.wait %s, %c1, %v, scope = sys semantic = acquire {barrier} : !tt.ptr<i32>, i32, i32 -> i32
      }
      tt.return
    }
    ```
  }];
}

def NereidLowerDistributedToTT : Pass<"nereid-lower-distributed-to-tt", "::mlir::ModuleOp"> {
  let summary = "Lowers operations between ranks to tt and inline assembly of NVIDIA's GPUs";
  let description = [{
    Runs on one inlined function whose waits are pinned. A kernel that has such
    operations gets five more arguments: its rank, the number of ranks, the
    distance of two ranks' heaps in units of 16 bytes, the runtime's words in the
    own heap, and control words in memory of the host. A waiting thread looks at
    the first control word now and then; when the host has given the launch up, it
    writes where it waits, for what and what it saw to its program's 32 bytes from
    byte 64 on, and ends.

    | operation | becomes |
    | --- | --- |
    | `get_rank`, `get_num_ranks` | the arguments |
    | `symm_at` | `tt.addptr` by a multiple of 16 bytes |
    | `wait`, `signal_wait_until` | assembly that polls, then `tt.debug_barrier` |
    | `notify`, `signal_op`, `p` | `tt.debug_barrier`, then a release by thread 0 |
    | `g`, atomics | scalar `tt.atomic_rmw`, `tt.atomic_cas` |
    | put, get, collectives | loops of `tt.load` and `tt.store` |
    | `fence`, `quiet` | fences of every thread |
    | barriers | counters in the runtime's words |

    Each piece of assembly with effects has a number, which stands in it as a
    comment: the compiled kernel must still contain every one of them. What has no
    form is an error at its location.

    ```mlir
    tt.func @k(%p: !tt.ptr<f32>, %r: i32, %x: f32) {
      %q = distributed.symm_at %p, %r, : !tt.ptr<f32>
      tt.store %q, %x : !tt.ptr<f32>
      tt.return
    }
    // becomes
    module attributes {nereid.cuda.distributed = true, nereid.cuda.sites = []} {
      tt.func @k(%p: !tt.ptr<f32>, %r: i32, %x: f32, %rank: i32 {nereid.runtime}, %num_ranks: i32 {nereid.runtime}, %stride: i64 {nereid.runtime}, %state: !tt.ptr<i32> {nereid.runtime, tt.divisibility = 16 : i32}, %control: !tt.ptr<i32> {nereid.runtime, tt.divisibility = 16 : i32}) {
        %d = arith.subi %r, %rank : i32
        %w = arith.extsi %d : i32 to i64
        %s = arith.muli %w, %stride : i64
        %c4 = arith.constant 4 : i64
        %o = arith.muli %s, %c4 : i64
        %q = tt.addptr %p, %o : !tt.ptr<f32>, i64
        tt.store %q, %x : !tt.ptr<f32>
        tt.return
      }
    }
    ```
  }];
  let options = [
    Option<"arch", "arch", "int", "90", "compute capability, 90 for sm_90">,
    Option<"waitStride", "wait-stride", "int", "0", "bytes between the slots of a wait; 0: one element">,
    Option<"oneProgram", "one-program", "bool", "false", "one program of each rank calls barriers and collectives">,
    Option<"checked", "checked", "bool", "false", "ranks that there are not fail an assertion">,
    Option<"numCTAs", "num-ctas", "int", "1", "thread blocks that run a program">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::nereid::tt::TritonDialect"];
}

def NereidSeparateAccesses : Pass<"nereid-separate-accesses", "::mlir::ModuleOp"> {
  let summary = "Keeps the accesses of one program to one place in their order";
  let description = [{
    A program of a GPU is many threads, each of which has its own order, and a
    load and a store of one tile may give one element to different threads. A
    barrier of the program comes between two accesses, at least one of which
    writes, whose pointers come from the same argument, or from two of which one is
    symmetric, or from where nobody knows, unless one is there already. The last
    round of a loop comes before its next. Accesses by two arguments that are not
    symmetric count as accesses to different memory, as in Triton. Descriptors copy
    by a way of their own: a barrier next to such a store waits for its copy first.

    ```mlir
    tt.func @k(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
      %x = tt.load %p : !tt.ptr<f32>
      tt.store %q, %x : !tt.ptr<f32>
      tt.store %p, %x : !tt.ptr<f32>
      tt.return
    }
    // becomes
    tt.func @k(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
      %x = tt.load %p : !tt.ptr<f32>
      tt.store %q, %x : !tt.ptr<f32>
      tt.debug_barrier
      tt.store %p, %x : !tt.ptr<f32>
      tt.return
    }
    ```
  }];
  let options = [
    Option<"arch", "arch", "int", "90", "compute capability, 90 for sm_90">,
    Option<"numCTAs", "num-ctas", "int", "1", "thread blocks that run a program">
  ];
  let dependentDialects = ["::nereid::tt::TritonDialect"];
}

#endif // NEREID_TARGET_CUDA_PASSES_TD
