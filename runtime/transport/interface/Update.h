// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Update.h - Atomic updates of words that ranks share ----------------===//
//
// What every update means, whoever carries it out: one atomic instruction of a
// processor that maps the word.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_TRANSPORT_INTERFACE_UPDATE_H
#define NEREID_RUNTIME_TRANSPORT_INTERFACE_UPDATE_H

#include "transport/interface/Operation.h"

#include <type_traits>

namespace nereid::runtime {

/// Sets or adds, with release. `at` is aligned to `bytes`, which is 1, 2, 4 or 8.
inline void updateSignal(uint8_t *at, uint64_t value, AtomicOp op, int32_t bytes) {
  auto apply = [&](auto *word) {
    using T = std::remove_pointer_t<decltype(word)>;
    if (op == AtomicOp::Add)
      __atomic_fetch_add(word, T(value), __ATOMIC_ACQ_REL);
    else
      __atomic_store_n(word, T(value), __ATOMIC_RELEASE);
  };
  switch (bytes) {
  case 1:
    return apply(at);
  case 2:
    return apply(reinterpret_cast<uint16_t *>(at));
  case 4:
    return apply(reinterpret_cast<uint32_t *>(at));
  default:
    return apply(reinterpret_cast<uint64_t *>(at));
  }
}

/// Any operation on a word of 1, 2, 4 or 8 bytes, with acquire and release; the
/// value from before.
inline uint64_t updateWord(uint8_t *at, AtomicOp op, uint64_t value, uint64_t compare,
                           int32_t bytes) {
  auto apply = [&](auto *word) -> uint64_t {
    using T = std::remove_pointer_t<decltype(word)>;
    switch (op) {
    case AtomicOp::Add:
      return __atomic_fetch_add(word, T(value), __ATOMIC_ACQ_REL);
    case AtomicOp::And:
      return __atomic_fetch_and(word, T(value), __ATOMIC_ACQ_REL);
    case AtomicOp::Or:
      return __atomic_fetch_or(word, T(value), __ATOMIC_ACQ_REL);
    case AtomicOp::Xor:
      return __atomic_fetch_xor(word, T(value), __ATOMIC_ACQ_REL);
    case AtomicOp::CompareSwap: {
      T expected = T(compare);
      __atomic_compare_exchange_n(word, &expected, T(value), false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE);
      return expected;
    }
    case AtomicOp::Fetch:
      return __atomic_load_n(word, __ATOMIC_ACQUIRE);
    default: // Set, Swap
      return __atomic_exchange_n(word, T(value), __ATOMIC_ACQ_REL);
    }
  };
  if (bytes == 8)
    return apply(reinterpret_cast<uint64_t *>(at));
  if (bytes == 4)
    return apply(reinterpret_cast<uint32_t *>(at));
  return bytes == 2 ? apply(reinterpret_cast<uint16_t *>(at)) : apply(at);
}

/// What updateWord leaves in the word whose value from before is `old`.
inline uint64_t valueAfter(AtomicOp op, uint64_t old, uint64_t value, uint64_t compare,
                           int32_t bytes) {
  const uint64_t mask = bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << 8 * bytes) - 1;
  switch (op) {
  case AtomicOp::Add:
    return (old + value) & mask;
  case AtomicOp::And:
    return old & value;
  case AtomicOp::Or:
    return (old | value) & mask;
  case AtomicOp::Xor:
    return (old ^ value) & mask;
  case AtomicOp::CompareSwap:
    return old == (compare & mask) ? value & mask : old;
  case AtomicOp::Fetch:
    return old;
  default: // Set, Swap
    return value & mask;
  }
}

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_TRANSPORT_INTERFACE_UPDATE_H
