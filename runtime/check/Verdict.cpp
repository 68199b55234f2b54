// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Verdict.cpp - Reads a log and says what races ----------------------===//
//
// Reads the log of a job that is over, in the order of its records, and makes
// of each event what Rules knows: threads, accesses, messages. A thread is one
// program of one launch, or the host code of a rank.
//
//   event            before it takes effect               after
//   Launch           its programs begin with what the     the host knows what each program
//                    host knows (begun)                   knew when it ended (ended)
//   Issue            the access to memory that is         host: complete, as its calls wait
//                    moved; of a word: what the update
//                    is going to tell (asked)
//   Update           the word changes and tells that      its value (a first pass over the
//                                                         log has collected them)
//   Wait                                                  takes over what an update tells
//   Barrier          what all know is put together        each knows it
//   Share            one vector core of a program gives a value, the other takes it
//   Fence, Quiet     as docs/memory-model.md says
//
// When the hosts of all ranks leave a barrier of the job and no launch is under
// way, everything before is ordered before everything after, so all histories
// are dropped: a long job takes the memory of its longest stretch between two
// such barriers.
//
// One mistake in a loop makes many pairs of accesses. A finding is known by its
// code, its two lines and what stands there; further pairs are only counted.
//
//===----------------------------------------------------------------------===//
#include "check/Hangs.h"
#include "check/Log.h"
#include "check/Rules.h"
#include "check/Words.h"
#include "nereid/abi.h"
#include "nereid/runtime/Check.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace nereid::runtime::check {

namespace {

/// An operation that has been asked for.
struct Asked {
  Access access;   ///< of its word
  Message message; ///< of its signal
};

/// What atomic operations and looks without order are taken for, to see whether a race is
/// one for want of that.
struct Stronger {
  bool releases = false, acquires = false;
};

class Reader {
public:
  using Pair = std::pair<uint64_t, uint64_t>; ///< records of two accesses that nothing orders

  Reader(const Log &log, const std::string &path, Stronger stronger = {})
      : log(log), stronger(stronger) {
    words.push_back(Words::read(path + ".0"));
    for (int32_t r = 1; r < words[0].ranks; ++r)
      words.push_back(Words::read(path + "." + std::to_string(r)));
  }

  Verdict run();
  /// Says of races whether an atomic operation, or a look, that is too weak leads to them.
  void explainWeakness(Verdict &verdict, const std::string &path) const;

private:
  using Operation = std::pair<int32_t, uint32_t>; // rank, id
  using LaunchKey = std::pair<int32_t, uint32_t>; // rank, launch
  using Meeting = std::tuple<bool, uint32_t, uint64_t>;

  ThreadId threadOf(const EventRecord &e);
  ThreadId hostOf(int32_t rank);
  void take(uint64_t index, const Record &record);
  void issue(uint64_t index, const EventRecord &e);
  void update(const EventRecord &e);
  void wait(uint64_t index, const EventRecord &e);
  void touch(uint64_t index, const EventRecord &e);
  void atomic(uint64_t index, const EventRecord &e);
  void arrive(const EventRecord &e);
  void leave(const EventRecord &e);
  void share(const EventRecord &e);
  /// Bytes at an address that `rank` has used.
  Place placeOf(int32_t rank, uint64_t address, uint64_t bytes) const;
  /// The bytes of an event, in the heap of `pe` or in memory of the rank alone.
  static Place placeOf(const EventRecord &e) {
    return {e.pe < 0 ? e.rank : e.pe, e.pe >= 0, e.offset, e.offset + e.bytes};
  }

  void report(const Conflict &conflict);
  void reportHangs();
  End endOf(const Access &access) const;
  std::string weakSite(const Pair &pair, bool look) const;
  void classify(Finding &finding, const Conflict &conflict) const;

