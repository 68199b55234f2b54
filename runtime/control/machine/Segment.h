// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Segment.h - The memory that all ranks of a job map -----------------===//
#ifndef NEREID_RUNTIME_CONTROL_MACHINE_SEGMENT_H
#define NEREID_RUNTIME_CONTROL_MACHINE_SEGMENT_H

#include "control/machine/ControlBlock.h"
#include "nereid/runtime/Status.h"

#include <memory>

namespace nereid::runtime {

/// A mapped segment. The file has no name: the kernel frees it when the last
/// process that maps it or holds its descriptor is gone, however that went.
class Segment {
public:
  /// A new memfd for `worldSize` ranks, mapped here, with so many control blocks. The
  /// descriptor is close-on-exec.
  static Expected<std::shared_ptr<Segment>> create(int32_t worldSize, uint64_t heapBytes,
                                                   int32_t blocks = 1);
  /// Maps a segment that another process made. Takes over `fd`.
  static Expected<std::shared_ptr<Segment>> attach(int fd);
  /// Control pages of a world of one without a heap, in private memory.
  static Expected<std::shared_ptr<Segment>> createPrivate();

  ~Segment();
  Segment(const Segment &) = delete;
  Segment &operator=(const Segment &) = delete;

  ControlBlock control(int32_t block = 0) const {
    return ControlBlock(base + uint64_t(block) * header().controlBytes / uint64_t(header().blocks));
  }
  int32_t blocks() const { return header().blocks; }
  int32_t worldSize() const { return control().header().worldSize; }
  uint64_t heapBytes() const { return control().header().heapBytes; }
  /// Null when there are no heaps.
  uint8_t *heapBase() const { return heaps; }
  /// Where a transport finds rank 0's heap: another mapping of the same heaps
  /// after isolate(), or none, else heapBase().
  uint8_t *reachBase() const { return isolated ? reach : heaps; }
  /// Makes the heaps at heapBase() inaccessible except those of `count` ranks
  /// from `first` on. With `keepReach` there is another mapping of all of them.
  Status isolate(int32_t first, int32_t count, bool keepReach);
  /// A number that no other segment of this machine has.
  uint64_t identity() const;
  int descriptor() const { return fd; }

private:
  Segment() = default;
  JobHeader &header() const { return ControlBlock(base).header(); }
  Status map(uint64_t controlBytes, uint64_t heapsBytes, uint64_t guardBytes);

  int fd = -1;
  uint8_t *base = nullptr;
  uint8_t *heaps = nullptr;
  uint8_t *reach = nullptr;
  bool isolated = false;
  uint64_t mappedBytes = 0;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_CONTROL_MACHINE_SEGMENT_H
