// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The language's rules: types, promotion, broadcasting, casts, and what each
// operator and function emits. Knows nothing of syntax; the walker (Codegen)
// calls it. Errors are thrown as CompileError.
#ifndef NEREID_FRONTEND_SEMANTIC_H
#define NEREID_FRONTEND_SEMANTIC_H

#include "nereid/Frontend/Builtins.h"
#include "nereid/Support/Diagnostics.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/FunctionExtras.h"

namespace nereid::frontend {

/// Python's operators, as the AST names them.
enum class BinaryOp { Add, Sub, Mult, Div, FloorDiv, Mod, Pow, LShift, RShift, BitAnd, BitOr, BitXor, MatMult };
enum class CompareOp { Eq, NotEq, Lt, LtE, Gt, GtE, Is, IsNot, In, NotIn };
enum class UnaryOp { UAdd, USub, Not, Invert };

/// What the target says about the language (from the compile options).
struct LanguageOptions {
  int64_t subVecNum = 1;            // al.sub_vec_num()
  bool debug = false;               // device_assert active
  std::string unusedToken = "error"; // "error" | "warn" | "keep"
  std::string defaultInputPrecision = "ieee";
};

class Semantic {
public:
  Semantic(mlir::OpBuilder &builder, const LanguageOptions &options, DiagnosticSink &sink);

  mlir::OpBuilder &builder;
  const LanguageOptions &options;
  DiagnosticSink &sink; // warnings

  /// Calls a jit function (or builtin) with values from inside a rule, e.g. the
  /// combine function of a reduction. Set by the walker.
  llvm::unique_function<Value(const Value &callee, llvm::ArrayRef<Value> args, const SourceRange &)> call;

  // ---- operators: at least one operand is a Tensor (the walker folds
  // constants), or a constant against a constant that must become a tensor.
  Value binary(BinaryOp op, const Value &lhs, const Value &rhs, const SourceRange &range);
  Value compare(CompareOp op, const Value &lhs, const Value &rhs, const SourceRange &range);
  Value unary(UnaryOp op, const Value &operand, const SourceRange &range);
  /// `and` / `or` on tensors: bitwise on i1, no short circuit.
  Value logical(bool isAnd, const Value &lhs, const Value &rhs, const SourceRange &range);
  /// x[None, :], x[:, None], ...
  Value subscript(const Value &tensor, const Tuple &index, const SourceRange &range);
  /// x.dtype, x.shape, x.T, methods; nullopt when there is none of that name.
  std::optional<Value> attribute(const Value &value, llvm::StringRef name, const SourceRange &range);

  // ---- conversions
  /// A number becomes a 0-d tensor of its natural dtype; tensors stay.
  Tensor toTensor(const Value &value, const SourceRange &range);
  /// A scalar i1 for `if` and `while`; blocks are an error.
  Tensor toCondition(const Value &value, const SourceRange &range);
  Tensor cast(const Tensor &value, Type to, const SourceRange &range);
  Tensor broadcastTo(const Tensor &value, llvm::ArrayRef<int64_t> shape, const SourceRange &range);

  // ---- helpers for rules: arguments that must be constants
  Int constexprInt(const BoundArgs &args, unsigned i);
  bool constexprBool(const BoundArgs &args, unsigned i);
  std::string constexprString(const BoundArgs &args, unsigned i);
  std::vector<int64_t> constexprShape(const BoundArgs &args, unsigned i);
  Type dtype(const BoundArgs &args, unsigned i);

  /// MLIR location of a source range: FileLineColRange, wrapped in the call
  /// chain that the walker keeps current.
  mlir::Location loc(const SourceRange &range);
  /// The call sites around the code being emitted, innermost last; kept by the
  /// walker.
  std::vector<SourceRange> callStack;
};

} // namespace nereid::frontend

#endif // NEREID_FRONTEND_SEMANTIC_H
