// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler driver: a module of the front end in, an object file and what
// the launcher must know about it out.
#ifndef NEREID_PIPELINES_COMPILE_H
#define NEREID_PIPELINES_COMPILE_H

#include "nereid/Pipelines/CPU.h"
#include "nereid/Support/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nereid {

/// Where the pipeline stops and what it returns.
enum class Stage {
  TTIR,     ///< after the target-independent passes, "ttir"
  CPUTiles, ///< loops over tiles, "cpu-tiles"
  LLVM,     ///< text of the optimised LLVM IR, "llvm"
  Assembly, ///< "asm"
  Object    ///< bytes, "obj"
};

/// Stage of a name as `--emit` takes it.
std::optional<Stage> parseStage(llvm::StringRef name);

struct CompileOptions {
  CPUPipelineOptions pipeline;
  bool enableFPFusion = true;
  /// Every stage is written to this folder as NAME.N-stage.ext. Empty: to the
  /// folder in the environment variable NEREID_DUMP, if it is set.
  std::string dumpFolder;
  /// A compiler crash or failed verification leaves a file here from which
  /// nereid-opt can repeat it. Empty: none.
  std::string crashReproducer;
  /// Text of a line of a source file, for diagnostics and the table of sites.
  /// Null: read from the file system.
  std::function<std::shared_ptr<const SourceFile>(llvm::StringRef path)> findSource;
  /// Set by another thread when nobody wants the result any more: the passes that
  /// remain have nothing to do, and CompilationCancelled is thrown after them. Code
  /// that LLVM's code generator has begun is finished. Null: never.
  const std::atomic<bool> *cancelled = nullptr;
};

/// Thrown when CompileOptions::cancelled was set.
struct CompilationCancelled {};

/// A source location that generated code refers to by number.
struct Site {
  std::string file;
  unsigned line = 0, column = 0;
  std::string function;
  std::string text; // of the line
};

/// What a launcher must know.
struct KernelMetadata {
  std::string name;
  std::vector<std::string> argumentTypes; ///< "*fp32", "i32", ... one per slot
  uint64_t scratchBytes = 0;
  bool blocking = false;                    ///< programs must be able to wait for each other
  bool distributed = false;                 ///< uses ranks, signals or symmetric memory
  std::string launchMode;                   ///< "cv0:1" or "cv1:2"
  unsigned lanes = 1;                       ///< vector cores that run each program
  std::vector<unsigned> symmetricArguments; ///< slots that must be symmetric addresses
  std::vector<Site> sites;
  unsigned abiVersion = 0; ///< NRD_ABI_VERSION
  std::string targetCPU;

  /// JSON with the keys name, args, scratch_bytes, blocking, distributed,
  /// launch_mode, symmetric_args, sites ([file, line, column, function,
  /// text]), abi_version, target_cpu.
  std::string toJSON() const;
};

struct CompiledKernel {
  std::string object;
  KernelMetadata metadata;
};

/// Compiles the module's one public function. The module is consumed. Throws
/// CompileError with the first error that a pass reports; warnings go to
/// `warnings`.
CompiledKernel compileKernel(mlir::ModuleOp module, const CompileOptions &options,
                             DiagnosticSink *warnings = nullptr);

/// Runs the pipeline up to `stage` and returns its text (or the object file's
/// bytes). The module is consumed. Throws as compileKernel does.
std::string emitStage(mlir::ModuleOp module, Stage stage, const CompileOptions &options,
                      DiagnosticSink *warnings = nullptr);

/// The kernel as TTIR that upstream Triton of `version` ("3.6", "3.9") reads.
/// The module is consumed. Throws as compileKernel does, also for operations
/// that have no upstream form.
std::string exportTTIR(mlir::ModuleOp module, llvm::StringRef version,
                       const CompileOptions &options, DiagnosticSink *warnings = nullptr);

} // namespace nereid

#endif // NEREID_PIPELINES_COMPILE_H
