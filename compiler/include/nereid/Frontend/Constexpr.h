// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python's arithmetic on compile-time constants: floor division, unbounded (in
// practice 128-bit) integers, IEEE doubles, strings, tuples. Follows CPython's
// numeric semantics; errors are thrown as CompileError.
#ifndef NEREID_FRONTEND_CONSTEXPR_H
#define NEREID_FRONTEND_CONSTEXPR_H

#include "nereid/Frontend/Semantic.h"

namespace nereid::frontend {

/// `lhs op rhs` of two constants (numbers, strings, tuples).
Value foldBinary(BinaryOp op, const Value &lhs, const Value &rhs, const SourceRange &range);
/// `op operand` of a constant. `not` works on every constant.
Value foldUnary(UnaryOp op, const Value &operand, const SourceRange &range);
/// `lhs op rhs` of two constants; `is` is identity of Python's singletons and
/// equality of kind and value for the rest.
bool foldCompare(CompareOp op, const Value &lhs, const Value &rhs, const SourceRange &range);

/// Python's truth value of a constant; nullopt for what has none here.
std::optional<bool> truth(const Value &value);
/// Equality as of `==`, for any two values: tensors are equal when they are the
/// same IR value, functions when they are the same function.
bool equal(const Value &lhs, const Value &rhs);
/// The same value in every respect: kinds and contents are equal.
bool identical(const Value &lhs, const Value &rhs);

/// Decimal digits to an Int; nullopt when they don't fit.
std::optional<Int> parseInt(llvm::StringRef digits);

/// The position of an item that a constant integer picks; negative ones count
/// from the end.
size_t tupleIndex(const Tuple &tuple, const Value &index, const SourceRange &range);

/// Items of `tuple` that a subscript with a constant or a slice selects.
Value subscriptTuple(const Tuple &tuple, const Value &index, const SourceRange &range);

/// "+", "-", "not", "~".
const char *spelling(UnaryOp op);

} // namespace nereid::frontend

#endif // NEREID_FRONTEND_CONSTEXPR_H
