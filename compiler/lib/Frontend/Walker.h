// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walker: goes through the syntax tree once, in the order of execution,
// folding what is constant and emitting IR for the rest through Semantic.
#ifndef NEREID_LIB_FRONTEND_WALKER_H
#define NEREID_LIB_FRONTEND_WALKER_H

#include "nereid/Frontend/Codegen.h"
#include "nereid/Frontend/Constexpr.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <map>
#include <set>

namespace nereid::frontend {

/// A local variable.
struct Binding {
  Value value;
  SourceRange range; // of the name where it was assigned
  /// Annotated tl.constexpr (or a loop variable of tl.static_range, ...).
  bool isConstexpr = false;
  /// Differs for every assignment.
  uint64_t version = 0;
};
using Locals = std::map<std::string, Binding>;

/// Ways to leave statements other than at their end.
enum Exit : unsigned { ExitReturn = 1, ExitBreak = 2, ExitContinue = 4 };

/// What became of control at the end of some statements.
struct Flow {
  enum class Kind { Falls, Leaves, MayLeave };
  Kind kind = Kind::Falls;
  unsigned exits = 0; // the possible ones, unless Falls
  Value value;        // returned, with ExitReturn
  mlir::Value flag;   // i1, MayLeave: true when control left
  mlir::Value which;  // i32, with several exits: the one taken
  SourceRange range;  // of the return (or break, continue) statement

  bool falls() const { return kind == Kind::Falls; }
  bool leaves() const { return kind == Kind::Leaves; }
  bool mayReturn() const { return exits & ExitReturn; }
};

/// One side of a run-time `if` after it was walked.
struct Branch {
  mlir::Block *block = nullptr;
  Locals locals;
  Flow flow;
};

/// Two values that become one behind a branch: the places where tensors (or
/// numbers that become tensors) stand, and the common form with placeholders.
struct Unified {
  std::vector<std::pair<Value, Value>> leaves;
  std::vector<Type> types; // of the leaves
  Value form;
};

class Walker {
public:
  Walker(mlir::MLIRContext &context, const KernelRequest &request, Environment &environment,
         DiagnosticSink &sink);

  mlir::OwningOpRef<mlir::ModuleOp> build();

private:
  /// One function being compiled: the kernel, or a jit function in place of its
  /// call.
  struct Frame {
    const FunctionDef *function = nullptr;
    Frame *caller = nullptr;
    Locals locals;
    /// Why names that were assigned have no value now.
    std::map<std::string, Diagnostic> dropped;
    /// Names declared by `x: tl.constexpr` without a value.
    std::set<std::string> declaredConstexpr;
    /// All names that the function assigns: its local variables.
    std::set<std::string> localNames;
    /// The variables of before the innermost loop around the code, or null: what
    /// `break` and `continue` hand on.
    const Locals *beforeLoop = nullptr;
    /// The __init__ of an aggregate.
    bool isInit = false;
  };

  // ---- Walker.cpp: kernel, names
  Value kernelArgument(const KernelArgument &argument, const Param &param, const std::string &name,
                       std::vector<Tensor> &slots, std::vector<int> &divisibility,
                       std::vector<std::string> &names);
  Value withDescriptors(const KernelArgument &argument, Value value, const SourceRange &range);
  void verify(mlir::ModuleOp module);
  Value lookup(const NameExpr &name);
  void bind(llvm::StringRef name, Value value, const SourceRange &range, bool isConstexpr = false);
  void drop(llvm::StringRef name, Diagnostic why);
  [[noreturn]] void unknownName(llvm::StringRef name, const SourceRange &range);

  // ---- WalkerStatements.cpp
  /// `isTail`: nothing of the function follows the block.
  Flow walkBlock(llvm::ArrayRef<StmtPtr> block, bool isTail = false);
  /// `rest`: the statements behind; set to empty when they were walked, too.
  Flow walk(const Stmt &stmt, llvm::ArrayRef<StmtPtr> &rest, bool isTail);
  void assign(const Expr &target, const Value &value, const SourceRange &range);
  /// `owner[index] = value`, `owner.name = value`: the owner becomes another value.
  void assignItem(const SubscriptExpr &target, const Value &value, const SourceRange &range);
  void assignAttribute(const AttributeExpr &target, const Value &value, const SourceRange &range);
  /// Binds the variable of a comprehension or unrolled loop; constants stay such.
  void bindItem(const Expr &target, const Value &item);
  /// `with al.scope(core_mode=...)`.
  Flow walkWith(const WithStmt &stmt);
  /// A statement that is an expression.
  void walkExpression(const Expr &expr);
  /// `block` with one element replaced.
  Value insertElement(const Tensor &block, const Value &index, const Value &value,
                      const SourceRange &range);
  Flow walkThreadRegion(const WithStmt &stmt, const CallExpr &call);
  Flow walkCubeScope(const WithStmt &stmt);
  /// Refuses what the language has beyond Triton's when the kernel must be portable.
  void extension(const char *what, const char *instead, const SourceRange &range);
  /// What a plain assignment stores: numbers become tensors.
  Value materialize(const Value &value, const SourceRange &range);
  void walkAnnAssign(const AnnAssignStmt &stmt);
  void walkAssert(const AssertStmt &stmt);

