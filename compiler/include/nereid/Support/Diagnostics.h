// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Diagnostics: what is reported, from one catalogue, rendered with the user's
// source line and a caret.
#ifndef NEREID_SUPPORT_DIAGNOSTICS_H
#define NEREID_SUPPORT_DIAGNOSTICS_H

#include "nereid/Support/Source.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <exception>
#include <string>
#include <vector>

namespace nereid {

/// The catalogue: one entry per kind of diagnostic, in Diagnostics.def as
/// NEREID_DIAG(id, "message with {0} and {1}", "what to write instead").
enum class Diag {
#define NEREID_DIAG(id, message, help) id,
#include "nereid/Support/Diagnostics.def"
};

/// Number of entries.
inline constexpr size_t diagCount = 0
#define NEREID_DIAG(id, message, help) +1
#include "nereid/Support/Diagnostics.def"
    ;

enum class Severity { Error, Warning, Note };

struct Note {
  SourceRange range;
  std::string message;
};

struct Diagnostic {
  Severity severity = Severity::Error;
  Diag id{};
  SourceRange range;
  std::string message;     // formatted
  std::string help;        // formatted; empty when there is nothing to suggest
  std::vector<Note> notes; // other operands, the call chain (innermost first)
};

/// Name of a catalogue entry, e.g. "unknown_name".
const char *diagName(Diag id);
/// Message and help text of an entry before formatting.
const char *diagFormat(Diag id);
const char *diagHelp(Diag id);

/// Formats entry `id` with `args`.
template <typename... Args>
Diagnostic makeDiagnostic(Diag id, const SourceRange &range, const Args &...args) {
  Diagnostic d;
  d.id = id;
  d.range = range;
  d.message = llvm::formatv(false, diagFormat(id), args...).str();
  d.help = llvm::formatv(false, diagHelp(id), args...).str();
  return d;
}

/// kernel.py:12:9: error: message
///    12 |     x = tl.load(p + y)
///       |         ^~~~~~~~~~~~~~
///   help: ...
///   note: ...
std::string render(const Diagnostic &diagnostic);

/// Thrown by the front end; never across MLIR's own frames.
class CompileError : public std::exception {
public:
  explicit CompileError(Diagnostic d) : diagnostic(std::move(d)), text(render(diagnostic)) {}
  const char *what() const noexcept override { return text.c_str(); }
  Diagnostic diagnostic;

private:
  std::string text;
};

/// A diagnostic as the error of an llvm::Expected.
class DiagnosticError : public llvm::ErrorInfo<DiagnosticError> {
public:
  static char ID;
  explicit DiagnosticError(Diagnostic d) : diagnostic(std::move(d)) {}
  void log(llvm::raw_ostream &stream) const override { stream << render(diagnostic); }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
  Diagnostic diagnostic;
};

inline llvm::Error makeError(Diagnostic diagnostic) {
  return llvm::make_error<DiagnosticError>(std::move(diagnostic));
}
/// The diagnostic of an error that makeError made.
Diagnostic takeDiagnostic(llvm::Error error);

/// Where warnings go.
class DiagnosticSink {
public:
  virtual ~DiagnosticSink() = default;
  virtual void report(const Diagnostic &diagnostic) = 0;
};

} // namespace nereid

#endif // NEREID_SUPPORT_DIAGNOSTICS_H
