// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rules.cpp - Vector clocks over accesses to memory ------------------===//
//
// Every thread (a program, or a rank's host code) counts its steps. A clock
// says how far each other thread is known: everything up to a step happens
// before what comes next. An access is a (thread, step); a comes before b, made
// now, when b's thread knows a's step (covers). Two things differ from the
// textbook.
//
// - A transfer is asked for in one step and over at some later time. Its step
//   in C says only that it was asked for; that it is over is known by T (by
//   quiet, fence, barrier, for all transfers of a rank up to a step) or One
//   (this one, by its own signal).
// - Reads and writes of a step are known apart (Known): a signal without
//   release tells that the program's earlier loads have their values, and
//   nothing about its stores.
//
// Memory is a map of intervals (Cell), split where an access begins or ends,
// each with its last writer and the readers since. That is enough: a write that
// comes after all of them takes their place, since whoever comes after it comes
// after them; one that does not is reported at once, and takes their place
// nevertheless.
//
// Words of signals have a second history (Ledger): what each of the last updates
// tells. A wait takes over what the *earliest* update with the value that it saw
// tells, of those that it does not know to have been followed: it must not learn
// by the luck of this run what it could not have relied on. What has fallen out of
// the history is joined together. A wait that needs that knows too much: a report
// may be missing for it, none is false.
//
//===----------------------------------------------------------------------===//
#include "check/Rules.h"

#include <algorithm>
#include <utility>

