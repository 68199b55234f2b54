// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Staging.cpp - Copies around a launch on a device -------------------===//
//
//   host     ▒▒▒▒ a ▒▒▒▒           ▒▒ c ▒▒         arrays, some of which overlap
//               ▒▒▒▒ b ▒▒▒▒
//           └──── range 1 ───┘    └ range 2┘      what overlaps is copied as one
//   device  one allocation, each range at its place modulo kBlock
//
// Copying ranges rather than arrays keeps two things true that a kernel may
// rely on: two arguments that share bytes share them on the device, and an
// address keeps its divisibility (up to kBlock), which is part of the kernel's
// key and was read from the address on the host. A range is copied back unless
// all arrays in it are only read.
//
// The memory of the last launch is kept for the next one, so that a loop of
// launches does not allocate on the device each time.
//
//===----------------------------------------------------------------------===//
#include "Staging.h"
#include "ArrayView.h"

#include <algorithm>
#include <mutex>

using namespace nereid;
using namespace nereid::python;
using runtime::Status;

/// Addresses keep their place in blocks of this size, and so what is known of their
/// alignment.
static constexpr uint64_t kBlock = 256;

namespace {
/// The memory of the last launch, for the next one.
struct Spare {
  std::mutex lock;
  runtime::Device *device = nullptr;
  uint8_t *memory = nullptr;
  uint64_t bytes = 0;

  static Spare &get() {
    static Spare &instance = *new Spare; // threads may end after static objects
    return instance;
  }
};
} // namespace

Staging::~Staging() {
  if (!memory)
    return;
  Spare &spare = Spare::get();
  {
    std::lock_guard<std::mutex> guard(spare.lock);
    if (!spare.memory || (spare.device == &device && spare.bytes < bytes)) {
      std::swap(spare.memory, memory);
      std::swap(spare.bytes, bytes);
      spare.device = &device;
    }
  }
  if (memory)
    device.release(memory);
}

bool Staging::add(PyObject *array, uint64_t &slot, bool readOnly) {
  ArrayLayout layout;
  if (!readLayout(array, layout))
    return false;
  if (layout.kind != ArrayLayout::Kind::Symmetric)
    slots.push_back({&slot, layout.begin, layout.end, readOnly});
  return true;
}

Status Staging::copyIn() {
  for (const Slot &slot : slots)
    ranges.push_back({slot.begin, slot.end, slot.readOnly});
  std::sort(ranges.begin(), ranges.end(),
            [](const Range &a, const Range &b) { return a.begin < b.begin; });
  // What overlaps becomes one.
  size_t last = 0;
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].begin < ranges[last].end) {
      ranges[last].end = std::max(ranges[last].end, ranges[i].end);
      ranges[last].readOnly = ranges[last].readOnly && ranges[i].readOnly;
    } else {
      ranges[++last] = ranges[i];
    }
  ranges.resize(last + 1);

  std::vector<uint64_t> places;
  uint64_t needed = 0;
  for (const Range &range : ranges) {
    places.push_back(needed + range.begin % kBlock);
    needed = (places.back() + (range.end - range.begin) + kBlock) / kBlock * kBlock;
  }
  {
    Spare &spare = Spare::get();
    std::lock_guard<std::mutex> guard(spare.lock);
    if (spare.device == &device && spare.bytes >= needed) {
      std::swap(memory, spare.memory);
      std::swap(bytes, spare.bytes);
    }
  }
  if (!memory) {
    runtime::Expected<void *> made = device.allocate(needed);
    if (!made.ok())
      return made.status();
    memory = static_cast<uint8_t *>(*made);
    bytes = needed;
  }
  for (size_t i = 0; i < ranges.size(); ++i) {
    Range &range = ranges[i];
    range.copy = memory + places[i];
    if (range.begin == range.end)
      continue;
    if (Status st = device.copy(range.copy, reinterpret_cast<const void *>(range.begin),
                                range.end - range.begin);
        !st.ok())
      return st;
  }
  for (const Slot &slot : slots) {
    auto range = std::upper_bound(ranges.begin(), ranges.end(), slot.begin,
                                  [](uint64_t at, const Range &r) { return at < r.begin; }) -
                 1;
    *slot.slot = uint64_t(reinterpret_cast<uintptr_t>(range->copy)) + (*slot.slot - range->begin);
  }
  return {};
}

Status Staging::copyOut() {
  for (const Range &range : ranges)
    if (!range.readOnly && range.begin != range.end)
      if (Status st = device.copy(reinterpret_cast<void *>(range.begin), range.copy,
                                  range.end - range.begin);
          !st.ok())
        return st;
  return {};
}
