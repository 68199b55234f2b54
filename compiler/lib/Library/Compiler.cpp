// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Compiler.h"

#include "nereid/Pipelines/Compile.h"
#include "nereid/Pipelines/TTIR.h"
#include "nereid/Registry/Registry.h"

#include "mlir/IR/MLIRContext.h"

using namespace nereid;

namespace {

struct WarningList : DiagnosticSink {
  explicit WarningList(std::vector<std::string> &warnings) : warnings(warnings) {}
  void report(const Diagnostic &diagnostic) override { warnings.push_back(render(diagnostic)); }
  std::vector<std::string> &warnings;
};

std::shared_ptr<const SourceFile> splitLines(llvm::StringRef text, llvm::StringRef path) {
  auto file = std::make_shared<SourceFile>();
  file->path = path.str();
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  for (llvm::StringRef line : lines)
    file->lines.push_back(line.rtrim('\r').str());
  return file;
}

/// Empty, or why the options cannot be used.
std::string translate(const CompilerOptions &from, CompileOptions &to) {
  to.target = findTarget("cpu");
  if (!to.target)
    return "this build has no target cpu";
  to.profile = findTargetProfile(from.profile);
  if (!to.profile)
    return "unknown profile '" + from.profile + "'; known are " + targetProfileNames();
  // Their values are checked against the target's table.
  to.options["cpu"] = from.cpu;
  to.options["unused_token"] = from.unusedToken;
  return "";
}

} // namespace

CompilerResult nereid::compileTTIR(std::string_view text, std::string_view path,
                                   const CompilerOptions &options) {
  CompilerResult result;
  CompileOptions compileOptions;
  if (std::string error = translate(options, compileOptions); !error.empty()) {
    result.error = "error: " + error + "\n";
    return result;
  }
  compileOptions.findSource = [file = splitLines(text, path)](llvm::StringRef wanted) {
    return wanted == file->path ? file : nullptr;
  };
  WarningList warnings(result.warnings);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  llvm::Expected<TTIRKernel> kernel = readTTIR(context, text, path, compileOptions, &warnings);
  if (!kernel) {
    result.error = render(takeDiagnostic(kernel.takeError()));
    return result;
  }
  llvm::Expected<CompiledKernel> compiled =
      compileKernel(*kernel->module, compileOptions, &warnings);
  if (compiled)
    result.object = std::move(compiled->object);
  else
    result.error = render(takeDiagnostic(compiled.takeError()));
  return result;
}
