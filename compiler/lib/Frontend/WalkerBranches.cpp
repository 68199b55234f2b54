// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Run-time and compile-time `if`, early returns, conditional expressions.
//
// Both branches are walked once into the regions of an scf.if without results;
// then it is known which variables and return values leave it, and the regions
// move to an scf.if with those results.
//
// The IR has no jumps, so whatever leaves a branch is a value (Flow, in
// Walker.h): a flag that says at run time whether control left, a number that
// says in which way when there are several, and what was returned.
//
//   if c: return a        one side left for certain: the statements behind the `if` are walked
//   ... rest ...          into the other side (walkIf), and no flag is needed
//
//   if c:                 a nested branch may have left: the outer scf.if yields a flag, and
//     if d: return a      the rest goes into scf.if on it (walkRest)
//   ... rest ...
//
// mergeBranches() is where two sides meet. For each name that either side
// knows:
//
//   unchanged on both                      as before the `if`
//   same form on both (unify)              one value, results of the scf.if
//   different, known before                an error: a variable keeps its type
//   different, or on one side only, new    dropped; a use behind says why
//   the other side has left                this side decides alone
//
// "Unchanged" is asked of a binding's version, which every assignment changes,
// not of its value. A side that has left yields anything (placeholder) for what
// is never read. One that left by `break` or `continue` does have a say: it
// hands on the variables of before the loop.
#include "Walker.h"

#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/Dialect/UB/IR/UBOps.h"

