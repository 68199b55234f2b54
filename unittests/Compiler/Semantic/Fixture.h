// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function to emit into, with arguments of any type, and what the tests ask
// of it: calls of builtins, verified IR as text, diagnostics.
#ifndef NEREID_UNITTESTS_SEMANTIC_FIXTURE_H
#define NEREID_UNITTESTS_SEMANTIC_FIXTURE_H

#include "nereid/Dialect/Ascend/IR/Ascend.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Frontend/Semantic.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

namespace nereid::frontend {

inline constexpr Scalar i1 = Scalar::Int1, i8 = Scalar::Int8, i16 = Scalar::Int16,
                        i32 = Scalar::Int32, i64 = Scalar::Int64, u8 = Scalar::UInt8,
                        u16 = Scalar::UInt16, u32 = Scalar::UInt32, u64 = Scalar::UInt64,
                        fp8e5 = Scalar::Fp8E5, fp8e4 = Scalar::Fp8E4NV, fp16 = Scalar::Fp16,
                        bf16 = Scalar::BF16, fp32 = Scalar::Fp32, fp64 = Scalar::Fp64;

struct Warnings : DiagnosticSink {
  void report(const Diagnostic &diagnostic) override { list.push_back(diagnostic); }
  std::vector<Diagnostic> list;
};

class SemanticTest : public ::testing::Test {
protected:
  SemanticTest() : builder(&context), semantic(builder, options, warnings) {
    context
        .loadDialect<tt::TritonDialect, distributed::DistributedDialect, ascend::AscendDialect,
                     mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::LLVM::LLVMDialect>();
    auto lines = std::make_shared<SourceFile>();
    lines->path = "kernel.py";
    for (int i = 0; i < 100; ++i)
      lines->lines.push_back("    x = tl.function(a, b, c, d)  # line " + std::to_string(i + 1));
    file = lines;
    module = mlir::ModuleOp::create(builder, builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
    function = tt::FuncOp::create(builder, builder.getUnknownLoc(), "kernel",
                                  builder.getFunctionType({}, {}));
    builder.setInsertionPointToStart(&function.getBody().emplaceBlock());
    range = at(1, 9);
  }

  SourceRange at(unsigned line, unsigned column) const {
    return {file, line, column, line, column + 5};
  }

  /// A fresh run-time value of `type`, "defined" on a line of its own.
  Tensor value(const Type &type) {
    unsigned count = function.getNumArguments();
    EXPECT_TRUE(mlir::succeeded(function.insertArgument(count, type.lower(&context),
                                                        mlir::DictionaryAttr::get(&context),
                                                        builder.getUnknownLoc())));
    mlir::Value handle = function.getArgument(count);
    return {handle, type, at(21 + count, 5)};
  }
  Tensor block(std::vector<int64_t> shape, Type element) {
    return value(Type::block(shape, element));
  }
  Tensor pointer(Type pointee) { return value(Type::pointer(pointee)); }
  Tensor pointers(std::vector<int64_t> shape, Type pointee) {
    return value(Type::block(shape, Type::pointer(pointee)));
  }

  static Tuple tuple(std::vector<Value> items) { return Tuple{std::move(items), {}}; }
  static Tuple shape(std::initializer_list<int> sizes) {
    Tuple result;
    for (int size : sizes)
      result.items.push_back(Int(size));
    return result;
  }

  /// Calls a builtin as a kernel would. Argument i is written at column 20 + 10 * i.
  Value call(const char *module, const char *name, std::vector<Value> positional,
             std::vector<std::pair<std::string, Value>> keywords = {}) {
    const BuiltinInfo *info = findBuiltin(module, name);
    if (!info) {
      ADD_FAILURE() << "no builtin " << module << "." << name;
      return {};
    }
    std::vector<Argument> arguments;
    unsigned column = 20;
    for (Value &item : positional) {
      arguments.push_back({std::move(item), at(1, column)});
      column += 10;
    }
    std::vector<KeywordArgument> named;
    for (auto &[key, item] : keywords) {
      named.push_back({key, item, at(1, column), at(1, column)});
      column += 10;
    }
    return info->rule(semantic, bindArguments(*info, arguments, named, range));
  }
  Value tl(const char *name, std::vector<Value> positional,
           std::vector<std::pair<std::string, Value>> keywords = {}) {
    return call("tl", name, std::move(positional), std::move(keywords));
  }

  /// Verified text of what was emitted, without the function around it.
  std::string ir() {
    mlir::OpBuilder::InsertionGuard guard(builder);
    mlir::Block &block = function.getBody().front();
    if (block.empty() || !block.back().hasTrait<mlir::OpTrait::IsTerminator>()) {
      builder.setInsertionPointToEnd(&block);
      tt::ReturnOp::create(builder, builder.getUnknownLoc());
    }
    std::string text;
    llvm::raw_string_ostream stream(text);
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
      ADD_FAILURE() << "IR does not verify: " << d.str();
      return mlir::success();
    });
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
    module->print(stream);
    block.back().erase();
    return text;
  }

  void expectIR(std::initializer_list<const char *> parts) {
    std::string text = ir();
    for (const char *part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in:\n" << text;
  }
  void expectNoIR(const char *part) {
    std::string text = ir();
    EXPECT_EQ(text.find(part), std::string::npos) << "unexpected \"" << part << "\" in:\n" << text;
  }
  static void expectType(const Value &value, const Type &type) {
    ASSERT_TRUE(value.isTensor()) << value.describe();
    EXPECT_EQ(value.as<Tensor>().type.str(), type.str());
    EXPECT_EQ(value.as<Tensor>().handle.getType(),
              type.lower(value.as<Tensor>().handle.getContext()));
  }

  /// `action` must report `id`, with `part` in its rendered text.
  template <typename Action> void expectError(Diag id, const std::string &part, Action action) {
    try {
      action();
    } catch (const CompileError &error) {
      EXPECT_STREQ(diagName(error.diagnostic.id), diagName(id)) << error.what();
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "no \"" << part << "\" in:\n"
          << error.what();
      EXPECT_TRUE(error.diagnostic.range.isValid());
      // Placeholders that no argument filled would show.
      EXPECT_EQ(std::string(error.what()).find("{0}"), std::string::npos);
      last = error.diagnostic;
      return;
    }
    ADD_FAILURE() << "no error; expected " << diagName(id) << ": " << part;
  }

  mlir::MLIRContext context;
  mlir::OpBuilder builder;
  LanguageOptions options;
  Warnings warnings;
  Semantic semantic;
  std::shared_ptr<const SourceFile> file;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  tt::FuncOp function;
  SourceRange range;
  Diagnostic last;
};

} // namespace nereid::frontend

#endif // NEREID_UNITTESTS_SEMANTIC_FIXTURE_H
