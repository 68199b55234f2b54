// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AccessTest.cpp - What instrumented kernels tell --------------------===//
//
// Random tiles, told as code does it: the bytes that an observer hears of are those
// that the tile's definition says, byte for byte. Then atomic operations.
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include "nereid/runtime/Events.h"

#include <map>
#include <mutex>
#include <random>

using namespace nereid::test;
using nereid::runtime::EventKind;
using nereid::runtime::EventRecord;
using nereid::runtime::Observer;

namespace {

constexpr uint64_t kBytes = 1 << 16;

/// Keeps accesses and atomics.
class Listener : public Observer {
public:
  uint64_t before(const EventRecord &event, uint64_t) override {
    keep(event, true);
    return 77;
  }
  void after(const EventRecord &event, uint64_t tag) override {
    if (event.kind == EventKind::Atomic && event.how != NRD_AMO_FETCH) {
      EXPECT_EQ(tag, 77u);
    }
    keep(event, false);
  }
  std::vector<std::pair<EventRecord, bool>> take() {
    std::lock_guard<std::mutex> guard(lock);
    return std::move(events);
  }

private:
  void keep(const EventRecord &event, bool isBefore) {
    if (event.kind != EventKind::Access && event.kind != EventKind::Atomic)
      return;
    std::lock_guard<std::mutex> guard(lock);
    events.push_back({event, isBefore});
  }
  std::mutex lock;
  std::vector<std::pair<EventRecord, bool>> events;
};

struct Tile {
  nrd_tile tile{};
  uint64_t elementBytes = 4;
  std::vector<uint64_t> addresses;
  std::vector<uint8_t> mask;
  std::vector<uint8_t> masks[NRD_TILE_DIMS];

  void point() {
    tile.addresses = addresses.empty() ? nullptr : addresses.data();
    tile.mask = mask.empty() ? nullptr : mask.data();
    for (int d = 0; d < NRD_TILE_DIMS; ++d)
      tile.masks[d] = masks[d].empty() ? nullptr : masks[d].data();
  }

