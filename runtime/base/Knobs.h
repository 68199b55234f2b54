// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Knobs.h - Options and environment made into settings ---------------===//
#ifndef NEREID_RUNTIME_BASE_KNOBS_H
#define NEREID_RUNTIME_BASE_KNOBS_H

#include "nereid/runtime/Config.h"

namespace nereid::runtime {

inline constexpr int32_t kMaxThreadsPerRank = 512;

/// What a rank runs with: options, else environment, else defaults.
struct Settings {
  uint64_t heapBytes = 0;
  double timeoutSeconds = 30;
  double initTimeoutSeconds = 60;
  int32_t numThreads = 0; ///< 0 = cores / ranks
  Profile profile;
  bool randomSchedule = false;
  uint64_t seed = 0;
  int32_t ranksPerNode = 0;      ///< 0 = all ranks are on one node
  std::string transport;         ///< between nodes; a name that the transports know, or "auto"
  double nodeTimeoutSeconds = 0; ///< 0 = a machine is never lost
  uint64_t stackBytes = 0;
  bool pinThreads = false;
  bool detectDeadlock = true;
};

Expected<Settings> resolveSettings(const JobOptions &options);

/// The variable's text, or the default of its row; `name` must be in the table.
std::string knobText(const char *name);

/// Whole-string integer; nothing when it is not one.
std::optional<int64_t> parseInteger(std::string_view text);

/// Cores that this process may use.
int32_t availableCores();

/// The process-wide hooks of Config.h.
bool interruptRequested();
/// What setCallSite's hook says.
std::string callSite();
void printLine(std::string_view text);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_BASE_KNOBS_H
