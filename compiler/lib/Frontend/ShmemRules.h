// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the files of libshmem_device's rules share: arguments, constants of its
// libraries, and which library has which function.
#ifndef NEREID_LIB_FRONTEND_SHMEMRULES_H
#define NEREID_LIB_FRONTEND_SHMEMRULES_H

#include "Rules.h"

#include "nereid/Dialect/Distributed/IR/Distributed.h"

namespace nereid::frontend {

/// Libraries that have a function, one bit each.
enum Libraries : uint8_t {
  NV = 1 << int(ShmemLibrary::NVSHMEM),
  ROC = 1 << int(ShmemLibrary::ROCSHMEM),
  ACL = 1 << int(ShmemLibrary::ACLSHMEM),
  MORI = 1 << int(ShmemLibrary::MORI),
  MX = 1 << int(ShmemLibrary::MXSHMEM),
  Every = NV | ROC | ACL | MORI | MX,
};
inline bool has(uint8_t libraries, ShmemLibrary library) { return libraries >> int(library) & 1; }
/// "NVSHMEM and MXSHMEM".
std::string libraryNames(uint8_t libraries);

/// A C type by its name in function names.
struct CType {
  const char *name;
  Scalar scalar;
};
llvm::ArrayRef<CType> cTypes();

/// How an atomic is written: <type>_atomic_<name> or atomic_<name>_<type>.
struct AtomicName {
  const char *name;
  ShmemConstant::Atomic op;
  const char *params;
  const char *doc;
  bool takesFloats;
};

/// A function before it becomes a row of the table of builtins. What its name
/// means stands here; no rule reads the name.
struct ShmemFunction {
  std::string name;
  std::string params;
  BuiltinRule rule;
  std::string doc;
  uint8_t libraries;
  /// The library function (LibraryFunctions.def) that a call becomes, and the one
  /// that stands for it towards all ranks: for the team of all, or without a rank.
  const char *symbol = "";
  const char *symbolForAll = "";
  /// Bytes that 1 in a count means; 0: an element's.
  uint8_t unitBytes = 1;
  /// The threads of a program that call it together: "warp", "block"; "": each alone.
  const char *together = "";
  /// Of a function with a C type in its name: prefix + type + suffix.
  const CType *type = nullptr;
  std::string prefix = {}, suffix = {};
  const AtomicName *atomic = nullptr;
};
/// The function that is called.
const ShmemFunction &shmemFunction(const BoundArgs &args);
/// libshmem_device.`name`, or null.
const ShmemFunction *findShmemFunction(llvm::StringRef name);
/// Adds the functions with a C type in their name: single elements, waits,
/// atomics.
void appendTypedFunctions(std::vector<ShmemFunction> &functions);

/// A call of the library function `symbol`; `written` is what the user calls it.
mlir::Operation *emitLibraryCall(Semantic &s, const SourceRange &range, llvm::StringRef symbol,
                                 llvm::ArrayRef<Tensor> operands,
                                 std::optional<Type> result = std::nullopt, bool pure = false,
                                 llvm::StringRef written = "");
/// Stops the program where `value` does not fit `type`; `flags` are NRD_WORD_*, the
/// value's sign is added.
void checkWord(Semantic &s, const Tensor &value, const Type &type, int32_t flags,
               const SourceRange &range);
/// A call of the library function `symbol`, as what the user's call becomes.
mlir::Operation *emitShmemCall(Semantic &s, const BoundArgs &args, llvm::StringRef symbol,
                               llvm::ArrayRef<Tensor> operands,
                               std::optional<Type> result = std::nullopt, bool pure = false);

// ---- arguments
Tensor shmemPointerArg(Semantic &s, const BoundArgs &args, unsigned i);
/// A pointer to elements of the function's C type (integers of either sign).
Tensor typedPointerArg(Semantic &s, const BoundArgs &args, unsigned i);
/// A pointer to signals: integers, of the width that the profile asks for.
Tensor shmemSignalArg(Semantic &s, const BoundArgs &args, unsigned i);
inline Tensor peArg(Semantic &s, const BoundArgs &args, unsigned i) {
  return intScalarArg(s, args, i, Scalar::Int32);
}
/// A number of bytes or elements; negative constants are an error.
Tensor countArg(Semantic &s, const BoundArgs &args, unsigned i);
/// An integer as the word of a signal, an element or an atomic; one that is only
/// known at run time and does not fit stops the program there.
Tensor castToWord(Semantic &s, const Tensor &value, const Type &word, const SourceRange &range);
/// The value of argument `i` as the pointee of `pointer`.
Tensor pointeeArg(Semantic &s, const BoundArgs &args, unsigned i, const Tensor &pointer);
/// A comparison, signal operation, team or atomic as our own number when it is
/// known at compile time.
std::optional<int32_t> shmemConstantArg(Semantic &s, const BoundArgs &args, unsigned i,
                                        ShmemConstant::Kind kind);
/// The same as an operand; run-time numbers are translated.
Tensor shmemCodeArg(Semantic &s, const BoundArgs &args, unsigned i, ShmemConstant::Kind kind);

// ---- used by both files of rules
Value emitWaitUntil(Semantic &s, const BoundArgs &args, const Tensor &signal,
                    const Tensor &comparison, const Tensor &value);

} // namespace nereid::frontend

#endif // NEREID_LIB_FRONTEND_SHMEMRULES_H
