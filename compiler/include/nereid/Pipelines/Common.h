// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all targets do with a module of the front end before they take it over.
#ifndef NEREID_PIPELINES_COMMON_H
#define NEREID_PIPELINES_COMMON_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

#include <string>

namespace nereid {

/// A type of an argument as the language writes it: "*fp32", "i32".
std::string signatureName(mlir::Type type);

struct CheckChoices {
  /// A wait whose token nobody consumes: "error", "warn" or "keep".
  std::string unusedToken = "error";
  /// Of one AI core under the profile.
  unsigned vectorCores = 1;
  /// The target takes no assembly for NVIDIA's GPUs: it is read by its meaning.
  bool readPTX = false;
  /// Observers are told which waits a load depends on.
  bool instrument = false;
};

/// What a target cannot do itself and wants done.
struct SimplifyChoices {
  bool decomposeScaledDots = false;
  bool rewriteBlockPointers = false;
  /// Written loops that only look at a signal become waits.
  bool findWaits = false;
  /// Programs run on this many vector cores; 0: the target does that itself.
  unsigned vectorCores = 0;
  /// Programs are one thread each: those of GPUs become loops.
  bool threadLoops = false;
  /// Observers are told of loads, stores and atomics.
  bool instrument = false;
};

/// Errors that must be found before anything is simplified, and what only the
/// user's own text shows: which loops spin, which arguments are symmetric.
void buildCheckPhase(mlir::OpPassManager &pm, const CheckChoices &choices);
inline constexpr const char *checkPromise =
    "the module says whether the kernel can block and in which mode it is launched";
mlir::Operation *verifyCheckPhase(mlir::ModuleOp module);

/// One simplified function; waits are barriers.
void buildSimplifyPhase(mlir::OpPassManager &pm, const SimplifyChoices &choices);
inline constexpr const char *simplifyPromise =
    "functions are called only where they are noinline, no token is left, and none of what the "
    "target cannot do";
mlir::Operation *verifySimplifyPhase(mlir::ModuleOp module, const SimplifyChoices &choices);

/// The dialects that the language and its passes use.
void registerLanguageDialects(mlir::DialectRegistry &registry);

} // namespace nereid

#endif // NEREID_PIPELINES_COMMON_H
