// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compiler.h - The compiler as a library -------------------*- C++ -*-===//
//
// Compiles kernels inside a C++ program; nereid/runtime/LoadedKernel.h launches what comes
// out. This header needs no headers of LLVM, and the library shows none of its
// symbols.
//
//   nereid::CompilerResult compiled = nereid::compileTTIR(text, "kernel.ttir");
//   if (!compiled.ok())
//     std::cerr << compiled.error;
//   auto kernel = nereid::runtime::LoadedKernel::load(compiled.object);
//
// Kernels in Python syntax are parsed by Python, which the library does not hold:
// compileSource() runs the command `nereid compile` in a child process. The IR of a
// kernel (TTIR, our own or that of the triton package) needs no Python at all.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_COMPILER_H
#define NEREID_COMPILER_H

#include <string>
#include <string_view>
#include <vector>

namespace nereid {

struct CompilerOptions {
  /// Processor: "host", or a level of x86-64 for code that other machines run too:
  /// "x86-64-v2" (SSE4.2), "x86-64-v3" (AVX2), "x86-64-v4" (AVX-512).
  std::string cpu = "host";
  /// Target profile, "host", "cuda" or "ascend910b".
  std::string profile = "host";
  /// A wait whose token nobody uses: "error", "warn" or "keep".
  std::string unusedToken = "error";
};

struct CompilerResult {
  /// The kernel's object file as bytes; empty after an error.
  std::string object;
  /// What is wrong, with place, source line and caret; empty when all is well.
  std::string error;
  std::vector<std::string> warnings;

  bool ok() const { return error.empty(); }
};

/// Compiles the one kernel in a text of IR; `path` stands in messages. Safe to call
/// from several threads. Throws nothing.
CompilerResult compileTTIR(std::string_view text, std::string_view path = "<ttir>",
                           const CompilerOptions &options = {});

/// A kernel in Python syntax.
struct KernelSource {
  /// The source text of a module; when empty, `file` is read.
  std::string text;
  std::string file;
  /// Name of the jit function in it.
  std::string kernel;
  /// Types of the run-time arguments and values of the constants, as
  /// `nereid compile --signature` takes them: "x_ptr=*fp32, n=i32, BLOCK=64".
  std::string signature;
  /// The command to run, looked up in PATH unless it has a slash.
  std::string command = "nereid";
};

/// Compiles it in a child process that runs Python, and waits for that. Errors also
/// when the command cannot be started. Throws nothing.
CompilerResult compileSource(const KernelSource &source, const CompilerOptions &options = {});

} // namespace nereid

#endif // NEREID_COMPILER_H
