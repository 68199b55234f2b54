// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Transfers.cpp - Operations that are not carried out at once --------===//
//
// Entry points come here with what is not a load or a store of theirs: they
// submit an operation to the engine of the transport and, when it brings
// something, wait for it as for a signal. A program that is a fiber gives way;
// one that runs on its worker's stack keeps it and looks around from there.
//
//===----------------------------------------------------------------------===//
#include "base/FaultGuard.h"
#include "device/cpu/EntryPoints.h"

namespace nereid::runtime {

/// False, with a failure noted, when the rank cannot be reached.
static bool start(Program &p, const Operation &operation, Completion &done, const char *what) {
  Status status = p.transport->engine()->submit(operation, done);
  if (status.ok())
    return true;
  noteFailure(p, status.code(), std::string(what) + ": " + status.message(), p.site);
  return false;
}

static void await(Program &p, WaitCondition::Kind kind, const Completion &transfer,
                  const char *what) {
  p.condition.kind = kind;
  p.condition.transfer = transfer;
  if (transferReady(*p.transport, p.condition))
    return;
  p.waitName = what;
  if (p.fiber)
    blockProgram(p, what, p.site);
  else
    p.worker->waitInPlace();
}

static void perform(Program &p, const Operation &operation, const char *what) {
  // A bad address is an error of the program that passed it, here and now.
  if (operation.kind == Operation::Put)
    readPages(operation.source, operation.bytes);
  else if (uint64_t inHeap; operation.kind == Operation::Get &&
                            !p.launch->job.ownOffset(operation.target, operation.bytes, inHeap))
    writePages(operation.target, operation.bytes);
  await(p, WaitCondition::Room, {operation.pe, 0}, what);
  Completion done;
  if (!start(p, operation, done, what))
    p.worker->leave(p);
  if (operation.isAwaited())
    await(p, WaitCondition::Transfer, done, what);
}

void carryOut(Program &p, const Operation &operation, const char *what) {
  if (!p.observer) [[likely]]
    return perform(p, operation, what);
  Operation told = operation;
  EventRecord event = tellIssue(p, told);
  perform(p, told, what);
  tellAfter(p, event, told.tag);
}

void getElsewhere(Program &p, int32_t pe, uint64_t offset, void *dest, uint64_t bytes, bool nbi,
                  const char *what) {
  carryOut(p, Operation::get(pe, offset, dest, bytes, nbi), what);
}

void updateElsewhere(Program &p, int32_t pe, uint64_t offset, AtomicOp op, uint64_t value,
                     int32_t bytes, const char *what, uint8_t scope) {
  Operation operation = Operation::update(pe, offset, op, value, bytes);
  operation.scope = scope;
  carryOut(p, operation, what);
}

uint64_t fetchElsewhere(Program &p, int32_t pe, uint64_t offset, AtomicOp op, uint64_t value,
                        uint64_t compare, int32_t bytes, const char *what) {
  carryOut(p, Operation::fetch(pe, offset, op, value, compare, bytes, &p.fetched), what);
  return p.fetched;
}

void completeElsewhere(Program &p, const char *what, int32_t pe) {
  Router &router = *p.transport;
  if (p.launch->random && pe < 0) {
    // One by one, so that others see what is done and what is not.
    Worker &worker = *p.worker;
    worker.maybeYield(p);
    for (uint64_t n = router.held(); n > 0; --n) {
      if (!router.deliver(worker.nextRandom()))
        break;
      worker.noteActivity();
      if (p.fiber && worker.nextRandom() % 2)
        worker.yieldFrom(p, ProgramState::Ready);
    }
  }
  Completion done;
  if (!router.quiet(pe, done)) {
    await(p, WaitCondition::Transfer, done, what);
    Router::fullFence();
  }
  p.worker->maybeYield(p);
}

} // namespace nereid::runtime
