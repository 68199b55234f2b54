// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ElementsTest.cpp - Signals and single elements ---------------------===//
//
// Every operation on every width at every place of a line: the word gets the
// value it should and its neighbours keep theirs.
//
//===----------------------------------------------------------------------===//
#include "Conformance.h"

#include <cstring>

using namespace nereid::test;

namespace {

struct ElementOperation {
  const char *name;
  uint32_t widths; ///< sum of the widths in bytes that it takes
  /// Applies `value` to the word at `at` on `peer`.
  void (*apply)(nrd_program *, void *at, uint64_t value, int32_t bytes, int32_t peer);
  /// The word afterwards, of which the low bytes count.
  uint64_t (*result)(uint64_t before, uint64_t value);
};

uint64_t set(uint64_t, uint64_t value) { return value; }
uint64_t add(uint64_t before, uint64_t value) { return before + value; }
uint64_t bitAnd(uint64_t before, uint64_t value) { return before & value; }
uint64_t bitOr(uint64_t before, uint64_t value) { return before | value; }
uint64_t bitXor(uint64_t before, uint64_t value) { return before ^ value; }

/// A remote atomic, and for those with a result that it is the old value: an
/// operation that got another one leaves a word that no test expects.
template <int32_t op>
void atomic(nrd_program *p, void *at, uint64_t value, int32_t bytes, int32_t peer) {
  uint64_t before = bytes == 4 ? 0x5a5a5a5au : 0x5a5a5a5a5a5a5a5au;
  uint64_t old = nrd_shmem_atomic(p, at, value, before, op, bytes, peer, 0);
  if (old != (op & NRD_AMO_NO_RESULT ? 0 : before))
    nrd_shmem_signal_op(p, at, 0, NRD_SIG_SET, peer, bytes, 0);
}

const ElementOperation kElementOperations[] = {
    {"p", 1 | 2 | 4 | 8,
     [](nrd_program *p, void *at, uint64_t value, int32_t bytes, int32_t peer) {
       nrd_shmem_p(p, at, value, bytes, peer, 0);
     },
     set},
    {"signal_op set", 1 | 2 | 4 | 8,
     [](nrd_program *p, void *at, uint64_t value, int32_t bytes, int32_t peer) {
       nrd_shmem_signal_op(p, at, value, NRD_SIG_SET, peer, bytes, 0);
     },
     set},
    {"signal_op add", 4 | 8,
     [](nrd_program *p, void *at, uint64_t value, int32_t bytes, int32_t peer) {
       nrd_shmem_signal_op(p, at, value, NRD_SIG_ADD, peer, bytes, 0);
     },
     add},
    {"notify set", 4 | 8,
     [](nrd_program *p, void *at, uint64_t value, int32_t bytes, int32_t peer) {
       nrd_notify(p, at, int64_t(value), peer, NRD_SIG_SET, NRD_COMM_INTER_NODE, bytes, 0);
     },
     set},
    {"atomic set", 4 | 8, atomic<NRD_AMO_SET | NRD_AMO_NO_RESULT>, set},
    {"atomic add", 4 | 8, atomic<NRD_AMO_ADD | NRD_AMO_NO_RESULT>, add},
    {"atomic and", 4 | 8, atomic<NRD_AMO_AND | NRD_AMO_NO_RESULT>, bitAnd},
    {"atomic or", 4 | 8, atomic<NRD_AMO_OR | NRD_AMO_NO_RESULT>, bitOr},
    {"atomic xor", 4 | 8, atomic<NRD_AMO_XOR | NRD_AMO_NO_RESULT>, bitXor},
    {"atomic swap", 4 | 8, atomic<NRD_AMO_SWAP>, set},
    {"atomic fetch_add", 4 | 8, atomic<NRD_AMO_ADD>, add},
    {"atomic fetch_and", 4 | 8, atomic<NRD_AMO_AND>, bitAnd},
    {"atomic fetch_or", 4 | 8, atomic<NRD_AMO_OR>, bitOr},
    {"atomic fetch_xor", 4 | 8, atomic<NRD_AMO_XOR>, bitXor},
    {"atomic compare_swap", 4 | 8, atomic<NRD_AMO_COMPARE_SWAP>, set},
    {"notify add", 1 | 2 | 4 | 8,
     [](nrd_program *p, void *at, uint64_t value, int32_t bytes, int32_t peer) {
       nrd_notify(p, at, int64_t(value), peer, NRD_SIG_ADD, NRD_COMM_INTER_NODE, bytes, 0);
     },
     add},
    {"putmem of one element", 1 | 2 | 4 | 8,
     [](nrd_program *p, void *at, uint64_t value, int32_t bytes, int32_t peer) {
       nrd_shmem_put(p, at, &value, uint64_t(bytes), peer, 0, 0);
     },
     set},
    {"putmem_signal without data", 4 | 8,
     [](nrd_program *p, void *at, uint64_t value, int32_t bytes, int32_t peer) {
       nrd_shmem_put_signal(p, at, nullptr, 0, at, value, NRD_SIG_ADD, peer, bytes, 0, 0);
     },
     add},
};

constexpr uint64_t kLine = 192; ///< three cache lines; the middle one is used

/// args: line, operation, findings. Rank r works on rank r + 1.
void elements(nrd_program *p, const uint64_t *args) {
  uint8_t *line = pointerArg<uint8_t>(args, 0);
  const ElementOperation &op = *pointerArg<const ElementOperation>(args, 1);
  Findings &findings = *pointerArg<Findings>(args, 2);
  int32_t next = (p->rank + 1) % p->num_ranks;
  int32_t previous = (p->rank + p->num_ranks - 1) % p->num_ranks;
  int64_t round = 0;
  for (int32_t bytes : {1, 2, 4, 8}) {
    if (!(op.widths & uint32_t(bytes)))
      continue;
    for (uint64_t at = 64; at < 128; at += uint64_t(bytes), ++round) {
      std::memset(line, 0x5a, kLine);
      nrd_barrier_all(p, 0);
      auto value = [&](int32_t rank) {
        return 0xfedcba9876543210u * uint64_t(rank + 1) + uint64_t(round) * 7;
      };
      op.apply(p, line + at, value(p->rank), bytes, next);
      nrd_barrier_all(p, 0);
      uint64_t expected = op.result(0x5a5a5a5a5a5a5a5au, value(previous));
      uint8_t image[kLine];
      std::memset(image, 0x5a, kLine);
      std::memcpy(image + at, &expected, size_t(bytes));
      for (uint64_t b = 0; b < kLine; ++b)
        if (line[b] != image[b])
          findings.note(bytes, int64_t(at), int64_t(b), line[b]);
      // What a get of one element says about it.
      uint64_t got = nrd_shmem_g(p, line + at, bytes, p->rank, 0);
      uint64_t low = 0;
      std::memcpy(&low, image + at, size_t(bytes));
      if (got != low)
        findings.note(bytes, int64_t(at), -1, int64_t(got));
      uint64_t theirs = op.result(0x5a5a5a5a5a5a5a5au, value(p->rank));
      uint64_t mask = bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << (8 * bytes)) - 1;
      got = nrd_shmem_g(p, line + at, bytes, next, 0);
      if (got != (theirs & mask))
        findings.note(bytes, int64_t(at), -2, int64_t(got));
      nrd_barrier_all(p, 0);
    }
  }
}

