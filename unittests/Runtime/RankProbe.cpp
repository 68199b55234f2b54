// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RankProbe.cpp - A rank that does what its argument says ------------===//
//
// Started by LauncherTest through launchJob, as a user's program would be.
//
//===----------------------------------------------------------------------===//
#include "nereid/runtime/Job.h"
#include "nereid/runtime/JobLauncher.h"
#include "nereid/runtime/KernelCode.h"
#include "nereid/runtime/Launch.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

using namespace nereid::runtime;

static void waitKernel(nrd_program *p, const uint64_t *args) {
  nrd_wait(p, reinterpret_cast<void *>(args[0]), 1, 1, 4, 0);
}

static void barrierKernel(nrd_program *p, const uint64_t *) {
  for (int i = 0; i < 50; ++i)
    nrd_barrier_all(p, 0);
}

/// Launches `argv[2]` ranks of this program, so that the test can kill a
/// launcher.
static int beLauncher(int argc, char **argv) {
  std::vector<std::string> command{argv[0]};
  for (int i = 3; i < argc; ++i)
    command.push_back(argv[i]);
  auto result = launchJob(command, std::atoi(argv[2]));
  return result.ok() ? result->exitCode : 120;
}

int main(int argc, char **argv) {
  std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "launcher")
    return beLauncher(argc, argv);
  if (mode == "no-init")
    return 0;
  if (mode == "sleep") {
    std::printf("pid %d\n", int(getpid()));
    std::fflush(stdout);
    sleep(1000);
    return 0;
  }
  if (mode == "env") {
    std::printf("%s %s %s", std::getenv("NEREID_RANK"),
                std::getenv("EXTRA") ? std::getenv("EXTRA") : "-",
                std::getenv("NEREID_TIMEOUT") ? std::getenv("NEREID_TIMEOUT") : "-");
    std::fprintf(stderr, "err\nlines\n");
    return 0;
  }
  auto joined = Job::init();
  if (!joined.ok()) {
    std::fprintf(stderr, "%s", joined.status().report().c_str());
    return 40;
  }
  Job &job = **joined;
  auto memory = job.allocate(64, {"flag", "", ""});
  if (!memory.ok())
    return 41;
  uint64_t args[] = {reinterpret_cast<uint64_t>(*memory)};
  CPUKernel barriers("probe", barrierKernel), waits("probe", waitKernel);
  barriers.blocking = waits.blocking = true;
  LaunchSpec spec;
  spec.args = args;
  spec.grid = {3, 1, 1};
  if (mode == "barriers") {
    spec.kernel = &barriers;
    Status st = launch(&job, spec);
    if (!st.ok() || !job.barrier().ok())
      return 42;
    return job.finalize().ok() ? 0 : 43;
  }
  bool bad = job.rank() == 1;
  if (bad && mode == "exit7")
    std::_Exit(7);
  if (bad && mode == "exit0")
    std::_Exit(0);
  if (bad && mode == "kill")
    kill(getpid(), SIGKILL);
  spec.kernel = &waits;
  Status st = launch(&job, spec);
  std::fprintf(stderr, "%s", st.report().c_str());
  std::string report = st.report();
  bool named = st.code() == StatusCode::RankDied && st.failure().rank == 1;
  if (mode == "kill")
    named = named && report.find("was killed by signal 9") != std::string::npos;
  if (mode == "exit7")
    named = named && report.find("exited with code 7") != std::string::npos;
  std::printf("%s\n", named ? "survivor-ok" : "survivor-bad");
  std::fflush(stdout);
  std::_Exit(1);
}
