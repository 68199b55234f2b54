// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Bench.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sched.h>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace nereid::bench {

using namespace nereid::runtime;

// Flight times of a flag, one way. Two threads of one core see each other's
// stores sooner than any two cores do.
static constexpr double kSmtNs = 35, kNearNs = 120;
/// Share of the cores that the ranks of an undisturbed sample have had.
static constexpr double kQuietShare = 0.95;

const char *placeName(Place place) { return place == Smt ? "smt" : place == Near ? "near" : "far"; }

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static double processorSeconds() {
  timespec ts;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
  return double(ts.tv_sec) + double(ts.tv_nsec) * 1e-9;
}

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

[[noreturn]] static void die(const Status &status) {
  std::fprintf(stderr, "%s", status.report().c_str());
  std::_Exit(1);
}

Bench::Bench(Job &job, Options options)
    : job(job), cores(int(std::thread::hardware_concurrency())), options(std::move(options)) {
  // Rank r on core r modulo cores: other placements hide what is compared.
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(job.rank() % cores, &set);
  sched_setaffinity(0, sizeof(set), &set);
  auto memory = job.allocate(sizeof(Words), {"words", "", ""});
  if (!memory.ok())
    die(memory.status());
  own = static_cast<Words *>(*memory);
}

//===----------------------------------------------------------------------===//
// Bare counterparts
//===----------------------------------------------------------------------===//

void Bench::bareFlags(int rounds) {
  if (rank() > 1)
    return;
  Words &peer = at(1 - rank());
  for (int i = 0; i < rounds; ++i) {
    uint64_t value = ++flagRound;
    auto wait = [&] {
      while (own->flag.load(std::memory_order_acquire) != value)
        pause();
    };
    if (rank() == 1)
      wait();
    peer.flag.store(value, std::memory_order_release);
    if (rank() == 0)
      wait();
  }
}

void Bench::bareBarrier() {
  Words &central = at(0);
  uint64_t epoch = ++epochRound;
  if (central.arrived.fetch_add(1) + 1 == uint64_t(ranks())) {
    central.arrived.store(0);
    central.epoch.store(epoch, std::memory_order_release);
    return;
  }
  while (central.epoch.load(std::memory_order_acquire) < epoch) {
    if (crowded())
      sched_yield();
    else
      pause();
  }
}

