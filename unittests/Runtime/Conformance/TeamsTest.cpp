// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TeamsTest.cpp - Barriers and collectives of teams ------------------===//
//
// Teams of every stride and size that fit the ranks: members see what members
// wrote before a barrier, collectives put every byte where it belongs, and ranks
// outside a team get nothing.
//
//===----------------------------------------------------------------------===//
#include "Conformance.h"

#include "nereid/runtime/Team.h"

#include <cstring>

using namespace nereid::test;

namespace {

struct Shape {
  int32_t start, stride, size;
};

std::vector<Shape> shapesFor(int32_t ranks) {
  std::vector<Shape> shapes;
  for (int32_t start = 0; start < ranks; ++start)
    for (int32_t stride = 1; stride <= 2; ++stride)
      for (int32_t size = 1; start + (size - 1) * stride < ranks; ++size)
        if (size > 1 || stride == 1)
          shapes.push_back({start, stride, size});
  return shapes;
}

/// args: words of kRounds * ranks, team, findings. Each round every member puts
/// the round into the words of all members; after the barrier all are there.
void barriers(nrd_program *p, const uint64_t *args) {
  auto *words = pointerArg<uint32_t>(args, 0);
  int32_t team = int32_t(args[1]);
  Findings &findings = *pointerArg<Findings>(args, 2);
  int32_t me = nrd_team_my_pe(p, team, 0), n = nrd_team_n_pes(p, team, 0);
  for (int32_t round = 0; round < 8; ++round) {
    uint32_t *row = words + (round & 1) * p->num_ranks;
    for (int32_t member = 0; member < n; ++member)
      nrd_shmem_p(p, row + me, uint64_t(round + 1), 4,
                  nrd_team_translate_pe(p, team, member, NRD_TEAM_WORLD, 0), 0);
    nrd_team_barrier(p, team, 0, 0);
    for (int32_t member = 0; member < n; ++member)
      if (nrd_shmem_g(p, row + member, 4, p->rank, 0) != uint64_t(round + 1))
        findings.note(round, member, row[member]);
    nrd_team_barrier(p, team, NRD_BARRIER_SYNC, 0);
  }
}

TEST_P(Conformance, BarriersOfTeams) {
  onRanks([](Job &job) {
    auto *words = symmetric<uint32_t>(job, 2 * size_t(job.worldSize()), "words");
    for (const Shape &shape : shapesFor(job.worldSize())) {
      auto team = nereid::runtime::teamSplitStrided(job, NRD_TEAM_WORLD, shape.start, shape.stride,
                                                    shape.size);
      ASSERT_TRUE(team.ok()) << team.status().report();
      int32_t distance = job.rank() - shape.start;
      bool member =
          distance >= 0 && distance % shape.stride == 0 && distance / shape.stride < shape.size;
      Findings findings;
      if (member) {
        Status st =
            launchBlocking(job, barriers, {arg(words), arg(int64_t(*team)), arg(&findings)}, 1);
        ASSERT_TRUE(st.ok()) << st.report();
        EXPECT_EQ(findings.count, 0) << "(round, member, word): " << findings.text();
        ASSERT_TRUE(nereid::runtime::teamBarrier(job, *team).ok());
        Status gone = nereid::runtime::teamDestroy(job, *team);
        ASSERT_TRUE(gone.ok()) << gone.report();
      }
      ASSERT_TRUE(job.barrier().ok());
    }
  });
}

/// args: source, dest, team, bytes, root, findings.
void collectives(nrd_program *p, const uint64_t *args) {
  auto *source = pointerArg<uint8_t>(args, 0);
  auto *dest = pointerArg<uint8_t>(args, 1);
  int32_t team = int32_t(args[2]), root = int32_t(args[4]);
  uint64_t bytes = args[3];
  Findings &findings = *pointerArg<Findings>(args, 5);
  int32_t n = nrd_team_n_pes(p, team, 0);
  for (int64_t round = 0; round < 3; ++round) {
    for (uint64_t b = 0; b < bytes; ++b)
      source[b] = patternByte(p->rank, round, b);
    std::memset(dest, 0, bytes + 1);
    nrd_team_broadcast(p, team, dest, source, bytes, root, 0, 0);
    int32_t sender = nrd_team_translate_pe(p, team, root, NRD_TEAM_WORLD, 0);
    for (uint64_t b = 0; b < bytes; ++b)
      if (dest[b] != patternByte(sender, round, b))
        findings.note(0, round, int64_t(b), dest[b]);
    if (dest[bytes] != 0)
      findings.note(1, round);
    std::memset(dest, 0, bytes * uint64_t(n) + 1);
    nrd_team_fcollect(p, team, dest, source, bytes, 0, 0);
    for (int32_t member = 0; member < n; ++member) {
      int32_t rank = nrd_team_translate_pe(p, team, member, NRD_TEAM_WORLD, 0);
      for (uint64_t b = 0; b < bytes; ++b)
        if (dest[uint64_t(member) * bytes + b] != patternByte(rank, round, b))
          findings.note(2, round, member, int64_t(b));
    }
    if (dest[bytes * uint64_t(n)] != 0)
      findings.note(3, round);
  }
}

TEST_P(Conformance, CollectivesOfTeams) {
  onRanks([](Job &job) {
    constexpr uint64_t kMost = 3000;
    size_t all = kMost * size_t(job.worldSize()) + 1;
    auto *source = symmetric<uint8_t>(job, kMost, "source");
    auto *dest = symmetric<uint8_t>(job, all, "dest");
    for (const Shape &shape : shapesFor(job.worldSize())) {
      auto team = nereid::runtime::teamSplitStrided(job, NRD_TEAM_WORLD, shape.start, shape.stride,
                                                    shape.size);
      ASSERT_TRUE(team.ok()) << team.status().report();
      int32_t distance = job.rank() - shape.start;
      bool member =
          distance >= 0 && distance % shape.stride == 0 && distance / shape.stride < shape.size;
      for (uint64_t bytes : {uint64_t(0), uint64_t(1), uint64_t(63), kMost}) {
        Findings findings;
        if (member) {
          Status st =
              launchBlocking(job, collectives,
                             {arg(source), arg(dest), arg(int64_t(*team)), arg(int64_t(bytes)),
                              arg(int64_t(shape.size / 2)), arg(&findings)},
                             1);
          ASSERT_TRUE(st.ok()) << st.report();
          EXPECT_EQ(findings.count, 0)
              << bytes << " bytes (broadcast 0, its end 1, fcollect 2, its end "
              << "3; round, ...): " << findings.text();
        }
        ASSERT_TRUE(job.barrier().ok());
      }
    }
  });
}

} // namespace
