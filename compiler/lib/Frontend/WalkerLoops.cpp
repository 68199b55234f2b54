// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `for` over range, tl.range and tl.static_range; `while`.
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

std::vector<Walker::Carried> Walker::carriedVariables(const Block &body, const NameExpr *counter,
                                                      const Type &counterType, std::vector<mlir::Value> &inits) {
  std::vector<AssignedName> names = assignedNames(body);
  if (counter) {
    // The counter is assigned in every round. When the name has a value of its
    // type before the loop, it has one after it, too.
    llvm::erase_if(names, [&](const AssignedName &assigned) { return assigned.name == counter->id; });
    auto local = frame->locals.find(counter->id);
    if (local != frame->locals.end() && (local->second.value.isTensor() || local->second.value.isNumber()) &&
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
        for (const Value &item : tuple->items)
          form.items.push_back(open(item));
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
    frame->locals[variable.name] = Binding{std::move(value), variable.before.range, false, nextVersion++};
  }
}

std::vector<mlir::Value> Walker::yieldedValues(llvm::ArrayRef<Carried> carried, const SourceRange &range) {
  std::vector<mlir::Value> values;
  for (const Carried &variable : carried) {
    auto local = frame->locals.find(variable.name);
    if (local == frame->locals.end()) {
      // Dropped inside, e.g. because an inner loop used the name for its counter.
      auto dropped = frame->dropped.find(variable.name);
      Diagnostic why = dropped != frame->dropped.end() ? dropped->second
                                                       : makeDiagnostic(Diag::unbound_name, range, variable.name);
      why.range = variable.before.range;
      why.notes.push_back({range, "the loop hands '" + variable.name + "' to its next round"});
      throw CompileError(why);
    }
    const Binding &now = local->second;
    // The number that a constexpr parameter was keeps the variable's type.
    std::optional<Unified> unified = unify(variable.form, now.value, now.range);
    if (!unified || unified->leaves.size() != variable.count) {
      Diagnostic diagnostic = makeDiagnostic(Diag::loop_types_differ, now.range, variable.name,
                                             variable.before.value.describe(), now.value.describe());
      diagnostic.notes.push_back({variable.before.range, "'" + variable.name + "' before the loop"});
      throw CompileError(diagnostic);
    }
    for (const auto &leaf : unified->leaves)
      values.push_back(semantic.toTensor(leaf.second, now.range).handle);
  }
  return values;
}

void Walker::leaveLoop(const Locals &before, llvm::ArrayRef<Carried> carried, mlir::ValueRange results,
                       const Block &body) {
  frame->locals = before;
  bindCarried(carried, results);
  for (const AssignedName &assigned : assignedNames(body)) {
    if (before.count(assigned.name))
      continue;
    Diagnostic why = makeDiagnostic(Diag::name_of_loop, SourceRange(), assigned.name);
    why.notes.push_back({assigned.range, "it was assigned here"});
    frame->dropped.insert_or_assign(assigned.name, std::move(why));
  }
}

// ---- for -----------------------------------------------------------------------

Flow Walker::walkFor(const ForStmt &stmt) {
  if (!stmt.orelse.empty())
    fail(Diag::unsupported_syntax, stmt.orelse.front()->range, "`else` of a loop", "write the statements after the loop");
  const auto *iteration = llvm::dyn_cast<CallExpr>(stmt.iterable.get());
  if (!iteration)
    fail(Diag::loop_iterable, stmt.iterable->range, eval(*stmt.iterable).describe());
  Value callee = eval(*iteration->callee);
  const Builtin *builtin = callee.getIf<Builtin>();
  llvm::StringRef name = builtin ? builtin->info->name : "";
  if (name != "range" && name != "static_range" && name != "parallel")
    fail(Diag::loop_iterable, stmt.iterable->range, "the result of " + callee.describe());

  std::vector<Argument> positional;
  std::vector<KeywordArgument> keywords;
  evalArguments(*iteration, positional, keywords);
  BoundArgs args = bindArguments(*builtin->info, positional, keywords, iteration->range);
  if (name == "static_range")
    return walkStaticFor(stmt, *iteration, args);
  walkRuntimeFor(stmt, *iteration, args);
  return {};
}

Flow Walker::walkStaticFor(const ForStmt &stmt, const CallExpr &call, const BoundArgs &args) {
  LoopRange range = loopRange(args);
  auto constant = [](const Value &value, const char *what, const SourceRange &where) {
    if (const Int *i = value.getIf<Int>())
      return *i;
    if (const bool *b = value.getIf<bool>())
      return Int(*b);
    if (value.isTensor())
      fail(Diag::static_range_bound, where, what, value.describe());
    fail(Diag::loop_bound_kind, where, what, value.describe());
  };
  Int start = constant(range.start, "the start", range.startRange);
  Int stop = constant(range.stop, "the end", range.stopRange);
  Int step = constant(range.step, "the step", range.stepRange);
  if (step == 0)
    fail(Diag::loop_step_zero, range.stepRange);
  constexpr Int limit = Int(1) << 64; // no sum below overflows
  if (start < -limit || start > limit || stop < -limit || stop > limit || step < -limit || step > limit)
    fail(Diag::static_range_too_long, call.range, "more than 2**64");
  Int count = step > 0 ? (stop > start ? (stop - start + step - 1) / step : Int(0))
                       : (stop < start ? (start - stop - step - 1) / -step : Int(0));
  if (count > maxRepetitions)
    fail(Diag::static_range_too_long, call.range, toString(count));
  const auto *target = llvm::dyn_cast<NameExpr>(stmt.target.get());
  if (!target)
    fail(Diag::unsupported_syntax, stmt.target->range, "a loop target other than a name", "use one name");
  for (Int i = 0; i < count; ++i) {
    // The counter is a constant, but the next round may set it.
    Binding &counter = frame->locals[target->id];
    counter = Binding{Value(start + i * step), target->range, /*isConstexpr=*/false, nextVersion++};
    Flow flow = walkBlock(stmt.body);
    if (flow.kind == Flow::Kind::MayReturn)
      fail(Diag::return_in_loop, flow.range);
    if (flow.kind == Flow::Kind::Returns)
      return flow;
  }
  return {};
}

void Walker::setLoopHints(mlir::Operation *loop, const BoundArgs &args) {
  if (llvm::StringRef(args.info.name) == "parallel") {
    loop->setAttr("hivm.parallel_loop", builder.getUnitAttr());
    return;
  }
  for (llvm::StringRef name : {"num_stages", "loop_unroll_factor"})
    if (const Value *value = argument(args, name))
      if (const Int *number = value->getIf<Int>())
        loop->setAttr(("tt." + name).str(), builder.getI32IntegerAttr(static_cast<int32_t>(*number)));
  for (llvm::StringRef name : {"disallow_acc_multi_buffer", "flatten", "warp_specialize", "disable_licm"})
    if (const Value *value = argument(args, name); value && truth(*value).value_or(false))
      loop->setAttr(("tt." + name).str(), builder.getUnitAttr());
}

void Walker::walkRuntimeFor(const ForStmt &stmt, const CallExpr &call, const BoundArgs &args) {
  LoopRange range = loopRange(args);
  const auto *target = llvm::dyn_cast<NameExpr>(stmt.target.get());
  if (!target)
    fail(Diag::unsupported_syntax, stmt.target->range, "a loop target other than a name", "use one name");

  auto bound = [&](const Value &value, const char *what, const SourceRange &where) {
    bool isInteger = value.is<Int>() || value.is<bool>();
    if (const auto *tensor = value.getIf<Tensor>())
      isInteger = tensor->type.isScalar() && tensor->type.isInteger();
    if (!isInteger)
      fail(Diag::loop_bound_kind, where, what, value.describe());
    return semantic.toTensor(value, where);
  };
  // A negative constant step counts up from the other end; the body sees
  // start + stop - counter.
  const Int *constantStep = range.step.getIf<Int>();
  if (constantStep && *constantStep == 0)
    fail(Diag::loop_step_zero, range.stepRange);
  bool isDescending = constantStep && *constantStep < 0 && *constantStep > INT64_MIN;
  if (isDescending)
    range.step = -*constantStep;
  Tensor start = bound(range.start, "the start", range.startRange);
  Tensor stop = bound(range.stop, "the end", range.stopRange);
  Tensor step = bound(range.step, "the step", range.stepRange);
  if (isDescending)
    std::swap(start, stop);

  // Constants take the type of the run-time bounds.
  Type type = Scalar::Int32;
  bool isTyped = false;
  auto promote = [&](const Value &written, const Tensor &tensor, const SourceRange &where) {
    if (!written.isTensor())
      return;
    Type next = tensor.type.bits() == 1 ? Type(Scalar::Int32) : tensor.type;
    type = isTyped ? semantic.promote(type, next, OperandRules{"range"}, where) : next;
    isTyped = true;
  };
  promote(range.start, isDescending ? stop : start, range.startRange);
  promote(range.stop, isDescending ? start : stop, range.stopRange);
  promote(range.step, step, range.stepRange);
  for (const auto &[written, tensor] : {std::pair(&range.start, isDescending ? &stop : &start),
                                        std::pair(&range.stop, isDescending ? &start : &stop),
                                        std::pair(&range.step, &step)})
    if (!written->isTensor() && tensor->type.bits() > type.bits())
      type = tensor->type; // a constant of 64 bits
  start = semantic.cast(start, type, range.startRange);
  stop = semantic.cast(stop, type, range.stopRange);
  step = semantic.cast(step, type, range.stepRange);

  std::vector<mlir::Value> inits;
  std::vector<Carried> carried = carriedVariables(stmt.body, target, type, inits);
  auto loop = mlir::scf::ForOp::create(builder, semantic.loc(stmt.range), start.handle, stop.handle, step.handle,
                                       inits, nullptr, /*unsignedCmp=*/type.isUnsigned());
  setLoopHints(loop, args);
  mlir::Block *body = loop.getBody();
  if (!body->empty())
    body->back().erase();

  Locals before = frame->locals;
  {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(body);
    bindCarried(carried, loop.getRegionIterArgs());
    mlir::Value counter = loop.getInductionVar();
    if (isDescending) {
      mlir::Location loc = semantic.loc(target->range);
      mlir::Value ends = mlir::arith::AddIOp::create(builder, loc, start.handle, stop.handle);
      counter = mlir::arith::SubIOp::create(builder, loc, ends, counter);
    }
    frame->locals[target->id] =
        Binding{Tensor{counter, type, target->range}, target->range, false, nextVersion++};
    ++frame->loopDepth;
    walkBlock(stmt.body);
    --frame->loopDepth;
    mlir::scf::YieldOp::create(builder, semantic.loc(stmt.range), yieldedValues(carried, stmt.range));
  }
  leaveLoop(before, carried, loop.getResults(), stmt.body);
  if (llvm::any_of(carried, [&](const Carried &variable) { return variable.name == target->id; }))
    return;
  Diagnostic why = makeDiagnostic(Diag::loop_variable_after_loop, SourceRange(), target->id);
  why.notes.push_back({target->range, "the loop"});
  drop(target->id, std::move(why));
}

// ---- while ---------------------------------------------------------------------

void Walker::walkWhile(const WhileStmt &stmt) {
  if (!stmt.orelse.empty())
    fail(Diag::unsupported_syntax, stmt.orelse.front()->range, "`else` of a loop", "write the statements after the loop");
  std::vector<mlir::Value> inits;
  std::vector<Carried> carried = carriedVariables(stmt.body, nullptr, Type(), inits);
  mlir::Location loc = semantic.loc(stmt.range);
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::Location> locations;
  for (mlir::Value init : inits) {
    types.push_back(init.getType());
    locations.push_back(loc);
  }
  auto loop = mlir::scf::WhileOp::create(builder, loc, mlir::TypeRange(types), mlir::ValueRange(inits));
  Locals before = frame->locals;
  {
    mlir::OpBuilder::InsertionGuard guard(builder);
    mlir::Block *test = builder.createBlock(&loop.getBefore(), {}, types, locations);
    bindCarried(carried, test->getArguments());
    ++frame->loopDepth;
    Value condition = eval(*stmt.test);
    if (!condition.isTensor()) {
      if (decide(condition, stmt.test->range))
        fail(Diag::endless_loop, stmt.test->range);
      --frame->loopDepth;
      frame->locals = before;
      loop.erase();
      return; // never entered
    }
    Tensor scalar = semantic.toCondition(condition, stmt.test->range);
    // Names that the test binds hold for the body and are those of the test.
    std::vector<mlir::Value> handed = yieldedValues(carried, stmt.test->range);
    mlir::scf::ConditionOp::create(builder, semantic.loc(stmt.test->range), scalar.handle, handed);

    mlir::Block *body = builder.createBlock(&loop.getAfter(), {}, types, locations);
    frame->locals = before;
    bindCarried(carried, body->getArguments());
    walkBlock(stmt.body);
    --frame->loopDepth;
    mlir::scf::YieldOp::create(builder, loc, yieldedValues(carried, stmt.range));
  }
  leaveLoop(before, carried, loop.getResults(), stmt.body);
}

} // namespace nereid::frontend