namespace nereid::runtime::check {

void Clock::join(ThreadId thread, Known known) {
  Known &own = entries[thread];
  own.w = std::max(own.w, known.w);
  own.r = std::max(own.r, known.r);
}

void Clock::join(const Clock &other) {
  for (const auto &[thread, known] : other)
    join(thread, known);
}

void Numbers::insert(uint64_t begin, uint64_t end) {
  auto next = ranges.upper_bound(begin);
  if (next != ranges.begin() && std::prev(next)->second >= begin) {
    --next;
    if (next->second >= end)
      return;
    begin = next->first;
    next = ranges.erase(next);
  }
  while (next != ranges.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = ranges.erase(next);
  }
  ranges.emplace_hint(next, begin, end);
}

static void join(Transfers &into, const Transfers &other) {
  for (const auto &[rank, clock] : other)
    into[rank].join(clock);
}

void Message::join(const Message &other) {
  C.join(other.C);
  check::join(T, other.T);
  One.insert(other.One);
}

ThreadId Rules::addThread(int32_t rank, int64_t program) {
  Thread &thread = threads.emplace_back();
  thread.rank = rank;
  thread.program = program;
  return ThreadId(threads.size() - 1);
}

Clock Rules::now(const Thread &t, ThreadId id) const {
  Clock clock = t.C;
  clock.join(id, {t.step, t.step});
  return clock;
}

/// Nobody's fence, quiet or notify completes another rank's transfers.
Clock Rules::ofRank(const Clock &clock, int32_t rank) const {
  Clock own;
  for (const auto &[thread, known] : clock)
    if (threads[thread].rank == rank)
      own.join(thread, known);
  return own;
}

Message Rules::all(ThreadId id) const {
  const Thread &t = threads[id];
  Message message{now(t, id), t.T, t.One};
  for (const auto &[slot, taken] : t.K)
    message.join(taken);
  return message;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// How far `clock` knows the thread; of a launch that is over by its host as well.
Known Rules::known(const Clock &clock, ThreadId thread) const {
  const Thread &t = threads[thread];
  if (t.ended && clock.of(t.host).w >= t.ended)
    return {t.step, t.step};
  return clock.of(thread);
}

uint32_t Rules::knownIn(const Transfers &transfers, int32_t rank, ThreadId thread) const {
  auto found = transfers.find(rank);
  return found == transfers.end() ? 0 : known(found->second, thread).w;
}

bool Rules::knows(const Clock &C, const Transfers &T, const Numbers &One, const Access &a,
                  const Access &b) const {
  if (a.transfer && (One.contains(a.transfer) || (b.transfers && a.transfer == b.transfer)))
    return true;
  if (!a.transfers) {
    if (a.thread == b.thread)
      return true;
    const Known how = known(C, a.thread);
    return (a.write ? how.w : how.r) >= a.step;
  }
  return std::max(knownIn(T, a.to, a.thread), knownIn(T, kAll, a.thread)) >= a.step;
}

/// Whether `a` comes before `b`, which is made now. Stores, signals and transfers stay
/// behind every wait, a load behind those on whose tokens it depends.
bool Rules::covers(const Access &a, const Access &b) const {
  const Thread &t = threads[b.thread];
  if (knows(t.C, t.T, t.One, a, b))
    return true;
  for (const auto &[slot, message] : t.K)
    if (b.write || b.transfers || b.atomic || (b.tokens >> slot & 1))
      if (knows(message.C, message.T, message.One, a, b))
        return true;
  // A fence keeps transfers to one rank in their order.
  return a.transfers && b.transfers && b.write && !b.get && !a.get && b.to == a.to &&
         std::max(knownIn(t.F, a.to, a.thread), knownIn(t.F, kAll, a.thread)) >= a.step;
}

bool Rules::knowsOf(ThreadId thread, const Access &first) const {
  if (first.thread == thread)
    return true;
  const Thread &t = threads[thread];
  auto reaches = [&](const Clock &clock) {
    const Known how = known(clock, first.thread);
    return std::max(how.w, how.r) >= first.step;
  };
  return reaches(t.C) || std::any_of(t.K.begin(), t.K.end(),
                                     [&](const auto &taken) { return reaches(taken.second.C); });
}

bool Rules::reaches(uint8_t scope, ThreadId from, ThreadId to) const {
  const Thread &a = threads[from], &b = threads[to];
  if (scope == NRD_SCOPE_CTA)
    return from == to || (a.rank == b.rank && a.program == b.program && a.program >= 0);
  return scope != NRD_SCOPE_GPU || !strictScopes || a.rank == b.rank;
}

/// Signals and atomics on one word are ordered by the word itself. Reads of whole
/// elements see one value or the other.
bool Rules::agree(const Access &a, const Access &b) const {
  if ((a.isVolatile && b.atomic) || (a.atomic && b.isVolatile))
    return a.width == b.width;
  return a.atomic && b.atomic && a.width == b.width && reaches(a.scope, a.thread, b.thread) &&
         reaches(b.scope, b.thread, a.thread);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void Rules::splitAt(Cells &cells, uint64_t at) {
  auto next = cells.upper_bound(at);
  if (next == cells.begin())
    return;
  auto cell = std::prev(next);
  if (cell->first == at || cell->second.end <= at)
    return;
  Cell rest = cell->second;
  cell->second.end = at;
  cells.emplace(at, std::move(rest));
}

void Rules::access(const Access &made, const Place &place) {
  if (place.begin >= place.end)
    return;
  Cells &cells = memory[{place.rank, place.heap}];
  accesses.push_back(made);
  const int64_t own = int64_t(accesses.size()) - 1;
  std::map<int64_t, Place> conflicts;
  Place row = place;
  row.rows = 1;
  for (uint64_t i = 0; i < place.rows; ++i) {
    accessRow(cells, own, row, conflicts);
    row.begin += place.stride;
    row.end += place.stride;
  }
  for (const auto &[other, bytes] : conflicts) {
    const Access &first = accesses[size_t(other)];
    Conflict conflict{first, made, bytes, {}};
    for (const auto &[slot, taken] : threads[made.thread].K)
      if (knows(taken.C, taken.T, taken.One, first, made))
        conflict.wait = taken.record;
    report(conflict);
  }
}

void Rules::accessRow(Cells &cells, int64_t own, const Place &row,
                      std::map<int64_t, Place> &conflicts) {
  const Access &made = accesses[size_t(own)];
  auto look = [&](int64_t other, uint64_t begin, uint64_t end) {
    if (other < 0 || other == own || agree(accesses[size_t(other)], made) ||
        covers(accesses[size_t(other)], made))
      return;
    auto [entry, isNew] = conflicts.try_emplace(other, row);
    if (isNew)
      entry->second.begin = begin;
    entry->second.end = std::max(end, entry->second.end);
  };
  auto it = cells.lower_bound(row.begin);
  const bool fits = it != cells.end() && it->first == row.begin && it->second.end == row.end;
  if (!fits) {
    splitAt(cells, row.begin);
    splitAt(cells, row.end);
    it = cells.lower_bound(row.begin);
  }
  for (uint64_t at = row.begin; at < row.end;) {
    if (it == cells.end() || it->first > at) {
      const uint64_t end = it == cells.end() ? row.end : std::min(it->first, row.end);
      Cell fresh;
      fresh.end = end;
      (made.write ? fresh.writer = own : (fresh.readers.push_back(own), own));
      it = std::next(cells.emplace_hint(it, at, std::move(fresh)));
      at = end;
      continue;
    }
    Cell &cell = it->second;
    look(cell.writer, at, cell.end);
    if (made.write) {
      for (int64_t reader : cell.readers)
        look(reader, at, cell.end);
      cell.readers.clear();
      cell.writer = own;
    } else {
      // One that is known needs no entry of its own any more: who comes after this one
      // comes after it.
      std::erase_if(cell.readers, [&](int64_t reader) {
        const Access &before = accesses[size_t(reader)];
        return !made.transfers && before.atomic == made.atomic &&
               before.isVolatile == made.isVolatile && before.width == made.width &&
               covers(before, made);
      });
      if (cell.readers.empty() || cell.readers.back() != own)
        cell.readers.push_back(own);
    }
    at = cell.end;
    ++it;
  }
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

void Rules::fence(ThreadId id, int32_t to) {
  Thread &t = threads[id];
  t.F[to] = all(id).C;
  ++t.step;
}

void Rules::quiet(ThreadId id, int32_t to) {
  useTokens(id);
  Thread &t = threads[id];
  const Clock known = all(id).C;
  t.T[to].join(ofRank(known, t.rank));
  t.F[to] = known;
  ++t.step;
}

Message Rules::tell(ThreadId id, int32_t to, bool releases, bool transfers) {
  const Thread &t = threads[id];
  Message message{{}, t.T, t.One};
  for (const auto &[slot, taken] : t.K) {
    check::join(message.T, taken.T);
    message.One.insert(taken.One);
    if (releases)
      message.C.join(taken.C);
  }
  // A load whose value is there is over.
  message.C.join(id, {0, t.step});
  for (int32_t q : {kAll, to})
    if (auto fenced = t.F.find(q); fenced != t.F.end()) {
      message.C.join(fenced->second);
      message.T[to].join(ofRank(fenced->second, t.rank));
    }
  Clock known = now(t, id);
  for (const auto &[slot, taken] : t.K)
    known.join(taken.C);
  if (releases)
    message.C.join(known);
  if (transfers)
    message.T[to].join(ofRank(known, t.rank));
  return message;
}

void Rules::update(const Access &made, const Place &word, Message message, bool keeps,
                   uint64_t value) {
  Ledger &ledger = words[{word.rank, word.heap, word.begin}];
  if (keeps && !ledger.kept.empty())
    message.join(ledger.kept.back().message);
  access(made, word);
  // Who has seen it knows that it is over.
  message.One.insert(made.transfer);
  ledger.kept.push_back({value, std::move(message), made});
  if (ledger.kept.size() > Ledger::kKept) {
    ledger.forgotten.join(ledger.kept.front().message);
    ledger.kept.pop_front();
    ++ledger.dropped;
  }
}

void Rules::wait(const Access &made, const Place &word, uint64_t value, int slot) {
  access(made, word);
  if (slot < 0)
    useTokens(made.thread);
  Thread &t = threads[made.thread];
  const WordKey key{word.rank, word.heap, word.begin};
  const Ledger &ledger = words[key];
  const std::deque<Update> &updates = ledger.kept;
  auto take = [&](const Message &message) {
    if (slot < 0)
      return acquire(made.thread, message);
    t.K[slot].join(message);
    t.K[slot].record = made.record;
  };
  const uint64_t taken = t.taken[key];
  size_t first = taken > ledger.dropped ? size_t(taken - ledger.dropped) : 0;
  // Some order of events lets the thread look at the earliest update with this value
  // that it does not know to have been followed by another. One that it knows already
  // has nothing to tell, and may have been reset since by a store that nobody sees.
  for (size_t i = first; i + 1 < updates.size(); ++i)
    if (covers(updates[i + 1].access, made))
      first = i + 1;
  size_t found = updates.size();
  for (size_t i = first; i < updates.size() && found == updates.size(); ++i)
    if (updates[i].value == value && (slot >= 0 || !covers(updates[i].access, made)))
      found = i;
  if (found < updates.size()) {
    t.taken[key] = ledger.dropped + found;
    take(updates[found].message);
  } else if (taken < ledger.dropped) {
    take(ledger.forgotten); // too much, rather than too little
  }
}

void Rules::atomic(const Access &made, const Place &word, bool acquires, bool releases, bool keeps,
                   uint64_t value) {
  const Ledger &ledger = words[{word.rank, word.heap, word.begin}];
  if (acquires)
    useTokens(made.thread);
  if (acquires && !ledger.kept.empty()) {
    const Update &last = ledger.kept.back();
    // Those of another width are not atomic for each other.
    if (made.width == last.access.width && reaches(made.scope, made.thread, last.access.thread) &&
        reaches(last.access.scope, last.access.thread, made.thread))
      acquire(made.thread, last.message);
  }
  if (!made.write)
    return access(made, word);
  update(made, word, tell(made.thread, word.rank, releases, /*transfers=*/false), keeps, value);
  step(made.thread);
}

void Rules::look(ThreadId id, const Place &word) {
  useTokens(id);
  auto ledger = words.find({word.rank, word.heap, word.begin});
  if (ledger != words.end() && !ledger->second.kept.empty())
    acquire(id, ledger->second.kept.back().message);
}

void Rules::endLaunch(ThreadId host, const std::vector<ThreadId> &programs) {
  step(host);
  threads[host].C.join(host, {threads[host].step, threads[host].step});
  const std::set<ThreadId> own(programs.begin(), programs.end());
  Thread &h = threads[host];
  auto gather = [&](Clock &into, const Clock &from) {
    for (const auto &[thread, how] : from)
      if (!own.count(thread))
        into.join(thread, how);
  };
  for (ThreadId id : programs) {
    Thread &t = threads[id];
    gather(h.C, t.C);
    check::join(h.T, t.T);
    h.One.insert(t.One);
    for (const auto &[slot, taken] : t.K) {
      gather(h.C, taken.C);
      check::join(h.T, taken.T);
      h.One.insert(taken.One);
    }
    // What it has asked for may be carried out later: that still knows what it knew.
    t.host = host;
    t.ended = h.step;
  }
}

void Rules::acquire(ThreadId id, const Message &message) {
  Thread &t = threads[id];
  t.C.join(message.C);
  check::join(t.T, message.T);
  t.One.insert(message.One);
}

void Rules::useTokens(ThreadId id) {
  for (auto &[slot, taken] : std::exchange(threads[id].K, {}))
    acquire(id, taken);
}

void Rules::meet(ThreadId id, Message message, bool completes, const std::set<int32_t> &ranks) {
  if (completes)
    for (int32_t rank : ranks)
      message.T[kAll].join(ofRank(message.C, rank));
  acquire(id, message);
  Thread &t = threads[id];
  t.F.clear();
  t.F[kAll] = t.C;
  t.K.clear();
  ++t.step;
}

//===----------------------------------------------------------------------===//
// Forgetting
//===----------------------------------------------------------------------===//

void Rules::retire() {
  memory.clear();
  accesses.clear();
  threads.clear();
  // A later wait may still look at a word's last value, of which it then knows all.
  words.clear();
}

void Rules::forgetPrivate(int32_t rank) {
  memory.erase({rank, false});
  words.erase(words.lower_bound({rank, false, 0}), words.lower_bound({rank, true, 0}));
}

} // namespace nereid::runtime::check
