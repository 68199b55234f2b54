// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AstImport.cpp - CPython's ast to the compiler's --------------------===//
//
// A walk over the nodes of Python's `ast`, by the names of their classes, which
// makes typed nodes with source ranges. What they mean is the Walker's
// business. Syntax that no kernel can have becomes an Unsupported node with
// what it is and what to write instead: an error only where control comes to
// it, so a branch on constants that is not taken may contain whatever Python
// allows.
//
// Columns of `ast` are counted in bytes from 0, ours from 1. The range of a
// statement with a body is its head alone, so that an error about a loop does
// not underline all of it.
//
// Depth is limited, since the compiler recurses over the tree.
//
//===----------------------------------------------------------------------===//
#include "AstImport.h"

#include "nereid/Frontend/Constexpr.h"

#include "llvm/ADT/StringSwitch.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nereid;
using namespace nereid::frontend;

namespace nereid::python {
namespace {

std::string text(nb::handle object) { return nb::cast<std::string>(nb::str(object)); }

/// Name of a node's class: "BinOp".
llvm::StringRef kindOf(nb::handle node) {
  llvm::StringRef name = Py_TYPE(node.ptr())->tp_name;
  return name.substr(name.rfind('.') + 1);
}

struct Refusal {
  const char *what, *instead;
};

Refusal refuseExpr(llvm::StringRef kind) {
  return llvm::StringSwitch<Refusal>(kind)
      .Case("Lambda", {"a lambda", "define the function at module level with @nereid.jit"})
      .Case("Dict", {"a dictionary", "use a tuple or a named tuple"})
      .Case("DictComp", {"a dictionary comprehension", "use a tuple or a named tuple"})
      .Case("Set", {"a set", "use a tuple"})
      .Case("SetComp", {"a set comprehension", "use a tuple"})
      .Case("GeneratorExp", {"a generator expression", "use a list comprehension over a tuple"})
      .Case("Await",
            {"`await`", "kernels run to their end; wait for other programs with `dl.wait`"})
      .Cases({"Yield", "YieldFrom"},
             {"`yield`", "return the values, or write them with `tl.store`"})
      .Cases({"TemplateStr", "Interpolation"},
             {"a template string", "use an f-string of constants"})
      .Default({"this expression", ""});
}

Refusal refuseStmt(llvm::StringRef kind) {
  return llvm::StringSwitch<Refusal>(kind)
      .Case("AsyncWith", {"`async with`", "write its body without it"})
      .Cases({"Try", "TryStar"},
             {"`try`",
              "kernels raise no exceptions: check conditions with `if` or `tl.device_assert`"})
      .Case("Raise", {"`raise`", "report errors with `tl.device_assert` or `tl.static_assert`"})
      .Cases({"Import", "ImportFrom"}, {"`import`", "import at module level"})
      .Cases({"Global", "Nonlocal"},
             {"an assignment to global variables", "return the value, or write it with `tl.store`"})
      .Case("Delete", {"`del`", "drop the statement: unused values cost nothing"})
      .Case("ClassDef", {"a class definition", "define it at module level"})
      .Cases({"FunctionDef", "AsyncFunctionDef"},
             {"a nested function", "define it at module level with @nereid.jit"})
      .Case("AsyncFor", {"`async for`", "use `for`"})
      .Case("Match", {"`match`", "use `if` and `elif`"})
      .Case("TypeAlias", {"a type alias", "define it at module level"})
      .Default({"this statement", ""});
}

/// A dictionary whose keys are all tuples.
bool isOverloadTable(nb::handle node) {
  nb::object keys = node.attr("keys");
  for (nb::handle key : keys)
    if (key.is_none() || kindOf(key) != "Tuple")
      return false;
  return nb::len(keys) > 0;
}

class Importer {
public:
  explicit Importer(std::shared_ptr<const SourceFile> file) : file(std::move(file)) {}

  std::unique_ptr<FunctionDef> function(nb::handle node);

private:
  std::shared_ptr<const SourceFile> file;

  SourceRange range(nb::handle node) {
    SourceRange r;
    r.file = file;
    r.line = nb::cast<unsigned>(node.attr("lineno"));
    r.column = nb::cast<unsigned>(node.attr("col_offset")) + 1;
    nb::object endLine = node.attr("end_lineno"), endColumn = node.attr("end_col_offset");
    r.endLine = endLine.is_none() ? r.line : nb::cast<unsigned>(endLine);
    r.endColumn = endColumn.is_none() ? r.column + 1 : nb::cast<unsigned>(endColumn) + 1;
    return r;
  }

