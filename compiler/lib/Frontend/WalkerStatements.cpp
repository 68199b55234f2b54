// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements other than branches and loops.
//
// walkBlock() is the spine: statement after statement, until one has left for
// certain (what stands behind is never reached) or may have left (what stands
// behind goes under its flag, walkRest). A statement may also take the ones
// behind it into one of its branches, which is why walk() gets the rest of the
// block.
//
// Nothing changes in place: blocks and tuples are values. `t[i] = v`, `self.x =
// v` and `b[i, j] = v` bind the name at the root of the target to a changed
// copy, from the inside out, so two names for one tuple never change together.
// For a block, the copy takes the new element where all positions equal the
// indices, which masks for each dimension say.
#include "Walker.h"
#include "nereid/Support/AttributeNames.h"

#include "nereid/Dialect/Ascend/IR/Ascend.h"
#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace nereid::frontend {

void Walker::extension(const char *what, const char *instead, const SourceRange &range) {
  if (request.language.portable)
    fail(Diag::not_portable, range, what, instead);
}

Flow Walker::walkBlock(llvm::ArrayRef<StmtPtr> block, bool isTail) {
  while (!block.empty()) {
    const Stmt &stmt = *block.front();
    block = block.drop_front();
    Flow flow = walk(stmt, block, isTail);
    if (flow.leaves())
      return flow; // what stands behind is never reached
    if (flow.kind == Flow::Kind::MayLeave)
      return walkRest(std::move(flow), block, isTail);
  }
  return {};
}

