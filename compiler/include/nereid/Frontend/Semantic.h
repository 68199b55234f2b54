// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The language's rules: types, promotion, broadcasting, casts, and what each
// operator and function emits. Knows nothing of syntax; the walker (Codegen)
// calls it. Errors are thrown as CompileError.
#ifndef NEREID_FRONTEND_SEMANTIC_H
#define NEREID_FRONTEND_SEMANTIC_H

#include "nereid/Frontend/Builtins.h"
#include "nereid/Support/Diagnostics.h"
#include "nereid/Target/TargetInfo.h"
#include "nereid/profiles.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/FunctionExtras.h"

#include <functional>
#include <set>

namespace nereid::frontend {

/// Python's operators, as the AST names them.
enum class BinaryOp {
  Add,
  Sub,
  Mult,
  Div,
  FloorDiv,
  Mod,
  Pow,
  LShift,
  RShift,
  BitAnd,
  BitOr,
  BitXor,
  MatMult
};
enum class CompareOp { Eq, NotEq, Lt, LtE, Gt, GtE, Is, IsNot, In, NotIn };
enum class UnaryOp { UAdd, USub, Not, Invert };

/// What a compilation says about the language.
struct LanguageOptions {
  const TargetProfile *profile = &targetProfiles[0]; // its rules; never null
  const TargetInfo *target = &defaultTargetInfo();   // where the code runs; never null
  bool debug = false;                                // device_assert active
  bool portable = false;                             // refuse what goes beyond Triton's language
  std::string unusedToken = "error";                 // "error" | "warn" | "keep"
  int threads = 128;                                 // of a program, where kernels ask for them
  std::string defaultInputPrecision = "ieee";
  /// Where tl.static_print writes; null: standard output.
  std::function<void(llvm::StringRef)> print;
};

/// How two operands of an operator or function are brought together.
struct OperandRules {
  /// The operator or function, for messages: "+", "tl.maximum".
  const char *what = "";
  bool leftPointer = false, rightPointer = false;
  /// / // %: floats narrower than fp32 are computed in fp32, integers must agree
  /// in signedness.
  bool division = false;
};

class Semantic {
public:
  Semantic(mlir::OpBuilder &builder, const LanguageOptions &options, DiagnosticSink &sink);

  mlir::OpBuilder &builder;
  const LanguageOptions &options;
  DiagnosticSink &sink; // warnings

  /// Calls a jit function (or builtin) with values from inside a rule, e.g. the
  /// combine function of a reduction. Set by the walker.
  llvm::unique_function<Value(const Value &callee, llvm::ArrayRef<Value> args, const SourceRange &)>
      call;

  // ---- operators: at least one operand is a Tensor (the walker folds
  // constants), or a constant against a constant that must become a tensor.
  Value binary(BinaryOp op, const Value &lhs, const Value &rhs, const SourceRange &range);
  /// `binary` for + and - when an operand is a pointer.
  Value movePointer(BinaryOp op, const Value &lhs, const Value &rhs, const SourceRange &range);
  Value compare(CompareOp op, const Value &lhs, const Value &rhs, const SourceRange &range);
  Value unary(UnaryOp op, const Value &operand, const SourceRange &range);
  /// `and` / `or` on tensors: bitwise on i1, no short circuit.
  Value logical(bool isAnd, const Value &lhs, const Value &rhs, const SourceRange &range);
  /// x[None, :], x[:, None], ...
  Value subscript(const Value &tensor, const Tuple &index, const SourceRange &range);
  /// x.dtype, x.shape, x.T, methods; nullopt when there is none of that name.
  std::optional<Value> attribute(const Value &value, llvm::StringRef name,
                                 const SourceRange &range);

  // ---- conversions
  /// A number becomes a 0-d tensor of its natural dtype; tensors stay.
  Tensor toTensor(const Value &value, const SourceRange &range);
  /// A scalar i1 for `if` and `while`; blocks are an error.
  Tensor toCondition(const Value &value, const SourceRange &range);
  Tensor cast(const Tensor &value, Type to, const SourceRange &range);
  /// Repeats dimensions of size 1; a scalar is splat. The rank must agree.
  Tensor broadcastTo(const Tensor &value, llvm::ArrayRef<int64_t> shape, const SourceRange &range);
  /// Both to their common shape; missing dimensions are added on the left.
  std::pair<Tensor, Tensor> broadcast(const Tensor &lhs, const Tensor &rhs, const char *what,
                                      const SourceRange &range);
  /// Both to their common element type and shape.
  std::pair<Tensor, Tensor> operands(const Value &lhs, const Value &rhs, const OperandRules &rules,
                                     const SourceRange &range);
  /// Element type of an operation on two run-time element types.
  Type promote(Type lhs, Type rhs, const OperandRules &rules, const SourceRange &range);
  /// Element type of an operation on a compile-time number and a run-time type.
  Type promoteNumber(const Value &number, Type other, const OperandRules &rules,
                     const SourceRange &range);
  /// The dtype that a number has by itself.
  Type naturalType(const Value &number, const SourceRange &range);
  /// A narrowing cast between floating types with a rounding mode ("rtne" or
  /// "rtz"), or a cast that saturates.
  Tensor castRounding(const Tensor &value, Type to, llvm::StringRef rounding,
                      const SourceRange &range);
  Tensor castSaturating(const Tensor &value, Type to, const SourceRange &range);
  /// Same bits, other dtype of the same width.
  Tensor bitcast(const Tensor &value, Type to, const SourceRange &range);
  /// int1: `value` != 0.
  Tensor toBool(const Tensor &value, const SourceRange &range);

  // ---- creation and shape
  Tensor wrap(mlir::Value handle, Type type, const SourceRange &range) const {
    return {handle, type, range};
  }
  /// A number as a scalar of `element`, which it must fit.
  Tensor constant(const Value &number, Type element, const SourceRange &range);
  /// A block (or scalar, when `shape` is empty and not a block) filled with a number.
  Tensor full(llvm::ArrayRef<int64_t> shape, const Value &number, Type element,
              const SourceRange &range);
  Tensor splat(const Tensor &scalar, llvm::ArrayRef<int64_t> shape, const SourceRange &range);
  Tensor arange(int64_t start, int64_t end, const SourceRange &range);
  Tensor expandDims(const Tensor &value, int64_t axis, const SourceRange &range);
  Tensor reshape(const Tensor &value, llvm::ArrayRef<int64_t> shape, bool allowReorder,
                 const SourceRange &range);
  Tensor permute(const Tensor &value, llvm::ArrayRef<int64_t> order, const SourceRange &range);
  Tensor select(const Tensor &condition, const Tensor &x, const Tensor &y,
                const SourceRange &range);
  /// `what` must have a positive number of elements, at most 2^20.
  void checkShape(llvm::ArrayRef<int64_t> shape, const SourceRange &range);

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

  /// Family of the libshmem_device constants that this kernel uses, and where
  /// it first does.
  std::optional<std::pair<ShmemConstant::Family, SourceRange>> shmemFamily;
  std::string shmemFamilyName; // that constant

  /// Flags that al.sync_block_set has set above the place being compiled.
  std::set<std::string> coreFlags;

  /// Creates an operation at `range`.
  template <typename Op, typename... Args> Op emit(const SourceRange &range, Args &&...args) {
    return Op::create(builder, loc(range), std::forward<Args>(args)...);
  }
};

/// The operators as they are written.
const char *spelling(BinaryOp op);
const char *spelling(CompareOp op);

} // namespace nereid::frontend

#endif // NEREID_FRONTEND_SEMANTIC_H
