// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Typed syntax tree of a kernel function: the part of Python that the language
// accepts. Everything else becomes an Unsupported node, so that it is refused
// only where the compiler comes to it. Nodes are immutable once built and own
// their children.
#ifndef NEREID_FRONTEND_AST_H
#define NEREID_FRONTEND_AST_H

#include "nereid/Frontend/Semantic.h"
#include "nereid/Frontend/Value.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Casting.h"

#include <memory>
#include <string>
#include <vector>

namespace nereid::frontend {

// ---- expressions -----------------------------------------------------------

struct Expr {
  enum class Kind {
    Constant,
    Name,
    Binary,
    Bool,
    Unary,
    Compare,
    Call,
    Attribute,
    Subscript,
    Slice,
    Tuple,
    Conditional,
    FormattedString,
    Starred,
    Named,
    Comprehension,
    Unsupported,
  };
  const Kind kind;
  SourceRange range;

  virtual ~Expr() = default;

protected:
  Expr(Kind kind, SourceRange range) : kind(kind), range(std::move(range)) {}
};
using ExprPtr = std::unique_ptr<const Expr>;

/// Gives a node its kind, for llvm::cast and friends.
template <typename Base, typename Base::Kind K> struct Node : Base {
  explicit Node(SourceRange range) : Base(K, std::move(range)) {}
  static bool classof(const Base *node) { return node->kind == K; }
};
template <Expr::Kind K> using ExprNode = Node<Expr, K>;

/// None, True, 3, 2.5, "text".
struct ConstantExpr : ExprNode<Expr::Kind::Constant> {
  using Node::Node;
  Value value;
};

struct NameExpr : ExprNode<Expr::Kind::Name> {
  using Node::Node;
  std::string id;
};

struct BinaryExpr : ExprNode<Expr::Kind::Binary> {
  using Node::Node;
  BinaryOp op{};
  ExprPtr lhs, rhs;
};

/// `a and b and c` or `a or b or c`.
struct BoolExpr : ExprNode<Expr::Kind::Bool> {
  using Node::Node;
  bool isAnd = true;
  std::vector<ExprPtr> values;
};

struct UnaryExpr : ExprNode<Expr::Kind::Unary> {
  using Node::Node;
  UnaryOp op{};
  ExprPtr operand;
};

/// `left op0 right0 op1 right1 ...`.
struct CompareExpr : ExprNode<Expr::Kind::Compare> {
  using Node::Node;
  ExprPtr left;
  std::vector<CompareOp> ops;
  std::vector<ExprPtr> rights;
};

struct Keyword {
  std::string name; // empty for **mapping
  ExprPtr value;
  SourceRange range;
};

struct CallExpr : ExprNode<Expr::Kind::Call> {
  using Node::Node;
  ExprPtr callee;
  std::vector<ExprPtr> args; // may hold StarredExpr
  std::vector<Keyword> keywords;
};

struct AttributeExpr : ExprNode<Expr::Kind::Attribute> {
  using Node::Node;
  ExprPtr value;
  std::string name;
};

struct SubscriptExpr : ExprNode<Expr::Kind::Subscript> {
  using Node::Node;
  ExprPtr value, index;
};

/// `a:b:c` inside a subscript; absent parts are null.
struct SliceExpr : ExprNode<Expr::Kind::Slice> {
  using Node::Node;
  ExprPtr lower, upper, step;
};

/// A tuple or list display.
struct TupleExpr : ExprNode<Expr::Kind::Tuple> {
  using Node::Node;
  std::vector<ExprPtr> items;
};

/// `body if test else orelse`.
struct ConditionalExpr : ExprNode<Expr::Kind::Conditional> {
  using Node::Node;
  ExprPtr test, body, orelse;
};

/// An f-string: text, or a value with its conversion ('r', 's', 'a' or 0) and
/// format specification.
struct FormattedStringExpr : ExprNode<Expr::Kind::FormattedString> {
  using Node::Node;
  struct Part {
    std::string text; // when value is null
    ExprPtr value;
    char conversion = 0;
    ExprPtr spec; // may be null
  };
  std::vector<Part> parts;
};

/// `*values` in a call or a display.
struct StarredExpr : ExprNode<Expr::Kind::Starred> {
  using Node::Node;
  ExprPtr value;
};

/// `name := value`.
struct NamedExpr : ExprNode<Expr::Kind::Named> {
  using Node::Node;
  std::string name;
  ExprPtr value;
};

/// `[element for target in iterable if condition ...]`.
struct ComprehensionExpr : ExprNode<Expr::Kind::Comprehension> {
  using Node::Node;
  ExprPtr element, target, iterable;
  std::vector<ExprPtr> conditions;
};

/// Syntax that kernels cannot use: what it is, what to write instead.
struct UnsupportedExpr : ExprNode<Expr::Kind::Unsupported> {
  using Node::Node;
  std::string what, instead;
};

// ---- statements ------------------------------------------------------------

struct Stmt {
  enum class Kind {
    Expr,
    Assign,
    AugAssign,
    AnnAssign,
    If,
    For,
    While,
    With,
    Return,
    Assert,
    Pass,
    Break,
    Continue,
    Unsupported,
  };
  const Kind kind;
  SourceRange range;

