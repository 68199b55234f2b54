// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PlainRunner.cpp - Programs that need no fibers ---------------------===//
//
// A parallel loop over the grid: each worker takes the next piece, a quarter of
// its part of what is left, so that pieces shrink to single programs towards
// the end and all workers finish together. One stack and one arena of tile
// buffers serve all programs of a worker.
//
// A program that fails jumps out of its piece to the setjmp in run(): generated
// code holds nothing that would have to be destroyed. The whole launch is over
// then.
//
// wait() is for transfers that end later although the kernel does not wait for
// others, a get from a rank that is not mapped: there is no fiber to switch
// from, so the worker waits, and watches the job as all do who wait.
//
//===----------------------------------------------------------------------===//
#include "device/cpu/PlainRunner.h"

#include "base/Backoff.h"
#include "device/cpu/Observed.h"
#include "device/cpu/WorkerPool.h"

#include <algorithm>

namespace nereid::runtime {

PlainRunner::PlainRunner(Worker &worker) : worker(worker) {
  program.worker = &worker;
  program.transport = worker.job.transport.get();
}

void PlainRunner::run(LaunchState &launch) {
  Program &p = program;
  p.launch = &launch;
  p.fiber = false;
  if (!p.reserveScratch(launch.kernel.scratchBytes)) {
    FailureDetail detail;
    detail.code = StatusCode::OutOfMemory;
    detail.message =
        "no memory for " + std::to_string(launch.kernel.scratchBytes) + " bytes of tile buffers";
    launch.fail(std::move(detail));
    return;
  }
  p.abi = launch.prototype;
  p.abi.scratch = p.scratch;
  p.abi.runtime = &p;
  if (_setjmp(exit) != 0) {
    worker.landing.running = nullptr;
    return; // a program failed; the launch is over
  }
  p.observer = launch.observer;
  if (p.observer) [[unlikely]]
    runPieces<true>(launch);
  else
    runPieces<false>(launch);
}

std::string PlainRunner::what() const { return "kernel '" + program.launch->kernel.name + "'"; }

bool PlainRunner::needs(int32_t rank) {
  return transferNeeds(*program.transport, program.condition, rank);
}

void PlainRunner::wait() {
  LaunchState &launch = *program.launch;
  Backoff backoff(worker.job.maySpin);
  worker.pulse.set(WorkerState::Blocked);
  while (!isOver()) {
    if (launch.stopping())
      leave();
    worker.pulse.pass();
    program.transport->help();
    if (backoff.isSlow()) {
      worker.job.watch->tick(*this, worker.job.settings.timeoutSeconds);
      if (worker.index == 0)
        worker.interrupts.look(launch, nowNs());
    }
    backoff.step();
  }
  worker.pulse.set(WorkerState::Running);
  worker.pulse.beat();
}

template <bool Observed> void PlainRunner::runPieces(LaunchState &launch) {
  const nrd_kernel_fn kernel = launch.kernel.function;
  const uint64_t *args = launch.spec.args;
  const uint64_t total = launch.total;
  Pulse &pulse = worker.pulse;
  const uint64_t workers = uint64_t(worker.job.numThreads);
  uint64_t begun = worker.index == 0 ? nowNs() : 0;
  bool invited = worker.index != 0 || workers == 1;
  for (;;) {
    if (launch.stop.load(std::memory_order_relaxed))
      return;
    uint64_t seen = launch.next.load(std::memory_order_relaxed);
    if (seen >= total)
      return;
    // Large pieces first, single programs at the end.
    uint64_t chunk = invited ? std::clamp<uint64_t>((total - seen) / (4 * workers), 1, 256) : 1;
    uint64_t begin = launch.next.fetch_add(chunk, std::memory_order_relaxed);
    uint64_t end = std::min(begin + chunk, total);
    worker.landing.running = &program;
    for (uint64_t i = begin; i < end; ++i) {
      program.linear = i;
      program.site = ~0u;
      launch.fillPosition(program.abi, i);
      pulse.beat();
      if constexpr (Observed)
        runObserved(program);
      else
        kernel(&program.abi, args);
    }
    worker.landing.running = nullptr;
    if (worker.index == 0) {
      uint64_t now = nowNs();
      // Waking a thread costs more than a short launch takes.
      if (!invited && end < total && now - begun > 5000) {
        WorkerPool::of(worker.job).invite();
        invited = true;
      }
      if (now - begun > InterruptPoll::kEveryNs)
        worker.interrupts.look(launch, now);
    }
  }
}

} // namespace nereid::runtime
