// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Environment.h - Which rank of which job this process is ------------===//
#ifndef NEREID_RUNTIME_LAUNCH_ENVIRONMENT_H
#define NEREID_RUNTIME_LAUNCH_ENVIRONMENT_H

#include "nereid/runtime/Status.h"

#include <functional>
#include <optional>
#include <string>

namespace nereid::runtime {

struct RankInfo {
  int32_t rank = 0;
  int32_t worldSize = 1;
  /// What set the variables: "nereid run", "torchrun", ...; empty for none.
  std::string launcher;
  /// The same text in all ranks of the job and in no other job that runs on
  /// this machine at the same time.
  std::string jobKey;
  /// Inherited descriptor of the job's memory, or -1.
  int32_t segmentFd = -1;
  /// The variable that says how many ranks there are.
  std::string sizeVariable;
  /// "host:port" at which ranks of several machines meet, and the variables that say so;
  /// empty when all ranks are on this machine.
  std::string meetAt, meetAtFrom;
};

/// Returns the value of an environment variable, or nothing.
using EnvironmentReader = std::function<std::optional<std::string>(const char *)>;

/// The environment of this process.
std::optional<std::string> readEnvironment(const char *name);

/// Works out rank and world size. The first launcher in the order nereid run,
/// torchrun, Open MPI, PMI, Slurm whose variables are there wins. `nereid run`
/// sets torchrun's variables to the same numbers; where they differ they were set
/// later, by a process that has started ranks of its own, and they win. Half of a
/// pair, malformed numbers and a rank outside the world are errors.
///
/// Ranks meet over the network at NEREID_RENDEZVOUS, whoever has started them; those of
/// torchrun that are on several machines at MASTER_ADDR, port NEREID_PORT or the one after
/// MASTER_PORT.
Expected<RankInfo> discoverRank(const EnvironmentReader &read);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_LAUNCH_ENVIRONMENT_H
