// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Object files into the running process.
#ifndef NEREID_TARGET_CPU_LOADER_H
#define NEREID_TARGET_CPU_LOADER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace nereid::cpu {

/// A name that loaded code may refer to.
struct Symbol {
  llvm::StringRef name;
  void *address;
};

/// Machine code of one kernel in this process; unloaded with the object.
class LoadedCode {
public:
  ~LoadedCode();
  /// Address of the kernel, a nrd_kernel_fn.
  void *address() const { return entry; }

private:
  friend llvm::Expected<std::unique_ptr<LoadedCode>> loadObject(llvm::StringRef, llvm::StringRef,
                                                                llvm::ArrayRef<Symbol>);
  LoadedCode() = default;
  struct State;
  std::unique_ptr<State> state;
  void *entry = nullptr;
};

/// Links `object` (bytes of an object file, copied) and returns the function
/// `name`. The code's references resolve to `symbols` (the runtime's entry
/// points) and to the C library's mathematical functions, nothing else. The
/// error names a symbol that is missing. Safe to call from several threads.
llvm::Expected<std::unique_ptr<LoadedCode>> loadObject(llvm::StringRef object, llvm::StringRef name,
                                                       llvm::ArrayRef<Symbol> symbols);

} // namespace nereid::cpu

#endif // NEREID_TARGET_CPU_LOADER_H