namespace nereid::frontend {

// ---- values that become one -------------------------------------------------

std::vector<bool> Walker::constantFields(const Tuple &tuple) {
  std::vector<bool> result(tuple.items.size(), false);
  if (tuple.aggregate >= 0) {
    std::vector<AggregateField> fields = *environment.aggregateFields(Host{tuple.aggregate, ""});
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = fields[i].isConstexpr;
  }
  return result;
}

// Tuples item by item; equal constants stay constants; tensors, and numbers that become tensors, of
// one type become a leaf. Two different numbers of one dtype do so as well: `x = 1` and `x = 2` on
// the two sides make a run-time value.
bool Walker::unify(const Value &a, const Value &b, const SourceRange &range, Unified &result,
                   Value &form) {
  if (a.is<Tuple>() && b.is<Tuple>()) {
    const Tuple &x = a.as<Tuple>(), &y = b.as<Tuple>();
    if (x.items.size() != y.items.size())
      return false;
    Tuple tuple;
    if (x.aggregate != y.aggregate)
      return false;
    tuple.aggregate = x.aggregate;
    tuple.names = x.names == y.names ? x.names : std::vector<std::string>();
    std::vector<bool> constants = constantFields(x);
    for (size_t i = 0; i < x.items.size(); ++i) {
      Value item;
      if (constants[i] && !identical(x.items[i], y.items[i]))
        return false;
      if (!unify(x.items[i], y.items[i], range, result, item))
        return false;
      tuple.items.push_back(std::move(item));
    }
    form = std::move(tuple);
    return true;
  }
  if (!a.isTensor() && !b.isTensor() && identical(a, b)) {
    form = a;
    return true;
  }
  auto typeOf = [&](const Value &value) -> std::optional<Type> {
    if (const auto *tensor = value.getIf<Tensor>())
      return tensor->type;
    if (value.isNumber())
      return semantic.naturalType(value, range);
    return std::nullopt;
  };
  std::optional<Type> x = typeOf(a), y = typeOf(b);
  if (!x || !y || *x != *y)
    return false;
  result.leaves.emplace_back(a, b);
  result.types.push_back(*x);
  form = Tensor{mlir::Value(), *x, range};
  return true;
}

Walker::Difference Walker::difference(const Value &a, const Value &b, const SourceRange &range,
                                      bool inLoop) {
  auto describe = [&](const Value &value) {
    if (const auto *function = value.getIf<Function>())
      return "jit function '" + function->def->name + "'";
    if (const auto *tuple = value.getIf<Tuple>(); tuple && tuple->aggregate >= 0)
      if (std::optional<std::string> name = environment.className(Host{tuple->aggregate, ""}))
        return "an instance of '" + *name + "'";
    return value.describe();
  };
  Difference result{"", describe(a), describe(b), ""};
  const std::string decide =
      inLoop ? "it is fixed at compile time: a run-time loop cannot change it"
             : "it is fixed at compile time: decide with an `if` on a tl.constexpr";
  const auto *x = a.getIf<Tuple>(), *y = b.getIf<Tuple>();
  if (x && y && x->aggregate == y->aggregate && x->items.size() == y->items.size()) {
    std::vector<bool> constants = constantFields(*x);
    for (size_t i = 0; i < x->items.size(); ++i) {
      bool isConstant = constants[i] && !identical(x->items[i], y->items[i]);
      if (!isConstant && unify(x->items[i], y->items[i], range))
        continue;
      Difference inner = difference(x->items[i], y->items[i], range, inLoop);
      bool isNamed = i < x->names.size() && x->names == y->names;
      inner.path = (isNamed ? "." + x->names[i] : "[" + std::to_string(i) + "]") + inner.path;
      if (isConstant)
        inner.help = "the field is annotated tl.constexpr, so its value is part of the type; "
                     "annotate a field that "
                     "varies at run time tl.tensor";
      return inner;
    }
    return result;
  }
  auto isInstance = [](const Tuple *tuple) { return tuple && tuple->aggregate >= 0; };
  if (isInstance(x) || isInstance(y))
    result.help = "both must be instances of one aggregate";
  else if (x && y)
    result.help = "both tuples need the same number of items";
  else if (x || y)
    result.help = "a tuple stays a tuple: make both one, of the same number of items";
  else if (a.is<Function>() || b.is<Function>() || a.is<Builtin>() || b.is<Builtin>() ||
           a.is<BoundMethod>() || b.is<BoundMethod>())
    result.help = std::string("a run-time value cannot say which function is called: ") +
                  (inLoop ? "call them by name inside the loop" : "call each inside its branch");
  else if (a.isTensor() && b.isTensor()) {
    Type s = a.as<Tensor>().type, t = b.as<Tensor>().type;
    if (s.isDescriptor() || t.isDescriptor())
      result.help = "both must be descriptors of the same block shape and dtype";
    else if (s.isBlockPointer() || t.isBlockPointer())
      result.help = "both must be block pointers of the same block shape and dtype";
    else if (s.shape() != t.shape())
      result.help =
          inLoop
              ? "start with a block of the final shape, e.g. `tl.zeros(shape, dtype)`"
              : "give both the same shape, e.g. with `tl.broadcast_to` or `tl.zeros(shape, dtype)`";
    else if (s.element().isPointer() || t.element().isPointer())
      result.help = s.element().isPointer() && t.element().isPointer()
                        ? "both must point to elements of one dtype; "
                          "`p.to(tl.pointer_type(tl.float32))` casts a pointer"
                        : "a pointer stays a pointer: give the other value another name";
  } else if (!(a.isTensor() || a.isNumber()) || !(b.isTensor() || b.isNumber())) {
    bool none = a.isNone() || b.isNone();
    result.help =
        none && !inLoop
            ? "None is known at compile time alone: decide with an `if` on a tl.constexpr, or give "
              "both a run-time value, e.g. a zero"
        : none ? "None is known at compile time alone: start with a run-time value, e.g. "
                 "`tl.zeros(shape, dtype)`"
               : decide;
  }
  return result;
}

void Walker::explainDifference(Diagnostic &diagnostic, const Value &a, const Value &b,
                               const SourceRange &range) {
  Difference found = difference(a, b, range, /*inLoop=*/false);
  if (!found.help.empty())
    diagnostic.help = found.help;
  if (!found.path.empty())
    diagnostic.notes.push_back(
        {range, "they differ in `" + found.path + "`: " + found.first + " and " + found.second});
}

std::optional<Unified> Walker::unify(const Value &a, const Value &b, const SourceRange &range) {
  Unified result;
  if (!unify(a, b, range, result, result.form))
    return std::nullopt;
  return result;
}

Value Walker::fill(const Value &form, mlir::ValueRange values, unsigned &next,
                   const SourceRange &range) {
  if (const auto *tuple = form.getIf<Tuple>()) {
    Tuple filled;
    filled.names = tuple->names;
    filled.aggregate = tuple->aggregate;
    for (const Value &item : tuple->items)
      filled.items.push_back(fill(item, values, next, range));
    return filled;
  }
  if (const auto *tensor = form.getIf<Tensor>())
    return Tensor{values[next++], tensor->type, range};
  return form;
}

mlir::Value Walker::placeholder(const Type &type, const SourceRange &range) {
  mlir::Location loc = semantic.loc(range);
  mlir::Type lowered = type.lower(&context);
  mlir::Type element = mlir::getElementTypeOrSelf(lowered);
  if (element.isIntOrFloat()) {
    mlir::TypedAttr zero = builder.getZeroAttr(lowered);
    return mlir::arith::ConstantOp::create(builder, loc, zero);
  }
  if (tt::isPointerLike(lowered) && !type.isBlockPointer()) {
    mlir::Type integer = builder.getI64Type();
    if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(lowered))
      integer = tensor.clone(integer);
    mlir::Value zero = mlir::arith::ConstantOp::create(builder, loc, builder.getZeroAttr(integer));
    return tt::IntToPtrOp::create(builder, loc, lowered, zero);
  }
  return mlir::ub::PoisonOp::create(builder, loc, lowered);
}

