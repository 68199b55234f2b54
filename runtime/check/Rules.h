// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rules.h - What happens before what ---------------------------------===//
//
// The rules of docs/memory-model.md over a list of operations, in the order in which
// they were made; tests/races/model.py is the same in a form to read. Nothing here
// asks when something was carried out: what no operation tells is not known.
//
//   C       accesses of other threads that come before what a thread does next
//   T[q]    transfers to rank q known to be complete; T[kAll]: to any
//   One     single transfers known to be complete
//   F[q]    what C was at the last fence or quiet for q: what signals to q tell
//   K[s]    what waits of slot s have taken over: loads have it that depend on the token
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_CHECK_RULES_H
#define NEREID_RUNTIME_CHECK_RULES_H

#include "nereid/abi.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace nereid::runtime::check {

using ThreadId = uint32_t;

/// How far one thread is known: its accesses up to step w, its reads up to step r.
struct Known {
  uint32_t w = 0, r = 0;
};

class Clock {
public:
  void join(const Clock &other);
  void join(ThreadId thread, Known known);
  Known of(ThreadId thread) const {
    auto found = entries.find(thread);
    return found == entries.end() ? Known() : found->second;
  }
  auto begin() const { return entries.begin(); }
  auto end() const { return entries.end(); }

private:
  std::map<ThreadId, Known> entries;
};

/// Numbers of operations, as ranges: a rank counts its own one by one.
class Numbers {
public:
  void insert(uint64_t number) { insert(number, number + 1); }
  void insert(const Numbers &other) {
    for (const auto &[begin, end] : other.ranges)
      insert(begin, end);
  }
  bool contains(uint64_t number) const {
    auto next = ranges.upper_bound(number);
    return next != ranges.begin() && std::prev(next)->second > number;
  }
  void clear() { ranges.clear(); }

private:
  void insert(uint64_t begin, uint64_t end);
  std::map<uint64_t, uint64_t> ranges; ///< from begin to end, apart from each other
};

inline constexpr int32_t kAll = -1;
using Transfers = std::map<int32_t, Clock>;

/// What an update tells those who wait for it.
struct Message {
  Clock C;
  Transfers T;
  Numbers One;

  void join(const Message &other);
};

/// What one thread did to some bytes.
struct Access {
  ThreadId thread = 0;
  uint32_t step = 0;
  bool write = false;
  bool atomic = false;           ///< by a signal, an element, an atomic operation
  bool isVolatile = false;       ///< a plain read of whole elements
  uint8_t scope = NRD_SCOPE_SYS; ///< atomic: NRD_SCOPE_*
  bool transfers = false;        ///< an event of its own: being asked for is not being over
  bool get = false;
  int32_t to = kAll;     ///< transfers: whose memory
  uint64_t transfer = 0; ///< number of the operation; updates have one, too. 0: none
  uint8_t width = 0;     ///< atomic, volatile
  uint64_t record = 0;   ///< of the log
  uint8_t tokens = 0xff; ///< a load: a bit for each slot of waits that its address depends on
};

/// Bytes of the heap of one rank, or of the private memory of one.
struct Place {
  int32_t rank = 0;
  bool heap = true;
  uint64_t begin = 0, end = 0;
  /// As many rows of these bytes, each so far behind the one before.
  uint64_t rows = 1, stride = 0;
};

/// Two accesses that nothing orders.
struct Conflict {
  Access first, second;
  Place place; ///< the bytes of both
  /// A wait would order them, on whose token the second does not depend: its record.
  std::optional<uint64_t> wait;
};

class Rules {
public:
  /// Called for each conflict, once for two accesses.
  explicit Rules(std::function<void(const Conflict &)> report) : report(std::move(report)) {}

  /// An atomic operation of scope gpu reaches no other rank (the profile cuda).
  void useStrictScopes() { strictScopes = true; }

  /// `program`: its number in the launch; its vector cores have the same.
  ThreadId addThread(int32_t rank, int64_t program = -1);
  int32_t rankOf(ThreadId thread) const { return threads[thread].rank; }

  //===--- what threads do ------------------------------------------------===//

