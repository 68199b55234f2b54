// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Words.h - Words of 1 to 8 bytes and how they compare -----*- C++ -*-===//
#ifndef NEREID_RUNTIME_BASE_WORDS_H
#define NEREID_RUNTIME_BASE_WORDS_H

#include "nereid/abi.h"

#include <cstdint>

namespace nereid::runtime {

inline int64_t signExtend(uint64_t value, unsigned bytes) {
  unsigned shift = 64 - 8 * bytes;
  return int64_t(value << shift) >> shift;
}
inline uint64_t zeroExtend(uint64_t value, unsigned bytes) {
  unsigned shift = 64 - 8 * bytes;
  return value << shift >> shift;
}

template <typename T> bool compareAs(int comparison, T a, T b) {
  switch (comparison) {
  case NRD_CMP_EQ:
    return a == b;
  case NRD_CMP_NE:
    return a != b;
  case NRD_CMP_GT:
    return a > b;
  case NRD_CMP_LE:
    return a <= b;
  case NRD_CMP_LT:
    return a < b;
  default:
    return a >= b;
  }
}

/// `word comparison value` (NRD_CMP_*), both zero-extended from `bytes`: 1, 2, 4 or 8.
inline bool compareWords(int comparison, uint64_t word, uint64_t value, unsigned bytes,
                         bool isSigned) {
  return isSigned ? compareAs(comparison, signExtend(word, bytes), signExtend(value, bytes))
                  : compareAs(comparison, word, value);
}

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_BASE_WORDS_H