mlir::scf::IfOp Walker::replaceIf(mlir::scf::IfOp op, mlir::TypeRange results) {
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  auto replacement = mlir::scf::IfOp::create(builder, op.getLoc(), results, op.getCondition(),
                                             /*addThenBlock=*/false, /*addElseBlock=*/false);
  replacement.getThenRegion().takeBody(op.getThenRegion());
  replacement.getElseRegion().takeBody(op.getElseRegion());
  op.erase();
  return replacement;
}

// ---- if ---------------------------------------------------------------------

void Walker::walkInto(Branch &branch, llvm::function_ref<Flow()> walk) {
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(branch.block);
  Locals outer = std::exchange(frame->locals, std::move(branch.locals));
  branch.flow = walk();
  branch.locals = std::exchange(frame->locals, std::move(outer));
}

void Walker::walkInto(Branch &branch, llvm::ArrayRef<StmtPtr> block, bool isTail) {
  walkInto(branch, [&] { return walkBlock(block, isTail); });
}

Flow Walker::walkIf(const IfStmt &stmt, llvm::ArrayRef<StmtPtr> &rest, bool isTail) {
  bool bodyIsTail = isTail && rest.empty();
  Value test = eval(*stmt.test);
  if (!test.isTensor())
    return walkBlock(decide(test, stmt.test->range) ? stmt.body : stmt.orelse, bodyIsTail);

  Tensor condition = semantic.toCondition(test, stmt.test->range);
  auto op = mlir::scf::IfOp::create(builder, semantic.loc(stmt.range), mlir::TypeRange(),
                                    condition.handle,
                                    /*addThenBlock=*/true, /*addElseBlock=*/true);
  Locals before = frame->locals;
  Branch thenBranch{&op.getThenRegion().front(), before, {}},
      elseBranch{&op.getElseRegion().front(), before, {}};
  walkInto(thenBranch, stmt.body, bodyIsTail);
  walkInto(elseBranch, stmt.orelse, bodyIsTail);

  // When one branch has left, what follows belongs to the other.
  Branch *open = thenBranch.flow.leaves() && elseBranch.flow.falls()   ? &elseBranch
                 : elseBranch.flow.leaves() && thenBranch.flow.falls() ? &thenBranch
                                                                       : nullptr;
  if (open) {
    walkInto(*open, rest, isTail);
    rest = {};
  }
  bool isLast = open && isTail;
  return mergeBranches(op, thenBranch, elseBranch, isLast ? nullptr : &before, stmt.range);
}

Flow Walker::walkRest(Flow maybe, llvm::ArrayRef<StmtPtr> rest, bool isTail) {
  if (rest.empty())
    return maybe;
  auto op = mlir::scf::IfOp::create(builder, semantic.loc(rest.front()->range), mlir::TypeRange(),
                                    maybe.flag,
                                    /*addThenBlock=*/true, /*addElseBlock=*/true);
  Locals before = frame->locals;
  Branch left{&op.getThenRegion().front(), before, maybe},
      open{&op.getElseRegion().front(), before, {}};
  left.flow.kind = Flow::Kind::Leaves;
  walkInto(open, rest, isTail);
  return mergeBranches(op, left, open, isTail ? nullptr : &before, maybe.range);
}

