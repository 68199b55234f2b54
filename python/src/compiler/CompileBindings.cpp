// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler driver for Python.
#include "FrontendBindings.h"
#include "Interruptible.h"

#include "nereid/Pipelines/Compile.h"
#include "nereid/Pipelines/Registration.h"
#include "nereid/Pipelines/TTIR.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Config/llvm-config.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>

namespace nb = nanobind;
using namespace nereid;

namespace nereid::python {
namespace {

/// Keeps warnings until Python may be called again.
struct WarningList : DiagnosticSink {
  void report(const Diagnostic &diagnostic) override { warnings.push_back(diagnostic); }
  std::vector<Diagnostic> warnings;
};

void warn(const WarningList &list) {
  for (const Diagnostic &warning : list.warnings) {
    const char *path = warning.range.isValid() ? warning.range.file->path.c_str() : "<kernel>";
    if (PyErr_WarnExplicit(PyExc_UserWarning, render(warning).c_str(), path,
                           int(warning.range.line), nullptr, nullptr) < 0)
      throw nb::python_error();
  }
}

/// Lines of a file as they were when kernels were defined in it, else as Python
/// knows them: notebook cells have some too.
std::shared_ptr<const SourceFile> findSource(llvm::StringRef path) {
  nb::gil_scoped_acquire gil;
  auto file = std::make_shared<SourceFile>();
  file->path = path.str();
  try {
    nb::object lines =
        nb::module_::import_("nereid._kernels.source").attr("file_lines")(file->path);
    for (nb::handle line : lines) {
      std::string text = nb::cast<std::string>(line);
      while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
        text.pop_back();
      file->lines.push_back(std::move(text));
    }
  } catch (nb::python_error &) {
    // Without the text, diagnostics still have their line numbers.
  }
  return file;
}

/// A text that is in memory already.
std::shared_ptr<const SourceFile> splitLines(llvm::StringRef text, llvm::StringRef path) {
  auto file = std::make_shared<SourceFile>();
  file->path = path.str();
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  for (llvm::StringRef line : lines)
    file->lines.push_back(line.rtrim('\r').str());
  return file;
}

/// The CPU that code is made for: NEREID_CPU, else this one.
cpu::TargetFeatures chooseTarget() {
  const char *name = std::getenv("NEREID_CPU");
  std::string error;
  auto target = cpu::TargetFeatures::named(name ? name : "host", &error);
  if (!error.empty())
    throw nb::value_error(("NEREID_CPU: " + error).c_str());
  return target;
}

CompileOptions importCompileOptions(nb::handle options) {
  CompileOptions result;
  result.pipeline.target = chooseTarget();
  result.findSource = findSource;
  if (options.is_none())
    return result;
  nb::dict dict = nb::cast<nb::dict>(options);
  if (dict.contains("profile")) // an unknown name is an error of the front end
    if (const TargetProfile *profile = findTargetProfile(nb::cast<std::string>(dict["profile"])))
      result.pipeline.profile = profile;
  if (dict.contains("unused_token") && !nb::object(dict["unused_token"]).is_none())
    result.pipeline.unusedToken = nb::cast<std::string>(dict["unused_token"]);
  if (dict.contains("enable_fp_fusion"))
    result.enableFPFusion = nb::cast<bool>(dict["enable_fp_fusion"]);
  if (dict.contains("crash_reproducer"))
    result.crashReproducer = nb::cast<std::string>(dict["crash_reproducer"]);
  return result;
}

/// What one compilation needs and makes. It owns all of it: the thread that works
/// on it may outlive who asked for it.
struct Work {
  explicit Work(CompileOptions options)
      : options(std::move(options)), context(mlir::MLIRContext::Threading::DISABLED) {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
  }

  CompileOptions options;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  WarningList warnings;
  std::optional<Diagnostic> error;
  // Results.
  CompiledKernel kernel;
  std::string text, source, ttir;
  std::vector<std::pair<std::string, int64_t>> arguments;

  /// The module's text, with locations and without.
  void keepText() {
    llvm::raw_string_ostream stream(source);
    mlir::OpPrintingFlags flags;
    flags.enableDebugInfo(true, /*prettyForm=*/false);
    module->print(stream, flags);
    llvm::raw_string_ostream plain(ttir);
    module->print(plain, mlir::OpPrintingFlags().printNameLocAsPrefix()); // %x_ptr, not %arg0
    plain << "\n";
  }
};

/// Runs the compiler without the interpreter's lock and reports afterwards; raises
/// what a signal's handler raises meanwhile.
void run(const std::shared_ptr<Work> &work, std::function<void(Work &)> step) {
  Interruptible::run([work, step = std::move(step)](Interruptible &thread) {
    work->options.cancelled = &thread.isCancelled();
    auto find = work->options.findSource;
    work->options.findSource = [&](llvm::StringRef path) {
      std::shared_ptr<const SourceFile> file;
      thread.withPython([&] { file = find(path); });
      return file ? file : std::make_shared<SourceFile>();
    };
    try {
      step(*work);
    } catch (const CompileError &failure) {
      work->error = failure.diagnostic;
    } catch (const CompilationCancelled &) {
    }
    work->options.cancelled = nullptr;
    work->options.findSource = std::move(find);
  });
  if (work->error)
    raiseDiagnostic(*work->error);
  warn(work->warnings);
}

/// One kernel after compilation. The stages between are made when asked for,
/// from the front end's IR.
class Compilation {
public:
  Compilation(nb::handle function, nb::handle args, nb::handle options)
      : work(std::make_shared<Work>(importCompileOptions(options))) {
    work->module = buildModule(work->context, function, args, options);
    run(work, [](Work &work) {
      work.keepText();
      work.kernel = compileKernel(*work.module, work.options, &work.warnings);
    });
    finish();
  }

