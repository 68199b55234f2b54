// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Environment.cpp - Which rank of which job this is ------------------===//
//
// Launchers tell by variables, each by its own. The table is gone through from
// top to bottom, and the first launcher of which a variable is set decides;
// half of a pair is an error rather than a reason to go on to the next.
//
//   nested jobs   a rank of `nereid run` may start torchrun. Our launcher has set RANK and
//                 WORLD_SIZE to its own values; other values are of the newer job, and
//                 ours are passed over (startedAnew)
//   batch scripts Slurm sets rank and size in them too, although there is one process:
//                 only inside of a step do they count (onlyWith)
//   the job's name is made of all variables that tell jobs apart; without any, of the
//                 parent process, which ranks of one job share
//
//===----------------------------------------------------------------------===//
#include "launch/Environment.h"

#include "base/Knobs.h"
#include "base/Process.h"
#include "nereid/runtime/JobLauncher.h"

#include <cstdlib>
#include <unistd.h>
#include <vector>

namespace nereid::runtime {

namespace {
/// One launcher's way to tell a process who it is.
struct Convention {
  const char *launcher;
  const char *rank;
  const char *size;
  /// Number of ranks on this machine, when the launcher tells.
  const char *localSize;
  /// Variables that together name the job.
  std::vector<const char *> key;
  /// Only valid when this one is set too: Slurm also sets rank and size in
  /// batch scripts, where there is one process.
  const char *onlyWith;
};
} // namespace

static const std::vector<Convention> &conventions() {
  static const std::vector<Convention> all = {
      {"nereid run", "NEREID_RANK", "NEREID_WORLD_SIZE", nullptr, {"NEREID_JOB"}, nullptr},
      {"torchrun",
       "RANK",
       "WORLD_SIZE",
       "LOCAL_WORLD_SIZE",
       {"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"},
       nullptr},
      {"Open MPI",
       "OMPI_COMM_WORLD_RANK",
       "OMPI_COMM_WORLD_SIZE",
       "OMPI_COMM_WORLD_LOCAL_SIZE",
       {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri"},
       nullptr},
      {"PMI",
       "PMI_RANK",
       "PMI_SIZE",
       "MPI_LOCALNRANKS",
       {"PMI_JOBID", "PMI_KVS", "HYDI_CONTROL_FD", "PMI_PORT"},
       nullptr},
      {"Slurm",
       "SLURM_PROCID",
       "SLURM_STEP_NUM_TASKS",
       nullptr,
       {"SLURM_JOB_ID", "SLURM_STEP_ID"},
       "SLURM_STEP_NUM_TASKS"},
  };
  return all;
}

std::optional<std::string> readEnvironment(const char *name) {
  const char *value = std::getenv(name);
  if (!value || !*value)
    return std::nullopt;
  return std::string(value);
}

static Status bad(std::string message) {
  return Status::error(StatusCode::Environment, std::move(message));
}

/// Whether a process of a job that `nereid run` has started has since started ranks
/// of its own: our launcher sets RANK and WORLD_SIZE to the values of its own
/// variables, so others were put there later, for a newer job.
static bool startedAnew(const EnvironmentReader &read) {
  std::optional<std::string> rank = read("RANK"), size = read("WORLD_SIZE");
  return read("NEREID_JOB_FD") && rank && size &&
         (rank != read("NEREID_RANK") || size != read("NEREID_WORLD_SIZE"));
}

static std::optional<std::string> nothing(const char *) { return std::nullopt; }

static std::optional<int64_t> parsePort(const std::string &text) {
  std::optional<int64_t> port = parseInteger(text);
  return port && *port >= 1 && *port <= 65535 ? port : std::nullopt;
}

/// Where ranks of several machines meet. `ours` has the variables that are this runtime's
/// own, unless they belong to an older job.
static Status findMeeting(const EnvironmentReader &ours, const EnvironmentReader &read,
                          const std::string &elsewhere, RankInfo &info) {
  if (info.worldSize == 1)
    return {};
  if (std::optional<std::string> text = ours("NEREID_RENDEZVOUS")) {
    const size_t colon = text->rfind(':');
    if (colon == std::string::npos || colon == 0 || !parsePort(text->substr(colon + 1)))
      return bad("NEREID_RENDEZVOUS='" + *text +
                 "': expected host:port, the host of rank 0 and a free port there");
    info.meetAt = *text;
    info.meetAtFrom = "NEREID_RENDEZVOUS";
    return {};
  }
  if (elsewhere.empty())
    return {};
  std::optional<std::string> host = read("MASTER_ADDR"), port = read("MASTER_PORT");
  if (info.launcher != "torchrun" || !host || !port)
    return bad("the ranks of this job are on several machines (" + elsewhere +
               "): set NEREID_RENDEZVOUS=host:port on all of them, to the host of rank 0 and a "
               "free port there");
  std::optional<std::string> own = ours("NEREID_PORT");
  std::optional<int64_t> number = parsePort(own ? *own : *port);
  if (!number || (!own && *number == 65535))
    return bad(std::string(own ? "NEREID_PORT" : "MASTER_PORT") + "='" + (own ? *own : *port) +
               "' is not the number of a port" + (own ? "" : " with another one after it"));
  // The port itself is torch's.
  info.meetAt = *host + ":" + std::to_string(own ? *number : *number + 1);
  info.meetAtFrom = own ? "MASTER_ADDR and NEREID_PORT" : "MASTER_ADDR and MASTER_PORT, plus one,";
  return {};
}

Expected<RankInfo> discoverRank(const EnvironmentReader &read) {
  const bool anew = startedAnew(read);
  for (const Convention &c : conventions()) {
    if (c.onlyWith && !read(c.onlyWith))
      continue;
    if (anew && std::string(c.launcher) == "nereid run")
      continue;
    std::optional<std::string> rankText = read(c.rank);
    std::optional<std::string> sizeText = read(c.size);
    if (!rankText && !sizeText)
      continue;
    if (!rankText || !sizeText) {
      const char *have = rankText ? c.rank : c.size;
      const char *lack = rankText ? c.size : c.rank;
      return bad(std::string(have) + " is set but " + lack + " is not; set both (as " + c.launcher +
                 " does) or neither for a single process");
    }
    std::optional<int64_t> rank = parseInteger(*rankText);
    std::optional<int64_t> size = parseInteger(*sizeText);
    if (!rank)
      return bad(std::string(c.rank) + "='" + *rankText + "' is not a whole number");
    if (!size)
      return bad(std::string(c.size) + "='" + *sizeText + "' is not a whole number");
    if (*size < 1 || *size > 4096)
      return bad(std::string(c.size) + "=" + *sizeText + " is outside 1..4096");
    if (*rank < 0 || *rank >= *size)
      return bad(std::string(c.rank) + "=" + *rankText + " is outside the job: " + c.size + "=" +
                 *sizeText + " allows ranks 0.." + std::to_string(*size - 1));
    RankInfo info;
    info.rank = int32_t(*rank);
    info.worldSize = int32_t(*size);
    info.launcher = c.launcher;
    info.sizeVariable = c.size;
    std::string elsewhere; // what says that other ranks are not on this machine
    // A newer job may still have the older one's.
    if (c.localSize && !anew) {
      if (std::optional<std::string> text = read(c.localSize)) {
        std::optional<int64_t> local = parseInteger(*text);
        if (!local || *local < 1 || *local > *size)
          return bad(std::string(c.localSize) + "='" + *text + "' contradicts " + c.size + "=" +
                     *sizeText);
        if (*local != *size)
          elsewhere = std::string(c.localSize) + "=" + *text + ", " + c.size + "=" + *sizeText;
      }
    }
    if (Status st = findMeeting(anew ? EnvironmentReader(nothing) : read, read, elsewhere, info);
        !st.ok())
      return st;
    std::string key;
    for (const char *name : c.key)
      if (std::optional<std::string> text = read(name))
        key += std::string(name) + "=" + *text + ";";
    // Nothing else to go by: ranks of one job have the same parent process.
    if (key.empty())
      key = "parent=" + std::to_string(getppid()) + "." +
            std::to_string(processStartTime(int32_t(getppid())));
    info.jobKey = std::string(c.launcher) + ";" + key;
    if (std::string(c.launcher) == "nereid run")
      if (std::optional<std::string> text = read("NEREID_JOB_FD")) {
        std::optional<int64_t> fd = parseInteger(*text);
        if (!fd || *fd < 0)
          return bad("NEREID_JOB_FD='" + *text + "' is not a file descriptor");
        info.segmentFd = int32_t(*fd);
      }
    return info;
  }
  return RankInfo{};
}

Expected<EnvironmentJob> environmentJob() {
  Expected<RankInfo> info = discoverRank(readEnvironment);
  if (!info.ok())
    return info.status();
  return EnvironmentJob{info->worldSize, info->sizeVariable};
}

} // namespace nereid::runtime
