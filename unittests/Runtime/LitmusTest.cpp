// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LitmusTest.cpp - The memory model, by small programs ---------------===//
//
// Each test says which outcomes docs/memory-model.md allows. Over many rounds
// no other may appear, however the ranks reach each other; those that it calls
// weak must appear under a random schedule for some seed: what the model allows
// has to be seen on the way, or a kernel that relies on less would pass here.
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include "transport/Transports.h"

#include <map>
#include <set>

using namespace nereid::test;

namespace {

constexpr int kCells = 4;
constexpr int kRegisters = 2;

/// What one rank sees of one round. All words are 8 bytes on lines of their
/// own and start as 0.
struct Round {
  nrd_program *p;
  uint64_t *cells;     ///< symmetric; of this round, kCells lines
  uint64_t *registers; ///< results of this rank

  int32_t rank() const { return p->rank; }
  uint64_t *cell(int i) const { return cells + i * 8; }
  /// A local load, not moved by the compiler.
  uint64_t load(int i) const { return __atomic_load_n(cell(i), __ATOMIC_RELAXED); }
  void store(int i, uint64_t value) const { __atomic_store_n(cell(i), value, __ATOMIC_RELAXED); }
  void result(int i, uint64_t value) const { registers[i] = value; }

  // Operations on cell i of rank pe.
  void put(int i, uint64_t value, int32_t pe) const {
    nrd_shmem_put(p, cell(i), &value, 8, pe, 0, 0);
  }
  /// Sends this rank's cell `from`.
  void putNbi(int i, int from, int32_t pe) const {
    nrd_shmem_put(p, cell(i), cell(from), 8, pe, 1, 0);
  }
  void getNbi(int to, int i, int32_t pe) const { nrd_shmem_get(p, cell(to), cell(i), 8, pe, 1, 0); }
  void putSignal(int i, uint64_t value, int signal, int32_t pe) const {
    nrd_shmem_put_signal(p, cell(i), &value, 8, cell(signal), 1, NRD_SIG_SET, pe, 8, 0, 0);
  }
  void signal(int i, uint64_t value, int32_t pe) const {
    nrd_shmem_signal_op(p, cell(i), value, NRD_SIG_SET, pe, 8, 0);
  }
  void notify(int i, int32_t pe, int32_t scope = NRD_COMM_INTER_NODE) const {
    nrd_notify(p, cell(i), 1, pe, NRD_SIG_SET, scope, 8, 0);
  }
  void p8(int i, uint64_t value, int32_t pe) const { nrd_shmem_p(p, cell(i), value, 8, pe, 0); }
  uint64_t g8(int i, int32_t pe) const { return nrd_shmem_g(p, cell(i), 8, pe, 0); }
  void wait(int i) const { nrd_wait(p, cell(i), 1, 1, 8, 0); }
  void fence() const { nrd_shmem_fence(p, 0); }
  void quiet() const { nrd_shmem_quiet(p, 0); }
};

struct Litmus {
  const char *name;
  int32_t ranks;
  void (*run)(const Round &);
  /// (rank, register) pairs whose digits make an outcome.
  std::vector<std::pair<int, int>> shown;
  std::set<std::string> allowed;
  /// Those of `allowed` that must appear for some seed.
  std::set<std::string> weak = {};
  bool oneNode = false; ///< dereferences other ranks' memory
  /// A rank touches on purpose what an operation of its own may be at: a race
  /// within one process.
  bool racesAtHome = false;
};

const Litmus kLitmus[] = {
    {"message passing by a store and notify",
     2,
     [](const Round &r) {
       if (r.rank() == 0) {
         __atomic_store_n(symmAt(r.p, r.cell(0), 1), 1, __ATOMIC_RELAXED);
         r.notify(1, 1, NRD_COMM_INTRA_NODE);
       } else {
         r.wait(1);
         r.result(0, r.load(0));
       }
     },
     {{1, 0}},
     {"1"},
     {},
     true},
    {"message passing by a store and notify across nodes' scope",
     2,
     [](const Round &r) {
       if (r.rank() == 0) {
         __atomic_store_n(symmAt(r.p, r.cell(0), 1), 1, __ATOMIC_RELAXED);
         r.notify(1, 1);
       } else {
         r.wait(1);
         r.result(0, r.load(0));
       }
     },
     {{1, 0}},
     {"1"},
     {},
     true},
    {"put, fence, signal_op",
     2,
     [](const Round &r) {
       if (r.rank() == 0) {
         r.put(0, 1, 1);
         r.fence();
         r.signal(1, 1, 1);
       } else {
         r.wait(1);
         r.result(0, r.load(0));
       }
     },
     {{1, 0}},
     {"1"}},
    {"put, quiet, signal_op",
     2,
     [](const Round &r) {
       if (r.rank() == 0) {
         r.put(0, 1, 1);
         r.quiet();
         r.signal(1, 1, 1);
       } else {
         r.wait(1);
         r.result(0, r.load(0));
       }
     },
     {{1, 0}},
     {"1"}},
    {"put, signal_op without fence",
     2,
     [](const Round &r) {
       if (r.rank() == 0) {
         r.put(0, 1, 1);
         r.signal(1, 1, 1);
       } else {
         r.wait(1);
         r.result(0, r.load(0));
       }
     },
     {{1, 0}},
     {"0", "1"},
     {"0", "1"}},
    {"put, notify inter_node without fence",
     2,
     [](const Round &r) {
       if (r.rank() == 0) {
         r.put(0, 1, 1);
         r.notify(1, 1);
       } else {
         r.wait(1);
         r.result(0, r.load(0));
       }
     },
     {{1, 0}},
     {"0", "1"},
     {"0", "1"}},
    {"put, notify intra_node",
     2,
     [](const Round &r) {
       if (r.rank() == 0) {
         r.put(0, 1, 1);
         r.notify(1, 1, NRD_COMM_INTRA_NODE);
       } else {
         r.wait(1);
         r.result(0, r.load(0));
       }
     },
     {{1, 0}},
     {"1"},
     {},
     true},
    {"fence orders for each rank by itself",
     3,
     [](const Round &r) {
       if (r.rank() == 0) {
         r.put(0, 1, 1);
         r.fence();
         r.signal(1, 1, 2);
       } else if (r.rank() == 2) {
         r.wait(1);
         r.signal(2, 1, 1);
       } else {
         r.wait(2);
         r.result(0, r.load(0));
       }
     },
     {{1, 0}},
     {"0", "1"},
     {"0", "1"}},
    {"quiet orders for all ranks",
     3,
     [](const Round &r) {
       if (r.rank() == 0) {
         r.put(0, 1, 1);
         r.quiet();
         r.signal(1, 1, 2);
       } else if (r.rank() == 2) {
         r.wait(1);
         r.signal(2, 1, 1);
       } else {
         r.wait(2);
         r.result(0, r.load(0));
       }
     },
     {{1, 0}},
     {"1"}},
    {"put_signal brings its own data",
     2,
     [](const Round &r) {
       if (r.rank() == 0) {
         r.putSignal(0, 1, 1, 1);
       } else {
         r.wait(1);
         r.result(0, r.load(0));
       }
     },
     {{1, 0}},
     {"1"}},
    {"put_signal does not bring an earlier put",
     2,
     [](const Round &r) {
       if (r.rank() == 0) {
         r.put(2, 1, 1);
         r.putSignal(0, 1, 1, 1);
       } else {
         r.wait(1);
         r.result(0, r.load(0));
         r.result(1, r.load(2));
       }
     },
     {{1, 0}, {1, 1}},
     {"10", "11"},
     {"10", "11"}},
    {"store buffering by p",
     2,
     [](const Round &r) {
       int32_t peer = 1 - r.rank();
       r.p8(r.rank(), 1, peer);
       r.result(0, r.load(peer));
     },
     {{0, 0}, {1, 0}},
     {"00", "01", "10", "11"},
     {"00"}},
    {"store buffering with quiet",
     2,
     [](const Round &r) {
       int32_t peer = 1 - r.rank();
       r.p8(r.rank(), 1, peer);
       r.quiet();
       r.result(0, r.load(peer));
     },
     {{0, 0}, {1, 0}},
     {"01", "10", "11"}},
    {"store buffering with barrier_all",
     2,
     [](const Round &r) {
       int32_t peer = 1 - r.rank();
       r.p8(r.rank(), 1, peer);
       nrd_barrier_all(r.p, 0);
       r.result(0, r.load(peer));
     },
     {{0, 0}, {1, 0}},
     {"11"}},
    {"sync_all does not complete puts",
     2,
     [](const Round &r) {
       int32_t peer = 1 - r.rank();
       r.p8(r.rank(), 1, peer);
       nrd_shmem_sync_all(r.p, 0);
       r.result(0, r.load(peer));
     },
     {{0, 0}, {1, 0}},
     {"00", "01", "10", "11"},
     {"00"}},
    {"independent reads of independent writes, each word at one place",
     4,
     [](const Round &r) {
       // x is cell 0 of rank 0, y cell 1 of rank 1.
       if (r.rank() < 2)
         return r.p8(r.rank(), 1, r.rank());
       int first = r.rank() == 2 ? 0 : 1;
       r.result(0, r.g8(first, first));
       r.result(1, r.g8(1 - first, 1 - first));
     },
     {{2, 0}, {2, 1}, {3, 0}, {3, 1}},
     {"0000", "0001", "0010", "0011", "0100", "0101", "0110", "0111", "1000", "1001", "1011",
      "1100", "1101", "1110", "1111"}},
    {"independent reads of independent writes, put to each reader",
     4,
     [](const Round &r) {
       if (r.rank() < 2) {
         r.p8(r.rank(), 1, 2);
         r.p8(r.rank(), 1, 3);
         return;
       }
       int first = r.rank() == 2 ? 0 : 1;
       r.result(0, r.g8(first, r.rank()));
       r.result(1, r.g8(1 - first, r.rank()));
     },
     {{2, 0}, {2, 1}, {3, 0}, {3, 1}},
     {"0000", "0001", "0010", "0011", "0100", "0101", "0110", "0111", "1000", "1001", "1010",
      "1011", "1100", "1101", "1110", "1111"},
     {"1010"}},
    {"the source of a put is free when it returns",
     2,
     [](const Round &r) {
       if (r.rank() == 0) {
         uint64_t value = 1;
         nrd_shmem_put(r.p, r.cell(0), &value, 8, 1, 0, 0);
         *static_cast<volatile uint64_t *>(&value) = 2;
         r.fence();
         r.signal(1, 1, 1);
       } else {
         r.wait(1);
         r.result(0, r.load(0));
       }
     },
     {{1, 0}},
     {"1"}},
    {"the source of put_nbi is changed before quiet",
     2,
     [](const Round &r) {
       if (r.rank() == 0) {
         r.store(2, 1);
         r.putNbi(0, 2, 1);
         r.store(2, 2);
         r.quiet();
         r.signal(1, 1, 1);
       } else {
         r.wait(1);
         r.result(0, r.load(0));
       }
     },
     {{1, 0}},
     {"1", "2"},
     {"2"},
     false,
     true},
    {"the source of put_nbi is changed after quiet",
     2,
     [](const Round &r) {
       if (r.rank() == 0) {
         r.store(2, 1);
         r.putNbi(0, 2, 1);
         r.quiet();
         r.store(2, 2);
         r.signal(1, 1, 1);
       } else {
         r.wait(1);
         r.result(0, r.load(0));
       }
     },
     {{1, 0}},
     {"1"}},
    {"the target of get_nbi is read before quiet",
     2,
     [](const Round &r) {
       r.store(0, 1);
       nrd_barrier_all(r.p, 0);
       if (r.rank() == 0) {
         r.getNbi(2, 0, 1);
         r.result(0, r.load(2));
         r.quiet();
         r.result(1, r.load(2));
       }
     },
     {{0, 0}, {0, 1}},
     {"01", "11"},
     {"01"},
     false,
     true},
    {"fence does not complete get_nbi",
     2,
     [](const Round &r) {
       r.store(0, 1);
       nrd_barrier_all(r.p, 0);
       if (r.rank() == 0) {
         r.getNbi(2, 0, 1);
         r.fence();
         r.result(0, r.load(2));
         r.quiet();
         r.result(1, r.load(2));
       }
     },
     {{0, 0}, {0, 1}},
     {"01", "11"},
     {"01"},
     false,
     true},
    {"two puts to one place",
     2,
     [](const Round &r) {
       if (r.rank() == 0) {
         r.put(0, 1, 1);
         r.put(0, 2, 1);
         r.quiet();
         r.signal(1, 1, 1);
       } else {
         r.wait(1);
         r.result(0, r.load(0));
       }
     },
     {{1, 0}},
     {"1", "2"},
     {"1", "2"}},
    {"two puts to one place with fence",
     2,
     [](const Round &r) {
       if (r.rank() == 0) {
         r.put(0, 1, 1);
         r.fence();
         r.put(0, 2, 1);
         r.quiet();
         r.signal(1, 1, 1);
       } else {
         r.wait(1);
         r.result(0, r.load(0));
       }
     },
     {{1, 0}},
     {"2"}},
    {"coherence: one word is never read backwards",
     2,
     [](const Round &r) {
       if (r.rank() == 0) {
         r.signal(0, 1, 1);
         r.fence();
         r.signal(0, 2, 1);
       } else {
         r.result(0, r.g8(0, 1));
         r.result(1, r.g8(0, 1));
       }
     },
     {{1, 0}, {1, 1}},
     {"00", "01", "02", "11", "12", "22"}},
};

/// args: litmus, cells, registers, rounds, rounds from barrier to barrier.
void litmusKernel(nrd_program *p, const uint64_t *args) {
  const Litmus &litmus = *pointerArg<const Litmus>(args, 0);
  uint64_t *cells = pointerArg<uint64_t>(args, 1);
  uint64_t *registers = pointerArg<uint64_t>(args, 2);
  int64_t rounds = int64_t(args[3]);
  for (int64_t i = 0; i < rounds; ++i) {
    // Ranks start a round close together.
    if (i % int64_t(args[4]) == 0)
      nrd_barrier_all(p, 0);
    litmus.run({p, cells + i * kCells * 8, registers + i * kRegisters});
  }
}

/// Runs on every rank; rank 0 adds to `seen`.
void runLitmus(Job &job, const Litmus &litmus, int64_t rounds, int64_t together,
               std::map<std::string, int64_t> &seen) {
  size_t cellCount = size_t(rounds) * kCells * 8;
  uint64_t *cells = symmetric<uint64_t>(job, cellCount, "cells");
  uint64_t *registers = symmetric<uint64_t>(job, size_t(rounds) * kRegisters, "registers");
  Status st = launchBlocking(
      job, litmusKernel, {arg(&litmus), arg(cells), arg(registers), arg(rounds), arg(together)}, 1);
  ASSERT_TRUE(st.ok()) << litmus.name << ": " << st.report();
  ASSERT_TRUE(job.barrier().ok());
  if (job.rank() == 0) {
    std::vector<std::vector<uint64_t>> all;
    for (int32_t r = 0; r < job.worldSize(); ++r) {
      std::vector<uint64_t> values(size_t(rounds) * kRegisters);
      ASSERT_TRUE(job.get(values.data(), registers, values.size() * 8, r).ok());
      all.push_back(std::move(values));
    }
    for (int64_t i = 0; i < rounds; ++i) {
      std::string outcome;
      for (auto [rank, reg] : litmus.shown)
        outcome += std::to_string(all[size_t(rank)][size_t(i * kRegisters + reg)]);
      ++seen[outcome];
    }
  }
  ASSERT_TRUE(job.free(registers).ok());
  ASSERT_TRUE(job.free(cells).ok());
}

std::string text(const std::map<std::string, int64_t> &seen) {
  std::string out;
  for (const auto &[outcome, count] : seen)
    out += (out.empty() ? "" : ", ") + outcome + ": " + std::to_string(count);
  return out;
}

void expectAllowed(const Litmus &litmus, const std::map<std::string, int64_t> &seen) {
  for (const auto &[outcome, count] : seen)
    EXPECT_TRUE(litmus.allowed.count(outcome))
        << litmus.name << ": " << outcome << " is forbidden; seen " << text(seen);
}

/// Whether the thread sanitizer watches: it would report what races on purpose.
#ifndef __has_feature
#define __has_feature(x) 0
#endif
constexpr bool kRacesAreReported = __has_feature(thread_sanitizer);

struct Way {
  bool processes;
  int32_t ranksPerNode;
  const char *transport = "delayed:shared_memory";
};

/// All tests that `ways` can run, over ranks in the order of the system.
void runAll(const Way &way) {
  std::set<int32_t> sizes;
  for (const Litmus &litmus : kLitmus)
    sizes.insert(litmus.ranks);
  for (int32_t ranks : sizes) {
    auto body = [&](Job &job) {
      for (const Litmus &litmus : kLitmus) {
        if (litmus.ranks != ranks || (litmus.oneNode && way.ranksPerNode))
          continue;
        if (kRacesAreReported && litmus.racesAtHome)
          continue;
        std::map<std::string, int64_t> seen;
        runLitmus(job, litmus, kRounds, 8, seen);
        expectAllowed(litmus, seen);
      }
    };
    JobOptions options = testOptions();
    options.ranksPerNode = way.ranksPerNode;
    options.transport = way.transport;
    if (!way.processes) {
      runThreads(ranks, options, body);
      continue;
    }
    std::vector<int> codes = runForked(ranks, options, [&](Job &job) {
      body(job);
      return 0;
    });
    EXPECT_EQ(codes, std::vector<int>(size_t(ranks), 0));
  }
}

TEST(Litmus, ForbiddenOutcomesNeverAppearAmongThreads) {
  if (kRacesAreReported)
    GTEST_SKIP() << "some of these programs race on purpose";
  runAll({false, 0});
}
TEST(Litmus, ForbiddenOutcomesNeverAppearAmongProcesses) { runAll({true, 0}); }
TEST(Litmus, ForbiddenOutcomesNeverAppearAmongNodes) { runAll({true, 1}); }
TEST(Litmus, ForbiddenOutcomesNeverAppearAmongNodesOfThreads) {
  if (kRacesAreReported)
    GTEST_SKIP() << "some of these programs race on purpose";
  runAll({false, 1});
}

TEST(Litmus, ForbiddenOutcomesNeverAppearOverSockets) { runAll({true, 1, "remote"}); }
TEST(Litmus, ForbiddenOutcomesNeverAppearOverDelayedSockets) {
  runAll({true, 1, "delayed:remote"});
}
TEST(Litmus, ForbiddenOutcomesNeverAppearOverUcx) {
  if (auto made = nereid::runtime::findTransport("ucx")->row->make({}); !made.ok()) {
    ASSERT_EQ(std::getenv("NEREID_REQUIRE_ORACLES"), nullptr) << made.status().message();
    GTEST_SKIP() << made.status().message();
  }
  runAll({true, 1, "ucx"});
}

TEST(Litmus, WeakOutcomesAppearForSomeSeed) {
  for (const Litmus &litmus : kLitmus) {
    std::map<std::string, int64_t> seen;
    auto complete = [&] {
      return std::all_of(litmus.weak.begin(), litmus.weak.end(),
                         [&](const std::string &outcome) { return seen.count(outcome) != 0; });
    };
    for (int seed = 1; seed <= 16 || (seed <= 100 && !complete()); ++seed) {
      // Four over sockets, whose own timing comes on top.
      const bool sockets = seed > 12 && seed <= 16;
      if (sockets && litmus.oneNode)
        continue;
      JobOptions options = testOptions();
      options.schedule = "random:" + std::to_string(seed);
      options.ranksPerNode = litmus.oneNode ? 0 : sockets ? 1 : seed % 2;
      if (sockets)
        options.transport = "remote";
      std::map<std::string, int64_t> ofRank0;
      runThreads(litmus.ranks, options, [&](Job &job) {
        std::map<std::string, int64_t> none;
        runLitmus(job, litmus, 40, 1 + seed % 3, job.rank() ? none : ofRank0);
      });
      for (const auto &[outcome, count] : ofRank0)
        seen[outcome] += count;
    }
    expectAllowed(litmus, seen);
    for (const std::string &outcome : litmus.weak)
      EXPECT_GT(seen[outcome], 0) << litmus.name << ": " << outcome << " never appeared; seen "
                                  << text(seen);
    if (std::getenv("NEREID_TEST_VERBOSE"))
      std::printf("%-70s %s\n", litmus.name, text(seen).c_str());
  }
}

} // namespace
