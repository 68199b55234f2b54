// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "symmetric/HostHeap.h"

#include "base/Process.h"
#include "transport/interface/Update.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace nereid::runtime {

Expected<uint8_t *> HostMemoryDevice::reserveHeaps(uint64_t bytes) {
  void *at = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    return systemError("cannot reserve addresses for heaps", errno);
  return static_cast<uint8_t *>(at);
}

void HostMemoryDevice::releaseHeaps(uint8_t *at, uint64_t bytes) { munmap(at, bytes); }

Expected<HeapHandle> HostMemoryDevice::allocateHeap(uint64_t bytes, int32_t) {
  HeapHandle heap;
  heap.bytes = bytes;
  heap.descriptor = memfd_create("nereid-heap", MFD_CLOEXEC);
  if (heap.descriptor < 0)
    return systemError("memfd_create", errno);
  if (ftruncate(heap.descriptor, off_t(bytes)) != 0) {
    int error = errno;
    close(heap.descriptor);
    return systemError("cannot size a heap", error);
  }
  return heap;
}

Status HostMemoryDevice::mapHeap(const HeapHandle &heap, uint8_t *at) {
  if (mmap(at, heap.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED,
           heap.descriptor, off_t(heap.offset)) == MAP_FAILED)
    return systemError("cannot map a heap", errno);
  // A crash of one rank must not write all heaps into its core file.
  madvise(at, heap.bytes, MADV_DONTDUMP);
  return {};
}

void HostMemoryDevice::unmapHeap(uint8_t *at, uint64_t bytes) {
  mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

Expected<void *> HostMemoryDevice::allocate(uint64_t bytes) {
  constexpr uint64_t alignment = 256;
  if (void *memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment))
    return memory;
  return Status::error(StatusCode::OutOfMemory,
                       "cannot have " + std::to_string(bytes) + " bytes of memory");
}

void HostMemoryDevice::release(void *memory) { std::free(memory); }

Status HostMemoryDevice::copy(void *to, const void *from, uint64_t bytes) {
  std::memmove(to, from, bytes);
  return {};
}

Status HostMemoryDevice::update(void *word, int32_t op, uint64_t value, int32_t bytes) {
  updateSignal(static_cast<uint8_t *>(word), value, AtomicOp(op), bytes);
  return {};
}

Expected<uint64_t> HostMemoryDevice::read(const void *word, int32_t bytes) {
  return bytes == 4 ? __atomic_load_n(static_cast<const uint32_t *>(word), __ATOMIC_ACQUIRE)
                    : __atomic_load_n(static_cast<const uint64_t *>(word), __ATOMIC_ACQUIRE);
}

} // namespace nereid::runtime