Flow Walker::walk(const Stmt &stmt, llvm::ArrayRef<StmtPtr> &rest, bool isTail) {
  environment.checkInterrupt();
  auto leave = [&](Exit exit) {
    Flow flow;
    flow.kind = Flow::Kind::Leaves;
    flow.exits = exit;
    flow.range = stmt.range;
    return flow;
  };
  switch (stmt.kind) {
  case Stmt::Kind::Expr:
    walkExpression(*llvm::cast<ExprStmt>(stmt).value);
    return {};
  case Stmt::Kind::Assign: {
    const auto &assignment = llvm::cast<AssignStmt>(stmt);
    if (assignment.targets.size() > 1)
      extension("an assignment to several targets", "assign to one after the other", stmt.range);
    Value value = eval(*assignment.value);
    for (const ExprPtr &target : assignment.targets)
      assign(*target, value, assignment.value->range);
    return {};
  }
  case Stmt::Kind::AugAssign: {
    const auto &assignment = llvm::cast<AugAssignStmt>(stmt);
    Value before = eval(*assignment.target);
    Value value = evalBinary(assignment.op, before, eval(*assignment.value), stmt.range);
    assign(*assignment.target, value, stmt.range);
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
    return walkWhile(llvm::cast<WhileStmt>(stmt));
  case Stmt::Kind::With:
    return walkWith(llvm::cast<WithStmt>(stmt));
  case Stmt::Kind::Return: {
    if (frame->beforeLoop)
      extension("`return` inside a loop",
                "keep the result in a variable and return it after the loop", stmt.range);
    Flow flow = leave(ExitReturn);
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
    extension("`break`",
              "put the condition in a `while`, or make the rest of the body conditional with `if`",
              stmt.range);
    return leave(ExitBreak);
  case Stmt::Kind::Continue:
    extension("`continue`", "make the rest of the body conditional with `if`", stmt.range);
    return leave(ExitContinue);
  case Stmt::Kind::Unsupported: {
    const auto &unsupported = llvm::cast<UnsupportedStmt>(stmt);
    fail(Diag::unsupported_syntax, stmt.range, unsupported.what, unsupported.instead);
  }
  }
  llvm_unreachable("all kinds of statements are handled");
}

void Walker::walkExpression(const Expr &expr) {
  // A docstring is evaluated like any constant, to nothing.
  const auto *called = llvm::dyn_cast<CallExpr>(&expr);
  if (!called) {
    eval(expr);
    return;
  }
  Value callee = eval(*called->callee);
  const BuiltinInfo *info = nullptr;
  if (const auto *builtin = callee.getIf<Builtin>())
    info = builtin->info;
  else if (const auto *method = callee.getIf<BoundMethod>())
    info = method->info;
  if (info && llvm::StringRef(info->name) == "advance")
    fail(Diag::result_unused, expr.range, std::string(info->module) + "." + info->name,
         "it changes nothing in place: write `p = tl.advance(p, offsets)`");
  evalCall(*called, callee);
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
    if (!tuple || tuple->aggregate >= 0)
      fail(Diag::unpack_kind, range, value.describe());
    size_t count = names->items.size(), starred = count;
    for (size_t i = 0; i < count; ++i)
      if (names->items[i]->kind == Expr::Kind::Starred)
        starred = i; // Python accepts one
    if (starred == count ? tuple->items.size() != count : tuple->items.size() + 1 < count)
      fail(Diag::unpack_count, target.range,
           starred == count ? std::to_string(count) : "at least " + std::to_string(count - 1),
           tuple->items.size());
    if (starred == count) {
      for (size_t i = 0; i < count; ++i)
        assign(*names->items[i], tuple->items[i], range);
      return;
    }
    extension("a starred name on the left of an assignment",
              "take the rest by a slice: `b = t[1:]`", names->items[starred]->range);
    size_t behind = count - starred - 1, rest = tuple->items.size() - count + 1;
    for (size_t i = 0; i < starred; ++i)
      assign(*names->items[i], tuple->items[i], range);
    Tuple middle;
    middle.items.assign(tuple->items.begin() + starred, tuple->items.begin() + starred + rest);
    assign(*llvm::cast<StarredExpr>(*names->items[starred]).value, middle, range);
    for (size_t i = 0; i < behind; ++i)
      assign(*names->items[starred + 1 + i], tuple->items[starred + rest + i], range);
    return;
  }
  if (const auto *element = llvm::dyn_cast<SubscriptExpr>(&target))
    return assignItem(*element, value, range);
  if (const auto *attribute = llvm::dyn_cast<AttributeExpr>(&target))
    return assignAttribute(*attribute, value, range);
  if (const auto *unsupported = llvm::dyn_cast<UnsupportedExpr>(&target))
    fail(Diag::unsupported_syntax, target.range, unsupported->what, unsupported->instead);
  fail(Diag::unsupported_syntax, target.range, "this target of an assignment", "assign to names");
}

/// The name at the root of `a.b[0].c`; null for what is no variable.
static const NameExpr *rootName(const Expr &expr) {
  if (const auto *element = llvm::dyn_cast<SubscriptExpr>(&expr))
    return rootName(*element->value);
  if (const auto *attribute = llvm::dyn_cast<AttributeExpr>(&expr))
    return rootName(*attribute->value);
  return llvm::dyn_cast<NameExpr>(&expr);
}

void Walker::assignItem(const SubscriptExpr &target, const Value &value, const SourceRange &range) {
  const NameExpr *root = rootName(*target.value);
  if (!root || !frame->locals.count(root->id))
    fail(Diag::assign_target, target.range, "elements");
  extension("an assignment to an element", "build a new tuple", target.range);
  Value owner = eval(*target.value), index = eval(*target.index);
  if (const auto *tuple = owner.getIf<Tuple>(); tuple && tuple->aggregate < 0) {
    if (index.is<Slice>())
      fail(Diag::unsupported_syntax, target.range, "an assignment to a slice",
           "assign the items one by one");
    Tuple changed = *tuple;
    size_t at = tupleIndex(changed, index, target.index->range);
    changed.items[at] = materialize(value, range);
    return assign(*target.value, std::move(changed), range);
  }
  const auto *block = owner.getIf<Tensor>();
  if (!block || !block->type.isBlock())
    fail(Diag::assign_target, target.range, "elements");
  assign(*target.value, insertElement(*block, index, value, target.range), range);
}

Value Walker::insertElement(const Tensor &block, const Value &index, const Value &value,
                            const SourceRange &range) {
  Tuple indices;
  if (const auto *several = index.getIf<Tuple>())
    indices = *several;
  else
    indices.items.push_back(index);
  llvm::ArrayRef<int64_t> shape = block.type.shape();
  auto isInteger = [](const Value &item) {
    const auto *tensor = item.getIf<Tensor>();
    return item.is<Int>() || (tensor && tensor->type.isScalar() && tensor->type.isInteger());
  };
  if (indices.items.size() != shape.size() || !llvm::all_of(indices.items, isInteger))
    fail(Diag::element_index, range, shape.size(), index.describe());
  // The block, but for the element where all positions are the indices.
  Value hit;
  for (size_t d = 0; d < shape.size(); ++d) {
    Value at = indices.items[d];
    if (const Int *constant = at.getIf<Int>()) {
      if (*constant < -shape[d] || *constant >= shape[d])
        fail(Diag::tuple_index_range, range, toString(*constant), shape[d]);
      if (*constant < 0)
        at = *constant + shape[d];
    }
    Tensor row = semantic.compare(CompareOp::Eq, semantic.arange(0, shape[d], range), at, range)
                     .as<Tensor>();
    for (size_t i = 0; i < shape.size(); ++i)
      if (i != d)
        row = semantic.expandDims(row, int64_t(i), range);
    hit = d == 0 ? Value(row) : semantic.logical(true, hit, row, range);
  }
  Tensor element = semantic.toTensor(value, range);
  if (!element.type.isScalar() && !element.type.isPointer())
    fail(Diag::element_value, range, element.type.str());
  element = value.isNumber() ? semantic.constant(value, block.type.element(), range)
                             : semantic.cast(element, block.type.element(), range);
  return semantic.select(semantic.broadcastTo(hit.as<Tensor>(), shape, range),
                         semantic.splat(element, shape, range), block, range);
}

void Walker::assignAttribute(const AttributeExpr &target, const Value &value,
                             const SourceRange &range) {
  const NameExpr *root = rootName(*target.value);
  Value owner = root && frame->locals.count(root->id) ? eval(*target.value) : Value();
  const auto *tuple = owner.getIf<Tuple>();
  if (!tuple || tuple->aggregate < 0) {
    if (tuple && !tuple->names.empty())
      fail(Diag::unsupported_syntax, target.range, "an assignment to a field of a named tuple",
           "named tuples never change: build a new one, or use an aggregate");
    fail(Diag::assign_target, target.range, "attributes");
  }
  if (!frame->isInit)
    extension("an assignment to a field outside `__init__`", "return a new aggregate",
              target.range);
  auto found = llvm::find(tuple->names, target.name);
  if (found == tuple->names.end())
    fail(Diag::unknown_attribute, target.range, owner.describe(), target.name,
         didYouMean(target.name, tuple->names));
  Tuple changed = *tuple;
  size_t at = found - tuple->names.begin();
  AggregateField field = environment.aggregateFields(Host{tuple->aggregate, ""})->at(at);
  Value stored = value;
  if (field.isConstexpr) {
    if (holdsTensor(value))
      fail(Diag::constexpr_expected, range, target.name, value.describe());
    if (!frame->isInit && !identical(changed.items[at], value))
      fail(Diag::constexpr_reassigned, target.range, target.name);
  } else {
    stored = materialize(value, range);
    if (field.isTensor && !stored.isTensor())
      fail(Diag::field_kind, target.range, target.name, "tl.tensor", stored.describe());
  }
  changed.items[at] = std::move(stored);
  assign(*target.value, std::move(changed), range);
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
  // On a run-time value the annotation has no effect: where the name has to be
  // known at compile time, the error says that it is not.
  if (holdsTensor(value))
    return assign(*stmt.target, value, stmt.value->range);
  bind(name->id, std::move(value), name->range, /*isConstexpr=*/true);
}

Flow Walker::walkWith(const WithStmt &stmt) {
  const WithStmt::Item &item = stmt.items.front();
  const auto *call = llvm::dyn_cast<CallExpr>(item.context.get());
  Value callee;
  try {
    if (call)
      callee = eval(*call->callee);
  } catch (const CompileError &) {
    // Whatever it is, it is no scope.
  }
  const auto *builtin = callee.getIf<Builtin>();
  if (stmt.items.size() == 1 && builtin &&
      llvm::StringRef(builtin->info->name) == "simt_exec_region")
    return walkThreadRegion(stmt, *call);
  if (stmt.items.size() != 1 || !builtin || llvm::StringRef(builtin->info->name) != "scope")
    fail(Diag::unsupported_syntax, item.context->range, "`with` over anything but `al.scope(...)`",
         "write its body without it");
  if (item.target)
    fail(Diag::unsupported_syntax, item.target->range, "`as` after al.scope",
         "leave it out: a scope has no value");
  std::vector<Argument> positional;
  std::vector<KeywordArgument> keywords;
  evalArguments(*call, positional, keywords);
  if (positional.size() > 1)
    fail(Diag::surplus_argument, positional[1].range, "al.scope", 1, positional.size(),
         "core_mode, **hints");
  std::optional<Argument> mode;
  if (!positional.empty())
    mode = positional.front();
  for (const KeywordArgument &keyword : keywords) {
    if (keyword.name == "core_mode")
      mode = Argument{keyword.value, keyword.range};
    else if (holdsTensor(keyword.value)) // the others are hints for one compiler
      fail(Diag::not_constexpr, keyword.range, keyword.name, "al.scope", keyword.value.describe());
  }
  if (!mode)
    fail(Diag::missing_argument, call->range, "al.scope", "core_mode", "core_mode, **hints");
  const auto *text = mode->value.getIf<std::string>();
  if (!text || (*text != "cube" && *text != "vector"))
    fail(Diag::bad_string, mode->range, "core_mode", text ? *text : mode->value.describe(),
         "al.scope", "'cube', 'vector'");
  return *text == "cube" && request.language.profile->subVecNum > 1 ? walkCubeScope(stmt)
                                                                    : walkBlock(stmt.body);
}

/// Code of single threads. All of them meet before and after it.
Flow Walker::walkThreadRegion(const WithStmt &stmt, const CallExpr &call) {
  std::vector<Argument> positional;
  std::vector<KeywordArgument> keywords;
  evalArguments(call, positional, keywords);
  if (!positional.empty() || !keywords.empty())
    fail(Diag::surplus_argument, call.range, "dl.simt_exec_region", 0,
         positional.size() + keywords.size(), "");
  auto extra = [&](const char *name, std::vector<Argument> args) {
    return callBuiltin(*findBuiltin("language_extra", name), args, {}, call.range);
  };
  extra("__syncthreads", {});
  if (const auto &target = stmt.items.front().target) {
    Argument axis{Int(0), call.range};
    Tuple numbers;
    numbers.items = {extra("tid", {axis}), extra("ntid", {axis})};
    assign(*target, numbers, call.range);
  }
  Flow flow = walkBlock(stmt.body);
  if (flow.falls())
    extra("__syncthreads", {});
  return flow;
}

/// An AI core has one cube core and several vector cores; here each vector core
/// runs the program. What the cube core computes, all of them compute; what it
/// writes must be written once.
Flow Walker::walkCubeScope(const WithStmt &stmt) {
  mlir::Location loc = semantic.loc(stmt.range);
  if (auto function = builder.getInsertionBlock()->getParentOp()->getParentOfType<tt::FuncOp>())
    function->setAttr(attr::cubeScope, builder.getUnitAttr());
  else if (auto function = llvm::dyn_cast<tt::FuncOp>(builder.getInsertionBlock()->getParentOp()))
    function->setAttr(attr::cubeScope, builder.getUnitAttr());
  mlir::Value id = ascend::GetSubVecIdOp::create(builder, loc, builder.getI64Type());
  mlir::Value zero = mlir::arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
  mlir::Value isFirst =
      mlir::arith::CmpIOp::create(builder, loc, mlir::arith::CmpIPredicate::eq, id, zero);
  auto op = mlir::scf::IfOp::create(builder, loc, mlir::TypeRange(), isFirst, /*addThenBlock=*/true,
                                    /*addElseBlock=*/false);
  Locals before = frame->locals;
  Branch branch{&op.getThenRegion().front(), before, {}};
  if (!branch.block->empty())
    branch.block->back().erase();
  walkInto(branch, stmt.body, false);
  bool writes = false;
  op.walk([&](mlir::Operation *inner) {
    auto effects = llvm::dyn_cast<mlir::MemoryEffectOpInterface>(inner);
    writes |= (effects && effects.hasEffect<mlir::MemoryEffects::Write>()) ||
              (!effects && !inner->hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>() &&
               !mlir::isMemoryEffectFree(inner));
  });
  if (!writes) {
    mlir::Block *outer = op->getBlock();
    outer->getOperations().splice(op->getIterator(), branch.block->getOperations());
    op.erase();
    frame->locals = std::move(branch.locals);
    return branch.flow;
  }
  if (!branch.flow.falls())
    fail(Diag::unsupported_syntax, branch.flow.range, "leaving a cube scope that writes memory",
         "let control reach the end of the scope");
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(branch.block);
  mlir::scf::YieldOp::create(builder, loc);
  for (const auto &[name, binding] : branch.locals) {
    auto old = before.find(name);
    if (old != before.end() && old->second.version == binding.version)
      continue;
    Diagnostic why = makeDiagnostic(Diag::name_of_cube_scope, SourceRange(), name);
    why.notes.push_back({binding.range, "it was assigned here"});
    drop(name, std::move(why));
  }
  return {};
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
