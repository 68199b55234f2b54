// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TcpPlane.cpp - Control of jobs on several machines -----------------===//
//
// In a real job a process is on one machine: its memory has one control block, and
// connect() gives it the way to the others. create() plays two machines in one process,
// for ranks that are threads: two control blocks in one segment, joined by a pair of
// sockets, and heaps that both see. Others may come to that by attach().
//
//===----------------------------------------------------------------------===//
#include "base/Process.h"
#include "control/machine/SegmentPlane.h"
#include "control/tcp/Speaker.h"
#include "control/tcp/TcpJob.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

namespace nereid::runtime {
namespace tcp {

/// Changes with what Message.h says.
static constexpr uint32_t kVersion = 1;

/// Speakers of this process, which is not to end before they may.
static std::mutex speakersLock;
static std::vector<Speaker *> &speakersHere() {
  static auto *all = new std::vector<Speaker *>; // outlives what runs at exit
  return *all;
}
static pid_t speakersProcess = 0;

static void leaveAtExit() {
  if (getpid() != speakersProcess)
    return; // a fork has no threads
  std::vector<Speaker *> all;
  {
    std::lock_guard<std::mutex> guard(speakersLock);
    all = speakersHere();
  }
  for (Speaker *speaker : all)
    speaker->leave();
}

static void closeInFork() {
  for (Speaker *speaker : speakersHere())
    speaker->closeInFork();
  speakersHere().clear();
}

class TcpPlane final : public SegmentPlane {
public:
  TcpPlane(std::shared_ptr<Segment> segment, int32_t perMachine, std::string interfaceName = {})
      : SegmentPlane(std::move(segment)), perMachine(perMachine),
        interfaceName(std::move(interfaceName)) {}
  ~TcpPlane() override {
    for (auto &speaker : speakers) {
      std::lock_guard<std::mutex> guard(speakersLock);
      std::erase(speakersHere(), speaker.get());
    }
  }

  static Expected<std::shared_ptr<ControlPlane>> create(int32_t worldSize, uint64_t heapBytes);
  static Expected<std::shared_ptr<ControlPlane>> attach(int descriptor);
  static Expected<std::shared_ptr<ControlPlane>> createAlone();
  static Expected<std::shared_ptr<ControlPlane>> connect(int descriptor, MachineLinks links);

  int32_t ranksPerMachine() const override { return perMachine; }
  std::string interface() const override { return interfaceName; }
  RankControl open(int32_t rank) override;
  void readAreasBy(std::function<uint64_t(const std::byte *)> moves) override {
    std::lock_guard<std::mutex> guard(areas->lock);
    areas->moves = std::move(moves);
  }
  void announceLauncher() override;
  void rankEnded(int32_t rank, int waitStatus) override;
  int32_t blamedRank() const override { return blockOf(0).blamedRank(); }

private:
  int32_t machineOf(int32_t rank) const { return rank / perMachine; }
  /// A process that plays machines has a block for each.
  ControlBlock blockOf(int32_t rank) const {
    return segment->control(segment->blocks() > 1 ? machineOf(rank) : 0);
  }
  Status speak(Speaker::Shape shape, bool leavesAtExit);

