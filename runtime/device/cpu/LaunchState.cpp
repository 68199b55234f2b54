// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LaunchState.cpp - One launch on one rank ---------------------------===//
//
// Made for each launch, so short ones pay for what is here: a launch whose
// programs neither wait nor follow a seed needs no shares and no fates, and
// takes the early return.
//
// Programs are numbered 0 to total - 1, `linear`; the vector cores of one
// program are neighbours (program * cores + core). Where programs are fibers,
// worker w of n starts with w, w + n, w + 2n, ...: its share. Under a random
// schedule these are places in `order`, a permutation that is drawn from the
// seed, the number of the launch and the rank.
//
//===----------------------------------------------------------------------===//
#include "device/cpu/LaunchState.h"

#include "base/Random.h"
#include "device/cpu/WorkerPool.h"
#include "symmetric/Programs.h"

#include <algorithm>
#include <numeric>

namespace nereid::runtime {

LaunchState::LaunchState(Job::Impl &job, const LaunchSpec &spec)
    : job(job), spec(spec), kernel(static_cast<const CPUKernel &>(*spec.kernel)),
      observer(job.observer.load(std::memory_order_acquire)), world(job.worldTeam) {
  uint64_t programs = uint64_t(spec.grid[0]) * uint64_t(spec.grid[1]) * uint64_t(spec.grid[2]);
  total = programs * uint64_t(kernel.lanes);
  for (size_t i = 0; i < 3; ++i)
    prototype.grid[i] = spec.grid[i];
  prototype.rank = job.rank;
  prototype.num_ranks = job.worldSize;
  prototype.sub_vec_num = kernel.lanes;
  prototype.heap_base = job.heapBase;
  prototype.heap_bytes = job.heapBytes;
  prototype.wait_stride = job.settings.profile.waitStride;
  number = job.facts().launches.load(std::memory_order_relaxed);
  random = job.settings.randomSchedule;
  if (random) {
    order.resize(total);
    std::iota(order.begin(), order.end(), 0u);
    uint64_t x =
        (job.settings.seed + 1) * 0x9e3779b97f4a7c15u ^ (number << 32) ^ uint64_t(job.rank + 1);
    for (uint64_t i = total - 1; i > 0; --i) {
      x = nextRandomState(x);
      std::swap(order[i], order[x % (i + 1)]);
    }
  }
  fibers = kernel.blocking || random;
  if (!fibers)
    return;
  unstarted.store(total, std::memory_order_relaxed);
  uint64_t n = std::min<uint64_t>(WorkerPool::of(job).size(), total);
  if (n > fewShares.size())
    manyShares = std::vector<Share>(n);
  shares = {manyShares.empty() ? fewShares.data() : manyShares.data(), n};
  for (uint64_t i = 0; i < n; ++i)
    shares[i].count = (total - i + n - 1) / n;
  if (total > fewFates.size())
    manyFates.resize(total);
  fate = {manyFates.empty() ? fewFates.data() : manyFates.data(), total};
  std::fill(fate.begin(), fate.end(), Unstarted);
  if (kernel.lanes > 1)
    lanes = std::make_unique<LaneBox[]>(programs);
  kernelHash = uint32_t(hashText(kernel.name));
}

void LaunchState::fillPosition(nrd_program &abi, uint64_t linear) const {
  uint64_t p = linear;
  if (kernel.lanes > 1) {
    abi.sub_vec_id = int32_t(p % uint64_t(kernel.lanes));
    p /= uint64_t(kernel.lanes);
  }
  std::array<int32_t, 3> id = programId(linear);
  abi.pid[0] = id[0];
  abi.pid[1] = id[1];
  abi.pid[2] = id[2];
}

std::array<int32_t, 3> LaunchState::programId(uint64_t linear) const {
  return runtime::programId(spec.grid, kernel.lanes, linear);
}

SourceSite LaunchState::site(uint32_t index) const {
  if (kernel.sites && index < kernel.sites->size())
    return (*kernel.sites)[index];
  return {};
}

void LaunchState::noteRunning(const Program &program, uint32_t site) {
  std::lock_guard<std::mutex> guard(lock);
  waiting.push_back({program.linear, ProgramState::Ready, site, "", {}});
  stop.store(true, std::memory_order_release);
}

void LaunchState::fail(FailureDetail detail) {
  detail.rank = job.rank;
  detail.kernel = kernel.name;
  {
    std::lock_guard<std::mutex> guard(lock);
    if (!error)
      error = detail;
  }
  job.publishFailure(detail);
  stop.store(true, std::memory_order_release);
}

std::unique_ptr<LaunchFailure> LaunchState::failure() const {
  auto result = std::make_unique<LaunchFailure>();
  result->error = error;
  result->programs = groups();
  return result;
}

void LaunchState::checkInterrupt() {
  if (!interruptRequested())
    return;
  FailureDetail detail;
  detail.code = StatusCode::Interrupted;
  detail.message = "interrupted";
  fail(std::move(detail));
}

} // namespace nereid::runtime
