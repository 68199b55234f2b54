// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostTransfers.cpp - Transfers that host code asks for or awaits ----===//
//
// A transfer of host code is complete when the call returns. It has four steps,
// in put and get alike (signals: HostSignals.cpp):
//
// 1. The addresses are checked: the remote one must lie in the symmetric heap,
//   and what lies in a heap in one allocation.
// 2. giveWay(): under a random schedule the host may have to wait for a turn.
// 3. What this rank has under way is completed, so that the call comes after
//   all that its programs have started.
// 4. Direct ranks: the copy itself. Others: an Operation for the transport, and
//   a wait for it that drives the transport meanwhile (TransferWait).
//
// Operations that programs have left under way end in one of three ways:
//
//   letGoOfArguments   a launch ends well: arrays of the user's may go away; the rest stays
//   dropTransfers      a launch ends badly: what has not left is dropped, nobody waits
//   abandonTransfers   recover(): the same, and what has left is awaited, so that nothing
//                      lands in the memory of the job after it
//
//===----------------------------------------------------------------------===//
#include "base/Backoff.h"
#include "symmetric/HostWait.h"
#include "transport/interface/Delivery.h"

namespace nereid::runtime {

Expected<uint64_t> transferOffset(const Job::Impl &job, const char *what, const void *ptr,
                                  uint64_t bytes, int32_t rank) {
  if (Status st = job.refuseCopy(what); !st.ok())
    return st;
  uint64_t offset = 0;
  if (rank < 0 || rank >= job.worldSize)
    return Status::error(StatusCode::BadRank, std::string(what) + ": rank " + std::to_string(rank) +
                                                  " is outside this job of " +
                                                  std::to_string(job.worldSize));
  if (!job.ownOffset(ptr, bytes, offset))
    return Status::error(StatusCode::NotSymmetric,
                         std::string(what) + ": " + std::to_string(bytes) + " bytes at " +
                             job.describe(ptr) + " do not lie in this rank's symmetric heap");
  if (Status st = checkAllocation(job, what, ptr, bytes); !st.ok())
    return st;
  return offset;
}

Status checkAllocation(const Job::Impl &job, const char *what, const void *ptr, uint64_t bytes) {
  uint64_t offset = 0;
  if (bytes == 0 || !job.ownOffset(ptr, 1, offset))
    return {};
  std::shared_lock<std::shared_mutex> guard(job.heapLock);
  if (job.allocationAround(offset, bytes))
    return {};
  guard.unlock();
  return Status::error(StatusCode::BadAccess, job.outsideText(what, ptr, bytes));
}

namespace {
/// The wait for operations that the transport has started.
class TransferWait : public HostWait {
public:
  TransferWait(Job::Impl &job, const Completion &done, const char *cause)
      : HostWait(job), done(done), cause(cause) {}

  std::string what() const override { return std::string(cause) + ", for its transfers"; }
  bool isOver() override {
    job.transport->help();
    return job.transport->finished(done);
  }
  bool needs(int32_t rank) override {
    return (done.pe < 0 || done.pe == rank) && !job.transport->finished({rank, done.number});
  }

protected:
  BlockedGroup account() const override {
    BlockedGroup group;
    group.kind = "host code";
    group.note = "waits for transfers: " + std::string(cause);
    return group;
  }

private:
  const Completion done;
  const char *const cause;
};
} // namespace

Status Job::Impl::awaitTransfer(const Completion &done, const char *what) {
  if (transport->finished(done))
    return {};
  return TransferWait(*this, done, what).run(settings.timeoutSeconds);
}

Status Job::Impl::completeTransfers(const char *what, int32_t pe) {
  Completion done;
  if (transport->quiet(pe, done))
    return {};
  Status status = awaitTransfer(done, what);
  Router::fullFence();
  return status;
}

Status Job::Impl::carryOut(const Operation &operation, const char *what) {
  Observer *watching = observer.load(std::memory_order_acquire);
  if (!watching) [[likely]]
    return perform(operation, what);
  Operation told = operation;
  told.id = nextOperation();
  EventRecord event = issueOf(told, rank);
  event.launch = hostEvent(EventKind::Issue).launch;
  told.tag = watching->before(event, 0);
  Status status = perform(told, what);
  event.end = cheapTicks();
  watching->after(event, told.tag);
  return status;
}

Status Job::Impl::perform(const Operation &operation, const char *what) {
  Completion done;
  if (Status st = transport->engine()->submit(operation, done); !st.ok())
    return Status::error(st.code(), std::string(what) + ": " + st.message(), rank);
  return operation.isAwaited() ? awaitTransfer(done, what) : completeTransfers(what, operation.pe);
}

Status Job::Impl::letGoOfArguments() {
  if (!transport->engine())
    return {};
  Completion done;
  transport->engine()->letGoOfArguments(done);
  return awaitTransfer(done, "the end of a launch");
}

void Job::Impl::dropTransfers() {
  Completion done;
  if (Transport *engine = transport->engine())
    engine->abandon(done);
}

Status Job::Impl::abandonTransfers() {
  if (!transport->engine())
    return {};
  Completion done;
  transport->engine()->abandon(done);
  // What has left this rank can still land; in vain, but not after recover().
  Backoff backoff(maySpin);
  const uint64_t begin = nowNs();
  while (!transport->finished(done)) {
    for (int32_t r = 0; r < worldSize; ++r)
      if (isGone(control.stateOf(r)))
        transport->engine()->drop(r);
    if (settings.timeoutSeconds > 0 && double(nowNs() - begin) * 1e-9 > settings.timeoutSeconds)
      return Status::error(StatusCode::Timeout,
                           "operations of rank " + std::to_string(rank) +
                               " that were under way when the job failed do not end",
                           rank);
    transport->help();
    backoff.step();
  }
  return {};
}

Status Job::put(void *dest, const void *source, uint64_t bytes, int32_t rank) {
  Expected<uint64_t> to = transferOffset(*pimpl, "put", dest, bytes, rank);
  if (!to.ok())
    return to.status();
  if (Status st = checkAllocation(*pimpl, "put", source, bytes); !st.ok())
    return st;
  pimpl->giveWay();
  if (Status st = pimpl->completeTransfers("put"); !st.ok())
    return st;
  const Router &router = *pimpl->transport;
  if (!router.isDirect(rank))
    return pimpl->carryOut(Operation::put(rank, *to, source, bytes, /*nbi=*/false), "put");
  if (!pimpl->device.hasHostMemory())
    return pimpl->device.copy(router.address(rank, *to), source, bytes);
  copyPush(router.address(rank, *to), source, bytes);
  return {};
}

Status Job::get(void *dest, const void *source, uint64_t bytes, int32_t rank) {
  Expected<uint64_t> from = transferOffset(*pimpl, "get", source, bytes, rank);
  if (!from.ok())
    return from.status();
  if (Status st = checkAllocation(*pimpl, "get", dest, bytes); !st.ok())
    return st;
  pimpl->giveWay();
  if (Status st = pimpl->completeTransfers("get"); !st.ok())
    return st;
  const Router &router = *pimpl->transport;
  if (!router.isDirect(rank))
    return pimpl->carryOut(Operation::get(rank, *from, dest, bytes, /*nbi=*/false), "get");
  if (!pimpl->device.hasHostMemory())
    return pimpl->device.copy(dest, router.address(rank, *from), bytes);
  copyPull(dest, router.address(rank, *from), bytes);
  return {};
}

} // namespace nereid::runtime
