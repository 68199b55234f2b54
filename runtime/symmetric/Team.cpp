// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Team.cpp - Teams, and what their members agree on ------------------===//
//
// A team is a shape (first rank, stride, size) with counters that its members
// meet at. A kernel has it as a number, its handle:
//
//   below NRD_TEAM_FIRST         world, node, ...: made of the job's shape, never freed
//   NRD_TEAM_FIRST + index       a split team in slot `index` of the control plane
//           + generation << 12   how often that slot was given back before
//
// The generation makes an old handle of a slot that is in use again an error
// instead of another team.
//
// Splitting and destroying are collective calls of the members (a split: of the
// parent's). Each step is a meeting (teamCollective): a barrier at which
// everybody leaves the text of its call, after which all compare the texts. So
// members that disagree all get the same error at the same call. A team other
// than the world has one place for its texts, so its members meet once more
// before anybody may leave another one. A split is three meetings:
//
//   all agree ─▶ member 0 makes the teams, posts each member its handles
//             ─▶ (made) all take theirs ─▶ (read) posted numbers may be overwritten
//
// Checks of the other arguments stand behind the first meeting on purpose: they
// are part of the text, so either all members return the error or none.
//
//===----------------------------------------------------------------------===//
#include "nereid/runtime/Team.h"
#include "base/Clock.h"
#include "base/InvalidArgument.h"

#include "nereid/abi.h"
#include "symmetric/HostWait.h"
#include "symmetric/Turns.h"

#include <algorithm>

