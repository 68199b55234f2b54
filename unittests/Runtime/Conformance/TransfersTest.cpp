// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TransfersTest.cpp - Everything that moves bytes --------------------===//
//
// Each operation moves every size between every pair of alignments, and
// touches no other byte.
//
//===----------------------------------------------------------------------===//
#include "Conformance.h"

#include <cstring>

using namespace nereid::test;

namespace {

/// One transfer. `dest` and `source` are this rank's addresses of symmetric
/// memory; a pull reads `source` of `peer`, a push writes `dest` of `peer`.
struct Transfer {
  uint8_t *dest;
  uint8_t *source;
  uint64_t bytes;
  int32_t peer;
  /// 64 and 32 bits; each counts the rounds.
  uint64_t *signal64;
  uint32_t *signal32;
  int64_t round; ///< from 1
};

struct Operation {
  const char *name;
  bool pull;
  void (*start)(nrd_program *, const Transfer &);
  /// After it, the data is where it belongs: on the receiver for a push (which
  /// runs `arrive` itself), here for a pull.
  void (*arrive)(nrd_program *, const Transfer &);
};

void barrierAll(nrd_program *p, const Transfer &) { nrd_barrier_all(p, 0); }
void nothing(nrd_program *, const Transfer &) {}
void wait64(nrd_program *p, const Transfer &t) { nrd_wait(p, t.signal64, 1, t.round, 8, 0); }
void wait32(nrd_program *p, const Transfer &t) {
  nrd_shmem_wait_until(p, t.signal32, NRD_CMP_GE, uint64_t(t.round), 4, 1, 0);
}

const Operation kOperations[] = {
    {"putmem, barrier_all", false,
     [](nrd_program *p, const Transfer &t) {
       nrd_shmem_put(p, t.dest, t.source, t.bytes, t.peer, 0, 0);
     },
     barrierAll},
    {"putmem from memory that is reused, barrier_all", false,
     [](nrd_program *p, const Transfer &t) {
       nrd_shmem_put(p, t.dest, t.source, t.bytes, t.peer, 0, 0);
       std::memset(t.source, 0, t.bytes);
     },
     barrierAll},
    {"putmem_nbi, barrier_all", false,
     [](nrd_program *p, const Transfer &t) {
       nrd_shmem_put(p, t.dest, t.source, t.bytes, t.peer, 1, 0);
     },
     barrierAll},
    {"putmem_nbi, quiet, notify inside or across nodes", false,
     [](nrd_program *p, const Transfer &t) {
       nrd_shmem_put(p, t.dest, t.source, t.bytes, t.peer, 1, 0);
       nrd_shmem_quiet(p, 0);
       nrd_notify(p, t.signal64, t.round, t.peer, NRD_SIG_SET, NRD_COMM_INTER_NODE, 8, 0);
     },
     wait64},
    {"putmem_nbi, fence, signal_op", false,
     [](nrd_program *p, const Transfer &t) {
       nrd_shmem_put(p, t.dest, t.source, t.bytes, t.peer, 1, 0);
       nrd_shmem_fence(p, 0);
       nrd_shmem_signal_op(p, t.signal64, 1, NRD_SIG_ADD, t.peer, 8, 0);
     },
     wait64},
    {"putmem, fence, p as flag", false,
     [](nrd_program *p, const Transfer &t) {
       nrd_shmem_put(p, t.dest, t.source, t.bytes, t.peer, 0, 0);
       nrd_shmem_fence(p, 0);
       nrd_shmem_p(p, t.signal32, uint64_t(t.round), 4, t.peer, 0);
     },
     wait32},
    {"putmem_signal set", false,
     [](nrd_program *p, const Transfer &t) {
       nrd_shmem_put_signal(p, t.dest, t.source, t.bytes, t.signal64, uint64_t(t.round),
                            NRD_SIG_SET, t.peer, 8, 0, 0);
     },
     wait64},
    {"putmem_signal of 32 bits, add", false,
     [](nrd_program *p, const Transfer &t) {
       nrd_shmem_put_signal(p, t.dest, t.source, t.bytes, t.signal32, 1, NRD_SIG_ADD, t.peer, 4, 0,
                            0);
       std::memset(t.source, 0, t.bytes);
     },
     wait32},
    {"putmem_signal_nbi", false,
     [](nrd_program *p, const Transfer &t) {
       nrd_shmem_put_signal(p, t.dest, t.source, t.bytes, t.signal64, uint64_t(t.round),
                            NRD_SIG_SET, t.peer, 8, 1, 0);
     },
     wait64},
    {"getmem", true,
     [](nrd_program *p, const Transfer &t) {
       nrd_shmem_get(p, t.dest, t.source, t.bytes, t.peer, 0, 0);
     },
     nothing},
    {"getmem_nbi, quiet", true,
     [](nrd_program *p, const Transfer &t) {
       nrd_shmem_get(p, t.dest, t.source, t.bytes, t.peer, 1, 0);
       nrd_shmem_quiet(p, 0);
     },
     nothing},
    {"getmem_nbi, barrier_all", true,
     [](nrd_program *p, const Transfer &t) {
       nrd_shmem_get(p, t.dest, t.source, t.bytes, t.peer, 1, 0);
     },
     barrierAll},
};

constexpr uint64_t kGuard = 64;
constexpr uint64_t kLargest = uint64_t(1) << 20;
constexpr uint64_t kArea = kLargest + 4 * kGuard;

struct TransferShape {
  uint64_t bytes;
  uint64_t destAlign, sourceAlign; ///< offsets from a 64-byte boundary
};

/// Every size with every pair of offsets; the largest with a few.
std::vector<TransferShape> shapes() {
  std::vector<TransferShape> out;
  for (uint64_t bytes : {0, 1, 2, 3, 4, 7, 8, 16, 31, 63, 64, 65, 127, 200, 1000, 4095, 4096, 4097})
    for (uint64_t to : {0, 1, 2, 4, 8, 31, 63})
      for (uint64_t from : {0, 1, 2, 4, 8, 31, 63})
        if (bytes < 4000 || (to + from) % 5 < 2)
          out.push_back({bytes, to, from});
  for (auto [to, from] : {std::pair<uint64_t, uint64_t>{0, 0}, {1, 3}, {8, 4}})
    for (uint64_t bytes : {uint64_t(16384), uint64_t(65537), kLargest})
      out.push_back({bytes, to, from});
  return out;
}

/// args: area to, area from, signals, shapes, count of shapes, operation,
/// findings. One program per rank.
void transferAll(nrd_program *p, const uint64_t *args) {
  uint8_t *destArea = pointerArg<uint8_t>(args, 0);
  uint8_t *sourceArea = pointerArg<uint8_t>(args, 1);
  uint64_t *signals = pointerArg<uint64_t>(args, 2);
  const TransferShape *shape = pointerArg<const TransferShape>(args, 3);
  int64_t count = int64_t(args[4]);
  const Operation &op = *pointerArg<const Operation>(args, 5);
  Findings &findings = *pointerArg<Findings>(args, 6);
  int32_t next = (p->rank + 1) % p->num_ranks;
  int32_t previous = (p->rank + p->num_ranks - 1) % p->num_ranks;
  for (int64_t i = 0; i < count; ++i) {
    const TransferShape &s = shape[i];
    Transfer t{destArea + kGuard + s.destAlign,
               sourceArea + kGuard + s.sourceAlign,
               s.bytes,
               op.pull ? previous : next,
               signals,
               reinterpret_cast<uint32_t *>(signals + 8),
               i + 1};
    for (uint64_t b = 0; b < s.bytes; ++b)
      t.source[b] = patternByte(p->rank, i, b);
    std::memset(t.dest - kGuard, 0, s.bytes + 2 * kGuard);
    nrd_barrier_all(p, 0);
    op.start(p, t);
    op.arrive(p, t);
    uint64_t wrong = 0, around = 0;
    for (uint64_t b = 0; b < s.bytes; ++b)
      wrong += t.dest[b] != patternByte(previous, i, b);
    for (uint64_t b = 0; b < kGuard; ++b)
      around += t.dest[-1 - int64_t(b)] != 0 || t.dest[s.bytes + b] != 0;
    if (wrong || around)
      findings.note(int64_t(s.bytes), int64_t(s.destAlign), int64_t(s.sourceAlign), int64_t(wrong));
    nrd_barrier_all(p, 0);
  }
}

TEST_P(Conformance, Transfers) {
  onRanks(
      [](Job &job) {
        uint8_t *dest = symmetric<uint8_t>(job, kArea, "dest");
        uint8_t *source = symmetric<uint8_t>(job, kArea, "source");
        const std::vector<TransferShape> all = shapes();
        for (const Operation &op : kOperations) {
          uint64_t *signals = symmetric<uint64_t>(job, 16, "signals");
          Findings findings;
          Status st = launchBlocking(job, transferAll,
                                     {arg(dest), arg(source), arg(signals), arg(all.data()),
                                      arg(int64_t(all.size())), arg(&op), arg(&findings)},
                                     1);
          ASSERT_TRUE(st.ok()) << op.name << ": " << st.report();
          EXPECT_EQ(findings.count, 0)
              << op.name << ", rank " << job.rank()
              << " (bytes, alignment of target and source, wrong bytes): " << findings.text();
          ASSERT_TRUE(job.free(signals).ok());
        }
      },
      8 << 20);
}

//===--- many programs at once -------------------------------------------===//

constexpr int32_t kPrograms = 6;
constexpr int64_t kPiece = 37;

/// args: send[n][programs][kPiece], recv alike, counters[programs], findings.
/// Program i of each rank sends its piece to program i of every rank.
void exchange(nrd_program *p, const uint64_t *args) {
  int32_t *send = pointerArg<int32_t>(args, 0);
  int32_t *recv = pointerArg<int32_t>(args, 1);
  uint64_t *counter = pointerArg<uint64_t>(args, 2) + p->pid[0];
  Findings &findings = *pointerArg<Findings>(args, 3);
  auto piece = [&](int32_t *base, int32_t rank) {
    return base + (int64_t(rank) * kPrograms + p->pid[0]) * kPiece;
  };
  auto value = [&](int32_t from, int32_t to, int64_t round, int64_t i) {
    return int32_t(round * 1000003 + from * 10007 + to * 1009 + p->pid[0] * 101 + i);
  };
  const int64_t rounds = 8;
  for (int64_t round = 1; round <= rounds; ++round) {
    for (int32_t step = 0; step < p->num_ranks; ++step) {
      int32_t to = (p->rank + step) % p->num_ranks;
      for (int64_t i = 0; i < kPiece; ++i)
        piece(send, to)[i] = value(p->rank, to, round, i);
      if (round & 1) {
        nrd_shmem_put_signal(p, piece(recv, p->rank), piece(send, to), kPiece * 4, counter, 1,
                             NRD_SIG_ADD, to, 8, step & 1, 0);
      } else {
        nrd_shmem_put(p, piece(recv, p->rank), piece(send, to), kPiece * 4, to, 1, 0);
        nrd_shmem_fence(p, 0);
        nrd_shmem_signal_op(p, counter, 1, NRD_SIG_ADD, to, 8, 0);
      }
    }
    nrd_wait(p, counter, 1, round * p->num_ranks, 8, 0);
    for (int32_t from = 0; from < p->num_ranks; ++from)
      for (int64_t i = 0; i < kPiece; ++i)
        if (piece(recv, from)[i] != value(from, p->rank, round, i))
          findings.note(round, from, p->pid[0], i);
    nrd_barrier_all(p, 0);
  }
}

TEST_P(Conformance, ManyProgramsExchange) {
  onRanks([](Job &job) {
    size_t count = size_t(job.worldSize()) * kPrograms * kPiece;
    int32_t *send = symmetric<int32_t>(job, count, "send");
    int32_t *recv = symmetric<int32_t>(job, count, "recv");
    uint64_t *counters = symmetric<uint64_t>(job, kPrograms, "counters");
    Findings findings;
    Status st = launchBlocking(job, exchange, {arg(send), arg(recv), arg(counters), arg(&findings)},
                               kPrograms);
    ASSERT_TRUE(st.ok()) << st.report();
    EXPECT_EQ(findings.count, 0) << "(round, from, program, index) " << findings.text();
    ASSERT_TRUE(job.barrier().ok());
  });
}

//===--- operations that outlive their launch --------------------------------//

/// args: dest, source, bytes, signal. Starts a transfer and ends.
void startAndEnd(nrd_program *p, const uint64_t *args) {
  nrd_shmem_put_signal(p, pointerArg<uint8_t>(args, 0), pointerArg<uint8_t>(args, 1), args[2],
                       pointerArg<uint64_t>(args, 3), 1, NRD_SIG_ADD, (p->rank + 1) % p->num_ranks,
                       8, 1, 0);
}
/// args: signal, value.
void waitFor(nrd_program *p, const uint64_t *args) {
  nrd_wait(p, pointerArg<uint64_t>(args, 0), 1, int64_t(args[1]), 8, 0);
}

TEST_P(Conformance, TransfersOutliveTheirLaunch) {
  onRanks([](Job &job) {
    const uint64_t bytes = 100000;
    uint8_t *dest = symmetric<uint8_t>(job, bytes, "dest");
    uint64_t *signal = symmetric<uint64_t>(job, 1, "signal");
    int32_t previous = (job.rank() + job.worldSize() - 1) % job.worldSize();
    for (int64_t round = 1; round <= 5; ++round) {
      {
        // Not symmetric, and gone after the launch.
        std::vector<uint8_t> source(bytes);
        for (uint64_t b = 0; b < bytes; ++b)
          source[b] = patternByte(job.rank(), round, b);
        Status st = launchBlocking(job, startAndEnd,
                                   {arg(dest), arg(source.data()), bytes, arg(signal)}, 1);
        ASSERT_TRUE(st.ok()) << st.report();
      }
      Status st = launchBlocking(job, waitFor, {arg(signal), arg(round)}, 1);
      ASSERT_TRUE(st.ok()) << st.report();
      uint64_t wrong = 0;
      for (uint64_t b = 0; b < bytes; ++b)
        wrong += dest[b] != patternByte(previous, round, b);
      EXPECT_EQ(wrong, 0u) << "round " << round;
      ASSERT_TRUE(job.barrier().ok());
    }
  });
}

//===--- transfers by the host -----------------------------------------------//

TEST_P(Conformance, HostTransfers) {
  onRanks([](Job &job) {
    const uint64_t bytes = 5000;
    uint8_t *memory = symmetric<uint8_t>(job, bytes, "memory");
    int32_t next = (job.rank() + 1) % job.worldSize();
    int32_t previous = (job.rank() + job.worldSize() - 1) % job.worldSize();
    std::vector<uint8_t> data(bytes), back(bytes);
    for (uint64_t b = 0; b < bytes; ++b)
      data[b] = patternByte(job.rank(), 0, b);
    EXPECT_TRUE(job.put(memory, data.data(), bytes, next).ok());
    EXPECT_TRUE(job.barrier().ok());
    for (uint64_t b = 0; b < bytes; ++b)
      ASSERT_EQ(memory[b], patternByte(previous, 0, b));
    EXPECT_TRUE(job.get(back.data(), memory, bytes, next).ok());
    EXPECT_EQ(back, data);
    EXPECT_EQ(job.put(memory, data.data(), bytes, job.worldSize()).code(), StatusCode::BadRank);
    EXPECT_EQ(job.get(back.data(), data.data(), bytes, next).code(), StatusCode::NotSymmetric);
    EXPECT_EQ(job.put(memory, data.data(), job.heapBytes() + 1, next).code(),
              StatusCode::NotSymmetric);
    for (int32_t r = 0; r < job.worldSize(); ++r)
      EXPECT_EQ(job.peerAddress(memory, r) != nullptr, job.reachable(r));
    EXPECT_TRUE(job.barrier().ok());
  });
}

INSTANTIATE_TEST_SUITE_P(Ways, Conformance, testing::ValuesIn(allWays()),
                         [](const auto &info) { return info.param.name; });

} // namespace