  /// From the start of `node` to the end of `last`: a header without its body.
  SourceRange headRange(nb::handle node, const SourceRange &last) {
    SourceRange r = range(node);
    r.endLine = last.endLine;
    r.endColumn = last.endColumn;
    return r;
  }

  template <typename NodeType> static std::unique_ptr<NodeType> make(SourceRange range) {
    return std::make_unique<NodeType>(std::move(range));
  }

  ExprPtr optional(nb::handle node) { return node.is_none() ? nullptr : expr(node); }

  std::vector<ExprPtr> list(nb::handle nodes) {
    std::vector<ExprPtr> result;
    for (nb::handle node : nodes)
      result.push_back(expr(node));
    return result;
  }

  Block block(nb::handle nodes) {
    Block result;
    for (nb::handle node : nodes)
      result.push_back(stmt(node));
    return result;
  }

  ExprPtr refuse(nb::handle node, std::string what, std::string instead) {
    auto result = make<UnsupportedExpr>(range(node));
    result->what = std::move(what);
    result->instead = std::move(instead);
    return result;
  }

  static BinaryOp binaryOp(nb::handle op) {
    return llvm::StringSwitch<BinaryOp>(kindOf(op))
        .Case("Add", BinaryOp::Add)
        .Case("Sub", BinaryOp::Sub)
        .Case("Mult", BinaryOp::Mult)
        .Case("Div", BinaryOp::Div)
        .Case("FloorDiv", BinaryOp::FloorDiv)
        .Case("Mod", BinaryOp::Mod)
        .Case("Pow", BinaryOp::Pow)
        .Case("LShift", BinaryOp::LShift)
        .Case("RShift", BinaryOp::RShift)
        .Case("BitAnd", BinaryOp::BitAnd)
        .Case("BitOr", BinaryOp::BitOr)
        .Case("BitXor", BinaryOp::BitXor)
        .Default(BinaryOp::MatMult);
  }

  static CompareOp compareOp(nb::handle op) {
    return llvm::StringSwitch<CompareOp>(kindOf(op))
        .Case("Eq", CompareOp::Eq)
        .Case("NotEq", CompareOp::NotEq)
        .Case("Lt", CompareOp::Lt)
        .Case("LtE", CompareOp::LtE)
        .Case("Gt", CompareOp::Gt)
        .Case("GtE", CompareOp::GtE)
        .Case("Is", CompareOp::Is)
        .Case("IsNot", CompareOp::IsNot)
        .Case("In", CompareOp::In)
        .Default(CompareOp::NotIn);
  }

  static UnaryOp unaryOp(nb::handle op) {
    return llvm::StringSwitch<UnaryOp>(kindOf(op))
        .Case("UAdd", UnaryOp::UAdd)
        .Case("USub", UnaryOp::USub)
        .Case("Not", UnaryOp::Not)
        .Default(UnaryOp::Invert);
  }

  unsigned depth = 0;
  /// Counts how deep syntax is nested while it lives; the compiler recurses over it.
  struct Deeper {
    Deeper(Importer &importer, nb::handle node) : importer(importer) {
      if (++importer.depth > maxDepth) {
        importer.depth = 0;
        throw CompileError(makeDiagnostic(Diag::nested_too_deeply, importer.range(node), maxDepth));
      }
    }
    ~Deeper() { --importer.depth; }
    Importer &importer;
  };
  static constexpr unsigned maxDepth = 500;

