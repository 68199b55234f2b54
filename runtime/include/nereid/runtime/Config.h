// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Config.h - Knobs and hooks of the runtime -----------------*- C++ -*-===//
//
// Every environment variable that the runtime reads is a row of one table
// (base/Knobs.cpp); `nereid info` prints it. Options set in code win over the
// environment.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_CONFIG_H
#define NEREID_RUNTIME_CONFIG_H

#include "nereid/profiles.h"
#include "nereid/runtime/Status.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::runtime {

/// What the text of an environment variable means.
enum class KnobKind { Text, Integer, Seconds, Size, Flag };

/// One row of the table of environment variables.
struct KnobInfo {
  const char *name;
  const char *defaultText;
  const char *help;
  KnobKind kind = KnobKind::Text;
  /// Of an Integer or a Size: the values that it may have.
  int64_t least = 0, most = INT64_MAX;
};
const std::vector<KnobInfo> &knobTable();

/// A row of the table of target profiles; "host" unless chosen.
struct Profile : TargetProfile {
  Profile() : TargetProfile(targetProfiles[0]) {}
  explicit Profile(const TargetProfile &row) : TargetProfile(row) {}
};
/// Unknown names: InvalidArgument, listing the known ones.
Expected<Profile> findProfile(std::string_view name);

/// Options of a job. An empty field means: what the environment says, else the
/// default of the knob table.
struct JobOptions {
  /// Bytes of each rank's symmetric heap (NEREID_HEAP_SIZE, 1G). Rounded up
  /// to whole pages; must be the same on all ranks.
  std::optional<uint64_t> heapBytes;
  /// Seconds without any progress of the whole job after which a launch or a
  /// host barrier fails (NEREID_TIMEOUT, 30). 0 = never.
  std::optional<double> timeoutSeconds;
  /// Seconds that ranks wait for each other in init (NEREID_INIT_TIMEOUT, 60).
  std::optional<double> initTimeoutSeconds;
  /// Worker threads of this rank, the launching thread included, at most 512
  /// (NEREID_NUM_THREADS, 0 = cores / ranks on this machine, at least 1).
  std::optional<int32_t> numThreads;
  /// Target profile (NEREID_PROFILE, "host").
  std::optional<std::string> profile;
  /// "fifo" or "random:SEED" (NEREID_SCHEDULE, "fifo"): under the
  /// latter the seed decides the order of everything that programs do by calls
  /// of the runtime (docs/memory-model.md), with one worker thread per rank.
  std::optional<std::string> schedule;
  /// Ranks r with the same r / ranksPerNode are on one node
  /// (NEREID_RANKS_PER_NODE, 0 = all ranks). Programs cannot dereference memory
  /// of other nodes. The same on all ranks.
  std::optional<int32_t> ranksPerNode;
  /// What moves bytes between nodes (NEREID_TRANSPORT, "auto"):
  /// a transport's name, or "delayed:" and a name. The same on all ranks. With
  /// one that does not map the heaps of peers and without ranksPerNode, each rank
  /// is a node. Unknown names: Environment.
  std::optional<std::string> transport;
  /// Bytes of a program's stack in blocking launches (NEREID_STACK_SIZE, 128K); at
  /// least 32K, of which the formatting of a print needs most.
  std::optional<uint64_t> stackBytes;
  /// What runs the kernels of this job (Device.h). The same on all ranks.
  std::string device = "cpu";
  /// Pin worker w of rank r to a core (NEREID_PIN, 0).
  std::optional<bool> pinThreads;
};

/// "64M", "1G", "4096", "0.5G" -> bytes (K, M, G, T are powers of 1024, an
/// `iB`/`B` may follow). Errors: InvalidArgument.
Expected<uint64_t> parseByteSize(std::string_view text);

/// Called now and then, on the thread that called into the runtime, while it
/// waits there (launch, barrier, allocate, init). Returning true makes that
/// call fail with StatusCode::Interrupted. The Python binding checks for
/// pending signals here. One hook per process; empty = none.
void setInterruptCheck(std::function<bool()> check);

/// Where tl.device_print goes: called with whole lines, from any worker
/// thread, one call at a time. Empty = standard output.
void setPrintSink(std::function<void(std::string_view)> sink);

/// Which line of the program the calling thread is in, "job.py:12", for reports of
/// collective calls that differ. Asked when one is written, never before. Empty
/// text = not known; an empty hook = never known.
void setCallSite(std::function<std::string()> site);

/// Version of the ABI (abi.h) that this library implements.
uint32_t abiVersion();

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_CONFIG_H
