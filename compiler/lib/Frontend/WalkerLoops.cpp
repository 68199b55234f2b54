// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `for` over range, tl.range and tl.static_range; `while`.
//
// Four forms, from the cheapest that will do:
//
//   the range or tuple is constant (tl.static_range)   the body is walked once per value; no loop
//   `for` that nothing leaves                          scf.for
//   `while` that nothing leaves                        scf.while: test in the first region, body
//                                                      in the second
//   either with `break` or `return` in it, and a        scf.while: a whole round in the first
//   `while` whose test binds names                     region, nothing in the second
//
// Which variables a loop carries has to be known before its body is walked,
// since they are the loop's operands. So the tree is scanned for names that the
// body assigns (assignedNames); those with a value before the loop are carried,
// whether or not they really change. A name that is new in the body has no
// value when there is no round: it is dropped, with the reason.
//
//   before     acc = tl.zeros(...)     its value is `init`, its form (Carried::form) has a
//                                      placeholder for each tensor in it
//   in a round                         the form filled with the region's arguments (bindCarried)
//   at its end                         whatever `acc` is now must have that form (yieldedValues)
//   behind                             the form filled with the loop's results (leaveLoop)
//
// A form may be a tuple or an aggregate, of which only the tensors travel;
// constants in it must stay what they are. Numbers become tensors at the loop's
// begin: what a variable is cannot differ between the first round and the
// others.
//
// A `for` that may be left counts its rounds, as its variable could overflow
// behind the last one. What a loop returns is known only when it was walked, so
// it is drafted as an scf.while without results and made again with them.
#include "Walker.h"

namespace nereid::frontend {
namespace {

constexpr int64_t maxRepetitions = 1 << 16;

/// Argument `name` of a call, or null when the row has no such parameter.
const Value *argument(const BoundArgs &args, llvm::StringRef name, SourceRange *range = nullptr) {
  llvm::ArrayRef<Parameter> params = parameters(args.info);
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i].name == name) {
      if (range)
        *range = args.ranges[i];
      return &args.values[i];
    }
  return nullptr;
}

struct LoopRange {
  Value start = Int(0), stop, step = Int(1);
  SourceRange startRange, stopRange, stepRange;
};

/// range(stop), range(start, stop), range(start, stop, step).
LoopRange loopRange(const BoundArgs &args) {
  LoopRange range;
  range.startRange = range.stepRange = args.range;
  const Value &first = args.values[0], &second = args.values[1];
  if (second.isNone()) {
    range.stop = first;
    range.stopRange = args.ranges[0];
  } else {
    range.start = first;
    range.startRange = args.ranges[0];
    range.stop = second;
    range.stopRange = args.ranges[1];
  }
  SourceRange stepRange;
  if (const Value *step = argument(args, "step", &stepRange); step && !step->isNone()) {
    range.step = *step;
    range.stepRange = stepRange;
  }
  return range;
}

} // namespace

// ---- carried variables ---------------------------------------------------------

std::vector<Walker::Carried> Walker::carriedVariables(std::vector<AssignedName> names,
                                                      const NameExpr *counter,
                                                      const Type &counterType,
                                                      std::vector<mlir::Value> &inits) {
  if (counter) {
    // The counter is assigned in every round. When the name has a value of its
    // type before the loop, it has one after it, too.
    llvm::erase_if(names,
                   [&](const AssignedName &assigned) { return assigned.name == counter->id; });
    auto local = frame->locals.find(counter->id);
    if (local != frame->locals.end() &&
        (local->second.value.isTensor() || local->second.value.isNumber()) &&
        semantic.toTensor(local->second.value, local->second.range).type == counterType)
      names.push_back({counter->id, counter->range});
  }
  std::vector<Carried> carried;
  for (const AssignedName &assigned : names) {
    auto local = frame->locals.find(assigned.name);
    if (local == frame->locals.end() || local->second.isConstexpr)
      continue;
    // Numbers (of parameters that were folded) become tensors; strings, dtypes,
    // functions and None must stay what they are, which is checked at the end.
    std::function<Value(const Value &)> open = [&](const Value &value) -> Value {
      if (const auto *tuple = value.getIf<Tuple>()) {
        Tuple form;
        form.names = tuple->names;
        form.aggregate = tuple->aggregate;
        std::vector<bool> constants = constantFields(*tuple);
        for (size_t i = 0; i < constants.size(); ++i)
          form.items.push_back(constants[i] ? tuple->items[i] : open(tuple->items[i]));
        return form;
      }
      if (!value.isTensor() && !value.isNumber())
        return value;
      Tensor tensor = semantic.toTensor(value, local->second.range);
      inits.push_back(tensor.handle);
      return Tensor{mlir::Value(), tensor.type, tensor.range};
    };
    Carried variable{assigned.name, local->second, Value(), unsigned(inits.size()), 0};
    variable.form = open(local->second.value);
    variable.count = inits.size() - variable.first;
    carried.push_back(std::move(variable));
  }
  return carried;
}

