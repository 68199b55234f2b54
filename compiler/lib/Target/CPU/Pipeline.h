// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pipeline of the CPU target, in phases.
//
//     front end's TTIR                                              "ttir"
//        |  check       errors that must be found before anything is simplified
//        |  simplify    inlined, folded, loops marked and structured   -> "simplified"
//        |  tiles       tensors became loops over vectors and buffers  -> "cpu-tiles"
//        |  lowering    kernel ABI, calls of nrd_*, the LLVM dialect   -> "llvm-dialect"
//        v
//     ObjectEmitter: "llvm", "asm", "obj"
#ifndef NEREID_TARGET_CPU_PIPELINE_H
#define NEREID_TARGET_CPU_PIPELINE_H

#include "Target/CPU/TargetFeatures.h"
#include "nereid/Target/Target.h"

namespace nereid::cpu {

/// What the target's options say, in its own terms.
struct PipelineOptions {
  TargetFeatures target = TargetFeatures::host();
  unsigned vectorCores = 1; ///< of one AI core under the profile
  std::string unusedToken = "error";
  bool enableFPFusion = true;
  bool instrument = false;

  static PipelineOptions of(const TargetSettings &settings);
};

std::vector<Phase> phases(const PipelineOptions &options);

/// Registers --nereid-cpu-pipeline and one pipeline for each phase
/// (--nereid-cpu-check, -simplify, -tiles, -lowering).
void registerPipelines();

} // namespace nereid::cpu

#endif // NEREID_TARGET_CPU_PIPELINE_H
