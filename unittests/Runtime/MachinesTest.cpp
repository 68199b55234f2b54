// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MachinesTest.cpp - What machines of one job notice of each other ---===//
//
// Two machines of one rank each, in one process, with a network between them that the
// test can cut, close or fill with nonsense. What calls do is ControlTest's.
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include "base/Clock.h"
#include "control/ControlPlanes.h"

#include <atomic>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace nereid::runtime;

namespace nereid::test {
namespace {

/// Carries bytes between two machines.
class Network {
public:
  Network() {
    for (int i = 0; i < 2; ++i)
      if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends[i]) != 0)
        std::abort();
    thread = std::thread([this] { carry(); });
  }
  ~Network() {
    stopped = true;
    thread.join();
    for (int i = 0; i < 2; ++i)
      hangUp(i);
  }
  int endOf(int machine) const { return ends[machine][0]; }
  void cut() { isCut = true; }
  void hangUp(int machine) {
    if (int fd = std::exchange(ends[machine][1], -1); fd >= 0)
      close(fd);
  }
  void say(int machine, std::string_view bytes) {
    EXPECT_EQ(write(ends[machine][1], bytes.data(), bytes.size()), ssize_t(bytes.size()));
  }

private:
  void carry() {
    char buffer[4096];
    while (!stopped) {
      pollfd polls[2] = {{ends[0][1], POLLIN, 0}, {ends[1][1], POLLIN, 0}};
      poll(polls, 2, 10);
      for (int i = 0; i < 2; ++i)
        if (!isCut && polls[i].revents & POLLIN) {
          const ssize_t got = recv(ends[i][1], buffer, sizeof(buffer), MSG_DONTWAIT);
          if (got > 0)
            (void)!send(ends[1 - i][1], buffer, size_t(got), MSG_NOSIGNAL);
          else
            shutdown(ends[1 - i][1], SHUT_WR);
        }
    }
  }

  int ends[2][2];
  std::atomic<bool> isCut{false}, stopped{false};
  std::thread thread;
};

/// One machine, whose only rank has the machine's number.
struct Machine {
  std::shared_ptr<ControlPlane> plane;
  RankControl place;
  JobControl &job() { return *place.job; }
};

class MachinesTest : public testing::Test {
protected:
  void make(double timeoutSeconds) {
    const ControlPlaneRow *row = nullptr;
    for (const ControlPlaneRow &candidate : controlPlaneTable())
      if (candidate.connect)
        row = &candidate;
    ASSERT_NE(row, nullptr);
    for (int m = 0; m < 2; ++m) {
      auto memory = localControlPlane().create(2, 1 << 16);
      ASSERT_TRUE(memory.ok()) << memory.status().report();
      MachineLinks links{m, 1, {"alpha", "beta"}, "lo", {network.endOf(m)}, timeoutSeconds};
      auto plane = row->connect(fcntl((*memory)->descriptor(), F_DUPFD_CLOEXEC, 0), links);
      ASSERT_TRUE(plane.ok()) << plane.status().report();
      EXPECT_EQ((*plane)->interface(), "lo");
      machines[m].plane = *plane;
      machines[m].place = (*plane)->open(m);
    }
    for (int m = 0; m < 2; ++m) {
      EXPECT_EQ(machines[m].job().join(1000 + m), 0);
      machines[m].job().own().state.store(uint32_t(RankState::Host));
    }
    until([&] {
      return machines[0].job().stateOf(1) == RankState::Host &&
             machines[1].job().stateOf(0) == RankState::Host;
    });
  }
  /// All ranks have left, so that no machine waits for another.
  void TearDown() override {
    for (Machine &machine : machines)
      if (machine.plane)
        machine.job().own().state.store(uint32_t(RankState::Finalized));
  }
  static void until(const std::function<bool()> &holds) {
    for (uint64_t begin = nowNs(); !holds(); sleepNs(1000000))
      ASSERT_LT(double(nowNs() - begin) * 1e-9, 30);
  }
  std::string failureOf(int m) {
    until([&] { return machines[m].job().failed(); });
    return machines[m].job().readFailure().message;
  }
  Team world(int m) {
    Team team;
    static_cast<TeamShape &>(team) = {0, 1, 2};
    team.key = kWorldTeam;
    team.epoch = &machines[m].job().barrierEpoch(kWorldTeam);
    return team;
  }