void Walker::bindCarried(llvm::ArrayRef<Carried> carried, mlir::ValueRange values) {
  for (const Carried &variable : carried) {
    unsigned next = variable.first;
    Value value = fill(variable.form, values, next, variable.before.range);
    frame->locals[variable.name] =
        Binding{std::move(value), variable.before.range, false, nextVersion++};
  }
}

// The variable need not be what it was in the round before, only of the same form: whatever the
// form keeps constant must be the same constant, and each placeholder gets a value of its type.
std::vector<mlir::Value> Walker::yieldedValues(llvm::ArrayRef<Carried> carried,
                                               const SourceRange &range) {
  std::vector<mlir::Value> values;
  for (const Carried &variable : carried) {
    auto local = frame->locals.find(variable.name);
    if (local == frame->locals.end()) {
      // Dropped inside, e.g. because an inner loop used the name for its counter.
      auto dropped = frame->dropped.find(variable.name);
      Diagnostic why = dropped != frame->dropped.end()
                           ? dropped->second
                           : makeDiagnostic(Diag::unbound_name, range, variable.name);
      why.range = variable.before.range;
      why.notes.push_back({range, "the loop hands '" + variable.name + "' to its next round"});
      throw CompileError(why);
    }
    const Binding &now = local->second;
    // The number that a constexpr parameter was keeps the variable's type.
    std::optional<Unified> unified = unify(variable.form, now.value, now.range);
    if (!unified || unified->leaves.size() != variable.count) {
      Difference found = difference(variable.form, now.value, now.range, /*inLoop=*/true);
      if (found.path.empty() && found.help.empty())
        found.first = variable.before.value.describe();
      Diagnostic diagnostic = makeDiagnostic(Diag::loop_types_differ, now.range,
                                             variable.name + found.path, found.first, found.second);
      if (!found.help.empty())
        diagnostic.help = found.help;
      diagnostic.notes.push_back(
          {variable.before.range, "'" + variable.name + "' before the loop"});
      throw CompileError(diagnostic);
    }
    for (const auto &leaf : unified->leaves)
      values.push_back(semantic.toTensor(leaf.second, now.range).handle);
  }
  return values;
}

void Walker::leaveLoop(const Locals &before, llvm::ArrayRef<Carried> carried,
                       mlir::ValueRange results, llvm::ArrayRef<AssignedName> names) {
  frame->locals = before;
  bindCarried(carried, results);
  dropNamesOf(names, before);
}

void Walker::dropNamesOf(llvm::ArrayRef<AssignedName> names, const Locals &before) {
  for (const AssignedName &assigned : names) {
    if (before.count(assigned.name))
      continue;
    Diagnostic why = makeDiagnostic(Diag::name_of_loop, SourceRange(), assigned.name);
    why.notes.push_back({assigned.range, "it was assigned here"});
    drop(assigned.name, std::move(why));
  }
}

Flow Walker::walkLoopBody(const Block &body, const Locals &before) {
  const Locals *outer = std::exchange(frame->beforeLoop, &before);
  Flow flow = walkBlock(body);
  frame->beforeLoop = outer;
  return flow;
}

// ---- for -----------------------------------------------------------------------

