// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelCode.h - Object files into this process ------------*- C++ -*-===//
//
// A small linker for what the compiler writes: relocatable ELF files of x86-64
// with code and constants, whose only references are to each other, to the
// entry points of abi.h and to the C library's mathematical functions. It is
// what lets a kernel from the cache start without the compiler in memory.
//
//     one mapping:  | code, jumps to functions outside |  read + execute
//                   | constants                        |  read
//                   | data                             |  read + write
//
// What the file says of its kernel stays beside it, with a table from instructions
// to source locations: an instruction that fails leads to the user's line.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_KERNELCODE_H
#define NEREID_RUNTIME_KERNELCODE_H

#include "nereid/abi.h"
#include "nereid/runtime/Device.h"
#include "nereid/runtime/KernelObject.h"
#include "nereid/runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::runtime {

/// The entry points of abi.h for a JIT's symbol table.
struct RuntimeSymbol {
  const char *name;
  void *address;
};
const std::vector<RuntimeSymbol> &runtimeSymbols();

/// Machine code of one kernel; unmapped with the object, which must outlive
/// every launch.
class KernelCode {
public:
  KernelCode(const KernelCode &) = delete;
  KernelCode &operator=(const KernelCode &) = delete;
  ~KernelCode();

  /// Links `object`, the bytes of the file (copied). `symbols` are the runtime's
  /// entry points. Errors: InvalidArgument for a file that describeKernel refuses,
  /// for code that may use what this processor lacks, and for names that nothing
  /// defines (all of them are listed); SystemError when the system gives no memory.
  static Expected<std::shared_ptr<KernelCode>>
  load(std::string_view object, const std::vector<RuntimeSymbol> &symbols = runtimeSymbols());

  nrd_kernel_fn entry() const { return function; }
  /// What the file says of the kernel.
  const CPUKernelDescription &description() const { return kernel; }

  /// Whether `pc` lies in this kernel's instructions.
  bool contains(uintptr_t pc) const {
    uintptr_t base = reinterpret_cast<uintptr_t>(memory);
    return pc >= base && pc - base < codeBytes;
  }
  /// Number of the source location (an index into the kernel's SiteTable) of
  /// the instruction at `pc`; kNoSite when the object does not tell. May be
  /// called from a signal handler.
  uint32_t siteAt(uintptr_t pc) const;
  static constexpr uint32_t kNoSite = NRD_NO_SITE;

private:
  KernelCode() = default;

  CPUKernelDescription kernel;
  /// Of all code, and where the section begins that the kernel's lines are about.
  size_t codeBytes = 0, codeStart = 0;

  nrd_kernel_fn function = nullptr;
  void *memory = nullptr;
  size_t bytes = 0;
};

/// A kernel of the CPU: code in this process.
class CPUKernel final : public Kernel {
public:
  /// `function` of the host program or of an object file: what it needs (blocking,
  /// scratchBytes, lanes, sites) is for the caller to fill in.
  CPUKernel(std::string name, nrd_kernel_fn function,
            std::shared_ptr<const KernelCode> code = nullptr);
  /// The kernel of an object file, as that describes it.
  explicit CPUKernel(std::shared_ptr<const KernelCode> code);

  const nrd_kernel_fn function;
  /// What `function` is part of; null when unknown. Says which source line an
  /// instruction comes from, and lets the runtime stop programs that never call it.
  const std::shared_ptr<const KernelCode> code;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_KERNELCODE_H
