// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From and to the TTIR of upstream Triton.
#ifndef NEREID_PIPELINES_TTIR_H
#define NEREID_PIPELINES_TTIR_H

#include "nereid/Pipelines/Compile.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#include <string>

namespace nereid {

/// A kernel that was read from text, ready for compileKernel and emitStage.
struct TTIRKernel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string name;
};

/// Reads the text of one kernel: upstream's spellings of all versions, our own,
/// `distributed`, and what the target reads. `path` stands in diagnostics. An error is
/// a DiagnosticError: the first, at its line and column of the text.
llvm::Expected<TTIRKernel> readTTIR(mlir::MLIRContext &context, llvm::StringRef text,
                                    llvm::StringRef path, const CompileOptions &options,
                                    DiagnosticSink *warnings = nullptr);

struct ExportTTIROptions {
  /// The version of Triton that reads the text: "3.6" or "3.9".
  std::string version = "3.6";
};

/// What upstream's front end wrote becomes a module that targets take.
void buildImportTTIRPipeline(mlir::OpPassManager &pm);

/// One inlined, simplified kernel in which nothing is left that only this project
/// knows how to simplify; `keepDescriptors`: tensor descriptors may stay. For modules
/// from the front end.
void buildReadablePipeline(mlir::OpPassManager &pm, bool keepDescriptors);

/// One inlined, simplified kernel in upstream's form; an error at the user's
/// line where it has no such form. For modules from the front end, before any
/// phase of a target.
void buildExportTTIRPipeline(mlir::OpPassManager &pm, const ExportTTIROptions &options = {});

/// nereid-import-ttir-pipeline and nereid-export-ttir-pipeline, by name.
void registerTTIRPipelines();

} // namespace nereid

#endif // NEREID_PIPELINES_TTIR_H
