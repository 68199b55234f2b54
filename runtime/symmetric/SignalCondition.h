// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SignalCondition.h - What a wait for signals waits for --------------===//
//
// dl.wait, signal_wait_until, waits of the host and the exchange between vector
// cores all wait for words of memory and differ in nothing but what stands here.
// Whoever waits looks by holds(): the waiting program, the scheduler on its behalf,
// or the loop of the host (HostWait.h).
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_SYMMETRIC_SIGNALCONDITION_H
#define NEREID_RUNTIME_SYMMETRIC_SIGNALCONDITION_H

#include "base/Words.h"
#include "nereid/abi.h"
#include "nereid/runtime/Status.h"
#include "symmetric/JobImpl.h"

#include <cstdint>

namespace nereid::runtime {

inline uint64_t loadAcquire(const uint8_t *p, unsigned bytes) {
  switch (bytes) {
  case 1:
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
  case 2:
    return __atomic_load_n(reinterpret_cast<const uint16_t *>(p), __ATOMIC_ACQUIRE);
  case 4:
    return __atomic_load_n(reinterpret_cast<const uint32_t *>(p), __ATOMIC_ACQUIRE);
  default:
    return __atomic_load_n(reinterpret_cast<const uint64_t *>(p), __ATOMIC_ACQUIRE);
  }
}

/// `count` words, `stride` bytes apart, each of which must compare with `value`.
struct SignalCondition {
  const uint8_t *address = nullptr; ///< of the word that is looked at next
  uint64_t value = 0;               ///< zero-extended from `bytes`
  uint64_t stride = 0;              ///< in bytes; any when there is one word
  int32_t count = 1;                ///< at least 1
  int32_t next = 0;                 ///< its number: those before it have been seen to compare
  uint8_t bytes = 4;                ///< of a word: 1, 2, 4 or 8
  uint8_t comparison = NRD_CMP_EQ;  ///< NRD_CMP_*: `word comparison value`
  bool isSigned = false;            ///< how words and value are compared and shown
  uint64_t seen = 0;                ///< the word last read, zero-extended

  /// One word.
  void setWord(const void *at, int32_t how, uint64_t with, int32_t width, bool readAsSigned) {
    address = static_cast<const uint8_t *>(at);
    value = zeroExtend(with, unsigned(width));
    count = 1;
    next = 0;
    bytes = uint8_t(width);
    comparison = uint8_t(how);
    isSigned = readAsSigned;
  }
  /// Equality of several, as dl.wait asks for.
  void setWords(const void *first, int32_t howMany, uint64_t apart, uint64_t with, int32_t width) {
    setWord(first, NRD_CMP_EQ, with, width, /*readAsSigned=*/true);
    count = howMany;
    stride = apart;
  }

  /// Looks, with acquire; true when what is waited for has come. Words that have
  /// been seen to compare are not looked at again, but for the last one.
  bool holds() {
    for (;; ++next, address += stride) {
      seen = loadAcquire(address, bytes);
      if (!compares(seen))
        return false;
      if (next + 1 == count)
        return true;
    }
  }

  /// The same for a single word that somebody else has read.
  bool holdsFor(uint64_t word) {
    seen = zeroExtend(word, bytes);
    return compares(seen);
  }

  /// Adds what this waits for to an account of who waits for what.
  void describe(const Job::Impl &job, BlockedGroup &group) const;

private:
  bool compares(uint64_t word) const {
    // Equality needs no signs, and is what loops that spin ask for.
    return comparison == NRD_CMP_EQ ? word == value
                                    : compareWords(comparison, word, value, bytes, isSigned);
  }
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_SYMMETRIC_SIGNALCONDITION_H
