// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Random.h - The generator of random schedules, the hash of texts ----===//
#ifndef NEREID_RUNTIME_BASE_RANDOM_H
#define NEREID_RUNTIME_BASE_RANDOM_H

#include <cstdint>
#include <string_view>

namespace nereid::runtime {

/// xorshift64: one step. The state is never 0.
inline uint64_t nextRandomState(uint64_t state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/// FNV-1a: one step with a byte or a word.
inline constexpr uint64_t kHashStart = 14695981039346656037u;
inline uint64_t mixHash(uint64_t hash, uint64_t value) { return (hash ^ value) * 1099511628211u; }
inline uint64_t hashText(std::string_view text) {
  uint64_t hash = kHashStart;
  for (char c : text)
    hash = mixHash(hash, uint8_t(c));
  return hash;
}

/// A sequence that a seed and the number of a stream determine.
class Random {
public:
  explicit Random(uint64_t seed, uint64_t stream = 0) {
    state = (seed + 1) * 0x9e3779b97f4a7c15u ^ (stream + 1) * 0xd1b54a32d192ed03u;
    if (state == 0)
      state = 1;
    for (int i = 0; i < 8; ++i)
      next();
  }
  uint64_t next() {
    state = nextRandomState(state);
    return state >> 3;
  }

private:
  uint64_t state;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_BASE_RANDOM_H
