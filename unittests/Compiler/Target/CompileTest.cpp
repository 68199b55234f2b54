// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver: stages, metadata, diagnostics, dumps, loading.
#include "Kernel.h"

#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <chrono>

using namespace nereid;
using namespace nereid::test;
using CompileTest = KernelTest;

static constexpr const char *store = R"(
tt.func public @simple(%p: !tt.ptr<f32>, %x: f32) {
  tt.store %p, %x : !tt.ptr<f32>
  tt.return
})";

TEST_F(CompileTest, StagesByName) {
  auto emit = [&](llvm::StringRef stage) {
    auto module = parse(store);
    return llvm::cantFail(emitStage(*module, stage, cpuOptions()));
  };
  EXPECT_NE(emit("ttir").find("tt.store"), std::string::npos);
  EXPECT_NE(emit("simplified").find("tt.store"), std::string::npos);
  EXPECT_NE(emit("cpu-tiles").find("tt.store"), std::string::npos);
  EXPECT_NE(emit("llvm-dialect").find("llvm.func @simple"), std::string::npos);
  EXPECT_NE(emit("llvm").find("define void @simple(ptr"), std::string::npos);
  EXPECT_NE(emit("asm").find("simple:"), std::string::npos);
  EXPECT_EQ(emit("obj").substr(0, 4), "\x7f"
                                      "ELF");
}

TEST_F(CompileTest, WrongRequests) {
  auto problem = [&](llvm::StringRef stage, const CompileOptions &options) {
    auto module = parse(store);
    auto result = emitStage(*module, stage, options);
    if (result)
      return std::string("no error");
    Diagnostic diagnostic = takeDiagnostic(result.takeError());
    EXPECT_EQ(diagnostic.id, Diag::compile_request);
    return diagnostic.message;
  };
  EXPECT_EQ(problem("ptx", cpuOptions()),
            "the target cpu has no stage 'ptx'; its stages are ttir, simplified, cpu-tiles, "
            "llvm-dialect, llvm, asm, obj");
  EXPECT_EQ(problem("obj", {}), "no target was chosen to compile for");
  CompileOptions options = cpuOptions();
  options.options["num_warps"] = int64_t(4);
  EXPECT_EQ(problem("obj", options), "the target cpu has no option 'num_warps'");
  options = cpuOptions();
  options.options["cpu"] = std::string("z80");
  EXPECT_EQ(problem("obj", options), "the option 'cpu' takes host, x86-64-v2, x86-64-v3 or "
                                     "x86-64-v4, not 'z80'");
  options.options["cpu"] = true;
  EXPECT_NE(problem("obj", options).find("takes host, x86-64-v2"), std::string::npos);
  // The stage "ttir" needs no target.
  EXPECT_EQ(problem("ttir", {}), "no error");
}

/// The CPU target with one phase, or its emit, exchanged.
struct Changed : Target {
  Changed(const Target &like, std::function<void(mlir::ModuleOp)> inPhase)
      : Target(like.info), like(like), inPhase(std::move(inPhase)) {}
  void registerDialects(mlir::DialectRegistry &registry) const override {
    like.registerDialects(registry);
  }
  void registerPasses() const override {}
  std::vector<Phase> phases(const TargetSettings &settings) const override {
    std::vector<Phase> phases = like.phases(settings);
    auto verify = phases[1].verify;
    phases[1].verify = [this, verify](mlir::ModuleOp module) {
      inPhase(module); // the last chance before the promise is looked at
      return verify(module);
    };
    return phases;
  }
  mlir::FailureOr<std::string> emit(mlir::ModuleOp module, const TargetStage &,
                                    const TargetSettings &, KernelMetadata &) const override {
    cpu::EmitOptions options;
    options.target.cpu = "i386";
    options.target.features = "";
    return cpu::emitCode(module, options, cpu::EmitKind::Object);
  }
  const Target &like;
  std::function<void(mlir::ModuleOp)> inPhase;
};

