// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Atomics.cpp - nrd_shmem_atomic -------------------------------------===//
//
// Updates whose old value nobody asks for are handed to the transport, which may
// carry them out later; the others are carried out by the caller. Both ways a
// word is changed by one atomic instruction.
//
//===----------------------------------------------------------------------===//
#include "device/cpu/EntryPoints.h"

#include "transport/Transport.h"

namespace nereid::runtime {

/// Carries out `op` on the word; the old value.
template <typename T> static uint64_t applyTo(T *word, T value, T compare, int32_t op) {
  switch (op) {
  case NRD_AMO_ADD:
    return __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
  case NRD_AMO_AND:
    return __atomic_fetch_and(word, value, __ATOMIC_ACQ_REL);
  case NRD_AMO_OR:
    return __atomic_fetch_or(word, value, __ATOMIC_ACQ_REL);
  case NRD_AMO_XOR:
    return __atomic_fetch_xor(word, value, __ATOMIC_ACQ_REL);
  case NRD_AMO_COMPARE_SWAP:
    __atomic_compare_exchange_n(word, &compare, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return compare;
  case NRD_AMO_FETCH:
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
  default: // SET, SWAP
    return __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL);
  }
}

static uint64_t applyAtomic(uint8_t *at, uint64_t value, uint64_t compare, int32_t op,
                            int32_t bytes) {
  if (bytes == 4)
    return applyTo(reinterpret_cast<uint32_t *>(at), uint32_t(value), uint32_t(compare), op);
  return applyTo(reinterpret_cast<uint64_t *>(at), value, compare, op);
}

template <int32_t op> static void update(uint8_t *at, uint64_t value, int32_t bytes) {
  applyAtomic(at, value, 0, op, bytes);
}

/// The update that returns nothing, or null when `op` returns something.
static UpdateFunction findUpdate(int32_t op) {
  switch (op) {
  case NRD_AMO_SET:
    return update<NRD_AMO_SET>;
  case NRD_AMO_ADD:
    return update<NRD_AMO_ADD>;
  case NRD_AMO_AND:
    return update<NRD_AMO_AND>;
  case NRD_AMO_OR:
    return update<NRD_AMO_OR>;
  case NRD_AMO_XOR:
    return update<NRD_AMO_XOR>;
  default:
    return nullptr;
  }
}

/// Whether `op` leaves another value than `old` in the word. What changes nothing
/// may be the round of a loop that waits, for a value or for a lock: no progress.
static bool changesWord(int32_t op, uint64_t old, uint64_t value, uint64_t compare) {
  switch (op) {
  case NRD_AMO_ADD:
  case NRD_AMO_XOR:
    return value != 0;
  case NRD_AMO_AND:
    return (old & value) != old;
  case NRD_AMO_OR:
    return (old | value) != old;
  case NRD_AMO_COMPARE_SWAP:
    return old == compare && old != value;
  case NRD_AMO_FETCH:
    return false;
  default: // SET, SWAP
    return old != value;
  }
}

static void noteBadAtomic(Program &p, int32_t op, uint32_t site) {
  noteFailure(p, StatusCode::InvalidArgument,
              "atomic: " + std::to_string(op) +
                  " is no operation of a remote atomic that this function "
                  "has; write a constant such as MORI_AMO_ADD",
              site);
}

} // namespace nereid::runtime

using namespace nereid::runtime;

extern "C" uint64_t nrd_shmem_atomic(nrd_program *prog, void *ptr, uint64_t value, uint64_t compare,
                                     int32_t op, int32_t elem_bytes, int32_t pe, uint32_t site) {
  Program &p = programOf(prog);
  p.site = site;
  const bool fetches = !(op & NRD_AMO_NO_RESULT);
  op &= ~NRD_AMO_NO_RESULT;
  if (op < NRD_AMO_SET || op > NRD_AMO_FETCH || (!fetches && !findUpdate(op))) [[unlikely]] {
    noteBadAtomic(p, op, site);
    p.worker->leave(p);
  }
  checkAligned(p, ptr, elem_bytes, "atomic", site, "element");
  uint8_t *at = remoteAddress(p, ptr, uint64_t(elem_bytes), pe, "atomic", site);
  p.worker->maybeYield(p);
  if (fetches) {
    uint64_t old = applyAtomic(at, value, compare, op, elem_bytes);
    if (changesWord(op, old, zeroExtend(value, unsigned(elem_bytes)),
                    zeroExtend(compare, unsigned(elem_bytes))))
      p.worker->noteActivity();
    return old;
  }
  p.worker->noteActivity();
  p.transport->update(pe, at, findUpdate(op), value, elem_bytes);
  return 0;
}
