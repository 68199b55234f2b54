// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_DISTRIBUTED_OPS_TD
#define NEREID_DISTRIBUTED_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "nereid/Dialect/Distributed/IR/DistributedEnums.td"
include "nereid/Dialect/Triton/IR/TritonEnums.td"
include "nereid/Dialect/Triton/IR/TritonTypes.td"

def Distributed_Dialect : Dialect {
  let name = "distributed";
  let cppNamespace = "::nereid::distributed";
  let summary = "Ranks, symmetric memory and signals of tile programs";
  let description = [{
    Communication is address space: `symm_at` turns a pointer into this rank's
    symmetric heap into a pointer to the same place in another rank's heap, and
    all of `tt` works on the result. Signals order accesses between ranks.

    Memory effects are the heart of the model:

    | op            | effect        | consequence                                  |
    | ------------- | ------------- | -------------------------------------------- |
    | get_rank, get_num_ranks, consume_token | none | folded, hoisted, merged freely  |
    | symm_at       | none          | folded and merged; not speculated            |
    | wait          | read          | dead without a user; never moved or merged across a write |
    | wait {barrier} | read, write  | stays where it is; nothing moves across it   |
    | notify        | read, write   | stays where it is; nothing moves across it   |
    | extern_call   | read, write unless `pure` | same                             |
    | yield, access | read, write   | same                                         |

    A wait whose token nobody consumes is therefore dead code. The pass
    `nereid-check-tokens` makes that an error before any optimisation runs.
  }];
  let dependentDialects = ["::nereid::tt::TritonDialect"];
}

class Dist_Op<string mnemonic, list<Trait> traits = []> : Op<Distributed_Dialect, mnemonic, traits>;

