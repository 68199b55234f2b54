// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler driver: a module of the front end in, an object file and what
// the launcher must know about it out (the object of a target with a device says
// that too). What stands between is the target's.
#ifndef NEREID_PIPELINES_COMPILE_H
#define NEREID_PIPELINES_COMPILE_H

#include "nereid/Support/Diagnostics.h"
#include "nereid/Target/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <functional>
#include <string>

namespace nereid {

struct CompileOptions {
  /// Where the code runs. May be null where no target takes part: readTTIR,
  /// exportTTIR, the stage "ttir".
  const Target *target = nullptr;
  /// Rules of the language; never null.
  const TargetProfile *profile = &targetProfiles[0];
  /// The target's options.
  OptionValues options;
  /// Every stage is written to this folder as NAME.N-STAGE.EXT. Empty: to none.
  std::string dumpFolder;
  /// A compiler crash or failed verification leaves a file here from which
  /// nereid-opt can repeat it. Empty: none.
  std::string crashReproducer;
  /// Text of a line of a source file, for diagnostics and the table of sites.
  /// Null: read from the file system.
  std::function<std::shared_ptr<const SourceFile>(llvm::StringRef path)> findSource;
  /// As TargetSettings::runTool.
  std::function<std::string(llvm::StringRef tool, llvm::StringRef request)> runTool;
  /// Set by another thread when nobody wants the result any more: the passes that
  /// remain have nothing to do, and the result is the error compilation_cancelled.
  /// Code that LLVM's code generator has begun is finished. Null: never.
  const std::atomic<bool> *cancelled = nullptr;
  /// Gets what passes say of the speed of the code that they made, as notes whose help is what
  /// would make it faster. Null: nobody asks, and nothing is said.
  DiagnosticSink *speed = nullptr;
};

struct CompiledKernel {
  /// The target's last stage.
  std::string object;
  KernelMetadata metadata;
};

/// Compiles the module's one public function. The module is consumed. Errors are
/// DiagnosticErrors: the first that a pass reports, unknown options; warnings go to
/// `warnings`.
llvm::Expected<CompiledKernel> compileKernel(mlir::ModuleOp module, const CompileOptions &options,
                                             DiagnosticSink *warnings = nullptr);

/// The target's stage of that name: its text, or bytes. "ttir" is the module as it
/// comes, after the checks that all targets share; it needs no target. The module is
/// consumed. Errors as for compileKernel.
llvm::Expected<std::string> emitStage(mlir::ModuleOp module, llvm::StringRef stage,
                                      const CompileOptions &options,
                                      DiagnosticSink *warnings = nullptr);

/// The kernel as TTIR that upstream Triton of `version` ("3.6", "3.9") reads.
/// The module is consumed. Errors as for compileKernel, also for operations that
/// have no upstream form.
llvm::Expected<std::string> exportTTIR(mlir::ModuleOp module, llvm::StringRef version,
                                       const CompileOptions &options,
                                       DiagnosticSink *warnings = nullptr);

} // namespace nereid

#endif // NEREID_PIPELINES_COMPILE_H