Flow Walker::walkFor(const ForStmt &stmt) {
  if (!stmt.orelse.empty())
    fail(Diag::unsupported_syntax, stmt.orelse.front()->range, "`else` of a loop",
         "write the statements after the loop");
  const auto *iteration = llvm::dyn_cast<CallExpr>(stmt.iterable.get());
  Value callee = iteration ? eval(*iteration->callee) : Value();
  const Builtin *builtin = callee.getIf<Builtin>();
  llvm::StringRef name = builtin ? builtin->info->name : "";
  bool isUnrolled = name == "static_range";
  if (!isUnrolled && name != "range" && name != "parallel") {
    Value sequence = iteration ? evalCall(*iteration, callee) : eval(*stmt.iterable);
    const auto *tuple = sequence.getIf<Tuple>();
    if (!tuple || tuple->aggregate >= 0)
      fail(Diag::loop_iterable, stmt.iterable->range, sequence.describe());
    extension("`for` over a tuple", "write `for i in tl.static_range(len(t))` and t[i]",
              stmt.iterable->range);
    return walkUnrolled(stmt, tuple->items);
  }
  if (isUnrolled)
    return walkUnrolled(stmt, staticRange(*iteration, *builtin->info));
  std::vector<Argument> positional;
  std::vector<KeywordArgument> keywords;
  evalArguments(*iteration, positional, keywords);
  return walkRuntimeFor(stmt,
                        bindArguments(*builtin->info, positional, keywords, iteration->range));
}

std::vector<Value> Walker::staticRange(const CallExpr &call, const BuiltinInfo &info,
                                       Diag runtimeBound) {
  std::vector<Argument> positional;
  std::vector<KeywordArgument> keywords;
  evalArguments(call, positional, keywords);
  LoopRange range = loopRange(bindArguments(info, positional, keywords, call.range));
  auto constant = [&](const Value &value, const char *what, const SourceRange &where) {
    if (const Int *i = value.getIf<Int>())
      return *i;
    if (const bool *b = value.getIf<bool>())
      return Int(*b);
    if (value.isTensor())
      fail(runtimeBound, where, what, value.describe());
    fail(Diag::loop_bound_kind, where, what, value.describe());
  };
  Int start = constant(range.start, "the start", range.startRange);
  Int stop = constant(range.stop, "the end", range.stopRange);
  Int step = constant(range.step, "the step", range.stepRange);
  if (step == 0)
    fail(Diag::loop_step_zero, range.stepRange);
  constexpr Int limit = Int(1) << 64; // no sum below overflows
  if (start < -limit || start > limit || stop < -limit || stop > limit || step < -limit ||
      step > limit)
    fail(Diag::static_range_too_long, call.range, "more than 2**64");
  Int count = step > 0 ? (stop > start ? (stop - start + step - 1) / step : Int(0))
                       : (stop < start ? (start - stop - step - 1) / -step : Int(0));
  if (count > maxRepetitions)
    fail(Diag::static_range_too_long, call.range, toString(count));
  std::vector<Value> items;
  for (Int i = 0; i < count; ++i)
    items.push_back(start + i * step);
  return items;
}

