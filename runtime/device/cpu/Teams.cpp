// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Teams.cpp - nrd_team_*, nrd_lane_share -----------------------------===//
//
// A collective of a team is a barrier, copies, and a barrier:
//
// 1. The member with number 0 notes what it passes (bytes, root) for this
//   barrier's number, then all meet. Now every member reads the note and
//   compares. Whoever differs from member 0 fails, before it copies a byte.
// 2. Everybody pulls what it needs from where it lies: all owners have come, so
//   that all sources are ready.
// 3. All meet again, so that sources may change.
//
// nrd_lane_share hands a value from the first vector core of a program to the
// second through a ring of slots. `written` counts what the one has put there,
// `taken` what the other has taken; each waits for the other's counter, the
// first only when the ring is full.
//
//===----------------------------------------------------------------------===//
#include "device/cpu/Teams.h"

#include "device/cpu/EntryPoints.h"

#include <cstring>

namespace nereid::runtime {

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

static void noteNoTeam(Program &p, const char *what, int32_t handle, uint32_t site) {
  noteFailure(p, StatusCode::BadRank,
              std::string(what) + ": " + std::to_string(handle) +
                  " is not a team of this job, or one that has been destroyed; "
                  "teams are TEAM_WORLD (0), the other fixed ones and what "
                  "team_split_strided and team_split_2d return",
              site);
}

static void noteNoMember(Program &p, const char *what, const Team &team, uint32_t site) {
  std::string name = team ? p.launch->job.describeTeam(team) : "TEAM_INVALID, which has no members";
  noteFailure(p, StatusCode::BadRank,
              std::string(what) + ": rank " + std::to_string(p.abi.rank) + " is not a member of " +
                  name + "; only its members may call this",
              site);
}

static void noteCalls(Program &p, const char *what, const char *of, const Team &team, uint64_t own,
                      uint64_t other, uint32_t site) {
  noteFailure(p, StatusCode::Mismatch,
              std::string(what) + ": the members of " + p.launch->job.describeTeam(team) +
                  " disagree about the " + of + ": rank " + std::to_string(p.abi.rank) +
                  " passes " + std::to_string(own) + ", rank " + std::to_string(team.start) +
                  " passes " + std::to_string(other),
              site);
}

static void noteRoot(Program &p, const char *what, int32_t root, const Team &team, uint32_t site) {
  noteFailure(p, StatusCode::BadRank,
              std::string(what) + ": the root " + std::to_string(root) + " is not a member of " +
                  p.launch->job.describeTeam(team) + ", whose members are numbered 0 to " +
                  std::to_string(team.size - 1),
              site);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// The team of that handle in this launch; fails unless the rank is a member.
static LaunchTeam &memberTeam(Program &p, const char *what, int32_t handle, uint32_t site) {
  Team team = p.launch->job.findTeam(handle);
  if (!team && handle != NRD_TEAM_INVALID) [[unlikely]] {
    noteNoTeam(p, what, handle, site);
    p.worker->leave(p);
  }
  if (!team || team.memberOf(p.abi.rank) < 0) [[unlikely]] {
    noteNoMember(p, what, team, site);
    p.worker->leave(p);
  }
  return p.launch->teams.of(team);
}

/// The program that speaks for its rank when members compare their calls.
static bool speaks(const Program &p) {
  return p.linear == 0 || p.launch->job.settings.profile.oneProgramPerRank;
}

/// Barrier at which the members also compare what they pass.
static void enterCollective(Program &p, LaunchTeam &t, const char *what, uint64_t bytes,
                            uint64_t root, int32_t flags, uint32_t site) {
  Team &team = t.team;
  checkBytes(p, bytes, what, site);
  JobControl &control = p.launch->job.control;
  const bool compares = speaks(p) && team.size > 1;
  const uint64_t number = compares ? team.barriers() + 1 : 0;
  if (compares && team.start == p.abi.rank)
    control.noteCall(team, number, {bytes, root});
  barrier(p, t, what, flags & ~NRD_BARRIER_SYNC, site);
  if (!compares)
    return;
  const TeamCall first = control.callOf(team, number);
  if (first.bytes != bytes) [[unlikely]] {
    noteCalls(p, what, "number of bytes", team, bytes, first.bytes, site);
    p.worker->leave(p);
  }
  if (first.root != root) [[unlikely]] {
    noteCalls(p, what, "root", team, root, first.root, site);
    p.worker->leave(p);
  }
}

/// Copies from `source`'s place on `rank` to `dest` here.
static void pull(Program &p, const char *what, void *dest, const void *source, uint64_t bytes,
                 int32_t rank, uint32_t site) {
  if (bytes == 0)
    return;
  uint64_t from = remoteOffset(p, source, bytes, rank, what, site);
  checkLocal(p, dest, bytes, what, site);
  if (rank == p.abi.rank && !p.observer)
    std::memmove(dest, p.transport->address(rank, from), bytes);
  else if (p.transport->isDirect(rank))
    copyPull(dest, p.transport->address(rank, from), bytes);
  else
    getElsewhere(p, rank, from, dest, bytes, /*nbi=*/false, what);
  p.worker->noteActivity();
}

/// Vector cores other than the first only take part in the barriers.
static bool copies(const Program &p, int32_t flags) {
  return p.abi.sub_vec_id == 0 || (flags & NRD_BARRIER_GATED);
}

} // namespace nereid::runtime

using namespace nereid::runtime;

extern "C" {

int32_t nrd_team_my_pe(nrd_program *prog, int32_t handle, uint32_t site) {
  Program &p = programOf(prog);
  p.site = site;
  Team team = p.launch->job.findTeam(handle);
  if (!team && handle != NRD_TEAM_INVALID) [[unlikely]] {
    noteNoTeam(p, "team_my_pe", handle, site);
    p.worker->leave(p);
  }
  return team ? team.memberOf(p.abi.rank) : -1;
}

int32_t nrd_team_n_pes(nrd_program *prog, int32_t handle, uint32_t site) {
  Program &p = programOf(prog);
  p.site = site;
  Team team = p.launch->job.findTeam(handle);
  if (!team && handle != NRD_TEAM_INVALID) [[unlikely]] {
    noteNoTeam(p, "team_n_pes", handle, site);
    p.worker->leave(p);
  }
  return team ? team.size : -1;
}

int32_t nrd_team_translate_pe(nrd_program *prog, int32_t from, int32_t pe, int32_t to,
                              uint32_t site) {
  Program &p = programOf(prog);
  p.site = site;
  const Job::Impl &job = p.launch->job;
  Team source = job.findTeam(from), target = job.findTeam(to);
  for (const Team *team : {&source, &target})
    if (!*team && team->handle != NRD_TEAM_INVALID) [[unlikely]] {
      noteNoTeam(p, "team_translate_pe", team->handle, site);
      p.worker->leave(p);
    }
  if (!source || !target || pe < 0 || pe >= source.size)
    return -1;
  return target.memberOf(source.rankOf(pe));
}

void nrd_team_barrier(nrd_program *prog, int32_t handle, int32_t flags, uint32_t site) {
  Program &p = programOf(prog);
  const char *what = flags & NRD_BARRIER_SYNC ? "team_sync" : "barrier";
  barrier(p, memberTeam(p, what, handle, site), what, flags, site);
}

void nrd_team_broadcast(nrd_program *prog, int32_t handle, void *dest, const void *source,
                        uint64_t bytes, int32_t root, int32_t flags, uint32_t site) {
  Program &p = programOf(prog);
  LaunchTeam &t = memberTeam(p, "broadcast", handle, site);
  if (root < 0 || root >= t.team.size) [[unlikely]] {
    noteRoot(p, "broadcast", root, t.team, site);
    p.worker->leave(p);
  }
  enterCollective(p, t, "broadcast", bytes, uint64_t(root), flags, site);
  if (copies(p, flags))
    pull(p, "broadcast", dest, source, bytes, t.team.rankOf(root), site);
  // The sources may change again when all have read them.
  barrier(p, t, "broadcast", flags, site);
}

void nrd_team_fcollect(nrd_program *prog, int32_t handle, void *dest, const void *source,
                       uint64_t bytes, int32_t flags, uint32_t site) {
  Program &p = programOf(prog);
  LaunchTeam &t = memberTeam(p, "fcollect", handle, site);
  enterCollective(p, t, "fcollect", bytes, 0, flags, site);
  for (int32_t i = 0; copies(p, flags) && i < t.team.size; ++i) {
    // Each begins with its own, so that they do not all read from one.
    int32_t member = (i + t.team.memberOf(p.abi.rank)) % t.team.size;
    pull(p, "fcollect", static_cast<uint8_t *>(dest) + uint64_t(member) * bytes, source, bytes,
         t.team.rankOf(member), site);
  }
  barrier(p, t, "fcollect", flags, site);
}

uint64_t nrd_lane_share(nrd_program *prog, uint64_t value, uint32_t site) {
  Program &p = programOf(prog);
  if (prog->sub_vec_num == 1)
    return value;
  p.site = site;
  LaneBox &box = p.launch->lanes[p.linear / uint64_t(prog->sub_vec_num)];
  uint64_t number = p.shares++;
  auto awaitCount = [&](const std::atomic<uint64_t> &counter, uint64_t reached, const char *who) {
    p.condition.signal.setWord(&counter, NRD_CMP_GE, reached, 8, /*readAsSigned=*/false);
    awaitWords(p, who, site);
  };
  if (prog->sub_vec_id == 0) {
    if (number >= LaneBox::kSlots)
      awaitCount(box.taken, number - LaneBox::kSlots + 1, "vector core 1");
    box.values[number % LaneBox::kSlots] = value;
    if (p.observer) [[unlikely]]
      tellShare(p, /*gives=*/true, number);
    box.written.store(number + 1, std::memory_order_release);
    p.worker->noteActivity();
    return value;
  }
  awaitCount(box.written, number + 1, "vector core 0");
  value = box.values[number % LaneBox::kSlots];
  if (p.observer) [[unlikely]]
    tellShare(p, /*gives=*/false, number);
  box.taken.store(number + 1, std::memory_order_release);
  p.worker->noteActivity();
  return value;
}

} // extern "C"
