// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/Fork.h"

#include <atomic>
#include <pthread.h>

namespace nereid::runtime {

static std::atomic<uint64_t> depth{0};

uint64_t forkDepth() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { depth.fetch_add(1, std::memory_order_relaxed); });
  (void)registered;
  return depth.load(std::memory_order_relaxed);
}

} // namespace nereid::runtime