  const int32_t perMachine;
  const std::string interfaceName;
  const std::shared_ptr<Areas> areas = std::make_shared<Areas>();
  std::vector<std::unique_ptr<Speaker>> speakers;
};

Status TcpPlane::speak(Speaker::Shape shape, bool leavesAtExit) {
  shape.identity = identity();
  shape.areas = areas;
  speakers.push_back(std::make_unique<Speaker>(std::move(shape)));
  if (Status st = speakers.back()->start(); !st.ok())
    return st;
  if (leavesAtExit) {
    std::lock_guard<std::mutex> guard(speakersLock);
    static bool prepared = false;
    if (!std::exchange(prepared, true)) {
      std::atexit(leaveAtExit);
      pthread_atfork(nullptr, nullptr, closeInFork);
    }
    speakersProcess = getpid();
    speakersHere().push_back(speakers.back().get());
  }
  return {};
}

/// Two machines, the first of which has one rank more when their number is odd.
static int32_t playedPerMachine(int32_t worldSize, int32_t blocks) {
  return (worldSize + blocks - 1) / blocks;
}

Expected<std::shared_ptr<ControlPlane>> TcpPlane::create(int32_t worldSize, uint64_t heapBytes) {
  const int32_t machines = std::min(worldSize, 2);
  Expected<std::shared_ptr<Segment>> segment = Segment::create(worldSize, heapBytes, machines);
  if (!segment.ok())
    return segment.status();
  const int32_t perMachine = playedPerMachine(worldSize, machines);
  auto plane = std::make_shared<TcpPlane>(*segment, perMachine);
  int ends[2] = {-1, -1};
  if (machines > 1 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return systemError("socketpair", errno);
  Status started;
  for (int32_t m = 0; m < machines && machines > 1; ++m) {
    Speaker::Shape shape;
    shape.block = (*segment)->control(m);
    shape.links = {m, perMachine, {"first", "second"}, "", {ends[m]}, 30};
    shape.played = true;
    if (Status st = plane->speak(std::move(shape), false); !st.ok())
      started = st;
  }
  if (!started.ok())
    return started;
  return std::shared_ptr<ControlPlane>(plane);
}

Expected<std::shared_ptr<ControlPlane>> TcpPlane::attach(int descriptor) {
  Expected<std::shared_ptr<Segment>> segment = Segment::attach(descriptor);
  if (!segment.ok())
    return segment.status();
  return std::shared_ptr<ControlPlane>(std::make_shared<TcpPlane>(
      *segment, playedPerMachine((*segment)->worldSize(), (*segment)->blocks())));
}

Expected<std::shared_ptr<ControlPlane>> TcpPlane::createAlone() {
  Expected<std::shared_ptr<Segment>> segment = Segment::createPrivate();
  if (!segment.ok())
    return segment.status();
  return std::shared_ptr<ControlPlane>(std::make_shared<TcpPlane>(*segment, 1));
}

Expected<std::shared_ptr<ControlPlane>> TcpPlane::connect(int descriptor, MachineLinks links) {
  Expected<std::shared_ptr<Segment>> segment = Segment::attach(descriptor);
  if (!segment.ok()) {
    for (int fd : links.sockets)
      close(fd);
    return segment.status();
  }
  auto plane = std::make_shared<TcpPlane>(*segment, links.ranksPerMachine, links.interface);
  if (!links.sockets.empty()) {
    Speaker::Shape shape;
    shape.block = (*segment)->control();
    shape.links = std::move(links);
    if (Status st = plane->speak(std::move(shape), true); !st.ok())
      return st;
  }
  return std::shared_ptr<ControlPlane>(plane);
}

RankControl TcpPlane::open(int32_t rank) {
  RankControl out;
  const ControlBlock block = blockOf(rank);
  const int32_t on = machineOf(rank), first = on * perMachine;
  const int32_t end = std::min(worldSize(), first + perMachine);
  out.node = std::make_unique<MemoryNode>(block, rank);
  if (perMachine >= worldSize())
    out.job = std::make_unique<MemoryJob>(block, rank, 0, worldSize());
  else
    out.job = std::make_unique<TcpJob>(block, identity(), rank, on, first, end);
  return out;
}

void TcpPlane::announceLauncher() {
  for (int32_t b = 0; b < segment->blocks(); ++b)
    segment->control(b).header().hasLauncher.store(1);
}

// In the rank's own machine; other machines that this process plays hear of it at once.
void TcpPlane::rankEnded(int32_t rank, int waitStatus) {
  blockOf(rank).rankEnded(rank, waitStatus);
  const RankState state = blockOf(rank).stateOf(rank);
  for (int32_t b = 0; b < segment->blocks(); ++b) {
    RankSlot &copy = segment->control(b).rank(rank);
    copy.exitStatus.store(uint32_t(waitStatus) + 1, std::memory_order_release);
    copy.facts.state.store(uint32_t(state), std::memory_order_release);
  }
}

} // namespace tcp

ControlPlaneRow controlPlane_tcp() {
  using tcp::TcpPlane;
  return {"tcp",
          /*severalMachines=*/true,
          kSegmentVersion << 16 | tcp::kVersion,
          TcpPlane::create,
          TcpPlane::attach,
          TcpPlane::createAlone,
          TcpPlane::connect};
}

} // namespace nereid::runtime
