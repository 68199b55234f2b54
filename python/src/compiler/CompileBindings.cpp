// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler driver for Python.
//
// A kernel is compiled in two parts. The front end reads Python objects
// (buildModule) and has the interpreter's lock; all that follows has not, so
// that other threads go on, and runs on a thread of its own, so that Ctrl-C
// ends the wait for it at once (Interruptible.h). That thread may go on when
// whoever asked has left: it owns a Work, and touches nothing else. What it
// needs of Python (lines of source files, tools outside of the compiler) it
// asks for through withPython. Warnings wait until the end, because a filter of
// Python's may turn one into an exception.
//
// Only the result is kept, and the front end's IR as text: stages in between
// are made from it when somebody asks.
#include "FrontendBindings.h"
#include "Interruptible.h"

#include "nereid/Pipelines/Compile.h"
#include "nereid/Pipelines/TTIR.h"
#include "nereid/Registry/Registry.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Config/llvm-config.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>

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

/// Asks a program outside of the compiler. Its errors are part of the answer.
std::string runTool(llvm::StringRef tool, llvm::StringRef request) {
  nb::gil_scoped_acquire gil;
  return nb::cast<std::string>(
      nb::module_::import_("nereid._base.tools").attr("run")(tool.str(), request.str()));
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

OptionValue optionFromPython(const TargetOption &option, nb::handle value) {
  OptionValue result;
  if (nb::isinstance<nb::bool_>(value))
    result = nb::cast<bool>(value);
  else if (nb::isinstance<nb::int_>(value))
    result = nb::cast<int64_t>(value);
  else
    result = nb::cast<std::string>(nb::str(value));
  if (std::string problem = checkOption(option, result); !problem.empty())
    throw nb::value_error(problem.c_str());
  return result;
}

/// What only the front end reads, or what is no option of a target.
bool isRequestKey(llvm::StringRef name) {
  return llvm::is_contained({"target", "profile", "sub_vec_num", "allow_non_constexpr_globals",
                             "default_dot_input_precision", "crash_reproducer", "threads"},
                            name);
}

CompileOptions importCompileOptions(nb::handle options, const std::string &dumpFolder = "") {
  CompileOptions result;
  result.findSource = findSource;
  result.runTool = runTool;
  result.dumpFolder = dumpFolder;
  nb::dict dict = options.is_none() ? nb::dict() : nb::cast<nb::dict>(options);
  std::string target(defaultTargetInfo().name);
  if (dict.contains("target"))
    target = nb::cast<std::string>(dict["target"]);
  result.target = findTarget(target);
  if (!result.target && dict.contains("target"))
    throw nb::value_error(unknownTarget(target).c_str());
  const TargetInfo &info = result.target ? result.target->info : defaultTargetInfo();
  if (dict.contains("profile")) // an unknown name is an error of the front end
    if (const TargetProfile *profile = findTargetProfile(nb::cast<std::string>(dict["profile"])))
      result.profile = profile;
  if (dict.contains("crash_reproducer"))
    result.crashReproducer = nb::cast<std::string>(dict["crash_reproducer"]);
  for (auto [key, value] : dict) {
    std::string name = nb::cast<std::string>(key);
    if (isRequestKey(name) || value.is_none())
      continue;
    const TargetOption *option = info.option(name);
    if (!option)
      throw nb::value_error(
          ("the target " + std::string(info.name) + " has no option '" + name + "'").c_str());
    result.options[name] = optionFromPython(*option, value);
  }
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
  WarningList warnings, said;
  std::optional<Diagnostic> error;
  // Results.
  CompiledKernel kernel;
  std::string text, source, ttir;

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
void run(const std::shared_ptr<Work> &work, std::function<llvm::Error(Work &)> step) {
  Interruptible::run([work, step = std::move(step)](Interruptible &thread) {
    work->options.cancelled = &thread.isCancelled();
    auto find = work->options.findSource;
    work->options.findSource = [&](llvm::StringRef path) {
      std::shared_ptr<const SourceFile> file;
      thread.withPython([&] { file = find(path); });
      return file ? file : std::make_shared<SourceFile>();
    };
    auto ask = work->options.runTool;
    work->options.runTool = [&](llvm::StringRef tool, llvm::StringRef request) {
      std::string answer;
      thread.withPython([&] { answer = ask(tool, request); });
      return answer;
    };
    if (llvm::Error failure = step(*work))
      work->error = takeDiagnostic(std::move(failure));
    work->options.cancelled = nullptr;
    work->options.runTool = std::move(ask);
    work->options.findSource = std::move(find);
  });
  if (work->error)
    raiseDiagnostic(*work->error);
  warn(work->warnings);
}

/// The value of `result` into `place`.
template <typename T> llvm::Error keep(llvm::Expected<T> result, T &place) {
  if (!result)
    return result.takeError();
  place = std::move(*result);
  return llvm::Error::success();
}

nb::object toPython(const TargetStage &stage, const std::string &content) {
  return stage.isText ? nb::object(nb::str(content.data(), content.size()))
                      : nb::object(nb::bytes(content.data(), content.size()));
}

/// One kernel after compilation. The stages between are made when asked for,
/// from the front end's IR.
class Compilation {
public:
  Compilation(nb::handle function, nb::handle args, nb::handle options, const std::string &dump)
      : work(std::make_shared<Work>(importCompileOptions(options, dump))) {
    work->module = buildModule(work->context, function, args, options);
    run(work, [](Work &work) {
      work.keepText();
      return keep(compileKernel(*work.module, work.options, &work.warnings), work.kernel);
    });
    finish();
  }

  /// A kernel from the text of its IR.
  Compilation(const std::string &text, const std::string &path, nb::handle options,
              const std::string &dump)
      : work(std::make_shared<Work>(importCompileOptions(options, dump))) {
    work->options.findSource = [text = splitLines(text, path), path](llvm::StringRef wanted) {
      return wanted == path ? text : findSource(wanted);
    };
    run(work, [text, path](Work &work) -> llvm::Error {
      TTIRKernel read;
      if (llvm::Error error =
              keep(readTTIR(work.context, text, path, work.options, &work.warnings), read))
        return error;
      work.module = std::move(read.module);
      work.keepText();
      return keep(compileKernel(*work.module, work.options, &work.warnings), work.kernel);
    });
    finish();
  }

  const std::string &name() const { return kernel.metadata.name; }
  nb::bytes object() const { return nb::bytes(kernel.object.data(), kernel.object.size()); }

  /// Text of a stage; bytes where it is none.
  nb::object stage(const std::string &name) const {
    const TargetStage *row = options.target->info.stage(name);
    if (!row)
      throw nb::key_error(("'" + name + "': the stages of the target " +
                           std::string(options.target->info.name) + " are " +
                           options.target->info.stageNames())
                              .c_str());
    if (name == "ttir")
      return toPython(*row, ttirText);
    if (name == options.target->info.stages.back().name)
      return toPython(*row, kernel.object);
    auto work = std::make_shared<Work>(options);
    work->options.dumpFolder.clear();
    work->source = source;
    run(work, [name](Work &work) {
      work.module = mlir::parseSourceString<mlir::ModuleOp>(work.source, &work.context);
      if (!work.module)
        return makeError(makeDiagnostic(Diag::internal_error, SourceRange(),
                                        "the kernel's IR could not be read back"));
      // Warnings were given once.
      return keep(emitStage(*work.module, name, work.options, /*warnings=*/nullptr), work.text);
    });
    return toPython(*row, work->text);
  }

private:
  /// Keeps the results, not the IR.
  void finish() {
    options = std::move(work->options);
    kernel = std::move(work->kernel);
    source = std::move(work->source);
    ttirText = std::move(work->ttir);
    work.reset();
  }

  std::shared_ptr<Work> work;
  CompileOptions options;
  CompiledKernel kernel;
  std::string source, ttirText;
};

/// A stage of a kernel of which nothing else is wanted.
nb::object emit(nb::handle function, nb::handle args, const std::string &stage,
                nb::handle options) {
  auto work = std::make_shared<Work>(importCompileOptions(options));
  const TargetInfo &info = work->options.target ? work->options.target->info : defaultTargetInfo();
  work->module = buildModule(work->context, function, args, options);
  run(work, [stage](Work &work) {
    return keep(emitStage(*work.module, stage, work.options, &work.warnings), work.text);
  });
  const TargetStage *row = info.stage(stage);
  return row ? toPython(*row, work->text) : nb::object(nb::str(work->text.c_str()));
}

/// What passes say of the kernel's speed, a text for each place, in the order of the source.
std::vector<std::string> explainSpeed(nb::handle function, nb::handle args, nb::handle options) {
  auto work = std::make_shared<Work>(importCompileOptions(options));
  work->module = buildModule(work->context, function, args, options);
  work->options.speed = &work->said;
  run(work, [](Work &work) {
    return keep(compileKernel(*work.module, work.options, &work.warnings), work.kernel);
  });
  auto place = [](const Diagnostic &said) {
    return std::tuple(said.range.file ? said.range.file->path : "", said.range.line,
                      said.range.column);
  };
  std::vector<Diagnostic> &said = work->said.warnings;
  std::stable_sort(said.begin(), said.end(),
                   [&](const Diagnostic &a, const Diagnostic &b) { return place(a) < place(b); });
  std::vector<std::string> texts;
  for (const Diagnostic &one : said)
    if (std::string text = render(one); texts.empty() || texts.back() != text)
      texts.push_back(std::move(text));
  return texts;
}

std::string exportTtir(nb::handle function, nb::handle args, nb::handle options,
                       const std::string &version) {
  auto work = std::make_shared<Work>(importCompileOptions(options));
  work->module = buildModule(work->context, function, args, options);
  run(work, [version](Work &work) {
    return keep(exportTTIR(*work.module, version, work.options, &work.warnings), work.text);
  });
  return std::move(work->text);
}

nb::dict versionInfo() {
  nb::dict info;
  info["LLVM"] = LLVM_VERSION_STRING;
  return info;
}

} // namespace

void bindCompile(nb::module_ &m) {
  nb::class_<Compilation>(m, "CompiledKernel",
                          "A kernel's machine code, and the stages on the way to it.")
      .def_prop_ro("name", &Compilation::name, "The kernel's name.")
      .def_prop_ro("object", &Compilation::object,
                   "Bytes of the last stage; where a device runs them, "
                   "nereid._runtime.describe_object reads what they say of the kernel.")
      .def("stage", &Compilation::stage, nb::arg("name"),
           "A stage of the target by its name: str, or bytes where it is not text. \"ttir\" is the "
           "front end's IR, before any pass.");
  m.def(
      "compile",
      [](nb::handle function, nb::handle args, nb::handle options, const std::string &dump) {
        return std::make_unique<Compilation>(function, args, options, dump);
      },
      nb::arg("function"), nb::arg("args"), nb::arg("options") = nb::none(), nb::arg("dump") = "",
      "Compiles a jit function for the given argument entries; every stage is written to the "
      "folder `dump`, if one is given. Raises nereid.CompilationError.");

  m.def(
      "compile_ir",
      [](const std::string &text, const std::string &path, nb::handle options,
         const std::string &dump) {
        return std::make_unique<Compilation>(text, path, options, dump);
      },
      nb::arg("text"), nb::arg("path"), nb::arg("options") = nb::none(), nb::arg("dump") = "",
      "Compiles a kernel from the text of its IR (TTIR of upstream or ours); `path` stands in "
      "messages. Raises nereid.CompilationError.");

  m.def("emit", &emit, nb::arg("function"), nb::arg("args"), nb::arg("stage"),
        nb::arg("options") = nb::none(),
        "A stage of the target by its name. \"ttir\": the kernel's IR before any pass, after the "
        "checks of later passes (tokens of waits). Raises nereid.CompilationError.");

  m.def("explain_speed", &explainSpeed, nb::arg("function"), nb::arg("args"),
        nb::arg("options") = nb::none(),
        "What each load, product and loop became, and what would make it faster: a list of texts, "
        "as passes of the target report it. Raises nereid.CompilationError.");

  m.def("export_ttir", &exportTtir, nb::arg("function"), nb::arg("args"),
        nb::arg("options") = nb::none(), nb::arg("version") = "3.6",
        "The kernel as TTIR for the stock triton package of `version` (\"3.6\" or \"3.9\"); raises "
        "nereid.CompilationError for what that cannot express.");

  m.def("version_info", &versionInfo, "Versions of what the compiler is made of.");
}

} // namespace nereid::python
