// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostHeap.h - Heaps in the memory of the host -----------------------===//
#ifndef NEREID_RUNTIME_SYMMETRIC_HOSTHEAP_H
#define NEREID_RUNTIME_SYMMETRIC_HOSTHEAP_H

#include "nereid/runtime/Device.h"

namespace nereid::runtime {

/// A device whose heaps are host memory: files without a name, which the kernel
/// frees when nobody maps them any more.
class HostMemoryDevice : public Device {
public:
  Expected<uint8_t *> reserveHeaps(uint64_t bytes) override;
  void releaseHeaps(uint8_t *at, uint64_t bytes) override;
  Expected<HeapHandle> allocateHeap(uint64_t bytes, int32_t rank) override;
  Status mapHeap(const HeapHandle &heap, uint8_t *at) override;
  void unmapHeap(uint8_t *at, uint64_t bytes) override;
  Expected<void *> allocate(uint64_t bytes) override;
  void release(void *memory) override;
  Status copy(void *to, const void *from, uint64_t bytes) override;
  Status update(void *word, int32_t op, uint64_t value, int32_t bytes) override;
  Expected<uint64_t> read(const void *word, int32_t bytes) override;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_SYMMETRIC_HOSTHEAP_H