TEST_P(Conformance, Elements) {
  onRanks([](Job &job) {
    uint8_t *line = symmetric<uint8_t>(job, kLine, "line");
    for (const ElementOperation &op : kElementOperations) {
      Findings findings;
      Status st = launchBlocking(job, elements, {arg(line), arg(&op), arg(&findings)}, 1);
      ASSERT_TRUE(st.ok()) << op.name << ": " << st.report();
      EXPECT_EQ(findings.count, 0)
          << op.name << ", rank " << job.rank()
          << " (width, place, wrong byte or -1 own, -2 peer's, value): " << findings.text();
      ASSERT_TRUE(job.barrier().ok());
    }
  });
}

//===--- adds of all ranks to one word ---------------------------------------//

/// args: words {u32 at 0, u64 at 8}, rounds, findings. All programs of all
/// ranks add to rank 0's words at once.
void addTogether(nrd_program *p, const uint64_t *args) {
  uint8_t *words = pointerArg<uint8_t>(args, 0);
  int64_t rounds = int64_t(args[1]);
  for (int64_t i = 0; i < rounds; ++i) {
    nrd_shmem_signal_op(p, words, 3, NRD_SIG_ADD, 0, 4, 0);
    nrd_notify(p, words + 8, -1, 0, NRD_SIG_ADD, NRD_COMM_INTER_NODE, 8, 0);
  }
  nrd_barrier_all(p, 0);
}

