// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Syntax trees built by hand, and an Environment over a table.
#ifndef NEREID_UNITTESTS_FRONTEND_FIXTURE_H
#define NEREID_UNITTESTS_FRONTEND_FIXTURE_H

#include "nereid/Frontend/Codegen.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <map>

namespace nereid::frontend {

/// Nodes with made-up positions: each stands on a line of its own.
class TreeBuilder {
public:
  TreeBuilder() {
    auto source = std::make_shared<SourceFile>();
    source->path = "kernel.py";
    for (int i = 0; i < 1000; ++i)
      source->lines.push_back("line" + std::to_string(i + 1));
    file = source;
  }

  SourceRange place() {
    ++line;
    return {file, line, 1, line, 5};
  }

  template <typename T> std::unique_ptr<T> node() { return std::make_unique<T>(place()); }

  ExprPtr name(std::string id) {
    auto e = node<NameExpr>();
    e->id = std::move(id);
    return e;
  }
  ExprPtr constant(Value value) {
    auto e = node<ConstantExpr>();
    e->value = std::move(value);
    return e;
  }
  ExprPtr number(int64_t i) { return constant(Int(i)); }
  ExprPtr binary(BinaryOp op, ExprPtr lhs, ExprPtr rhs) {
    auto e = node<BinaryExpr>();
    e->op = op;
    e->lhs = std::move(lhs);
    e->rhs = std::move(rhs);
    return e;
  }
  ExprPtr compare(CompareOp op, ExprPtr lhs, ExprPtr rhs) {
    auto e = node<CompareExpr>();
    e->left = std::move(lhs);
    e->ops.push_back(op);
    e->rights.push_back(std::move(rhs));
    return e;
  }
  template <typename... Args> ExprPtr call(std::string callee, Args... args) {
    auto e = node<CallExpr>();
    e->callee = name(std::move(callee));
    (e->args.push_back(std::move(args)), ...);
    return e;
  }
  StmtPtr assign(std::string target, ExprPtr value) {
    auto s = node<AssignStmt>();
    s->targets.push_back(name(std::move(target)));
    s->value = std::move(value);
    return s;
  }
  StmtPtr evaluate(ExprPtr value) {
    auto s = node<ExprStmt>();
    s->value = std::move(value);
    return s;
  }
  StmtPtr ret(ExprPtr value = nullptr) {
    auto s = node<ReturnStmt>();
    s->value = std::move(value);
    return s;
  }
  StmtPtr branch(ExprPtr test, Block body, Block orelse = {}) {
    auto s = node<IfStmt>();
    s->test = std::move(test);
    s->body = std::move(body);
    s->orelse = std::move(orelse);
    return s;
  }
  StmtPtr loop(std::string target, ExprPtr iterable, Block body) {
    auto s = node<ForStmt>();
    s->target = name(std::move(target));
    s->iterable = std::move(iterable);
    s->body = std::move(body);
    return s;
  }
  StmtPtr whileLoop(ExprPtr test, Block body) {
    auto s = node<WhileStmt>();
    s->test = std::move(test);
    s->body = std::move(body);
    return s;
  }
  template <typename... Stmts> static Block block(Stmts... stmts) {
    Block result;
    (result.push_back(std::move(stmts)), ...);
    return result;
  }
  std::unique_ptr<FunctionDef> function(std::string name, std::vector<std::string> params,
                                        Block body) {
    auto f = std::make_unique<FunctionDef>();
    f->name = std::move(name);
    f->range = f->nameRange = place();
    for (std::string &param : params) {
      Param p;
      p.isConstexpr = llvm::StringRef(param).consume_front("!") ? (param.erase(0, 1), true) : false;
      p.name = param;
      p.range = place();
      f->params.push_back(std::move(p));
    }
    f->body = std::move(body);
    return f;
  }

  std::shared_ptr<const SourceFile> file;
  unsigned line = 0;
};

class TableEnvironment : public Environment {
public:
  std::map<std::string, Value> table;

  std::optional<Value> lookup(const FunctionDef &, llvm::StringRef name,
                              const SourceRange &) override {
    if (auto found = table.find(name.str()); found != table.end())
      return found->second;
    for (const char *module : {"tl", "python", "dl"})
      if (const BuiltinInfo *info = findBuiltin(module, name))
        return Value(Builtin{info});
    return std::nullopt;
  }
  std::optional<Value> attribute(const Host &, llvm::StringRef, const SourceRange &) override {
    return std::nullopt;
  }
  Value call(const Host &callee, llvm::ArrayRef<Value> args,
             llvm::ArrayRef<std::pair<std::string, Value>>, const SourceRange &) override {
    calls.push_back(callee.description + "(" + std::to_string(args.size()) + ")");
    return Int(args.size());
  }
  std::vector<std::string> visibleNames(const FunctionDef &) override {
    std::vector<std::string> names;
    for (const auto &[name, value] : table)
      names.push_back(name);
    return names;
  }

  std::vector<std::string> calls;
};

class CollectingSink : public DiagnosticSink {
public:
  void report(const Diagnostic &diagnostic) override { diagnostics.push_back(diagnostic); }
  std::vector<Diagnostic> diagnostics;
};

class WalkerTest : public ::testing::Test, public TreeBuilder {
protected:
  WalkerTest() { loadDialects(context); }

  static KernelArgument runtime(std::string type, int divisibility = 0) {
    KernelArgument argument;
    argument.type = std::move(type);
    argument.divisibility = divisibility;
    return argument;
  }
  static KernelArgument constexprArgument(Value value) {
    KernelArgument argument;
    argument.constant = std::move(value);
    return argument;
  }

  mlir::OwningOpRef<mlir::ModuleOp> build(const FunctionDef &function,
                                          std::vector<KernelArgument> arguments) {
    auto module = tryBuild(function, std::move(arguments));
    if (!module)
      throw CompileError(takeDiagnostic(module.takeError())); // ends the test
    return std::move(*module);
  }
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
  tryBuild(const FunctionDef &function, std::vector<KernelArgument> arguments) {
    KernelRequest request;
    request.function = &function;
    request.arguments = std::move(arguments);
    return buildModule(context, request, environment, sink);
  }

  /// The diagnostic that building ends with.
  Diagnostic failure(const FunctionDef &function, std::vector<KernelArgument> arguments) {
    auto module = tryBuild(function, std::move(arguments));
    if (!module)
      return takeDiagnostic(module.takeError());
    ADD_FAILURE() << "no error";
    return {};
  }

  static std::string text(mlir::ModuleOp module) {
    std::string result;
    llvm::raw_string_ostream os(result);
    module.print(os);
    return result;
  }

  mlir::MLIRContext context;
  TableEnvironment environment;
  CollectingSink sink;
};

} // namespace nereid::frontend

#endif // NEREID_UNITTESTS_FRONTEND_FIXTURE_H