  virtual ~Stmt() = default;

protected:
  Stmt(Kind kind, SourceRange range) : kind(kind), range(std::move(range)) {}
};
using StmtPtr = std::unique_ptr<const Stmt>;
using Block = std::vector<StmtPtr>;
template <Stmt::Kind K> using StmtNode = Node<Stmt, K>;

struct ExprStmt : StmtNode<Stmt::Kind::Expr> {
  using Node::Node;
  ExprPtr value;
};

/// `a = b = value`: several targets.
struct AssignStmt : StmtNode<Stmt::Kind::Assign> {
  using Node::Node;
  std::vector<ExprPtr> targets;
  ExprPtr value;
};

struct AugAssignStmt : StmtNode<Stmt::Kind::AugAssign> {
  using Node::Node;
  ExprPtr target;
  BinaryOp op{};
  ExprPtr value;
};

/// `target: annotation = value`.
struct AnnAssignStmt : StmtNode<Stmt::Kind::AnnAssign> {
  using Node::Node;
  ExprPtr target;
  bool isConstexpr = false; // other annotations say nothing
  ExprPtr value;            // null in `target: annotation`
};

struct IfStmt : StmtNode<Stmt::Kind::If> {
  using Node::Node;
  ExprPtr test;
  Block body, orelse;
};

struct ForStmt : StmtNode<Stmt::Kind::For> {
  using Node::Node;
  ExprPtr target, iterable;
  Block body, orelse;
};

struct WhileStmt : StmtNode<Stmt::Kind::While> {
  using Node::Node;
  ExprPtr test;
  Block body, orelse;
};

/// `with context as target, ...:`
struct WithStmt : StmtNode<Stmt::Kind::With> {
  using Node::Node;
  struct Item {
    ExprPtr context, target; // target may be null
  };
  std::vector<Item> items;
  Block body;
};

struct ReturnStmt : StmtNode<Stmt::Kind::Return> {
  using Node::Node;
  ExprPtr value; // may be null
};

struct AssertStmt : StmtNode<Stmt::Kind::Assert> {
  using Node::Node;
  ExprPtr test, message; // message may be null
};

struct PassStmt : StmtNode<Stmt::Kind::Pass> {
  using Node::Node;
};
struct BreakStmt : StmtNode<Stmt::Kind::Break> {
  using Node::Node;
};
struct ContinueStmt : StmtNode<Stmt::Kind::Continue> {
  using Node::Node;
};

struct UnsupportedStmt : StmtNode<Stmt::Kind::Unsupported> {
  using Node::Node;
  std::string what, instead;
};

// ---- functions -------------------------------------------------------------

struct Param {
  std::string name;
  SourceRange range;
  /// Annotated tl.constexpr: takes compile-time constants only.
  bool isConstexpr = false;
  /// `*args`: collects the remaining arguments in a tuple.
  bool isVariadic = false;
  /// Behind `*args` or a bare `*`.
  bool isKeywordOnly = false;
  bool hasDefault = false;
  Value defaultValue; // when hasDefault
};

struct FunctionDef {
  std::string name;
  SourceRange range; // of the `def` line
  SourceRange nameRange;
  std::vector<Param> params;
  Block body;
  /// Key of the function in the Environment that made it.
  int64_t id = -1;
};

// ---- questions -------------------------------------------------------------

/// Names that running `block` may bind, in the order of their first binding,
/// with where that is. Comprehension variables are not among them. With
/// `changed`, names whose items or attributes are assigned (`t[0] = x`), too.
struct AssignedName {
  std::string name;
  SourceRange range;
};
std::vector<AssignedName> assignedNames(const Block &block, bool changed = false);
/// The same of an expression: `name := value` in it.
std::vector<AssignedName> assignedNames(const Expr &expr);

/// The ways in which the body of a loop may leave it early: a `break` of this
/// loop, a `return` at any depth.
bool leavesLoop(const Block &body);

/// Kind of a node in Python's words: "function call", "for loop", ...
llvm::StringRef describe(const Expr &expr);

} // namespace nereid::frontend

#endif // NEREID_FRONTEND_AST_H
