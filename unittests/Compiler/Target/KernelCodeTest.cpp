// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's linker on what the compiler writes, whole and damaged.
#include "Kernel.h"

#include "Target/CPU/TargetFeatures.h"
#include "device/cpu/ProcessorFeatures.h"

#include "llvm/TargetParser/Host.h"

#include <random>
#include <set>
#include <tuple>

using namespace nereid;
using namespace nereid::test;
using runtime::KernelCode;
using KernelCodeTest = KernelTest;

/// Calls of the runtime and of the C library, constants, a vector table.
static constexpr const char *text = R"(
tt.func public @all(%p: !tt.ptr<f64>, %x: f64) {
  %e = math.exp %x : f64
  %s = math.sin %e : f64
  tt.store %p, %s : !tt.ptr<f64>
  distributed.extern_call {libname = "libshmem_device", libpath = "", pure = false, symbol = "quiet"} : () -> ()
  tt.print "x" {hex = false, isSigned = array<i32: 0>} : %x : f64
  tt.return
})";

TEST_F(KernelCodeTest, LinksCallsAndConstants) {
  Kernel kernel = compile(text);
  double out = 0;
  ASSERT_TRUE(kernel(&out, 0.5));
  EXPECT_EQ(out, std::sin(std::exp(0.5)));
  ASSERT_EQ(recorder().calls.size(), 2u);
  EXPECT_EQ(recorder().calls[0], "quiet site=0");
}

TEST_F(KernelCodeTest, NamesWhatIsMissing) {
  auto module = parse(text);
  CompiledKernel kernel = llvm::cantFail(compileKernel(*module, cpuOptions()));
  auto missing = KernelCode::load(kernel.object, {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), runtime::StatusCode::InvalidArgument);
  EXPECT_NE(missing.status().message().find("kernel 'all' cannot be loaded: nothing defines "),
            std::string::npos)
      << missing.status().message();
  EXPECT_NE(missing.status().message().find("nrd_shmem_quiet"), std::string::npos);
  EXPECT_NE(missing.status().message().find("nrd_print"), std::string::npos);
}

static std::string loadError(std::string_view object) {
  auto result = KernelCode::load(object, recordingRuntime());
  return result.ok() ? "no error" : result.status().message();
}

