// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Harness.h - Runs a function on all ranks of a small job ------------===//
#ifndef NEREID_UNITTESTS_RUNTIME_HARNESS_H
#define NEREID_UNITTESTS_RUNTIME_HARNESS_H

#include "nereid/runtime/Job.h"
#include "nereid/runtime/KernelCode.h"
#include "nereid/runtime/Launch.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace nereid::test {

using runtime::CPUKernel;
using runtime::Job;
using runtime::JobOptions;
using runtime::LaunchSpec;
using runtime::SiteTable;
using runtime::Status;
using runtime::StatusCode;

/// Rounds for stress tests: fewer where everything is slow.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
inline constexpr int64_t kRounds = 100;
#else
inline constexpr int64_t kRounds = 1000;
#endif
#else
inline constexpr int64_t kRounds = 1000;
#endif

/// Options for tests: small heaps, short time-outs.
JobOptions testOptions();

/// Ranks as threads of this process on one mapping.
void runThreads(int32_t worldSize, const JobOptions &options,
                const std::function<void(Job &)> &body);

/// Ranks as forked processes that find each other through the torchrun
/// variables. `body` returns the exit code; the result holds all of them
/// (128 + signal for killed ones). Failed expectations inside a rank make its
/// code 99.
std::vector<int> runForked(int32_t worldSize, const JobOptions &options,
                           const std::function<int(Job &)> &body);

/// Both, one after the other; for tests that hold in either mode.
void runBoth(int32_t worldSize, const JobOptions &options, const std::function<void(Job &)> &body);

/// Launches a blocking kernel over a one-dimensional grid.
Status launchBlocking(Job &job, nrd_kernel_fn kernel, const std::vector<uint64_t> &args,
                      int32_t programs, const char *name = "kernel",
                      const SiteTable *sites = nullptr);

inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

template <typename T> uint64_t arg(T *pointer) { return reinterpret_cast<uint64_t>(pointer); }
inline uint64_t arg(int64_t value) { return uint64_t(value); }

template <typename T> T *pointerArg(const uint64_t *args, int i) {
  return reinterpret_cast<T *>(args[i]);
}

/// Allocates `count` elements symmetrically and clears them on this rank.
template <typename T> T *symmetric(Job &job, size_t count, const char *label = "buffer") {
  auto memory = job.allocate(count * sizeof(T), {label, "", ""});
  EXPECT_TRUE(memory.ok()) << memory.status().report();
  if (!memory.ok())
    return nullptr;
  T *out = static_cast<T *>(*memory);
  for (size_t i = 0; i < count; ++i)
    out[i] = T();
  EXPECT_TRUE(job.barrier().ok());
  return out;
}

/// What generated code does for dl.symm_at.
template <typename T> T *symmAt(nrd_program *prog, T *ptr, int32_t rank) {
  uint8_t *p = reinterpret_cast<uint8_t *>(ptr);
  return reinterpret_cast<T *>(p + (int64_t(rank) - prog->rank) * int64_t(prog->heap_bytes));
}

/// Files in /dev/shm, to show that nothing is left there.
std::vector<std::string> sharedMemoryFiles();
/// Children of this process, zombies included.
int childCount();

} // namespace nereid::test

#endif // NEREID_UNITTESTS_RUNTIME_HARNESS_H
