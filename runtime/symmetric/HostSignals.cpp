// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostSignals.cpp - Signals that host code sends and waits for -------===//
//
// signal() is a transfer of a word: it follows all that this rank has under way
// (the steps are those of HostTransfers.cpp), and whoever sees the word sees
// what was before it.
//
// waitUntil() looks before it waits. The wait is one of HostWait: listed for
// the search for deadlocks, ended by the failure of the job or by Ctrl-C.
// needs() names no rank: anybody may send a signal, so that a wait for one is
// hopeless only when nobody at all can go on. Under a random schedule the host
// leaves the rounds of turns while it waits (stepAside, comeBack): the programs
// that are to send the signal need them.
//
//===----------------------------------------------------------------------===//
#include "base/Clock.h"
#include "nereid/abi.h"
#include "symmetric/HostWait.h"
#include "symmetric/SignalCondition.h"
#include "symmetric/Turns.h"

namespace nereid::runtime {

/// The value of a signal of 4 bytes is 32 bits, read as a signed or as an unsigned
/// number.
static Status checkFits(const char *what, uint64_t value, int32_t bytes) {
  if (bytes != 4 || value >> 32 == 0 || int64_t(value) == int64_t(int32_t(value)))
    return {};
  return Status::error(StatusCode::InvalidArgument, std::string(what) + ": the value " +
                                                        std::to_string(value) +
                                                        " does not fit a signal of 4 bytes");
}

Expected<uint64_t> signalOffset(const Job::Impl &job, const char *what, const void *signal,
                                uint64_t value, int32_t bytes, int32_t rank) {
  if (bytes != 4 && bytes != 8)
    return Status::error(StatusCode::InvalidArgument, std::string(what) +
                                                          ": a signal has 4 or 8 bytes, not " +
                                                          std::to_string(bytes));
  Expected<uint64_t> at = transferOffset(job, what, signal, uint64_t(bytes), rank);
  if (at.ok() && (*at & uint64_t(bytes - 1)) != 0)
    return Status::error(StatusCode::BadAccess, std::string(what) + ": " + job.describe(signal) +
                                                    " is not aligned to the signal's " +
                                                    std::to_string(bytes) + " bytes");
  if (Status st = checkFits(what, value, bytes); at.ok() && !st.ok())
    return st;
  return at;
}

Status Job::signal(void *signal, uint64_t value, int32_t op, int32_t bytes, int32_t rank) {
  Expected<uint64_t> at = signalOffset(*pimpl, "signal_op", signal, value, bytes, rank);
  if (!at.ok())
    return at.status();
  pimpl->giveWay();
  if (Status st = pimpl->completeTransfers("signal_op"); !st.ok())
    return st;
  const Router &router = *pimpl->transport;
  if (!router.isDirect(rank))
    return pimpl->carryOut(Operation::update(rank, *at, AtomicOp(op), value, bytes), "signal_op");
  if (!pimpl->device.hasHostMemory())
    return pimpl->device.update(router.address(rank, *at), op, value, bytes);
  updateSignal(router.address(rank, *at), value, AtomicOp(op), bytes);
  return {};
}

namespace {
/// The host's wait for a signal of its own rank.
class SignalWait : public HostWait {
public:
  SignalWait(Job::Impl &job, const SignalCondition &condition)
      : HostWait(job), condition(condition) {}

  std::string what() const override { return "signal_wait_until of the host"; }
  /// A device that cannot be read any more lets the wait go on until the job fails.
  bool isOver() override {
    if (job.device.hasHostMemory())
      return condition.holds();
    Expected<uint64_t> word = job.device.read(condition.address, condition.bytes);
    return word.ok() && condition.holdsFor(*word);
  }
  bool needs(int32_t) override { return false; }
  uint64_t seen() const { return condition.seen; }

protected:
  BlockedGroup account() const override {
    BlockedGroup group;
    group.kind = "host wait";
    condition.describe(job, group);
    return group;
  }

private:
  SignalCondition condition;
};
} // namespace

Status Job::waitUntil(const void *signal, int32_t comparison, uint64_t value, int32_t bytes,
                      bool isSigned) {
  if (comparison < 0 || comparison > NRD_CMP_GE)
    return Status::error(StatusCode::InvalidArgument,
                         "signal_wait_until: unknown comparison " + std::to_string(comparison));
  Expected<uint64_t> offset =
      signalOffset(*pimpl, "signal_wait_until", signal, value, bytes, rank());
  if (!offset.ok())
    return offset.status();
  const uint8_t *at = pimpl->transport->address(rank(), *offset);
  SignalCondition condition;
  condition.setWord(at, comparison, value, bytes, isSigned);
  SignalWait wait(*pimpl, condition);
  Observer *watching = pimpl->observer.load(std::memory_order_acquire);
  EventRecord event = pimpl->hostEvent(EventKind::Wait);
  auto tell = [&] {
    if (!watching) [[likely]]
      return;
    event.offset = *offset;
    event.pe = event.rank;
    event.bytes = uint64_t(bytes);
    event.width = uint8_t(bytes);
    event.how = uint8_t(comparison);
    event.flags = EventRecord::kReads | (isSigned ? 0 : EventRecord::kUnsigned);
    event.value = wait.seen();
    event.end = cheapTicks();
    watching->after(event, 0);
  };
  if (wait.isOver()) {
    tell();
    return {};
  }
  Turns *turns = pimpl->turns.get();
  pimpl->enter(RankState::HostWait);
  if (turns)
    turns->stepAside();
  Status status = wait.run(pimpl->settings.timeoutSeconds);
  if (turns)
    turns->comeBack();
  if (!status.ok() && worldSize() == 1) {
    // Another thread that waits has yet to see the failure.
    std::unique_lock<std::mutex> guard(pimpl->stateLock);
    bool alone = pimpl->launching == 0 && pimpl->hostWaiting == 1;
    guard.unlock();
    if (alone)
      pimpl->resetFailure();
  }
  pimpl->leave(RankState::HostWait);
  if (status.ok())
    tell();
  return status;
}

} // namespace nereid::runtime
