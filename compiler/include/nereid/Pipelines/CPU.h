// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pipeline of the CPU target, in phases.
//
//     front end's TTIR
//        |  check       errors that must be found before anything is simplified
//        |  simplify    inlined, folded, loops marked and structured   -> "ttir"
//        |  tiles       tensors became loops over vectors and buffers  -> "cpu-tiles"
//        |  runtime     kernel ABI, calls of nrd_*
//        |  llvm        only the LLVM dialect                          -> "llvm"
//        v
//     Target/CPU: object code
#ifndef NEREID_PIPELINES_CPU_H
#define NEREID_PIPELINES_CPU_H

#include "Target/CPU/TargetFeatures.h"
#include "nereid/profiles.h"

#include "mlir/Pass/PassManager.h"

#include <string>

namespace nereid {

struct CPUPipelineOptions {
  cpu::TargetFeatures target = cpu::TargetFeatures::host();
  /// What the machine that the kernel is written for does differently.
  const TargetProfile *profile = &targetProfiles[0];
  /// A wait whose token nobody consumes: "error", "warn" or "keep".
  std::string unusedToken = "error";
};

/// Checks and target-independent simplification.
void buildCPUCheckPhase(mlir::OpPassManager &pm, const CPUPipelineOptions &options);
void buildCPUSimplifyPhase(mlir::OpPassManager &pm, const CPUPipelineOptions &options);
/// Tensors to loops.
void buildCPUTilePhase(mlir::OpPassManager &pm, const CPUPipelineOptions &options);
/// Kernel ABI, then the LLVM dialect.
void buildCPULoweringPhase(mlir::OpPassManager &pm, const CPUPipelineOptions &options);

/// All phases in order.
void buildCPUPipeline(mlir::OpPassManager &pm, const CPUPipelineOptions &options);

/// Registers --nereid-cpu-pipeline and one pipeline for each phase
/// (--nereid-cpu-check, -simplify, -tiles, -lowering).
void registerCPUPipelines();

} // namespace nereid

#endif // NEREID_PIPELINES_CPU_H
