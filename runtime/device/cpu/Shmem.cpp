// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Shmem.cpp - put, get, signals with data ----------------------------===//
//
// Checks addresses and hands the work to the transport, which says what is
// complete when. docs/memory-model.md says what programs may rely on.
//
// All have one shape, and its order matters:
//
//   checks        a wrong argument ends the program before anything has happened
//   maybeYield    under a random schedule others may run now
//   direct        the rank's heap is mapped: a copy, an atomic instruction
//   or an engine  an Operation for the transport, and a wait where it has one
//   noteActivity  others may have been waiting for just this
//   maybeYield    ... and may run before this program goes on
//
//===----------------------------------------------------------------------===//
#include "device/cpu/EntryPoints.h"

namespace nereid::runtime {

void checkBytes(Program &p, uint64_t bytes, const char *what, uint32_t site) {
  if (int64_t(bytes) >= 0) [[likely]]
    return;
  noteNotSymmetric(p, what, nullptr, bytes, site);
  p.worker->leave(p);
}

static void noteBadCode(Program &p, const char *what, const char *kind, const char *accepted,
                        uint32_t site) {
  noteFailure(p, StatusCode::InvalidArgument,
              std::string(what) + ": the number given is not a valid " + kind +
                  "; write a constant of libshmem_device " + accepted,
              site);
}

void checkSignalOp(Program &p, int32_t op, const char *what, uint32_t site) {
  if (op == NRD_SIG_SET || op == NRD_SIG_ADD) [[likely]]
    return;
  noteBadCode(p, what, "signal operation",
              "(NVSHMEM_SIGNAL_SET, NVSHMEM_SIGNAL_ADD or another library's)", site);
  p.worker->leave(p);
}

static void checkComparison(Program &p, int32_t cmp, const char *what, uint32_t site) {
  if (cmp >= NRD_CMP_EQ && cmp <= NRD_CMP_GE) [[likely]]
    return;
  noteBadCode(p, what, "comparison", "(NVSHMEM_CMP_EQ, ... NVSHMEM_CMP_GE or another library's)",
              site);
  p.worker->leave(p);
}

/// Waits for the program's own reasons, not for those of a barrier or a fence.
static void quiet(Program &p, const char *what, int32_t pe) {
  if (!p.observer) [[likely]]
    return completeTransfers(p, what, pe);
  EventRecord event = eventOf(p, EventKind::Quiet);
  event.pe = int16_t(pe);
  const uint64_t tag = p.observer->before(event, 0);
  completeTransfers(p, what, pe);
  tellAfter(p, event, tag);
}

static void checkPE(Program &p, int32_t pe, const char *what, uint32_t site) {
  if (uint32_t(pe) < uint32_t(p.abi.num_ranks)) [[likely]]
    return;
  noteBadRank(p, what, pe, site);
  p.worker->leave(p);
}

} // namespace nereid::runtime

using namespace nereid::runtime;

