// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels in Python syntax: `nereid compile` in a child process.
//
// The front end reads Python objects, so that it needs an interpreter; a C++
// program that compiles a kernel need not have one, nor share its signals and
// its memory with it. The object file and what the command says go through
// files in a folder of its own: there is no pipe that could fill.
#include "nereid/Compiler.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

extern char **environ;

using namespace nereid;

namespace {

/// A folder of its own for the files of one compilation.
class Workspace {
public:
  std::error_code create() { return llvm::sys::fs::createUniqueDirectory("nereid", folder); }
  ~Workspace() {
    for (const std::string &file : files)
      llvm::sys::fs::remove(file);
    if (!folder.empty()) {
      // Python keeps what it has parsed beside a file.
      llvm::SmallString<128> cache(folder);
      llvm::sys::path::append(cache, "__pycache__");
      llvm::sys::fs::remove(cache);
      llvm::sys::fs::remove(folder);
    }
  }
  std::string file(llvm::StringRef name) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    return files.emplace_back(path.str());
  }

private:
  llvm::SmallString<128> folder;
  std::vector<std::string> files;
};

std::string read(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

CompilerResult failure(const std::string &text) {
  CompilerResult result;
  result.error = "error: " + text + "\n";
  return result;
}

/// This process's variables, with the processor to compile for and without files
/// that Python would leave beside the source.
std::vector<std::string> childEnvironment(const CompilerOptions &options) {
  std::vector<std::string> variables;
  for (char **variable = environ; *variable; ++variable)
    if (!llvm::StringRef(*variable).starts_with("NEREID_CPU="))
      variables.push_back(*variable);
  variables.push_back("NEREID_CPU=" + options.cpu);
  variables.push_back("PYTHONDONTWRITEBYTECODE=1");
  return variables;
}

} // namespace

CompilerResult nereid::compileSource(const KernelSource &source, const CompilerOptions &options) {
  std::string program = source.command;
  if (!llvm::StringRef(program).contains('/')) {
    auto found = llvm::sys::findProgramByName(program);
    if (!found)
      return failure("the command '" + program +
                     "' is not in PATH; it compiles kernels in Python syntax. Install the Python "
                     "package, or name the command in KernelSource::command");
    program = *found;
  }
  Workspace workspace;
  if (std::error_code error = workspace.create())
    return failure("no folder for temporary files: " + error.message());
  std::string file = source.file;
  if (!source.text.empty()) {
    file = workspace.file("kernel.py");
    std::error_code error;
    {
      llvm::raw_fd_ostream stream(file, error);
      if (!error) {
        stream << source.text;
        stream.close();
        error = stream.error();
        stream.clear_error();
      }
    }
    if (error)
      return failure("the file '" + file + "' cannot be written: " + error.message());
  }
  std::string object = workspace.file("kernel.o"), messages = workspace.file("messages");
  std::vector<std::string> words = {program,
                                    "compile",
                                    file + ":" + source.kernel,
                                    "--emit=obj",
                                    "--output=" + object,
                                    "--profile=" + options.profile,
                                    "--unused-token=" + options.unusedToken};
  if (!source.signature.empty())
    words.push_back("--signature=" + source.signature);
  std::vector<std::string> environment = childEnvironment(options);
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), llvm::StringRef(messages),
                                                llvm::StringRef(messages)};
  std::string problem;
  int code = llvm::sys::ExecuteAndWait(
      program, llvm::SmallVector<llvm::StringRef>(words.begin(), words.end()),
      llvm::SmallVector<llvm::StringRef>(environment.begin(), environment.end()), redirects,
      /*SecondsToWait=*/0, /*MemoryLimit=*/0, &problem);
  std::string said = read(messages);
  if (code != 0) {
    CompilerResult result =
        failure("'" + program + "' failed" + (problem.empty() ? "" : ": " + problem));
    if (!said.empty())
      result.error = said;
    return result;
  }
  CompilerResult result;
  result.object = read(object);
  if (result.object.empty())
    return failure("'" + program + "' wrote no object file");
  if (!said.empty())
    result.warnings.push_back(said);
  return result;
}
