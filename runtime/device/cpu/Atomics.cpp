// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Atomics.cpp - nrd_shmem_atomic -------------------------------------===//
//
// Where the rank is mapped, the caller changes the word by one atomic instruction;
// otherwise the transport does, later when nobody asks for the old value.
//
//===----------------------------------------------------------------------===//
#include "device/cpu/EntryPoints.h"

namespace nereid::runtime {

/// Whether `op` can do without its result.
static bool mayReturnNothing(int32_t op) { return op >= NRD_AMO_SET && op <= NRD_AMO_XOR; }

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
                  " is not an operation of this remote atomic; write a constant such as "
                  "MORI_AMO_ADD",
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
  if (op < NRD_AMO_SET || op > NRD_AMO_FETCH || (!fetches && !mayReturnNothing(op))) [[unlikely]] {
    noteBadAtomic(p, op, site);
    p.worker->leave(p);
  }
  checkAligned(p, ptr, elem_bytes, "atomic", site, "element");
  uint64_t at = remoteOffset(p, ptr, uint64_t(elem_bytes), pe, "atomic", site);
  p.worker->maybeYield(p);
  if (fetches) {
    uint64_t old =
        p.transport->isDirect(pe)
            ? updateWord(p.transport->address(pe, at), AtomicOp(op), value, compare, elem_bytes)
            : fetchElsewhere(p, pe, at, AtomicOp(op), value, compare, elem_bytes, "atomic");
    if (changesWord(op, old, zeroExtend(value, unsigned(elem_bytes)),
                    zeroExtend(compare, unsigned(elem_bytes))))
      p.worker->noteActivity();
    p.worker->maybeYield(p);
    return old;
  }
  p.worker->noteActivity();
  if (p.transport->isDirect(pe)) [[likely]]
    updateWord(p.transport->address(pe, at), AtomicOp(op), value, 0, elem_bytes);
  else
    updateElsewhere(p, pe, at, AtomicOp(op), value, elem_bytes, "atomic");
  p.worker->maybeYield(p);
  return 0;
}
