// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SignalBench.cpp - Signals, barriers, launches ---------------------===//
#include "Bench.h"

namespace nereid::bench {

using namespace nereid::runtime;

static uint64_t address(const void *p) { return reinterpret_cast<uint64_t>(p); }

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

/// args: signal, value before the first round, rounds.
static void notifyWait(nrd_program *p, const uint64_t *args) {
  auto *signal = reinterpret_cast<uint64_t *>(args[0]);
  for (int64_t i = 1; i <= int64_t(args[2]); ++i) {
    int64_t value = int64_t(args[1]) + i;
    if (p->rank == 1)
      nrd_wait(p, signal, 1, value, 8, 0);
    nrd_notify(p, signal, value, 1 - p->rank, NRD_SIG_SET, NRD_COMM_INTRA_NODE, 8, 0);
    if (p->rank == 0)
      nrd_wait(p, signal, 1, value, 8, 0);
  }
}

static void signalOpWaitUntil(nrd_program *p, const uint64_t *args) {
  auto *signal = reinterpret_cast<uint64_t *>(args[0]);
  for (uint64_t i = 1; i <= args[2]; ++i) {
    uint64_t value = args[1] + i;
    if (p->rank == 1)
      nrd_shmem_wait_until(p, signal, NRD_CMP_GE, value, 8, 0, 0);
    nrd_shmem_signal_op(p, signal, value, NRD_SIG_SET, 1 - p->rank, 8, 0);
    if (p->rank == 0)
      nrd_shmem_wait_until(p, signal, NRD_CMP_GE, value, 8, 0, 0);
  }
}

void benchSignals(Bench &bench) {
  if (bench.ranks() != 2)
    return;
  uint64_t round = 0;
  auto against = [&](const char *name, nrd_kernel_fn kernel, int programs, double bar) {
    if (!kernel)
      return;
    bench.compare(
        name, 2000, bar, [&](int k) { bench.bareFlags(k); },
        [&](int k) {
          bench.launch(kernel, {address(&bench.own->signal), round, uint64_t(k)}, programs);
          round += uint64_t(k);
        });
  };
  against("round trip, nrd_notify + nrd_wait", notifyWait, 1, 2);
  against("round trip, signal_op + wait_until", signalOpWaitUntil, 1, 2);
  // Only program 0 plays; the others wait for the last round.
  against("round trip, dl.notify + dl.wait", bench.compiled("ping_pong"), 1, 2);
  against("round trip, 8 programs in all", bench.compiled("ping_pong"), 8, 0);
  against("round trip, written spin loop", bench.compiled("spin_ping_pong"), 1, 2);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

static void barriers(nrd_program *p, const uint64_t *args) {
  for (uint64_t i = 0; i < args[0]; ++i)
    nrd_barrier_all(p, 0);
}

void benchBarriers(Bench &bench) {
  const int rounds = bench.crowded() ? 300 : 4000;
  // The best that is known: flags between pairs while every rank has a core,
  // else a counter and a yield at once.
  auto bare = [&](int k) {
    for (int i = 0; i < k; ++i)
      bench.crowded() ? bench.bareBarrier() : bench.pairBarrier();
  };
  auto against = [&](const char *name, nrd_kernel_fn kernel, int programs, double bar) {
    if (kernel)
      bench.compare(name, rounds, bar, bare,
                    [&](int k) { bench.launch(kernel, {uint64_t(k)}, programs); });
  };
  against("nrd_barrier_all", barriers, 1, 2);
  against("barrier_all in a kernel", bench.compiled("barriers"), 1, 2);
  against("barrier_all, 8 programs per rank", bench.compiled("barriers"), 8, 0);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static void nothing(nrd_program *, const uint64_t *) {}

void benchLaunches(Bench &bench) {
  if (bench.ranks() != 2)
    return;
  runtime::CPUKernel plainKernel("nothing", nothing), blockingKernel("nothing", nothing);
  blockingKernel.blocking = true;
  LaunchSpec plain, blocking;
  plain.kernel = &plainKernel;
  blocking.kernel = &blockingKernel;
  auto many = [&](const LaunchSpec &spec, int k) {
    for (int i = 0; i < k; ++i)
      (void)launch(&bench.job, spec);
  };
  bench.compare(
      "launch of a kernel that waits / plain", 4000, 0, [&](int k) { many(plain, k); },
      [&](int k) { many(blocking, k); });
}

} // namespace nereid::bench
