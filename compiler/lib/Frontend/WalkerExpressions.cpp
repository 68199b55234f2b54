// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions other than calls and conditional expressions.
//
// Constants are computed here, as Python would, by Constexpr.cpp; as soon as
// one operand is a tensor, Semantic emits IR. So an expression of constants
// costs nothing, and the same kernel text is folded or emitted depending on
// what it is given.
//
// Order of evaluation is Python's, with one difference that cannot be helped:
// `and`, `or` and chained comparisons look at their right side even if a
// run-time left side decides. What is known at compile time still
// short-circuits, so `x is not None and x > 0` is fine.
#include "Walker.h"

namespace nereid::frontend {

Value Walker::eval(const Expr &expr) {
  switch (expr.kind) {
  case Expr::Kind::Constant:
    return llvm::cast<ConstantExpr>(expr).value;
  case Expr::Kind::Name:
    return lookup(llvm::cast<NameExpr>(expr));
  case Expr::Kind::Binary: {
    const auto &binary = llvm::cast<BinaryExpr>(expr);
    Value lhs = eval(*binary.lhs);
    return evalBinary(binary.op, lhs, eval(*binary.rhs), expr.range);
  }
  case Expr::Kind::Bool:
    return evalBool(llvm::cast<BoolExpr>(expr));
  case Expr::Kind::Unary:
    return evalUnary(llvm::cast<UnaryExpr>(expr));
  case Expr::Kind::Compare:
    return evalCompare(llvm::cast<CompareExpr>(expr));
  case Expr::Kind::Call:
    return evalCall(llvm::cast<CallExpr>(expr));
  case Expr::Kind::Attribute: {
    const auto &access = llvm::cast<AttributeExpr>(expr);
    return attribute(eval(*access.value), access.name, expr.range);
  }
  case Expr::Kind::Subscript:
    return evalSubscript(llvm::cast<SubscriptExpr>(expr));
  case Expr::Kind::Slice: {
    const auto &slice = llvm::cast<SliceExpr>(expr);
    auto part = [&](const ExprPtr &bound) {
      return std::make_shared<Value>(bound ? eval(*bound) : Value());
    };
    Slice result;
    result.start = part(slice.lower);
    result.stop = part(slice.upper);
    result.step = part(slice.step);
    return result;
  }
  case Expr::Kind::Tuple: {
    Tuple tuple;
    tuple.items = evalItems(llvm::cast<TupleExpr>(expr).items);
    return tuple;
  }
  case Expr::Kind::Conditional:
    return conditional(llvm::cast<ConditionalExpr>(expr));
  case Expr::Kind::FormattedString:
    return evalFormattedString(llvm::cast<FormattedStringExpr>(expr));
  case Expr::Kind::Named: {
    const auto &named = llvm::cast<NamedExpr>(expr);
    Value value = materialize(eval(*named.value), named.value->range);
    bind(named.name, value, named.range);
    return value;
  }
  case Expr::Kind::Comprehension:
    return evalComprehension(llvm::cast<ComprehensionExpr>(expr));
  case Expr::Kind::Starred:
    fail(Diag::unsupported_syntax, expr.range, "a starred expression here",
         "use it in a call or a tuple only");
  case Expr::Kind::Unsupported: {
    const auto &unsupported = llvm::cast<UnsupportedExpr>(expr);
    fail(Diag::unsupported_syntax, expr.range, unsupported.what, unsupported.instead);
  }
  }
  llvm_unreachable("all kinds of expressions are handled");
}

std::vector<Value> Walker::evalItems(llvm::ArrayRef<ExprPtr> items) {
  std::vector<Value> values;
  for (const ExprPtr &item : items) {
    const auto *starred = llvm::dyn_cast<StarredExpr>(item.get());
    if (!starred) {
      values.push_back(eval(*item));
      continue;
    }
    Value sequence = eval(*starred->value);
    const auto *tuple = sequence.getIf<Tuple>();
    if (!tuple)
      fail(Diag::unpack_kind, starred->range, sequence.describe());
    values.insert(values.end(), tuple->items.begin(), tuple->items.end());
  }
  return values;
}

bool Walker::decide(const Value &value, const SourceRange &range) {
  std::optional<bool> decided = truth(value);
  if (!decided)
    fail(Diag::condition_undecided, range, value.describe());
  return *decided;
}

Value Walker::evalBinary(BinaryOp op, const Value &lhs, const Value &rhs,
                         const SourceRange &range) {
  if (!lhs.isTensor() && !rhs.isTensor())
    return foldBinary(op, lhs, rhs, range);
  return semantic.binary(op, lhs, rhs, range);
}

Value Walker::evalBool(const BoolExpr &expr) {
  Value result = eval(*expr.values.front());
  SourceRange range = expr.values.front()->range;
  for (const ExprPtr &next : llvm::ArrayRef(expr.values).drop_front()) {
    if (!result.isTensor()) { // constants decide whether the rest is looked at
      if (decide(result, range) != expr.isAnd)
        return result;
      result = eval(*next);
    } else {
      result = semantic.logical(expr.isAnd, result, eval(*next), expr.range);
    }
    range = next->range;
  }
  return result;
}

Value Walker::evalUnary(const UnaryExpr &expr) {
  Value operand = eval(*expr.operand);
  if (!operand.isTensor())
    return foldUnary(expr.op, operand, expr.range);
  return semantic.unary(expr.op, operand, expr.range);
}

Value Walker::evalCompare(const CompareExpr &expr) {
  if (expr.ops.size() > 1)
    extension("a chained comparison", "write `a < b and b < c`", expr.range);
  // a < b < c is (a < b) and (b < c) with b evaluated once.
  Value lhs = eval(*expr.left), result = true;
  SourceRange range = expr.left->range;
  for (size_t i = 0; i < expr.ops.size(); ++i) {
    Value rhs = eval(*expr.rights[i]);
    SourceRange end = expr.rights[i]->range;
    range.endLine = end.endLine;
    range.endColumn = end.endColumn;
    Value one = compare(expr.ops[i], lhs, rhs, expr.ops.size() == 1 ? expr.range : range);
    result = result.isTensor() ? semantic.logical(true, result, one, expr.range) : one;
    if (!result.isTensor() && i + 1 < expr.ops.size() && !decide(result, range))
      return result; // as in Python, the rest is not looked at
    lhs = std::move(rhs);
    range = end;
  }
  return result;
}

Value Walker::compare(CompareOp op, const Value &lhs, const Value &rhs, const SourceRange &range) {
  if (op == CompareOp::In || op == CompareOp::NotIn) {
    extension("`in`", "compare with the items one by one", range);
    const auto *tuple = rhs.getIf<Tuple>();
    if (!holdsTensor(lhs) && !holdsTensor(rhs))
      return foldCompare(op, lhs, rhs, range);
    if (!tuple)
      fail(Diag::constexpr_operands, range, spelling(op), lhs.describe(), rhs.describe());
    Value found = contains(lhs, *tuple, range);
    if (op == CompareOp::In)
      return found;
    return found.isTensor() ? semantic.unary(UnaryOp::Not, found, range)
                            : foldUnary(UnaryOp::Not, found, range);
  }
  bool hasNone = lhs.isNone() || rhs.isNone();
  if (op == CompareOp::Is || op == CompareOp::IsNot) {
    // What is None, and what a name stands for, is known at compile time.
    if (!hasNone && (holdsTensor(lhs) || holdsTensor(rhs)))
      fail(Diag::identity_undecided, range, spelling(op), (holdsTensor(lhs) ? lhs : rhs).describe(),
           op == CompareOp::Is ? "==" : "!=");
    return foldCompare(op, lhs, rhs, range);
  }
  if (lhs.is<Tuple>() && rhs.is<Tuple>() && (holdsTensor(lhs) || holdsTensor(rhs))) {
    if (op != CompareOp::Eq && op != CompareOp::NotEq)
      fail(Diag::constexpr_operands, range, spelling(op), lhs.describe(), rhs.describe());
    const auto &x = lhs.as<Tuple>().items, &y = rhs.as<Tuple>().items;
    Value same = x.size() == y.size();
    for (size_t i = 0; i < x.size() && i < y.size(); ++i)
      same = both(true, same, itemsEqual(x[i], y[i], range), range);
    if (op == CompareOp::Eq)
      return same;
    return same.isTensor() ? semantic.unary(UnaryOp::Not, same, range)
                           : foldUnary(UnaryOp::Not, same, range);
  }
  if (!hasNone && (lhs.isTensor() || rhs.isTensor()))
    return semantic.compare(op, lhs, rhs, range);
  return foldCompare(op, lhs, rhs, range);
}

Value Walker::itemsEqual(const Value &x, const Value &y, const SourceRange &range) {
  for (const Value *value : {&x, &y})
    if (const auto *tensor = value->getIf<Tensor>();
        tensor && !tensor->type.isScalar() && !tensor->type.isPointer())
      fail(Diag::block_condition, range, tensor->type.str());
  // A run-time scalar equals numbers only.
  bool isRuntime = x.isTensor() || y.isTensor();
  if (isRuntime && !((x.isTensor() || x.isNumber()) && (y.isTensor() || y.isNumber())))
    return false;
  return compare(CompareOp::Eq, x, y, range);
}

/// `and` or `or` of two conditions that have been evaluated. One that is known decides, or drops
/// out.
Value Walker::both(bool isAnd, const Value &x, const Value &y, const SourceRange &range) {
  if (!x.isTensor())
    return decide(x, range) == isAnd ? y : x;
  if (!y.isTensor())
    return decide(y, range) == isAnd ? x : y;
  return semantic.logical(isAnd, x, y, range);
}

Value Walker::contains(const Value &item, const Tuple &tuple, const SourceRange &range) {
  Value found = false;
  for (const Value &candidate : tuple.items)
    found = both(false, found, itemsEqual(item, candidate, range), range);
  return found;
}

Value Walker::attribute(const Value &value, const std::string &name, const SourceRange &range) {
  std::vector<std::string> names;
  if (std::optional<Value> found = findAttribute(value, name, range, names))
    return *found;
  fail(Diag::unknown_attribute, range, value.describe(), name, didYouMean(name, names));
}

std::optional<Value> Walker::findAttribute(const Value &value, const std::string &name,
                                           const SourceRange &range,
                                           std::vector<std::string> &names) {
  if (const auto *tuple = value.getIf<Tuple>()) {
    for (size_t i = 0; i < tuple->names.size(); ++i)
      if (tuple->names[i] == name)
        return tuple->items[i];
    names = tuple->names;
    if (tuple->aggregate >= 0) {
      Host type{tuple->aggregate, "class"};
      std::optional<Value> found = environment.attribute(type, name, range);
      if (found && found->is<Function>())
        return BoundMethod{std::make_shared<Value>(value), name, nullptr, found->as<Function>()};
      if (found)
        return *found;
    }
  } else if (const auto *host = value.getIf<Host>()) {
    if (std::optional<Value> found = environment.attribute(*host, name, range))
      return *found;
    names = environment.attributeNames(*host);
  } else if (const auto *builtin = value.getIf<Builtin>()) {
    std::string scope = std::string(builtin->info->module) + "." + builtin->info->name;
    if (std::optional<Value> found = findConstant(scope, name))
      return *found;
    names = constantNames(scope);
  } else {
    if (name == "value" && value.isConstexpr())
      return value; // of a tl.constexpr
    if (std::optional<Value> found = semantic.attribute(value, name, range))
      return *found;
    if (name == "bit_length" && (value.is<Int>() || value.is<bool>()))
      return BoundMethod{std::make_shared<Value>(value), name, nullptr, Function()};
    if (value.isNumber()) // a folded argument has the methods of the scalar it is
      if (std::optional<Value> found =
              semantic.attribute(semantic.toTensor(value, range), name, range))
        return *found;
    if (value.isTensor() || value.isNumber())
      for (const BuiltinInfo *info : allBuiltins())
        if (info->isMethod)
          names.push_back(info->name);
  }
  return std::nullopt;
}

Value Walker::evalSubscript(const SubscriptExpr &expr) {
  Value value = eval(*expr.value);
  Value index = eval(*expr.index);
  if (const auto *tuple = value.getIf<Tuple>())
    return subscriptTuple(*tuple, index, expr.index->range);
  if (!value.isTensor())
    fail(Diag::not_subscriptable, expr.range, value.describe());
  if (const auto *indices = index.getIf<Tuple>())
    return semantic.subscript(value, *indices, expr.range);
  Tuple single;
  single.items.push_back(std::move(index));
  return semantic.subscript(value, single, expr.range);
}

Value Walker::evalFormattedString(const FormattedStringExpr &expr) {
  std::string text;
  for (const FormattedStringExpr::Part &part : expr.parts) {
    if (!part.value) {
      text += part.text;
      continue;
    }
    Value value = eval(*part.value);
    if (holdsTensor(value))
      fail(Diag::fstring_value, part.value->range, value.describe());
    std::string spec;
    if (part.spec)
      spec = pythonText(eval(*part.spec));
    if (part.conversion)
      value = pythonText(value, /*repr=*/part.conversion != 's');
    if (spec.empty()) {
      text += pythonText(value);
      continue;
    }
    std::optional<std::string> formatted = environment.format(value, spec);
    if (!formatted)
      fail(Diag::fstring_format, part.value->range, value.describe(), spec);
    text += *formatted;
  }
  return text;
}

void Walker::bindItem(const Expr &target, const Value &item) {
  if (const auto *name = llvm::dyn_cast<NameExpr>(&target)) {
    frame->locals[name->id] = Binding{item, name->range, false, nextVersion++};
    return;
  }
  const auto *names = llvm::dyn_cast<TupleExpr>(&target);
  const auto *items = item.getIf<Tuple>();
  if (!names)
    fail(Diag::unsupported_syntax, target.range, "this target of a loop", "use names");
  if (!items)
    fail(Diag::unpack_kind, target.range, item.describe());
  if (items->items.size() != names->items.size())
    fail(Diag::unpack_count, target.range, std::to_string(names->items.size()),
         items->items.size());
  for (size_t i = 0; i < names->items.size(); ++i)
    bindItem(*names->items[i], items->items[i]);
}

/// The names that a target of a loop binds.
static void collectNames(const Expr &target, std::vector<std::string> &names) {
  if (const auto *name = llvm::dyn_cast<NameExpr>(&target))
    names.push_back(name->id);
  if (const auto *tuple = llvm::dyn_cast<TupleExpr>(&target))
    for (const ExprPtr &item : tuple->items)
      collectNames(*item, names);
}

Value Walker::evalComprehension(const ComprehensionExpr &expr) {
  std::vector<Value> items;
  const auto *iteration = llvm::dyn_cast<CallExpr>(expr.iterable.get());
  // What is called is looked up once, before its arguments: a range is not evaluated as a call,
  // which would be an error outside of a loop.
  Value callee = iteration ? eval(*iteration->callee) : Value();
  const auto *builtin = callee.getIf<Builtin>();
  llvm::StringRef name = builtin ? builtin->info->name : "";
  if (name == "range" || name == "static_range") {
    extension("a list comprehension over a range", "write the items out", expr.iterable->range);
    items = staticRange(*iteration, *builtin->info, Diag::comprehension_bound);
  } else {
    Value sequence = iteration ? evalCall(*iteration, callee) : eval(*expr.iterable);
    const auto *tuple = sequence.getIf<Tuple>();
    if (!tuple || tuple->aggregate >= 0)
      fail(Diag::unsupported_syntax, expr.iterable->range,
           "a list comprehension over " + sequence.describe(),
           "comprehensions run over tuples, lists and ranges of constants");
    items = tuple->items;
  }
  Tuple result;
  // Its variables are its own, and hide the function's while it runs; what := names in it is
  // the function's.
  std::vector<std::string> own;
  collectNames(*expr.target, own);
  Locals hidden;
  for (const std::string &name : own)
    if (auto found = frame->locals.find(name); found != frame->locals.end())
      hidden.insert(*found);
  for (const Value &item : items) {
    bindItem(*expr.target, item);
    bool isKept = llvm::all_of(expr.conditions, [&](const ExprPtr &condition) {
      return decide(eval(*condition), condition->range);
    });
    if (isKept)
      result.items.push_back(eval(*expr.element));
  }
  for (const std::string &name : own)
    frame->locals.erase(name);
  frame->locals.insert(hidden.begin(), hidden.end());
  return result;
}

} // namespace nereid::frontend
