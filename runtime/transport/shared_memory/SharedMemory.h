// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SharedMemory.h - Heaps that are mapped here ------------------------===//
//
// An operation is a copy or an atomic instruction of the calling thread, and
// carried out when the call returns. The Router does the same by itself, inline,
// for ranks of the own node; this class serves ranks that programs must not
// reach, and whatever wraps another transport.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_TRANSPORT_SHARED_MEMORY_SHAREDMEMORY_H
#define NEREID_RUNTIME_TRANSPORT_SHARED_MEMORY_SHAREDMEMORY_H

#include "transport/interface/Transport.h"

namespace nereid::runtime {

class SharedMemory final : public Transport {
public:
  explicit SharedMemory(const TransportShape &shape) : shape(shape) {}

  Expected<std::string> expose() override { return std::string(); }
  void withdraw() override {}
  Status submit(const Operation &operation, Completion &done) override;
  bool hasRoom(int32_t) const override { return true; }
  bool finished(const Completion &) const override { return true; }
  void fence(int32_t) override {}
  void quiet(int32_t, Completion &) override {}
  bool progress() override { return false; }
  void letGoOfArguments(Completion &) override {}
  void abandon(Completion &) override {}
  void drop(int32_t) override {}

private:
  uint8_t *at(int32_t pe, uint64_t offset) const {
    uint8_t *base = pe == shape.rank ? shape.heaps : shape.mapped;
    return base + uint64_t(pe) * shape.heapBytes + offset;
  }

  const TransportShape shape;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_TRANSPORT_SHARED_MEMORY_SHAREDMEMORY_H