TEST_F(CompileTest, PhasesKeepTheirPromises) {
  Changed target(*findTarget("cpu"), [](mlir::ModuleOp module) {
    mlir::OpBuilder builder(module.getContext());
    module.walk([&](tt::ReturnOp end) {
      builder.setInsertionPoint(end);
      auto shape = mlir::RankedTensorType::get({4}, builder.getI32Type());
      mlir::Value zero = mlir::arith::ConstantOp::create(
          builder, end.getLoc(), mlir::DenseElementsAttr::get(shape, builder.getI32IntegerAttr(0)));
      mlir::Value token =
          mlir::arith::ConstantOp::create(builder, end.getLoc(), builder.getI32IntegerAttr(0));
      distributed::ConsumeTokenOp::create(builder, end.getLoc(), zero, token);
    });
  });
  CompileOptions options = cpuOptions();
  options.target = &target;
  auto module = parse(store);
  auto result = compileKernel(*module, options);
  ASSERT_FALSE(result);
  Diagnostic diagnostic = takeDiagnostic(result.takeError());
  EXPECT_EQ(diagnostic.id, Diag::phase_broke_promise);
  EXPECT_NE(diagnostic.message.find("the phase 'simplify' left 'distributed.consume_token'"),
            std::string::npos)
      << diagnostic.message;
}

TEST_F(CompileTest, Metadata) {
  auto module = parse(R"(
#inner = loc("lib.py":7:9)
#outer = loc("user.py":3:5)
tt.func public @meta(%s: !tt.ptr<i32> {nereid.symmetric}, %x: f64) {
  %c1 = arith.constant 1 : i32
  distributed.extern_call {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier_all"} : () -> () loc(callsite(#inner at #outer))
  distributed.extern_call {libname = "libshmem_device", libpath = "", pure = false, symbol = "quiet"} : () -> () loc(fused["helper"("user.py":4:1), "user.py":9:9])
  tt.return
})");
  CompileOptions options = cpuOptions();
  options.findSource = [](llvm::StringRef path) {
    auto file = std::make_shared<SourceFile>();
    file->path = path.str();
    file->lines = std::vector<std::string>(10, "line of " + path.str());
    return file;
  };
  KernelMetadata metadata = llvm::cantFail(compileKernel(*module, options)).metadata;
  EXPECT_EQ(metadata.name, "meta");
  EXPECT_EQ(argumentTypes(metadata), (std::vector<std::string>{"*i32", "fp64"}));
  EXPECT_EQ(metadata.launchMode, "cv1:2");
  EXPECT_TRUE(metadata.blocking);
  EXPECT_TRUE(metadata.distributed);
  EXPECT_TRUE(metadata.arguments[0].symmetric);
  EXPECT_FALSE(metadata.arguments[1].symmetric);
  // Those of calls come first; the others are for the table of lines.
  ASSERT_GE(metadata.sites.size(), 2u);
  EXPECT_EQ(metadata.sites[0].file, "lib.py");
  EXPECT_EQ(metadata.sites[0].function, "meta");
  EXPECT_EQ(metadata.sites[1].function, "helper");
  EXPECT_EQ(metadata.sites[1].text, "line of user.py");
}

TEST_F(CompileTest, NoKernelAndTwoKernels) {
  EXPECT_NE(compileError("module {}").find("the module has 0 public functions"), std::string::npos);
  EXPECT_NE(compileError(R"(
module {
tt.func public @a() { tt.return }
tt.func public @b() { tt.return }
})")
                .find("the module has 2 public functions"),
            std::string::npos);
}

TEST_F(CompileTest, WhenLLVMGivesUp) {
  // It ends the compilation, not the process: 64-bit code for a CPU that has none.
  Changed target(*findTarget("cpu"), [](mlir::ModuleOp) {});
  CompileOptions options = cpuOptions();
  options.target = &target;
  for (int i = 0; i < 3; ++i) {
    auto module = parse(store);
    auto kernel = compileKernel(*module, options);
    ASSERT_FALSE(kernel);
    Diagnostic diagnostic = takeDiagnostic(kernel.takeError());
    EXPECT_EQ(diagnostic.id, Diag::code_generator_failed);
    EXPECT_NE(diagnostic.message.find("kernel 'simple'"), std::string::npos) << diagnostic.message;
  }
  auto module = parse(store);
  EXPECT_FALSE(llvm::cantFail(compileKernel(*module, cpuOptions())).object.empty());
}

TEST_F(CompileTest, PassErrorsHaveTheUsersLine) {
  auto module = parse(R"(
tt.func public @bad(%p: !tt.ptr<f32>, %n: i32) {
  %x = tt.elementwise_inline_asm "nop" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %n : i32 -> i32 loc("user.py":2:5)
  tt.return
})");
  CompileOptions options = cpuOptions();
  options.findSource = [](llvm::StringRef path) {
    auto file = std::make_shared<SourceFile>();
    file->path = path.str();
    file->lines = {"def bad(p, n):", "    tl.inline_asm_elementwise('nop', n)"};
    return file;
  };
  auto kernel = compileKernel(*module, options);
  ASSERT_FALSE(kernel);
  std::string text = llvm::toString(kernel.takeError());
  EXPECT_NE(text.find("user.py:2:5: error: inline assembly is written for another target"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("    2 |     tl.inline_asm_elementwise('nop', n)"), std::string::npos)
      << text;
}

TEST_F(CompileTest, NobodyWantsIt) {
  std::atomic<bool> cancelled = true;
  CompileOptions options = cpuOptions();
  options.cancelled = &cancelled;
  for (llvm::StringRef stage : {"ttir", "cpu-tiles", "obj"}) {
    auto module = parse(store);
    auto result = emitStage(*module, stage, options);
    ASSERT_FALSE(result);
    EXPECT_EQ(takeDiagnostic(result.takeError()).id, Diag::compilation_cancelled);
  }
}

TEST_F(CompileTest, DumpsEveryStage) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("nereid-dump", folder));
  CompileOptions options = cpuOptions();
  options.dumpFolder = std::string(folder);
  auto module = parse(store);
  llvm::cantFail(compileKernel(*module, options));
  std::vector<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end; it != end && !error;
       it.increment(error))
    names.push_back(llvm::sys::path::filename(it->path()).str());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names,
            (std::vector<std::string>{"simple.0-ttir.mlir", "simple.1-simplified.mlir",
                                      "simple.2-cpu-tiles.mlir", "simple.3-llvm-dialect.mlir",
                                      "simple.4-llvm.ll", "simple.5-asm.s", "simple.6-obj.o"}));
  llvm::sys::fs::remove_directories(folder);
}