  // ---- WalkerBranches.cpp
  Flow walkIf(const IfStmt &stmt, llvm::ArrayRef<StmtPtr> &rest, bool isTail);
  /// The statements behind one that may have returned.
  Flow walkRest(Flow maybe, llvm::ArrayRef<StmtPtr> rest, bool isTail);
  void walkInto(Branch &branch, llvm::ArrayRef<StmtPtr> block, bool isTail);
  void walkInto(Branch &branch, llvm::function_ref<Flow()> walk);
  /// i1: whether control left in one of the ways `exits`.
  mlir::Value exitTaken(const Flow &flow, unsigned exits, const SourceRange &range);
  /// `flow` without the ways `exits`, which end here.
  Flow without(const Flow &flow, unsigned exits, const SourceRange &range);
  /// Ends the branches of `op`. `before`: the variables of before it, or null
  /// when nothing reads variables after it.
  Flow mergeBranches(mlir::scf::IfOp op, Branch &thenBranch, Branch &elseBranch,
                     const Locals *before, const SourceRange &range);
  Flow mergeFlows(Branch &thenBranch, Branch &elseBranch,
                  std::vector<std::pair<Value, Value>> &leaves, std::vector<Type> &types,
                  const SourceRange &range);
  Value conditional(const ConditionalExpr &expr);
  /// One with `name := value` in an arm.
  Value conditionalThatBinds(const ConditionalExpr &expr, const Tensor &condition);
  /// nullopt when the two cannot become one value.
  std::optional<Unified> unify(const Value &a, const Value &b, const SourceRange &range);
  /// Why two values that unify refuses cannot become one: the innermost parts that
  /// differ and how they are reached, and what to write instead ("" for what can be
  /// cast).
  struct Difference {
    std::string path, first, second, help;
  };
  Difference difference(const Value &a, const Value &b, const SourceRange &range, bool inLoop);
  /// Sets the help, and adds a note when only a part of the values differs.
  void explainDifference(Diagnostic &diagnostic, const Value &a, const Value &b,
                         const SourceRange &range);
  /// Which items are fields of an aggregate that stay constants.
  std::vector<bool> constantFields(const Tuple &tuple);
  bool unify(const Value &a, const Value &b, const SourceRange &range, Unified &result,
             Value &form);
  /// `form` with its placeholders replaced by the next values.
  Value fill(const Value &form, mlir::ValueRange values, unsigned &next, const SourceRange &range);
  /// A zero of `type`, for a value that is never read.
  mlir::Value placeholder(const Type &type, const SourceRange &range);
  /// The scf.if again, with results.
  mlir::scf::IfOp replaceIf(mlir::scf::IfOp op, mlir::TypeRange results);

  // ---- WalkerLoops.cpp
  struct Carried {
    std::string name;
    Binding before;
    Value form;            // with placeholders
    unsigned first, count; // of its values among the loop's
  };
  Flow walkFor(const ForStmt &stmt);
  /// The constants that tl.static_range, or the range of a comprehension, runs over.
  std::vector<Value> staticRange(const CallExpr &call, const BuiltinInfo &info,
                                 Diag runtimeBound = Diag::static_range_bound);
  Tensor whileCondition(const Value &test, const SourceRange &range);
  Flow walkUnrolled(const ForStmt &stmt, llvm::ArrayRef<Value> items);
  /// A range that a loop counts through at run time, its bounds of one type. When it
  /// is descending, whose step is a negative constant, `step` is positive, `start` and
  /// `stop` are exchanged, and the body sees start + stop - counter.
  struct CountedRange {
    Tensor start, stop, step;
    Type type;
    bool isDescending;
  };
  CountedRange countedRange(const BoundArgs &args);
  /// Gives the loop's variable, `target`, the value `counter` of `type`.
  void bindCounter(const NameExpr &target, mlir::Value counter, const Type &type);
  Flow walkRuntimeFor(const ForStmt &stmt, const BoundArgs &args);
  /// One that statements in it may leave: it counts rounds, whose number never overflows.
  Flow walkLeavingFor(const ForStmt &stmt, const NameExpr &target, const CountedRange &range,
                      llvm::ArrayRef<AssignedName> names, llvm::ArrayRef<Carried> carried,
                      std::vector<mlir::Value> inits);
  Flow walkWhile(const WhileStmt &stmt);
  /// A loop that statements in it may leave. `round` emits one round (for a
  /// `for`, the number of which it is given) and says how it ended.
  Flow walkLeavingLoop(const Stmt &stmt, llvm::ArrayRef<AssignedName> names,
                       llvm::ArrayRef<Carried> carried, std::vector<mlir::Value> inits,
                       const Type *counter, llvm::function_ref<Flow(mlir::Value)> round);
  /// Walks the body of a loop whose variables of before are `before`.
  Flow walkLoopBody(const Block &body, const Locals &before);
  /// Drops those of the `names` that had no value before the loop.
  void dropNamesOf(llvm::ArrayRef<AssignedName> names, const Locals &before);
  /// `counter`: the loop's variable, of `counterType`; null for `while`.
  /// `names`: what a round assigns.
  std::vector<Carried> carriedVariables(std::vector<AssignedName> names, const NameExpr *counter,
                                        const Type &counterType, std::vector<mlir::Value> &inits);
  void bindCarried(llvm::ArrayRef<Carried> carried, mlir::ValueRange values);
  /// What the body hands to its next round; checks that types stayed.
  std::vector<mlir::Value> yieldedValues(llvm::ArrayRef<Carried> carried, const SourceRange &range);
  /// Restores the variables of before the loop, with the carried ones' results.
  void leaveLoop(const Locals &before, llvm::ArrayRef<Carried> carried, mlir::ValueRange results,
                 llvm::ArrayRef<AssignedName> names);
  void setLoopHints(mlir::Operation *loop, const BoundArgs &args);

