// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's linker on what the compiler writes, whole and damaged.
#include "Kernel.h"

#include <random>
#include <set>

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
  auto missing = KernelCode::load(kernel.object, "all", {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), runtime::StatusCode::InvalidArgument);
  EXPECT_NE(missing.status().message().find("nothing defines "), std::string::npos)
      << missing.status().message();
  EXPECT_NE(missing.status().message().find("nrd_shmem_quiet"), std::string::npos);
  EXPECT_NE(missing.status().message().find("nrd_print"), std::string::npos);
  auto other = KernelCode::load(kernel.object, "other", recordingRuntime());
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.status().message().find("does not define the function"), std::string::npos);
}

TEST_F(KernelCodeTest, DamagedFilesAreErrors) {
  EXPECT_FALSE(KernelCode::load("", "all").ok());
  EXPECT_FALSE(
      KernelCode::load("not an object file, but long enough to hold the header of one if it were",
                       "all")
          .ok());
  auto module = parse(text);
  std::string object = llvm::cantFail(compileKernel(*module, cpuOptions())).object;
  ASSERT_TRUE(KernelCode::load(object, "all", recordingRuntime()).ok());
  for (size_t length = 0; length < object.size(); ++length) {
    // A shorter file may lose nothing but padding at its end.
    auto result =
        KernelCode::load(std::string_view(object).substr(0, length), "all", recordingRuntime());
    if (length + 64 < object.size()) {
      EXPECT_FALSE(result.ok()) << length;
    }
  }
  // Any bytes may be wrong: the outcome is an error or code, never a crash.
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = object;
    for (int j = 0; j < 3; ++j)
      damaged[random() % damaged.size()] = char(random());
    auto result = KernelCode::load(damaged, "all", recordingRuntime());
    // Its line table may say anything, and may be asked.
    if (result.ok())
      for (uintptr_t pc = reinterpret_cast<uintptr_t>((*result)->entry()), end = pc + 64; pc < end;
           pc += 16)
        (void)(*result)->siteAt(pc);
  }
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
  auto code = KernelCode::load(kernel.object, "lines", recordingRuntime());
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
