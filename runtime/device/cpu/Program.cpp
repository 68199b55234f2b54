// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device/cpu/Program.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace nereid::runtime {

/// sysconf is too slow to be asked for every program.
static size_t pageBytes() {
  static const size_t bytes = size_t(sysconf(_SC_PAGESIZE));
  return bytes;
}

bool Program::reserveStack(size_t bytes) {
  const size_t page = pageBytes();
  bytes = (bytes + page - 1) / page * page;
  if (stackBase && stackBytes == bytes)
    return true;
  if (stackBase) {
    munmap(stackBase - page, stackBytes + page);
    stackBase = nullptr;
  }
  void *at = mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (at == MAP_FAILED)
    return false;
  // An overflow must crash instead of writing into the next stack.
  if (mprotect(at, page, PROT_NONE) != 0) {
    munmap(at, bytes + page);
    return false;
  }
  stackBase = static_cast<uint8_t *>(at) + page;
  stackBytes = bytes;
  return true;
}

bool Program::reserveScratch(uint64_t bytes) {
  if (bytes > scratchBytes) {
    std::free(scratch);
    scratch = nullptr;
    scratchBytes = 0;
    // Whole pages keep the tiles of different programs off each other's lines.
    uint64_t rounded = (bytes + 4095) / 4096 * 4096;
    scratch = static_cast<uint8_t *>(std::aligned_alloc(4096, rounded));
    if (!scratch)
      return false;
    scratchBytes = rounded;
  }
  if (bytes > 0) // then there is a page at least
    std::memset(scratch, 0, NRD_SCRATCH_HEAD);
  return true;
}

Program::~Program() {
  if (stackBase) {
    const size_t page = pageBytes();
    munmap(stackBase - page, stackBytes + page);
  }
  std::free(scratch);
}

} // namespace nereid::runtime