  /// Addresses of its bytes, counted from `origin`, with how often they come.
  std::map<uint64_t, int> bytesFrom(uint64_t origin) const {
    std::map<uint64_t, int> bytes;
    uint64_t count = 1;
    for (int64_t d = 0; d < tile.rank; ++d)
      count *= uint64_t(tile.shape[d]);
    for (uint64_t n = 0; n < count; ++n) {
      uint64_t at = uint64_t(tile.base), rest = n;
      bool on = mask.empty() || mask[n];
      for (int64_t d = tile.rank; d-- > 0;) {
        const uint64_t i = rest % uint64_t(tile.shape[d]);
        rest /= uint64_t(tile.shape[d]);
        at += i * uint64_t(tile.stride[d]);
        on &= masks[d].empty() || masks[d][i];
      }
      if (!addresses.empty())
        at = addresses[n];
      for (uint64_t b = 0; on && b < elementBytes; ++b)
        ++bytes[at + b - origin];
    }
    return bytes;
  }
};

Tile randomTile(std::mt19937_64 &random, uint64_t base) {
  auto draw = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  Tile t;
  t.elementBytes = uint64_t(1) << draw(0, 3);
  t.tile.rank = draw(0, 4);
  t.tile.base = reinterpret_cast<const void *>(base + kBytes / 2);
  int64_t dense = int64_t(t.elementBytes), count = 1;
  for (int64_t d = t.tile.rank; d-- > 0;) {
    t.tile.shape[d] = draw(1, 6);
    switch (draw(0, 4)) {
    case 0: // anything
      t.tile.stride[d] = int64_t(t.elementBytes) * draw(-40, 40);
      break;
    case 1: // the rows of a matrix
      t.tile.stride[d] = dense + int64_t(t.elementBytes) * draw(0, 9);
      break;
    default:
      t.tile.stride[d] = dense;
    }
    dense = std::max<int64_t>(dense, std::abs(t.tile.stride[d])) * t.tile.shape[d];
    dense = std::min<int64_t>(dense, 512);
    count *= t.tile.shape[d];
    if (draw(0, 2) == 0)
      for (int64_t i = 0; i < t.tile.shape[d]; ++i)
        t.masks[d].push_back(draw(0, 3) ? uint8_t(draw(1, 255)) : 0);
  }
  if (draw(0, 3) == 0)
    for (int64_t n = 0; n < count; ++n)
      t.addresses.push_back(base + kBytes / 2 + t.elementBytes * uint64_t(draw(0, 200)));
  if (draw(0, 3) == 0)
    for (int64_t n = 0; n < count; ++n)
      t.mask.push_back(uint8_t(draw(0, 1)));
  return t;
}

/// args: the tile, how, site.
void tellTile(nrd_program *p, const uint64_t *args) {
  nrd_access(p, pointerArg<nrd_tile>(args, 0), int32_t(args[1]), uint32_t(args[2]));
}

TEST(Access, TilesAreToldByteForByte) {
  const uint64_t seed = std::random_device()();
  std::mt19937_64 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  runThreads(2, testOptions(), [&](Job &job) {
    uint8_t *heap = symmetric<uint8_t>(job, kBytes, "bytes");
    std::vector<uint8_t> outside(kBytes);
    Listener listener;
    if (job.rank() != 0) {
      EXPECT_TRUE(job.barrier().ok());
      return;
    }
    EXPECT_TRUE(job.observe(&listener).ok());
    for (int round = 0; round < 500; ++round) {
      // The own heap, the peer's, an array of nobody's.
      const int where = round % 3;
      uint8_t *memory = where == 0 ? heap : where == 1 ? heap + job.heapBytes() : outside.data();
      Tile t = randomTile(random, uint64_t(memory));
      t.point();
      const int32_t kind = round % 2 ? NRD_ACCESS_WRITE : NRD_ACCESS_READ;
      Status st = launchBlocking(
          job, tellTile, {arg(&t.tile), arg(int64_t(kind | int(t.elementBytes) << 8)), arg(9)}, 1);
      ASSERT_TRUE(st.ok()) << st.report();
      std::map<uint64_t, int> heard;
      for (const auto &[event, isBefore] : listener.take()) {
        EXPECT_TRUE(isBefore);
        EXPECT_EQ(event.site, 9u);
        EXPECT_EQ(event.width, t.elementBytes);
        EXPECT_EQ(event.flags,
                  kind == NRD_ACCESS_READ ? EventRecord::kReads : EventRecord::kWrites);
        EXPECT_EQ(event.pe, where == 2 ? -1 : where);
        const uint64_t origin =
            where == 2 ? uint64_t(memory) : uint64_t(heap) - uint64_t(job.heapBase());
        for (uint64_t row = 0; row < event.id; ++row)
          for (uint64_t b = 0; b < event.bytes; ++b)
            ++heard[event.offset + row * event.value + b - origin];
      }
      std::map<uint64_t, int> expected = t.bytesFrom(uint64_t(memory));
      auto places = [](const std::map<uint64_t, int> &bytes) {
        std::vector<uint64_t> found;
        for (auto [at, times] : bytes)
          found.push_back(at);
        return found;
      };
      ASSERT_EQ(places(heard), places(expected)) << "round " << round;
    }
    EXPECT_TRUE(job.observe(nullptr).ok());
    EXPECT_TRUE(job.barrier().ok());
  });
}

TEST(Access, AMatrixIsOneEvent) {
  runThreads(1, testOptions(), [&](Job &job) {
    uint8_t *heap = symmetric<uint8_t>(job, kBytes, "bytes");
    Listener listener;
    EXPECT_TRUE(job.observe(&listener).ok());
    // 64 rows of 32 floats, 512 bytes apart, the last 4 rows and columns masked off.
    std::vector<uint8_t> rows(64, 1), columns(32, 1);
    std::fill(rows.end() - 4, rows.end(), uint8_t(0));
    std::fill(columns.end() - 4, columns.end(), uint8_t(0));
    nrd_tile tile{};
    tile.base = heap;
    tile.rank = 2;
    tile.shape[0] = 64, tile.stride[0] = 512, tile.masks[0] = rows.data();
    tile.shape[1] = 32, tile.stride[1] = 4, tile.masks[1] = columns.data();
    Status st =
        launchBlocking(job, tellTile, {arg(&tile), arg(NRD_ACCESS_READ | 4 << 8), arg(1)}, 1);
    ASSERT_TRUE(st.ok()) << st.report();
    auto events = listener.take();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].first.bytes, 28u * 4);
    EXPECT_EQ(events[0].first.id, 60u);
    EXPECT_EQ(events[0].first.value, 512u);
    EXPECT_TRUE(job.observe(nullptr).ok());
  });
}

