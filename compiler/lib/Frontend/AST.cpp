// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which names a block of statements assigns, found by a scan before it is
// walked. The walker needs it for two things: what a loop has to carry, and
// which names are local to a function, so that a use before the first
// assignment is unbound instead of a global of that name. With `changed`, the
// roots of `t[i] = v` and `self.x = v` count, too: the name gets another value.
//
// The scan need not be exact, but may leave nothing out: a name too many is
// carried unchanged.
#include "nereid/Frontend/AST.h"

#include "nereid/Frontend/Environment.h"

namespace nereid::frontend {
namespace {

/// Collects the names that statements bind.
class AssignedNames {
public:
  explicit AssignedNames(bool changed) : changed(changed) {}
  std::vector<AssignedName> names;

  void visit(const Block &block) {
    for (const StmtPtr &stmt : block)
      visit(*stmt);
  }

private:
  bool changed;
  llvm::StringSet<> seen;

  void add(llvm::StringRef name, const SourceRange &range) {
    if (seen.insert(name).second)
      names.push_back({name.str(), range});
  }

  void target(const Expr &expr) {
    if (const auto *name = llvm::dyn_cast<NameExpr>(&expr))
      add(name->id, name->range);
    else if (const auto *tuple = llvm::dyn_cast<TupleExpr>(&expr))
      for (const ExprPtr &item : tuple->items)
        target(*item);
    else if (const auto *starred = llvm::dyn_cast<StarredExpr>(&expr))
      target(*starred->value);
    else if (const auto *element = llvm::dyn_cast<SubscriptExpr>(&expr))
      owner(*element->value);
    else if (const auto *attribute = llvm::dyn_cast<AttributeExpr>(&expr))
      owner(*attribute->value);
  }

