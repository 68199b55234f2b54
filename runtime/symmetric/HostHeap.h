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
  Expected<HeapHandle> allocateHeap(uint64_t bytes) override;
  Status mapHeap(const HeapHandle &heap, uint8_t *at) override;
  void unmapHeap(uint8_t *at, uint64_t bytes) override;
  Status copy(void *to, const void *from, uint64_t bytes) override;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_SYMMETRIC_HOSTHEAP_H
