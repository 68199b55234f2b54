// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryPlane.h - The plane of jobs on one machine -------------------===//
#ifndef NEREID_RUNTIME_CONTROL_MEMORY_MEMORYPLANE_H
#define NEREID_RUNTIME_CONTROL_MEMORY_MEMORYPLANE_H

#include "control/machine/MemoryJob.h"
#include "control/machine/Segment.h"

namespace nereid::runtime {

class MemoryPlane final : public ControlPlane {
public:
  explicit MemoryPlane(std::shared_ptr<Segment> segment) : segment(std::move(segment)) {}

  static Expected<std::shared_ptr<ControlPlane>> create(int32_t worldSize, uint64_t heapBytes);
  static Expected<std::shared_ptr<ControlPlane>> attach(int descriptor);
  static Expected<std::shared_ptr<ControlPlane>> createAlone();

  int32_t worldSize() const override { return segment->worldSize(); }
  int32_t ranksPerMachine() const override { return segment->worldSize(); }
  uint64_t heapBytes() const override { return segment->heapBytes(); }
  RankControl open(int32_t rank) override;
  uint8_t *heapBase() const override { return segment->heapBase(); }
  uint8_t *reachBase() const override { return segment->reachBase(); }
  Status isolate(int32_t first, int32_t count, bool keepReach) override {
    return segment->isolate(first, count, keepReach);
  }
  uint64_t identity() const override { return segment->identity(); }
  void readAreasBy(std::function<uint64_t(const std::byte *)>) override {}
  int descriptor() const override { return segment->descriptor(); }
  void announceLauncher() override;
  void rankEnded(int32_t rank, int waitStatus) override;
  int32_t blamedRank() const override;

private:
  const std::shared_ptr<Segment> segment;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_CONTROL_MEMORY_MEMORYPLANE_H
