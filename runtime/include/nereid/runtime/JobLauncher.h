// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobLauncher.h - Starts the processes of a job -------------*- C++ -*-===//
//
// What `nereid run -n N program args...` does. Every rank is a child with
// NEREID_RANK, NEREID_WORLD_SIZE, NEREID_LOCAL_RANK, NEREID_JOB and
// NEREID_JOB_FD in its environment (the last is the inherited memory segment),
// and RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and
// MASTER_PORT as torchrun sets them, with a port that was free at the start.
// Neither processes nor shared memory outlive the launcher, however it ends.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_JOBLAUNCHER_H
#define NEREID_RUNTIME_JOBLAUNCHER_H

#include "nereid/runtime/Status.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace nereid::runtime {

/// One host's part of a job on several.
struct HostShare {
  /// Of this host; launchJob's `worldSize` are its ranks from there on.
  int32_t firstRank = 0;
  /// Ranks of the whole job.
  int32_t totalRanks = 0;
  /// Its name, for messages and tags: "[5@host] ".
  std::string host;
  /// For NEREID_RENDEZVOUS and NEREID_SECRET.
  std::string rendezvous, secret;
  /// For MASTER_ADDR and MASTER_PORT.
  std::string masterAddress;
  uint16_t masterPort = 0;
  /// Each byte that can be read here is a signal for all ranks; its end is SIGTERM.
  int commands = -1;
};

struct LaunchJobOptions {
  /// Put "[rank] " before every line of output.
  bool tagOutput = false;
  /// Bytes of each heap; empty = NEREID_HEAP_SIZE or its default.
  std::optional<uint64_t> heapBytes;
  /// NEREID_TIMEOUT for the ranks; empty = as in the environment.
  std::optional<double> timeoutSeconds;
  /// NEREID_SCHEDULE / NEREID_PROFILE for the ranks; empty = as inherited.
  std::string schedule;
  std::string profile;
  /// NEREID_RANKS_PER_NODE for the ranks; empty = as inherited.
  std::optional<int32_t> ranksPerNode;
  /// NEREID_TRANSPORT for the ranks; empty = as inherited.
  std::string transport;
  /// Worker threads per rank; 0 = cores / ranks.
  int32_t numThreads = 0;
  /// More variables for all ranks; "{rank}" in a value becomes the rank.
  std::vector<std::pair<std::string, std::string>> environment;
  /// More variables for single ranks; they win over those for all.
  std::vector<std::tuple<int32_t, std::string, std::string>> rankEnvironment;
  /// Seconds that survivors get to report after one rank failed, and that
  /// ranks get to stop after Ctrl-C, before they are killed.
  double graceSeconds = 5.0;
  /// Say on standard error which rank failed and how.
  bool verbose = true;
  /// Set when other hosts start the other ranks.
  std::optional<HostShare> share;
};

struct JobResult {
  /// 0, or that of the first rank that failed: its exit code, 128 + signal
  /// number when a signal killed it; 130 / 143 after SIGINT / SIGTERM.
  int32_t exitCode = 0;
  /// The first rank that failed, -1 when none did.
  int32_t firstBadRank = -1;
  /// Exit code of every rank (128 + signal number for signals).
  std::vector<int32_t> exitCodes;
};

/// How many ranks the environment of this process says that its job has.
struct EnvironmentJob {
  int32_t worldSize = 1;
  /// The variable that says so; empty when none does.
  std::string variable;
};
/// Errors: Environment, when it contradicts itself.
Expected<EnvironmentJob> environmentJob();

/// The memory of a job whose rank processes somebody else starts: who holds it
/// can tell the ranks how one of them ended. The ranks are forked: they inherit its
/// descriptor, which is close-on-exec.
class JobMemory {
public:
  /// `heapBytes` empty = NEREID_HEAP_SIZE or its default. Errors:
  /// InvalidArgument, Environment, OutOfMemory, SystemError.
  static Expected<std::unique_ptr<JobMemory>> create(int32_t worldSize,
                                                     std::optional<uint64_t> heapBytes);
  ~JobMemory();
  JobMemory(const JobMemory &) = delete;
  JobMemory &operator=(const JobMemory &) = delete;

  /// What the process of `rank` needs in its environment, name and value: the
  /// variables that launchJob sets.
  std::vector<std::pair<std::string, std::string>> environment(int32_t rank) const;
  /// The process of `rank` has ended with this wait status.
  void rankEnded(int32_t rank, int waitStatus);

private:
  JobMemory() = default;
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Runs `argv` (argv[0] is looked up in PATH) as `worldSize` ranks and waits
/// for all of them. SIGINT, SIGTERM and SIGHUP of this process stop the job
/// while it runs; their handlers are restored afterwards. Call it from the
/// main thread: ranks die with the thread that started them. Errors:
/// InvalidArgument, SystemError (program not found or not executable).
Expected<JobResult> launchJob(const std::vector<std::string> &argv, int32_t worldSize,
                              const LaunchJobOptions &options = {});

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_JOBLAUNCHER_H
