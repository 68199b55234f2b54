// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HeapAllocator.h - Offsets inside the symmetric heaps ---------------===//
//
// Every rank runs the same allocator over its own copy of the book-keeping:
// the collective calls are checked to be the same on all ranks, so the offsets
// come out the same without any of it being shared.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_SYMMETRIC_HEAPALLOCATOR_H
#define NEREID_RUNTIME_SYMMETRIC_HEAPALLOCATOR_H

#include "nereid/runtime/Job.h"

#include <map>

namespace nereid::runtime {

/// First fit over free ranges that are merged again when freed. Not
/// thread-safe.
class HeapAllocator {
public:
  explicit HeapAllocator(uint64_t heapBytes);

  /// Offset, or nothing when no free range is large enough.
  std::optional<uint64_t> allocate(uint64_t bytes, const AllocationInfo &info);
  /// False when `offset` is not the start of a live allocation.
  bool free(uint64_t offset);
  /// The live allocation around `offset`. A position one past the end belongs
  /// to none.
  const Allocation *find(uint64_t offset) const;
  /// The last allocation that starts at or before `offset`.
  const Allocation *findBefore(uint64_t offset) const;
  std::vector<Allocation> list() const;
  uint64_t used() const { return usedBytes; }
  uint64_t capacity() const { return heapBytes; }
  uint64_t largestFree() const;
  /// Same on two ranks exactly when their book-keeping agrees.
  uint64_t hash() const;

private:
  struct Block {
    Allocation allocation;
    uint64_t reserved; ///< bytes taken, rounded up
  };

  uint64_t heapBytes;
  uint64_t usedBytes = 0;
  std::map<uint64_t, uint64_t> freeRanges; ///< offset -> bytes
  std::map<uint64_t, Block> live;
};

/// "12 MiB", "640 bytes"
std::string sizeText(uint64_t bytes);
/// "'a' float16 (4, 8)", or "an allocation" without any text.
std::string infoText(const AllocationInfo &info);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_SYMMETRIC_HEAPALLOCATOR_H
