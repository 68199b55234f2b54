// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_TRANSFORMS_PASSES_TD
#define NEREID_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def NereidInferLaunchMode : Pass<"nereid-infer-launch-mode", "::mlir::ModuleOp"> {
  let summary = "Records whether the kernel runs vector-only or mixed";
  let description = [{
    A kernel with `tt.dot` or a call of `barrier_all` runs mixed ("cv1:2"), any
    other vector-only ("cv0:1"). The answer is the module attribute
    `ascend.launch_mode`.

    ```mlir
    module attributes {ascend.launch_mode = "cv1:2"} { ... }
    ```
  }];
}

#endif // NEREID_TRANSFORMS_PASSES_TD