  ExprPtr constant(nb::handle node);
  ExprPtr formattedString(nb::handle node);
  ExprPtr call(nb::handle node);
  ExprPtr comprehension(nb::handle node);
  ExprPtr expr(nb::handle node);
  StmtPtr assign(nb::handle node, llvm::StringRef kind);
  StmtPtr stmt(nb::handle node);
  void params(nb::handle arguments, FunctionDef &function);
};

ExprPtr Importer::constant(nb::handle node) {
  auto result = make<ConstantExpr>(range(node));
  nb::object value = node.attr("value");
  if (value.is_none())
    return result;
  if (PyBool_Check(value.ptr())) {
    result->value = value.ptr() == Py_True;
  } else if (PyLong_Check(value.ptr())) {
    std::optional<Int> integer = importInt(value);
    if (!integer)
      return refuse(node, "an integer of more than 128 bits", "values have at most 64 bits");
    result->value = *integer;
  } else if (PyFloat_Check(value.ptr())) {
    result->value = PyFloat_AsDouble(value.ptr());
  } else if (PyUnicode_Check(value.ptr())) {
    result->value = nb::cast<std::string>(value);
  } else if (PyComplex_Check(value.ptr())) {
    return refuse(node, "a complex number", "keep real and imaginary parts in two values");
  } else if (PyBytes_Check(value.ptr())) {
    return refuse(node, "a bytes object", "use a string");
  } else {
    return refuse(node, "`...`", "index with `:` and `None` for each dimension");
  }
  return result;
}

ExprPtr Importer::formattedString(nb::handle node) {
  auto result = make<FormattedStringExpr>(range(node));
  for (nb::handle value : node.attr("values")) {
    FormattedStringExpr::Part part;
    if (kindOf(value) == "Constant") {
      part.text = text(value.attr("value"));
    } else {
      part.value = expr(value.attr("value"));
      int conversion = nb::cast<int>(value.attr("conversion"));
      part.conversion = conversion > 0 ? static_cast<char>(conversion) : 0;
      part.spec = optional(value.attr("format_spec"));
    }
    result->parts.push_back(std::move(part));
  }
  return result;
}

ExprPtr Importer::call(nb::handle node) {
  auto result = make<CallExpr>(range(node));
  result->callee = expr(node.attr("func"));
  result->args = list(node.attr("args"));
  for (nb::handle keyword : node.attr("keywords")) {
    nb::object name = keyword.attr("arg");
    result->keywords.push_back(
        {name.is_none() ? "" : text(name), expr(keyword.attr("value")), range(keyword)});
  }
  return result;
}

ExprPtr Importer::comprehension(nb::handle node) {
  nb::object generators = node.attr("generators");
  if (nb::len(generators) != 1)
    return refuse(node, "a list comprehension with several `for`", "use one `for`");
  nb::object generator = generators[0];
  auto result = make<ComprehensionExpr>(range(node));
  result->element = expr(node.attr("elt"));
  result->target = expr(generator.attr("target"));
  result->iterable = expr(generator.attr("iter"));
  result->conditions = list(generator.attr("ifs"));
  return result;
}

ExprPtr Importer::expr(nb::handle node) {
  Deeper deeper(*this, node);
  llvm::StringRef kind = kindOf(node);
  if (kind == "Name") {
    auto result = make<NameExpr>(range(node));
    result->id = text(node.attr("id"));
    return result;
  }
  if (kind == "Constant")
    return constant(node);
  if (kind == "Attribute") {
    auto result = make<AttributeExpr>(range(node));
    result->value = expr(node.attr("value"));
    result->name = text(node.attr("attr"));
    return result;
  }
  if (kind == "Call")
    return call(node);
  if (kind == "BinOp") {
    auto result = make<BinaryExpr>(range(node));
    result->op = binaryOp(node.attr("op"));
    result->lhs = expr(node.attr("left"));
    result->rhs = expr(node.attr("right"));
    return result;
  }
  if (kind == "BoolOp") {
    auto result = make<BoolExpr>(range(node));
    result->isAnd = kindOf(node.attr("op")) == "And";
    result->values = list(node.attr("values"));
    return result;
  }
  if (kind == "UnaryOp") {
    auto result = make<UnaryExpr>(range(node));
    result->op = unaryOp(node.attr("op"));
    result->operand = expr(node.attr("operand"));
    return result;
  }
  if (kind == "Compare") {
    auto result = make<CompareExpr>(range(node));
    result->left = expr(node.attr("left"));
    for (nb::handle op : node.attr("ops"))
      result->ops.push_back(compareOp(op));
    result->rights = list(node.attr("comparators"));
    return result;
  }
  if (kind == "Subscript") {
    auto result = make<SubscriptExpr>(range(node));
    result->value = expr(node.attr("value"));
    result->index = expr(node.attr("slice"));
    return result;
  }
  if (kind == "Slice") {
    auto result = make<SliceExpr>(range(node));
    result->lower = optional(node.attr("lower"));
    result->upper = optional(node.attr("upper"));
    result->step = optional(node.attr("step"));
    return result;
  }
  if (kind == "Tuple" || kind == "List") {
    auto result = make<TupleExpr>(range(node));
    result->items = list(node.attr("elts"));
    return result;
  }
  // The table of a library function's overloads: {(dtype, ...): (symbol, dtype)}.
  if (kind == "Dict" && isOverloadTable(node)) {
    auto result = make<TupleExpr>(range(node));
    nb::object keys = node.attr("keys"), values = node.attr("values");
    for (size_t i = 0, count = nb::len(keys); i < count; ++i) {
      auto pair = make<TupleExpr>(range(keys[i]));
      pair->items.push_back(expr(keys[i]));
      pair->items.push_back(expr(values[i]));
      result->items.push_back(std::move(pair));
    }
    return result;
  }
  if (kind == "IfExp") {
    auto result = make<ConditionalExpr>(range(node));
    result->test = expr(node.attr("test"));
    result->body = expr(node.attr("body"));
    result->orelse = expr(node.attr("orelse"));
    return result;
  }
  if (kind == "JoinedStr")
    return formattedString(node);
  if (kind == "Starred") {
    auto result = make<StarredExpr>(range(node));
    result->value = expr(node.attr("value"));
    return result;
  }
  if (kind == "NamedExpr") {
    auto result = make<NamedExpr>(range(node));
    result->name = text(node.attr("target").attr("id"));
    result->value = expr(node.attr("value"));
    return result;
  }
  if (kind == "ListComp")
    return comprehension(node);
  Refusal refusal = refuseExpr(kind);
  return refuse(node, refusal.what, refusal.instead);
}

StmtPtr Importer::assign(nb::handle node, llvm::StringRef kind) {
  if (kind == "Assign") {
    auto result = make<AssignStmt>(range(node));
    result->targets = list(node.attr("targets"));
    result->value = expr(node.attr("value"));
    return result;
  }
  if (kind == "AugAssign") {
    auto result = make<AugAssignStmt>(range(node));
    result->target = expr(node.attr("target"));
    result->op = binaryOp(node.attr("op"));
    result->value = expr(node.attr("value"));
    return result;
  }
  auto result = make<AnnAssignStmt>(range(node));
  result->target = expr(node.attr("target"));
  nb::object annotation = node.attr("annotation");
  llvm::StringRef annotationKind = kindOf(annotation);
  std::string name = annotationKind == "Name"        ? text(annotation.attr("id"))
                     : annotationKind == "Attribute" ? text(annotation.attr("attr"))
                     : annotationKind == "Constant"  ? text(annotation.attr("value"))
                                                     : "";
  result->isConstexpr = name == "constexpr" || llvm::StringRef(name).ends_with(".constexpr");
  result->value = optional(node.attr("value"));
  return result;
}

StmtPtr Importer::stmt(nb::handle node) {
  Deeper deeper(*this, node);
  llvm::StringRef kind = kindOf(node);
  if (kind == "Assign" || kind == "AugAssign" || kind == "AnnAssign")
    return assign(node, kind);
  if (kind == "Expr") {
    auto result = make<ExprStmt>(range(node));
    result->value = expr(node.attr("value"));
    return result;
  }
  if (kind == "If") {
    ExprPtr test = expr(node.attr("test"));
    auto result = make<IfStmt>(headRange(node, test->range));
    result->test = std::move(test);
    result->body = block(node.attr("body"));
    result->orelse = block(node.attr("orelse"));
    return result;
  }
  if (kind == "For") {
    ExprPtr iterable = expr(node.attr("iter"));
    auto result = make<ForStmt>(headRange(node, iterable->range));
    result->target = expr(node.attr("target"));
    result->iterable = std::move(iterable);
    result->body = block(node.attr("body"));
    result->orelse = block(node.attr("orelse"));
    return result;
  }
  if (kind == "While") {
    ExprPtr test = expr(node.attr("test"));
    auto result = make<WhileStmt>(headRange(node, test->range));
    result->test = std::move(test);
    result->body = block(node.attr("body"));
    result->orelse = block(node.attr("orelse"));
    return result;
  }
  if (kind == "With") {
    std::vector<WithStmt::Item> items;
    for (nb::handle item : node.attr("items"))
      items.push_back({expr(item.attr("context_expr")), optional(item.attr("optional_vars"))});
    auto result = make<WithStmt>(headRange(node, items.back().context->range));
    result->items = std::move(items);
    result->body = block(node.attr("body"));
    return result;
  }
  if (kind == "Return") {
    auto result = make<ReturnStmt>(range(node));
    result->value = optional(node.attr("value"));
    return result;
  }
  if (kind == "Assert") {
    auto result = make<AssertStmt>(range(node));
    result->test = expr(node.attr("test"));
    result->message = optional(node.attr("msg"));
    return result;
  }
  if (kind == "Pass")
    return make<PassStmt>(range(node));
  if (kind == "Break")
    return make<BreakStmt>(range(node));
  if (kind == "Continue")
    return make<ContinueStmt>(range(node));

  Refusal refusal = refuseStmt(kind);
  SourceRange where = range(node);
  if (where.endLine != where.line) { // the first line says enough
    where.endLine = where.line;
    where.endColumn = llvm::StringRef(file->line(where.line)).rtrim().size() + 1;
  }
  auto result = make<UnsupportedStmt>(where);
  result->what = refusal.what;
  result->instead = refusal.instead;
  return result;
}

void Importer::params(nb::handle arguments, FunctionDef &function) {
  auto add = [&](nb::handle arg, bool isVariadic, bool isKeywordOnly) {
    Param param;
    param.name = text(arg.attr("arg"));
    param.range = range(arg);
    param.isVariadic = isVariadic;
    param.isKeywordOnly = isKeywordOnly;
    function.params.push_back(std::move(param));
  };
  for (nb::handle arg : arguments.attr("posonlyargs"))
    add(arg, false, false);
  for (nb::handle arg : arguments.attr("args"))
    add(arg, false, false);
  nb::object variadic = arguments.attr("vararg"), mapping = arguments.attr("kwarg");
  if (!variadic.is_none())
    add(variadic, true, false);
  for (nb::handle arg : arguments.attr("kwonlyargs"))
    add(arg, false, true);
  if (!mapping.is_none())
    throw CompileError(makeDiagnostic(Diag::unsupported_syntax, range(mapping),
                                      "a parameter that collects keywords",
                                      "name the parameters one by one"));
}

std::unique_ptr<FunctionDef> Importer::function(nb::handle node) {
  auto result = std::make_unique<FunctionDef>();
  result->name = text(node.attr("name"));
  result->range = range(node);
  // The name stands behind "def" and white space on the node's first line.
  llvm::StringRef line = file->line(result->range.line);
  size_t at = line.find(result->name, result->range.column + 2);
  if (at == llvm::StringRef::npos)
    at = result->range.column - 1;
  result->nameRange = result->range;
  result->nameRange.column = at + 1;
  result->nameRange.endLine = result->range.line;
  result->nameRange.endColumn = at + 1 + result->name.size();
  result->range.endLine = result->range.line;
  result->range.endColumn = line.rtrim().size() + 1;
  if (kindOf(node) != "FunctionDef")
    throw CompileError(
        makeDiagnostic(Diag::unsupported_syntax, result->nameRange, "`async def`", "use `def`"));
  params(node.attr("args"), *result);
  result->body = block(node.attr("body"));
  return result;
}

} // namespace

std::unique_ptr<FunctionDef> importFunction(nb::handle function,
                                            std::shared_ptr<const SourceFile> file) {
  return Importer(std::move(file)).function(function);
}

std::optional<Int> importInt(nb::handle integer) {
  int overflow = 0;
  long long small = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  if (!overflow) {
    if (small == -1 && PyErr_Occurred())
      throw nb::python_error();
    return Int(small);
  }
  // int(x), because subclasses may print otherwise.
  nb::object plain = nb::steal(PyNumber_Long(integer.ptr()));
  return parseInt(text(plain));
}

nb::object exportInt(Int integer) {
  if (integer >= INT64_MIN && integer <= INT64_MAX)
    return nb::steal(PyLong_FromLongLong(static_cast<long long>(integer)));
  return nb::steal(PyLong_FromString(toString(integer).c_str(), nullptr, 10));
}

} // namespace nereid::python