  /// What an element or attribute target changes.
  void owner(const Expr &expr) {
    if (changed)
      target(expr);
  }

public:
  /// Bindings inside expressions: `name := value`.
  void value(const Expr *expr) {
    if (!expr)
      return;
    switch (expr->kind) {
    case Expr::Kind::Named: {
      const auto *named = llvm::cast<NamedExpr>(expr);
      value(named->value.get());
      add(named->name, named->range);
      break;
    }
    case Expr::Kind::Binary:
      value(llvm::cast<BinaryExpr>(expr)->lhs.get());
      value(llvm::cast<BinaryExpr>(expr)->rhs.get());
      break;
    case Expr::Kind::Bool:
      for (const ExprPtr &item : llvm::cast<BoolExpr>(expr)->values)
        value(item.get());
      break;
    case Expr::Kind::Unary:
      value(llvm::cast<UnaryExpr>(expr)->operand.get());
      break;
    case Expr::Kind::Compare:
      value(llvm::cast<CompareExpr>(expr)->left.get());
      for (const ExprPtr &item : llvm::cast<CompareExpr>(expr)->rights)
        value(item.get());
      break;
    case Expr::Kind::Call:
      value(llvm::cast<CallExpr>(expr)->callee.get());
      for (const ExprPtr &item : llvm::cast<CallExpr>(expr)->args)
        value(item.get());
      for (const Keyword &keyword : llvm::cast<CallExpr>(expr)->keywords)
        value(keyword.value.get());
      break;
    case Expr::Kind::Attribute:
      value(llvm::cast<AttributeExpr>(expr)->value.get());
      break;
    case Expr::Kind::Subscript:
      value(llvm::cast<SubscriptExpr>(expr)->value.get());
      value(llvm::cast<SubscriptExpr>(expr)->index.get());
      break;
    case Expr::Kind::Slice:
      value(llvm::cast<SliceExpr>(expr)->lower.get());
      value(llvm::cast<SliceExpr>(expr)->upper.get());
      value(llvm::cast<SliceExpr>(expr)->step.get());
      break;
    case Expr::Kind::Tuple:
      for (const ExprPtr &item : llvm::cast<TupleExpr>(expr)->items)
        value(item.get());
      break;
    case Expr::Kind::Conditional:
      value(llvm::cast<ConditionalExpr>(expr)->test.get());
      value(llvm::cast<ConditionalExpr>(expr)->body.get());
      value(llvm::cast<ConditionalExpr>(expr)->orelse.get());
      break;
    case Expr::Kind::Starred:
      value(llvm::cast<StarredExpr>(expr)->value.get());
      break;
    case Expr::Kind::FormattedString:
      for (const auto &part : llvm::cast<FormattedStringExpr>(expr)->parts)
        value(part.value.get());
      break;
    case Expr::Kind::Constant:
    case Expr::Kind::Name:
    case Expr::Kind::Comprehension:
    case Expr::Kind::Unsupported:
      break;
    }
  }

private:
  void visit(const Stmt &stmt) {
    switch (stmt.kind) {
    case Stmt::Kind::Expr:
      value(llvm::cast<ExprStmt>(stmt).value.get());
      break;
    case Stmt::Kind::Assign: {
      const auto &assign = llvm::cast<AssignStmt>(stmt);
      value(assign.value.get());
      for (const ExprPtr &t : assign.targets)
        target(*t);
      break;
    }
    case Stmt::Kind::AugAssign:
      value(llvm::cast<AugAssignStmt>(stmt).value.get());
      target(*llvm::cast<AugAssignStmt>(stmt).target);
      break;
    case Stmt::Kind::AnnAssign:
      value(llvm::cast<AnnAssignStmt>(stmt).value.get());
      target(*llvm::cast<AnnAssignStmt>(stmt).target);
      break;
    case Stmt::Kind::If:
      value(llvm::cast<IfStmt>(stmt).test.get());
      visit(llvm::cast<IfStmt>(stmt).body);
      visit(llvm::cast<IfStmt>(stmt).orelse);
      break;
    case Stmt::Kind::For:
      value(llvm::cast<ForStmt>(stmt).iterable.get());
      target(*llvm::cast<ForStmt>(stmt).target);
      visit(llvm::cast<ForStmt>(stmt).body);
      visit(llvm::cast<ForStmt>(stmt).orelse);
      break;
    case Stmt::Kind::While:
      value(llvm::cast<WhileStmt>(stmt).test.get());
      visit(llvm::cast<WhileStmt>(stmt).body);
      visit(llvm::cast<WhileStmt>(stmt).orelse);
      break;
    case Stmt::Kind::With:
      for (const WithStmt::Item &item : llvm::cast<WithStmt>(stmt).items) {
        value(item.context.get());
        if (item.target)
          target(*item.target);
      }
      visit(llvm::cast<WithStmt>(stmt).body);
      break;
    case Stmt::Kind::Return:
      value(llvm::cast<ReturnStmt>(stmt).value.get());
      break;
    case Stmt::Kind::Assert:
      value(llvm::cast<AssertStmt>(stmt).test.get());
      break;
    case Stmt::Kind::Pass:
    case Stmt::Kind::Break:
    case Stmt::Kind::Continue:
    case Stmt::Kind::Unsupported:
      break;
    }
  }
};

} // namespace

std::vector<AssignedName> assignedNames(const Block &block, bool changed) {
  AssignedNames collector(changed);
  collector.visit(block);
  return std::move(collector.names);
}

std::vector<AssignedName> assignedNames(const Expr &expr) {
  AssignedNames collector(/*changed=*/false);
  collector.value(&expr);
  return std::move(collector.names);
}

static bool leaves(const Block &block, bool isInnerLoop) {
  return llvm::any_of(block, [&](const StmtPtr &stmt) {
    if (stmt->kind == Stmt::Kind::Return || (stmt->kind == Stmt::Kind::Break && !isInnerLoop))
      return true;
    if (const auto *branch = llvm::dyn_cast<IfStmt>(stmt.get()))
      return leaves(branch->body, isInnerLoop) || leaves(branch->orelse, isInnerLoop);
    if (const auto *with = llvm::dyn_cast<WithStmt>(stmt.get()))
      return leaves(with->body, isInnerLoop);
    if (const auto *loop = llvm::dyn_cast<ForStmt>(stmt.get()))
      return leaves(loop->body, true);
    if (const auto *loop = llvm::dyn_cast<WhileStmt>(stmt.get()))
      return leaves(loop->body, true);
    return false;
  });
}

bool leavesLoop(const Block &body) { return leaves(body, false); }

llvm::StringRef describe(const Expr &expr) {
  switch (expr.kind) {
  case Expr::Kind::Constant:
    return "literal";
  case Expr::Kind::Name:
    return "name";
  case Expr::Kind::Binary:
    return "expression";
  case Expr::Kind::Bool:
    return "boolean expression";
  case Expr::Kind::Unary:
    return "expression";
  case Expr::Kind::Compare:
    return "comparison";
  case Expr::Kind::Call:
    return "function call";
  case Expr::Kind::Attribute:
    return "attribute";
  case Expr::Kind::Subscript:
    return "subscript";
  case Expr::Kind::Slice:
    return "slice";
  case Expr::Kind::Tuple:
    return "tuple";
  case Expr::Kind::Conditional:
    return "conditional expression";
  case Expr::Kind::FormattedString:
    return "f-string";
  case Expr::Kind::Starred:
    return "starred expression";
  case Expr::Kind::Named:
    return "assignment expression";
  case Expr::Kind::Comprehension:
    return "list comprehension";
  case Expr::Kind::Unsupported:
    return llvm::cast<UnsupportedExpr>(expr).what;
  }
  return "expression";
}

Environment::~Environment() = default;

void Environment::checkInterrupt() {}
std::optional<std::vector<std::string>> Environment::namedTupleFields(const Host &) {
  return std::nullopt;
}
std::optional<std::vector<AggregateField>> Environment::aggregateFields(const Host &) {
  return std::nullopt;
}
const FunctionDef *Environment::aggregateInit(const Host &) { return nullptr; }
std::optional<std::string> Environment::className(const Host &) { return std::nullopt; }
std::optional<std::string> Environment::format(const Value &, llvm::StringRef) {
  return std::nullopt;
}
std::vector<std::string> Environment::visibleNames(const FunctionDef &) { return {}; }
std::vector<std::string> Environment::attributeNames(const Host &) { return {}; }

} // namespace nereid::frontend
