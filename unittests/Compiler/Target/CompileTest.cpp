// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver: stages, metadata, diagnostics, dumps, loading.
#include "Kernel.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
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
  EXPECT_EQ(parseStage("ttir"), Stage::TTIR);
  EXPECT_EQ(parseStage("obj"), Stage::Object);
  EXPECT_EQ(parseStage("ptx"), std::nullopt);
  auto emit = [&](Stage stage) {
    auto module = parse(store);
    return emitStage(*module, stage, {});
  };
  EXPECT_NE(emit(Stage::TTIR).find("tt.store"), std::string::npos);
  EXPECT_NE(emit(Stage::CPUTiles).find("tt.store"), std::string::npos);
  EXPECT_NE(emit(Stage::LLVM).find("define void @simple(ptr"), std::string::npos);
  EXPECT_NE(emit(Stage::Assembly).find("simple:"), std::string::npos);
  EXPECT_EQ(emit(Stage::Object).substr(0, 4), "\x7f"
                                              "ELF");
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
  CompileOptions options;
  options.findSource = [](llvm::StringRef path) {
    auto file = std::make_shared<SourceFile>();
    file->path = path.str();
    file->lines = std::vector<std::string>(10, "line of " + path.str());
    return file;
  };
  KernelMetadata metadata = compileKernel(*module, options).metadata;
  EXPECT_EQ(metadata.name, "meta");
  EXPECT_EQ(metadata.argumentTypes, (std::vector<std::string>{"*i32", "fp64"}));
  EXPECT_EQ(metadata.launchMode, "cv1:2");
  EXPECT_TRUE(metadata.blocking);
  EXPECT_TRUE(metadata.distributed);
  EXPECT_EQ(metadata.symmetricArguments, (std::vector<unsigned>{0}));
  EXPECT_EQ(metadata.abiVersion, unsigned(NRD_ABI_VERSION));

  auto json = llvm::json::parse(metadata.toJSON());
  ASSERT_TRUE(bool(json)) << llvm::toString(json.takeError());
  llvm::json::Object &object = *json->getAsObject();
  EXPECT_EQ(object.getString("name"), "meta");
  EXPECT_EQ(object.getBoolean("blocking"), true);
  EXPECT_EQ(object.getInteger("scratch_bytes"), 0);
  auto &sites = *object.getArray("sites");
  // Those of calls come first; the others are for the line table.
  ASSERT_GE(sites.size(), 2u);
  EXPECT_EQ(sites[0],
            llvm::json::Value(llvm::json::Array{"lib.py", 7, 9, "meta", "line of lib.py"}));
  EXPECT_EQ(sites[1],
            llvm::json::Value(llvm::json::Array{"user.py", 4, 1, "helper", "line of user.py"}));
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
  CompileOptions options;
  options.pipeline.target.cpu = "i386";
  options.pipeline.target.features = "";
  try {
    auto module = parse(store);
    compileKernel(*module, options);
    FAIL();
  } catch (const CompileError &error) {
    EXPECT_EQ(error.diagnostic.id, Diag::code_generator_failed);
    EXPECT_NE(error.diagnostic.message.find("kernel 'simple'"), std::string::npos) << error.what();
  }
  auto module = parse(store);
  EXPECT_FALSE(compileKernel(*module, {}).object.empty());
}

TEST_F(CompileTest, PassErrorsHaveTheUsersLine) {
  auto module = parse(R"(
tt.func public @bad(%p: !tt.ptr<f32>, %n: i32) {
  distributed.extern_call %p, %n {libname = "libshmem_device", libpath = "", pure = false, symbol = "shout"} : (!tt.ptr<f32>, i32) -> () loc("user.py":2:5)
  tt.return
})");
  CompileOptions options;
  options.findSource = [](llvm::StringRef path) {
    auto file = std::make_shared<SourceFile>();
    file->path = path.str();
    file->lines = {"def bad(p, n):", "    libshmem_device.shout(p, n)"};
    return file;
  };
  try {
    compileKernel(*module, options);
    FAIL();
  } catch (const CompileError &error) {
    EXPECT_NE(std::string(error.what())
                  .find("user.py:2:5: error: 'libshmem_device.shout' does not exist"),
              std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("    2 |     libshmem_device.shout(p, n)"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(CompileTest, DumpsEveryStage) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("nereid-dump", folder));
  CompileOptions options;
  options.dumpFolder = std::string(folder);
  auto module = parse(store);
  compileKernel(*module, options);
  std::vector<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end; it != end && !error;
       it.increment(error))
    names.push_back(llvm::sys::path::filename(it->path()).str());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{
                       "simple.0-frontend.mlir", "simple.1-ttir.mlir", "simple.2-cpu-tiles.mlir",
                       "simple.3-llvm-dialect.mlir", "simple.4-llvm.ll", "simple.5-asm.s",
                       "simple.6-object.o", "simple.7-metadata.json"}));
  llvm::sys::fs::remove_directories(folder);
}

TEST_F(CompileTest, EqualInputsGiveEqualObjects) {
  auto first = parse(store), second = parse(store);
  EXPECT_EQ(compileKernel(*first, {}).object, compileKernel(*second, {}).object);
}

TEST_F(CompileTest, OtherVectorWidths) {
  for (unsigned bits : {128, 256}) {
    CompileOptions options;
    options.pipeline.target = cpu::TargetFeatures::host(bits);
    Kernel kernel = compile(store, options);
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
