// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Bench.h - Ratios between the runtime and bare C++ -----------------===//
//
// Every figure has a bare counterpart that the same processes run in turn with
// it, in samples of a few milliseconds:
//
//   probe | bare | runtime | probe      probe | runtime | bare | probe   ...
//
// Virtual machines move their cores between physical places while they run, and
// other processes take turns on them. So each sample is kept only if it was
// undisturbed: both probes (the flight time of a flag between ranks 0 and 1)
// fall into the same class, not that of two threads of one core, and the ranks
// had the processors for themselves, which their own processor time tells. The
// figure is the median over the samples that are kept, for each place apart.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_BENCH_RUNTIME_BENCH_H
#define NEREID_BENCH_RUNTIME_BENCH_H

#include "nereid/runtime/Job.h"
#include "nereid/runtime/KernelCode.h"
#include "nereid/runtime/Launch.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace nereid::bench {

/// Where two cores are, told from the flight time of a flag.
enum Place { Smt, Near, Far };
const char *placeName(Place place);

double now(); ///< seconds
void pause();
double median(std::vector<double> values);

constexpr int kMaxRanks = 16;

/// In the symmetric heap, one per rank.
struct Words {
  alignas(64) std::atomic<uint64_t> flag;
  alignas(64) std::atomic<uint64_t> ready;
  alignas(64) std::atomic<uint64_t> arrived;
  alignas(64) std::atomic<uint64_t> epoch;
  alignas(64) std::atomic<uint64_t> round; ///< barrier of pairs: last one begun
  alignas(64) std::atomic<uint64_t> verdict;
  alignas(64) uint64_t signal;
  alignas(64) uint64_t answer;
  alignas(64) double busy; ///< processor seconds of the rank's last sample
};

struct Options {
  double seconds = 6;  ///< at most, for one figure
  int samples = 60;    ///< undisturbed ones that are enough
  std::string kernels; ///< folder of compiled kernels, or empty
  std::string only;    ///< figures whose name contains it
};

class Bench {
public:
  Bench(runtime::Job &job, Options options);

  int rank() const { return job.rank(); }
  int ranks() const { return job.worldSize(); }
  /// More ranks than cores: a waiting rank must give its core away.
  bool crowded() const { return ranks() > cores; }
  Words &at(int rank) const { return *static_cast<Words *>(job.peerAddress(own, rank)); }

  /// Compares `ours` with `bare`, each doing `rounds` rounds, and prints the
  /// times of a round. `bar`: the ratio ours / bare that is to be reached; 0 =
  /// none. Collective.
  void compare(const std::string &name, int rounds, double bar,
               const std::function<void(int)> &bare, const std::function<void(int)> &ours);
  /// Compares things that time themselves: `run` adds its seconds per round to
  /// the two lists (on rank 0). `bytes` of a round, for GB/s; `atLeast`: bar on
  /// bare time / our time.
  void compareTimes(
      const std::string &name, double bytes, double atLeast,
      const std::function<void(std::vector<double> &bare, std::vector<double> &ours)> &run);

  void launch(nrd_kernel_fn kernel, const std::vector<uint64_t> &args, int programs,
              const char *name = "bench");
  /// A kernel that bench/cases/transfers.py has compiled; null without one.
  nrd_kernel_fn compiled(const std::string &name);

  /// A barrier of bare C++, which yields at once when ranks are crowded.
  void bareBarrier();
  /// Each rank tells all others that it has come: no shared counter.
  void pairBarrier();
  /// Flag ping-pong between ranks 0 and 1.
  void bareFlags(int rounds);

  runtime::Job &job;
  Words *own = nullptr;
  const int cores;

private:
  struct Probe {
    Place place = Near;
    double ns = 0;
  };
  Probe probe();
  /// Rank 0 decides, all get to know.
  uint64_t agree(uint64_t value);
  double timed(const std::function<void(int)> &body, int rounds, double &busyShare);
  struct Sample {
    double bare = 0, ours = 0;
    Place place = Near;
    double flagNs = 0, share = 0;
  };
  void report(const std::string &name, const std::vector<Sample> &samples, int tried, double bytes,
              double bar, bool atLeast);

  Options options;
  uint64_t flagRound = 0, epochRound = 0, pairRound = 0;
  std::map<std::string, std::shared_ptr<runtime::KernelCode>> code;
};

// The families of figures. Collective.
void benchSignals(Bench &bench);
void benchBarriers(Bench &bench);
void benchTransfers(Bench &bench);
void benchLaunches(Bench &bench);

} // namespace nereid::bench

#endif // NEREID_BENCH_RUNTIME_BENCH_H
