// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "check/Hangs.h"

#include "base/Words.h"

#include <algorithm>

namespace nereid::runtime::check {

namespace {

bool isSigned(const EventRecord &wait) { return !(wait.flags & EventRecord::kUnsigned); }

bool satisfies(const EventRecord &wait, uint64_t word) {
  return compareWords(wait.how, zeroExtend(word, wait.width), wait.value, wait.width,
                      isSigned(wait));
}

std::string shown(const EventRecord &wait, uint64_t word) {
  return isSigned(wait) ? std::to_string(signExtend(word, wait.width))
                        : std::to_string(zeroExtend(word, wait.width));
}

/// Distance at which a wrong slot of the same array is looked for.
constexpr uint64_t kNeighbours = 4096;

} // namespace

void Hangs::update(int32_t pe, uint64_t offset, uint64_t value, uint64_t record) {
  History &history = words[{pe, offset}];
  history.push_back({value, record});
  if (history.size() > kKept)
    history.pop_front();
}

void Hangs::reset(int32_t pe, uint64_t offset, uint64_t bytes, uint64_t record) {
  auto word = words.lower_bound({pe, offset});
  for (; word != words.end() && word->first < Word{pe, offset + bytes}; ++word)
    word->second.push_back({0, record, /*isReset=*/true});
}

void Hangs::begin(const EventRecord &wait, uint64_t record) {
  waiting[{wait.rank, wait.launch, wait.program}] = {wait, record};
}

void Hangs::end(const EventRecord &wait) {
  waiting.erase({wait.rank, wait.launch, wait.program});
  if (auto word = words.find({wait.pe, wait.offset}); word != words.end())
    word->second.back().taken = true;
}

const Hangs::History *Hangs::historyOf(int32_t pe, uint64_t offset) const {
  auto found = words.find({pe, offset});
  return found == words.end() || found->second.empty() ? nullptr : &found->second;
}

std::vector<Hang> Hangs::all() const {
  std::vector<Hang> out;
  for (const auto &[thread, one] : waiting)
    out.push_back(explain(one));
  return out;
}

/// The first of these that fits: the value has been there and is gone; it went to another
/// rank, or to another word of this one; somebody else has signalled, or nobody.
Hang Hangs::explain(const Waiting &one) const {
  const EventRecord &wait = one.event;
  const std::string wanted = shown(wait, wait.value);
  auto fits = [&](const Update &u) { return !u.isReset && satisfies(wait, u.value); };
  auto text = [&](uint64_t value) { return shown(wait, value); };
  Hang hang{one.record, {}, {}, {}, {}};
  const History *own = historyOf(wait.pe, wait.offset);
  if (own) {
    auto last = std::find_if(own->rbegin(), own->rend(), fits);
    if (last != own->rend() && last != own->rbegin()) {
      const Update &next = *std::prev(last);
      hang.update = next.record;
      if (next.isReset) {
        hang.title = "the signal that this waits for was wiped out by a reset";
        hang.order = "the word was " + text(last->value) + " before (1) reset it";
        hang.help = "`nereid.barrier()` between the reset and the signals of peers";
      } else {
        hang.title = "the value that this waits for has been passed";
        hang.order = "the word was " + text(last->value) + ", and (1) made it " + text(next.value) +
                     " before the wait had seen it; the wait needs " + wanted;
        hang.help = "wait with >=, or let the signaller wait for an acknowledgement";
      }
      return hang;
    }
  }
  for (const auto &[word, history] : words) {
    const auto &[pe, offset] = word;
    if (history.empty() || history.back().taken || !fits(history.back()))
      continue;
    const bool sameWord = offset == wait.offset && pe != wait.pe;
    const uint64_t distance = offset > wait.offset ? offset - wait.offset : wait.offset - offset;
    const bool nearby = pe == wait.pe && distance && distance <= kNeighbours;
    if (!sameWord && (!nearby || hang.update))
      continue;
    hang.update = history.back().record;
    if (sameWord) {
      hang.title = "the signal that this waits for went to rank " + std::to_string(pe);
      hang.order = "(1) made the same word of rank " + std::to_string(pe) + " " +
                   text(history.back().value) + ", which nobody has waited for";
      hang.help = "signal rank " + std::to_string(wait.pe);
      return hang;
    }
    hang.title = "another word was signalled than the one that this waits for";
    hang.order = "(1) made the word " + std::to_string(distance) + " bytes " +
                 (offset > wait.offset ? "after" : "before") + " it " + text(history.back().value) +
                 ", which nobody has waited for";
    hang.help = "wait for the word that is signalled";
  }
  if (hang.update)
    return hang;
  hang.help = "a signal of this word that makes it " + wanted +
              ", by a program that does not wait for this one first";
  if (own) {
    hang.update = own->back().record;
    hang.title = "a wait for a value that never comes";
    hang.order = own->back().isReset ? "(1) was the last to change the word"
                                     : "(1) was the last to signal the word: it is " +
                                           text(own->back().value) + ", the wait needs " + wanted;
  } else {
    hang.title = "a wait for a signal that never comes";
    hang.order = "nobody has signalled this word; the wait needs " + wanted;
  }
  return hang;
}

} // namespace nereid::runtime::check
