// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_TARGET_CPU_FLOATTOLLVM_PASSES_TD
#define NEREID_TARGET_CPU_FLOATTOLLVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def NereidCPUExpandFloats : Pass<"nereid-cpu-expand-floats", "::mlir::ModuleOp"> {
  let summary = "Expands narrow floating-point formats and mathematical functions";
  let description = [{
    Works on scalars and vectors.

    - Arithmetic on bf16 and fp8 is done in fp32 and rounded back.
    - Conversions from and to bf16 and fp8, and those that round towards zero,
      become integer arithmetic; so results do not depend on what the CPU has.
      Conversions to fp8 saturate: values beyond the largest finite number
      become that number; NaN stays NaN.
    - exp, exp2, log, log2, tanh, erf, sin, cos ... on fp32 become polynomials;
      on fp16, bf16 and fp8 they go through fp32. What has no expansion here,
      and all of fp64, becomes calls of the C library's functions later.
    - What remains of bf16, values that are only moved, becomes i16.

    ```mlir
    llvm.func @k(%x: bf16) -> f32 {
      %y = arith.extf %x : bf16 to f32
      llvm.return %y : f32
    }
    // becomes
    llvm.func @k(%x: i16) -> f32 {
      %c16 = arith.constant 16 : i32
      %wide = arith.extui %x : i16 to i32
      %bits = arith.shli %wide, %c16 : i32
      %y = arith.bitcast %bits : i32 to f32
      llvm.return %y : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect"];
}

#endif // NEREID_TARGET_CPU_FLOATTOLLVM_PASSES_TD
