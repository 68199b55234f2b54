// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the files of rules share: reporting, reading arguments, and the lists of
// rows that Builtins.cpp joins.
#ifndef NEREID_LIB_FRONTEND_RULES_H
#define NEREID_LIB_FRONTEND_RULES_H

#include "nereid/Frontend/Semantic.h"

#include "nereid/Dialect/Triton/IR/Triton.h"

#include "llvm/ADT/StringExtras.h"

namespace nereid::frontend {

/// Throws the diagnostic `id`.
template <typename... Args>
[[noreturn]] void fail(Diag id, const SourceRange &range, Args &&...args) {
  throw CompileError(makeDiagnostic(id, range, std::forward<Args>(args)...));
}

/// Adds "<what> is <description>, defined here" to a diagnostic when `value` has
/// a place.
void noteValue(Diagnostic &diagnostic, const Value &value, llvm::StringRef what);

/// Throws `id` with notes that point to where the two operands come from.
template <typename... Args>
[[noreturn]] void failOperands(Diag id, const SourceRange &range, const Value &lhs,
                               const Value &rhs, Args &&...args) {
  Diagnostic diagnostic = makeDiagnostic(id, range, std::forward<Args>(args)...);
  noteValue(diagnostic, lhs, "the left operand");
  noteValue(diagnostic, rhs, "the right operand");
  throw CompileError(std::move(diagnostic));
}

/// What to write instead of a None that is no run-time value; "" when it is
/// written in the kernel, and for other values.
std::string helpForNone(const Value &value);

/// "tl.load", for messages.
inline std::string functionName(const BuiltinInfo &info) {
  return std::string(info.module) + "." + info.name;
}
/// Name of parameter `i` of the call's row.
std::string parameterName(const BoundArgs &args, unsigned i);

std::string shapeString(llvm::ArrayRef<int64_t> shape);
bool isPowerOfTwo(int64_t value);

/// Argument `i` as a tensor (a number becomes a 0-d one).
inline Tensor tensorArg(Semantic &s, const BoundArgs &args, unsigned i) {
  return s.toTensor(args[i], args.ranges[i]);
}
/// Argument `i` as a block; an error when it is a scalar.
Tensor blockArg(Semantic &s, const BoundArgs &args, unsigned i, llvm::StringRef help = "");
/// Argument `i` as a scalar integer of the given type.
Tensor intScalarArg(Semantic &s, const BoundArgs &args, unsigned i, Type type);
/// An integer scalar as another integer type. A constant that does not fit is an
/// error; a run-time value that does not fit stops the program at `range`.
Tensor numberAs(Semantic &s, const Value &value, Type type, const SourceRange &range);
/// Items of a tuple argument, or the one value itself. `*shape` given as one
/// tuple is that tuple.
std::vector<Value> itemsArg(const BoundArgs &args, unsigned i);
/// An axis counted from the front; negative ones count from the back.
int64_t normalizeAxis(Semantic &s, Int axis, int64_t rank, const Type &type,
                      const SourceRange &range);
/// A constant string argument that must be one of `accepted`.
std::string choiceArg(Semantic &s, const BoundArgs &args, unsigned i,
                      llvm::ArrayRef<llvm::StringRef> accepted);
/// The flag of a PropagateNan argument (None means NONE): does NaN win?
bool propagateNanArg(Semantic &s, const BoundArgs &args, unsigned i);
tt::MemSemantic semArg(Semantic &s, const BoundArgs &args, unsigned i);
tt::MemSyncScope scopeArg(Semantic &s, const BoundArgs &args, unsigned i);

/// Python's integers in rules that also work on constants: folds when both are
/// numbers, emits otherwise.
Value arithmetic(Semantic &s, BinaryOp op, const Value &lhs, const Value &rhs,
                 const SourceRange &range);

// Used by more than one family.
Tensor mathUnary(Semantic &s, llvm::StringRef name, const Tensor &x, const SourceRange &range);
Value minimumMaximum(Semantic &s, bool isMax, const Value &x, const Value &y, bool propagateNan,
                     const char *what, const SourceRange &range);
/// Reductions with known combining operations: "sum", "max", "min", "xor", "or".
/// The element type stays; `axis` nullopt reduces everything to a scalar.
Tensor reduceSimple(Semantic &s, llvm::StringRef kind, Tensor input, std::optional<int64_t> axis,
                    bool keepDims, const SourceRange &range);
Tensor where(Semantic &s, const Value &condition, const Value &x, const Value &y,
             const SourceRange &range);
Value load(Semantic &s, const BoundArgs &args);
Tensor joinBlocks(Semantic &s, const Tensor &a, const Tensor &b, const SourceRange &range);

/// An element-wise call of a library function on operands of one shape.
Tensor libraryCall(Semantic &s, llvm::StringRef library, llvm::StringRef path,
                   llvm::StringRef symbol, llvm::ArrayRef<Tensor> operands, Type element,
                   bool isPure, const SourceRange &range);
/// Brings all operands to their common shape.
void broadcastAll(Semantic &s, std::vector<Tensor> &operands, const char *what,
                  const SourceRange &range);

/// The rule of a function that only some targets have: an error with the words of the
/// target in force (TargetInfo::lacks).
Value targetOnly(Semantic &s, const BoundArgs &args);

// The rows, by family.
llvm::ArrayRef<BuiltinInfo> programRows();
llvm::ArrayRef<BuiltinInfo> shapeRows();
llvm::ArrayRef<BuiltinInfo> dotRows();
llvm::ArrayRef<BuiltinInfo> memoryRows();
llvm::ArrayRef<BuiltinInfo> descriptorRows();
llvm::ArrayRef<BuiltinInfo> atomicRows();
llvm::ArrayRef<BuiltinInfo> selectRows();
llvm::ArrayRef<BuiltinInfo> mathRows();
llvm::ArrayRef<BuiltinInfo> reduceRows();
llvm::ArrayRef<BuiltinInfo> sortRows();
llvm::ArrayRef<BuiltinInfo> randomRows();
llvm::ArrayRef<BuiltinInfo> debugRows();
llvm::ArrayRef<BuiltinInfo> libdeviceRows();
llvm::ArrayRef<BuiltinInfo> libraryRows();
llvm::ArrayRef<BuiltinInfo> bitRows();
llvm::ArrayRef<BuiltinInfo> mapRows();
llvm::ArrayRef<BuiltinInfo> indexRows();
llvm::ArrayRef<BuiltinInfo> distributedRows();
llvm::ArrayRef<BuiltinInfo> shmemRows();
llvm::ArrayRef<BuiltinInfo> ascendRows();
llvm::ArrayRef<BuiltinInfo> extensionRows();
llvm::ArrayRef<BuiltinInfo> threadRows();
llvm::ArrayRef<BuiltinInfo> sliceRows();
llvm::ArrayRef<BuiltinInfo> dtypeRows();
llvm::ArrayRef<BuiltinInfo> pythonRows();

/// Enumerations of the Ascend extension ("al.PIPE") and their members, numbered
/// from 0.
std::vector<std::string> extensionEnumerations();
std::vector<std::string> extensionMembers(llvm::StringRef module);

} // namespace nereid::frontend

#endif // NEREID_LIB_FRONTEND_RULES_H
