// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_TARGET_CPU_TILESTOLOOPS_PASSES_TD
#define NEREID_TARGET_CPU_TILESTOLOOPS_PASSES_TD

include "mlir/Pass/PassBase.td"

def NereidCPUTilesToLoops : Pass<"nereid-cpu-tiles-to-loops", "::mlir::ModuleOp"> {
  let summary = "Turns tile operations into loops over vectors and buffers";
  let description = [{
    Expects functions whose calls are inlined. Afterwards no value is a tile:
    stores, reductions, dots, atomics and loop-carried tiles have become loop
    nests on `!llvm.ptr` with everything element-wise fused into them; tiles
    that need memory lie at static offsets of the program's scratch area. The
    module attribute `cpu.scratch_bytes` says how much of it there is.

    Scalar operations of the tt, distributed and ascend dialects stay.
  }];
  let options = [
    Option<"cpu", "cpu", "std::string", "\"host\"",
           "whose vectors to use: host, x86-64-v2, x86-64-v3 or x86-64-v4">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::math::MathDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::vector::VectorDialect",
                           "::mlir::LLVM::LLVMDialect", "::nereid::cpu::CPUDialect"];
}

#endif // NEREID_TARGET_CPU_TILESTOLOOPS_PASSES_TD