void Bench::pairBarrier() {
  uint64_t round = ++pairRound;
  own->round.store(round, std::memory_order_release);
  for (int r = 0; r < ranks(); ++r)
    while (at(r).round.load(std::memory_order_acquire) < round) {
      if (crowded())
        sched_yield();
      else
        pause();
    }
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

uint64_t Bench::agree(uint64_t value) {
  bareBarrier();
  if (rank() == 0)
    at(0).verdict.store(value, std::memory_order_release);
  bareBarrier();
  return at(0).verdict.load(std::memory_order_acquire);
}

Bench::Probe Bench::probe() {
  bareBarrier();
  Probe p;
  // Ranks 0 and 1 only; others wait below and yield.
  std::vector<double> times;
  for (int i = 0; i < 8; ++i) {
    double begin = now();
    bareFlags(25);
    times.push_back((now() - begin) / 50 * 1e9);
  }
  p.ns = *std::min_element(times.begin(), times.end());
  p.place = p.ns < kSmtNs ? Smt : p.ns < kNearNs ? Near : Far;
  bareBarrier();
  return p;
}

double Bench::timed(const std::function<void(int)> &body, int rounds, double &busyShare) {
  bareBarrier();
  double busy = processorSeconds(), begin = now();
  body(rounds);
  double elapsed = now() - begin;
  own->busy = processorSeconds() - busy;
  bareBarrier();
  double sum = 0;
  for (int r = 0; r < ranks(); ++r)
    sum += at(r).busy;
  busyShare = std::min(busyShare, sum / elapsed / double(std::min(ranks(), cores)));
  return elapsed / rounds;
}

void Bench::compare(const std::string &name, int rounds, double bar,
                    const std::function<void(int)> &bare, const std::function<void(int)> &ours) {
  if (name.find(options.only) == std::string::npos)
    return;
  std::vector<Sample> samples;
  double until = now() + options.seconds;
  int quiet = 0, tried = 0;
  double share = 1;
  timed(bare, rounds, share); // both warm
  timed(ours, rounds, share);
  for (bool more = true; more; ++tried) {
    Sample s;
    s.share = 1;
    Probe before = crowded() ? Probe() : probe();
    if (tried % 2) {
      s.ours = timed(ours, rounds, s.share);
      s.bare = timed(bare, rounds, s.share);
    } else {
      s.bare = timed(bare, rounds, s.share);
      s.ours = timed(ours, rounds, s.share);
    }
    Probe after = crowded() ? Probe() : probe();
    s.place = after.place;
    s.flagNs = (before.ns + after.ns) / 2;
    if (before.place == after.place && after.place != Smt) {
      samples.push_back(s);
      quiet += s.share >= kQuietShare;
    }
    more = agree(quiet < options.samples && now() < until);
  }
  report(name, samples, tried, 0, bar, false);
}

void Bench::compareTimes(
    const std::string &name, double bytes, double atLeast,
    const std::function<void(std::vector<double> &, std::vector<double> &)> &run) {
  if (name.find(options.only) == std::string::npos)
    return;
  std::vector<Sample> samples;
  double until = now() + options.seconds;
  int quiet = 0, tried = 0;
  for (bool more = true; more; ++tried) {
    Sample s;
    s.share = 1;
    Probe before = probe();
    std::vector<double> bare, ours;
    timed([&](int) { run(bare, ours); }, 1, s.share);
    Probe after = probe();
    s.bare = median(bare);
    s.ours = median(ours);
    s.place = after.place;
    s.flagNs = (before.ns + after.ns) / 2;
    if (before.place == after.place && after.place != Smt) {
      samples.push_back(s);
      quiet += s.share >= kQuietShare;
    }
    more = agree(quiet < options.samples && now() < until);
  }
  report(name, samples, tried, bytes, atLeast, true);
}

void Bench::report(const std::string &name, const std::vector<Sample> &samples, int tried,
                   double bytes, double bar, bool atLeast) {
  if (rank() != 0)
    return;
  for (Place place : {Near, Far}) {
    std::vector<Sample> here;
    for (const Sample &s : samples)
      if (s.place == place)
        here.push_back(s);
    if (here.empty())
      continue;
    // The quiet ones; on a machine that never is, the quietest.
    std::sort(here.begin(), here.end(),
              [](const Sample &a, const Sample &b) { return a.share > b.share; });
    size_t quiet = 0;
    while (quiet < here.size() && here[quiet].share >= kQuietShare)
      ++quiet;
    const bool noisy = quiet < 5;
    here.resize(noisy ? std::min<size_t>(here.size(), 5) : quiet);
    std::vector<double> bare, ours, ratios, flags;
    for (const Sample &s : here) {
      bare.push_back(s.bare);
      ours.push_back(s.ours);
      ratios.push_back(atLeast ? s.bare / s.ours : s.ours / s.bare);
      flags.push_back(s.flagNs);
    }
    double ratio = median(ratios);
    char unit[64] = "", verdict[64] = "", flight[32] = "";
    if (bytes > 0)
      std::snprintf(unit, sizeof(unit), "  %6.1f %6.1f GB/s", bytes / median(ours) * 1e-9,
                    bytes / median(bare) * 1e-9);
    if (bar > 0)
      std::snprintf(verdict, sizeof(verdict), "  bar %s %.2f: %s", atLeast ? ">=" : "<=", bar,
                    (atLeast ? ratio >= bar : ratio <= bar) ? "reached" : "NOT REACHED");
    if (!crowded())
      std::snprintf(flight, sizeof(flight), " %s %.0f ns", placeName(place), median(flags));
    std::printf("%2d  %-40s %9.3f %9.3f %6.2f%s%s  [%zu of %d%s%s]\n", ranks(), name.c_str(),
                median(ours) * 1e6, median(bare) * 1e6, ratio, unit, verdict, here.size(), tried,
                flight, noisy ? ", NOISY" : "");
  }
  std::fflush(stdout);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

void Bench::launch(nrd_kernel_fn kernel, const std::vector<uint64_t> &args, int programs,
                   const char *name) {
  runtime::CPUKernel code(name, kernel);
  LaunchSpec spec;
  spec.kernel = &code;
  spec.args = args.data();
  spec.grid = {programs, 1, 1};
  code.blocking = true;
  if (Status st = runtime::launch(&job, spec); !st.ok())
    die(st);
}

nrd_kernel_fn Bench::compiled(const std::string &name) {
  if (options.kernels.empty())
    return nullptr;
  std::shared_ptr<KernelCode> &entry = code[name];
  if (!entry) {
    std::ifstream file(options.kernels + "/" + name + ".o", std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), {});
    auto loaded = KernelCode::load(bytes);
    if (!loaded.ok())
      die(loaded.status());
    entry = *loaded;
  }
  return entry->entry();
}

} // namespace nereid::bench
