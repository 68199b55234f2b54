// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HeapAllocator.cpp - First fit over ranges --------------------------===//
//
// Free ranges and live blocks are two maps by offset, together all of the heap,
// with no two free ranges that touch. Sizes are rounded up to cache lines; what
// has a page or more begins at a page. The gap that this leaves in front stays
// a free range of its own and is merged again like any other.
//
// First fit by offset, and nothing cleverer: all ranks must come to the same
// offset, so the choice may depend on the calls alone, never on time, threads
// or addresses.
//
//===----------------------------------------------------------------------===//
#include "symmetric/HeapAllocator.h"

#include "base/Random.h"
#include <cstdio>

namespace nereid::runtime {

/// Lines are what caches share; large tiles also want whole pages.
static constexpr uint64_t kLine = 64;
static constexpr uint64_t kPage = 4096;

static uint64_t roundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

HeapAllocator::HeapAllocator(uint64_t heapBytes) : heapBytes(heapBytes) {
  if (heapBytes)
    freeRanges.emplace(0, heapBytes);
}

std::optional<uint64_t> HeapAllocator::allocate(uint64_t bytes, const AllocationInfo &info) {
  uint64_t align = bytes >= kPage ? kPage : kLine;
  if (bytes > heapBytes)
    return std::nullopt;
  uint64_t reserved = roundUp(bytes ? bytes : 1, kLine);
  for (auto it = freeRanges.begin(); it != freeRanges.end(); ++it) {
    uint64_t begin = it->first, end = begin + it->second;
    uint64_t at = roundUp(begin, align);
    if (at + reserved > end)
      continue;
    freeRanges.erase(it);
    if (at > begin)
      freeRanges.emplace(begin, at - begin);
    if (at + reserved < end)
      freeRanges.emplace(at + reserved, end - at - reserved);
    live.emplace(at, Block{{at, bytes, info}, reserved});
    usedBytes += reserved;
    return at;
  }
  return std::nullopt;
}

bool HeapAllocator::free(uint64_t offset) {
  auto it = live.find(offset);
  if (it == live.end())
    return false;
  uint64_t bytes = it->second.reserved;
  usedBytes -= bytes;
  live.erase(it);
  auto next = freeRanges.upper_bound(offset);
  if (next != freeRanges.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      offset = previous->first;
      bytes += previous->second;
      freeRanges.erase(previous);
    }
  }
  if (next != freeRanges.end() && offset + bytes == next->first) {
    bytes += next->second;
    freeRanges.erase(next);
  }
  freeRanges.emplace(offset, bytes);
  return true;
}

const Allocation *HeapAllocator::findBefore(uint64_t offset) const {
  auto it = live.upper_bound(offset);
  if (it == live.begin())
    return nullptr;
  return &std::prev(it)->second.allocation;
}

const Allocation *HeapAllocator::find(uint64_t offset) const {
  const Allocation *a = findBefore(offset);
  return a && offset < a->offset + a->bytes ? a : nullptr;
}

std::vector<Allocation> HeapAllocator::list() const {
  std::vector<Allocation> out;
  for (const auto &entry : live)
    out.push_back(entry.second.allocation);
  return out;
}

uint64_t HeapAllocator::largestFree() const {
  uint64_t best = 0;
  for (const auto &range : freeRanges)
    best = std::max(best, range.second);
  return best;
}

uint64_t HeapAllocator::hash() const {
  uint64_t hash = kHashStart;
  for (const auto &entry : live)
    hash = mixHash(mixHash(hash, entry.first), entry.second.allocation.bytes);
  return hash;
}

std::string sizeText(uint64_t bytes) {
  if (bytes < 4096)
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  static const char *units[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = double(bytes) / 1024;
  int unit = 0;
  while (value >= 1024 && unit < 3) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g %s", value, units[unit]);
  return text;
}

std::string infoText(const AllocationInfo &info) {
  std::string out;
  if (!info.label.empty())
    out = "'" + info.label + "'";
  for (const std::string *part : {&info.dtype, &info.shape})
    if (!part->empty())
      out += (out.empty() ? "" : " ") + *part;
  return out.empty() ? "an allocation" : out;
}

} // namespace nereid::runtime