extern "C" {

void *nrd_shmem_ptr(nrd_program *prog, void *ptr, int32_t pe, uint32_t site) {
  Program &p = programOf(prog);
  uint64_t at = remoteOffset(p, ptr, 1, pe, "remote_ptr", site);
  return p.transport->reachable(pe) ? p.transport->address(pe, at) : nullptr;
}

void nrd_shmem_put(nrd_program *prog, void *dest, const void *source, uint64_t bytes, int32_t pe,
                   int32_t nbi, uint32_t site) {
  Program &p = programOf(prog);
  p.site = site;
  checkBytes(p, bytes, "putmem", site);
  uint64_t to = remoteOffset(p, dest, bytes, pe, "putmem", site);
  checkLocal(p, source, bytes, "putmem", site);
  p.worker->maybeYield(p);
  if (p.transport->isDirect(pe)) [[likely]]
    copyPush(p.transport->address(pe, to), source, bytes);
  else
    carryOut(p, Operation::put(pe, to, source, bytes, nbi != 0), "putmem");
  p.worker->noteActivity();
  p.worker->maybeYield(p);
}

void nrd_shmem_get(nrd_program *prog, void *dest, const void *source, uint64_t bytes, int32_t pe,
                   int32_t nbi, uint32_t site) {
  Program &p = programOf(prog);
  p.site = site;
  checkBytes(p, bytes, "getmem", site);
  uint64_t from = remoteOffset(p, source, bytes, pe, "getmem", site);
  checkLocal(p, dest, bytes, "getmem", site);
  p.worker->maybeYield(p);
  if (p.transport->isDirect(pe)) [[likely]]
    copyPull(dest, p.transport->address(pe, from), bytes);
  else
    getElsewhere(p, pe, from, dest, bytes, nbi != 0, "getmem");
  p.worker->maybeYield(p);
}

void nrd_shmem_put_signal(nrd_program *prog, void *dest, const void *source, uint64_t bytes,
                          void *signal, uint64_t value, int32_t sig_op, int32_t pe,
                          int32_t sig_bytes, int32_t nbi, uint32_t site) {
  Program &p = programOf(prog);
  p.site = site;
  checkBytes(p, bytes, "putmem_signal", site);
  checkSignalOp(p, sig_op, "putmem_signal", site);
  checkAligned(p, signal, sig_bytes, "putmem_signal", site);
  uint64_t to = remoteOffset(p, dest, bytes, pe, "putmem_signal", site);
  checkLocal(p, source, bytes, "putmem_signal", site);
  uint64_t at = remoteOffset(p, signal, uint64_t(sig_bytes), pe, "putmem_signal", site);
  p.worker->maybeYield(p);
  if (p.transport->isDirect(pe)) [[likely]] {
    copyPush(p.transport->address(pe, to), source, bytes);
    updateSignal(p.transport->address(pe, at), value, AtomicOp(sig_op), sig_bytes);
  } else {
    carryOut(p,
             Operation::put(pe, to, source, bytes, nbi != 0)
                 .withSignal(at, AtomicOp(sig_op), value, sig_bytes),
             "putmem_signal");
  }
  p.worker->noteActivity();
  p.worker->maybeYield(p);
}

void nrd_shmem_signal_op(nrd_program *prog, void *signal, uint64_t value, int32_t sig_op,
                         int32_t pe, int32_t sig_bytes, uint32_t site) {
  Program &p = programOf(prog);
  p.site = site;
  checkSignalOp(p, sig_op, "signal_op", site);
  checkAligned(p, signal, sig_bytes, "signal_op", site);
  uint64_t at = remoteOffset(p, signal, uint64_t(sig_bytes), pe, "signal_op", site);
  p.worker->maybeYield(p);
  sendSignal(p, pe, at, value, sig_op, sig_bytes, "signal_op");
  p.worker->noteActivity();
  p.worker->maybeYield(p);
}

void nrd_shmem_p(nrd_program *prog, void *dest, uint64_t value, int32_t elem_bytes, int32_t pe,
                 uint32_t site) {
  Program &p = programOf(prog);
  p.site = site;
  checkAligned(p, dest, elem_bytes, "p", site, "element");
  uint64_t at = remoteOffset(p, dest, uint64_t(elem_bytes), pe, "p", site);
  p.worker->maybeYield(p);
  // Single elements are also used as flags: they never tear.
  sendSignal(p, pe, at, value, NRD_SIG_SET, elem_bytes, "p");
  p.worker->noteActivity();
  p.worker->maybeYield(p);
}

uint64_t nrd_shmem_g(nrd_program *prog, const void *source, int32_t elem_bytes, int32_t pe,
                     uint32_t site) {
  Program &p = programOf(prog);
  p.site = site;
  checkAligned(p, source, elem_bytes, "g", site, "element");
  uint64_t at = remoteOffset(p, source, uint64_t(elem_bytes), pe, "g", site);
  p.worker->maybeYield(p);
  if (p.transport->isDirect(pe)) [[likely]]
    return loadAcquire(p.transport->address(pe, at), unsigned(elem_bytes));
  uint64_t value = fetchElsewhere(p, pe, at, AtomicOp::Fetch, 0, 0, elem_bytes, "g");
  p.worker->maybeYield(p);
  return value;
}

uint64_t nrd_shmem_wait_until(nrd_program *prog, const void *signal, int32_t cmp, uint64_t value,
                              int32_t elem_bytes, int32_t is_signed, uint32_t site) {
  Program &p = programOf(prog);
  p.site = site;
  checkComparison(p, cmp, "signal_wait_until", site);
  checkAligned(p, signal, elem_bytes, "signal_wait_until", site);
  p.worker->maybeYield(p);
  p.condition.signal.setWord(signal, cmp, value, elem_bytes, is_signed != 0);
  const uint64_t seen = awaitSignal(p, "signal_wait_until", site);
  p.worker->maybeYield(p);
  return seen;
}

void nrd_shmem_fence(nrd_program *prog, uint32_t site) {
  Program &p = programOf(prog);
  p.site = site;
  const bool completes = p.launch->job.settings.profile.fenceCompletes;
  if (completes)
    completeTransfers(p, "fence");
  else
    p.transport->fence();
  if (p.observer) [[unlikely]]
    tellFence(p, -1, completes);
}

void nrd_shmem_fence_pe(nrd_program *prog, int32_t pe, uint32_t site) {
  Program &p = programOf(prog);
  p.site = site;
  checkPE(p, pe, "fence_pe", site);
  const bool completes = p.launch->job.settings.profile.fenceCompletes;
  if (completes)
    completeTransfers(p, "fence_pe", pe);
  else
    p.transport->fence(pe);
  if (p.observer) [[unlikely]]
    tellFence(p, pe, completes);
}

void nrd_shmem_quiet_pe(nrd_program *prog, int32_t pe, uint32_t site) {
  Program &p = programOf(prog);
  p.site = site;
  checkPE(p, pe, "quiet_pe", site);
  p.worker->maybeYield(p);
  quiet(p, "quiet_pe", pe);
}

void nrd_shmem_quiet(nrd_program *prog, uint32_t site) {
  Program &p = programOf(prog);
  p.site = site;
  quiet(p, "quiet", -1);
}

} // extern "C"
