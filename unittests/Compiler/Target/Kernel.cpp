// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernel.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cstdlib>

using namespace nereid;
using namespace nereid::test;

Recorder &test::recorder() {
  static Recorder instance;
  return instance;
}

namespace {

template <typename... Args> void record(const char *format, Args... args) {
  recorder().calls.push_back(llvm::formatv(format, args...).str());
}
long place(const void *pointer) {
  return long(reinterpret_cast<uintptr_t>(pointer) - recorder().origin);
}

void yield(nrd_program *, uint32_t site) { record("yield site={0}", site); }
/// A clock that moves by 100 ns whenever somebody looks.
uint64_t clockNs(nrd_program *) {
  static uint64_t now = 0;
  return now += 100;
}
int32_t wait(nrd_program *, void *slots, int32_t count, int64_t value, int32_t bytes,
             uint32_t site) {
  record("wait slots={0} count={1} value={2} bytes={3} site={4}", place(slots), count, value, bytes,
         site);
  return 0;
}
void notify(nrd_program *, void *signal, int64_t value, int32_t rank, int32_t op, int32_t scope,
            int32_t bytes, uint32_t site) {
  record("notify signal={0} value={1} rank={2} op={3} scope={4} bytes={5} site={6}", place(signal),
         value, rank, op, scope, bytes, site);
}
void failRank(nrd_program *, int32_t rank, uint32_t site) {
  record("fail_rank rank={0} site={1}", rank, site);
  std::longjmp(recorder().failure, 1);
}
void failNotSymmetric(nrd_program *, const void *pointer, uint32_t site) {
  record("fail_not_symmetric pointer={0} site={1}", place(pointer), site);
  std::longjmp(recorder().failure, 1);
}
void failAssert(nrd_program *, const char *message, uint32_t site) {
  record("fail_assert '{0}' site={1}", message, site);
  std::longjmp(recorder().failure, 1);
}
void print(nrd_program *, const char *prefix, const void *elements, int64_t count, int32_t kind,
           int32_t bytes, int32_t hex, uint32_t site) {
  std::string bits;
  for (int64_t i = 0; i < count * bytes; ++i)
    bits += llvm::utohexstr(static_cast<const uint8_t *>(elements)[i], true, 2);
  record("print '{0}' {1} count={2} kind={3} bytes={4} hex={5} site={6}", prefix, bits, count, kind,
         bytes, hex, site);
}
void barrierAll(nrd_program *, uint32_t site) { record("barrier_all site={0}", site); }
void *shmemPtr(nrd_program *, void *pointer, int32_t pe, uint32_t site) {
  record("ptr {0} pe={1} site={2}", place(pointer), pe, site);
  return static_cast<char *>(pointer) + 1000 * pe;
}
void put(nrd_program *, void *dest, const void *source, uint64_t bytes, int32_t pe, int32_t nbi,
         uint32_t site) {
  record("put {0} {1} bytes={2} pe={3} nbi={4} site={5}", place(dest), place(source), bytes, pe,
         nbi, site);
}
void get(nrd_program *, void *dest, const void *source, uint64_t bytes, int32_t pe, int32_t nbi,
         uint32_t site) {
  record("get {0} {1} bytes={2} pe={3} nbi={4} site={5}", place(dest), place(source), bytes, pe,
         nbi, site);
}
void putSignal(nrd_program *, void *dest, const void *source, uint64_t bytes, void *signal,
               uint64_t value, int32_t op, int32_t pe, int32_t signalBytes, int32_t nbi,
               uint32_t site) {
  record("put_signal {0} {1} bytes={2} signal={3} value={4} op={5} pe={6} signal_bytes={7} nbi={8} "
         "site={9}",
         place(dest), place(source), bytes, place(signal), value, op, pe, signalBytes, nbi, site);
}
void signalOp(nrd_program *, void *signal, uint64_t value, int32_t op, int32_t pe, int32_t bytes,
              uint32_t site) {
  record("signal_op {0} value={1} op={2} pe={3} bytes={4} site={5}", place(signal), value, op, pe,
         bytes, site);
}
void putElement(nrd_program *, void *dest, uint64_t value, int32_t bytes, int32_t pe,
                uint32_t site) {
  record("p {0} value={1} bytes={2} pe={3} site={4}", place(dest), value, bytes, pe, site);
}
uint64_t atomicElement(nrd_program *, void *dest, uint64_t value, uint64_t compare, int32_t op,
                       int32_t bytes, int32_t pe, uint32_t site) {
  record("atomic {0} value={1} compare={2} op={3} bytes={4} pe={5} site={6}", place(dest), value,
         compare, op, bytes, pe, site);
  return 0;
}
uint64_t getElement(nrd_program *, const void *source, int32_t bytes, int32_t pe, uint32_t site) {
  record("g {0} bytes={1} pe={2} site={3}", place(source), bytes, pe, site);
  return 0x123456789abcdef0;
}
uint64_t waitUntil(nrd_program *, const void *signal, int32_t cmp, uint64_t value, int32_t bytes,
                   int32_t isSigned, uint32_t site) {
  record("wait_until {0} cmp={1} value={2} bytes={3} signed={4} site={5}", place(signal), cmp,
         value, bytes, isSigned, site);
  return value;
}
void fence(nrd_program *, uint32_t site) { record("fence site={0}", site); }
void quiet(nrd_program *, uint32_t site) { record("quiet site={0}", site); }
void syncAll(nrd_program *, uint32_t site) { record("sync_all site={0}", site); }

template <typename F> void *address(F *function) { return reinterpret_cast<void *>(function); }

} // namespace

