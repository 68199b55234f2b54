// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Waiting.cpp - Waits of ranks that are not a job yet ----------------===//
#include "launch/Waiting.h"

#include "base/Clock.h"
#include "base/Knobs.h"

#include <algorithm>
#include <poll.h>

namespace nereid::runtime {

int waitFor(int fd, short events, uint64_t deadline) {
  for (;;) {
    const uint64_t now = nowNs();
    if (now >= deadline)
      return 0;
    pollfd p{fd, events, 0};
    if (poll(&p, 1, int(std::min<uint64_t>((deadline - now) / 1000000 + 1, 50))) > 0)
      return 1;
    if (interruptRequested())
      return -1;
  }
}

Status interruptedMeeting() {
  return Status::error(StatusCode::Interrupted, "interrupted while waiting for the other ranks");
}

} // namespace nereid::runtime
