// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "symmetric/HostHeap.h"

#include "base/Process.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace nereid::runtime {

Expected<HeapHandle> HostMemoryDevice::allocateHeap(uint64_t bytes) {
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

Status HostMemoryDevice::copy(void *to, const void *from, uint64_t bytes) {
  std::memmove(to, from, bytes);
  return {};
}

} // namespace nereid::runtime
