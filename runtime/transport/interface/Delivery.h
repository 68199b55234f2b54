// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Delivery.h - Carries operations out, and says so -------------------===//
//
// What a transport does to memory goes through here, so that the observer of the
// rank hears of it. Without one it is the copy or the instruction alone.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_TRANSPORT_INTERFACE_DELIVERY_H
#define NEREID_RUNTIME_TRANSPORT_INTERFACE_DELIVERY_H

#include "base/Clock.h"
#include "nereid/runtime/Events.h"
#include "transport/interface/Transport.h"
#include "transport/interface/Update.h"

namespace nereid::runtime {

/// The event of `operation` being asked for, by `rank`; who asks, and where, is the
/// caller's to add.
inline EventRecord issueOf(const Operation &o, int32_t rank) {
  EventRecord event;
  event.kind = EventKind::Issue;
  event.begin = event.end = cheapTicks();
  event.id = o.id;
  event.rank = int16_t(rank);
  event.pe = int16_t(o.pe);
  const bool moves = o.kind == Operation::Put || o.kind == Operation::Get;
  event.offset = moves ? o.offset : o.at;
  event.bytes = moves ? o.bytes : o.width;
  event.value = o.kind == Operation::Put   ? reinterpret_cast<uint64_t>(o.source)
                : o.kind == Operation::Get ? reinterpret_cast<uint64_t>(o.target)
                                           : o.value;
  event.width = o.width;
  event.how = uint8_t(o.op);
  const bool reads = o.kind == Operation::Get || o.kind == Operation::Fetch;
  const bool writes = o.kind != Operation::Get && !(moves ? false : o.op == AtomicOp::Fetch);
  event.flags =
      uint8_t((reads ? EventRecord::kReads : 0) | (writes ? EventRecord::kWrites : 0) |
              (o.nbi ? EventRecord::kNonBlocking : 0) | (o.signals ? EventRecord::kSignals : 0) |
              (o.kind == Operation::Fetch ? EventRecord::kFetches : 0) | o.scope << 6);
  return event;
}

/// The part of one operation that this process carries out.
class Delivery {
public:
  /// For an operation of `rank` on memory of `pe`.
  Delivery(const TransportShape &shape, int32_t rank, int32_t pe, uint32_t id, uint64_t tag)
      : observer(shape.watching()), tag(tag) {
    event.rank = int16_t(rank);
    event.pe = int16_t(pe);
    event.id = id;
  }

  /// `bytes` bytes at `offset` are about to be moved; `flag` is kReads or kWrites.
  void beginMove(uint64_t offset, uint64_t bytes, EventRecord::Flag flag) {
    if (!observer || bytes == 0) [[likely]]
      return;
    event.kind = EventKind::Transfer;
    event.begin = event.end = cheapTicks();
    event.offset = offset;
    event.bytes = bytes;
    event.flags = flag;
    observer->before(event, tag);
  }
  /// They have been.
  void endMove() {
    if (!observer || event.kind != EventKind::Transfer) [[likely]]
      return;
    event.end = cheapTicks();
    observer->after(event, tag);
  }
  /// Changes the word at `word`, which is `offset` of the heap; the old value.
  uint64_t update(uint8_t *word, uint64_t offset, AtomicOp op, uint64_t value, uint64_t compare,
                  int32_t width) {
    if (!observer) [[likely]]
      return updateWord(word, op, value, compare, width);
    event.kind = EventKind::Update;
    event.begin = event.end = cheapTicks();
    event.offset = offset;
    event.bytes = uint64_t(width);
    event.width = uint8_t(width);
    event.how = uint8_t(op);
    event.flags =
        op == AtomicOp::Fetch ? EventRecord::kReads : EventRecord::kReads | EventRecord::kWrites;
    event.value = value;
    observer->before(event, tag);
    const uint64_t old = updateWord(word, op, value, compare, width);
    event.value = valueAfter(op, old, value, compare, width);
    event.end = cheapTicks();
    observer->after(event, tag);
    return old;
  }

private:
  Observer *const observer;
  const uint64_t tag;
  EventRecord event;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_TRANSPORT_INTERFACE_DELIVERY_H
