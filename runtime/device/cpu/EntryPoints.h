// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EntryPoints.h - Shared by the families of entry points -------------===//
//
// Entry points run on the stack of the program that calls them. Those that
// fail leave it by a jump: no object with a destructor may be alive in a frame
// that calls Worker::leave or Worker::yieldFrom. So messages are built in
// functions of their own, which return before the program is left.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_ENTRYPOINTS_H
#define NEREID_RUNTIME_DEVICE_CPU_ENTRYPOINTS_H

#include "device/cpu/Observed.h"
#include "device/cpu/Worker.h"
#include "transport/Router.h"

namespace nereid::runtime {

inline Program &programOf(nrd_program *prog) { return *static_cast<Program *>(prog->runtime); }

/// Notes a failure of `p` with its launch; the caller then leaves.
void noteFailure(Program &p, StatusCode code, std::string message, uint32_t site);
void noteBadRank(Program &p, const char *what, int32_t rank, uint32_t site);
void noteNotSymmetric(Program &p, const char *what, const void *ptr, uint64_t bytes, uint32_t site);
/// `part` is what has `bytes` bytes: "signal", "element".
void noteMisaligned(Program &p, const char *what, const void *ptr, int32_t bytes, uint32_t site,
                    const char *part);
void noteCannotBlock(Program &p, const char *what, uint32_t site);

/// Place in `pe`'s heap of the `bytes` bytes at `ptr` of this rank's heap; fails
/// the program when there is none. A plain pointer is good for one's own rank,
/// and counted from its heap.
uint64_t remoteOffset(Program &p, const void *ptr, uint64_t bytes, int32_t pe, const char *what,
                      uint32_t site);

/// Fails the program when memory that it copies from or to begins in the heap of
/// some rank and does not lie in one allocation there.
void checkLocal(Program &p, const void *ptr, uint64_t bytes, const char *what, uint32_t site);

/// Hands `operation` to the transport and waits for what it brings. For ranks
/// that are not direct. The program is left, at p.site, when the rank cannot be
/// reached.
void carryOut(Program &p, const Operation &operation, const char *what);
// The same out of line, so that the ways to direct ranks stay short.
void getElsewhere(Program &p, int32_t pe, uint64_t offset, void *dest, uint64_t bytes, bool nbi,
                  const char *what);
/// `scope`: as Operation::scope.
void updateElsewhere(Program &p, int32_t pe, uint64_t offset, AtomicOp op, uint64_t value,
                     int32_t bytes, const char *what, uint8_t scope = 0);
uint64_t fetchElsewhere(Program &p, int32_t pe, uint64_t offset, AtomicOp op, uint64_t value,
                        uint64_t compare, int32_t bytes, const char *what);

void completeElsewhere(Program &p, const char *what, int32_t pe);
/// Quiet: all operations of this rank (to `pe`, unless it is -1) are complete
/// when it returns.
inline void completeTransfers(Program &p, const char *what, int32_t pe = -1) {
  if (!p.transport->engine()) [[likely]]
    Router::fullFence();
  else
    completeElsewhere(p, what, pe);
}

/// Updates the word at `offset` of `pe`'s heap; `op` is NRD_SIG_*.
inline void sendSignal(Program &p, int32_t pe, uint64_t offset, uint64_t value, int32_t op,
                       int32_t bytes, const char *what, uint8_t scope = 0) {
  const Router &router = *p.transport;
  if (router.isDirect(pe)) [[likely]]
    updateSignal(router.address(pe, offset), value, AtomicOp(op), bytes);
  else
    updateElsewhere(p, pe, offset, AtomicOp(op), value, bytes, what, scope);
}

/// Barrier of the programs of a team; flags are NRD_BARRIER_*.
void barrier(Program &p, LaunchTeam &team, const char *what, int32_t flags, uint32_t site);
/// Fails the program when `bytes`, read as a signed number, is negative.
void checkBytes(Program &p, uint64_t bytes, const char *what, uint32_t site);
/// Fails the program unless `op` is NRD_SIG_*.
void checkSignalOp(Program &p, int32_t op, const char *what, uint32_t site);

/// Waits for p.condition. Returns when it holds.
void blockProgram(Program &p, const char *what, uint32_t site);
/// Waits for p.condition.signal, which the caller has set; the value of the word
/// that came last.
inline uint64_t awaitWords(Program &p, const char *what, uint32_t site) {
  p.condition.kind = WaitCondition::Signal;
  if (!p.condition.signal.holds())
    blockProgram(p, what, site);
  return p.condition.signal.seen;
}
/// The same for signals of other programs. `slot`: 1 + the number of a wait that orders
/// only what depends on its token, else 0.
inline uint64_t awaitSignal(Program &p, const char *what, uint32_t site, uint8_t slot = 0) {
  if (!p.observer) [[likely]]
    return awaitWords(p, what, site);
  const uint64_t begin = cheapTicks();
  if (!p.condition.signal.holds())
    tellBlocked(p, site);
  const uint64_t seen = awaitWords(p, what, site);
  tellWait(p, begin, slot);
  return seen;
}

inline void checkAligned(Program &p, const void *ptr, int32_t bytes, const char *what,
                         uint32_t site, const char *part = "signal") {
  bool known = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  if (known && (uintptr_t(ptr) & uintptr_t(bytes - 1)) == 0) [[likely]]
    return;
  noteMisaligned(p, what, ptr, bytes, site, part);
  p.worker->leave(p);
}

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_ENTRYPOINTS_H
