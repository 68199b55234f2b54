// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A target: how TTIR becomes code for one kind of machine.
//
//   module of the front end
//      |  phases()[0]   run, verify its promise, stop if a stage was asked for
//      |  ...
//      |  emit()        the stages that are no module: text, then the object
//      v
//   object + metadata
//
// Pipelines/Compile.h has the loop. A target is a folder of compiler/lib/Target
// and a line in targets.cmake; it uses no other target.
#ifndef NEREID_TARGET_TARGET_H
#define NEREID_TARGET_TARGET_H

#include "nereid/Target/KernelMetadata.h"
#include "nereid/Target/TargetInfo.h"
#include "nereid/profiles.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <functional>
#include <string>
#include <vector>

namespace nereid {

/// A step from the front end's module to the one that is emitted.
struct Phase {
  llvm::StringRef name;    ///< "tiles"
  llvm::StringRef promise; ///< what holds afterwards, as a sentence
  std::function<void(mlir::OpPassManager &)> build;
  /// The first operation that breaks the promise; null when it holds.
  std::function<mlir::Operation *(mlir::ModuleOp)> verify;
};

/// What a compilation asks of its target.
struct TargetSettings {
  /// Rules of the language; never null.
  const TargetProfile *profile = &targetProfiles[0];
  /// Checked against the target's table. What is missing has its default.
  OptionValues options;
  /// Text of a line of a source file, for tables of source locations; may be null.
  std::function<std::string(llvm::StringRef file, unsigned line)> lineText;
  /// Asks the target's tool (TargetInfo::tool); request and answer are JSON texts that
  /// the target and the tool agree upon. Null: there is no way to run it.
  std::function<std::string(llvm::StringRef tool, llvm::StringRef request)> runTool;
};

/// Constant, without state, one object in the process: safe to use from all threads.
class Target {
public:
  explicit Target(const TargetInfo &info) : info(info) {}
  virtual ~Target();

  const TargetInfo &info;

  /// Dialects, interfaces and translations beyond those of the language.
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;
  /// Passes and pipelines by name, for nereid-opt.
  virtual void registerPasses() const = 0;

  virtual std::vector<Phase> phases(const TargetSettings &settings) const = 0;

  /// A stage that is no module (TargetStage::phase is empty), from the module after
  /// the last phase. For the last stage `metadata` is filled in as well; the name of
  /// the kernel and of its arguments, what they are multiples of, its launch mode and its
  /// lanes stand in it already. Fails after an
  /// error that was reported at an operation.
  virtual mlir::FailureOr<std::string> emit(mlir::ModuleOp module, const TargetStage &stage,
                                            const TargetSettings &settings,
                                            KernelMetadata &metadata) const = 0;
};

} // namespace nereid

#endif // NEREID_TARGET_TARGET_H
