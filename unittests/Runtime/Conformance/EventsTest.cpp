// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EventsTest.cpp - What observers hear, over every way ---------------===//
//
// All ranks write what they hear into one log, whose order is that of time: then
// what must be known before a value can be seen stands before whoever saw it.
//
//===----------------------------------------------------------------------===//
#include "Conformance.h"

#include "nereid/runtime/Events.h"

#include <map>
#include <set>
#include <sys/mman.h>
#include <tuple>

using namespace nereid::test;
using nereid::runtime::EventKind;
using nereid::runtime::EventRecord;
using nereid::runtime::Observer;

namespace {

struct Log {
  static constexpr uint32_t kRecords = 16384;
  struct Record {
    EventRecord event;
    uint64_t tag;
    bool before;
    bool written;
    int16_t heardBy;
  };
  std::atomic<uint32_t> count;
  std::atomic<uint32_t> tags;
  Record records[kRecords];

  /// Shared with processes that are forked later.
  static Log *make() {
    void *memory =
        mmap(nullptr, sizeof(Log), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : new (memory) Log;
  }
};

class Recorder : public Observer {
public:
  Recorder(Log &log, int32_t rank) : log(log), rank(rank) {}
  uint64_t before(const EventRecord &event, uint64_t tag) override {
    if (event.kind == EventKind::Issue)
      tag = log.tags.fetch_add(1) + 1;
    write(event, tag, true);
    return tag;
  }
  void after(const EventRecord &event, uint64_t tag) override { write(event, tag, false); }

private:
  void write(const EventRecord &event, uint64_t tag, bool before) {
    uint32_t at = log.count.fetch_add(1);
    if (at < Log::kRecords)
      log.records[at] = {event, tag, before, true, int16_t(rank)};
  }
  Log &log;
  const int32_t rank;
};

/// args: data (512 bytes per rank), signals (8 words).
/// Each rank sends to the next one and waits for what the one before sends.
void sendAround(nrd_program *p, const uint64_t *args) {
  uint8_t *data = pointerArg<uint8_t>(args, 0);
  uint64_t *signals = pointerArg<uint64_t>(args, 1);
  const int32_t next = (p->rank + 1) % p->num_ranks;
  uint8_t local[64] = {}, fetched[32] = {};
  nrd_shmem_put(p, data, data + 256, 128, next, 0, 1);
  nrd_shmem_fence(p, 2);
  nrd_shmem_signal_op(p, signals, 3, NRD_SIG_ADD, next, 8, 3);
  nrd_shmem_put_signal(p, data + 128, local, 64, signals + 1, 7, NRD_SIG_SET, next, 8, 1, 4);
  nrd_wait(p, signals, 1, 3, 8, 5);
  nrd_shmem_wait_until(p, signals + 1, NRD_CMP_GE, 7, 8, 0, 6);
  nrd_notify(p, signals + 2, 9, next, NRD_SIG_SET, NRD_COMM_INTER_NODE, 8, 7);
  nrd_wait(p, signals + 2, 1, 9, 8, 8);
  nrd_shmem_atomic(p, signals + 3, 2, 0, NRD_AMO_ADD, 8, next, 9);
  nrd_shmem_g(p, signals + 3, 8, next, 10);
  nrd_shmem_get(p, fetched, data + 192, 32, next, 0, 11);
  nrd_shmem_quiet(p, 12);
  nrd_barrier_all(p, 13);
}

/// Sites of sendAround that are operations on memory, with what they do to it.
struct Expected {
  bool moves, updates, fetches;
};
const std::map<uint32_t, Expected> kExpected = {
    {1, {true, false, false}},  {3, {false, true, false}}, {4, {true, true, false}},
    {7, {false, true, false}},  {9, {false, true, true}},  {10, {false, true, true}},
    {11, {true, false, false}},
};

TEST_P(Conformance, Events) {
  Log *log = Log::make();
  ASSERT_NE(log, nullptr);
  onRanks([&](Job &job) {
    auto *data = symmetric<uint8_t>(job, 512, "data");
    auto *signals = symmetric<uint64_t>(job, 8, "signals");
    Recorder recorder(*log, job.rank());
    EXPECT_TRUE(job.observe(&recorder).ok());
    EXPECT_TRUE(job.barrier().ok());
    Status st = launchBlocking(job, sendAround, {arg(data), arg(signals)}, 1);
    EXPECT_TRUE(st.ok()) << st.report();
    EXPECT_TRUE(job.barrier().ok());
    EXPECT_TRUE(job.observe(nullptr).ok());
    EXPECT_TRUE(job.barrier().ok());
    const uint32_t heard = log->count.load();
    EXPECT_TRUE(job.barrier().ok());
    for (int i = 0; i < 4; ++i)
      signals[i] = 0;
    EXPECT_TRUE(job.barrier().ok());
    st = launchBlocking(job, sendAround, {arg(data), arg(signals)}, 1);
    EXPECT_TRUE(st.ok()) << st.report();
    EXPECT_TRUE(job.barrier().ok());
    EXPECT_EQ(log->count.load(), heard) << "events without an observer";
  });

  const int32_t ranks = GetParam().ranks;
  const uint32_t count = log->count.load();
  ASSERT_LE(count, Log::kRecords);
  using Key = std::pair<int16_t, uint32_t>; // rank, id
  struct Operation {
    uint32_t site = 0;
    uint64_t tag = 0;
    // Places in the log, 1-based; 0 = not there.
    uint32_t asked = 0, answered = 0, moving = 0, moved = 0, changing = 0, changed = 0;
    uint64_t value = 0;
  };
  std::map<Key, Operation> operations;
  std::map<std::tuple<int16_t, uint64_t, uint64_t>, uint32_t> changing; // pe, word, value
  std::map<EventKind, int> ended;
  std::map<uint64_t, int> arrived, left;
  for (uint32_t i = 0; i < count; ++i) {
    const Log::Record &r = log->records[i];
    const EventRecord &e = r.event;
    ASSERT_TRUE(r.written);
    EXPECT_LE(e.begin, e.end);
    if (!r.before)
      ++ended[e.kind];
    if (e.kind == EventKind::Issue || e.kind == EventKind::Transfer ||
        e.kind == EventKind::Update) {
      ASSERT_NE(e.id, 0u);
      Operation &o = operations[{e.rank, e.id}];
      if (e.kind == EventKind::Issue) {
        (r.before ? o.asked : o.answered) = i + 1;
        o.site = e.site;
        o.tag = r.tag;
        EXPECT_EQ(e.rank, r.heardBy);
        EXPECT_EQ(e.program, 0u);
        EXPECT_EQ(e.scope(), e.site == 7 ? NRD_COMM_INTER_NODE : 0);
        EXPECT_EQ(bool(e.flags & EventRecord::kNonBlocking), e.site == 4);
        EXPECT_EQ(e.pe, (e.rank + 1) % ranks);
        continue;
      }
      EXPECT_EQ(r.tag, o.tag) << "rank " << e.rank << ", site " << o.site;
      if (e.kind == EventKind::Transfer) {
        (r.before ? o.moving : o.moved) = i + 1;
      } else {
        (r.before ? o.changing : o.changed) = i + 1;
        if (!r.before)
          o.value = e.value;
        else if (e.flags & EventRecord::kWrites)
          changing[{e.pe, e.offset, e.value}] = i + 1; // from 0, so that it is the operand
      }
    } else if (e.kind == EventKind::Wait) {
      EXPECT_EQ(e.pe, e.rank);
      if (r.before) { // what it waits for
        EXPECT_EQ(e.value, e.site == 5 ? 3u : e.site == 6 ? 7u : 9u);
        continue;
      }
      auto found = changing.find({e.pe, e.offset, e.value});
      EXPECT_TRUE(found != changing.end()) << "rank " << e.rank << " saw, at site " << e.site
                                           << ", a value that nobody had spoken of";
    } else if (e.kind == EventKind::Barrier && e.program != EventRecord::kHost) {
      if (r.before)
        ++arrived[e.value];
      else
        EXPECT_EQ(arrived[e.value], ranks) << "left before all were there";
    }
  }
  for (auto &[key, o] : operations) {
    const std::string where =
        "rank " + std::to_string(key.first) + ", site " + std::to_string(o.site);
    auto expected = kExpected.find(o.site);
    ASSERT_TRUE(expected != kExpected.end()) << where;
    EXPECT_NE(o.asked, 0u) << where;
    EXPECT_LT(o.asked, o.answered) << where;
    EXPECT_EQ(o.moved != 0, expected->second.moves) << where;
    EXPECT_EQ(o.changed != 0, expected->second.updates) << where;
    if (o.moved) {
      EXPECT_LT(o.asked, o.moving) << where;
      EXPECT_LT(o.moving, o.moved) << where;
    }
    if (o.changed) {
      EXPECT_LT(o.asked, o.changing) << where;
      EXPECT_LT(o.changing, o.changed) << where;
      EXPECT_LT(o.moved, o.changing) << where << ": a put changes its signal after its data";
    }
    if (expected->second.fetches)
      EXPECT_LT(o.changed, o.answered) << where;
    if (o.site == 3)
      EXPECT_EQ(o.value, 3u) << where << ": the value after the update";
  }
  EXPECT_EQ(operations.size(), kExpected.size() * size_t(ranks));
  EXPECT_EQ(ended[EventKind::Wait], 3 * ranks);
  EXPECT_EQ(ended[EventKind::Fence], ranks);
  EXPECT_EQ(ended[EventKind::Quiet], ranks);
  EXPECT_EQ(ended[EventKind::Program], ranks);
  EXPECT_EQ(ended[EventKind::Launch], ranks);
  EXPECT_GE(ended[EventKind::Run], ranks);
  munmap(log, sizeof(Log));
}

/// Host code is heard too, and programs without fibers.
TEST_P(Conformance, HostEvents) {
  Log *log = Log::make();
  ASSERT_NE(log, nullptr);
  onRanks([&](Job &job) {
    auto *word = symmetric<uint64_t>(job, 2, "word");
    Recorder recorder(*log, job.rank());
    EXPECT_TRUE(job.observe(&recorder).ok());
    EXPECT_TRUE(job.barrier().ok());
    const int32_t next = (job.rank() + 1) % job.worldSize();
    uint64_t value = 5;
    EXPECT_TRUE(job.put(word + 1, &value, 8, next).ok());
    EXPECT_TRUE(job.signal(word, 4, NRD_SIG_SET, 8, next).ok());
    EXPECT_TRUE(job.waitUntil(word, NRD_CMP_EQ, 4, 8, false).ok());
    EXPECT_TRUE(job.get(&value, word + 1, 8, next).ok());
    EXPECT_TRUE(job.barrier().ok());
    EXPECT_TRUE(job.observe(nullptr).ok());
    EXPECT_TRUE(job.barrier().ok());
  });
  std::map<EventKind, int> ended;
  for (uint32_t i = 0; i < log->count.load(); ++i) {
    const Log::Record &r = log->records[i];
    ended[r.event.kind] += r.before ? 0 : 1;
    if (r.event.kind == EventKind::Issue || r.event.kind == EventKind::Wait)
      EXPECT_EQ(r.event.program, EventRecord::kHost);
    if (r.event.kind == EventKind::Wait)
      EXPECT_EQ(r.event.value, 4u);
  }
  const int ranks = GetParam().ranks;
  EXPECT_EQ(ended[EventKind::Issue], 3 * ranks);
  EXPECT_EQ(ended[EventKind::Transfer], 2 * ranks);
  EXPECT_EQ(ended[EventKind::Update], ranks);
  EXPECT_EQ(ended[EventKind::Wait], ranks);
  munmap(log, sizeof(Log));
}

} // namespace
