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

    ```mlir
    // options: cpu=x86-64-v3
    tt.func @k(%p: !tt.ptr<f32>, %v: f32) {
      %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
      %s = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
      %a = tt.addptr %s, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
      %x = tt.splat %v : f32 -> tensor<8xf32>
      tt.store %a, %x : tensor<8x!tt.ptr<f32>>
      tt.return
    }
    // becomes
    module attributes {cpu.scratch_bytes = 0 : i64} {
      tt.func @k(%p: !tt.ptr<f32>, %v: f32) {
        %0 = builtin.unrealized_conversion_cast %p : !tt.ptr<f32> to !llvm.ptr
        %c0_i64 = arith.constant 0 : i64
        %c8_i64 = arith.constant 8 : i64
        %c0_i32 = arith.constant 0 : i32
        %c0_i64_0 = arith.constant 0 : i64
        scf.for %i = %c0_i64 to %c8_i64 step %c8_i64  : i64 {
          %1 = vector.broadcast %v : f32 to vector<8xf32>
          %2 = llvm.getelementptr %0[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
          llvm.store %1, %2 {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
        }
        tt.return
      }
    }
    ```
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