  /// Of what the thread does next.
  uint32_t stepOf(ThreadId thread) const { return threads[thread].step; }
  /// Its thread makes it now, or the transfer is the one that was asked for in its step.
  void access(const Access &access, const Place &place);
  void fence(ThreadId thread, int32_t to);
  void quiet(ThreadId thread, int32_t to);
  /// What a signal to rank `to` tells that is asked for now. `releases`: all that the
  /// thread knows; `transfers`: also its rank's transfers to that rank.
  Message tell(ThreadId thread, int32_t to, bool releases, bool transfers);
  /// The word changes. `keeps`: the update reads it, too, and tells what it told before.
  void update(const Access &access, const Place &word, Message message, bool keeps, uint64_t value);
  /// The thread has seen `value`. `slot`: of the wait's token; -1: what it takes over is
  /// known to every access that follows.
  void wait(const Access &access, const Place &word, uint64_t value, int slot = -1);
  /// One atomic operation of generated code, of which nothing else on the word comes
  /// between its read and its write; then the end of a step when it writes. `keeps`: it
  /// reads the word. `value`: what the word is afterwards.
  void atomic(const Access &access, const Place &word, bool acquires, bool releases, bool keeps,
              uint64_t value);
  /// Takes over what the last update of the word tells, as an acquiring look would.
  void look(ThreadId thread, const Place &word);
  /// The end of a step: others can learn of what comes next apart from what came before.
  void step(ThreadId thread) { ++threads[thread].step; }
  /// All that the thread knows, itself included.
  Message all(ThreadId thread) const;
  void acquire(ThreadId thread, const Message &message);
  /// What comes next stays behind an operation that itself stays behind every wait.
  void useTokens(ThreadId thread);
  /// The launch of `programs` has ended: `host` knows all of them from now on, and who
  /// learns of the host learns of them.
  void endLaunch(ThreadId host, const std::vector<ThreadId> &programs);
  /// It has met others, who together know `message`; `completes`: transfers of `ranks`
  /// that any of them knows of are over.
  void meet(ThreadId thread, Message message, bool completes, const std::set<int32_t> &ranks);

  /// Whether what `thread` does next comes after the other having been asked for; the
  /// step of `first` may be known although it is not over.
  bool knowsOf(ThreadId thread, const Access &first) const;

  //===--- forgetting -----------------------------------------------------===//

  /// Every thread stands still and knows of everything: nothing before can conflict
  /// with anything after. All threads are new ones afterwards.
  void retire();
  /// A launch of `rank` has ended: its private memory may be anything now.
  void forgetPrivate(int32_t rank);

private:
  using WordKey = std::tuple<int32_t, bool, uint64_t>; ///< rank, heap, where
  struct Taken : Message {
    uint64_t record = 0; ///< of the last wait
  };
  struct Thread {
    int32_t rank = 0;
    int64_t program = -1;
    uint32_t step = 1;
    /// A program whose launch has ended: who knows `host` up to this step knows all of it.
    ThreadId host = 0;
    uint32_t ended = 0;
    Clock C;
    Transfers T;
    Numbers One;
    Transfers F;
    std::map<int, Taken> K;
    std::map<WordKey, uint64_t> taken; ///< words: its last wait's update
  };
  struct Cell {
    uint64_t end = 0;
    int64_t writer = -1; ///< of `accesses`
    std::vector<int64_t> readers;
  };
  struct Update {
    uint64_t value;
    Message message;
    Access access;
  };
  /// The last updates of a word.
  struct Ledger {
    static constexpr size_t kKept = 64;
    uint64_t dropped = 0; ///< older ones
    Message forgotten;    ///< what they told, all together
    std::deque<Update> kept;
  };
  using Cells = std::map<uint64_t, Cell>;

  Clock now(const Thread &t, ThreadId id) const;
  Clock ofRank(const Clock &clock, int32_t rank) const;
  bool covers(const Access &a, const Access &b) const;
  bool knows(const Clock &C, const Transfers &T, const Numbers &One, const Access &a,
             const Access &b) const;
  bool agree(const Access &a, const Access &b) const;
  bool reaches(uint8_t scope, ThreadId from, ThreadId to) const;
  Known known(const Clock &clock, ThreadId thread) const;
  uint32_t knownIn(const Transfers &transfers, int32_t rank, ThreadId thread) const;
  void splitAt(Cells &cells, uint64_t at);
  void accessRow(Cells &cells, int64_t own, const Place &row, std::map<int64_t, Place> &conflicts);

  const std::function<void(const Conflict &)> report;
  std::deque<Thread> threads;
  std::deque<Access> accesses;
  std::map<std::pair<int32_t, bool>, Cells> memory; ///< by rank, heap
  std::map<WordKey, Ledger> words;
  bool strictScopes = false;
};

} // namespace nereid::runtime::check

#endif // NEREID_RUNTIME_CHECK_RULES_H
