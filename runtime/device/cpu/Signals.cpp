// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Signals.cpp - nrd_yield, nrd_wait, nrd_notify, failures ------------===//
//
// Every address that a program hands to the runtime is checked here, since what
// it would reach otherwise is the memory of another rank:
//
//   remoteOffset    a place in this rank's heap, as an offset in the heap of `pe`
//     isKnown         in one of the four allocations that the program used last: no lock
//     otherOffset     asks the heap under its lock, remembers the answer, or fails
//   checkLocal      the other end of a transfer: any memory, but when it lies in a heap, in
//                   one allocation there
//
// What is not the usual way stands out of line (noinline): the usual one then
// needs no stack frame. Errors are written by note...() functions, which return
// before leave() jumps away: no object with a destructor may be alive then
// (EntryPoints.h).
//
// maybeYield() stands on both sides of whatever another program can observe:
// under a random schedule, others may come before it and between it and what
// the program does next.
//
//===----------------------------------------------------------------------===//
#include "device/cpu/EntryPoints.h"

#include "transport/Router.h"

#include <sched.h>
#include <time.h>

namespace nereid::runtime {

void noteFailure(Program &p, StatusCode code, std::string message, uint32_t site) {
  p.worker->landing.reporting = true;
  FailureDetail detail;
  detail.code = code;
  detail.message = std::move(message);
  detail.program = p.launch->programId(p.linear);
  detail.site = p.launch->site(site);
  p.launch->fail(std::move(detail));
  p.worker->landing.reporting = false;
}

void noteBadRank(Program &p, const char *what, int32_t rank, uint32_t site) {
  int32_t n = p.abi.num_ranks;
  noteFailure(p, StatusCode::BadRank,
              std::string(what) + ": rank " + std::to_string(rank) + " is outside this job of " +
                  std::to_string(n) +
                  (n == 1 ? " rank (0)" : " ranks (0.." + std::to_string(n - 1) + ")"),
              site);
}

void noteNotSymmetric(Program &p, const char *what, const void *ptr, uint64_t bytes,
                      uint32_t site) {
  const Job::Impl &job = p.launch->job;
  std::string message = std::string(what) + ": ";
  if (int64_t(bytes) < 0) {
    noteFailure(p, StatusCode::BadAccess,
                message + "the number of bytes is negative: " + std::to_string(int64_t(bytes)),
                site);
    return;
  }
  uint64_t at = uint64_t(static_cast<const uint8_t *>(ptr) - job.heapBase);
  uint64_t owner = job.heapBase ? at / job.heapBytes : ~uint64_t(0);
  if (owner < uint64_t(job.worldSize) && owner != uint64_t(job.rank)) {
    message += "the address " + job.describe(ptr) + " lies in the heap of rank " +
               std::to_string(owner) +
               "; pass this rank's own address (before "
               "symm_at), the rank argument chooses the peer";
  } else if (owner < uint64_t(job.worldSize)) {
    noteFailure(p, StatusCode::BadAccess, job.outsideText(what, ptr, bytes), site);
    return;
  } else {
    message += job.describe(ptr) + "; only memory from nereid.symm is visible to other ranks";
  }
  noteFailure(p, StatusCode::NotSymmetric, std::move(message), site);
}

void noteMisaligned(Program &p, const char *what, const void *ptr, int32_t bytes, uint32_t site,
                    const char *part) {
  noteFailure(p, StatusCode::BadAccess,
              std::string(what) + ": " + p.launch->job.describe(ptr) + " is not aligned to the " +
                  part + "'s " + std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"),
              site);
}

static void noteOtherNode(Program &p, int32_t scope, int32_t rank, uint32_t site) {
  const Router &transport = *p.transport;
  noteFailure(p, StatusCode::BadRank,
              std::string("notify: comm_scope \"") +
                  (scope == NRD_COMM_GPU ? "gpu" : "intra_node") + "\" does not reach rank " +
                  std::to_string(rank) + " on node " + std::to_string(transport.nodeOf(rank)) +
                  " from rank " + std::to_string(p.abi.rank) + " on node " +
                  std::to_string(transport.nodeOf(p.abi.rank)) +
                  "; write comm_scope=\"inter_node\"",
              site);
}

void noteCannotBlock(Program &p, const char *what, uint32_t site) {
  noteFailure(p, StatusCode::Internal,
              std::string(what) + " has to wait, but the kernel was launched as one that "
                                  "never does (LaunchSpec::blocking)",
              site);
}

static bool isKnown(const Program &p, uint64_t offset, uint64_t bytes) {
  return p.known.version == p.launch->job.heapVersion.load(std::memory_order_acquire) &&
         p.known.hold(offset, bytes);
}

/// Whether the range lies in one allocation, which is then known.
[[gnu::noinline]] static bool askHeap(Program &p, uint64_t offset, uint64_t bytes) {
  if (bytes == 0)
    return true;
  const Job::Impl &job = p.launch->job;
  KnownAllocations &known = p.known;
  std::shared_lock<std::shared_mutex> guard(job.heapLock);
  const uint64_t version = job.heapVersion.load(std::memory_order_acquire);
  if (known.version != version)
    known = {version, 0, {}};
  const Allocation *a = job.allocationAround(offset, bytes);
  if (!a)
    return false;
  known.ranges[known.next++ % 4] = {a->offset, a->bytes};
  return true;
}

/// The places that remoteOffset() does not find at first sight, and the errors.
/// Out of line: the way to a good place saves no registers.
[[gnu::noinline]] static uint64_t otherOffset(Program &p, const void *ptr, uint64_t bytes,
                                              int32_t pe, const char *what, uint32_t site) {
  const nrd_program &abi = p.abi;
  if (uint32_t(pe) >= uint32_t(abi.num_ranks)) {
    noteBadRank(p, what, pe, site);
    p.worker->leave(p);
  }
  uint64_t inHeaps = uint64_t(static_cast<const uint8_t *>(ptr) - abi.heap_base);
  uint64_t offset = inHeaps - abi.heap_bytes * uint64_t(abi.rank);
  if (abi.heap_base && offset < abi.heap_bytes && askHeap(p, offset, bytes))
    return offset;
  bool plain = !abi.heap_base || inHeaps >= abi.heap_bytes * uint64_t(abi.num_ranks);
  if (pe == abi.rank && int64_t(bytes) >= 0 && plain)
    return offset;
  noteNotSymmetric(p, what, ptr, bytes, site);
  p.worker->leave(p);
}

uint64_t remoteOffset(Program &p, const void *ptr, uint64_t bytes, int32_t pe, const char *what,
                      uint32_t site) {
  const nrd_program &abi = p.abi;
  const uint8_t *own = abi.heap_base + abi.heap_bytes * uint64_t(abi.rank);
  uint64_t offset = uint64_t(static_cast<const uint8_t *>(ptr) - own);
  if (uint32_t(pe) < uint32_t(abi.num_ranks) && isKnown(p, offset, bytes)) [[likely]]
    return offset;
  return otherOffset(p, ptr, bytes, pe, what, site);
}

/// A range of memory that this program names itself, in the heap of any rank.
[[gnu::noinline]] static void checkElsewhere(Program &p, const void *ptr, uint64_t bytes,
                                             const char *what, uint32_t site) {
  const nrd_program &abi = p.abi;
  uint64_t inHeaps = uint64_t(static_cast<const uint8_t *>(ptr) - abi.heap_base);
  if (!abi.heap_base || inHeaps >= abi.heap_bytes * uint64_t(abi.num_ranks) ||
      askHeap(p, inHeaps % abi.heap_bytes, bytes))
    return;
  noteFailure(p, StatusCode::BadAccess, p.launch->job.outsideText(what, ptr, bytes), site);
  p.worker->leave(p);
}

void checkLocal(Program &p, const void *ptr, uint64_t bytes, const char *what, uint32_t site) {
  const nrd_program &abi = p.abi;
  const uint8_t *own = abi.heap_base + abi.heap_bytes * uint64_t(abi.rank);
  if (!isKnown(p, uint64_t(static_cast<const uint8_t *>(ptr) - own), bytes)) [[unlikely]]
    checkElsewhere(p, ptr, bytes, what, site);
}

void blockProgram(Program &p, const char *what, uint32_t site) {
  p.site = site;
  p.waitName = what;
  if (!p.fiber) [[unlikely]] {
    noteCannotBlock(p, what, site);
    p.worker->leave(p);
  }
  if (!p.worker->spinFor(p))
    p.worker->yieldFrom(p, ProgramState::Blocked);
}

static void noteCount(Program &p, int32_t count, uint32_t site) {
  noteFailure(p, StatusCode::InvalidArgument,
              "wait: the number of signals is " + std::to_string(count) +
                  "; it must not be negative",
              site);
}

/// True, with a failure noted, when the signals of a wait leave the allocation
/// that they begin in: nobody could ever set the last of them.
static bool noteSignalsOutside(Program &p, uint32_t site) {
  const SignalCondition &c = p.condition.signal;
  const Job::Impl &job = p.launch->job;
  uint64_t offset = 0;
  if (!job.ownOffset(c.address, 1, offset))
    return false;
  uint64_t needed = uint64_t(c.count - 1) * c.stride + c.bytes, end = 0;
  {
    std::shared_lock<std::shared_mutex> guard(job.heapLock);
    const Allocation *a = job.heap.find(offset);
    if (!a || offset - a->offset + needed <= a->bytes)
      return false;
    end = offset - a->offset + needed - a->bytes;
  }
  std::string message = "wait: " + std::to_string(c.count) + " signals, " +
                        std::to_string(c.stride) + " bytes apart, from " + job.describe(c.address) +
                        " on reach " + std::to_string(end) + " bytes past its end";
  if (p.abi.wait_stride)
    message += " (the profile " + std::string(job.settings.profile.name) +
               " puts the signals of one wait " + std::to_string(p.abi.wait_stride) +
               " bytes apart)";
  noteFailure(p, StatusCode::BadAccess, std::move(message), site);
  return true;
}

} // namespace nereid::runtime

