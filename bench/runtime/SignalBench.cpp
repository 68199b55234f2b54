// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SignalBench.cpp - Latency of signals, barriers, launches -----------===//
//
// Starts jobs of 2, 4 and 8 ranks of itself. Every figure of the runtime has a
// bare C++ counterpart that is measured in the same processes, before and
// after; only their ratio means anything, since virtual machines move between
// core placements. Ranks are pinned, rank r to core r modulo cores.
//
//===----------------------------------------------------------------------===//
#include "nereid/runtime/Job.h"
#include "nereid/runtime/JobLauncher.h"
#include "nereid/runtime/Launch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace nereid::runtime;

namespace {

double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Words {
  alignas(64) std::atomic<uint64_t> flag;
  alignas(64) std::atomic<uint64_t> arrived;
  alignas(64) std::atomic<uint64_t> epoch;
  alignas(64) uint64_t signal;
};

struct Bench {
  Job &job;
  Words *own;
  int spinRanks; ///< ranks that have a core of their own
  uint64_t flagRound = 0, epochRound = 0, signalRound = 0;

  Words &at(int rank) const {
    return *static_cast<Words *>(job.peerAddress(own, rank));
  }
  bool crowded() const { return job.worldSize() > spinRanks; }

  /// Two ranks, a store and a spinning load: what the machine can do.
  void bareFlags(int rounds) {
    if (job.rank() > 1)
      return;
    Words &peer = at(1 - job.rank());
    for (int i = 0; i < rounds; ++i) {
      uint64_t value = ++flagRound;
      auto wait = [&] {
        while (own->flag.load(std::memory_order_acquire) != value)
          pause();
      };
      if (job.rank() == 1)
        wait();
      peer.flag.store(value, std::memory_order_release);
      if (job.rank() == 0)
        wait();
    }
  }

  /// A central barrier; yields at once when there are more ranks than cores.
  void bareBarrier(int rounds) {
    Words &central = at(0);
    for (int i = 0; i < rounds; ++i) {
      uint64_t epoch = ++epochRound;
      if (central.arrived.fetch_add(1) + 1 == uint64_t(job.worldSize())) {
        central.arrived.store(0);
        central.epoch.store(epoch, std::memory_order_release);
        continue;
      }
      while (central.epoch.load(std::memory_order_acquire) < epoch) {
        if (crowded())
          sched_yield();
        else
          pause();
      }
    }
  }

  void launchKernel(nrd_kernel_fn kernel, std::vector<uint64_t> args,
                    int programs) {
    LaunchSpec spec;
    spec.kernelName = "bench";
    spec.kernel = kernel;
    spec.args = args.data();
    spec.grid = {programs, 1, 1};
    spec.blocking = true;
    Status st = launch(&job, spec);
    if (!st.ok()) {
      std::fprintf(stderr, "%s", st.report().c_str());
      std::_Exit(1);
    }
  }

