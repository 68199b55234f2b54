// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the passes of `nereid fit` find. A finding is a remark at its place, for
// readers of nereid-opt, and an entry of the module attribute `nereid.fit.findings`,
// from which findingsJSON makes the stage "fit".
#ifndef NEREID_TARGET_ASCEND_FIT_FINDINGS_H
#define NEREID_TARGET_ASCEND_FIT_FINDINGS_H

#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Target/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace nereid::fit {

enum class Severity { Refused, Wrong, Slow, Note };

/// A row of Checks.def.
struct Check {
  const char *name;
  Severity severity;
  const char *fact;
  const char *remedy;
};

namespace checks {
#define FIT_CHECK(name, severity, fact, remedy)                                                    \
  inline constexpr Check name = {#name, Severity::severity, fact, remedy};
#include "Target/Ascend/Fit/Checks.def"
#undef FIT_CHECK
} // namespace checks

void addFinding(mlir::ModuleOp module, mlir::Location loc, const Check &check, std::string fact,
                std::string remedy);

/// Reports at an operation. The arguments fill the gaps of fact and remedy.
template <typename... Args>
void report(mlir::Operation *op, const Check &check, const Args &...args) {
  addFinding(op->getParentOfType<mlir::ModuleOp>(), op->getLoc(), check,
             llvm::formatv(false, check.fact, args...).str(),
             llvm::formatv(false, check.remedy, args...).str());
}

/// The estimate of the pass nereid-fit-memory, of one kind of on-chip memory: bytes
/// needed, and bytes there are. Kept in the module.
void addMemory(mlir::ModuleOp module, llvm::StringRef kind, int64_t needed, int64_t available);

/// Everything found, as JSON: `kernel`, `chip`, `mode`, `findings`, `memory`.
llvm::json::Value findingsJSON(mlir::ModuleOp module, const TargetSettings &settings,
                               llvm::StringRef kernel);

/// "96 KiB"
std::string bytesText(int64_t bytes);
/// "fp32", "i32": of an element, as the language writes it.
std::string typeText(mlir::Type element);
/// What a scalar pointer, or the pointers of a block, are offsets from: through sums,
/// broadcasts and loops. The argument of the kernel, or the operation that made it.
mlir::Value rootOf(mlir::Value pointer);
/// Does the pointer lead into another rank's memory?
bool isOfPeer(mlir::Value pointer);
/// The line of a location, 0 where it has none.
unsigned lineOf(mlir::Location loc);

} // namespace nereid::fit

#endif // NEREID_TARGET_ASCEND_FIT_FINDINGS_H
