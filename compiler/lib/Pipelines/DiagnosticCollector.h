// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From what MLIR reports to the compiler's own diagnostics.
#ifndef NEREID_LIB_PIPELINES_DIAGNOSTICCOLLECTOR_H
#define NEREID_LIB_PIPELINES_DIAGNOSTICCOLLECTOR_H

#include "nereid/Pipelines/Compile.h"
#include "nereid/Support/PassDiagnostics.h"
#include "nereid/Support/SpeedRemarks.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

namespace nereid {

/// Source files by path, read when first needed.
class Sources {
public:
  explicit Sources(const CompileOptions &options) : options(options) {}

  std::shared_ptr<const SourceFile> get(llvm::StringRef path) {
    auto [it, isNew] = files.try_emplace(path);
    if (!isNew)
      return it->second;
    if (options.findSource)
      it->second = options.findSource(path);
    if (!it->second)
      it->second = read(path);
    return it->second;
  }

private:
  static std::shared_ptr<const SourceFile> read(llvm::StringRef path) {
    auto file = std::make_shared<SourceFile>();
    file->path = path.str();
    if (auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true)) {
      llvm::SmallVector<llvm::StringRef> lines;
      (*buffer)->getBuffer().split(lines, '\n');
      for (llvm::StringRef line : lines)
        file->lines.push_back(line.rtrim('\r').str());
    }
    return file;
  }

  const CompileOptions &options;
  llvm::StringMap<std::shared_ptr<const SourceFile>> files;
};

/// Turns what passes report into the compiler's own diagnostics.
class DiagnosticCollector {
public:
  DiagnosticCollector(mlir::MLIRContext *context, const CompileOptions &options,
                      DiagnosticSink *warnings)
      : sources(options), warnings(warnings),
        handler(context, [this](mlir::Diagnostic &diagnostic) {
          collect(diagnostic);
          return mlir::success();
        }) {
    if (options.speed)
      listenToRemarks(context, options.speed);
  }
  ~DiagnosticCollector() {
    if (listened)
      listened->setRemarkEngine(nullptr);
  }

  /// The first error, or an internal error when `what` failed silently.
  llvm::Error takeError(const std::string &what) {
    if (!errors.empty())
      return makeError(errors.front());
    return makeError(makeDiagnostic(Diag::internal_error, kernelRange, what));
  }

  /// Where an operation comes from.
  SourceRange place(mlir::Location location) {
    SourceRange range;
    std::vector<Note> callers;
    resolve(location, range, callers);
    return range;
  }

  Sources sources;
  /// For what has no place of its own.
  SourceRange kernelRange;

private:
  /// Hands what passes say of speed on.
  void listenToRemarks(mlir::MLIRContext *context, DiagnosticSink *sink) {
    struct Streamer final : mlir::remark::detail::MLIRRemarkStreamerBase {
      Streamer(DiagnosticCollector &collector, DiagnosticSink *sink)
          : collector(collector), sink(sink) {}
      void streamOptimizationRemark(const mlir::remark::detail::Remark &said) override {
        Diagnostic diagnostic;
        diagnostic.severity = Severity::Note;
        collector.resolve(said.getLocation(), diagnostic.range, diagnostic.notes);
        for (const auto &argument : said.getArgs())
          (argument.key == "Suggestion" ? diagnostic.help : diagnostic.message) = argument.val;
        sink->report(diagnostic);
      }
      DiagnosticCollector &collector;
      DiagnosticSink *sink;
    };
    mlir::remark::RemarkCategories categories;
    categories.passed = categories.missed = speedRemarks;
    listened = context;
    // Only a filter that cannot be read fails.
    (void)mlir::remark::enableOptimizationRemarks(
        *context, std::make_unique<Streamer>(*this, sink),
        std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories);
  }

  /// Fills the range and, for inlined calls, a note for each caller.
  void resolve(mlir::Location location, SourceRange &range, std::vector<Note> &notes) {
    if (auto file = llvm::dyn_cast<mlir::FileLineColRange>(location)) {
      range.file = sources.get(file.getFilename().getValue());
      range.line = file.getStartLine();
      range.column = file.getStartColumn();
      range.endLine = file.getEndLine();
      range.endColumn = file.getEndColumn();
    } else if (auto name = llvm::dyn_cast<mlir::NameLoc>(location)) {
      resolve(name.getChildLoc(), range, notes);
    } else if (auto call = llvm::dyn_cast<mlir::CallSiteLoc>(location)) {
      resolve(call.getCallee(), range, notes);
      SourceRange caller;
      std::vector<Note> outer;
      resolve(call.getCaller(), caller, outer);
      if (!range.isValid()) {
        range = caller;
      } else if (caller.isValid()) {
        notes.push_back({caller, "called from here"});
      }
      notes.insert(notes.end(), outer.begin(), outer.end());
    } else if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(location)) {
      for (mlir::Location inner : fused.getLocations()) {
        resolve(inner, range, notes);
        if (range.isValid())
          return;
      }
    }
  }

  void collect(mlir::Diagnostic &reported) {
    if (reported.getSeverity() == mlir::DiagnosticSeverity::Remark ||
        reported.getSeverity() == mlir::DiagnosticSeverity::Note)
      return;
    bool isError = reported.getSeverity() == mlir::DiagnosticSeverity::Error;
    Diagnostic diagnostic;
    diagnostic.severity = isError ? Severity::Error : Severity::Warning;
    std::optional<Diag> entry = reportedEntry(reported);
    diagnostic.id = entry.value_or(isError ? Diag::pass_error : Diag::pass_warning);
    if (entry)
      diagnostic.help = diagHelp(*entry);
    diagnostic.message = reported.str();
    std::vector<Note> callers;
    resolve(reported.getLocation(), diagnostic.range, callers);
    if (!diagnostic.range.isValid())
      diagnostic.range = kernelRange;
    for (mlir::Diagnostic &note : reported.getNotes()) {
      Note converted;
      std::vector<Note> ignored;
      resolve(note.getLocation(), converted.range, ignored);
      converted.message = note.str();
      // The dump of the failing operation says nothing to a kernel's author.
      if (!llvm::StringRef(converted.message).starts_with("see current operation"))
        diagnostic.notes.push_back(std::move(converted));
    }
    diagnostic.notes.insert(diagnostic.notes.end(), callers.begin(), callers.end());
    if (isError)
      errors.push_back(std::move(diagnostic));
    else if (warnings)
      warnings->report(diagnostic);
  }

  DiagnosticSink *warnings;
  mlir::MLIRContext *listened = nullptr; ///< whose remarks come here
  std::vector<Diagnostic> errors;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace nereid

#endif // NEREID_LIB_PIPELINES_DIAGNOSTICCOLLECTOR_H
