// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryPlane.h - The plane of jobs on one machine -------------------===//
#ifndef NEREID_RUNTIME_CONTROL_MEMORY_MEMORYPLANE_H
#define NEREID_RUNTIME_CONTROL_MEMORY_MEMORYPLANE_H

#include "control/machine/MemoryJob.h"
#include "control/machine/SegmentPlane.h"

namespace nereid::runtime {

class MemoryPlane final : public SegmentPlane {
public:
  explicit MemoryPlane(std::shared_ptr<Segment> segment) : SegmentPlane(std::move(segment)) {}

  static Expected<std::shared_ptr<ControlPlane>> create(int32_t worldSize, uint64_t heapBytes);
  static Expected<std::shared_ptr<ControlPlane>> attach(int descriptor);
  static Expected<std::shared_ptr<ControlPlane>> createAlone();

  int32_t ranksPerMachine() const override { return segment->worldSize(); }
  RankControl open(int32_t rank) override;
  void readAreasBy(std::function<uint64_t(const std::byte *)>) override {}
  void announceLauncher() override;
  void rankEnded(int32_t rank, int waitStatus) override;
  int32_t blamedRank() const override;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_CONTROL_MEMORY_MEMORYPLANE_H
