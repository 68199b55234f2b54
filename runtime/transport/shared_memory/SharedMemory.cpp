// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/shared_memory/SharedMemory.h"

#include "transport/interface/Update.h"
#include "transport/shared_memory/Copy.h"

namespace nereid::runtime {

Status SharedMemory::submit(const Operation &o, Completion &) {
  switch (o.kind) {
  case Operation::Put:
    copyPush(at(o.pe, o.offset), o.source, o.bytes);
    if (o.signals)
      updateWord(at(o.pe, o.at), o.op, o.value, 0, o.width);
    break;
  case Operation::Get:
    copyPull(o.target, at(o.pe, o.offset), o.bytes);
    break;
  case Operation::Update:
    updateWord(at(o.pe, o.at), o.op, o.value, 0, o.width);
    break;
  case Operation::Fetch:
    *static_cast<uint64_t *>(o.target) =
        updateWord(at(o.pe, o.at), o.op, o.value, o.compare, o.width);
    break;
  }
  return {};
}

Expected<std::unique_ptr<Transport>> make_shared_memory(const TransportShape &shape) {
  return std::unique_ptr<Transport>(std::make_unique<SharedMemory>(shape));
}

} // namespace nereid::runtime
