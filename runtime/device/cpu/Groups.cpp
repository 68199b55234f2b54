// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Groups.cpp - Who waited for what, in few lines ---------------------===//
//
// A launch that hangs may have thousands of programs. They are put into groups
// by what a reader would call the same: what they do, where, the note, the
// value seen and the value awaited. The address is left out on purpose:
// programs that wait each for a word of its own are one line, with the first
// address and the number of the others.
//
// Groups stand in the order of their first program; after them those that have
// ended or were never started, and what else is of use: that launches behind
// this one wait for it.
//
//===----------------------------------------------------------------------===//
#include "device/cpu/LaunchState.h"
#include "symmetric/Programs.h"

#include <algorithm>
#include <map>
#include <set>

namespace nereid::runtime {

static void describeWait(const LaunchState &launch, const LaunchState::Waiting &w,
                         BlockedGroup &g) {
  const WaitCondition &c = w.condition;
  if (c.kind == WaitCondition::Barrier) {
    g.note = describeBarrierWait(launch, *c.team);
    return;
  }
  if (c.kind == WaitCondition::Transfer || c.kind == WaitCondition::Room) {
    g.note = "transfers" +
             (c.transfer.pe < 0 ? std::string() : " to rank " + std::to_string(c.transfer.pe)) +
             " are under way";
    return;
  }
  c.signal.describe(launch.job, g);
}

std::vector<BlockedGroup> LaunchState::groups() const {
  // Programs that wait at the same line for the same thing share an entry;
  // their addresses may differ, the first one is shown.
  struct Entry {
    BlockedGroup group;
    std::vector<uint64_t> programs;
    uint64_t first = ~uint64_t(0);
    std::set<const uint8_t *> addresses;
  };
  std::map<std::string, Entry> found;
  for (const Waiting &w : waiting) {
    BlockedGroup g;
    g.rank = job.rank;
    g.kind = w.over                             ? std::string(w.name) + " is over"
             : w.state == ProgramState::Polling ? "spin loop"
             : w.state == ProgramState::Ready   ? (random ? "waits for its turn" : "computes")
                                                : w.name;
    g.site = site(w.site);
    if (w.state == ProgramState::Blocked && !w.over)
      describeWait(*this, w, g);
    std::string key = g.kind + "|" + std::to_string(w.site) + "|" + g.note + "|" +
                      std::to_string(g.currentValue) + "|" + std::to_string(g.awaitedValue);
    Entry &entry = found[key];
    if (g.hasValues)
      entry.addresses.insert(w.condition.signal.address);
    if (w.linear < entry.first) {
      entry.first = w.linear;
      entry.group = std::move(g);
    }
    entry.programs.push_back(w.linear);
  }
  std::vector<std::pair<uint64_t, BlockedGroup>> sorted;
  for (auto &item : found) {
    Entry &entry = item.second;
    BlockedGroup &g = entry.group;
    g.programCount = int64_t(entry.programs.size());
    g.programs = programsText(spec.grid, kernel.lanes, std::move(entry.programs));
    if (entry.addresses.size() > 1)
      g.address += " and " + std::to_string(entry.addresses.size() - 1) +
                   (entry.addresses.size() == 2 ? " other place" : " other places");
    sorted.emplace_back(entry.first, std::move(g));
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<BlockedGroup> out;
  for (auto &item : sorted)
    out.push_back(std::move(item.second));

  const bool waits = !out.empty();
  for (Fate what : {Finished, Unstarted}) {
    std::vector<uint64_t> programs;
    for (uint64_t i = 0; i < fate.size(); ++i)
      if (fate[i] == what)
        programs.push_back(i);
    if (programs.empty())
      continue;
    BlockedGroup g;
    g.rank = job.rank;
    g.kind = what == Finished ? "ended" : "not started";
    g.programCount = int64_t(programs.size());
    g.programs = programsText(spec.grid, kernel.lanes, std::move(programs));
    out.push_back(std::move(g));
  }
  if (waits && kernel.lanes == 1 && job.settings.profile.subVecNum > 1) {
    BlockedGroup g;
    g.rank = job.rank;
    g.kind = "vector-only kernel";
    g.note = "'" + kernel.name +
             "' has no tl.dot, no al.scope(core_mode=\"cube\") and no barrier_all: one vector "
             "core runs each program, and sub_vec_id() is 0";
    out.push_back(std::move(g));
  }
  {
    std::lock_guard<std::mutex> guard(job.stateLock);
    for (const std::string &kernel : job.queuedLaunches) {
      BlockedGroup g;
      g.rank = job.rank;
      g.kind = "launch that waits";
      g.note = "kernel '" + kernel +
               "' starts when this one has ended: launches of one rank run one "
               "after the other, those of different streams too";
      out.push_back(std::move(g));
    }
  }
  if (out.empty()) {
    BlockedGroup g;
    g.rank = job.rank;
    g.kind = "in a kernel";
    g.note = "'" + kernel.name + "'";
    out.push_back(std::move(g));
  }
  return out;
}

} // namespace nereid::runtime
