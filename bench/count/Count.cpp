// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Count.cpp - How many instructions a kernel takes -------------------===//
//
//   nereid-bench-count KERNEL.o GRID_X GRID_Y ARGUMENT...
//
// An argument is a number, or `fp32:COUNT` for memory with so many floats. The
// programs run one after the other with the processor's trap flag set: after each
// instruction there is a signal, whose handler counts those of the kernel. The
// number, which is printed, is the same on every machine and on a busy one.
//
//===----------------------------------------------------------------------===//
#include "nereid/runtime/KernelCode.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <ucontext.h>
#include <vector>

using namespace nereid::runtime;

static const KernelCode *kernel;
static uint64_t count;

static void step(int, siginfo_t *, void *context) {
  auto pc = static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP];
  count += kernel->contains(uintptr_t(pc));
}

static void setTrapFlag(bool on) {
  if (on)
    asm volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\t"
                 "lea 128(%%rsp), %%rsp" ::
                     : "memory", "cc");
  else
    asm volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\t"
                 "lea 128(%%rsp), %%rsp" ::
                     : "memory", "cc");
}

static void *zeros(size_t bytes) {
  void *memory = nullptr;
  if (posix_memalign(&memory, 4096, bytes + 4096) != 0)
    std::abort();
  return std::memset(memory, 0, bytes + 4096);
}

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "nereid-bench-count KERNEL.o GRID_X GRID_Y ARGUMENT...\n");
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  auto loaded = KernelCode::load(bytes);
  if (!loaded.ok()) {
    std::fprintf(stderr, "%s", loaded.status().report().c_str());
    return 1;
  }
  kernel = loaded->get();
  std::vector<uint64_t> arguments;
  for (int i = 4; i < argc; ++i) {
    std::string text = argv[i];
    arguments.push_back(text.starts_with("fp32:")
                            ? reinterpret_cast<uint64_t>(zeros(4 * std::stoull(text.substr(5))))
                            : uint64_t(std::stoll(text)));
  }
  nrd_program program = {};
  program.num_ranks = program.sub_vec_num = 1;
  program.grid[0] = std::atoi(argv[2]);
  program.grid[1] = std::atoi(argv[3]);
  program.grid[2] = 1;
  program.scratch = static_cast<uint8_t *>(zeros(kernel->description().scratchBytes));

  struct sigaction action = {};
  action.sa_sigaction = step;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  for (int y = 0; y < program.grid[1]; ++y)
    for (int x = 0; x < program.grid[0]; ++x) {
      program.pid[0] = x;
      program.pid[1] = y;
      setTrapFlag(true);
      kernel->entry()(&program, arguments.data());
      setTrapFlag(false);
    }
  std::printf("%llu\n", static_cast<unsigned long long>(count));
  return 0;
}
