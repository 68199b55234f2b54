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

#include "device/cpu/Worker.h"

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

/// Address on `pe` of the `bytes` bytes at `ptr` of this rank's heap, for the
/// transport; fails the program when there is none. A plain pointer is good for
/// one's own rank. Programs may dereference it if `pe` is reachable.
uint8_t *remoteAddress(Program &p, const void *ptr, uint64_t bytes, int32_t pe, const char *what,
                       uint32_t site);

/// Barrier of the programs of a team; flags are NRD_BARRIER_*.
void barrier(Program &p, LaunchTeam &team, const char *what, int32_t flags, uint32_t site);
/// Quiet: all operations of this rank are complete when it returns.
void completeTransfers(Program &p);
/// Fails the program when `bytes`, read as a signed number, is negative.
void checkBytes(Program &p, uint64_t bytes, const char *what, uint32_t site);
/// Fails the program unless `op` is NRD_SIG_*.
void checkSignalOp(Program &p, int32_t op, const char *what, uint32_t site);

/// Waits for p.condition. Returns when it holds.
void blockProgram(Program &p, const char *what, uint32_t site);

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
