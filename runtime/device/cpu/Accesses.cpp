// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Accesses.cpp - nrd_access, nrd_atomic_begin, _end, _seen -----------===//
//
// Instrumented kernels tell of accesses tile by tile; observers hear of them as rows
// of bytes that lie evenly. A dense tile is one row; a tile of a matrix is one event,
// with as many rows as it has:
//
//   elements ──▶ bytes that touch become a row ──▶ equal rows, equally far apart,
//                                                   become one event
//
//===----------------------------------------------------------------------===//
#include "device/cpu/EntryPoints.h"
#include "device/cpu/LaunchState.h"

#include <algorithm>

namespace nereid::runtime {

namespace {

/// Makes events of rows, in the order in which they come.
class Rows {
public:
  Rows(const Program &p, int32_t how, uint32_t site) : p(p), event(eventOf(p, EventKind::Access)) {
    event.site = site;
    event.width = uint8_t(how >> 8);
    static_assert(NRD_WAIT_SLOTS == 8, "`how` has a bit for each");
    event.how = uint8_t(~(how >> 16));
    event.flags = uint8_t((how & NRD_ACCESS_READ ? EventRecord::kReads : 0) |
                          (how & NRD_ACCESS_WRITE ? EventRecord::kWrites : 0) |
                          (how & NRD_ACCESS_VOLATILE ? EventRecord::kVolatile : 0));
  }

  void add(uint64_t at, uint64_t size) {
    if (rows == 1 && at == begin + bytes) {
      bytes += size;
      return;
    }
    if (rows && size == bytes && (rows == 1 ? at > begin : at == begin + rows * stride)) {
      if (rows == 1)
        stride = at - begin;
      ++rows;
      return;
    }
    flush();
    begin = at, bytes = size, rows = 1, stride = 0;
  }

  void flush() {
    // Rows in heaps of several ranks are told one by one.
    const uint64_t last = begin + (rows - 1) * stride;
    if (rows > 1 && ownerOf(begin) != ownerOf(last + bytes - 1)) {
      for (uint64_t i = 0; i < rows; ++i)
        tell(begin + i * stride, 1);
    } else if (rows) {
      tell(begin, rows);
    }
    rows = 0;
  }

private:
  uint64_t ownerOf(uint64_t at) const {
    const uint64_t from = at - uint64_t(p.abi.heap_base);
    return p.abi.heap_bytes && from / p.abi.heap_bytes < uint64_t(p.abi.num_ranks)
               ? from / p.abi.heap_bytes
               : ~uint64_t(0);
  }
  void tell(uint64_t at, uint64_t count) {
    EventRecord e = event;
    setPlace(e, p, reinterpret_cast<const void *>(at), bytes);
    if (e.pe < 0)
      e.offset = at;
    e.id = uint32_t(count);
    e.value = count > 1 ? stride : 0;
    p.observer->before(e, 0);
  }

  const Program &p;
  EventRecord event;
  uint64_t begin = 0, bytes = 0, stride = 0, rows = 0;
};

/// One dimension of a tile whose elements lie evenly.
struct Dimension {
  uint64_t size, stride;
  const uint8_t *mask;
};

/// Walks the elements of a tile, or its rows.
class TileWalk {
public:
  TileWalk(const nrd_tile &tile, uint64_t elementBytes, Rows &rows)
      : tile(tile), elementBytes(elementBytes), rows(rows) {}

  void run() {
    if (tile.addresses || tile.mask)
      elements(0, uint64_t(tile.base), 0, true);
    else
      dense();
    rows.flush();
  }

private:
  /// Element by element, in row-major order; `number` counts them.
  void elements(int64_t d, uint64_t at, uint64_t number, bool on) {
    if (d == tile.rank) {
      if (on && (!tile.mask || tile.mask[number]))
        rows.add(tile.addresses ? tile.addresses[number] : at, elementBytes);
      return;
    }
    for (int64_t i = 0; i < tile.shape[d]; ++i)
      elements(d + 1, at + uint64_t(i * (tile.addresses ? 0 : tile.stride[d])),
               number * uint64_t(tile.shape[d]) + uint64_t(i),
               on && (!tile.masks[d] || tile.masks[d][i]));
  }

  /// By runs of each dimension, the widest stride outside: the bytes of what lies close
  /// are one row.
  void dense() {
    Dimension dims[NRD_TILE_DIMS];
    int n = 0;
    uint64_t base = uint64_t(tile.base);
    for (int64_t d = 0; d < tile.rank; ++d) {
      // Masks go with their dimension; one that runs backwards keeps its stride.
      if (tile.shape[d] == 1 && !tile.masks[d])
        continue;
      dims[n++] = {uint64_t(tile.shape[d]), uint64_t(tile.stride[d]), tile.masks[d]};
    }
    std::sort(dims, dims + n, [](const Dimension &a, const Dimension &b) {
      return magnitude(a.stride) > magnitude(b.stride);
    });
    walk(dims, n, base, elementBytes);
  }
  static uint64_t magnitude(uint64_t stride) { return int64_t(stride) < 0 ? 0 - stride : stride; }

