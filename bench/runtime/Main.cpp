// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Main.cpp - Starts jobs of 2, 4 and 8 ranks of itself --------------===//
#include "Bench.h"

#include "nereid/runtime/JobLauncher.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace nereid;

static int runRank(const bench::Options &options) {
  auto joined = runtime::Job::init();
  if (!joined.ok()) {
    std::fprintf(stderr, "%s", joined.status().report().c_str());
    return 1;
  }
  runtime::Job &job = **joined;
  {
    bench::Bench bench(job, options);
    bench::benchSignals(bench);
    bench::benchBarriers(bench);
    bench::benchTransfers(bench);
    bench::benchLaunches(bench);
  }
  return job.barrier().ok() && job.finalize().ok() ? 0 : 1;
}

static int usage() {
  std::fprintf(stderr, "nereid-bench-runtime [--kernels FOLDER] [--only TEXT] [--seconds S] "
                       "[--samples N] [--ranks N]\n"
                       "  --kernels  compiled kernels of bench/runtime/kernels.py (nereid bench "
                       "makes them)\n"
                       "  --only     figures whose name contains TEXT\n"
                       "  --seconds  at most, for one figure (6)\n"
                       "  --samples  undisturbed samples that are enough for one figure (60)\n"
                       "  --ranks    only the job of N ranks (2, 4 and 8 otherwise)\n");
  return 2;
}

int main(int argc, char **argv) {
  bench::Options options;
  bool rank = false;
  std::vector<int> sizes{2, 4, 8};
  std::vector<std::string> command{argv[0], "--rank"};
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--rank")) {
      rank = true;
      continue;
    }
    std::string key = argv[i], value = i + 1 < argc ? argv[++i] : "";
    if (value.empty())
      return usage();
    if (key == "--kernels")
      options.kernels = value;
    else if (key == "--only")
      options.only = value;
    else if (key == "--seconds")
      options.seconds = std::atof(value.c_str());
    else if (key == "--samples")
      options.samples = std::atoi(value.c_str());
    else if (key == "--ranks" && std::atoi(value.c_str()) > 0 &&
             std::atoi(value.c_str()) <= bench::kMaxRanks)
      sizes = {std::atoi(value.c_str())};
    else
      return usage();
    command.push_back(key);
    command.push_back(value);
  }
  if (rank)
    return runRank(options);
  std::printf("%2s  %-40s %9s %9s %6s\n", "n", "what", "us", "bare us", "ratio");
  std::fflush(stdout);
  for (int n : sizes) {
    runtime::LaunchJobOptions job;
    job.heapBytes = 64 << 20;
    job.numThreads = 1;
    auto result = runtime::launchJob(command, n, job);
    if (!result.ok())
      std::fprintf(stderr, "%s", result.status().report().c_str());
    if (!result.ok() || result->exitCode != 0)
      return 1;
  }
  return 0;
}
