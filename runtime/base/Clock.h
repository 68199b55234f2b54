// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Clock.h - Monotonic time -------------------------------------------===//
#ifndef NEREID_RUNTIME_BASE_CLOCK_H
#define NEREID_RUNTIME_BASE_CLOCK_H

#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace nereid::runtime {

/// Nanoseconds of the monotonic clock, the same in all processes.
inline uint64_t nowNs() {
  timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return uint64_t(ts.tv_sec) * 1000000000u + uint64_t(ts.tv_nsec);
}

/// The cheapest clock there is, of unknown unit near a nanosecond. Only good
/// for telling "a moment" from "real work".
inline uint64_t cheapTicks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return nowNs();
#endif
}

/// Tells the core that this is a spin loop.
inline void cpuPause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

void sleepNs(uint64_t ns);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_BASE_CLOCK_H