mlir::Value Walker::exitTaken(const Flow &flow, unsigned exits, const SourceRange &range) {
  mlir::Location loc = semantic.loc(range);
  auto constant = [&](bool value) -> mlir::Value {
    return mlir::arith::ConstantOp::create(builder, loc, builder.getBoolAttr(value));
  };
  if (flow.falls() || !(flow.exits & exits))
    return constant(false);
  if ((flow.exits & ~exits) == 0)
    return flow.leaves() ? constant(true) : flow.flag;
  // The codes are bits.
  mlir::Value mask =
      mlir::arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(exits));
  mlir::Value zero = mlir::arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  mlir::Value hit = mlir::arith::AndIOp::create(builder, loc, flow.which, mask);
  mlir::Value taken =
      mlir::arith::CmpIOp::create(builder, loc, mlir::arith::CmpIPredicate::ne, hit, zero);
  return flow.leaves() ? taken : mlir::arith::AndIOp::create(builder, loc, taken, flow.flag);
}

Flow Walker::without(const Flow &flow, unsigned exits, const SourceRange &range) {
  if (flow.falls() || !(flow.exits & exits))
    return flow;
  Flow rest = flow;
  rest.exits &= ~exits;
  if (!rest.exits)
    return {};
  rest.kind = Flow::Kind::MayLeave;
  rest.flag = exitTaken(flow, rest.exits, range);
  return rest;
}

Flow Walker::mergeFlows(Branch &thenBranch, Branch &elseBranch,
                        std::vector<std::pair<Value, Value>> &leaves, std::vector<Type> &types,
                        const SourceRange &range) {
  Flow &a = thenBranch.flow, &b = elseBranch.flow;
  if (a.falls() && b.falls())
    return {};
  Flow merged;
  merged.kind = a.leaves() && b.leaves() ? Flow::Kind::Leaves : Flow::Kind::MayLeave;
  merged.exits = a.exits | b.exits;
  bool aHas = a.mayReturn(), bHas = b.mayReturn();
  merged.range = aHas || (!bHas && !a.falls()) ? a.range : b.range;
  if (!aHas && !bHas)
    return merged;
  // A side that does not return has no value: any does for it.
  std::optional<Unified> unified = unify(aHas ? a.value : b.value, bHas ? b.value : a.value, range);
  if (!unified) {
    Diagnostic diagnostic = makeDiagnostic(Diag::return_types_differ, b.range, b.value.describe(),
                                           frame->function->name, a.value.describe());
    diagnostic.notes.push_back({a.range, "the other `return`"});
    explainDifference(diagnostic, b.value, a.value, b.range);
    throw CompileError(diagnostic);
  }
  for (size_t i = 0; i < unified->leaves.size(); ++i) {
    auto &[x, y] = unified->leaves[i];
    leaves.emplace_back(aHas ? x : Value(), bHas ? y : Value());
    types.push_back(unified->types[i]);
  }
  merged.value = unified->form;
  return merged;
}