  const Log &log;
  const Stronger stronger;
  std::vector<Words> words; ///< by rank
  Rules rules{[this](const Conflict &conflict) { report(conflict); }};
  std::map<int32_t, ThreadId> hosts;
  std::map<std::tuple<int32_t, uint32_t, uint32_t>, ThreadId> programs;
  std::map<LaunchKey, Message> begun;
  std::map<LaunchKey, std::vector<ThreadId>> members;
  std::map<Operation, Asked> asked;
  std::map<Operation, uint64_t> values; ///< that updates have left
  struct Met {
    Message message;
    std::set<int32_t> ranks;
    uint64_t inside = 0;
    bool retired = false;
  };
  std::map<Meeting, Met> meetings;
  std::map<std::tuple<int32_t, uint32_t, uint32_t, uint64_t>, Message> shares;
  std::set<LaunchKey> polling; ///< launches with loops of their own that wait
  int32_t launchesUnderWay = 0;
  Verdict verdict;
  std::map<std::string, size_t> known; ///< findings by what is the same about them
  std::vector<Pair> firstPairs;        ///< by finding
  std::set<Pair> pairs;                ///< all
  bool weak = false;                   ///< there are operations that `stronger` changes
  Hangs hangs;
};

ThreadId Reader::hostOf(int32_t rank) {
  auto [entry, isNew] = hosts.try_emplace(rank);
  if (isNew)
    entry->second = rules.addThread(rank);
  return entry->second;
}

ThreadId Reader::threadOf(const EventRecord &e) {
  if (e.program == EventRecord::kHost)
    return hostOf(e.rank);
  auto [entry, isNew] = programs.try_emplace({e.rank, e.launch, e.program});
  if (isNew) {
    const Words::KernelWords *kernel = words[size_t(e.rank)].kernelOf(e.launch);
    entry->second = rules.addThread(e.rank, e.program / (kernel ? kernel->lanes : 1));
    rules.acquire(entry->second, begun[{e.rank, e.launch}]);
    members[{e.rank, e.launch}].push_back(entry->second);
  }
  return entry->second;
}

Place Reader::placeOf(int32_t rank, uint64_t address, uint64_t bytes) const {
  const Words &own = words[size_t(rank)];
  const uint64_t at = address - own.heapBase;
  if (own.heapBytes && at / own.heapBytes < uint64_t(own.ranks)) {
    const uint64_t offset = at % own.heapBytes;
    return {int32_t(at / own.heapBytes), true, offset, offset + bytes};
  }
  return {rank, false, address, address + bytes};
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Both ends of a transfer are accesses of the program that asks. The target of a put is
/// written until the put is complete (`transfers`), the other ends are over when the call
/// returns, unless it does not block.
void Reader::issue(uint64_t index, const EventRecord &e) {
  const ThreadId thread = threadOf(e);
  const uint64_t number = uint64_t(e.rank) << 32 | e.id;
  const bool isHost = e.program == EventRecord::kHost;
  Access access;
  access.thread = thread;
  access.step = rules.stepOf(thread);
  access.record = index;
  access.transfer = number;
  access.to = e.pe;
  // Data has no word, a signal of data has both.
  const bool moves = e.width == 0 || (e.flags & EventRecord::kSignals);
  const bool nbi = e.flags & EventRecord::kNonBlocking;
  if (moves && !(e.flags & EventRecord::kFetches)) {
    const Place there{e.pe, true, e.offset, e.offset + e.bytes};
    const Place here = placeOf(e.rank, e.value, e.bytes);
    const bool get = e.flags & EventRecord::kReads;
    access.get = get;
    // The source of a blocking put has been read, both ends of a blocking get are done.
    access.write = get;
    access.transfers = nbi;
    if (get) {
      access.write = false;
      rules.access(access, there);
      access.write = true;
      rules.access(access, here);
    } else {
      rules.access(access, here);
      access.write = true;
      access.transfers = true;
      // Onto itself nothing changes.
      if (!here.heap || here.rank != there.rank || here.begin != there.begin)
        rules.access(access, there);
    }
  }
  if (e.width) {
    Asked &one = asked[{e.rank, e.id}];
    one.access = access;
    one.access.get = false;
    one.access.atomic = true;
    one.access.width = e.width;
    one.access.write = true;
    one.access.transfers = !(e.flags & EventRecord::kFetches);
    const uint8_t scope = e.scope();
    const bool isNotify = scope != 0;
    one.message = rules.tell(thread, e.pe, isHost || isNotify,
                             isHost || (isNotify && scope != NRD_COMM_INTER_NODE));
    if (e.flags & EventRecord::kSignals)
      one.message.One.insert(number);
  }
  rules.step(thread);
}

void Reader::update(const EventRecord &e) {
  auto found = asked.find({e.rank, e.id});
  if (found == asked.end())
    return; // its Issue did not fit into the log
  Access access = found->second.access;
  Message message = std::move(found->second.message);
  asked.erase(found);
  auto value = values.find({e.rank, e.id});
  if (!(e.flags & EventRecord::kWrites)) {
    access.write = false; // g: without acquire
    access.transfer = 0;
    rules.access(access, placeOf(e));
    weak = true;
    if (stronger.acquires)
      rules.look(access.thread, placeOf(e));
    return;
  }
  if (value != values.end())
    hangs.update(e.pe, e.offset, value->second, access.record);
  const bool keeps = e.how != NRD_AMO_SET;
  rules.update(access, placeOf(e), std::move(message), keeps,
               value == values.end() ? ~uint64_t(0) : value->second);
}

void Reader::wait(uint64_t index, const EventRecord &e) {
  hangs.end(e);
  Access access;
  access.thread = threadOf(e);
  access.step = rules.stepOf(access.thread);
  access.record = index;
  access.atomic = true;
  access.width = e.width;
  if (e.pe >= 0)
    rules.wait(access, placeOf(e), e.value, int(e.id) - 1);
}

/// Rows of a tile.
void Reader::touch(uint64_t index, const EventRecord &e) {
  Access access;
  access.thread = threadOf(e);
  access.step = rules.stepOf(access.thread);
  access.record = index;
  access.write = e.flags & EventRecord::kWrites;
  access.isVolatile = e.flags & EventRecord::kVolatile;
  access.width = e.width;
  access.tokens = e.how;
  Place place = placeOf(e);
  if (e.program != EventRecord::kHost) {
    place.rows = e.id;
    place.stride = e.value;
  } else if (access.write) {
    hangs.reset(e.pe, e.offset, e.bytes, index);
  }
  rules.access(access, place);
  weak |= access.isVolatile;
  if (access.isVolatile && stronger.acquires)
    rules.look(access.thread, place);
}

void Reader::atomic(uint64_t index, const EventRecord &e) {
  Access access;
  access.thread = threadOf(e);
  access.step = rules.stepOf(access.thread);
  access.record = index;
  access.atomic = true;
  access.width = e.width;
  access.scope = e.scope();
  weak |= e.sem() != NRD_SEM_ACQ_REL;
  const bool acquires =
      e.sem() == NRD_SEM_ACQUIRE || e.sem() == NRD_SEM_ACQ_REL || stronger.acquires;
  if (e.how == NRD_AMO_FETCH) { // seen by a load
    if (acquires)
      rules.wait(access, placeOf(e), e.value);
    else
      rules.access(access, placeOf(e));
    return;
  }
  access.write = e.flags & EventRecord::kWrites;
  if (access.write)
    access.transfer = uint64_t(e.rank) << 32 | e.id;
  auto value = values.find({e.rank, e.id});
  if (access.write && value != values.end() && e.pe >= 0)
    hangs.update(e.pe, e.offset, value->second, index);
  const bool releases =
      e.sem() == NRD_SEM_RELEASE || e.sem() == NRD_SEM_ACQ_REL || stronger.releases;
  rules.atomic(access, placeOf(e), acquires && e.how != NRD_AMO_SET, releases, e.how != NRD_AMO_SET,
               value == values.end() ? ~uint64_t(0) : value->second);
}

void Reader::arrive(const EventRecord &e) {
  const bool isHost = e.program == EventRecord::kHost;
  Met &met = meetings[{isHost, e.id, e.value}];
  met.message.join(rules.all(threadOf(e)));
  met.ranks.insert(e.rank);
  ++met.inside;
}

/// A barrier of all hosts while nothing is launched orders everything before it against everything
/// after it. Then all that has been remembered can go (retire), which bounds the memory of long
/// runs by what happens between two of them.
void Reader::leave(const EventRecord &e) {
  const bool isHost = e.program == EventRecord::kHost;
  const Meeting key{isHost, e.id, e.value};
  auto entry = meetings.find(key);
  if (entry == meetings.end())
    return; // it began before the log did
  Met &met = entry->second;
  const bool everybody = isHost && e.id == 0 && int32_t(met.ranks.size()) == words[0].ranks;
  if (everybody && !met.retired && launchesUnderWay == 0) {
    const uint64_t inside = met.inside;
    rules.retire();
    asked.clear();
    begun.clear();
    members.clear();
    hosts.clear();
    programs.clear();
    shares.clear();
    meetings.clear();
    entry = meetings.try_emplace(key).first;
    entry->second.inside = inside;
    entry->second.retired = true;
  } else if (!met.retired) {
    rules.meet(threadOf(e), met.message, e.flags & EventRecord::kCompletes, met.ranks);
  }
  if (--entry->second.inside == 0)
    meetings.erase(entry);
}

void Reader::share(const EventRecord &e) {
  // The two vector cores of a program are neighbours.
  Message &message = shares[{e.rank, e.launch, e.program / 2, e.value}];
  if (e.flags & EventRecord::kWrites) {
    message = rules.all(threadOf(e));
    rules.step(threadOf(e));
  } else {
    rules.acquire(threadOf(e), message);
    shares.erase({e.rank, e.launch, e.program / 2, e.value});
  }
}

void Reader::take(uint64_t index, const Record &record) {
  const EventRecord &e = record.event;
  if (e.rank < 0 || e.rank >= words[0].ranks)
    return;
  const LaunchKey launch{e.rank, e.launch};
  switch (e.kind) {
  case EventKind::Launch: {
    const ThreadId host = hostOf(e.rank);
    if (record.before) {
      ++launchesUnderWay;
      ++verdict.launches;
      begun[launch] = rules.all(host);
      rules.step(host);
      return;
    }
    --launchesUnderWay;
    rules.endLaunch(host, members[launch]);
    rules.forgetPrivate(e.rank);
    begun.erase(launch);
    members.erase(launch);
    return;
  }
  case EventKind::Program:
    if (record.before)
      (void)threadOf(e);
    return;
  case EventKind::Issue:
    if (record.before)
      issue(index, e);
    else if (e.program == EventRecord::kHost)
      rules.quiet(threadOf(e), e.pe); // complete when the host's call returns
    return;
  case EventKind::Update:
    if (record.before)
      update(e);
    return;
  case EventKind::Wait:
    if (record.before)
      hangs.begin(e, index);
    else
      wait(index, e);
    return;
  case EventKind::Access:
    touch(index, e);
    return;
  case EventKind::Atomic:
    if (record.before || e.how == NRD_AMO_FETCH)
      atomic(index, e);
    return;
  case EventKind::Fence:
    if (e.flags & EventRecord::kCompletes)
      rules.quiet(threadOf(e), e.pe);
    else
      rules.fence(threadOf(e), e.pe);
    return;
  case EventKind::Quiet:
    if (!record.before)
      rules.quiet(threadOf(e), e.pe);
    return;
  case EventKind::Barrier:
    record.before ? arrive(e) : leave(e);
    return;
  case EventKind::Share:
    share(e);
    return;
  default:
    return;
  }
}

Verdict Reader::run() {
  verdict.ranks = words[0].ranks;
  if (words[0].profile == "cuda")
    rules.useStrictScopes();
  std::set<std::string> unseen;
  for (const Words &own : words)
    for (const auto &[number, kernel] : own.kernels)
      if (!kernel.instrumented)
        unseen.insert(kernel.name);
  verdict.unseen.assign(unseen.begin(), unseen.end());
  verdict.records = log.count();
  verdict.lost = log.lost();
  auto each = [&](auto visit) {
    for (uint64_t i = 0; i < log.count(); ++i)
      if (const Record &r = log.record(i); r.written.load(std::memory_order_acquire))
        visit(i, r);
  };
  // An update is told with its value only after it has been seen.
  each([&](uint64_t, const Record &r) {
    if ((r.event.kind == EventKind::Update || r.event.kind == EventKind::Atomic) && !r.before)
      values[{r.event.rank, r.event.id}] = r.event.value;
    if (r.event.kind == EventKind::Poll)
      polling.insert({r.event.rank, r.event.launch});
  });
  each([&](uint64_t index, const Record &r) { take(index, r); });
  if (stronger.releases || stronger.acquires)
    return {};
  // Waits that end for other reasons, as the death of a rank, are not the program's fault.
  if (std::any_of(words.begin(), words.end(), [](const Words &own) { return own.deadlock; }))
    reportHangs();
  return std::move(verdict);
}

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

End Reader::endOf(const Access &access) const {
  const EventRecord &e = log.record(access.record).event;
  End end;
  end.rank = e.rank;
  const Words &own = words[size_t(e.rank)];
  if (e.program != EventRecord::kHost) {
    end.program = e.program;
    if (const Words::KernelWords *kernel = own.kernelOf(e.launch)) {
      end.kernel = kernel->name;
      if (auto site = kernel->sites.find(e.site); site != kernel->sites.end())
        end.site = site->second;
    }
  } else if (auto where = own.places.find(e.id); e.id && where != own.places.end()) {
    const size_t colon = where->second.rfind(':');
    end.site.file = where->second.substr(0, colon);
    end.site.line = colon == std::string::npos ? 0 : std::atoi(where->second.c_str() + colon + 1);
  }
  const std::string peer = "rank " + std::to_string(e.pe);
  const std::string where = e.pe < 0 || e.pe == e.rank ? "" : " of " + peer;
  if (e.kind == EventKind::Access && e.program == EventRecord::kHost)
    end.what = access.write ? "store by a method of the tensor" : "load by a method of the tensor";
  else if (e.kind == EventKind::Access)
    end.what = (access.write ? "store to memory" : "load of memory") +
               (where.empty() ? " of its own" : where);
  else if (e.kind == EventKind::Atomic)
    end.what = "atomic operation on a word" + where;
  else if (e.kind == EventKind::Wait)
    end.what = "wait for the signal";
  else if (access.atomic)
    end.what = access.write ? "signal to " + peer : "read of one element of " + peer;
  else if (access.get)
    end.what = access.write ? "target of a get from " + peer : "get from " + peer;
  else if (access.write)
    end.what = "put to " + peer;
  else
    end.what = access.transfers ? "source of a put to " + peer + " that is under way"
                                : "source of a put to " + peer;
  return end;
}

/// The first description that fits, from the most special to the most general. (2) is what came
/// later in the log; that says nothing about what may come later in another run.
void Reader::classify(Finding &f, const Conflict &c) const {
  const Access &a = c.first, &b = c.second;
  const bool sameThread = a.thread == b.thread;
  const bool hosts = f.first.program < 0 || f.second.program < 0;
  const std::string first = "rank " + std::to_string(f.first.rank);
  const bool asked = rules.knowsOf(b.thread, a);
  if (c.wait) {
    Access wait = b;
    wait.record = *c.wait;
    const SourceSite at = endOf(wait).site;
    f.code = "NRD-0011";
    f.title = "this load does not depend on the wait that would order it";
    f.order = "(2) comes after (1) by the wait" + (at.known() ? " at " + at.str() : "") +
              ", but nothing keeps a load behind a wait on whose token it does not depend";
    f.help = "load through `ptr = dl.consume_token(ptr, token)`";
  } else if (a.atomic && b.atomic && a.width == b.width) {
    f.code = "NRD-0008";
    f.title = "two atomic operations on one word do not reach each other";
    f.help = "`scope=\"sys\"`";
  } else if (a.atomic && b.atomic) {
    f.code = "NRD-0010";
    f.title = "signals of different widths on one word";
    f.help = "use one type for the word everywhere";
  } else if ((a.atomic && b.write && f.second.program < 0) ||
             (b.atomic && a.write && f.first.program < 0)) {
    f.code = "NRD-0020";
    f.title = "host code resets a word while others may signal it or wait for it";
    f.order = "nothing orders the reset and the signal: it may be wiped out, or be taken for a "
              "later one";
    f.help = "`nereid.barrier()` before the reset and after it";
  } else if (a.atomic || b.atomic) {
    f.code = "NRD-0006";
    f.title = "a word that others signal, or change by atomic operations, is used like data";
    f.help = "give the signal a word of its own, or order the two by a barrier";
  } else if (a.transfers && a.get) {
    f.code = "NRD-0032";
    f.title = "the target of a get is used before the get is complete";
    f.help = "`quiet()` before it is used";
  } else if (a.transfers && !a.write) {
    f.code = "NRD-0031";
    f.title = "the source of a put that is under way is changed";
    f.help = "`quiet()` before it is changed, or a second buffer";
  } else if (a.transfers && b.transfers && sameThread) {
    f.code = "NRD-0033";
    f.title = "two transfers to the same bytes come in any order";
    f.help = "`fence()` between the two";
  } else if (a.transfers && asked) {
    const bool elsewhere = f.first.rank != f.second.rank;
    f.code = elsewhere ? "NRD-0004" : "NRD-0030";
    f.title = elsewhere ? "the signal overtakes the data"
                        : "the target of a put is used before the put is complete";
    f.order = "(2) knows that the put was asked for, not that it has arrived";
    f.help = elsewhere ? "`fence()` between the put and the signal, or `putmem_signal`"
                       : "`quiet()` before it is used";
  } else if (asked && a.write && f.first.rank != f.second.rank) {
    f.code = "NRD-0004";
    f.title = "the signal overtakes the data";
    f.order = "(2) knows of a signal after (1), but that signal does not wait for (1)";
    f.help = "`fence()` between the two, or `dl.notify`";
  } else if (hosts) {
    f.code = "NRD-0007";
    f.title = "host code and a kernel, or two launches, touch the same bytes and nothing orders "
              "them";
    f.help = "`nereid.barrier()` between them";
  } else if (f.first.rank == f.second.rank) {
    f.code = "NRD-0005";
    f.title = "two programs of one rank touch the same bytes and nothing orders them";
    f.help = "a signal or a barrier between them";
  } else {
    f.code = !a.write ? "NRD-0002" : b.write ? "NRD-0003" : "NRD-0001";
    const std::string one = "rank " + std::to_string(f.second.rank);
    f.title = !a.write  ? one + " overwrites what " + first + " may still read"
              : b.write ? one + " and " + first + " write the same bytes"
                        : one + " reads what " + first + " writes";
    f.title += ", and nothing orders the two";
    f.help = !a.write ? "an acknowledgement of " + first +
                            " when it has read, one more buffer, or a barrier"
                      : "a signal of " + first + " after it has written, and a wait for it";
  }
  if (f.order.empty())
    f.order = a.transfers && sameThread ? "asked for by the same program, and not complete"
              : asked                   ? "(2) knows that (1) was asked for, not that it is over"
                                        : "no synchronisation leads from (1) to (2)";
}

/// Where the program of one of the two accesses makes a look after (1), or an update of a word
/// before (2), that orders nothing; empty: it is not known.
std::string Reader::weakSite(const Pair &pair, bool look) const {
  const EventRecord &of = log.record(look ? pair.second : pair.first).event;
  auto isOurs = [&](const EventRecord &e) {
    const bool isLook = e.kind == EventKind::Access ? e.flags & EventRecord::kVolatile : true;
    const bool isWeak = e.kind == EventKind::Access || e.sem() == NRD_SEM_RELAXED ||
                        e.sem() == (look ? NRD_SEM_RELEASE : NRD_SEM_ACQUIRE);
    return e.rank == of.rank && e.launch == of.launch && e.program == of.program && isLook &&
           isWeak && (e.kind == EventKind::Access || e.kind == EventKind::Atomic) &&
           (look || e.flags & EventRecord::kWrites);
  };
  const uint64_t low = std::min(pair.first, pair.second), high = std::max(pair.first, pair.second);
  for (uint64_t n = low + 1; n < high; ++n) {
    const uint64_t i = look ? high - (n - low) : n;
    const EventRecord &e = log.record(i).event;
    if (!isOurs(e))
      continue;
    Access access;
    access.record = i;
    const SourceSite site = endOf(access).site;
    return site.known() ? " at " + site.str() : "";
  }
  return "";
}

void Reader::explainWeakness(Verdict &verdict, const std::string &path) const {
  static const std::set<std::string> races = {"NRD-0001", "NRD-0002", "NRD-0003",
                                              "NRD-0004", "NRD-0005", "NRD-0007"};
  auto isRace = [&](const Finding &f) { return races.count(f.code) > 0; };
  if (!weak || std::none_of(verdict.findings.begin(), verdict.findings.end(), isRace))
    return;
  auto left = [&](Stronger how) {
    Reader again(log, path, how);
    (void)again.run();
    return std::move(again.pairs);
  };
  const std::set<Pair> released = left({true, false}), ordered = left({true, true});
  for (size_t i = 0; i < firstPairs.size(); ++i) {
    Finding &f = verdict.findings[i];
    if (!isRace(f) || ordered.count(firstPairs[i]))
      continue;
    if (!released.count(firstPairs[i])) {
      f.code = "NRD-0009";
      f.title = "an atomic operation tells of data, but releases nothing";
      f.order = "(2) knows of an atomic operation after (1)" + weakSite(firstPairs[i], false) +
                ", which does not release";
      f.help = "`sem=\"release\"`, or \"acq_rel\"";
    } else {
      f.code = "NRD-0014";
      f.title = "a word is looked at without acquire, and what it tells of is then used";
      f.order = "(2) comes after a look at a word" + weakSite(firstPairs[i], true) +
                ", which does not acquire what the word tells";
      f.help = "`sem=\"acquire\"`, `dl.wait` or `signal_wait_until`";
    }
  }
}

void Reader::reportHangs() {
  for (const Hang &hang : hangs.all()) {
    Finding f;
    const EventRecord &wait = log.record(hang.wait).event;
    Access access;
    access.record = hang.wait;
    f.second = endOf(access);
    if (hang.update) {
      access.record = *hang.update;
      access.atomic = access.write = true;
      f.first = endOf(access);
    }
    f.code = "NRD-0050";
    f.title = hang.title;
    f.order = hang.order;
    f.help = hang.help;
    f.bytes = wait.pe < 0 ? "a word of an argument"
                          : words[size_t(wait.rank)].describe(wait.offset, wait.offset + wait.bytes,
                                                              wait.launch) +
                                " on rank " + std::to_string(wait.pe);
    const std::string key =
        f.code + "|" + f.title + "|" + f.first.site.str() + "|" + f.second.site.str();
    auto [entry, isNew] = known.try_emplace(key, verdict.findings.size());
    if (isNew)
      verdict.findings.push_back(std::move(f));
    else
      ++verdict.findings[entry->second].more;
  }
}

void Reader::report(const Conflict &conflict) {
  const Pair pair{conflict.first.record, conflict.second.record};
  pairs.insert(pair);
  if (stronger.releases || stronger.acquires)
    return;
  Finding f;
  f.first = endOf(conflict.first);
  f.second = endOf(conflict.second);
  classify(f, conflict);
  const EventRecord &last = log.record(conflict.second.record).event;
  const Place &place = conflict.place;
  f.bytes = place.heap ? words[size_t(last.rank)].describe(place.begin, place.end, last.launch) +
                             " on rank " + std::to_string(place.rank)
                       : std::to_string(place.end - place.begin) +
                             " bytes of an argument of rank " + std::to_string(place.rank);
  for (const Access &access : {conflict.first, conflict.second}) {
    const EventRecord &e = log.record(access.record).event;
    if (e.program == EventRecord::kHost)
      continue;
    const Words::KernelWords *kernel = words[size_t(e.rank)].kernelOf(e.launch);
    if (kernel && !kernel->instrumented && polling.count({e.rank, e.launch}))
      f.note = "programs of '" + kernel->name +
               "' also wait in loops of their own; what these order is not seen";
  }
  const std::string key = f.code + "|" + f.first.site.str() + "|" + f.second.site.str() + "|" +
                          f.first.what.substr(0, 8) + "|" + f.second.what.substr(0, 8) + "|" +
                          (f.first.rank == f.second.rank ? "same" : "other");
  auto [entry, isNew] = known.try_emplace(key, verdict.findings.size());
  if (isNew) {
    verdict.findings.push_back(std::move(f));
    firstPairs.push_back(pair);
  } else {
    ++verdict.findings[entry->second].more;
  }
}

} // namespace

Status createLog(const std::string &path, uint64_t events) { return Log::create(path, events); }

Expected<Verdict> checkLog(const std::string &path) {
  Expected<std::unique_ptr<Log>> log = Log::open(path);
  if (!log.ok())
    return log.status();
  Reader reader(**log, path);
  Verdict verdict = reader.run();
  reader.explainWeakness(verdict, path);
  return verdict;
}

} // namespace nereid::runtime::check
