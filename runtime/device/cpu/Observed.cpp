// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device/cpu/Observed.h"

#include "device/cpu/LaunchState.h"
#include "device/cpu/Worker.h"
#include "transport/interface/Delivery.h"

namespace nereid::runtime {

EventRecord eventOf(const Program &p, EventKind kind) {
  EventRecord event;
  event.kind = kind;
  event.begin = event.end = cheapTicks();
  event.launch = uint32_t(p.launch->number);
  event.program = uint32_t(p.linear);
  event.site = p.site;
  event.rank = int16_t(p.abi.rank);
  return event;
}

void setPlace(EventRecord &event, const Program &p, const void *at, uint64_t bytes) {
  event.bytes = bytes;
  const uint64_t from = uint64_t(static_cast<const uint8_t *>(at) - p.abi.heap_base);
  if (!p.abi.heap_bytes || from / p.abi.heap_bytes >= uint64_t(p.abi.num_ranks))
    return;
  event.pe = int16_t(from / p.abi.heap_bytes);
  event.offset = from % p.abi.heap_bytes;
}

void tellAfter(const Program &p, EventRecord &event, uint64_t tag) {
  event.end = cheapTicks();
  p.observer->after(event, tag);
}

void runObserved(Program &p) {
  EventRecord event = eventOf(p, EventKind::Program);
  event.id = p.worker->index;
  const uint64_t tag = p.observer->before(event, 0);
  p.launch->kernel.function(&p.abi, p.launch->spec.args);
  tellAfter(p, event, tag);
}

void tellRun(const Program &p) {
  EventRecord event = eventOf(p, EventKind::Run);
  event.id = p.worker->index;
  event.begin = p.resumedAt;
  tellAfter(p, event);
}

void tellBlocked(const Program &p, uint32_t site) {
  const SignalCondition &c = p.condition.signal;
  EventRecord event = eventOf(p, EventKind::Wait);
  event.site = site;
  event.width = c.bytes;
  event.how = c.comparison;
  event.flags = EventRecord::kReads | (c.isSigned ? 0 : EventRecord::kUnsigned);
  event.value = c.value;
  setPlace(event, p, c.address, c.bytes);
  p.observer->before(event, 0);
}

void tellWait(const Program &p, uint64_t begin, uint8_t slot) {
  const SignalCondition &c = p.condition.signal;
  EventRecord event = eventOf(p, EventKind::Wait);
  event.id = slot;
  event.begin = begin;
  event.width = c.bytes;
  event.how = c.comparison;
  event.flags = EventRecord::kReads | (c.isSigned ? 0 : EventRecord::kUnsigned);
  for (int32_t i = 0; i < c.count; ++i) {
    // Of several words all but the last are known by what was waited for.
    event.value = i + 1 < c.count ? c.value : c.seen;
    setPlace(event, p, c.address - uint64_t(c.next - i) * c.stride, c.bytes);
    tellAfter(p, event);
  }
}

void tellFence(const Program &p, int32_t pe, bool completes) {
  EventRecord event = eventOf(p, EventKind::Fence);
  event.pe = int16_t(pe);
  event.flags = completes ? EventRecord::kCompletes : 0;
  tellAfter(p, event);
}

void tellPoll(Program &p, bool first) {
  if (first)
    tellPolls(p);
  ++p.polls;
}

void tellPolls(Program &p) {
  if (p.polls == 0)
    return;
  EventRecord event = eventOf(p, EventKind::Poll);
  event.begin = p.pollsSince;
  event.value = p.polls;
  p.polls = 0;
  tellAfter(p, event);
}

void tellShare(const Program &p, bool gives, uint64_t number) {
  EventRecord event = eventOf(p, EventKind::Share);
  event.flags = gives ? EventRecord::kWrites : EventRecord::kReads;
  event.value = number;
  tellAfter(p, event);
}

EventRecord tellIssue(const Program &p, Operation &operation) {
  operation.id = p.launch->job.nextOperation();
  EventRecord event = issueOf(operation, p.abi.rank);
  event.launch = uint32_t(p.launch->number);
  event.program = uint32_t(p.linear);
  event.site = p.site;
  operation.tag = p.observer->before(event, 0);
  return event;
}

} // namespace nereid::runtime
