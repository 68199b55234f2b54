// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SegmentPlane.h - A control plane whose memory is a segment -*- C++ -*-===//
#ifndef NEREID_RUNTIME_CONTROL_MACHINE_SEGMENTPLANE_H
#define NEREID_RUNTIME_CONTROL_MACHINE_SEGMENTPLANE_H

#include "control/interface/ControlPlane.h"
#include "control/machine/Segment.h"

#include <memory>
#include <utility>

namespace nereid::runtime {

/// What all planes whose heaps lie in a segment of this machine answer alike.
class SegmentPlane : public ControlPlane {
public:
  int32_t worldSize() const final { return segment->worldSize(); }
  uint64_t heapBytes() const final { return segment->heapBytes(); }
  uint8_t *heapBase() const final { return segment->heapBase(); }
  uint8_t *reachBase() const final { return segment->reachBase(); }
  Status isolate(int32_t first, int32_t count, bool keepReach) final {
    return segment->isolate(first, count, keepReach);
  }
  uint64_t identity() const final { return segment->identity(); }
  int descriptor() const final { return segment->descriptor(); }

protected:
  explicit SegmentPlane(std::shared_ptr<Segment> segment) : segment(std::move(segment)) {}

  const std::shared_ptr<Segment> segment;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_CONTROL_MACHINE_SEGMENTPLANE_H