  /// Seconds per round, the same on all ranks: the slowest counts.
  double time(int rounds, const std::function<void(int)> &body) {
    if (!job.barrier().ok())
      std::_Exit(1);
    double begin = now();
    body(rounds);
    return (now() - begin) / rounds;
  }
};

void pingPong(nrd_program *p, const uint64_t *args) {
  auto *signal = reinterpret_cast<uint64_t *>(args[0]);
  if (p->rank > 1)
    return;
  for (int64_t i = 1; i <= int64_t(args[2]); ++i) {
    int64_t value = int64_t(args[1]) + i;
    if (p->rank == 1)
      nrd_wait(p, signal, 1, value, 8, 0);
    nrd_notify(p, signal, value, 1 - p->rank, NRD_SIG_SET, NRD_COMM_INTRA_NODE,
               8, 0);
    if (p->rank == 0)
      nrd_wait(p, signal, 1, value, 8, 0);
  }
}

void barriers(nrd_program *p, const uint64_t *args) {
  for (uint64_t i = 0; i < args[0]; ++i)
    nrd_barrier_all(p, 0);
}

void nothing(nrd_program *, const uint64_t *) {}

void putMany(nrd_program *p, const uint64_t *args) {
  for (uint64_t i = 0; i < args[3]; ++i)
    nrd_shmem_put(p, reinterpret_cast<void *>(args[0]),
                  reinterpret_cast<void *>(args[1]), args[2],
                  (p->rank + 1) % p->num_ranks, 0, 0);
}

void getMany(nrd_program *p, const uint64_t *args) {
  for (uint64_t i = 0; i < args[3]; ++i)
    nrd_shmem_get(p, reinterpret_cast<void *>(args[0]),
                  reinterpret_cast<void *>(args[1]), args[2],
                  (p->rank + 1) % p->num_ranks, 0, 0);
}

int runRank() {
  auto joined = Job::init();
  if (!joined.ok()) {
    std::fprintf(stderr, "%s", joined.status().report().c_str());
    return 1;
  }
  Job &job = **joined;
  int cores = int(std::thread::hardware_concurrency());
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(job.rank() % cores, &set);
  sched_setaffinity(0, sizeof(set), &set);
  auto memory = job.allocate(sizeof(Words), {"words", "", ""});
  auto data = job.allocate(1 << 20, {"data", "", ""});
  if (!memory.ok() || !data.ok())
    return 1;
  Bench bench{job, static_cast<Words *>(*memory), cores};
  const bool first = job.rank() == 0;
  const int n = job.worldSize();

  auto line = [&](const char *what, double runtime, double bare) {
    if (first)
      std::printf("%5d  %-34s %10.3f %10.3f %8.2f\n", n, what, runtime * 1e6,
                  bare * 1e6, runtime / bare);
  };

  if (n == 2) {
    std::vector<double> bare, ours;
    for (int i = 0; i < 7; ++i) {
      bare.push_back(bench.time(20000, [&](int k) { bench.bareFlags(k); }));
      ours.push_back(bench.time(20000, [&](int k) {
        bench.launchKernel(pingPong,
                           {reinterpret_cast<uint64_t>(&bench.own->signal),
                            bench.signalRound, uint64_t(k)},
                           1);
        bench.signalRound += uint64_t(k);
      }));
    }
    line("signal round trip / bare flags", median(ours), median(bare));
  }
  for (int programs : {1, 8}) {
    std::vector<double> bare, ours;
    int rounds = n > cores ? 2000 : 10000;
    for (int i = 0; i < 7; ++i) {
      bare.push_back(bench.time(rounds, [&](int k) { bench.bareBarrier(k); }));
      ours.push_back(bench.time(rounds, [&](int k) {
        bench.launchKernel(barriers, {uint64_t(k)}, programs);
      }));
    }
    std::string what = "barrier_all, " + std::to_string(programs) +
                       (programs == 1 ? " program" : " programs") +
                       "/rank / bare barrier";
    line(what.c_str(), median(ours), median(bare));
  }
  if (n == 2) {
    uint8_t *base = static_cast<uint8_t *>(*data);
    std::vector<uint8_t> local(1 << 19, 1);
    for (uint64_t bytes : {4096u, 65536u, 524288u}) {
      uint64_t k = (uint64_t(1) << 26) / bytes;
      std::vector<double> put, get, copy;
      for (int i = 0; i < 5; ++i) {
        void *peer = job.peerAddress(base, 1 - job.rank());
        copy.push_back(bench.time(int(k), [&](int rounds) {
          for (int j = 0; j < rounds; ++j) {
            std::memcpy(local.data(), peer, bytes);
            asm volatile("" ::: "memory");
          }
        }));
        get.push_back(bench.time(int(k), [&](int rounds) {
          bench.launchKernel(getMany,
                             {reinterpret_cast<uint64_t>(local.data()),
                              reinterpret_cast<uint64_t>(base), bytes,
                              uint64_t(rounds)},
                             1);
        }));
        put.push_back(bench.time(int(k), [&](int rounds) {
          bench.launchKernel(putMany,
                             {reinterpret_cast<uint64_t>(base),
                              reinterpret_cast<uint64_t>(local.data()), bytes,
                              uint64_t(rounds)},
                             1);
        }));
      }
      std::string size = std::to_string(bytes / 1024) + " KiB";
      line(("get " + size + " / memcpy from peer").c_str(), median(get),
           median(copy));
      line(("put " + size + " / memcpy from peer").c_str(), median(put),
           median(copy));
    }
    std::vector<double> plain, call;
    LaunchSpec spec;
    spec.kernelName = "nothing";
    spec.kernel = nothing;
    for (int i = 0; i < 5; ++i) {
      plain.push_back(bench.time(20000, [&](int k) {
        for (int j = 0; j < k; ++j)
          (void)launch(&job, spec);
      }));
      spec.blocking = true;
      call.push_back(bench.time(20000, [&](int k) {
        for (int j = 0; j < k; ++j)
          (void)launch(&job, spec);
      }));
      spec.blocking = false;
    }
    line("launch, blocking / plain", median(call), median(plain));
  }
  return job.barrier().ok() && job.finalize().ok() ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 1 && std::string(argv[1]) == "--rank")
    return runRank();
  std::printf("%5s  %-34s %10s %10s %8s\n", "ranks", "what", "us", "bare us",
              "ratio");
  std::fflush(stdout);
  for (int ranks : {2, 4, 8}) {
    LaunchJobOptions options;
    options.heapBytes = 4 << 20;
    options.numThreads = 1;
    auto result = launchJob({argv[0], "--rank"}, ranks, options);
    if (!result.ok() || result->exitCode != 0) {
      if (!result.ok())
        std::fprintf(stderr, "%s", result.status().report().c_str());
      return 1;
    }
  }
  return 0;
}