TEST_P(Conformance, AddsOfAllRanksMeet) {
  onRanks([](Job &job) {
    const int32_t programs = 4;
    const int64_t rounds = 50;
    uint64_t *words = symmetric<uint64_t>(job, 2, "words");
    Status st = launchBlocking(job, addTogether, {arg(words), arg(rounds)}, programs);
    ASSERT_TRUE(st.ok()) << st.report();
    ASSERT_TRUE(job.barrier().ok());
    int64_t adds = rounds * programs * job.worldSize();
    if (job.rank() == 0) {
      EXPECT_EQ(words[0], uint64_t(3 * adds));
      EXPECT_EQ(int64_t(words[1]), -adds);
    }
    ASSERT_TRUE(job.barrier().ok());
  });
}

//===--- waits ------------------------------------------------------------------

/// args: words, bytes. Rank r sets rank r + 1's word to each value; it must
/// satisfy the comparison that follows, signed or unsigned.
void compare(nrd_program *p, const uint64_t *args) {
  uint8_t *word = pointerArg<uint8_t>(args, 0);
  int32_t bytes = int32_t(args[1]);
  Findings &findings = *pointerArg<Findings>(args, 2);
  int32_t next = (p->rank + 1) % p->num_ranks;
  struct Step {
    int64_t value;
    int32_t cmp;
    int64_t against;
    int32_t isSigned;
  };
  const Step steps[] = {
      {5, NRD_CMP_EQ, 5, 1},    {6, NRD_CMP_NE, 5, 0},  {7, NRD_CMP_GT, 6, 1},
      {8, NRD_CMP_GE, 8, 0},    {-9, NRD_CMP_LT, 0, 1}, {-10, NRD_CMP_LE, -10, 1},
      {-1, NRD_CMP_GT, 100, 0}, {3, NRD_CMP_LT, -1, 0},
  };
  for (const Step &s : steps) {
    nrd_shmem_signal_op(p, word, uint64_t(s.value), NRD_SIG_SET, next, bytes, 0);
    uint64_t got = nrd_shmem_wait_until(p, word, s.cmp, uint64_t(s.against), bytes, s.isSigned, 0);
    uint64_t mask = bytes == 8 ? ~uint64_t(0) : 0xffffffffu;
    // The previous value may satisfy the comparison as well; the last one
    // comes for certain.
    nrd_shmem_wait_until(p, word, NRD_CMP_EQ, uint64_t(s.value), bytes, 0, 0);
    (void)got;
    if (nrd_shmem_g(p, word, bytes, p->rank, 0) != (uint64_t(s.value) & mask))
      findings.note(s.value, s.cmp, bytes);
    nrd_barrier_all(p, 0);
  }
}

TEST_P(Conformance, WaitsCompare) {
  onRanks([](Job &job) {
    for (int64_t bytes : {4, 8}) {
      uint64_t *word = symmetric<uint64_t>(job, 1, "word");
      Findings findings;
      Status st = launchBlocking(job, compare, {arg(word), arg(bytes), arg(&findings)}, 1);
      ASSERT_TRUE(st.ok()) << st.report();
      EXPECT_EQ(findings.count, 0) << findings.text();
      ASSERT_TRUE(job.free(word).ok());
    }
  });
}

/// args: slots, bytes, count. Each rank fills the slots of the next one.
void manySlots(nrd_program *p, const uint64_t *args) {
  uint8_t *slots = pointerArg<uint8_t>(args, 0);
  int32_t bytes = int32_t(args[1]), count = int32_t(args[2]);
  int32_t next = (p->rank + 1) % p->num_ranks;
  for (int32_t i = 0; i < count; ++i)
    nrd_notify(p, slots + int64_t(count - 1 - i) * bytes, 7, next, NRD_SIG_SET, NRD_COMM_INTER_NODE,
               bytes, 0);
  nrd_wait(p, slots, count, 7, bytes, 0);
}

TEST_P(Conformance, WaitsForManySlots) {
  onRanks([](Job &job) {
    for (int64_t bytes : {4, 8})
      for (int64_t count : {0, 1, 2, 33, 100}) {
        uint64_t *slots = symmetric<uint64_t>(job, 100, "slots");
        Status st = launchBlocking(job, manySlots, {arg(slots), arg(bytes), arg(count)}, 1);
        ASSERT_TRUE(st.ok()) << st.report();
        ASSERT_TRUE(job.free(slots).ok());
      }
  });
}

} // namespace
