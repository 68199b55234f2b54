// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Harness.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace nereid::test {

JobOptions testOptions() {
  JobOptions options;
  options.heapBytes = 4 << 20;
  options.timeoutSeconds = 20;
  options.initTimeoutSeconds = 60;
  options.numThreads = 1;
  return options;
}

void runThreads(int32_t worldSize, const JobOptions &options,
                const std::function<void(Job &)> &body) {
  auto jobs = Job::createThreadRanks(worldSize, options);
  ASSERT_TRUE(jobs.ok()) << jobs.status().report();
  std::vector<std::thread> threads;
  for (int32_t r = 0; r < worldSize; ++r)
    threads.emplace_back([&, r] {
      Job &job = *(*jobs)[size_t(r)];
      body(job);
      // Under a random schedule the others would wait for its host code.
      if (job.hasRandomSchedule())
        (void)job.finalize();
    });
  for (std::thread &thread : threads)
    thread.join();
}

std::vector<int> runForked(int32_t worldSize, const JobOptions &options,
                           const std::function<int(Job &)> &body) {
  static std::atomic<int> counter{0};
  std::string key = std::to_string(getpid()) + "-" + std::to_string(counter++);
  std::vector<pid_t> pids;
  std::cout.flush();
  fflush(nullptr);
  for (int32_t r = 0; r < worldSize; ++r) {
    pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      setenv("RANK", std::to_string(r).c_str(), 1);
      setenv("WORLD_SIZE", std::to_string(worldSize).c_str(), 1);
      setenv("MASTER_ADDR", "localhost", 1);
      setenv("MASTER_PORT", "1", 1);
      setenv("TORCHELASTIC_RUN_ID", key.c_str(), 1);
      int code = 98;
      {
        auto job = Job::init(options);
        if (job.ok())
          code = body(**job);
        else
          std::cerr << job.status().report();
        if (code == 0 && testing::Test::HasFailure())
          code = 99;
        if (job.ok() && code == 0)
          (void)(*job)->finalize();
      }
      std::cout.flush();
      fflush(nullptr);
      _exit(code);
    }
    pids.push_back(pid);
  }
  std::vector<int> codes;
  for (pid_t pid : pids) {
    int status = 0;
    waitpid(pid, &status, 0);
    codes.push_back(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
  }
  return codes;
}

void runBoth(int32_t worldSize, const JobOptions &options, const std::function<void(Job &)> &body) {
  runThreads(worldSize, options, body);
  std::vector<int> codes = runForked(worldSize, options, [&](Job &job) {
    body(job);
    return 0;
  });
  EXPECT_EQ(codes, std::vector<int>(size_t(worldSize), 0));
}

Status launchBlocking(Job &job, nrd_kernel_fn kernel, const std::vector<uint64_t> &args,
                      int32_t programs, const char *name, const SiteTable *sites) {
  CPUKernel code(name, kernel);
  LaunchSpec spec;
  spec.kernel = &code;
  spec.args = args.data();
  spec.grid = {programs, 1, 1};
  code.scratchBytes = 256;
  code.blocking = true;
  code.sites = sites;
  return runtime::launch(&job, spec);
}

std::vector<std::string> sharedMemoryFiles() {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator("/dev/shm", error))
    if (entry.path().filename().string().find("nereid") != std::string::npos)
      out.push_back(entry.path());
  return out;
}

int childCount() {
  int n = 0;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator("/proc", error)) {
    std::ifstream file(entry.path() / "stat");
    std::string text;
    if (!std::getline(file, text))
      continue;
    size_t at = text.rfind(')');
    if (at == std::string::npos)
      continue;
    char state;
    int parent = 0;
    if (sscanf(text.c_str() + at + 1, " %c %d", &state, &parent) == 2 && parent == getpid())
      ++n;
  }
  return n;
}

} // namespace nereid::test

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
// Forked ranks start worker threads; nothing of the parent's runs in them.
extern "C" const char *__tsan_default_options() { return "die_after_fork=0"; }
#endif
#endif
