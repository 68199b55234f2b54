// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Process.h - What the system says of processes ----------------------===//
#ifndef NEREID_RUNTIME_BASE_PROCESS_H
#define NEREID_RUNTIME_BASE_PROCESS_H

#include "nereid/runtime/Status.h"

#include <cstdint>
#include <string>

namespace nereid::runtime {

/// "memfd_create: Too many open files"
Status systemError(const std::string &what, int error);

/// Start time of a process in clock ticks since boot; 0 when it does not run
/// (a zombie does not run either).
uint64_t processStartTime(int32_t pid);

/// User and system time that a thread has used, in clock ticks (10 ms); 0 when
/// it does not run.
uint64_t threadCpuTicks(int32_t pid, int32_t thread);

/// The same for a whole process; `state` says what its first thread does: R runs or waits for
/// a core, D waits for a disk, S sleeps, and others that proc(5) lists; 0 when unknown.
uint64_t processCpuTicks(int32_t pid, char &state);

/// "was killed by signal 9 (Killed)" / "exited with code 3" from a wait status.
std::string exitText(int waitStatus);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_BASE_PROCESS_H
