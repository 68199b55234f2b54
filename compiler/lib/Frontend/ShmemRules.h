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
/// Libraries of libshmem_device.`name`.
uint8_t shmemLibraries(llvm::StringRef name);

/// A function before it becomes a row of the table: names of typed functions are
/// put together.
struct ShmemFunction {
  std::string name;
  std::string params;
  BuiltinRule rule;
  std::string doc;
  uint8_t libraries;
};
/// Adds the functions with a C type in their name: single elements, waits,
/// atomics.
void appendTypedFunctions(std::vector<ShmemFunction> &functions);

/// A C type by its name in function names.
struct CType {
  const char *name;
  Scalar scalar;
};
llvm::ArrayRef<CType> cTypes();
/// The C type named in libshmem_device.`function` after `prefix` or before
/// `suffix`, whichever is not empty.
const CType &cTypeOf(llvm::StringRef function, llvm::StringRef prefix, llvm::StringRef suffix);

mlir::Operation *emitShmemCall(Semantic &s, const SourceRange &range, llvm::StringRef symbol,
                               llvm::ArrayRef<Tensor> operands,
                               std::optional<Type> result = std::nullopt, bool pure = false);

// ---- arguments
Tensor shmemPointerArg(Semantic &s, const BoundArgs &args, unsigned i);
/// A pointer to elements of that C type (integers of either sign).
Tensor typedPointerArg(Semantic &s, const BoundArgs &args, unsigned i, const CType &type);
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