using namespace nereid::runtime;

extern "C" {

void nrd_yield(nrd_program *prog, uint32_t site) {
  Program &p = programOf(prog);
  p.site = site & ~NRD_FIRST_YIELD;
  if (p.fiber) [[likely]] {
    p.worker->poll(p, (site & NRD_FIRST_YIELD) != 0);
    return;
  }
  if (p.launch->stopping())
    p.worker->leave(p);
  sched_yield();
}

uint64_t nrd_clock_ns(nrd_program *) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

int32_t nrd_wait(nrd_program *prog, void *slots, int32_t count, int64_t value, int32_t elem_bytes,
                 uint32_t site) {
  Program &p = programOf(prog);
  const uint8_t slot = uint8_t(elem_bytes >> 8);
  elem_bytes &= 0xff;
  p.site = site;
  if (count <= 0) [[unlikely]] {
    if (count == 0)
      return 0;
    noteCount(p, count, site);
    p.worker->leave(p);
  }
  checkAligned(p, slots, elem_bytes, "wait", site);
  p.worker->maybeYield(p);
  const uint64_t stride = prog->wait_stride ? prog->wait_stride : uint64_t(elem_bytes);
  p.condition.signal.setWords(slots, count, stride, uint64_t(value), elem_bytes);
  if (count > 1 && noteSignalsOutside(p, site)) [[unlikely]]
    p.worker->leave(p);
  awaitSignal(p, "wait", site, slot);
  p.worker->maybeYield(p);
  return 0;
}

void nrd_notify(nrd_program *prog, void *signal, int64_t value, int32_t rank, int32_t sig_op,
                int32_t comm_scope, int32_t elem_bytes, uint32_t site) {
  Program &p = programOf(prog);
  p.site = site;
  checkAligned(p, signal, elem_bytes, "notify", site);
  uint64_t at = remoteOffset(p, signal, uint64_t(elem_bytes), rank, "notify", site);
  p.worker->maybeYield(p);
  if (comm_scope != NRD_COMM_INTER_NODE) {
    if (!p.transport->reachable(rank)) [[unlikely]] {
      noteOtherNode(p, comm_scope, rank, site);
      p.worker->leave(p);
    }
    // Inside a node the signal is a store: it comes after the program's earlier
    // transfers to that rank.
    p.transport->fence(rank);
  }
  sendSignal(p, rank, at, uint64_t(value), sig_op, elem_bytes, "notify", uint8_t(comm_scope));
  p.worker->noteActivity();
  p.worker->maybeYield(p);
}

void nrd_fail_rank(nrd_program *prog, int32_t rank, uint32_t site) {
  Program &p = programOf(prog);
  noteBadRank(p, "symm_at", rank, site);
  p.worker->leave(p);
}

void nrd_fail_not_symmetric(nrd_program *prog, const void *ptr, uint32_t site) {
  Program &p = programOf(prog);
  noteNotSymmetric(p, "symm_at", ptr, 1, site);
  p.worker->leave(p);
}

static void noteWord(Program &p, uint64_t value, int32_t bits, int32_t flags, uint32_t site) {
  const bool isNumber = flags & NRD_WORD_NUMBER;
  const int64_t least = -(int64_t(1) << (bits - 1));
  const int64_t most = (int64_t(1) << (isNumber ? bits - 1 : bits)) - 1;
  const std::string range = std::to_string(least) + " to " + std::to_string(most);
  std::string text = "the value ";
  text += flags & NRD_WORD_SIGNED ? std::to_string(int64_t(value)) : std::to_string(value);
  text += isNumber ? " does not fit int" + std::to_string(bits) + " (" + range +
                         "), the type of this argument"
                   : " does not fit the word of " + std::to_string(bits) +
                         " bits that it is for (" + range +
                         "); use a wider word, or cast the value to say that its high bits do "
                         "not count";
  noteFailure(p, StatusCode::InvalidArgument, std::move(text), site);
}

void nrd_check_word(nrd_program *prog, uint64_t value, int32_t bits, int32_t flags, uint32_t site) {
  // Beside the bits themselves only the signs of a negative number may be set.
  const int32_t unsignedBits = flags & NRD_WORD_NUMBER ? bits - 1 : bits;
  if (value >> unsignedBits == 0) [[likely]]
    return;
  if ((flags & NRD_WORD_SIGNED) && int64_t(value) < 0 &&
      int64_t(value) >= -(int64_t(1) << (bits - 1)))
    return;
  Program &p = programOf(prog);
  noteWord(p, value, bits, flags, site);
  p.worker->leave(p);
}

static void noteAssert(Program &p, const char *message, uint32_t site) {
  std::string text = "device_assert failed";
  if (message && *message)
    text += std::string(": ") + message;
  noteFailure(p, StatusCode::AssertFailed, std::move(text), site);
}

void nrd_fail_assert(nrd_program *prog, const char *message, uint32_t site) {
  Program &p = programOf(prog);
  noteAssert(p, message, site);
  p.worker->leave(p);
}

} // extern "C"
