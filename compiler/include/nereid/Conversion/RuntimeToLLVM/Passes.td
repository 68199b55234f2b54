// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_CONVERSION_RUNTIMETOLLVM_PASSES_TD
#define NEREID_CONVERSION_RUNTIMETOLLVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def NereidCPULowerRuntime : Pass<"nereid-cpu-lower-runtime", "::mlir::ModuleOp"> {
  let summary = "Lowers functions, scalar operations and runtime calls to the CPU's kernel ABI";
  let description = [{
    Runs after tiles became loops. A public `tt.func` becomes

    ```mlir
    llvm.func @kernel(%program: !llvm.ptr, %arguments: !llvm.ptr)
    ```

    as abi/nereid/abi.h describes; scalar `tt` operations become `llvm` and
    `arith` operations; `distributed` and `ascend` operations become loads of
    `nrd_program` and calls of `nrd_*`. Pointers carried by `scf` and `cf` become
    `!llvm.ptr`. Afterwards no operation or type of `tt`, `distributed`, `ascend`
    and `cpu` is left; each that cannot be lowered is an error at its location.

    Module attributes that it sets: `cpu.sites` (source locations by number, each
    `[file, line, column, function]`), `cpu.blocking` (a call may wait for another
    program), `cpu.distributed`, `cpu.arguments` (type names of the kernel's
    arguments), `cpu.symmetric_arguments` (numbers of those that have
    `nereid.symmetric`).
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // NEREID_CONVERSION_RUNTIMETOLLVM_PASSES_TD
