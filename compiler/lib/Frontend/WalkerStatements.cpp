// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements other than branches and loops.
#include "Walker.h"

namespace nereid::frontend {

Flow Walker::walkBlock(llvm::ArrayRef<StmtPtr> block, bool isTail) {
  while (!block.empty()) {
    const Stmt &stmt = *block.front();
    block = block.drop_front();
    Flow flow = walk(stmt, block, isTail);
    if (flow.kind == Flow::Kind::Returns)
      return flow; // what stands behind is never reached
    if (flow.kind == Flow::Kind::MayReturn)
      return walkRest(std::move(flow), block, isTail);
  }
  return {};
}

Flow Walker::walk(const Stmt &stmt, llvm::ArrayRef<StmtPtr> &rest, bool isTail) {
  switch (stmt.kind) {
  case Stmt::Kind::Expr:
    // A docstring is evaluated like any constant, to nothing.
    eval(*llvm::cast<ExprStmt>(stmt).value);
    return {};
  case Stmt::Kind::Assign: {
    const auto &assignment = llvm::cast<AssignStmt>(stmt);
    Value value = eval(*assignment.value);
    for (const ExprPtr &target : assignment.targets)
      assign(*target, value, assignment.value->range);
    return {};
  }
  case Stmt::Kind::AugAssign: {
    const auto &assignment = llvm::cast<AugAssignStmt>(stmt);
    const auto *name = llvm::dyn_cast<NameExpr>(assignment.target.get());
    if (!name)
      fail(Diag::assign_target, assignment.target->range,
           assignment.target->kind == Expr::Kind::Subscript ? "elements" : "attributes");
    Value before = lookup(*name);
    Value value = evalBinary(assignment.op, before, eval(*assignment.value), stmt.range);
    assign(*name, value, stmt.range);
    return {};
  }
  case Stmt::Kind::AnnAssign:
    walkAnnAssign(llvm::cast<AnnAssignStmt>(stmt));
    return {};
  case Stmt::Kind::If:
    return walkIf(llvm::cast<IfStmt>(stmt), rest, isTail);
  case Stmt::Kind::For:
    return walkFor(llvm::cast<ForStmt>(stmt));
  case Stmt::Kind::While:
    walkWhile(llvm::cast<WhileStmt>(stmt));
    return {};
  case Stmt::Kind::Return: {
    if (frame->loopDepth != 0)
      fail(Diag::return_in_loop, stmt.range);
    Flow flow;
    flow.kind = Flow::Kind::Returns;
    flow.range = stmt.range;
    if (const Expr *value = llvm::cast<ReturnStmt>(stmt).value.get())
      flow.value = eval(*value);
    return flow;
  }
  case Stmt::Kind::Assert:
    walkAssert(llvm::cast<AssertStmt>(stmt));
    return {};
  case Stmt::Kind::Pass:
    return {};
  case Stmt::Kind::Break:
    fail(Diag::unsupported_syntax, stmt.range, "`break`",
         "put the condition in a `while`, or make the rest of the body conditional with `if`");
  case Stmt::Kind::Continue:
    fail(Diag::unsupported_syntax, stmt.range, "`continue`", "make the rest of the body conditional with `if`");
  case Stmt::Kind::Unsupported: {
    const auto &unsupported = llvm::cast<UnsupportedStmt>(stmt);
    fail(Diag::unsupported_syntax, stmt.range, unsupported.what, unsupported.instead);
  }
  }
  llvm_unreachable("all kinds of statements are handled");
}

Value Walker::materialize(const Value &value, const SourceRange &range) {
  return value.isNumber() ? Value(semantic.toTensor(value, range)) : value;
}

void Walker::assign(const Expr &target, const Value &value, const SourceRange &range) {
  if (const auto *name = llvm::dyn_cast<NameExpr>(&target)) {
    if (frame->declaredConstexpr.erase(name->id)) {
      if (holdsTensor(value))
        fail(Diag::constexpr_expected, range, name->id, value.describe());
      return bind(name->id, value, name->range, /*isConstexpr=*/true);
    }
    return bind(name->id, materialize(value, range), name->range);
  }
  if (const auto *names = llvm::dyn_cast<TupleExpr>(&target)) {
    const auto *tuple = value.getIf<Tuple>();
    if (!tuple)
      fail(Diag::unpack_kind, range, value.describe());
    for (const ExprPtr &item : names->items)
      if (item->kind == Expr::Kind::Starred)
        fail(Diag::unsupported_syntax, item->range, "a starred name on the left of an assignment",
             "take the rest by a slice: `b = t[1:]`");
    if (tuple->items.size() != names->items.size())
      fail(Diag::unpack_count, target.range, names->items.size(), tuple->items.size());
    for (size_t i = 0; i < names->items.size(); ++i)
      assign(*names->items[i], tuple->items[i], range);
    return;
  }
  if (target.kind == Expr::Kind::Subscript)
    fail(Diag::assign_target, target.range, "elements");
  if (target.kind == Expr::Kind::Attribute)
    fail(Diag::assign_target, target.range, "attributes");
  if (const auto *unsupported = llvm::dyn_cast<UnsupportedExpr>(&target))
    fail(Diag::unsupported_syntax, target.range, unsupported->what, unsupported->instead);
  fail(Diag::unsupported_syntax, target.range, "this target of an assignment", "assign to names");
}

void Walker::walkAnnAssign(const AnnAssignStmt &stmt) {
  const auto *name = llvm::dyn_cast<NameExpr>(stmt.target.get());
  if (!stmt.isConstexpr) {
    if (stmt.value)
      assign(*stmt.target, eval(*stmt.value), stmt.value->range);
    return;
  }
  if (!name)
    fail(Diag::unsupported_syntax, stmt.target->range, "an annotation of anything but a name", "");
  if (!stmt.value) {
    frame->declaredConstexpr.insert(name->id);
    return;
  }
  Value value = eval(*stmt.value);
  if (holdsTensor(value))
    fail(Diag::constexpr_expected, stmt.value->range, name->id, value.describe());
  bind(name->id, std::move(value), name->range, /*isConstexpr=*/true);
}

void Walker::walkAssert(const AssertStmt &stmt) {
  const BuiltinInfo *info = findBuiltin("tl", "device_assert");
  if (!info)
    fail(Diag::unknown_name, stmt.range, "tl.device_assert", "");
  std::vector<Argument> args;
  args.push_back({eval(*stmt.test), stmt.test->range});
  if (stmt.message)
    args.push_back({eval(*stmt.message), stmt.message->range});
  callBuiltin(*info, args, {}, stmt.range);
}

} // namespace nereid::frontend
