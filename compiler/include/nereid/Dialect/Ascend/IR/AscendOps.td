// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_ASCEND_OPS_TD
#define NEREID_ASCEND_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Ascend_Dialect : Dialect {
  let name = "ascend";
  let cppNamespace = "::nereid::ascend";
  let summary = "The Ascend execution model: AI cores, cube and vector cores";
  let description = [{
    An AI core has one cube core (matrix) and a number of vector cores. A kernel
    runs vector-only ("cv0:1": one vector core per program) or mixed ("cv1:2": a
    program is an AI core with its cube and both vector cores); the pass
    `nereid-infer-launch-mode` decides which and records it on the module as
    `ascend.launch_mode`.

    The number of vector cores per AI core is a compile-time constant of the
    device profile and needs no operation.
  }];
}

class Ascend_Op<string mnemonic, list<Trait> traits = []> : Op<Ascend_Dialect, mnemonic, traits>;

def Ascend_GetSubVecIdOp : Ascend_Op<"get_sub_vec_id", [Pure]> {
  let summary = "index of this vector core inside its AI core";
  let description = [{
    0 in a vector-only launch.

    ```mlir
    %i = ascend.get_sub_vec_id : i64
    ```
  }];
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Ascend_ShareOp : Ascend_Op<"share", [MemoryEffects<[MemRead, MemWrite]>,
                                   TypesMatchWith<"result is of the value's type", "value", "result", "$_self">]> {
  let summary = "the value that vector core 0 has";
  let description = [{
    Every vector core of a program gets the operand of vector core 0, for which
    the others wait.

    ```mlir
    %r = ascend.share %x : i32
    ```
  }];
  let arguments = (ins AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$value);
  let results = (outs AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // NEREID_ASCEND_OPS_TD