/// args: a word.
void useAtomics(nrd_program *p, const uint64_t *args) {
  auto *word = pointerArg<uint32_t>(args, 0);
  const int32_t rest = 4 << 8 | NRD_SEM_ACQ_REL << 16 | NRD_SCOPE_SYS << 24;
  nrd_atomic_begin(p, word, 5, 0, NRD_AMO_ADD | rest, 1);
  __atomic_fetch_add(word, 5, __ATOMIC_ACQ_REL);
  nrd_atomic_end(p, 1);
  for (uint32_t expected : {4u, 5u}) { // fails, succeeds
    nrd_atomic_begin(p, word, 9, expected, NRD_AMO_COMPARE_SWAP | rest, 2);
    __atomic_compare_exchange_n(word, &expected, 9, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    nrd_atomic_end(p, 2);
  }
  nrd_atomic_seen(p, word, 9, 4 << 8 | NRD_SEM_ACQUIRE << 16 | NRD_SCOPE_GPU << 24, 3);
}

TEST(Access, AtomicsAreToldWithTheirValues) {
  runThreads(1, testOptions(), [&](Job &job) {
    uint32_t *word = symmetric<uint32_t>(job, 1, "word");
    Listener listener;
    EXPECT_TRUE(job.observe(&listener).ok());
    Status st = launchBlocking(job, useAtomics, {arg(word)}, 1);
    ASSERT_TRUE(st.ok()) << st.report();
    auto events = listener.take();
    struct Expected {
      uint32_t site;
      bool before, writes;
      uint64_t value;
    };
    const Expected expected[] = {{1, true, true, 5},   {1, false, true, 5}, {2, true, false, 9},
                                 {2, false, false, 5}, {2, true, true, 9},  {2, false, true, 9},
                                 {3, false, false, 9}};
    ASSERT_EQ(events.size(), std::size(expected));
    for (size_t i = 0; i < events.size(); ++i) {
      const EventRecord &e = events[i].first;
      SCOPED_TRACE("event " + std::to_string(i));
      EXPECT_EQ(events[i].second, expected[i].before);
      EXPECT_EQ(e.site, expected[i].site);
      EXPECT_EQ(bool(e.flags & EventRecord::kWrites), expected[i].writes);
      EXPECT_EQ(e.value, expected[i].value);
      EXPECT_EQ(e.pe, 0);
      EXPECT_EQ(e.width, 4);
      EXPECT_EQ(e.sem(), i + 1 < events.size() ? NRD_SEM_ACQ_REL : NRD_SEM_ACQUIRE);
      EXPECT_EQ(e.scope(), i + 1 < events.size() ? NRD_SCOPE_SYS : NRD_SCOPE_GPU);
    }
    EXPECT_TRUE(job.observe(nullptr).ok());
    st = launchBlocking(job, useAtomics, {arg(word)}, 1);
    ASSERT_TRUE(st.ok()) << st.report();
    EXPECT_TRUE(listener.take().empty()) << "events without an observer";
  });
}

} // namespace
