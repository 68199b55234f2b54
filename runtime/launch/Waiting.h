// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Waiting.h - Waits of ranks that are not a job yet --------*- C++ -*-===//
#ifndef NEREID_RUNTIME_LAUNCH_WAITING_H
#define NEREID_RUNTIME_LAUNCH_WAITING_H

#include "nereid/runtime/Status.h"

#include <cstdint>

namespace nereid::runtime {

/// Waits for `events` of a file until nowNs() has come to `deadline`, in slices so
/// that Ctrl-C is noticed. 1 ready, 0 time is up, -1 interrupted.
int waitFor(int fd, short events, uint64_t deadline);

/// What an interrupted wait ends with.
Status interruptedMeeting();

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_LAUNCH_WAITING_H