Flow Walker::walkUnrolled(const ForStmt &stmt, llvm::ArrayRef<Value> items) {
  Locals before = frame->locals;
  std::vector<AssignedName> assigned = assignedNames(stmt.body);
  std::function<void(const Expr &)> addTarget = [&](const Expr &target) {
    if (const auto *name = llvm::dyn_cast<NameExpr>(&target))
      assigned.push_back({name->id, name->range});
    else if (const auto *names = llvm::dyn_cast<TupleExpr>(&target))
      for (const ExprPtr &item : names->items)
        addTarget(*item);
  };
  addTarget(*stmt.target);
  Flow left; // by `break` or `return` in the rounds so far
  for (const Value &item : items) {
    bool mayLeave = false;
    auto round = [&] {
      bindItem(*stmt.target, item); // constants stay such, but the round may set it
      Flow flow = walkLoopBody(stmt.body, before);
      mayLeave = flow.kind == Flow::Kind::MayLeave || (flow.exits & (flow.exits - 1));
      return without(flow, ExitContinue, stmt.range);
    };
    if (left.falls()) {
      left = round();
    } else {
      auto op =
          mlir::scf::IfOp::create(builder, semantic.loc(stmt.range), mlir::TypeRange(), left.flag,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
      Locals outer = frame->locals;
      Branch gone{&op.getThenRegion().front(), outer, left},
          open{&op.getElseRegion().front(), outer, {}};
      gone.flow.kind = Flow::Kind::Leaves;
      walkInto(open, round);
      const Locals *outerLoop = std::exchange(frame->beforeLoop, &before);
      left = mergeBranches(op, gone, open, &outer, stmt.range);
      frame->beforeLoop = outerLoop;
      mayLeave = true;
    }
    // A name that is new in the body has a value on some paths only.
    if (mayLeave)
      dropNamesOf(assigned, before);
    if (left.leaves())
      break;
  }
  return without(left, ExitBreak, stmt.range);
}

void Walker::setLoopHints(mlir::Operation *loop, const BoundArgs &args) {
  if (llvm::StringRef(args.info.name) == "parallel") {
    loop->setAttr("hivm.parallel_loop", builder.getUnitAttr());
    return;
  }
  for (llvm::StringRef name : {"num_stages", "loop_unroll_factor"})
    if (const Value *value = argument(args, name))
      if (const Int *number = value->getIf<Int>())
        loop->setAttr(("tt." + name).str(),
                      builder.getI32IntegerAttr(static_cast<int32_t>(*number)));
  for (llvm::StringRef name :
       {"disallow_acc_multi_buffer", "flatten", "warp_specialize", "disable_licm"})
    if (const Value *value = argument(args, name); value && truth(*value).value_or(false))
      loop->setAttr(("tt." + name).str(), builder.getUnitAttr());
}

/// Whether a bound that is a constant is a value of `type`.
static bool holds(const Type &type, const Value &constant) {
  Int value = constant.is<bool>() ? Int(constant.as<bool>()) : constant.as<Int>();
  Int values = Int(1) << (type.bits() - (type.isSigned() ? 1 : 0));
  return value < values && value >= (type.isSigned() ? -values : 0);
}

Walker::CountedRange Walker::countedRange(const BoundArgs &args) {
  LoopRange written = loopRange(args);
  auto bound = [&](const Value &value, const char *what, const SourceRange &where) {
    bool isInteger = value.is<Int>() || value.is<bool>();
    if (const auto *tensor = value.getIf<Tensor>())
      isInteger = tensor->type.isScalar() && tensor->type.isInteger();
    if (!isInteger)
      fail(Diag::loop_bound_kind, where, what, value.describe());
    return semantic.toTensor(value, where);
  };
  const Int *constantStep = written.step.getIf<Int>();
  if (constantStep && *constantStep == 0)
    fail(Diag::loop_step_zero, written.stepRange);
  bool isDescending = constantStep && *constantStep < 0 && *constantStep > INT64_MIN;
  if (isDescending)
    written.step = -*constantStep;
  Tensor start = bound(written.start, "the start", written.startRange);
  Tensor stop = bound(written.stop, "the end", written.stopRange);
  Tensor step = bound(written.step, "the step", written.stepRange);

  // Constants take the type of the run-time bounds.
  Type type = Scalar::Int32;
  bool isTyped = false;
  auto promote = [&](const Value &value, const Tensor &tensor, const SourceRange &where) {
    if (!value.isTensor())
      return;
    Type next = tensor.type.bits() == 1 ? Type(Scalar::Int32) : tensor.type;
    type = isTyped ? semantic.promote(type, next, OperandRules{"range"}, where) : next;
    isTyped = true;
  };
  promote(written.start, start, written.startRange);
  promote(written.stop, stop, written.stopRange);
  promote(written.step, step, written.stepRange);
  for (const auto &[value, tensor] :
       {std::pair(&written.start, &start), std::pair(&written.stop, &stop),
        std::pair(&written.step, &step)})
    if (!value->isTensor() && !holds(type, *value))
      type = tensor->type.bits() == 64 ? tensor->type : Type(Scalar::Int64);
  start = semantic.cast(start, type, written.startRange);
  stop = semantic.cast(stop, type, written.stopRange);
  step = semantic.cast(step, type, written.stepRange);
  if (isDescending)
    std::swap(start, stop);
  return {start, stop, step, type, isDescending};
}

void Walker::bindCounter(const NameExpr &target, mlir::Value counter, const Type &type) {
  frame->locals[target.id] =
      Binding{Tensor{counter, type, target.range}, target.range, false, nextVersion++};
}

Flow Walker::walkRuntimeFor(const ForStmt &stmt, const BoundArgs &args) {
  const auto *target = llvm::dyn_cast<NameExpr>(stmt.target.get());
  if (!target)
    fail(Diag::unsupported_syntax, stmt.target->range, "a loop target other than a name",
         "use one name");
  CountedRange range = countedRange(args);
  std::vector<mlir::Value> inits;
  std::vector<AssignedName> names = assignedNames(stmt.body, /*changed=*/true);
  std::vector<Carried> carried = carriedVariables(names, target, range.type, inits);
  auto dropCounter = [&] {
    if (llvm::any_of(carried, [&](const Carried &variable) { return variable.name == target->id; }))
      return;
    Diagnostic why = makeDiagnostic(Diag::loop_variable_after_loop, SourceRange(), target->id);
    why.notes.push_back({target->range, "the loop"});
    drop(target->id, std::move(why));
  };
  if (leavesLoop(stmt.body)) {
    Flow flow = walkLeavingFor(stmt, *target, range, names, carried, std::move(inits));
    dropCounter();
    return flow;
  }

  Locals before = frame->locals;
  mlir::Location loc = semantic.loc(stmt.range);
  mlir::Value start = range.start.handle, stop = range.stop.handle;
  auto loop = mlir::scf::ForOp::create(builder, loc, start, stop, range.step.handle, inits, nullptr,
                                       /*unsignedCmp=*/range.type.isUnsigned());
  setLoopHints(loop, args);
  mlir::Block *body = loop.getBody();
  if (!body->empty())
    body->back().erase();
  {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(body);
    bindCarried(carried, loop.getRegionIterArgs());
    mlir::Value counter = loop.getInductionVar();
    if (range.isDescending) {
      mlir::Location here = semantic.loc(target->range);
      mlir::Value ends = mlir::arith::AddIOp::create(builder, here, start, stop);
      counter = mlir::arith::SubIOp::create(builder, here, ends, counter);
    }
    bindCounter(*target, counter, range.type);
    walkLoopBody(stmt.body, before);
    mlir::scf::YieldOp::create(builder, loc, yieldedValues(carried, stmt.range));
  }
  leaveLoop(before, carried, loop.getResults(), names);
  dropCounter();
  return {};
}

// ---- loops that are left ---------------------------------------------------------

Flow Walker::walkLeavingFor(const ForStmt &stmt, const NameExpr &target, const CountedRange &range,
                            llvm::ArrayRef<AssignedName> names, llvm::ArrayRef<Carried> carried,
                            std::vector<mlir::Value> inits) {
  using namespace mlir::arith;
  mlir::Location loc = semantic.loc(stmt.range);
  mlir::Value start = range.start.handle, stop = range.stop.handle, step = range.step.handle;
  mlir::Value one = ConstantOp::create(builder, loc, builder.getIntegerAttr(start.getType(), 1));
  mlir::Value zero = ConstantOp::create(builder, loc, builder.getIntegerAttr(start.getType(), 0));
  mlir::Value isEmpty = CmpIOp::create(
      builder, loc, range.type.isUnsigned() ? CmpIPredicate::uge : CmpIPredicate::sge, start, stop);
  mlir::Value last = SubIOp::create(builder, loc, SubIOp::create(builder, loc, stop, start), one);
  mlir::Value rounds =
      DivUIOp::create(builder, loc, last, MaxUIOp::create(builder, loc, step, one));
  rounds = SelectOp::create(builder, loc, isEmpty, zero, AddIOp::create(builder, loc, rounds, one));
  return walkLeavingLoop(
      stmt, names, carried, std::move(inits), &range.type, [&](mlir::Value round) {
        mlir::Value goesOn = CmpIOp::create(builder, loc, CmpIPredicate::ult, round, rounds);
        auto op = mlir::scf::IfOp::create(builder, loc, mlir::TypeRange(), goesOn, true, true);
        Locals bound = frame->locals;
        Branch body{&op.getThenRegion().front(), bound, {}},
            end{&op.getElseRegion().front(), bound, {}};
        end.flow = Flow{Flow::Kind::Leaves, ExitBreak, Value(), {}, {}, stmt.range};
        walkInto(body, [&] {
          mlir::Location here = semantic.loc(target.range);
          mlir::Value way = MulIOp::create(builder, here, round, step);
          bindCounter(target,
                      range.isDescending ? SubIOp::create(builder, here, stop, way).getResult()
                                         : AddIOp::create(builder, here, start, way).getResult(),
                      range.type);
          return walkBlock(stmt.body);
        });
        return mergeBranches(op, body, end, &bound, stmt.range);
      });
}

Flow Walker::walkLeavingLoop(const Stmt &stmt, llvm::ArrayRef<AssignedName> names,
                             llvm::ArrayRef<Carried> carried, std::vector<mlir::Value> inits,
                             const Type *counter, llvm::function_ref<Flow(mlir::Value)> round) {
  // All of a round stands in the first region, behind which it is known whether
  // there is another one. What the loop returns is known when it was walked.
  mlir::Location loc = semantic.loc(stmt.range);
  size_t numCarried = inits.size();
  if (counter)
    inits.push_back(mlir::arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(counter->lower(&context), 0)));
  llvm::SmallVector<mlir::Type> types;
  for (mlir::Value init : inits)
    types.push_back(init.getType());
  auto draft = mlir::scf::WhileOp::create(builder, loc, mlir::TypeRange(), mlir::ValueRange(inits));
  Locals before = frame->locals;

  std::vector<mlir::Value> handed;
  Flow flow;
  std::optional<Unified> returned;
  {
    mlir::OpBuilder::InsertionGuard guard(builder);
    mlir::Block *block = builder.createBlock(&draft.getBefore(), {}, types,
                                             llvm::SmallVector<mlir::Location>(types.size(), loc));
    bindCarried(carried, block->getArguments());
    const Locals *outerLoop = std::exchange(frame->beforeLoop, &before);
    flow = round(counter ? block->getArguments().back() : mlir::Value());
    frame->beforeLoop = outerLoop;
    if (!(flow.exits & (ExitBreak | ExitReturn)))
      fail(Diag::endless_loop, stmt.range);
    mlir::Value stops = exitTaken(flow, ExitBreak | ExitReturn, stmt.range);
    mlir::Value yes = mlir::arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
    mlir::Value goesOn = mlir::arith::XOrIOp::create(builder, loc, stops, yes);
    if (flow.leaves() && flow.exits == ExitReturn)
      handed.assign(block->args_begin(), block->args_begin() + numCarried); // never read
    else
      handed = yieldedValues(carried, stmt.range);
    if (counter) {
      mlir::Value one =
          mlir::arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(types.back(), 1));
      handed.push_back(
          mlir::arith::AddIOp::create(builder, loc, block->getArguments().back(), one));
    }
    std::vector<mlir::Value> results = handed;
    if (flow.mayReturn()) {
      results.push_back(exitTaken(flow, ExitReturn, stmt.range));
      returned = unify(flow.value, flow.value, stmt.range);
      if (!returned)
        fail(Diag::not_a_runtime_value, flow.range, flow.value.describe());
      for (const auto &leaf : returned->leaves)
        results.push_back(semantic.toTensor(leaf.first, flow.range).handle);
    }
    mlir::scf::ConditionOp::create(builder, loc, goesOn, results);
    handed = std::move(results);
  }

  llvm::SmallVector<mlir::Type> resultTypes;
  for (mlir::Value value : handed)
    resultTypes.push_back(value.getType());
  auto loop = mlir::scf::WhileOp::create(builder, loc, mlir::TypeRange(resultTypes),
                                         mlir::ValueRange(inits));
  loop.getBefore().takeBody(draft.getBefore());
  draft.erase();
  {
    mlir::OpBuilder::InsertionGuard guard(builder);
    mlir::Block *block =
        builder.createBlock(&loop.getAfter(), {}, resultTypes,
                            llvm::SmallVector<mlir::Location>(resultTypes.size(), loc));
    mlir::scf::YieldOp::create(builder, loc, block->getArguments().take_front(types.size()));
  }
  leaveLoop(before, carried, loop.getResults(), names);
  if (!flow.mayReturn())
    return {};
  Flow result;
  result.kind = flow.exits & ExitBreak ? Flow::Kind::MayLeave : Flow::Kind::Leaves;
  result.exits = ExitReturn;
  result.range = flow.range;
  unsigned next = types.size();
  result.flag = loop.getResult(next++);
  result.value = fill(returned->form, loop.getResults(), next, flow.range);
  return result;
}