Flow Walker::mergeBranches(mlir::scf::IfOp op, Branch &thenBranch, Branch &elseBranch,
                           const Locals *before, const SourceRange &range) {
  // In a pair of leaves None stands for a value that is never read.
  std::vector<std::pair<Value, Value>> leaves;
  std::vector<Type> types;
  Flow merged = mergeFlows(thenBranch, elseBranch, leaves, types, range);
  // At the end of a function without results all paths have returned.
  if (!before && merged.kind == Flow::Kind::MayLeave && merged.value.isNone())
    merged.kind = Flow::Kind::Leaves;

  struct Variable {
    std::string name;
    Value form;
    SourceRange range;
    bool isConstexpr;
  };
  std::vector<Variable> variables;
  // A branch that has left has no say in what follows, but `break` and `continue`
  // hand on the variables of before the loop.
  auto hasSay = [&](const Branch &branch, const std::string &name) {
    return !branch.flow.leaves() || ((branch.flow.exits & ~ExitReturn) && frame->beforeLoop &&
                                     frame->beforeLoop->count(name));
  };

  Locals after;
  if (before) {
    std::set<std::string> names;
    for (const Locals *locals : {before, const_cast<const Locals *>(&thenBranch.locals),
                                 const_cast<const Locals *>(&elseBranch.locals)})
      for (const auto &[name, binding] : *locals)
        names.insert(name);
    for (const std::string &name : names) {
      auto find = [&](const Locals &locals) {
        auto found = locals.find(name);
        return found == locals.end() ? nullptr : &found->second;
      };
      const Binding *old = find(*before), *a = find(thenBranch.locals),
                    *b = find(elseBranch.locals);
      bool thenSays = hasSay(thenBranch, name), elseSays = hasSay(elseBranch, name);
      if (!thenSays && !elseSays)
        continue;
      if (!thenSays)
        a = b;
      if (!elseSays)
        b = a;
      if (!a || !b) {
        // A name that was dropped inside keeps its own reason.
        if ((a || b) && !old) {
          const Binding &only = a ? *a : *b;
          Diagnostic why = makeDiagnostic(Diag::name_of_one_branch, SourceRange(), name);
          why.notes.push_back({only.range, "it was assigned here"});
          frame->dropped.insert_or_assign(name, std::move(why));
        }
        continue;
      }
      if (old && a->version == old->version && b->version == old->version) {
        after[name] = *old;
        continue;
      }
      std::optional<Unified> unified;
      if (!(a->isConstexpr && b->isConstexpr) || identical(a->value, b->value))
        unified = unify(a->value, b->value, a->range);
      if (!unified) {
        const Binding &later = old && b->version == old->version ? *a : *b;
        const Binding &earlier = &later == a ? *b : *a;
        Difference found = difference(a->value, b->value, later.range, /*inLoop=*/false);
        Diagnostic why = makeDiagnostic(Diag::branch_types_differ, later.range, name + found.path,
                                        found.first, found.second);
        if (a->isConstexpr && b->isConstexpr)
          why.help = "a tl.constexpr has one value: decide with an `if` on constants, or leave the "
                     "annotation out";
        else if (!found.help.empty())
          why.help = found.help;
        why.notes.push_back({earlier.range, "the other definition of '" + name + "'"});
        if (old)
          throw CompileError(why);
        // A name that is new in both branches may be of no use behind them.
        frame->dropped.insert_or_assign(name, std::move(why));
        continue;
      }
      const Binding &last = old && b->version == old->version ? *a : *b;
      variables.push_back({name, unified->form, last.range, a->isConstexpr && b->isConstexpr});
      for (size_t i = 0; i < unified->leaves.size(); ++i) {
        auto &[x, y] = unified->leaves[i];
        leaves.emplace_back(thenSays ? x : Value(), elseSays ? y : Value());
        types.push_back(unified->types[i]);
      }
    }
  }

  // Results: whether control left, in which way, then the leaves.
  bool hasFlag = merged.kind == Flow::Kind::MayLeave;
  bool hasWhich = (merged.exits & (merged.exits - 1)) != 0;
  std::vector<mlir::Type> results;
  if (hasFlag)
    results.push_back(builder.getI1Type());
  if (hasWhich)
    results.push_back(builder.getI32Type());
  for (const Type &type : types)
    results.push_back(type.lower(&context));

  auto yield = [&](Branch &branch, bool isThen) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(branch.block);
    mlir::Location loc = semantic.loc(range);
    const Flow &flow = branch.flow;
    std::vector<mlir::Value> values;
    if (hasFlag)
      values.push_back(
          flow.kind == Flow::Kind::MayLeave
              ? flow.flag
              : mlir::arith::ConstantOp::create(builder, loc, builder.getBoolAttr(flow.leaves())));
    if (hasWhich)
      values.push_back(flow.which ? flow.which
                                  : mlir::arith::ConstantOp::create(
                                        builder, loc, builder.getI32IntegerAttr(flow.exits)));
    for (size_t i = 0; i < leaves.size(); ++i) {
      const Value &leaf = isThen ? leaves[i].first : leaves[i].second;
      values.push_back(leaf.isNone() ? placeholder(types[i], range)
                                     : semantic.toTensor(leaf, range).handle);
    }
    mlir::scf::YieldOp::create(builder, semantic.loc(range), values);
  };
  yield(thenBranch, true);
  yield(elseBranch, false);
  if (!results.empty())
    op = replaceIf(op, results);

  mlir::ValueRange values = op.getResults();
  unsigned next = 0;
  if (hasFlag)
    merged.flag = values[next++];
  if (hasWhich)
    merged.which = values[next++];
  if (merged.mayReturn())
    merged.value = fill(merged.value, values, next, merged.range);
  for (const Variable &variable : variables)
    after[variable.name] = Binding{fill(variable.form, values, next, variable.range),
                                   variable.range, variable.isConstexpr, nextVersion++};
  frame->locals = std::move(after);
  return merged;
}