TEST_F(CompileTest, ADumpThatCannotBeWrittenIsAnError) {
  CompileOptions options = cpuOptions();
  options.dumpFolder = "/dev/null/dumps";
  auto module = parse(store);
  auto result = compileKernel(*module, options);
  ASSERT_FALSE(result);
  Diagnostic diagnostic = takeDiagnostic(result.takeError());
  EXPECT_EQ(diagnostic.id, Diag::dump_failed);
  EXPECT_NE(diagnostic.message.find("/dev/null/dumps"), std::string::npos) << diagnostic.message;
}

TEST_F(CompileTest, EqualInputsGiveEqualObjects) {
  auto first = parse(store), second = parse(store);
  auto object = [](mlir::ModuleOp module) {
    return llvm::cantFail(compileKernel(module, cpuOptions())).object;
  };
  EXPECT_EQ(object(*first), object(*second));
}

TEST_F(CompileTest, OtherVectorWidths) {
  for (unsigned bits : {128, 256}) {
    if (cpu::TargetFeatures::host().vectorBits < bits)
      continue;
    Kernel kernel = compile(store, cpuOptions(bits));
    float value = 0;
    ASSERT_TRUE(kernel(&value, 2.5f));
    EXPECT_EQ(value, 2.5f);
  }
  std::string error;
  cpu::TargetFeatures::named("x86-64-v4", &error);
  EXPECT_EQ(error, "");
  cpu::TargetFeatures::named("z80", &error);
  EXPECT_NE(error.find("unknown CPU 'z80'"), std::string::npos);
}