// ---- while ---------------------------------------------------------------------

Flow Walker::walkWhile(const WhileStmt &stmt) {
  if (!stmt.orelse.empty())
    fail(Diag::unsupported_syntax, stmt.orelse.front()->range, "`else` of a loop",
         "write the statements after the loop");
  std::vector<mlir::Value> inits;
  std::vector<AssignedName> names = assignedNames(*stmt.test);
  bool testBinds = !names.empty(); // what it binds holds in the body
  llvm::append_range(names, assignedNames(stmt.body, /*changed=*/true));
  llvm::StringSet<> seen;
  llvm::erase_if(names, [&](const AssignedName &name) { return !seen.insert(name.name).second; });
  std::vector<Carried> carried = carriedVariables(names, nullptr, Type(), inits);
  mlir::Location loc = semantic.loc(stmt.range);
  if (testBinds || leavesLoop(stmt.body)) {
    return walkLeavingLoop(stmt, names, carried, inits, nullptr, [&](mlir::Value) {
      Value test = eval(*stmt.test);
      if (!test.isTensor()) {
        if (decide(test, stmt.test->range)) {
          extension("a `while` whose condition is always true",
                    "make the condition depend on a variable", stmt.test->range);
          return walkBlock(stmt.body);
        }
        return Flow{Flow::Kind::Leaves, ExitBreak, Value(), {}, {}, stmt.range};
      }
      Tensor condition = whileCondition(test, stmt.test->range);
      auto op =
          mlir::scf::IfOp::create(builder, loc, mlir::TypeRange(), condition.handle, true, true);
      Locals bound = frame->locals;
      Branch body{&op.getThenRegion().front(), bound, {}},
          end{&op.getElseRegion().front(), bound, {}};
      end.flow = Flow{Flow::Kind::Leaves, ExitBreak, Value(), {}, {}, stmt.range};
      walkInto(body, stmt.body, false);
      return mergeBranches(op, body, end, &bound, stmt.range);
    });
  }

  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::Location> locations;
  for (mlir::Value init : inits) {
    types.push_back(init.getType());
    locations.push_back(loc);
  }
  auto loop =
      mlir::scf::WhileOp::create(builder, loc, mlir::TypeRange(types), mlir::ValueRange(inits));
  Locals before = frame->locals;
  {
    mlir::OpBuilder::InsertionGuard guard(builder);
    mlir::Block *test = builder.createBlock(&loop.getBefore(), {}, types, locations);
    bindCarried(carried, test->getArguments());
    Value condition = eval(*stmt.test);
    if (!condition.isTensor()) {
      if (decide(condition, stmt.test->range))
        fail(Diag::endless_loop, stmt.test->range);
      frame->locals = before;
      loop.erase();
      return {}; // never entered
    }
    Tensor scalar = whileCondition(condition, stmt.test->range);
    // Names that the test binds hold for the body and are those of the test.
    std::vector<mlir::Value> handed = yieldedValues(carried, stmt.test->range);
    mlir::scf::ConditionOp::create(builder, semantic.loc(stmt.test->range), scalar.handle, handed);

    mlir::Block *body = builder.createBlock(&loop.getAfter(), {}, types, locations);
    frame->locals = before;
    bindCarried(carried, body->getArguments());
    walkLoopBody(stmt.body, before);
    mlir::scf::YieldOp::create(builder, loc, yieldedValues(carried, stmt.range));
  }
  leaveLoop(before, carried, loop.getResults(), names);
  return {};
}

Tensor Walker::whileCondition(const Value &test, const SourceRange &range) {
  if (test.as<Tensor>().type.bits() != 1)
    extension("a `while` condition that is not a comparison", "compare it: `x != 0`", range);
  return semantic.toCondition(test, range);
}

} // namespace nereid::frontend