def Dist_GetRankOp : Dist_Op<"get_rank", [Pure]> {
  let summary = "this rank's number";
  let arguments = (ins I32:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Dist_GetNumRanksOp : Dist_Op<"get_num_ranks", [Pure]> {
  let summary = "how many ranks the job has";
  let arguments = (ins I32:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Dist_SymmAtOp : Dist_Op<"symm_at", [NoMemoryEffect, TypesMatchWith<"result is of the pointer's type", "ptr", "result", "$_self">]> {
  let summary = "pointer to the same place in another rank's symmetric heap";
  let description = [{
    `ptr` is a scalar pointer into this rank's heap, `rank` a number from 0 to
    the number of ranks - 1; anything else fails at run time, so the operation
    has no effect on memory but may not be speculated. With `rank` = `get_rank`
    the result is `ptr`.

    ```mlir
    %q = distributed.symm_at %p, %r, : !tt.ptr<f32>
    ```
  }];
  let arguments = (ins AnyType:$ptr, I32:$rank);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$ptr `,` $rank `,` attr-dict `:` type($ptr)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Dist_WaitOp : Dist_Op<"wait", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "blocks until signal slots equal a value";
  let description = [{
    Returns when each of `count` signal slots from `slots` on equals `value`.
    The distance between slots belongs to the target profile. The token stands
    for what the signals' writers released: data is ordered after the wait only
    if its pointer went through `consume_token`.

    With `barrier` the wait orders everything after it, token or not; the pass
    `nereid-check-tokens` sets it on request.

    ```mlir
    %t = distributed.wait %p, %n, %v, scope = gpu semantic = acquire : !tt.ptr<i32>, i32, i32 -> i32
    ```
  }];
  let arguments = (ins TT_PtrLike:$slots, I32:$count, TT_Int:$value, TT_MemSyncScope:$scope, TT_MemSemantic:$semantic,
                       UnitAttr:$barrier);
  let results = (outs TT_Int:$token);
  let assemblyFormat = "$slots `,` $count `,` $value `,` `scope` `=` $scope `semantic` `=` $semantic attr-dict `:` type($slots) `,` type($count) `,` type($value) `->` type($token)";
  let hasVerifier = 1;
}

def Dist_ConsumeTokenOp : Dist_Op<"consume_token", [Pure, TypesMatchWith<"result is of the value's type", "value", "result", "$_self">]> {
  let summary = "the value itself, made to depend on a wait";
  let description = [{
    Costs nothing at run time. It is not folded away before `nereid-pin-waits`,
    since it is what keeps loads behind the wait.

    ```mlir
    %q = distributed.consume_token %p, %t, : !tt.ptr<f32>, i32 -> !tt.ptr<f32>
    ```
  }];
  let arguments = (ins AnyType:$value, TT_Int:$token);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$value `,` $token `,` attr-dict `:` type($value) `,` type($token) `->` type($result)";
}

def Dist_NotifyOp : Dist_Op<"notify", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "updates a signal on a rank after all earlier writes of this program";
  let arguments = (ins TT_Ptr:$signal, TT_Int:$value, I32:$rank, Dist_SignalOp:$sigOp, Dist_CommScope:$commScope);
  let hasVerifier = 1;
}

def Dist_ExternCallOp : Dist_Op<"extern_call", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                                DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let summary = "scalar call of a device library function";
  let description = [{
    `symbol` is a row of LibraryFunctions.def, which says what operands and
    result the function has and what it does: the verifier holds the call to it,
    passes and lowerings ask it. `spelling` is the function's name as the user
    wrote it, when it differs: it says for instance which threads of a program
    call (`putmem_block`), for targets where programs have threads. A call is
    `pure` when it may be removed, repeated and moved, which a function that
    touches memory never is.
  }];
  let arguments = (ins Variadic<AnyType>:$srcs, StrAttr:$libname, StrAttr:$libpath, StrAttr:$symbol, BoolAttr:$pure,
                       OptionalAttr<StrAttr>:$spelling);
  let results = (outs Variadic<AnyType>:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The row of the function that this calls; the call has been verified.
    const ::nereid::distributed::LibraryFunction &getFunction();
    /// The function's name as the user wrote it.
    ::llvm::StringRef getWrittenName();
  }];
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Dist_YieldOp : Dist_Op<"yield", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "lets other programs run";
  let description = [{
    Stands on the back edge of loops that spin until another program or rank
    changes memory. A target whose programs share a core gives it to another
    program; one whose programs run on their own may ignore it. Nothing moves
    across it. `nereid-mark-spin-loops` inserts it.

    ```mlir
    distributed.yield
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Dist_AccessOp : Dist_Op<"access", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "tells whoever watches the job of an access that comes next";
  let description = [{
    Stands before a load or store of the elements at `ptrs` whose `mask` holds
    (all of them without one). It accesses nothing itself. `isVolatile`: each
    element is read in one piece, whatever other programs do to it meanwhile.
    `nereid-instrument-accesses` inserts it; a target without a way to tell
    refuses the option that asks for that pass.

    An atomic operation is told of by whoever carries it out, since its place
    among other updates of the word counts: the pass marks it with
    `nereid.observed` instead.

    ```mlir
    distributed.access write %ptrs, %mask : tensor<64x!tt.ptr<f32>>, tensor<64xi1>
    ```
  }];
  let arguments = (ins Dist_AccessKind:$kind, TT_ScalarPtrLike:$ptrs, Optional<TT_I1Like>:$mask, UnitAttr:$isVolatile);
  let assemblyFormat = "$kind $ptrs (`,` $mask^)? attr-dict `:` type($ptrs) (`,` type($mask)^)?";
  let hasVerifier = 1;
}

def Dist_ThreadIdOp : Dist_Op<"thread_id", [Pure]> {
  let summary = "which thread of its program runs this";
  let description = [{
    Kernels for GPUs tell the threads of a program apart. The module attribute
    `nereid.threads` says how many there are. Scalars that depend on the number
    differ from thread to thread, and so does control flow by them; blocks belong
    to the whole program. `nereid-thread-loops` is for targets whose programs are
    one thread each.

    ```mlir
    %t = distributed.thread_id : i32
    ```
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Dist_ThreadBarrierOp : Dist_Op<"thread_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads of a program meet";
  let description = [{
    What each thread did before it is there for all of them after it. All threads
    come here: control flow that depends on the thread must not lead to it.

    ```mlir
    distributed.thread_barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // NEREID_DISTRIBUTED_OPS_TD