namespace nereid::runtime {

/// The handle of a split team is NRD_TEAM_FIRST + its index, and the generation of
/// its key in the bits above.
static constexpr int32_t kGenerationShift = 12;
static_assert(NRD_TEAM_FIRST + kMaxTeams <= 1 << kGenerationShift);
static_assert(uint64_t(kGenerations) << kGenerationShift <= uint64_t(1) << 30);

Team Job::Impl::findTeam(int32_t handle) const {
  const int32_t perNode = nodeSize();
  const bool oneNode = perNode >= worldSize;
  if (handle == NRD_TEAM_WORLD ||
      (oneNode && (handle == NRD_TEAM_SHARED || handle == NRD_TEAM_NODE))) {
    Team team = worldTeam;
    team.handle = handle;
    return team;
  }
  if (handle == NRD_TEAM_SHARED || handle == NRD_TEAM_NODE) {
    const int32_t first = rank / perNode * perNode;
    return teamOf(control, nodeTeam(first), handle,
                  {first, 1, std::min(perNode, worldSize - first)});
  }
  if (handle == NRD_TEAM_SAME_PE_NODE) {
    const int32_t first = rank % perNode;
    return teamOf(control, peersTeam(first), handle,
                  {first, perNode, (worldSize - first + perNode - 1) / perNode});
  }
  const int32_t index = (handle & ((1 << kGenerationShift) - 1)) - NRD_TEAM_FIRST;
  if (handle >= 0 && index >= 0 && index < kMaxTeams) {
    const TeamKey key = splitTeam(index);
    if (std::optional<TeamShape> shape =
            control.findTeam(key, uint32_t(handle >> kGenerationShift)))
      return teamOf(control, key, handle, *shape);
  }
  Team none;
  none.handle = handle;
  return none;
}

std::string Job::Impl::describeTeam(const Team &team) const {
  std::string out = "team " + std::to_string(team.handle);
  if (!team)
    return out;
  if (team.handle == NRD_TEAM_WORLD)
    return out + " (the whole job)";
  out += team.size == 1 ? " (rank " : " (ranks ";
  for (int32_t i = 0; i < team.size; ++i) {
    if (i == 8 && team.size > 10) {
      out += ", ... " + std::to_string(team.rankOf(team.size - 1));
      break;
    }
    out += (i ? ", " : "") + std::to_string(team.rankOf(i));
  }
  return out + ")";
}

//===----------------------------------------------------------------------===//
// Collectives of the members' hosts
//===----------------------------------------------------------------------===//

// Under a random schedule the last one to arrive marks all members as back in host code before the
// counter lets them go: otherwise a draw could take a rank for parked that runs again.
static Status barrierOf(Job::Impl &job, const Team &team, const std::string &what) {
  const std::atomic<uint64_t> &epoch = job.control.hostEpoch(team.key);
  const uint64_t number = epoch.load(std::memory_order_acquire) + 1;
  if (job.turns)
    job.turns->enterCollective(~uint64_t(0));
  auto complete = [&] {
    for (int32_t i = 0; job.turns && i < team.size; ++i)
      job.turns->endCollectiveOf(team.rankOf(i));
  };
  if (job.control.arriveHost(team, number, what, complete))
    return {};
  return HostBarrierWait(job, what, epoch, number, team).run(job.settings.timeoutSeconds);
}

/// One barrier on the team's own counter.
static Status hostBarrier(Job::Impl &job, const Team &team, const std::string &what) {
  Observer *watching = job.observer.load(std::memory_order_acquire);
  if (!watching) [[likely]]
    return barrierOf(job, team, what);
  EventRecord event = job.hostEvent(EventKind::Barrier);
  event.id = uint32_t(team.key);
  event.value = job.control.hostEpoch(team.key).load(std::memory_order_acquire) + 1;
  event.flags = EventRecord::kCompletes;
  event.offset = reinterpret_cast<uint64_t>(what.data());
  event.bytes = what.size();
  const uint64_t tag = watching->before(event, 0);
  Status status = barrierOf(job, team, what);
  event.end = cheapTicks();
  if (status.ok())
    watching->after(event, tag);
  return status;
}

static Status meet(Job::Impl &job, const Team &team, const std::string &request) {
  if (Status st = job.refuseCopy(request); !st.ok())
    return st;
  std::lock_guard<std::mutex> guard(job.hostLock);
  if (job.finalized.load(std::memory_order_acquire))
    return invalid("this rank has already finalized its job");
  if (job.jobFailed())
    return job.failureStatus();
  if (Status st = job.completeTransfers("a host barrier"); !st.ok())
    return st;
  if (team.size == 1)
    return {};
  job.enter(RankState::Collective);
  Status result = hostBarrier(job, team, request);
  if (result.ok()) {
    const uint64_t number = job.control.hostEpoch(team.key).load(std::memory_order_acquire);
    std::string first = job.control.requestOf(team, number, team.start);
    Status mismatch;
    for (int32_t i = 1; i < team.size && mismatch.ok(); ++i) {
      std::string other = job.control.requestOf(team, number, team.rankOf(i));
      if (other != first)
        mismatch = Status::error(StatusCode::Mismatch,
                                 "members of " + job.describeTeam(team) +
                                     " made different collective calls: rank " +
                                     std::to_string(team.start) + " called " + first + ", rank " +
                                     std::to_string(team.rankOf(i)) + " called " + other,
                                 team.rankOf(i));
    }
    // All have read before anybody asks for something else.
    result = hostBarrier(job, team, request);
    if (result.ok())
      result = mismatch;
  }
  if (job.turns)
    job.turns->leaveCollective();
  job.leave(RankState::Collective);
  return result;
}

/// Barrier among the members, who must all ask for the same.
static Status teamCollective(Job::Impl &job, const Team &team, const std::string &request) {
  if (team.key == kWorldTeam)
    return job.collective(request);
  Status result = meet(job, team, request);
  if (result.ok())
    job.giveWay();
  return result;
}

/// The team, of which this rank is a member; an error otherwise.
static Expected<Team> requireMember(Job::Impl &job, int32_t handle, const std::string &what) {
  Team team = job.findTeam(handle);
  if (handle == NRD_TEAM_INVALID)
    return invalid(what + ": the team is TEAM_INVALID (-1), which has no "
                          "members");
  if (!team)
    return invalid(what + ": " + std::to_string(handle) +
                   " is not a team of this job, or one that has been destroyed");
  if (team.memberOf(job.rank) < 0)
    return invalid(what + ": rank " + std::to_string(job.rank) + " is not a member of " +
                   job.describeTeam(team) + "; only its members call this");
  return team;
}

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

/// Makes a team of each shape; false when there can not be so many.
static bool makeTeams(Job::Impl &job, const std::vector<TeamShape> &shapes,
                      std::vector<int32_t> &handles) {
  std::vector<TeamKey> made;
  for (const TeamShape &shape : shapes) {
    std::optional<JobControl::MadeTeam> team = job.control.makeTeam(shape);
    if (!team) {
      for (TeamKey key : made)
        job.control.dropTeam(key);
      return false;
    }
    made.push_back(team->key);
    handles.push_back(int32_t(team->generation << kGenerationShift) + NRD_TEAM_FIRST +
                      (team->key - splitTeam(0)));
  }
  return true;
}

Expected<int32_t> teamSplitStrided(Job &owner, int32_t parentHandle, int32_t start, int32_t stride,
                                   int32_t size) {
  Job::Impl &job = owner.impl();
  std::string request = "team_split_strided(" + std::to_string(parentHandle) +
                        ", start=" + std::to_string(start) + ", stride=" + std::to_string(stride) +
                        ", size=" + std::to_string(size) + ")";
  Expected<Team> parent = requireMember(job, parentHandle, request);
  if (!parent.ok())
    return parent.status();
  if (Status st = teamCollective(job, *parent, request); !st.ok())
    return st;
  int32_t n = parent->size;
  if (size < 1)
    return invalid(request + ": a team has at least one member");
  if (start < 0 || start >= n)
    return invalid(request + ": the parent has members 0 to " + std::to_string(n - 1));
  if (stride < 1 && size > 1)
    return invalid(request + ": the stride is at least 1");
  if (size > 1 && int64_t(start) + int64_t(size - 1) * stride >= n)
    return invalid(request + ": the last member would be " +
                   std::to_string(int64_t(start) + int64_t(size - 1) * stride) +
                   ", but the parent has members 0 to " + std::to_string(n - 1));
  TeamShape shape{parent->rankOf(start), (size > 1 ? stride : 1) * parent->stride, size};
  // The parent's member 0 makes the team; all read its handle.
  std::vector<int32_t> handles;
  if (job.rank == parent->start) {
    bool ok = makeTeams(job, {shape}, handles);
    for (int32_t m = 0; m < n; ++m)
      job.control.post(parent->rankOf(m), {ok ? handles[0] : NRD_TEAM_INVALID, NRD_TEAM_INVALID});
  }
  if (Status st = teamCollective(job, *parent, request + " (made)"); !st.ok())
    return st;
  int32_t handle = job.control.posted()[0];
  if (Status st = teamCollective(job, *parent, request + " (read)"); !st.ok())
    return st;
  if (handle == NRD_TEAM_INVALID)
    return Status::error(StatusCode::OutOfMemory,
                         request + ": there are " + std::to_string(kMaxTeams) +
                             " teams already; destroy some with team_destroy");
  return handle;
}

Expected<std::array<int32_t, 2>> teamSplit2D(Job &owner, int32_t parentHandle, int32_t xRange) {
  Job::Impl &job = owner.impl();
  std::string request =
      "team_split_2d(" + std::to_string(parentHandle) + ", xrange=" + std::to_string(xRange) + ")";
  Expected<Team> parent = requireMember(job, parentHandle, request);
  if (!parent.ok())
    return parent.status();
  if (Status st = teamCollective(job, *parent, request); !st.ok())
    return st;
  if (xRange < 1)
    return invalid(request + ": a row has at least one member");
  int32_t n = parent->size, columns = std::min(xRange, n);
  int32_t rows = (n + columns - 1) / columns;
  std::vector<TeamShape> shapes;
  for (int32_t y = 0; y < rows; ++y)
    shapes.push_back(
        {parent->rankOf(y * columns), parent->stride, std::min(columns, n - y * columns)});
  for (int32_t x = 0; x < columns; ++x)
    shapes.push_back(
        {parent->rankOf(x), parent->stride * columns, (n - x + columns - 1) / columns});
  // Member 0 makes all of them and leaves each rank its two handles.
  if (job.rank == parent->start) {
    std::vector<int32_t> handles;
    bool ok = makeTeams(job, shapes, handles);
    for (int32_t m = 0; m < n; ++m)
      job.control.post(parent->rankOf(m),
                       {ok ? handles[size_t(m / columns)] : NRD_TEAM_INVALID,
                        ok ? handles[size_t(rows + m % columns)] : NRD_TEAM_INVALID});
  }
  if (Status st = teamCollective(job, *parent, request + " (made)"); !st.ok())
    return st;
  const std::array<int32_t, 2> result = job.control.posted();
  if (Status st = teamCollective(job, *parent, request + " (read)"); !st.ok())
    return st;
  if (result[0] == NRD_TEAM_INVALID)
    return Status::error(StatusCode::OutOfMemory,
                         request + ": there are " + std::to_string(kMaxTeams) +
                             " teams already; destroy some with team_destroy");
  return result;
}

Status teamDestroy(Job &owner, int32_t handle) {
  Job::Impl &job = owner.impl();
  std::string request = "team_destroy(" + std::to_string(handle) + ")";
  if (handle >= 0 && handle < NRD_TEAM_FIRST && job.findTeam(handle))
    return invalid(request + ": this team belongs to the job and cannot be "
                             "destroyed");
  Expected<Team> team = requireMember(job, handle, request);
  if (!team.ok())
    return team.status();
  if (Status st = teamCollective(job, *team, request); !st.ok())
    return st;
  // All have agreed: the handle is invalid from now on.
  job.control.leaveTeam(*team);
  return {};
}

Status teamBarrier(Job &owner, int32_t handle) {
  Job::Impl &job = owner.impl();
  std::string request = "team barrier(" + std::to_string(handle) + ")";
  Expected<Team> team = requireMember(job, handle, request);
  return team.ok() ? teamCollective(job, *team, request) : team.status();
}

Expected<std::vector<int32_t>> teamRanks(Job &owner, int32_t handle) {
  Job::Impl &job = owner.impl();
  std::vector<int32_t> ranks;
  if (handle == NRD_TEAM_INVALID)
    return ranks;
  Team team = job.findTeam(handle);
  if (!team)
    return invalid(std::to_string(handle) +
                   " is not a team of this job, or one that has been destroyed");
  for (int32_t i = 0; i < team.size; ++i)
    ranks.push_back(team.rankOf(i));
  return ranks;
}

} // namespace nereid::runtime
