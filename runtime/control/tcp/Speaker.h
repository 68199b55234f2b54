// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Speaker.h - Speaks for the ranks of one machine --------------------===//
//
// Every machine has a copy of what the ranks share (MemoryJob, in memory that the
// ranks of the machine map), and one thread, the speaker, that changes it. All
// changes of all ranks are put into one order by machine 0 and carried out by every
// speaker in that order: so the copies are alike, and each answer that a rank gets
// is the one that all others see.
//
//   rank ──datagram──▶ speaker ──TCP──▶ speaker of machine 0: gives the order
//                         ▲                      │
//        words that       │                      ▼
//        ranks look at ◀──┴────TCP────── to every machine, its own too
//
//   - A call of a rank is a message. Who has to know what came of it waits until its
//     own speaker has carried it out.
//   - With it travel the facts of its rank, as they were when its speaker took it;
//     besides every speaker sends those of all its ranks every kBeatNs. A peer that
//     sends nothing for the time-out of nodes is lost.
//   - A machine that has lost machine 0 says so in its own copy, gives the order to its
//     ranks' calls by itself, and these report what they know. Nothing goes on
//     computing: the job has failed on both sides.
//   - Barriers of teams whose members are all on one machine do not come here.
//
// The speaker is a thread of the first rank of the machine. It stays until all ranks of
// its machine are gone, that of machine 0 until all others are: a process that ends
// waits for that (leave()).
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_CONTROL_TCP_SPEAKER_H
#define NEREID_RUNTIME_CONTROL_TCP_SPEAKER_H

#include "control/machine/MemoryJob.h"
#include "control/tcp/Message.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>

namespace nereid::runtime::tcp {

/// How a device's areas are read, once a rank of this process has said so.
struct Areas {
  std::mutex lock;
  std::function<uint64_t(const std::byte *)> moves;
};

/// The address of the speaker of a machine, an abstract one.
socklen_t speakerAddress(uint64_t identity, int32_t machine, sockaddr_un &address);
/// Whether the speaker that this block's header names runs.
bool speakerLives(ControlBlock block);

class Speaker {
public:
  struct Shape {
    ControlBlock block;
    uint64_t identity = 0;
    MachineLinks links;
    std::shared_ptr<Areas> areas;
    /// A process that plays all machines: nobody waits for anybody at the end.
    bool played = false;
  };
  explicit Speaker(Shape shape);
  ~Speaker();
  Speaker(const Speaker &) = delete;
  Speaker &operator=(const Speaker &) = delete;

  Status start();
  /// Returns when the speaker is not needed any more: see above. A rank of this process
  /// that has not finalized has left. When the job has failed, after a second at most.
  void leave();
  /// In a child that was forked: a connection that stays open there would look as if this
  /// process lived on.
  void closeInFork();

private:
  struct Link {
    int32_t machine;
    int fd = -1;
    std::string in, out;
    uint64_t heard = 0;
    bool farewell = false;
  };
  struct Outcome {
    uint64_t words[2] = {0, 0};
  };

  bool isHub() const { return shape.links.machine == 0; }
  bool isHere(int32_t rank) const { return rank >= firstRank && rank < endRank; }
  int32_t firstOf(int32_t machine) const { return machine * shape.links.ranksPerMachine; }
  int32_t endOf(int32_t machine) const;
  std::string describe(int32_t machine) const;

  void run();
  void hearRanks();
  void hear(Link &link);
  void flush(Link &link);
  void send(Link &link, std::string_view message);
  /// Gives it its place in the order, or has machine 0 do so.
  void route(std::string message);
  void carryOut(std::string_view message);
  Outcome apply(const Envelope &envelope, Reader &in);
  void answer(const Envelope &envelope, const Outcome &outcome);

  FactsCopy factsOf(int32_t rank) const;
  void take(const FactsCopy &facts);
  void beat();
  void markDead(int32_t rank);
  void publish(StatusCode code, int32_t rank, const std::string &message);
  void lose(Link &link, bool silent);
  bool mayEnd(uint64_t now);

  const Shape shape;
  const int32_t worldSize, firstRank, endRank;
  std::vector<std::unique_ptr<MemoryJob>> jobs; ///< by rank, on this machine's copy
  PeerWatch watch;
  std::vector<Link> links; ///< to the others; to machine 0
  /// Calls of this machine's ranks that have not come back from machine 0.
  std::deque<std::string> underWay;
  bool alone = false; ///< machine 0 is lost
  uint64_t nextBeat = 0;
  std::vector<uint32_t> told; ///< states of this machine's ranks at the last beat
  bool farewell = false;
  int fromRanks = -1, wakeup = -1;
  std::atomic<bool> stopping{false}, leaving{false};
  uint64_t leavingSince = 0;
  std::vector<char> buffer;
  std::thread thread;
};

} // namespace nereid::runtime::tcp

#endif // NEREID_RUNTIME_CONTROL_TCP_SPEAKER_H