  /// Runs of the innermost dimension make a row when they touch.
  void walk(const Dimension *dims, int n, uint64_t at, uint64_t bytes) {
    if (n == 0)
      return rows.add(at, bytes);
    const Dimension &d = dims[0];
    for (uint64_t begin = 0, end; begin < d.size; begin = end) {
      end = begin + 1;
      if (d.mask) {
        if (!d.mask[begin])
          continue;
        while (end < d.size && d.mask[end])
          ++end;
      } else {
        end = d.size;
      }
      run(dims, n, at, bytes, begin, end);
    }
  }
  void run(const Dimension *dims, int n, uint64_t at, uint64_t bytes, uint64_t begin,
           uint64_t end) {
    const uint64_t stride = dims[0].stride, gap = magnitude(stride);
    if (n == 1 && gap <= bytes) {
      const uint64_t first = at + (int64_t(stride) < 0 ? (end - 1) * stride : begin * stride);
      return rows.add(first, (end - begin - 1) * gap + bytes);
    }
    // From low to high addresses.
    const bool down = int64_t(stride) < 0;
    for (uint64_t i = begin; i < end; ++i)
      walk(dims + 1, n - 1, at + (down ? begin + end - 1 - i : i) * stride, bytes);
  }

  const nrd_tile &tile;
  const uint64_t elementBytes;
  Rows &rows;
};

EventRecord atomicEvent(const Program &p, const void *word, int32_t how, uint32_t site) {
  EventRecord event = eventOf(p, EventKind::Atomic);
  event.site = site;
  event.width = uint8_t(how >> 8);
  event.how = uint8_t(how);
  event.flags = uint8_t(EventRecord::kReads | (((how >> 16) & 7) << 2) | ((how >> 24) << 6));
  setPlace(event, p, word, event.width);
  if (event.pe < 0)
    event.offset = uint64_t(word);
  return event;
}

uint64_t readWord(const void *word, unsigned bytes) {
  switch (bytes) {
  case 1:
    return __atomic_load_n(static_cast<const uint8_t *>(word), __ATOMIC_RELAXED);
  case 2:
    return __atomic_load_n(static_cast<const uint16_t *>(word), __ATOMIC_RELAXED);
  case 4:
    return __atomic_load_n(static_cast<const uint32_t *>(word), __ATOMIC_RELAXED);
  default:
    return __atomic_load_n(static_cast<const uint64_t *>(word), __ATOMIC_RELAXED);
  }
}

/// Between nrd_atomic_begin and nrd_atomic_end, which nothing but one instruction
/// separates: a program is not left there.
struct PendingAtomic {
  const void *word = nullptr;
  EventRecord event;
  uint64_t tag = 0;
};
thread_local PendingAtomic pending;

} // namespace

} // namespace nereid::runtime

using namespace nereid::runtime;

extern "C" void nrd_access(nrd_program *prog, const nrd_tile *tile, int32_t how, uint32_t site) {
  Program &p = programOf(prog);
  if (!p.observer)
    return;
  Rows rows(p, how, site);
  TileWalk(*tile, uint64_t(how >> 8 & 0xff), rows).run();
}

// A compare-and-swap that fails is a read of the word.
extern "C" void nrd_atomic_begin(nrd_program *prog, const void *ptr, uint64_t value,
                                 uint64_t compare, int32_t how, uint32_t site) {
  Program &p = programOf(prog);
  if (!p.observer)
    return;
  p.site = site; // of a fault in here
  pending.word = ptr;
  pending.event = atomicEvent(p, ptr, how, site);
  EventRecord &event = pending.event;
  event.id = p.launch->job.nextOperation();
  event.value = value;
  const uint64_t old = event.how == NRD_AMO_COMPARE_SWAP ? readWord(ptr, event.width) : 0;
  if (event.how != NRD_AMO_COMPARE_SWAP || old == compare)
    event.flags |= EventRecord::kWrites;
  pending.tag = p.observer->before(event, 0);
}

extern "C" void nrd_atomic_end(nrd_program *prog, uint32_t) {
  Program &p = programOf(prog);
  if (!p.observer)
    return;
  pending.event.value = readWord(pending.word, pending.event.width);
  tellAfter(p, pending.event, pending.tag);
}

extern "C" void nrd_atomic_seen(nrd_program *prog, const void *ptr, uint64_t value, int32_t how,
                                uint32_t site) {
  Program &p = programOf(prog);
  if (!p.observer)
    return;
  EventRecord event = atomicEvent(p, ptr, how, site);
  event.how = NRD_AMO_FETCH;
  event.value = value;
  tellAfter(p, event);
}
