// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles kernels from IR text and calls them against a recording runtime.
#ifndef NEREID_UNITTESTS_COMPILER_TARGET_KERNEL_H
#define NEREID_UNITTESTS_COMPILER_TARGET_KERNEL_H

#include "Target/CPU/ObjectEmitter.h"
#include "nereid/Pipelines/Compile.h"
#include "nereid/Registry/Registry.h"
#include "nereid/abi.h"
#include "nereid/runtime/KernelCode.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <csetjmp>
#include <cstring>
#include <string>
#include <vector>

namespace nereid::test {

/// Calls of the runtime, one line each: "nrd_wait slots=8 count=1 ...".
struct Recorder {
  std::vector<std::string> calls;
  std::jmp_buf failure; // where failing entry points return to
  /// Addresses print relative to this.
  uintptr_t origin = 0;
};
/// The recorder of the running test.
Recorder &recorder();
/// Entry points of abi.h that record their arguments.
const std::vector<runtime::RuntimeSymbol> &recordingRuntime();

/// For the CPU.
CompileOptions cpuOptions();
/// The same for vectors of this many bits; 0 bits: as this machine has them.
CompileOptions cpuOptions(unsigned vectorBits);

/// "*fp32", "i32" ... of each argument.
std::vector<std::string> argumentTypes(const KernelMetadata &metadata);

/// One compiled kernel, loaded.
class Kernel {
public:
  Kernel(CompiledKernel compiled);

  /// Runs program (0,0,0) of a 1x1x1 grid. Returns false when the kernel ended
  /// in a failing entry point.
  template <typename... Args> bool operator()(Args... args) {
    uint64_t slots[] = {encode(args)..., 0};
    return call(slots);
  }
  bool call(const uint64_t *slots);

  nrd_program program{};
  KernelMetadata metadata;

private:
  template <typename T> static uint64_t encode(T value) {
    static_assert(sizeof(T) <= 8);
    uint64_t slot = 0;
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      int64_t wide = value;
      std::memcpy(&slot, &wide, 8);
    } else {
      std::memcpy(&slot, &value, sizeof(T));
    }
    return slot;
  }

  std::shared_ptr<runtime::KernelCode> code;
  std::vector<uint8_t> scratch;
};

class KernelTest : public ::testing::Test {
protected:
  KernelTest();

  /// Compiles a module of TTIR text through the whole pipeline.
  Kernel compile(llvm::StringRef text, CompileOptions options = cpuOptions());
  /// The text of the error that compiling gives.
  std::string compileError(llvm::StringRef text, CompileOptions options = cpuOptions());
  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text);

  mlir::MLIRContext context;
};

} // namespace nereid::test

#endif // NEREID_UNITTESTS_COMPILER_TARGET_KERNEL_H
