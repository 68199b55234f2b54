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

ThreadId Rules::addThread(int32_t rank) {
  threads.emplace_back().rank = rank;
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
  return {now(t, id), t.T, t.One};
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

static uint32_t knownIn(const Transfers &transfers, int32_t rank, ThreadId thread) {
  auto found = transfers.find(rank);
  return found == transfers.end() ? 0 : found->second.of(thread).w;
}

/// Whether `a` comes before `b`, which is made now.
bool Rules::covers(const Access &a, const Access &b) const {
  const Thread &t = threads[b.thread];
  if (a.transfer && (t.One.contains(a.transfer) || (b.transfers && a.transfer == b.transfer)))
    return true;
  if (!a.transfers) {
    if (a.thread == b.thread)
      return true;
    const Known known = t.C.of(a.thread);
    return (a.write ? known.w : known.r) >= a.step;
  }
  auto reaches = [&](const Transfers &transfers) {
    return std::max(knownIn(transfers, a.to, a.thread), knownIn(transfers, kAll, a.thread)) >=
           a.step;
  };
  if (reaches(t.T))
    return true;
  // A fence keeps transfers to one rank in their order.
  return b.transfers && b.write && !b.get && !a.get && b.to == a.to && reaches(t.F);
}

bool Rules::knowsOf(ThreadId thread, const Access &first) const {
  if (first.thread == thread)
    return true;
  const Known known = threads[thread].C.of(first.thread);
  return std::max(known.w, known.r) >= first.step;
}

/// Signals and atomics on one word are ordered by the word itself.
bool Rules::agree(const Access &a, const Access &b) {
  return a.atomic && b.atomic && a.width == b.width;
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
  splitAt(cells, place.begin);
  splitAt(cells, place.end);
  accesses.push_back(made);
  const int64_t own = int64_t(accesses.size()) - 1;

  std::map<int64_t, Place> conflicts;
  auto look = [&](int64_t other, uint64_t begin, uint64_t end) {
    if (other < 0 || agree(accesses[size_t(other)], made) || covers(accesses[size_t(other)], made))
      return;
    auto [entry, isNew] = conflicts.try_emplace(other, place);
    if (isNew)
      entry->second.begin = begin;
    entry->second.end = end;
  };
  uint64_t at = place.begin;
  for (auto it = cells.lower_bound(place.begin); at < place.end;) {
    if (it == cells.end() || it->first > at) {
      const uint64_t end = it == cells.end() ? place.end : std::min(it->first, place.end);
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
        return !made.transfers && before.atomic == made.atomic && before.width == made.width &&
               covers(before, made);
      });
      cell.readers.push_back(own);
    }
    at = cell.end;
    ++it;
  }
  for (const auto &[other, bytes] : conflicts)
    report({accesses[size_t(other)], made, bytes});
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

void Rules::fence(ThreadId id, int32_t to) {
  Thread &t = threads[id];
  t.F[to] = now(t, id);
  ++t.step;
}

void Rules::quiet(ThreadId id, int32_t to) {
  Thread &t = threads[id];
  const Clock known = now(t, id);
  t.T[to].join(ofRank(known, t.rank));
  t.F[to] = known;
  ++t.step;
}

Message Rules::tell(ThreadId id, int32_t to, bool releases, bool transfers) {
  const Thread &t = threads[id];
  Message message{{}, t.T, t.One};
  // A load whose value is there is over.
  message.C.join(id, {0, t.step});
  for (int32_t q : {kAll, to})
    if (auto fenced = t.F.find(q); fenced != t.F.end()) {
      message.C.join(fenced->second);
      message.T[to].join(ofRank(fenced->second, t.rank));
    }
  const Clock known = now(t, id);
  if (releases)
    message.C.join(known);
  if (transfers)
    message.T[to].join(ofRank(known, t.rank));
  return message;
}

void Rules::update(const Access &made, const Place &word, Message message, bool keeps,
                   uint64_t value) {
  Ledger &ledger = words[{word.rank, word.begin}];
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

void Rules::wait(const Access &made, const Place &word, uint64_t value) {
  access(made, word);
  Thread &t = threads[made.thread];
  const std::pair<int32_t, uint64_t> key{word.rank, word.begin};
  const Ledger &ledger = words[key];
  const std::deque<Update> &updates = ledger.kept;
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
    if (updates[i].value == value && !covers(updates[i].access, made))
      found = i;
  if (found < updates.size()) {
    t.taken[key] = ledger.dropped + found;
    acquire(made.thread, updates[found].message);
  } else if (taken < ledger.dropped) {
    acquire(made.thread, ledger.forgotten); // too much, rather than too little
  }
}

void Rules::acquire(ThreadId id, const Message &message) {
  Thread &t = threads[id];
  t.C.join(message.C);
  check::join(t.T, message.T);
  t.One.insert(message.One);
}

void Rules::meet(ThreadId id, Message message, bool completes, const std::set<int32_t> &ranks) {
  if (completes)
    for (int32_t rank : ranks)
      message.T[kAll].join(ofRank(message.C, rank));
  acquire(id, message);
  Thread &t = threads[id];
  t.F.clear();
  t.F[kAll] = t.C;
  ++t.step;
}

//===----------------------------------------------------------------------===//
// Forgetting
//===----------------------------------------------------------------------===//

void Rules::retire() {
  memory.clear();
  accesses.clear();
  for (Thread &t : threads) {
    t.C = {};
    t.T.clear();
    t.F.clear();
    t.One.clear();
    t.taken.clear();
  }
  // A later wait may still look at a word's last value, of which it then knows all.
  words.clear();
}

void Rules::forgetPrivate(int32_t rank) { memory.erase({rank, false}); }

} // namespace nereid::runtime::check