// ---- a if c else b ------------------------------------------------------------

Value Walker::conditional(const ConditionalExpr &expr) {
  Value test = eval(*expr.test);
  if (!test.isTensor())
    return eval(decide(test, expr.test->range) ? *expr.body : *expr.orelse);

  Tensor condition = semantic.toCondition(test, expr.test->range);
  if (!assignedNames(*expr.body).empty() || !assignedNames(*expr.orelse).empty())
    return conditionalThatBinds(expr, condition);
  auto op = mlir::scf::IfOp::create(builder, semantic.loc(expr.range), mlir::TypeRange(),
                                    condition.handle,
                                    /*addThenBlock=*/true, /*addElseBlock=*/true);
  mlir::Block *blocks[] = {&op.getThenRegion().front(), &op.getElseRegion().front()};
  const Expr *arms[] = {expr.body.get(), expr.orelse.get()};
  Value values[2];
  for (int i = 0; i < 2; ++i) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(blocks[i]);
    values[i] = eval(*arms[i]);
  }
  std::optional<Unified> unified = unify(values[0], values[1], expr.range);
  if (!unified) {
    Diagnostic diagnostic = makeDiagnostic(Diag::conditional_types_differ, expr.range,
                                           values[0].describe(), values[1].describe());
    for (int i = 0; i < 2; ++i) {
      const auto *tensor = values[i].getIf<Tensor>();
      SourceRange place = tensor && tensor->range.isValid() ? tensor->range : arms[i]->range;
      diagnostic.notes.push_back({place, values[i].describe() + " is defined here"});
    }
    explainDifference(diagnostic, values[0], values[1], expr.range);
    throw CompileError(diagnostic);
  }
  std::vector<mlir::Type> results;
  for (const Type &type : unified->types)
    results.push_back(type.lower(&context));
  for (int i = 0; i < 2; ++i) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(blocks[i]);
    std::vector<mlir::Value> yielded;
    for (const auto &leaf : unified->leaves)
      yielded.push_back(
          semantic.toTensor(i == 0 ? leaf.first : leaf.second, arms[i]->range).handle);
    mlir::scf::YieldOp::create(builder, semantic.loc(expr.range), yielded);
  }
  if (!results.empty())
    op = replaceIf(op, results);
  unsigned next = 0;
  return fill(unified->form, op.getResults(), next, expr.range);
}

Value Walker::conditionalThatBinds(const ConditionalExpr &expr, const Tensor &condition) {
  // Its value is one more variable, of a name that no source can have.
  const std::string result = "<value>";
  auto op = mlir::scf::IfOp::create(builder, semantic.loc(expr.range), mlir::TypeRange(),
                                    condition.handle,
                                    /*addThenBlock=*/true, /*addElseBlock=*/true);
  Locals before = frame->locals;
  before.erase(result);
  Branch branches[] = {{&op.getThenRegion().front(), before, {}},
                       {&op.getElseRegion().front(), before, {}}};
  const Expr *arms[] = {expr.body.get(), expr.orelse.get()};
  Value values[2];
  for (int i = 0; i < 2; ++i)
    walkInto(branches[i], [&]() -> Flow {
      Value value = eval(*arms[i]);
      values[i] = value;
      frame->locals[result] = Binding{std::move(value), arms[i]->range, false, nextVersion++};
      return {};
    });
  mergeBranches(op, branches[0], branches[1], &before, expr.range);
  auto merged = frame->locals.find(result);
  if (merged == frame->locals.end()) {
    Diagnostic diagnostic = makeDiagnostic(Diag::conditional_types_differ, expr.range,
                                           values[0].describe(), values[1].describe());
    explainDifference(diagnostic, values[0], values[1], expr.range);
    throw CompileError(diagnostic);
  }
  Value value = merged->second.value;
  frame->locals.erase(merged);
  return value;
}

} // namespace nereid::frontend
