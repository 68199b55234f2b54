// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of the catalogue reported by passes, through MLIR's diagnostics: the
// message is the text, the entry travels along.
#ifndef NEREID_SUPPORT_PASSDIAGNOSTICS_H
#define NEREID_SUPPORT_PASSDIAGNOSTICS_H

#include "nereid/Support/Diagnostics.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace nereid {

/// What MLIR prints of a type, an attribute or a name.
template <typename T> std::string printed(const T &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// Reports entry `id`, whose help has no arguments, at `loc`.
template <typename... Args>
mlir::InFlightDiagnostic reportEntry(mlir::DiagnosticSeverity severity, mlir::Location loc, Diag id,
                                     const Args &...args) {
  mlir::InFlightDiagnostic report = loc.getContext()->getDiagEngine().emit(loc, severity);
  report << llvm::formatv(false, diagFormat(id), args...).str();
  report.getUnderlyingDiagnostic()->getMetadata().push_back(
      mlir::DiagnosticArgument(static_cast<int>(id)));
  return report;
}
template <typename... Args>
mlir::InFlightDiagnostic reportError(mlir::Location loc, Diag id, const Args &...args) {
  return reportEntry(mlir::DiagnosticSeverity::Error, loc, id, args...);
}
template <typename... Args>
mlir::InFlightDiagnostic reportWarning(mlir::Location loc, Diag id, const Args &...args) {
  return reportEntry(mlir::DiagnosticSeverity::Warning, loc, id, args...);
}

/// The entry that a report carries; nullopt when it comes from elsewhere.
inline std::optional<Diag> reportedEntry(mlir::Diagnostic &report) {
  if (report.getMetadata().empty() || report.getMetadata().front().getKind() !=
                                          mlir::DiagnosticArgument::DiagnosticArgumentKind::Integer)
    return std::nullopt;
  return static_cast<Diag>(report.getMetadata().front().getAsInteger());
}

} // namespace nereid

#endif // NEREID_SUPPORT_PASSDIAGNOSTICS_H
