// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ErrorsTest.cpp - What operations refuse ----------------------------===//
//
// A wrong call fails the launch on the rank that made it, names the operation
// and what is wrong, and leaves all ranks able to go on after recover().
//
//===----------------------------------------------------------------------===//
#include "Conformance.h"

#include "device/cpu/Faults.h"

#include <sys/mman.h>

using namespace nereid::test;

namespace {

constexpr uint64_t kPage = 4096;

struct Arguments {
  uint8_t *symmetric; ///< 64 bytes
  uint8_t *plain;     ///< 64 bytes that are not symmetric
  uint64_t heapBytes;
  int32_t ranks;
  int32_t peer; ///< another rank, unless there is none
};

struct Mistake {
  const char *name;
  void (*call)(nrd_program *, const Arguments &);
  StatusCode code;
  std::vector<const char *> words; ///< all in the message
  bool needsPeer = false;          ///< not a mistake in a world of one
};

const Mistake kMistakes[] = {
    {"putmem to a rank after the last",
     [](nrd_program *p, const Arguments &a) {
       nrd_shmem_put(p, a.symmetric, a.plain, 8, a.ranks, 0, 0);
     },
     StatusCode::BadRank,
     {"putmem", "outside this job"}},
    {"putmem to rank -1",
     [](nrd_program *p, const Arguments &a) {
       nrd_shmem_put(p, a.symmetric, a.plain, 8, -1, 1, 0);
     },
     StatusCode::BadRank,
     {"putmem", "-1"}},
    {"putmem to plain memory",
     [](nrd_program *p, const Arguments &a) {
       nrd_shmem_put(p, a.plain, a.symmetric, 8, a.peer, 0, 0);
     },
     StatusCode::NotSymmetric,
     {"putmem", "nereid.symm"},
     true},
    {"putmem of a negative size",
     [](nrd_program *p, const Arguments &a) {
       nrd_shmem_put(p, a.symmetric, a.plain, uint64_t(int64_t(-4)), a.peer, 0, 0);
     },
     StatusCode::BadAccess,
     {"putmem", "negative: -4"}},
    {"putmem of a negative size to plain memory",
     [](nrd_program *p, const Arguments &a) {
       nrd_shmem_put(p, a.plain, a.plain, uint64_t(int64_t(-1)), p->rank, 0, 0);
     },
     StatusCode::BadAccess,
     {"putmem", "negative: -1"}},
    {"getmem past the heap",
     [](nrd_program *p, const Arguments &a) {
       nrd_shmem_get(p, a.plain, a.symmetric, a.heapBytes + 1, a.peer, 1, 0);
     },
     StatusCode::BadAccess,
     {"getmem", "past its end"}},
    {"getmem of a negative size",
     [](nrd_program *p, const Arguments &a) {
       nrd_shmem_get(p, a.plain, a.symmetric, uint64_t(int64_t(-8)), a.peer, 0, 0);
     },
     StatusCode::BadAccess,
     {"getmem", "negative: -8"}},
    {"putmem_signal with a plain signal",
     [](nrd_program *p, const Arguments &a) {
       nrd_shmem_put_signal(p, a.symmetric, a.plain, 8, a.plain, 1, NRD_SIG_SET, a.peer, 8, 0, 0);
     },
     StatusCode::NotSymmetric,
     {"putmem_signal"},
     true},
    {"putmem_signal with a misaligned signal",
     [](nrd_program *p, const Arguments &a) {
       nrd_shmem_put_signal(p, a.symmetric, a.plain, 8, a.symmetric + 4, 1, NRD_SIG_SET, a.peer, 8,
                            0, 0);
     },
     StatusCode::BadAccess,
     {"putmem_signal", "aligned"}},
    {"signal_op to a bad rank",
     [](nrd_program *p, const Arguments &a) {
       nrd_shmem_signal_op(p, a.symmetric, 1, NRD_SIG_ADD, a.ranks + 5, 8, 0);
     },
     StatusCode::BadRank,
     {"signal_op"}},
    {"signal_op on a misaligned word",
     [](nrd_program *p, const Arguments &a) {
       nrd_shmem_signal_op(p, a.symmetric + 2, 1, NRD_SIG_ADD, a.peer, 4, 0);
     },
     StatusCode::BadAccess,
     {"signal_op", "aligned"}},
    {"p to plain memory",
     [](nrd_program *p, const Arguments &a) { nrd_shmem_p(p, a.plain, 1, 4, a.peer, 0); },
     StatusCode::NotSymmetric,
     {"p: "},
     true},
    {"p to a misaligned element",
     [](nrd_program *p, const Arguments &a) { nrd_shmem_p(p, a.symmetric + 2, 1, 4, a.peer, 0); },
     StatusCode::BadAccess,
     {"p: ", "not aligned to the element's 4 bytes"}},
    {"an atomic on a misaligned element",
     [](nrd_program *p, const Arguments &a) {
       nrd_shmem_atomic(p, a.symmetric + 4, 1, 0, NRD_AMO_ADD, 8, a.peer, 0);
     },
     StatusCode::BadAccess,
     {"atomic: ", "not aligned to the element's 8 bytes"}},
    {"g from a bad rank",
     [](nrd_program *p, const Arguments &a) { nrd_shmem_g(p, a.symmetric, 4, a.ranks, 0); },
     StatusCode::BadRank,
     {"g: "}},
    {"notify to a bad rank",
     [](nrd_program *p, const Arguments &a) {
       nrd_notify(p, a.symmetric, 1, -3, NRD_SIG_SET, NRD_COMM_INTER_NODE, 8, 0);
     },
     StatusCode::BadRank,
     {"notify", "-3"}},
    {"remote_ptr of plain memory",
     [](nrd_program *p, const Arguments &a) { nrd_shmem_ptr(p, a.plain, a.peer, 0); },
     StatusCode::NotSymmetric,
     {"remote_ptr"},
     true},
    {"wait on a misaligned slot",
     [](nrd_program *p, const Arguments &a) { nrd_wait(p, a.symmetric + 1, 1, 0, 8, 0); },
     StatusCode::BadAccess,
     {"wait", "aligned"}},
};

/// args: mistake, arguments. Only rank 0's program 0 makes it.
void makeMistake(nrd_program *p, const uint64_t *args) {
  if (p->rank == 0 && p->pid[0] == 0)
    pointerArg<const Mistake>(args, 0)->call(p, *pointerArg<const Arguments>(args, 1));
}

TEST_P(Conformance, MistakesAreErrors) {
  onRanks([](Job &job) {
    uint8_t *memory = symmetric<uint8_t>(job, 64, "memory");
    alignas(64) uint8_t plain[64] = {};
    Arguments arguments{memory, plain, job.heapBytes(), job.worldSize(), job.worldSize() - 1};
    for (const Mistake &mistake : kMistakes) {
      if (mistake.needsPeer && job.worldSize() == 1)
        continue;
      Status st = launchBlocking(job, makeMistake, {arg(&mistake), arg(&arguments)}, 2);
      if (job.rank() == 0) {
        EXPECT_EQ(st.code(), mistake.code) << mistake.name << ": " << st.report();
        for (const char *word : mistake.words)
          EXPECT_NE(st.message().find(word), std::string::npos)
              << mistake.name << ": '" << word << "' is not in: " << st.message();
      }
      // The others have ended their launch before, or learn of it here.
      if (job.worldSize() > 1)
        (void)job.barrier();
      ASSERT_TRUE(job.recover().ok()) << mistake.name;
    }
    EXPECT_TRUE(job.barrier().ok());
  });
}

/// args: symmetric memory, a page, whether to get. Rank 0 takes the page away before
/// its operation needs to be complete; at the latest it fails when that is.
void lendAndTakeAway(nrd_program *p, const uint64_t *args) {
  void *page = pointerArg<void>(args, 1), *memory = pointerArg<void>(args, 0);
  if (p->rank != 0)
    return;
  if (args[2])
    nrd_shmem_get(p, page, memory, kPage, p->num_ranks - 1, /*nbi=*/1, 0);
  else
    nrd_shmem_put(p, memory, page, kPage, p->num_ranks - 1, /*nbi=*/1, 0);
  mprotect(page, kPage, PROT_NONE);
  nrd_shmem_quiet(p, 0);
  nrd_shmem_p(p, memory, 1, 4, -1, 0);
}

TEST_P(Conformance, LentMemoryThatVanishesIsAnError) {
  if (!nereid::runtime::canPreempt())
    GTEST_SKIP() << "a sanitizer has the handlers of faults";
  onRanks([](Job &job) {
    void *memory = symmetric<uint8_t>(job, kPage, "memory");
    void *page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int found = 0;
    for (uint64_t round = 0; round < 12; ++round) {
      Status st = launchBlocking(job, lendAndTakeAway, {arg(memory), arg(page), round % 2}, 1);
      mprotect(page, kPage, PROT_READ | PROT_WRITE);
      if (job.rank() == 0 && st.code() != StatusCode::BadRank) {
        ++found;
        EXPECT_EQ(st.code(), StatusCode::BadAccess) << st.report();
        EXPECT_NE(st.message().find("must stay until a quiet"), std::string::npos) << st.report();
      }
      if (job.worldSize() > 1)
        (void)job.barrier();
      Status recovered = job.recover();
      ASSERT_TRUE(recovered.ok()) << round << ": " << recovered.report();
    }
    // Elsewhere it may have been needed no more when it went.
    if (job.rank() == 0 && job.hasRandomSchedule() && job.worldSize() > 1)
      EXPECT_GT(found, 0);
    munmap(page, kPage);
    EXPECT_TRUE(job.barrier().ok());
  });
}

/// args: memory, findings.
void lookAround(nrd_program *p, const uint64_t *args) {
  uint8_t *memory = pointerArg<uint8_t>(args, 0);
  Findings &findings = *pointerArg<Findings>(args, 1);
  const uint8_t *reachable = pointerArg<const uint8_t>(args, 2);
  for (int32_t r = 0; r < p->num_ranks; ++r) {
    void *there = nrd_shmem_ptr(p, memory, r, 0);
    if ((there != nullptr) != (reachable[r] != 0))
      findings.note(r, reachable[r]);
    if (there && there != symmAt(p, memory, r))
      findings.note(r, -1);
  }
}

TEST_P(Conformance, RemotePtrIsNullForOtherNodes) {
  onRanks([](Job &job) {
    uint8_t *memory = symmetric<uint8_t>(job, 64, "memory");
    std::vector<uint8_t> reachable;
    for (int32_t r = 0; r < job.worldSize(); ++r)
      reachable.push_back(job.reachable(r));
    EXPECT_EQ(reachable[size_t(job.rank())], 1);
    Findings findings;
    Status st =
        launchBlocking(job, lookAround, {arg(memory), arg(&findings), arg(reachable.data())}, 2);
    EXPECT_TRUE(st.ok()) << st.report();
    EXPECT_EQ(findings.count, 0) << findings.text();
    EXPECT_TRUE(job.barrier().ok());
  });
}

/// args: memory. Signals the last rank as if it were on this node.
void notifyInsideNode(nrd_program *p, const uint64_t *args) {
  if (p->rank == 0)
    nrd_notify(p, pointerArg<uint8_t>(args, 0), 1, p->num_ranks - 1, NRD_SIG_SET, int32_t(args[1]),
               8, 0);
}

TEST_P(Conformance, NotifyInsideANodeReachesNoOtherNode) {
  onRanks([](Job &job) {
    uint8_t *memory = symmetric<uint8_t>(job, 64, "memory");
    for (int64_t scope : {NRD_COMM_GPU, NRD_COMM_INTRA_NODE}) {
      Status st = launchBlocking(job, notifyInsideNode, {arg(memory), arg(scope)}, 1);
      if (job.rank() == 0) {
        bool other = job.nodeOf(job.worldSize() - 1) != job.nodeOf(0);
        EXPECT_EQ(st.ok(), !other) << st.report();
        if (other)
          EXPECT_NE(st.message().find("comm_scope=\"inter_node\""), std::string::npos)
              << st.message();
      }
      if (job.worldSize() > 1)
        (void)job.barrier();
      ASSERT_TRUE(job.recover().ok());
    }
  });
}

/// args: memory. Rank 0 reads the last rank's memory.
void dereference(nrd_program *p, const uint64_t *args) {
  if (p->rank == 0)
    *pointerArg<uint8_t>(args, 0) = *symmAt(p, pointerArg<uint8_t>(args, 0) + 8, p->num_ranks - 1);
}

TEST_P(Conformance, MemoryOfOtherNodesCannotBeDereferenced) {
  if (!GetParam().processes)
    GTEST_SKIP() << "thread ranks share one mapping";
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
  GTEST_SKIP() << "sanitizers have handlers of their own";
#endif
#endif
  onRanks([](Job &job) {
    uint8_t *memory = symmetric<uint8_t>(job, 64, "memory");
    Status st = launchBlocking(job, dereference, {arg(memory)}, 1);
    if (job.rank() == 0) {
      bool other = job.nodeOf(job.worldSize() - 1) != job.nodeOf(0);
      EXPECT_EQ(st.ok(), !other) << st.report();
      for (const char *word : {"rank 0 (node 0)", "'memory' + 8", "symm_at", "getmem"})
        if (other)
          EXPECT_NE(st.message().find(word), std::string::npos) << st.message();
    }
    (void)job.barrier();
    ASSERT_TRUE(job.recover().ok());
  });
}

} // namespace