  Network network; // outlives the machines
  Machine machines[2];
};

TEST_F(MachinesTest, ANetworkThatIsSilentIsLostOnBothSides) {
  make(/*timeoutSeconds=*/1);
  network.cut();
  // Each names the other.
  EXPECT_TRUE(contains(failureOf(0), "host beta (rank 1) has not answered for 1 s"))
      << failureOf(0);
  EXPECT_TRUE(contains(failureOf(1), "host alpha (rank 0) has not answered for 1 s"))
      << failureOf(1);
  EXPECT_EQ(machines[0].job().readFailure().rank, 1);
  EXPECT_EQ(machines[1].job().readFailure().rank, 0);
  EXPECT_EQ(machines[0].job().stateOf(1), RankState::Dead);
  // Ranks still report, to their own machine, and get answers.
  for (int m = 0; m < 2; ++m) {
    BlockedGroup group;
    group.kind = "wait";
    machines[m].job().publishAccount(1, {group});
    ASSERT_TRUE(machines[m].job().accountOf(m, 1).has_value());
    EXPECT_FALSE(machines[m].job().accountOf(1 - m, 1).has_value());
    EXPECT_EQ(machines[m].job().arrive(world(m), 1).outcome, BarrierArrival::Waits);
  }
}

TEST_F(MachinesTest, ACallThatIsUnderWayEndsWhenTheOtherMachineIsLost) {
  make(/*timeoutSeconds=*/1);
  network.cut();
  // Its answer would have to come from machine 0.
  EXPECT_EQ(machines[1].job().settle(JobSetting::Profile, 7), 7u);
  EXPECT_TRUE(contains(failureOf(1), "host alpha"));
}

TEST_F(MachinesTest, AConnectionThatEndsIsAProcessThatHasEnded) {
  make(/*timeoutSeconds=*/30);
  network.hangUp(0);
  until([&] { return machines[0].job().stateOf(1) == RankState::Dead; });
  EXPECT_TRUE(machines[0].job().hasEnded(1));
  EXPECT_EQ(machines[0].job().departureOf(1).process, 1001);
  EXPECT_FALSE(machines[0].job().failed()) << "who waits for it says so";
  network.hangUp(1);
  until([&] { return machines[1].job().stateOf(0) == RankState::Dead; });
}

TEST_F(MachinesTest, NonsenseEndsAConnection) {
  make(/*timeoutSeconds=*/30);
  network.cut();
  network.say(0, std::string(64, '\xff'));
  until([&] { return machines[0].job().stateOf(1) == RankState::Dead; });
}

TEST_F(MachinesTest, AMachineWhoseRanksHaveLeftIsNoLoss) {
  make(/*timeoutSeconds=*/1);
  machines[1].job().own().state.store(uint32_t(RankState::Finalized));
  machines[1].place = {};
  machines[1].plane.reset(); // says farewell
  until([&] { return machines[0].job().stateOf(1) == RankState::Finalized; });
  sleepNs(1500000000);
  EXPECT_FALSE(machines[0].job().failed());
  EXPECT_EQ(machines[0].job().stateOf(1), RankState::Finalized);
}

TEST_F(MachinesTest, AFailureReachesTheOtherMachineAndItsAccountComesBack) {
  make(/*timeoutSeconds=*/30);
  FailureDetail detail;
  detail.code = StatusCode::AssertFailed;
  detail.rank = 1;
  detail.message = "something odd";
  machines[1].job().publishFailure(detail);
  EXPECT_EQ(failureOf(0), "something odd");
  EXPECT_EQ(machines[0].plane->blamedRank(), 1);
  BlockedGroup group;
  group.kind = "host barrier";
  machines[0].job().publishAccount(1, std::vector<BlockedGroup>(100, group));
  until([&] { return machines[1].job().accountOf(0, 1).has_value(); });
  const auto account = *machines[1].job().accountOf(0, 1);
  EXPECT_LT(account.size(), 100u);
  EXPECT_EQ(account.front().kind, "host barrier");
  EXPECT_TRUE(contains(account.back().note, "more places")) << account.back().note;
}

} // namespace
} // namespace nereid::test