  /// A kernel from the text of its IR.
  Compilation(const std::string &text, const std::string &path, nb::handle options)
      : work(std::make_shared<Work>(importCompileOptions(options))) {
    work->options.findSource = [text = splitLines(text, path), path](llvm::StringRef wanted) {
      return wanted == path ? text : findSource(wanted);
    };
    run(work, [text, path](Work &work) {
      TTIRKernel read = readTTIR(work.context, text, path, work.options, &work.warnings);
      for (const TTIRArgument &argument : read.arguments)
        work.arguments.emplace_back(argument.name, argument.divisibility);
      work.module = std::move(read.module);
      work.keepText();
      work.kernel = compileKernel(*work.module, work.options, &work.warnings);
    });
    finish();
  }

  /// Name of each argument slot and what its value is a multiple of (0: unknown);
  /// for kernels from text.
  std::vector<std::pair<std::string, int64_t>> arguments;

  nb::bytes object() const { return nb::bytes(kernel.object.data(), kernel.object.size()); }
  std::string metadata() const { return kernel.metadata.toJSON(); }
  const std::string &ttir() const { return ttirText; }
  std::string stage(Stage stage) const {
    auto work = std::make_shared<Work>(options);
    work->source = source;
    run(work, [stage](Work &work) {
      work.module = mlir::parseSourceString<mlir::ModuleOp>(work.source, &work.context);
      if (!work.module)
        throw std::runtime_error("the kernel's IR could not be read back");
      // Warnings were given once.
      work.text = emitStage(*work.module, stage, work.options, /*warnings=*/nullptr);
    });
    return std::move(work->text);
  }

private:
  /// Keeps the results, not the IR.
  void finish() {
    options = std::move(work->options);
    kernel = std::move(work->kernel);
    source = std::move(work->source);
    ttirText = std::move(work->ttir);
    arguments = std::move(work->arguments);
    work.reset();
  }

  std::shared_ptr<Work> work;
  CompileOptions options;
  CompiledKernel kernel;
  std::string source, ttirText;
};

std::string checkedTtir(nb::handle function, nb::handle args, nb::handle options) {
  auto work = std::make_shared<Work>(importCompileOptions(options));
  work->module = buildModule(work->context, function, args, options);
  work->keepText();
  run(work, [](Work &work) { emitStage(*work.module, Stage::TTIR, work.options, &work.warnings); });
  return std::move(work->ttir);
}

std::string exportTtir(nb::handle function, nb::handle args, nb::handle options,
                       const std::string &version) {
  auto work = std::make_shared<Work>(importCompileOptions(options));
  work->module = buildModule(work->context, function, args, options);
  run(work, [version](Work &work) {
    work.text = exportTTIR(*work.module, version, work.options, &work.warnings);
  });
  return std::move(work->text);
}

nb::dict versionInfo() {
  cpu::TargetFeatures host = cpu::TargetFeatures::host();
  nb::dict info;
  info["LLVM"] = LLVM_VERSION_STRING;
  info["CPU"] = host.cpu;
  info["vector width"] = std::to_string(host.vectorBits) + " bits";
  info["triple"] = host.triple;
  return info;
}

} // namespace

void bindCompile(nb::module_ &m) {
  nb::class_<Compilation>(m, "CompiledKernel",
                          "A kernel's machine code, and the stages on the way to it.")
      .def_prop_ro("object", &Compilation::object, "Bytes of a relocatable object file.")
      .def_ro("arguments", &Compilation::arguments,
              "Name and divisibility of each argument slot, for kernels from IR text.")
      .def_prop_ro("metadata", &Compilation::metadata, "What a launcher must know, as JSON text.")
      .def_prop_ro("ttir", &Compilation::ttir, "IR of the front end, before any pass.")
      .def_prop_ro(
          "tiles", [](const Compilation &c) { return c.stage(Stage::CPUTiles); },
          "IR after tensors became loops over vectors and buffers.")
      .def_prop_ro(
          "llvm", [](const Compilation &c) { return c.stage(Stage::LLVM); }, "Optimised LLVM IR.")
      .def_prop_ro(
          "asm", [](const Compilation &c) { return c.stage(Stage::Assembly); }, "Assembly text.");
  m.def(
      "compile",
      [](nb::handle function, nb::handle args, nb::handle options) {
        return std::make_unique<Compilation>(function, args, options);
      },
      nb::arg("function"), nb::arg("args"), nb::arg("options") = nb::none(),
      "Compiles a jit function for the given argument entries; raises nereid.CompilationError.");

  m.def(
      "compile_ir",
      [](const std::string &text, const std::string &path, nb::handle options) {
        return std::make_unique<Compilation>(text, path, options);
      },
      nb::arg("text"), nb::arg("path"), nb::arg("options") = nb::none(),
      "Compiles a kernel from the text of its IR (TTIR of upstream or ours); `path` stands in "
      "messages. Raises "
      "nereid.CompilationError.");

  m.def(
      "checked_ttir", &checkedTtir, nb::arg("function"), nb::arg("args"),
      nb::arg("options") = nb::none(),
      "The kernel's IR before any pass, after the checks of later passes (tokens of waits); raises "
      "nereid.CompilationError.");

  m.def("export_ttir", &exportTtir, nb::arg("function"), nb::arg("args"),
        nb::arg("options") = nb::none(), nb::arg("version") = "3.6",
        "The kernel as TTIR for the stock triton package of `version` (\"3.6\" or \"3.9\"); raises "
        "nereid.CompilationError for what that cannot express.");

  m.def("version_info", &versionInfo, "Versions of LLVM and of the CPU that code is made for.");
}

} // namespace nereid::python
