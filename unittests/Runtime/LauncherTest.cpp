// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LauncherTest.cpp - launchJob, with real child processes ------------===//
#include "Harness.h"

#include "base/Process.h"
#include "nereid/runtime/JobLauncher.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace nereid::test;
using nereid::runtime::JobResult;
using nereid::runtime::launchJob;
using nereid::runtime::LaunchJobOptions;

namespace {

const char *kProbe = NEREID_RANK_PROBE;

LaunchJobOptions quietOptions() {
  LaunchJobOptions options;
  options.heapBytes = 1 << 20;
  options.verbose = false;
  options.tagOutput = true;
  return options;
}

struct Captured {
  JobResult result;
  std::string output; ///< standard output and error
  double seconds = 0;
};

/// Runs the probe as `ranks` ranks and catches what they print.
Captured run(std::vector<std::string> arguments, int32_t ranks,
             LaunchJobOptions options = quietOptions()) {
  arguments.insert(arguments.begin(), kProbe);
  fflush(nullptr);
  FILE *file = tmpfile();
  int out = dup(1), err = dup(2);
  dup2(fileno(file), 1);
  dup2(fileno(file), 2);
  auto begin = std::chrono::steady_clock::now();
  auto result = launchJob(arguments, ranks, options);
  Captured captured;
  captured.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fflush(nullptr);
  dup2(out, 1);
  dup2(err, 2);
  close(out);
  close(err);
  rewind(file);
  char buffer[4096];
  while (size_t n = fread(buffer, 1, sizeof(buffer), file))
    captured.output.append(buffer, n);
  fclose(file);
  EXPECT_TRUE(result.ok()) << result.status().report();
  if (result.ok())
    captured.result = *result;
  return captured;
}

std::vector<std::string> sortedLines(const std::string &text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

size_t count(const std::string &text, const std::string &part) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at)
    ++n;
  return n;
}

TEST(Launcher, RanksMeetThroughTheInheritedSegment) {
  for (int32_t ranks : {1, 2, 4, 8}) {
    Captured c = run({"barriers"}, ranks);
    EXPECT_EQ(c.result.exitCode, 0) << c.output;
    EXPECT_EQ(c.result.firstBadRank, -1);
    EXPECT_EQ(c.result.exitCodes, std::vector<int32_t>(size_t(ranks), 0));
  }
  EXPECT_TRUE(sharedMemoryFiles().empty());
  EXPECT_EQ(childCount(), 0);
}

TEST(Launcher, TagsLinesAndPassesVariables) {
  LaunchJobOptions options = quietOptions();
  options.environment = {{"EXTRA", "device-{rank}"}};
  options.timeoutSeconds = 12.5;
  Captured c = run({"env"}, 2, options);
  EXPECT_EQ(sortedLines(c.output),
            (std::vector<std::string>{"[0] 0 device-0 12.5", "[0] err", "[0] lines",
                                      "[1] 1 device-1 12.5", "[1] err", "[1] lines"}));
}

TEST(Launcher, ProgramsThatDoNotJoinAreFine) { EXPECT_EQ(run({"no-init"}, 3).result.exitCode, 0); }

class BadRanks : public testing::TestWithParam<std::pair<const char *, int>> {};

TEST_P(BadRanks, SurvivorsReportAndTheJobEnds) {
  Captured c = run({GetParam().first}, 4);
  EXPECT_LT(c.seconds, 5);
  EXPECT_EQ(count(c.output, "survivor-ok"), 3u) << c.output;
  EXPECT_EQ(c.result.exitCodes[1], GetParam().second);
  // A rank that leaves with code 0 is no failure by itself; the ranks that
  // wait for it are.
  EXPECT_EQ(c.result.exitCode, GetParam().second ? GetParam().second : 1);
  EXPECT_TRUE(sharedMemoryFiles().empty());
  EXPECT_EQ(childCount(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, BadRanks,
                         testing::Values(std::pair{"exit7", 7}, std::pair{"exit0", 0},
                                         std::pair{"kill", 128 + SIGKILL}));

TEST(Launcher, MissingProgram) {
  auto result = launchJob({"/no/such/program"}, 2);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("/no/such/program"), std::string::npos);
  EXPECT_EQ(childCount(), 0);
  EXPECT_FALSE(launchJob({}, 2).ok());
  EXPECT_FALSE(launchJob({"true"}, 0).ok());
}

/// Starts the probe as a launcher of two sleeping ranks and returns its
/// process and those of the ranks.
std::vector<pid_t> startLauncher(std::vector<const char *> command) {
  int pipes[2];
  EXPECT_EQ(pipe(pipes), 0);
  fflush(nullptr);
  pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(pipes[1], 1);
    close(pipes[0]);
    command.push_back(nullptr);
    execv(kProbe, const_cast<char *const *>(command.data()));
    _exit(127);
  }
  close(pipes[1]);
  std::vector<pid_t> out{pid};
  FILE *file = fdopen(pipes[0], "r");
  for (int i = 0; i < 2; ++i) {
    char line[64] = "";
    int rank = 0;
    EXPECT_TRUE(fgets(line, sizeof(line), file));
    EXPECT_EQ(sscanf(line, "pid %d", &rank), 1) << line;
    out.push_back(rank);
  }
  fclose(file);
  return out;
}

bool endsWithin(pid_t pid, double seconds) {
  for (double waited = 0; waited < seconds; waited += 0.02) {
    if (nereid::runtime::processStartTime(pid) == 0)
      return true;
    usleep(20000);
  }
  return false;
}

TEST(Launcher, KilledLauncherTakesItsRanksAlong) {
  std::vector<pid_t> pids = startLauncher({kProbe, "launcher", "2", "sleep"});
  kill(pids[0], SIGKILL);
  int status = 0;
  waitpid(pids[0], &status, 0);
  EXPECT_TRUE(endsWithin(pids[1], 5));
  EXPECT_TRUE(endsWithin(pids[2], 5));
}

TEST(Launcher, InterruptAndTerminateStopTheJob) {
  for (int sig : {SIGINT, SIGTERM}) {
    std::vector<pid_t> pids = startLauncher({kProbe, "launcher", "2", "sleep"});
    kill(pids[0], sig);
    int status = 0;
    waitpid(pids[0], &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 128 + sig);
    EXPECT_TRUE(endsWithin(pids[1], 1));
    EXPECT_TRUE(endsWithin(pids[2], 1));
  }
}

} // namespace