TEST_F(KernelCodeTest, DescribesItself) {
  auto module = parse(R"(
tt.func public @described(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("a_ptr"("user.py":1:1)), %s: !tt.ptr<i64> {nereid.symmetric}, %n: i32) {
  distributed.extern_call {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier_all"} : () -> () loc("user.py":7:9)
  tt.return
})");
  CompileOptions options = cpuOptions();
  options.findSource = [](llvm::StringRef path) {
    auto file = std::make_shared<SourceFile>();
    file->path = path.str();
    // No encoding at all: the table holds text that can be shown.
    file->lines = std::vector<std::string>(10, "line \xff of " + path.str());
    return file;
  };
  CompiledKernel compiled = llvm::cantFail(compileKernel(*module, options));
  auto kernel = runtime::describeKernel(compiled.object);
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  EXPECT_EQ(kernel->name, "described");
  EXPECT_EQ(kernel->abiVersion, uint32_t(NRD_ABI_VERSION));
  EXPECT_TRUE(kernel->blocking);
  EXPECT_TRUE(kernel->distributed);
  EXPECT_EQ(kernel->lanes, 1);
  EXPECT_EQ(kernel->scratchBytes, compiled.metadata.scratchBytes);
  EXPECT_EQ(kernel->launchMode, compiled.metadata.launchMode);
  EXPECT_EQ(kernel->architecture, "x86_64");
  EXPECT_EQ(kernel->cpu, cpu::TargetFeatures::host().cpu);
  ASSERT_EQ(kernel->arguments.size(), 3u);
  EXPECT_EQ(kernel->arguments[0].name, "a_ptr");
  EXPECT_EQ(kernel->arguments[0].type, "*fp32");
  EXPECT_EQ(kernel->arguments[0].divisibility, 16u);
  EXPECT_FALSE(kernel->arguments[0].symmetric);
  EXPECT_EQ(kernel->arguments[1].type, "*i64");
  EXPECT_TRUE(kernel->arguments[1].symmetric);
  EXPECT_EQ(kernel->arguments[2].name, "arg2");
  EXPECT_EQ(kernel->arguments[2].divisibility, 0u);
  ASSERT_GE(kernel->sites.size(), 1u);
  EXPECT_EQ(kernel->sites[0].str(), "user.py:7:9");
  EXPECT_EQ(kernel->sites[0].text, "line \xef\xbf\xbd of user.py");
  // No debug information is left.
  EXPECT_EQ(compiled.object.find("debug_"), std::string::npos);
}

TEST_F(KernelCodeTest, ManyArguments) {
  std::string arguments;
  for (int i = 0; i < 130; ++i)
    arguments += (i ? ", %a" : "%a") + std::to_string(i) + ": !tt.ptr<f32>" +
                 (i % 63 == 1 ? " {nereid.symmetric}" : "");
  auto module = parse("tt.func public @many(" + arguments + ") { tt.return }");
  auto kernel =
      runtime::describeKernel(llvm::cantFail(compileKernel(*module, cpuOptions())).object);
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  ASSERT_EQ(kernel->arguments.size(), 130u);
  for (int i = 0; i < 130; ++i)
    EXPECT_EQ(kernel->arguments[i].symmetric, i % 63 == 1) << i;
}

/// Changes the description and makes its checksum right again.
static std::string edited(std::string object, size_t at,
                          llvm::function_ref<void(nrd_kernel_info &)> change) {
  nrd_kernel_info info;
  std::memcpy(&info, &object[at], sizeof(info));
  change(info);
  std::memcpy(&object[at], &info, sizeof(info));
  uint64_t hole = at + offsetof(nrd_kernel_info, checksum);
  info.checksum = nrd_kernel_checksum(object.data(), object.size(), hole);
  std::memcpy(&object[at], &info, sizeof(info));
  return object;
}

TEST_F(KernelCodeTest, ForeignFilesAreErrors) {
  EXPECT_NE(loadError("").find("it is not an ELF file"), std::string::npos);
  EXPECT_NE(loadError("not an object file, but long enough to hold the header of one if it were")
                .find("it is not an ELF file"),
            std::string::npos);
  auto module = parse(text);
  CompileOptions options = cpuOptions();
  std::string object = llvm::cantFail(compileKernel(*module, options)).object;
  size_t at = object.find("ndkernel");
  ASSERT_EQ(loadError(object), "no error");
  ASSERT_EQ(loadError(edited(object, at, [](nrd_kernel_info &) {})), "no error");

  std::string machine = object;
  machine[18] = char(183); // AArch64
  EXPECT_NE(loadError(machine).find("for another kind of machine than x86-64"), std::string::npos);

  std::string other = edited(object, at, [](nrd_kernel_info &info) { info.abi_version = 2; });
  EXPECT_EQ(loadError(other),
            "the kernel's object file cannot be read: it was compiled for version 2 of the "
            "interface between kernels and the runtime, which has version " +
                std::to_string(NRD_ABI_VERSION) + " here; compile it again");

  std::string foreign = object;
  for (size_t at = 0; (at = foreign.find(".nereid.kernel", at)) != std::string::npos;)
    foreign[at + 1] = 'x';
  EXPECT_NE(loadError(foreign).find("it has no section .nereid.kernel"), std::string::npos);

  EXPECT_NE(loadError(object + "x")
                .find("it is damaged: it has " + std::to_string(object.size() + 1) +
                      " bytes instead of " + std::to_string(object.size())),
            std::string::npos);
}

TEST_F(KernelCodeTest, OtherProcessorsAreErrors) {
  auto module = parse("tt.func public @plain() { tt.return }");
  std::string object = llvm::cantFail(compileKernel(*module, cpuOptions())).object;
  size_t at = object.find("ndkernel"), features = object.find("64bit,", at);
  ASSERT_NE(features, std::string::npos);
  object.replace(features, 5, "avx99");
  EXPECT_EQ(loadError(edited(object, at, [](nrd_kernel_info &) {})),
            "kernel 'plain' cannot be loaded: it was compiled for the processor '" +
                cpu::TargetFeatures::host().cpu +
                "' and may use avx99, which this one lacks; compile it on this machine, or with "
                "NEREID_CPU set to a level that both have, such as x86-64-v3");
}

TEST_F(KernelCodeTest, NamedLevelsSayWhatTheyUse) {
  for (auto [name, uses, lacks] :
       {std::tuple("x86-64-v2", "sse4.2", "avx"), std::tuple("x86-64-v3", "avx2", "avx512f"),
        std::tuple("x86-64-v4", "avx512bw", "avx512bf16")}) {
    CompileOptions options = cpuOptions();
    options.options["cpu"] = std::string(name);
    auto module = parse("tt.func public @plain() { tt.return }");
    auto kernel = runtime::describeKernel(llvm::cantFail(compileKernel(*module, options)).object);
    ASSERT_TRUE(kernel.ok());
    EXPECT_EQ(kernel->cpu, name);
    EXPECT_TRUE(llvm::is_contained(kernel->features, uses)) << name;
    EXPECT_FALSE(llvm::is_contained(kernel->features, lacks)) << name;
  }
}

TEST(ProcessorFeatures, AgreeWithLLVM) {
  for (const auto &[name, has] : llvm::sys::getHostCPUFeatures())
    if (const bool *found = runtime::processorHas(name))
      EXPECT_EQ(*found, has) << name.str();
  // All that code for this machine may use is known, and there.
  CompileOptions options = cpuOptions();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>("tt.func public @plain() { tt.return }", &context);
  auto kernel = runtime::describeKernel(llvm::cantFail(compileKernel(*module, options)).object);
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ(runtime::missingFeatures(kernel->features), std::vector<std::string>{});
  EXPECT_EQ(runtime::missingFeatures({"sse2", "teleport"}), std::vector<std::string>{"teleport"});
}

TEST_F(KernelCodeTest, DamagedFilesAreErrors) {
  auto module = parse(text);
  std::string object = llvm::cantFail(compileKernel(*module, cpuOptions())).object;
  ASSERT_TRUE(KernelCode::load(object, recordingRuntime()).ok());
  for (size_t length = 0; length < object.size(); ++length)
    EXPECT_FALSE(
        KernelCode::load(std::string_view(object).substr(0, length), recordingRuntime()).ok())
        << length;
  // Any byte may be wrong, each is noticed.
  for (size_t at = 0; at < object.size(); ++at)
    for (uint8_t flip : {0x01, 0x80, 0xff}) {
      std::string damaged = object;
      damaged[at] = char(uint8_t(damaged[at]) ^ flip);
      EXPECT_FALSE(KernelCode::load(damaged, recordingRuntime()).ok()) << at;
    }
  unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = object;
    for (int j = 0; j < 3; ++j)
      damaged[random() % damaged.size()] = char(random());
    if (damaged != object) {
      EXPECT_FALSE(KernelCode::load(damaged, recordingRuntime()).ok());
    }
  }
}

