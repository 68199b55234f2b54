// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlTest.cpp - What every control plane must do -----------------===//
//
// Each test runs over all rows of the table of control planes, with ranks that are
// threads and, where other processes can come to a plane, with ranks that are
// processes. A new row runs by itself.
//
//===----------------------------------------------------------------------===//
#include "Conformance.h"

#include "base/Clock.h"
#include "control/ControlPlanes.h"

#include <csignal>
#include <fcntl.h>
#include <random>
#include <set>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace nereid::runtime;

namespace nereid::test {
namespace {

constexpr uint64_t kHeap = 1 << 16;
constexpr double kPatience = 30; // seconds, for what should take microseconds

struct PlaneWay {
  std::string name, plane;
  bool processes;
};
std::ostream &operator<<(std::ostream &os, const PlaneWay &way) { return os << way.name; }

std::vector<PlaneWay> planeWays() {
  std::vector<PlaneWay> ways;
  for (const ControlPlaneRow &row : controlPlaneTable()) {
    std::string name = row.name;
    ways.push_back({name + "_threads", name, false});
    if (row.attach)
      ways.push_back({name + "_processes", name, true});
  }
  return ways;
}

/// What a device area says in these tests.
std::atomic<uint64_t> &wordOf(const std::byte *area) {
  return *reinterpret_cast<std::atomic<uint64_t> *>(const_cast<std::byte *>(area));
}

uint64_t readWord(const std::byte *area) { return wordOf(area).load(); }

/// One rank of a test.
struct Seat {
  const int32_t rank, ranks;
  ControlPlane &plane;
  JobControl &job;
  NodeControl &node;
  uint64_t meetings = 0;

  Team team(TeamKey key, TeamShape shape) const {
    Team out;
    static_cast<TeamShape &>(out) = shape;
    out.key = key;
    out.epoch = &job.barrierEpoch(key);
    return out;
  }
  Team world() const { return team(kWorldTeam, {0, 1, ranks}); }
  uint64_t *heapWord(int32_t r, int i) const {
    return reinterpret_cast<uint64_t *>(plane.heapBase() + uint64_t(r) * plane.heapBytes()) + i;
  }
  void await(const std::atomic<uint64_t> &epoch, uint64_t number) const {
    until([&] { return epoch.load(std::memory_order_acquire) >= number; });
  }
  template <typename Condition> void until(Condition holds) const {
    for (uint64_t begin = nowNs(); !holds(); sleepNs(20000))
      if (double(nowNs() - begin) * 1e-9 > kPatience) {
        std::cerr << "rank " << rank << " waits in vain\n";
        _exit(97);
      }
  }
  bool isHere(int32_t r) const {
    return r / plane.ranksPerMachine() == rank / plane.ranksPerMachine();
  }
  /// A barrier of all hosts; true for the last one.
  bool meet(std::string_view request = "meet") {
    const Team all = world();
    bool last = job.arriveHost(all, ++meetings, request, {});
    await(job.hostEpoch(kWorldTeam), meetings);
    return last;
  }
};

class ControlConformance : public testing::TestWithParam<PlaneWay> {
protected:
  void SetUp() override { ASSERT_TRUE(useControlPlane(GetParam().plane).ok()); }
  void TearDown() override { (void)useControlPlane(controlPlaneTable()[0].name); }
  const ControlPlaneRow &row() { return localControlPlane(); }

  std::shared_ptr<ControlPlane> make(int32_t ranks) {
    auto plane = row().create(ranks, kHeap);
    EXPECT_TRUE(plane.ok()) << plane.status().report();
    if (!plane.ok())
      return nullptr;
    (*plane)->readAreasBy(readWord);
    return *plane;
  }

  static void sit(ControlPlane &plane, int32_t rank, int32_t ranks,
                  const std::function<void(Seat &)> &body) {
    plane.readAreasBy(readWord);
    RankControl place = plane.open(rank);
    Seat seat{rank, ranks, plane, *place.job, *place.node};
    body(seat);
  }

  /// Starts `body` as a process of its own, which comes to the plane by its descriptor.
  static pid_t start(ControlPlane &plane, const ControlPlaneRow &row, int32_t rank, int32_t ranks,
                     const std::function<void(Seat &)> &body) {
    std::cout.flush();
    fflush(nullptr);
    pid_t pid = fork();
    if (pid)
      return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    auto own = row.attach(fcntl(plane.descriptor(), F_DUPFD, 0));
    EXPECT_TRUE(own.ok()) << own.status().report();
    if (own.ok())
      sit(**own, rank, ranks, body);
    std::cout.flush();
    fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 99 : 0);
  }
  static int waitStatusOf(pid_t pid) {
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
  }

