// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FaultGuard.h - Touching memory that may be gone --------------------===//
//
// Memory that a program has lent to the runtime, the source of a put or the target
// of a get, can vanish before the runtime comes to it. Whoever touches it in the
// middle of something else, with a lock held, asks for the fault back:
//
//   if (!touches([&] { std::memcpy(own, source, bytes); }))
//     // report it
//
// The handler of faults (device/cpu/Faults.h) returns here. Where there is none, in
// builds with a sanitizer, a fault ends the process as ever.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_BASE_FAULTGUARD_H
#define NEREID_RUNTIME_BASE_FAULTGUARD_H

#include <atomic>
#include <csetjmp>
#include <cstdint>

namespace nereid::runtime {

/// Reads every page of a range.
inline void readPages(const void *memory, uint64_t bytes) {
  auto *p = static_cast<const volatile uint8_t *>(memory);
  for (uint64_t i = 0; i < bytes; i += 4096)
    (void)p[i];
  if (bytes)
    (void)p[bytes - 1];
}

/// Writes to every page of a range what is there.
inline void writePages(void *memory, uint64_t bytes) {
  auto *p = static_cast<uint8_t *>(memory);
  // A compiler that knew this value would make loads of it, or nothing.
  static const volatile uint8_t unknown = 0;
  const uint8_t zero = unknown;
  for (uint64_t i = 0; i < bytes; i += 4096)
    __atomic_fetch_or(p + i, zero, __ATOMIC_RELAXED);
  if (bytes)
    __atomic_fetch_or(p + bytes - 1, zero, __ATOMIC_RELAXED);
}

/// Where a fault of this thread returns to; null when nobody has asked.
inline thread_local sigjmp_buf *faultReturn = nullptr;

/// Runs `work`; false when an access to memory faulted in it. `work` is left where it
/// was: it only loads and stores.
template <typename Work> [[gnu::noinline]] bool touches(const Work &work) {
  sigjmp_buf place;
  if (sigsetjmp(place, /*savemask=*/0)) {
    faultReturn = nullptr;
    return false;
  }
  faultReturn = &place;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  work();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  faultReturn = nullptr;
  return true;
}

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_BASE_FAULTGUARD_H
