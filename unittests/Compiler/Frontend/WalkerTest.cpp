// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Fixture.h"

#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <random>

using namespace nereid;
using namespace nereid::frontend;

namespace {

TEST_F(WalkerTest, ArgumentsKeepNamesAndDivisibility) {
  auto kernel = function("kernel", {"p", "one", "n"}, {});
  auto module = build(*kernel, {runtime("*fp16", 16), constexprArgument(Int(1)), runtime("u64")});
  auto func = *module->getOps<tt::FuncOp>().begin();
  EXPECT_EQ(func.getSymName(), "kernel");
  ASSERT_EQ(func.getNumArguments(), 2u);
  EXPECT_EQ(func.getArgAttrOfType<mlir::IntegerAttr>(0, "tt.divisibility").getInt(), 16);
  EXPECT_FALSE(func.getArgAttr(1, "tt.divisibility"));
  auto name = mlir::dyn_cast<mlir::NameLoc>(func.getArgument(1).getLoc());
  ASSERT_TRUE(name);
  EXPECT_EQ(name.getName(), "n");
  auto place = mlir::dyn_cast<mlir::FileLineColRange>(name.getChildLoc());
  ASSERT_TRUE(place);
  EXPECT_EQ(place.getFilename(), "kernel.py");
  EXPECT_EQ(place.getStartLine(), kernel->params[2].range.line);
}

TEST_F(WalkerTest, OperationsStandWhereTheUserWroteThem) {
  auto kernel =
      function("kernel", {"n"}, block(evaluate(binary(BinaryOp::Add, name("n"), name("n")))));
  const auto &sum = llvm::cast<ExprStmt>(*kernel->body.front()).value;
  auto module = build(*kernel, {runtime("i32")});
  bool isFound = false;
  module->walk([&](mlir::arith::AddIOp op) {
    auto place = mlir::dyn_cast<mlir::FileLineColRange>(op.getLoc());
    ASSERT_TRUE(place);
    EXPECT_EQ(place.getStartLine(), sum->range.line);
    isFound = true;
  });
  EXPECT_TRUE(isFound);
}

TEST_F(WalkerTest, InlinedOperationsCarryTheirCall) {
  auto callee = function("square", {"a"}, block(ret(binary(BinaryOp::Mult, name("a"), name("a")))));
  environment.table["square"] = Function{callee.get()};
  auto kernel = function("kernel", {"n"}, block(evaluate(call("square", name("n")))));
  auto module = build(*kernel, {runtime("i32")});
  module->walk([&](mlir::arith::MulIOp op) {
    auto site = mlir::dyn_cast<mlir::CallSiteLoc>(op.getLoc());
    ASSERT_TRUE(site);
    EXPECT_EQ(mlir::cast<mlir::FileLineColRange>(site.getCaller()).getStartLine(),
              llvm::cast<ExprStmt>(*kernel->body.front()).value->range.line);
  });
  EXPECT_EQ(text(*module).find("tt.call"), std::string::npos);
}

TEST_F(WalkerTest, UnknownNameSuggestsANearOne) {
  environment.table["threshold"] = Int(3);
  auto kernel = function("kernel", {}, block(evaluate(name("treshold"))));
  Diagnostic d = failure(*kernel, {});
  EXPECT_EQ(d.id, Diag::unknown_name);
  EXPECT_EQ(d.help, "did you mean 'threshold'?");
  EXPECT_EQ(d.range.line, llvm::cast<ExprStmt>(*kernel->body.front()).value->range.line);
}

TEST_F(WalkerTest, HostFunctionsGetConstantsOnly) {
  environment.table["host"] = Host{1, "host"};
  auto good =
      function("kernel", {"n"},
               block(evaluate(call("arange", number(0), call("host", number(7), number(8))))));
  EXPECT_NE(text(*build(*good, {runtime("i32")})).find("tensor<2xi32>"), std::string::npos);
  EXPECT_EQ(environment.calls, std::vector<std::string>{"host(2)"});
  auto bad = function("kernel", {"n"}, block(evaluate(call("host", name("n")))));
  EXPECT_EQ(failure(*bad, {runtime("i32")}).id, Diag::host_call_runtime_argument);
}

TEST_F(WalkerTest, RequestsAreChecked) {
  auto kernel = function("kernel", {"n", "!C"}, {});
  EXPECT_EQ(failure(*kernel, {runtime("i32")}).id, Diag::kernel_argument_count);
  EXPECT_EQ(failure(*kernel, {runtime("int"), constexprArgument(Int(1))}).id,
            Diag::kernel_argument_type);
  EXPECT_EQ(failure(*kernel, {runtime("i32"), runtime("i32")}).id, Diag::kernel_argument_constexpr);
}

TEST_F(WalkerTest, TreesAreWalkedOnce) {
  // A loop whose body calls a host function: one call, one walk.
  environment.table["host"] = Host{1, "host"};
  Block body =
      block(evaluate(call("host")), assign("a", binary(BinaryOp::Add, name("a"), name("i"))));
  auto kernel =
      function("kernel", {"n"},
               block(assign("a", number(0)), loop("i", call("range", name("n")), std::move(body))));
  build(*kernel, {runtime("i32")});
  EXPECT_EQ(environment.calls.size(), 1u);
}

TEST_F(WalkerTest, UnsupportedSyntaxIsRefusedWhereItIsReached) {
  auto unsupported = [&] {
    auto e = node<UnsupportedExpr>();
    e->what = "a lambda";
    e->instead = "define a function";
    return ExprPtr(std::move(e));
  };
  auto skipped =
      function("kernel", {}, block(branch(constant(false), block(evaluate(unsupported())))));
  build(*skipped, {});
  auto reached =
      function("kernel", {}, block(branch(constant(true), block(evaluate(unsupported())))));
  Diagnostic d = failure(*reached, {});
  EXPECT_EQ(d.message, "a lambda cannot be used in a kernel");
  EXPECT_EQ(d.help, "define a function");
}

TEST_F(WalkerTest, AssignedNames) {
  Block inner = block(assign("b", number(1)), assign("a", number(2)));
  Block body = block(assign("a", number(0)), loop("i", call("range", name("n")), std::move(inner)),
                     whileLoop(name("c"), block(assign("d", name("e")))));
  std::vector<std::string> names;
  for (const AssignedName &assigned : assignedNames(body))
    names.push_back(assigned.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "i", "b", "d"}));
}