  /// Runs `body` once for each rank, all at once.
  void onRanks(int32_t ranks, const std::function<void(Seat &)> &body) {
    std::shared_ptr<ControlPlane> plane = make(ranks);
    ASSERT_TRUE(plane);
    if (!GetParam().processes) {
      std::vector<std::thread> threads;
      for (int32_t r = 0; r < ranks; ++r)
        threads.emplace_back([&, r] { sit(*plane, r, ranks, body); });
      for (std::thread &thread : threads)
        thread.join();
      return;
    }
    std::vector<pid_t> pids;
    for (int32_t r = 0; r < ranks; ++r)
      pids.push_back(start(*plane, row(), r, ranks, body));
    for (int32_t r = 0; r < ranks; ++r)
      EXPECT_EQ(waitStatusOf(pids[size_t(r)]), 0) << "rank " << r;
  }
};

INSTANTIATE_TEST_SUITE_P(Planes, ControlConformance, testing::ValuesIn(planeWays()),
                         [](const auto &info) { return info.param.name; });

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

TEST_P(ControlConformance, RanksJoinOnceAndShowWhatTheyDo) {
  onRanks(3, [](Seat &s) {
    EXPECT_EQ(s.plane.worldSize(), 3);
    EXPECT_EQ(s.plane.heapBytes(), kHeap);
    EXPECT_EQ(s.job.stateOf(s.rank), RankState::Absent);
    EXPECT_GE(s.plane.ranksPerMachine(), 1);
    EXPECT_TRUE(s.plane.ranksPerMachine() == 3 || localControlPlane().severalMachines);
    EXPECT_EQ(s.node.processOf(s.rank), 0);
    EXPECT_EQ(s.job.join(1000 + s.rank), 0);
    EXPECT_EQ(s.job.join(2000), 1000 + s.rank) << "the place is taken";
    RankFacts &own = s.job.own();
    own.launches = uint64_t(10 + s.rank);
    own.collectives = 20;
    own.hostMoves = 30;
    own.inFlight = 40;
    own.hostBusy = 1;
    own.streamsInside = 2;
    own.streamsAtWork = 3;
    own.hostWaiting = 4;
    own.launching = 5;
    own.state.store(uint32_t(RankState::Launch), std::memory_order_release);
    s.meet();
    for (int32_t r = 0; r < 3; ++r) {
      RankReport report = s.job.report(r);
      EXPECT_EQ(report.state, RankState::Launch);
      EXPECT_EQ(s.job.stateOf(r), RankState::Launch);
      EXPECT_EQ(report.launches, uint64_t(10 + r));
      EXPECT_EQ(report.collectives, 20u);
      EXPECT_EQ(report.hostMoves, 30u);
      EXPECT_EQ(report.inFlight, 40u);
      EXPECT_TRUE(report.hostBusy);
      EXPECT_EQ(report.streamsInside, 2u);
      EXPECT_EQ(report.streamsAtWork, 3u);
      EXPECT_EQ(report.hostWaiting, 4u);
      EXPECT_EQ(report.launching, 5u);
      if (s.isHere(r))
        EXPECT_EQ(s.node.processOf(r), 1000 + r);
    }
    s.meet();
  });
}

TEST_P(ControlConformance, AddressesArePublished) {
  onRanks(3, [](Seat &s) {
    EXPECT_FALSE(s.job.addressOf((s.rank + 1) % 3).has_value());
    s.meet();
    // Any bytes, of any number: none, and as many as may be.
    auto address = [](int32_t r) {
      std::string out(r == 0 ? 0 : r == 1 ? 7 : kMaxAddressBytes, '\0');
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = char(patternByte(r, 1, i) * (i % 5 != 0));
      return out;
    };
    s.job.publishAddress(address(s.rank));
    s.meet();
    for (int32_t r = 0; r < 3; ++r)
      EXPECT_EQ(s.job.addressOf(r), address(r));
    s.meet();
  });
}

TEST_P(ControlConformance, WhatIsSettledFirstHolds) {
  onRanks(4, [](Seat &s) {
    uint64_t schedule = s.job.settle(JobSetting::Schedule, uint64_t(100 + s.rank));
    EXPECT_TRUE(schedule >= 100 && schedule < 104) << schedule;
    *s.heapWord(s.rank, 0) = schedule;
    s.meet();
    for (int32_t r = 0; r < 4; ++r)
      EXPECT_EQ(*s.heapWord(r, 0), schedule);
    EXPECT_EQ(s.job.settle(JobSetting::Schedule, 7), schedule);
    EXPECT_EQ(s.job.settle(JobSetting::Profile, 7), 7u) << "each setting by itself";
    s.meet();
  });
}

//===----------------------------------------------------------------------===//
// The failure
//===----------------------------------------------------------------------===//

TEST_P(ControlConformance, OneFailureIsThatOfTheJob) {
  onRanks(4, [](Seat &s) {
    EXPECT_FALSE(s.job.failed());
    EXPECT_EQ(s.job.failureNumber(), 0u);
    EXPECT_EQ(s.job.readFailure().code, StatusCode::Internal);
    s.meet();
    FailureDetail own;
    own.code = StatusCode::BadAccess;
    own.rank = s.rank;
    own.program = {s.rank, s.rank + 1, s.rank + 2};
    own.kernel = "kernel_" + std::to_string(s.rank);
    own.message = "from " + std::to_string(s.rank);
    own.site.file = "file_" + std::to_string(s.rank) + ".py";
    own.site.line = 100 + s.rank;
    own.site.column = s.rank;
    own.site.function = "f" + std::to_string(s.rank);
    own.site.text = "x = " + std::to_string(s.rank);
    s.job.publishFailure(own);
    EXPECT_TRUE(s.job.failed());
    s.meet();
    FailureDetail first = s.job.readFailure();
    const int32_t r = first.rank;
    ASSERT_TRUE(r >= 0 && r < 4);
    EXPECT_EQ(first.code, StatusCode::BadAccess);
    EXPECT_EQ(first.program, (std::array<int32_t, 3>{r, r + 1, r + 2}));
    EXPECT_EQ(first.kernel, "kernel_" + std::to_string(r));
    EXPECT_EQ(first.message, "from " + std::to_string(r));
    EXPECT_EQ(first.site.file, "file_" + std::to_string(r) + ".py");
    EXPECT_EQ(first.site.line, 100 + r);
    EXPECT_EQ(first.site.column, r);
    EXPECT_EQ(first.site.function, "f" + std::to_string(r));
    EXPECT_EQ(first.site.text, "x = " + std::to_string(r));
    EXPECT_EQ(s.job.failureNumber(), 1u);
    EXPECT_EQ(s.plane.blamedRank(), r);
    *s.heapWord(s.rank, 0) = uint64_t(r);
    s.meet();
    EXPECT_EQ(*s.heapWord(0, 0), uint64_t(r)) << "all ranks see the same one";
  });
}

TEST_P(ControlConformance, LongTextsOfAFailureKeepTheirBeginning) {
  onRanks(2, [](Seat &s) {
    if (s.rank == 0) {
      FailureDetail own;
      own.message = "begins " + std::string(100000, 'x');
      own.site.file = std::string(5000, 'f');
      s.job.publishFailure(own);
    }
    s.meet();
    FailureDetail first = s.job.readFailure();
    EXPECT_EQ(first.message.substr(0, 1000), "begins " + std::string(993, 'x'));
    EXPECT_EQ(first.site.file.substr(0, 100), std::string(100, 'f'));
  });
}

TEST_P(ControlConformance, AccountsBelongToOneFailure) {
  onRanks(2, [](Seat &s) {
    EXPECT_FALSE(s.job.accountOf(1 - s.rank, 1).has_value());
    s.meet();
    BlockedGroup group;
    group.kind = "wait";
    group.programs = "0-3";
    group.programCount = 4;
    group.address = "flags[" + std::to_string(s.rank) + "]";
    group.hasValues = true;
    group.currentValue = 5;
    group.awaitedValue = -6;
    group.comparison = ">=";
    group.note = "a note";
    group.site.line = 12;
    std::vector<BlockedGroup> groups(size_t(1 + s.rank), group);
    s.job.publishAccount(3, groups);
    s.meet();
    const int32_t peer = 1 - s.rank;
    EXPECT_FALSE(s.job.accountOf(peer, 2).has_value());
    std::optional<std::vector<BlockedGroup>> found = s.job.accountOf(peer, 3);
    ASSERT_TRUE(found.has_value());
    ASSERT_EQ(found->size(), size_t(1 + peer));
    for (const BlockedGroup &g : *found) {
      EXPECT_EQ(g.rank, peer);
      EXPECT_EQ(g.kind, "wait");
      EXPECT_EQ(g.programs, "0-3");
      EXPECT_EQ(g.programCount, 4);
      EXPECT_EQ(g.address, "flags[" + std::to_string(peer) + "]");
      EXPECT_TRUE(g.hasValues);
      EXPECT_EQ(g.currentValue, 5);
      EXPECT_EQ(g.awaitedValue, -6);
      EXPECT_EQ(g.comparison, ">=");
      EXPECT_EQ(g.note, "a note");
      EXPECT_EQ(g.site.line, 12);
    }
    s.meet();
  });
}

//===----------------------------------------------------------------------===//
// Barriers of hosts
//===----------------------------------------------------------------------===//

TEST_P(ControlConformance, HostBarriersOrderAndCompare) {
  onRanks(4, [](Seat &s) {
    std::minstd_rand random(unsigned(s.rank) + 1);
    const Team all = s.world();
    const std::atomic<uint64_t> &epoch = s.job.hostEpoch(kWorldTeam);
    for (uint64_t number = 1; number <= 200; ++number) {
      *s.heapWord(s.rank, 0) = number; // plain: the barrier orders it
      if (random() % 8 == 0)
        sleepNs(random() % 100000);
      std::string request = std::to_string(number) + " of " + std::to_string(s.rank);
      // Exactly one is the last, and the barrier is not complete before it says so.
      std::atomic<uint64_t> &lasts = *reinterpret_cast<std::atomic<uint64_t> *>(s.heapWord(0, 1));
      bool seenComplete = false;
      bool last = s.job.arriveHost(all, number, request, [&] {
        seenComplete = epoch.load() == number;
        lasts.fetch_add(1);
      });
      EXPECT_FALSE(last && seenComplete);
      s.await(s.job.hostEpoch(kWorldTeam), number);
      EXPECT_EQ(lasts.load(), number);
      for (int32_t r = 0; r < 4; ++r) {
        EXPECT_GE(*s.heapWord(r, 0), number);
        EXPECT_EQ(s.job.requestOf(all, number, r),
                  std::to_string(number) + " of " + std::to_string(r));
      }
      s.job.post((s.rank + 1) % 4, {int32_t(number), s.rank});
      // A second one: nobody overwrites what others still read.
      s.job.arriveHost(s.team(peersTeam(0), {0, 1, 4}), number, "again", {});
      s.await(s.job.hostEpoch(peersTeam(0)), number);
      EXPECT_EQ(s.job.posted(), (std::array<int32_t, 2>{int32_t(number), (s.rank + 3) % 4}));
    }
  });
}

TEST_P(ControlConformance, HostBarriersOfTeamsAreOfTheirMembersAlone) {
  onRanks(4, [](Seat &s) {
    const int32_t first = s.rank / 2 * 2;
    const Team node = s.team(nodeTeam(first), {first, 1, 2});
    const Team peers = s.team(peersTeam(s.rank % 2), {s.rank % 2, 2, 2});
    for (uint64_t number = 1; number <= 50; ++number)
      for (const Team &team : {node, peers}) {
        for (uint64_t half : {2 * number - 1, 2 * number}) {
          s.job.arriveHost(team, half, "team " + std::to_string(team.key), {});
          s.await(s.job.hostEpoch(team.key), half);
          if (half % 2 == 1)
            for (int32_t i = 0; i < 2; ++i)
              EXPECT_EQ(s.job.requestOf(team, half, team.rankOf(i)),
                        "team " + std::to_string(team.key));
        }
      }
    EXPECT_EQ(s.job.hostEpoch(kWorldTeam).load(), 0u);
    s.meet();
  });
}

TEST_P(ControlConformance, PlacesOfRequestsBelongToOneBarrier) {
  onRanks(2, [](Seat &s) {
    s.meet();
    EXPECT_FALSE(s.job.requestPlaceOf(1, 1 - s.rank).has_value());
    s.meet();
    s.job.noteRequestPlace(2, "job.py:" + std::to_string(s.rank));
    s.until([&] { return s.job.requestPlaceOf(2, 1 - s.rank).has_value(); });
    EXPECT_EQ(*s.job.requestPlaceOf(2, 1 - s.rank), "job.py:" + std::to_string(1 - s.rank));
    s.meet();
    s.meet();
    EXPECT_FALSE(s.job.requestPlaceOf(4, 1 - s.rank).has_value()) << "of another barrier";
    s.meet();
  });
}

TEST_P(ControlConformance, RecoveryForgetsWhatHasStopped) {
  onRanks(3, [](Seat &s) {
    const Team all = s.world();
    for (uint64_t number = 1; number <= 20; ++number) {
      // All but one have arrived in barriers of hosts and of programs, and wait.
      const int32_t missing = int32_t(number % 3);
      const uint64_t barriers = all.barriers();
      const uint64_t hosts = s.job.hostEpoch(kWorldTeam).load();
      if (s.rank != missing) {
        EXPECT_EQ(s.job.arrive(all, 1).outcome, BarrierArrival::Waits);
        EXPECT_FALSE(s.job.arriveHost(all, hosts + 1, "stopped", {}));
      }
      FailureDetail detail;
      detail.message = "failure " + std::to_string(number);
      s.job.publishFailure(detail);
      *s.heapWord(s.rank, 0) = number;
      if (!s.job.arriveRecovery(number, 77 + number, {}))
        s.await(s.job.recoveryEpoch(), number);
      EXPECT_EQ(*s.heapWord((s.rank + 1) % 3, 0), number);
      EXPECT_EQ(s.job.recoveryHashOf((s.rank + 1) % 3), 77 + number);
      EXPECT_FALSE(s.job.failed());
      EXPECT_EQ(s.job.failureNumber(), number);
      EXPECT_EQ(s.job.lastBarrier(all, s.rank).number, 0u);
      EXPECT_EQ(all.barriers(), barriers) << "what has stopped is not complete";
      // Nobody reads these numbers any more before the next one changes them.
      s.job.arriveHost(all, hosts + 1, "goes on", {});
      s.await(s.job.hostEpoch(kWorldTeam), hosts + 1);
      EXPECT_EQ(s.job.requestOf(all, hosts + 1, missing), "goes on");
      if (s.job.arrive(all, 2).outcome == BarrierArrival::Waits)
        s.await(s.job.barrierEpoch(kWorldTeam), barriers + 1);
      EXPECT_EQ(all.barriers(), barriers + 1);
      s.job.arriveHost(all, hosts + 2, "end of round", {});
      s.await(s.job.hostEpoch(kWorldTeam), hosts + 2);
    }
  });
}

TEST_P(ControlConformance, AWorldOfOneForgetsByItself) {
  auto plane = row().createAlone();
  ASSERT_TRUE(plane.ok()) << plane.status().report();
  EXPECT_EQ((*plane)->worldSize(), 1);
  EXPECT_EQ((*plane)->heapBytes(), 0u);
  EXPECT_EQ((*plane)->heapBase(), nullptr);
  sit(**plane, 0, 1, [](Seat &s) {
    for (uint64_t number = 1; number <= 3; ++number) {
      s.job.publishFailure({});
      EXPECT_TRUE(s.job.failed());
      EXPECT_EQ(s.job.failureNumber(), number);
      s.job.forgetFailure();
      EXPECT_FALSE(s.job.failed());
    }
  });
}

//===----------------------------------------------------------------------===//
// Barriers of programs
//===----------------------------------------------------------------------===//

TEST_P(ControlConformance, ProgramBarriersOrderStores) {
  onRanks(4, [](Seat &s) {
    const Team all = s.world();
    const Team pair = s.team(nodeTeam(s.rank / 2 * 2), {s.rank / 2 * 2, 1, 2});
    for (uint64_t number = 1; number <= 300; ++number)
      for (const Team &team : {all, pair}) {
        // Others may be one barrier ahead, at the other word.
        const int word = (team.key == kWorldTeam ? 0 : 2) + int(number & 1);
        *s.heapWord(s.rank, word) = number; // plain: the barrier orders it
        if (team.memberOf(s.rank) == 0)
          s.job.noteCall(team, number, {number * 10, uint64_t(team.key)});
        BarrierArrival arrival = s.job.arrive(team, 1000 + number);
        EXPECT_NE(arrival.outcome, BarrierArrival::Unlike);
        EXPECT_EQ(arrival.number, number);
        if (arrival.outcome == BarrierArrival::Waits)
          s.await(*team.epoch, number);
        EXPECT_EQ(team.barriers(), number) << "nobody can be further without this rank";
        for (int32_t i = 0; i < team.size; ++i) {
          EXPECT_EQ(*s.heapWord(team.rankOf(i), word), number);
          BarrierPoint point = s.job.lastBarrier(team, team.rankOf(i));
          EXPECT_GE(point.number, number);
          if (point.number == number)
            EXPECT_EQ(point.id, 1000 + number);
        }
        TeamCall call = s.job.callOf(team, number);
        EXPECT_EQ(call.bytes, number * 10);
        EXPECT_EQ(call.root, uint64_t(team.key));
      }
    EXPECT_EQ(s.job.report(s.rank).barriers, 600u);
  });
}

TEST_P(ControlConformance, UnlikeBarriersAreFoundWhoeverIsLast) {
  onRanks(3, [](Seat &s) {
    const Team all = s.world();
    // Ids that are alike in a simple sum, and ids that differ in single bits.
    const std::array<std::array<uint64_t, 3>, 6> rounds = {
        {{1, 2, 3}, {2, 2, 3}, {1, 3, 2}, {5, 5, 5}, {1ull << 32, 1, 1}, {0, 0, 1ull << 63}}};
    for (size_t round = 0; round < rounds.size(); ++round) {
      const auto &ids = rounds[round];
      const bool alike = ids[0] == ids[1] && ids[1] == ids[2];
      const uint64_t number = round + 1;
      BarrierArrival arrival = s.job.arrive(all, ids[size_t(s.rank)]);
      EXPECT_EQ(arrival.number, number);
      if (arrival.outcome != BarrierArrival::Waits)
        EXPECT_EQ(arrival.outcome == BarrierArrival::Complete, alike) << "round " << round;
      if (arrival.outcome == BarrierArrival::Unlike) {
        EXPECT_EQ(all.barriers(), number - 1);
        for (int32_t r = 0; r < 3; ++r) {
          EXPECT_EQ(s.job.lastBarrier(all, r).id, ids[size_t(r)]);
          EXPECT_EQ(s.job.lastBarrier(all, r).number, number);
        }
        s.job.completeBarrier(all, number);
      }
      s.await(*all.epoch, number);
      s.meet();
    }
  });
}

//===----------------------------------------------------------------------===//
// Teams and texts
//===----------------------------------------------------------------------===//

TEST_P(ControlConformance, TeamsLiveOneGeneration) {
  onRanks(3, [](Seat &s) {
    uint64_t stopped = 0;
    for (int round = 0; round < 20; ++round) {
      const TeamShape shape{0, 1 + round % 2, 2};
      if (s.rank == 1) {
        auto made = s.job.makeTeam(shape);
        ASSERT_TRUE(made.has_value());
        for (int32_t r = 0; r < 3; ++r)
          s.job.post(r, {made->key, int32_t(made->generation)});
      }
      s.meet();
      const TeamKey key = s.job.posted()[0];
      const uint32_t generation = uint32_t(s.job.posted()[1]);
      EXPECT_TRUE(key >= 1 && key <= kMaxTeams);
      std::optional<TeamShape> found = s.job.findTeam(key, generation);
      ASSERT_TRUE(found.has_value());
      EXPECT_EQ(found->start, shape.start);
      EXPECT_EQ(found->stride, shape.stride);
      EXPECT_EQ(found->size, shape.size);
      EXPECT_FALSE(s.job.findTeam(key, generation + 1).has_value());
      const Team team = s.team(key, shape);
      const uint64_t before = team.barriers(), hosts = s.job.hostEpoch(key).load();
      s.meet();
      if (team.memberOf(s.rank) >= 0) {
        if (s.job.arrive(team, 1).outcome == BarrierArrival::Waits)
          s.await(*team.epoch, before + 1);
        s.job.arriveHost(team, hosts + 1, "agree", {});
        s.await(s.job.hostEpoch(key), hosts + 1);
        s.job.leaveTeam(team);
        EXPECT_FALSE(s.job.findTeam(key, generation).has_value()) << "nobody finds it any more";
      }
      s.meet();
      EXPECT_FALSE(s.job.findTeam(key, generation).has_value());
      stopped += team.barriers();
      s.meet();
    }
    EXPECT_GT(stopped, 0u);
  });
}

TEST_P(ControlConformance, ThereAreSoManyTeams) {
  onRanks(2, [](Seat &s) {
    if (s.rank == 0) {
      std::set<TeamKey> keys;
      for (int32_t i = 0; i < kMaxTeams; ++i) {
        auto made = s.job.makeTeam({0, 1, 1});
        ASSERT_TRUE(made.has_value()) << i;
        keys.insert(made->key);
      }
      EXPECT_EQ(keys.size(), size_t(kMaxTeams));
      EXPECT_FALSE(s.job.makeTeam({0, 1, 1}).has_value());
      s.job.dropTeam(*keys.begin());
      auto made = s.job.makeTeam({1, 1, 1});
      ASSERT_TRUE(made.has_value());
      EXPECT_EQ(made->key, *keys.begin());
    }
    s.meet();
    if (s.rank == 1)
      EXPECT_FALSE(s.job.makeTeam({0, 1, 1}).has_value());
    s.meet();
  });
}

TEST_P(ControlConformance, OneRankPrintsAText) {
  onRanks(4, [](Seat &s) {
    const uint64_t hash = 0x1234567890ab;
    const int32_t printer = s.job.claimText(hash);
    EXPECT_TRUE(printer >= 0 && printer < 4);
    *s.heapWord(s.rank, 0) = uint64_t(printer);
    EXPECT_EQ(s.job.claimText(hash), printer);
    s.meet();
    for (int32_t r = 0; r < 4; ++r)
      EXPECT_EQ(*s.heapWord(r, 0), uint64_t(printer));
    if (s.rank == 2)
      EXPECT_EQ(s.job.claimText(0x777), 2);
    s.meet();
    EXPECT_EQ(s.job.claimText(0x777), 2);
  });
}

//===----------------------------------------------------------------------===//
// The ranks of the machine, and the memory
//===----------------------------------------------------------------------===//

TEST_P(ControlConformance, WordsOfTheMachineAreShared) {
  if (row().severalMachines)
    GTEST_SKIP() << "its ranks may be on several machines";
  onRanks(3, [](Seat &s) {
    for (int32_t r = 0; r < 3; ++r) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(s.node.deviceArea(r)) % 4096, 0u);
      if (r == s.rank)
        for (uint64_t i = 0; i < kDeviceAreaBytes; ++i)
          ASSERT_EQ(s.node.deviceArea(r)[i], std::byte(0)) << i;
    }
    s.meet();
    s.node.deviceArea(s.rank)[0] = std::byte(1 + s.rank);
    s.node.deviceArea(s.rank)[kDeviceAreaBytes - 1] = std::byte(11 + s.rank);
    s.node.turnsOf(s.rank).turn.store(uint32_t(21 + s.rank));
    s.node.turns().work.fetch_add(1);
    s.node.hostWaits()[0].passes.store(uint64_t(31 + s.rank));
    s.node.hostWaits()[0].active.store(1);
    s.node.hostWaits()[kMaxHostWaits - 1].passes.store(41);
    s.node.hostWaits()[kMaxHostWaits - 1].active.store(uint32_t(s.rank == 1));
    s.meet();
    EXPECT_EQ(s.node.turns().work.load(), 3u);
    for (int32_t r = 0; r < 3; ++r) {
      EXPECT_EQ(s.node.deviceArea(r)[0], std::byte(1 + r));
      EXPECT_EQ(s.node.deviceArea(r)[kDeviceAreaBytes - 1], std::byte(11 + r));
      EXPECT_EQ(s.node.turnsOf(r).turn.load(), uint32_t(21 + r));
      std::vector<uint64_t> waits = {uint64_t(31 + r)};
      if (r == 1)
        waits.push_back(41);
      EXPECT_EQ(s.node.hostWaitsOf(r), waits);
    }
    s.meet();
  });
}