TEST_F(KernelCodeTest, NothingIsBelieved) {
  // Files whose checksum is right and whose content is not: an error or code, never
  // a crash.
  auto module = parse(text);
  std::string object = llvm::cantFail(compileKernel(*module, cpuOptions())).object;
  size_t at = object.find("ndkernel");
  unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  unsigned refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = object;
    for (unsigned j = 0, n = 1 + random() % 3; j < n; ++j) {
      size_t place = random() % 2 ? at + 16 + random() % 512 : random() % object.size();
      damaged[place % object.size()] = char(random() % 3 ? random() : 0xff);
    }
    damaged = edited(damaged, at, [&](nrd_kernel_info &info) { info.file_bytes = object.size(); });
    auto result = KernelCode::load(damaged, recordingRuntime());
    refused += !result.ok();
    if (result.ok())
      for (uintptr_t pc = reinterpret_cast<uintptr_t>((*result)->entry()), end = pc + 64; pc < end;
           pc += 16)
        if (uint32_t site = (*result)->siteAt(pc); site != KernelCode::kNoSite) {
          EXPECT_LT(site, (*result)->description().sites.size());
        }
  }
  EXPECT_GT(refused, 1000u);
}

TEST_F(KernelCodeTest, InstructionsLeadToLines) {
  auto module = parse(R"(
tt.func public @lines(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
  %a = tt.load %p : !tt.ptr<i32> loc("user.py":10:3)
  %b = arith.muli %a, %a : i32 loc("user.py":11:3)
  tt.store %q, %b : !tt.ptr<i32> loc("user.py":12:3)
  tt.return loc("user.py":13:3)
} loc("user.py":9:1)
)");
  CompiledKernel kernel = llvm::cantFail(compileKernel(*module, cpuOptions()));
  auto code = KernelCode::load(kernel.object, recordingRuntime());
  ASSERT_TRUE(code.ok()) << code.status().message();
  std::set<unsigned> lines;
  uintptr_t begin = reinterpret_cast<uintptr_t>((*code)->entry());
  ASSERT_TRUE((*code)->contains(begin));
  EXPECT_FALSE((*code)->contains(begin + (1 << 20)));
  EXPECT_FALSE((*code)->contains(begin - (1 << 20)));
  for (uintptr_t pc = begin; (*code)->contains(pc) && pc < begin + 256; ++pc) {
    uint32_t site = (*code)->siteAt(pc);
    if (site == KernelCode::kNoSite)
      continue;
    ASSERT_LT(site, kernel.metadata.sites.size());
    EXPECT_EQ(kernel.metadata.sites[site].file, "user.py");
    lines.insert(kernel.metadata.sites[site].line);
  }
  // The product may be one instruction with the load.
  for (unsigned line : {10u, 12u, 13u})
    EXPECT_TRUE(lines.count(line)) << line;
  EXPECT_EQ((*code)->siteAt(begin - 1), KernelCode::kNoSite);
  EXPECT_EQ((*code)->siteAt(0), KernelCode::kNoSite);
}