const std::vector<runtime::RuntimeSymbol> &test::recordingRuntime() {
  // The declarations of abi.h check the types.
#define ENTRY(name, function)                                                                      \
  {                                                                                                \
    #name, address(static_cast<decltype(&::name)>(function))                                       \
  }
  static const std::vector<runtime::RuntimeSymbol> table = {
      ENTRY(nrd_yield, yield),
      ENTRY(nrd_clock_ns, clockNs),
      ENTRY(nrd_wait, wait),
      ENTRY(nrd_notify, notify),
      ENTRY(nrd_fail_rank, failRank),
      ENTRY(nrd_fail_not_symmetric, failNotSymmetric),
      ENTRY(nrd_fail_assert, failAssert),
      ENTRY(nrd_print, print),
      ENTRY(nrd_barrier_all, barrierAll),
      ENTRY(nrd_shmem_ptr, shmemPtr),
      ENTRY(nrd_shmem_put, put),
      ENTRY(nrd_shmem_get, get),
      ENTRY(nrd_shmem_put_signal, putSignal),
      ENTRY(nrd_shmem_signal_op, signalOp),
      ENTRY(nrd_shmem_p, putElement),
      ENTRY(nrd_shmem_g, getElement),
      ENTRY(nrd_shmem_atomic, atomicElement),
      ENTRY(nrd_shmem_wait_until, waitUntil),
      ENTRY(nrd_shmem_fence, fence),
      ENTRY(nrd_shmem_quiet, quiet),
      ENTRY(nrd_shmem_sync_all, syncAll),
  };
#undef ENTRY
  return table;
}

std::vector<std::string> test::argumentTypes(const KernelMetadata &metadata) {
  std::vector<std::string> types;
  for (const KernelArgument &argument : metadata.arguments)
    types.push_back(argument.type);
  return types;
}

Kernel::Kernel(CompiledKernel compiled) : metadata(compiled.metadata) {
  auto loaded = runtime::KernelCode::load(compiled.object, recordingRuntime());
  if (!loaded.ok()) {
    ADD_FAILURE() << loaded.status().message();
    std::abort();
  }
  code = *loaded;
  scratch.resize(metadata.scratchBytes + NRD_SCRATCH_HEAD + 64);
  program.grid[0] = program.grid[1] = program.grid[2] = 1;
  program.num_ranks = 1;
  program.sub_vec_num = 1;
}

bool Kernel::call(const uint64_t *slots) {
  program.scratch =
      reinterpret_cast<uint8_t *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
  std::fill_n(program.scratch, NRD_SCRATCH_HEAD, uint8_t(0));
  recorder().calls.clear();
  if (setjmp(recorder().failure) != 0)
    return false;
  code->entry()(&program, slots);
  return true;
}

CompileOptions test::cpuOptions() { return cpuOptions(0); }

CompileOptions test::cpuOptions(unsigned vectorBits) {
  CompileOptions options;
  options.target = findTarget("cpu");
  if (vectorBits != 0)
    options.options["cpu"] = std::string(vectorBits == 512   ? "x86-64-v4"
                                         : vectorBits == 256 ? "x86-64-v3"
                                                             : "x86-64-v2");
  return options;
}

static mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  return registry;
}

KernelTest::KernelTest() : context(makeRegistry(), mlir::MLIRContext::Threading::DISABLED) {}

mlir::OwningOpRef<mlir::ModuleOp> KernelTest::parse(llvm::StringRef text) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context, "kernel.mlir");
  if (!module) {
    ADD_FAILURE() << "the test's module does not parse";
    std::abort();
  }
  return module;
}

Kernel KernelTest::compile(llvm::StringRef text, CompileOptions options) {
  auto module = parse(text);
  auto kernel = compileKernel(*module, options);
  if (!kernel) {
    ADD_FAILURE() << llvm::toString(kernel.takeError());
    std::abort();
  }
  return Kernel(std::move(*kernel));
}

std::string KernelTest::compileError(llvm::StringRef text, CompileOptions options) {
  auto module = parse(text);
  auto kernel = compileKernel(*module, options);
  return kernel ? "no error" : llvm::toString(kernel.takeError());
}
