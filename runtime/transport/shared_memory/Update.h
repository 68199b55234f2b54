// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Update.h - Atomic updates of words that ranks share ----------------===//
#ifndef NEREID_RUNTIME_TRANSPORT_SHARED_MEMORY_UPDATE_H
#define NEREID_RUNTIME_TRANSPORT_SHARED_MEMORY_UPDATE_H

#include "nereid/abi.h"

#include <type_traits>

namespace nereid::runtime {

/// Sets or adds (NRD_SIG_*), with release. `at` is aligned to `bytes`, which is
/// 1, 2, 4 or 8.
inline void updateSignal(uint8_t *at, uint64_t value, int32_t op, int32_t bytes) {
  auto apply = [&](auto *word) {
    using T = std::remove_pointer_t<decltype(word)>;
    if (op == NRD_SIG_ADD)
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

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_TRANSPORT_SHARED_MEMORY_UPDATE_H