  // ---- WalkerExpressions.cpp
  Value eval(const Expr &expr);
  Value evalBinary(BinaryOp op, const Value &lhs, const Value &rhs, const SourceRange &range);
  Value evalBool(const BoolExpr &expr);
  Value evalCompare(const CompareExpr &expr);
  Value evalUnary(const UnaryExpr &expr);
  Value attribute(const Value &value, const std::string &name, const SourceRange &range);
  /// nullopt when there is none; the names that there are go to `names`.
  std::optional<Value> findAttribute(const Value &value, const std::string &name,
                                     const SourceRange &range, std::vector<std::string> &names);
  Value evalSubscript(const SubscriptExpr &expr);
  Value evalFormattedString(const FormattedStringExpr &expr);
  Value evalComprehension(const ComprehensionExpr &expr);
  std::vector<Value> evalItems(llvm::ArrayRef<ExprPtr> items);
  /// Truth of a constant that decides about control flow.
  bool decide(const Value &value, const SourceRange &range);
  Value compare(CompareOp op, const Value &lhs, const Value &rhs, const SourceRange &range);
  /// Equality of two items of tuples.
  Value itemsEqual(const Value &x, const Value &y, const SourceRange &range);
  /// `x and y`, `x or y` of conditions.
  Value both(bool isAnd, const Value &x, const Value &y, const SourceRange &range);
  /// `item in tuple` with run-time scalars.
  Value contains(const Value &item, const Tuple &tuple, const SourceRange &range);

  // ---- WalkerCalls.cpp
  Value evalCall(const CallExpr &expr);
  Value evalCall(const CallExpr &expr, const Value &callee);
  void evalArguments(const CallExpr &expr, std::vector<Argument> &positional,
                     std::vector<KeywordArgument> &keywords);
  Value call(const Value &callee, std::vector<Argument> positional,
             std::vector<KeywordArgument> keywords, const SourceRange &range);
  Value callBuiltin(const BuiltinInfo &info, llvm::ArrayRef<Argument> positional,
                    llvm::ArrayRef<KeywordArgument> keywords, const SourceRange &range);
  /// isinstance, hasattr, getattr.
  Value callPython(const BoundArgs &args);
  bool isInstance(const Value &value, const Value &type, const SourceRange &range);
  Value callFunction(const FunctionDef &function, std::vector<Argument> positional,
                     std::vector<KeywordArgument> keywords, const SourceRange &range);
  /// Makes an instance of an aggregate: walks its __init__.
  Value construct(const Host &type, std::vector<Argument> positional,
                  std::vector<KeywordArgument> keywords, const SourceRange &range);
  Value callHost(const Host &host, llvm::ArrayRef<Argument> positional,
                 llvm::ArrayRef<KeywordArgument> keywords, const SourceRange &range);
  void bindParameters(const FunctionDef &function, std::vector<Argument> positional,
                      std::vector<KeywordArgument> keywords, const SourceRange &range,
                      Locals &locals);
  /// Walks the body of the current frame's function and returns its result.
  Value walkFunctionBody(const FunctionDef &function);
  /// Runs `walk` in the frame of a function that is called at `range`.
  template <typename Walk>
  auto inFunction(Frame &callee, const FunctionDef &function, const SourceRange &range, Walk walk);
  void enterFunction(Frame &frame, const FunctionDef &function);

  mlir::MLIRContext &context;
  const KernelRequest &request;
  Environment &environment;
  DiagnosticSink &sink;
  mlir::OpBuilder builder;
  Semantic semantic;
  Frame *frame = nullptr;
  uint64_t nextVersion = 1;
};

/// The nearest of `names` to a misspelt one as a help text, or "".
std::string didYouMean(llvm::StringRef name, llvm::ArrayRef<std::string> names);

/// Whether a tensor stands anywhere in `value`.
bool holdsTensor(const Value &value);

template <typename... Args>
[[noreturn]] void fail(Diag id, const SourceRange &range, Args &&...args) {
  throw CompileError(makeDiagnostic(id, range, std::forward<Args>(args)...));
}

} // namespace nereid::frontend

#endif // NEREID_LIB_FRONTEND_WALKER_H
