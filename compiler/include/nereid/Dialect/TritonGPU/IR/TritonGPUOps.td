// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_TRITONGPU_OPS_TD
#define NEREID_TRITONGPU_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TritonGPU_Dialect : Dialect {
  let name = "ttg";
  let cppNamespace = "::nereid::ttg";
  let summary = "What TTIR contains of upstream Triton's GPU dialect";
  let description = [{
    Upstream's front end writes `tl.debug_barrier` as an operation of its GPU
    dialect. It is read here and turned into `tt.debug_barrier` by
    `nereid-import-ttir`; no other pass sees it.
  }];
}

def TTG_BarrierOp : Op<TritonGPU_Dialect, "barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "barrier among the threads of a program, for accesses to some memories";
  let description = [{
    ```mlir
    ttg.barrier all
    ttg.barrier global_read|global_write
    ```
  }];
  let arguments = (ins StrAttr:$spaces);
  let assemblyFormat = "custom<Spaces>($spaces) attr-dict";
}

#endif // NEREID_TRITONGPU_OPS_TD