// ---- early returns and branches, run by folding the IR ----------------------------

/// Random functions of branches, assignments and returns over two variables, with
/// what they compute.
class RandomFunction {
public:
  RandomFunction(TreeBuilder &tree, unsigned seed) : tree(tree), random(seed) {}

  Block body() {
    Block result = block(4);
    result.push_back(tree.ret(expression()));
    return result;
  }

  static int64_t value(const Expr &e, const std::map<std::string, int64_t> &locals) {
    if (const auto *n = llvm::dyn_cast<NameExpr>(&e))
      return locals.at(n->id);
    if (const auto *c = llvm::dyn_cast<ConstantExpr>(&e))
      return static_cast<int64_t>(c->value.as<Int>());
    if (const auto *b = llvm::dyn_cast<BinaryExpr>(&e)) {
      int64_t x = value(*b->lhs, locals), y = value(*b->rhs, locals);
      return b->op == BinaryOp::Add ? x + y : b->op == BinaryOp::Sub ? x - y : (x & y);
    }
    const auto &c = llvm::cast<CompareExpr>(e);
    return value(*c.left, locals) < value(*c.rights[0], locals);
  }

  /// Runs `block` as Python would; nullopt when it falls through.
  static std::optional<int64_t> run(const Block &block, std::map<std::string, int64_t> &locals) {
    for (const StmtPtr &s : block) {
      if (const auto *a = llvm::dyn_cast<AssignStmt>(s.get()))
        locals[llvm::cast<NameExpr>(*a->targets[0]).id] = value(*a->value, locals);
      else if (const auto *r = llvm::dyn_cast<ReturnStmt>(s.get()))
        return value(*r->value, locals);
      else {
        const auto &b = llvm::cast<IfStmt>(*s);
        if (auto result = run(value(*b.test, locals) ? b.body : b.orelse, locals))
          return result;
      }
    }
    return std::nullopt;
  }

private:
  TreeBuilder &tree;
  std::mt19937 random;

  unsigned pick(unsigned n) { return random() % n; }

  ExprPtr leaf() {
    if (pick(3) == 0)
      return tree.number(pick(20));
    return tree.name(pick(2) ? "a" : "b");
  }
  ExprPtr expression() {
    BinaryOp ops[] = {BinaryOp::Add, BinaryOp::Sub, BinaryOp::BitAnd};
    return tree.binary(ops[pick(3)], leaf(), tree.binary(ops[pick(3)], tree.name("a"), leaf()));
  }
  Block block(unsigned depth) {
    Block result;
    for (unsigned i = 0, n = pick(4); i < n; ++i) {
      switch (depth == 0 ? pick(2) * 3 : pick(4)) {
      case 0:
        if (pick(3) == 0) {
          result.push_back(tree.ret(expression()));
          break;
        }
        [[fallthrough]];
      case 3:
        result.push_back(tree.assign(pick(2) ? "a" : "b", expression()));
        break;
      default:
        result.push_back(tree.branch(tree.compare(CompareOp::Lt, expression(), expression()),
                                     block(depth - 1), block(depth - 1)));
      }
    }
    return result;
  }
};

TEST_F(WalkerTest, RandomEarlyReturnsComputeWhatPythonDoes) {
  unsigned seed = std::random_device()();
  for (unsigned i = 0; i < 150; ++i, ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    line = 0;
    RandomFunction generator(*this, seed);
    auto callee = function("callee", {"a", "b"}, generator.body());
    environment.table["callee"] = Function{callee.get()};
    int64_t a = seed % 23, b = seed % 17;
    std::map<std::string, int64_t> locals{{"a", a}, {"b", b}};
    int64_t expected = *RandomFunction::run(callee->body, locals);

    // Assigned numbers are run-time scalars, which only the folder knows.
    auto kernel =
        function("kernel", {"p"},
                 block(assign("x", number(a)), assign("y", number(b)),
                       evaluate(call("store", name("p"), call("callee", name("x"), name("y"))))));
    auto module = build(*kernel, {runtime("*i32")});
    mlir::PassManager passes(&context);
    passes.addPass(mlir::createCanonicalizerPass());
    passes.addPass(mlir::createCSEPass());
    passes.addPass(mlir::createCanonicalizerPass());
    ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
    unsigned stores = 0;
    module->walk([&](tt::StoreOp store) {
      ++stores;
      mlir::APInt constant;
      ASSERT_TRUE(mlir::matchPattern(store.getValue(), mlir::m_ConstantInt(&constant)))
          << text(*module);
      EXPECT_EQ(constant.getSExtValue(), static_cast<int32_t>(expected)) << text(*module);
    });
    EXPECT_EQ(stores, 1u);
  }
}

} // namespace