TEST_P(ControlConformance, OtherMachinesSeeThatARankMoves) {
  if (!row().severalMachines)
    GTEST_SKIP() << "its ranks are on one machine";
  onRanks(3, [](Seat &s) {
    EXPECT_EQ(s.job.join(int32_t(getpid())), 0);
    for (uint64_t step = 1; step <= 2; ++step) {
      wordOf(s.node.deviceArea(s.rank)).store(10 * uint64_t(s.rank) + step);
      s.meet();
      for (int32_t r = 0; r < 3; ++r)
        if (!s.isHere(r))
          s.until([&] {
            const RankReport report = s.job.report(r);
            return report.moves == 10 * uint64_t(r) + step && report.cpuTicks > 0;
          });
      s.meet();
    }
  });
}

TEST_P(ControlConformance, WhatNeedsOneMachineIsRefusedOnSeveral) {
  if (!row().severalMachines)
    GTEST_SKIP() << "its ranks are on one machine";
  auto refusal = [](const char *transport, const char *schedule, int32_t perNode) {
    JobOptions options = testOptions();
    options.transport = transport;
    options.schedule = schedule;
    options.ranksPerNode = perNode;
    auto jobs = Job::createThreadRanks(2, options);
    EXPECT_FALSE(jobs.ok());
    if (jobs.ok())
      return std::string();
    EXPECT_EQ(jobs.status().code(), StatusCode::Environment);
    return jobs.status().message();
  };
  auto has = [](const std::string &text, const char *part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(refusal("remote", "random:1", 0), "NEREID_SCHEDULE=random:1 needs all ranks on one machine");
  has(refusal("delayed:shared_memory", "fifo", 0),
      "NEREID_TRANSPORT='delayed:shared_memory' needs all ranks on one machine, but this job has "
      "1 of 2 on each; those that need not: remote");
  has(refusal("remote", "fifo", 2), "NEREID_RANKS_PER_NODE=2: nodes must not go over");
}

/// args: the flag. Programs start one after the other, each takes a while and no
/// processor time; the last one tells rank 0.
void nap(nrd_program *p, const uint64_t *args) {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  if (p->pid[0] == p->grid[0] - 1)
    nrd_shmem_p(p, pointerArg<uint64_t>(args, 0), 1, 8, 0, 0);
}

TEST_P(ControlConformance, ProgramsOfOtherMachinesThatMoveAreWaitedFor) {
  if (!row().severalMachines)
    GTEST_SKIP() << "its ranks are on one machine";
  JobOptions options = testOptions();
  options.transport = "remote";
  options.timeoutSeconds = 0.5;
  runThreads(2, options, [](Job &job) {
    auto *flag = symmetric<uint64_t>(job, 1, "flag");
    if (job.rank() == 1) {
      Status st = launchBlocking(job, nap, {arg(flag)}, 30);
      EXPECT_TRUE(st.ok()) << st.report();
    } else {
      Status st = job.waitUntil(flag, NRD_CMP_EQ, 1, 8, false);
      EXPECT_TRUE(st.ok()) << st.report();
    }
    EXPECT_TRUE(job.barrier().ok());
  });
}

TEST_P(ControlConformance, SeveralMachinesHaveNoCertainDeadlocks) {
  if (!row().severalMachines)
    GTEST_SKIP() << "its ranks are on one machine";
  JobOptions options = testOptions();
  options.transport = "remote";
  options.timeoutSeconds = 0.5;
  runThreads(2, options, [](Job &job) {
    auto *flag = symmetric<uint64_t>(job, 1, "flag");
    Status st = job.waitUntil(flag, NRD_CMP_EQ, 1, 8, false);
    EXPECT_EQ(st.code(), StatusCode::Timeout) << st.report();
  });
}

TEST_P(ControlConformance, HeapsAreZeroAndShared) {
  onRanks(3, [](Seat &s) {
    ASSERT_NE(s.plane.heapBase(), nullptr);
    EXPECT_EQ(s.plane.reachBase(), s.plane.heapBase());
    const int last = int(kHeap / 8) - 1;
    for (int i = 0; i <= last; ++i)
      ASSERT_EQ(*s.heapWord(s.rank, i), 0u);
    s.meet();
    for (int32_t r = 0; r < 3; ++r) { // each writes a word of its own in all heaps
      *s.heapWord(r, s.rank) = uint64_t(100 * r + s.rank);
      *s.heapWord(r, last - s.rank) = uint64_t(200 * r + s.rank);
    }
    s.meet();
    for (int32_t r = 0; r < 3; ++r)
      for (int32_t from = 0; from < 3; ++from) {
        EXPECT_EQ(*s.heapWord(r, from), uint64_t(100 * r + from));
        EXPECT_EQ(*s.heapWord(r, last - from), uint64_t(200 * r + from));
      }
    s.meet();
  });
  auto one = make(1), other = make(1);
  *one->heapBase() = 7;
  EXPECT_EQ(*other->heapBase(), 0) << "each job has its own";
  EXPECT_NE(one->identity(), other->identity());
}

TEST_P(ControlConformance, ALauncherTellsHowARankEnded) {
  std::shared_ptr<ControlPlane> plane = make(3);
  ASSERT_TRUE(plane);
  EXPECT_EQ(plane->blamedRank(), -1);
  plane->announceLauncher();
  sit(*plane, 0, 3, [&](Seat &s) {
    RankControl second = plane->open(1), third = plane->open(2);
    EXPECT_EQ(second.job->join(4711), 0);
    EXPECT_EQ(third.job->join(4712), 0);
    second.job->own().state.store(uint32_t(RankState::Launch));
    third.job->own().state.store(uint32_t(RankState::Finalized));
    plane->rankEnded(1, 3 << 8);
    plane->rankEnded(2, 0);
    EXPECT_EQ(s.job.stateOf(1), RankState::Dead);
    EXPECT_EQ(s.job.stateOf(2), RankState::Finalized) << "it left in good order";
    Departure departure = s.job.departureOf(1);
    EXPECT_EQ(departure.process, 4711);
    ASSERT_TRUE(departure.waitStatus.has_value());
    EXPECT_EQ(*departure.waitStatus, 3 << 8);
  });
}

TEST_P(ControlConformance, ProcessesThatEndAreFound) {
  if (!GetParam().processes)
    GTEST_SKIP() << "threads end with their process";
  std::shared_ptr<ControlPlane> plane = make(3);
  ASSERT_TRUE(plane);
  auto live = [](Seat &s) {
    s.job.join(int32_t(getpid()));
    s.job.own().state.store(uint32_t(RankState::Host), std::memory_order_release);
    if (s.rank == 2) // leaves in good order
      s.job.own().state.store(uint32_t(RankState::Finalized), std::memory_order_release);
    else
      pause();
  };
  pid_t victim = start(*plane, row(), 1, 3, live), other = start(*plane, row(), 2, 3, live);
  sit(*plane, 0, 3, [&](Seat &s) {
    s.job.join(int32_t(getpid()));
    s.until([&] { return s.job.stateOf(1) == RankState::Host && isGone(s.job.stateOf(2)); });
    s.job.findLost();
    EXPECT_EQ(s.job.stateOf(1), RankState::Host);
    EXPECT_FALSE(s.job.hasEnded(1));
    kill(victim, SIGKILL);
    waitStatusOf(victim);
    EXPECT_EQ(waitStatusOf(other), 0);
    if (!s.isHere(1)) // its machine has to say so
      s.until([&] { return s.job.hasEnded(1); });
    EXPECT_TRUE(s.job.hasEnded(1));
    s.job.findLost();
    EXPECT_EQ(s.job.stateOf(1), RankState::Dead);
    EXPECT_EQ(s.job.stateOf(2), RankState::Finalized) << "it has said so itself";
    EXPECT_EQ(s.job.departureOf(1).process, victim);
    EXPECT_FALSE(s.job.departureOf(1).waitStatus.has_value()) << "there is no launcher";
  });
}

TEST_P(ControlConformance, HeapsOfOtherNodesCanBeClosed) {
  if (!GetParam().processes)
    GTEST_SKIP() << "threads see what their process sees";
  for (bool keepReach : {false, true}) {
    std::shared_ptr<ControlPlane> plane = make(4);
    ASSERT_TRUE(plane);
    pid_t pid = start(*plane, row(), 1, 4, [&](Seat &s) {
      ASSERT_TRUE(s.plane.isolate(0, 2, keepReach).ok());
      *s.heapWord(0, 0) = 1;
      *s.heapWord(1, 0) = 2;
      EXPECT_EQ(s.plane.reachBase() != nullptr, keepReach);
      if (keepReach)
        *reinterpret_cast<uint64_t *>(s.plane.reachBase() + 3 * kHeap) = 3;
    });
    EXPECT_EQ(waitStatusOf(pid), 0);
    EXPECT_EQ(*reinterpret_cast<uint64_t *>(plane->heapBase() + kHeap), 2u);
    EXPECT_EQ(*reinterpret_cast<uint64_t *>(plane->heapBase() + 3 * kHeap), keepReach ? 3u : 0u);
    pid = start(*plane, row(), 1, 4, [&](Seat &s) {
      signal(SIGSEGV, SIG_DFL);
      if (s.plane.isolate(0, 2, keepReach).ok())
        *s.heapWord(2, 0) = 4;
    });
    EXPECT_EQ(WTERMSIG(waitStatusOf(pid)), SIGSEGV);
  }
}

TEST_P(ControlConformance, ForeignDescriptorsAreRefused) {
  if (!row().attach)
    GTEST_SKIP() << "no other process comes to it";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  int file = open("/dev/null", O_RDWR);
  close(ends[1]);
  for (int fd : {ends[0], file, 1000000}) {
    auto plane = row().attach(fd);
    EXPECT_FALSE(plane.ok());
    EXPECT_EQ(plane.status().code(), StatusCode::Environment) << plane.status().report();
  }
}

} // namespace
} // namespace nereid::test
