// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registry, with a target from outside beside those of the build.
#include "nereid/Registry/Registry.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Pipelines/Compile.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace nereid;

namespace {
constexpr const char *store = R"(
tt.func public @simple(%p: !tt.ptr<f32>, %x: f32) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  scf.for %i = %c0 to %c1 step %c1 : i32 {
    tt.store %p, %x : !tt.ptr<f32>
  }
  tt.store %p, %x : !tt.ptr<f32>
  tt.return
})";

class RegistryTest : public ::testing::Test {
protected:
  RegistryTest() : context(makeDialects(), mlir::MLIRContext::Threading::DISABLED) {
    options.target = findTarget("null");
  }
  static mlir::DialectRegistry makeDialects() {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }
  llvm::Expected<std::string> emit(llvm::StringRef stage) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(store, &context);
    return emitStage(*module, stage, options);
  }
  std::string problem(llvm::StringRef stage) {
    auto text = emit(stage);
    return text ? "no error" : takeDiagnostic(text.takeError()).message;
  }

  mlir::MLIRContext context;
  CompileOptions options;
};
} // namespace

TEST_F(RegistryTest, IsListedAfterTheOthers) {
  ASSERT_NE(options.target, nullptr);
  EXPECT_EQ(targetInfos().back(), &options.target->info);
  EXPECT_EQ(findTargetInfo("null"), &options.target->info);
  EXPECT_EQ(findTarget("nul"), nullptr);
  EXPECT_NE(unknownTarget("nul").find("unknown target 'nul'; this build has the target"),
            std::string::npos);
  EXPECT_NE(unknownTarget("nul").find("null"), std::string::npos);
}

TEST_F(RegistryTest, WithoutTheCPU) {
  // NereidRegistryWithoutCPUTests is this without the CPU target's line.
  if (findTargetInfo("cpu"))
    GTEST_SKIP() << "this build has the CPU target";
  EXPECT_EQ(findTarget("cpu"), nullptr);
  EXPECT_EQ(unknownTarget("cpu").find("unknown target 'cpu'; this build has the target"), 0u);
  EXPECT_EQ(&defaultTargetInfo(), targetInfos().front());
}

TEST_F(RegistryTest, Stages) {
  EXPECT_EQ(options.target->info.stageNames(), "ttir, ir, text, kernel");
  EXPECT_NE(llvm::cantFail(emit("ttir")).find("scf.for"), std::string::npos);
  EXPECT_EQ(llvm::cantFail(emit("ir")).find("scf.for"), std::string::npos);
  EXPECT_EQ(llvm::cantFail(emit("text")), "tt.func\ntt.store\ntt.store\ntt.return\n");
  EXPECT_EQ(llvm::cantFail(emit("kernel")),
            "null kernel simple\nlanes 1\narg arg0 *fp32\narg arg1 fp32\n");
  EXPECT_EQ(problem("asm"),
            "the target null has no stage 'asm'; its stages are ttir, ir, text, kernel");
}

TEST_F(RegistryTest, CompiledKernel) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(store, &context);
  CompiledKernel kernel = llvm::cantFail(compileKernel(*module, options));
  EXPECT_EQ(kernel.object, llvm::cantFail(emit("kernel")));
  EXPECT_EQ(kernel.metadata.name, "simple");
  EXPECT_EQ(kernel.metadata.scratchBytes, 24u);
}

TEST_F(RegistryTest, Options) {
  options.options["depth"] = int64_t(0);
  EXPECT_EQ(llvm::cantFail(emit("text")), "tt.func\n");
  options.options["depth"] = true;
  EXPECT_EQ(problem("text"), "the option 'depth' takes a whole number");
  options.options.erase("depth");
  options.options["unused_token"] = std::string("perhaps");
  EXPECT_EQ(problem("text"), "the option 'unused_token' takes error, warn or keep, not 'perhaps'");

  std::string error;
  const TargetOption &depth = *options.target->info.option("depth");
  EXPECT_EQ(parseOption(depth, "12", error), OptionValue(int64_t(12)));
  EXPECT_EQ(parseOption(depth, "12x", error), std::nullopt);
  EXPECT_EQ(error, "the option 'depth' takes a whole number, not '12x'");
  const TargetOption &debug = *options.target->info.option("debug");
  EXPECT_EQ(parseOption(debug, "on", error), OptionValue(true));
  EXPECT_EQ(parseOption(debug, "maybe", error), std::nullopt);
  EXPECT_EQ(error, "the option 'debug' takes True or False, not 'maybe'");
}

TEST_F(RegistryTest, OptionsOfOthers) {
  const TargetInfo &null = options.target->info;
  EXPECT_EQ(foreignOption(null, "num_warps"), std::nullopt); // its own
  EXPECT_FALSE(foreignOption(null, "num_ctas")->isError);
  EXPECT_EQ(foreignOption(null, "nothing"), std::nullopt);
  EXPECT_TRUE(foreignOption(null, "ir_override")->isError);
  for (const TargetInfo *other : targetInfos())
    for (const TargetOption &option : other->options)
      if (!null.option(option.name))
        EXPECT_NE(foreignOption(null, option.name)->note.find("of the target"), std::string::npos);
  if (const TargetInfo *cpu = findTargetInfo("cpu")) {
    EXPECT_EQ(foreignOption(*cpu, "depth")->note,
              "'depth' is an option of the target null; the target cpu has none of that name, so "
              "that it has no effect");
  }
}

TEST_F(RegistryTest, Lacks) {
  EXPECT_EQ(options.target->info.lack("dl", "simt_exec_region")->why, "it has no threads");
  EXPECT_EQ(options.target->info.lack("dl", "wait"), nullptr);
  if (const TargetInfo *cpu = findTargetInfo("cpu")) {
    EXPECT_NE(cpu->lack("language_extra", "globaltimer"), nullptr);
    EXPECT_EQ(cpu->lack("tl", "load"), nullptr);
  }
}

TEST_F(RegistryTest, WhatDecidesTheCode) {
  EXPECT_EQ(options.target->info.cacheId({}), "version 1");
  if (const TargetInfo *cpu = findTargetInfo("cpu")) {
    OptionValues level = {{"cpu", std::string("x86-64-v3")}};
    EXPECT_EQ(cpu->cacheId(level), "x86-64-v3");
    EXPECT_EQ(cpu->cacheId({}).find("host"), 0u);
    EXPECT_EQ(cpu->cacheId({}), cpu->cacheId({}));
  }
}
