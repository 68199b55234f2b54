// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "control/memory/MemoryPlane.h"

namespace nereid::runtime {

static Expected<std::shared_ptr<ControlPlane>> planeOf(Expected<std::shared_ptr<Segment>> segment) {
  if (!segment.ok())
    return segment.status();
  return std::shared_ptr<ControlPlane>(std::make_shared<MemoryPlane>(*segment));
}

Expected<std::shared_ptr<ControlPlane>> MemoryPlane::create(int32_t worldSize, uint64_t heapBytes) {
  return planeOf(Segment::create(worldSize, heapBytes));
}

Expected<std::shared_ptr<ControlPlane>> MemoryPlane::attach(int descriptor) {
  return planeOf(Segment::attach(descriptor));
}

Expected<std::shared_ptr<ControlPlane>> MemoryPlane::createAlone() {
  return planeOf(Segment::createPrivate());
}

RankControl MemoryPlane::open(int32_t rank) {
  RankControl out;
  out.node = std::make_unique<MemoryNode>(segment->control(), rank);
  out.job = std::make_unique<MemoryJob>(segment->control(), rank, 0, worldSize());
  return out;
}

void MemoryPlane::announceLauncher() { segment->control().header().hasLauncher.store(1); }

void MemoryPlane::rankEnded(int32_t rank, int waitStatus) {
  segment->control().rankEnded(rank, waitStatus);
}

int32_t MemoryPlane::blamedRank() const { return segment->control().blamedRank(); }

ControlPlaneRow controlPlane_memory() {
  return {"memory",
          /*severalMachines=*/false,
          kSegmentVersion,
          MemoryPlane::create,
          MemoryPlane::attach,
          MemoryPlane::createAlone};
}

} // namespace nereid::runtime
