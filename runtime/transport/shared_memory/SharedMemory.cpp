// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/shared_memory/SharedMemory.h"

#include "base/FaultGuard.h"
#include "transport/interface/Delivery.h"
#include "transport/shared_memory/Copy.h"

namespace nereid::runtime {

static Status vanished(const char *what) {
  return Status::error(StatusCode::BadAccess, std::string("the memory of a ") + what +
                                                  " is not there any more; it must stay until a "
                                                  "quiet");
}

Status SharedMemory::submit(const Operation &o, Completion &) {
  Delivery delivery(shape, shape.rank, o.pe, o.id, o.tag);
  auto update = [&] {
    return delivery.update(at(o.pe, o.at), o.at, o.op, o.value, o.compare, o.width);
  };
  switch (o.kind) {
  case Operation::Put:
    delivery.beginMove(o.offset, o.bytes, EventRecord::kWrites);
    if (!touches([&] { copyPush(at(o.pe, o.offset), o.source, o.bytes); }))
      return vanished("put");
    delivery.endMove();
    if (o.signals)
      update();
    break;
  case Operation::Get:
    delivery.beginMove(o.offset, o.bytes, EventRecord::kReads);
    if (!touches([&] { copyPull(o.target, at(o.pe, o.offset), o.bytes); }))
      return vanished("get");
    delivery.endMove();
    break;
  case Operation::Update:
    update();
    break;
  case Operation::Fetch:
    *static_cast<uint64_t *>(o.target) = update();
    break;
  }
  return {};
}

Expected<std::unique_ptr<Transport>> make_shared_memory(const TransportShape &shape) {
  return std::unique_ptr<Transport>(std::make_unique<SharedMemory>(shape));
}

} // namespace nereid::runtime
