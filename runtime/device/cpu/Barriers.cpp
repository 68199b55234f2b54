// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Barriers.cpp - Barriers of the programs of a team of ranks ---------===//
//
// barrier_all and sync_all are barriers of the team of all ranks. A barrier has
// two floors: the programs of a rank count themselves in the launch, the last of
// them tells the control plane that the rank is there, the last rank completes it.
//
// Ranks may meet in a barrier from different kernels, but not from different
// barriers of one kernel: then one of them has executed fewer, and every later
// barrier would be off by as many. Each arrival says which barrier of which kernel
// it is; when not all have said the same, the last one compares them.
//
//===----------------------------------------------------------------------===//
#include "device/cpu/EntryPoints.h"

namespace nereid::runtime {

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

static bool isWorld(const LaunchTeam &t) { return t.team.handle == NRD_TEAM_WORLD; }

static void noteTwoPrograms(Program &p, const char *what, uint64_t other, uint32_t site) {
  const LaunchState &launch = *p.launch;
  std::array<int32_t, 3> id = launch.programId(other);
  noteFailure(p, StatusCode::BarrierMismatch,
              std::string(what) + ": program (" + std::to_string(id[0]) + ", " +
                  std::to_string(id[1]) + ", " + std::to_string(id[2]) +
                  ") of this rank is in it already; under the profile " +
                  launch.job.settings.profile.name + " exactly one program of each rank calls it",
              site);
}

void LaunchState::reportMissing(const Program *ended) {
  const LaunchTeam *waited = &world;
  teams.each([&](LaunchTeam &t) {
    if (t.arrived.load())
      waited = &t;
  });
  FailureDetail detail;
  detail.code = StatusCode::BarrierMismatch;
  detail.message = (ended ? std::string("this program has ended without reaching")
                          : std::to_string(finished.load()) + " of " + std::to_string(total) +
                                " programs have ended without reaching") +
                   " the barrier" +
                   (isWorld(*waited) ? "" : " of " + job.describeTeam(waited->team)) + " that " +
                   std::to_string(waited->arrived.load()) + " of " + std::to_string(total) +
                   " programs wait at; all programs must reach it, or none";
  if (ended) {
    detail.program = programId(ended->linear);
    detail.site = site(ended->site);
  }
  fail(std::move(detail));
}

std::string describeBarrierWait(const LaunchState &launch, const LaunchTeam &t) {
  const Job::Impl &job = launch.job;
  const Team &team = t.team;
  std::string name = isWorld(t) ? "" : job.describeTeam(team);
  uint64_t number = t.target.load(std::memory_order_acquire);
  if (number == 0)
    return name + (name.empty() ? "" : ": ") + std::to_string(t.arrived.load()) + " of " +
           std::to_string(launch.total) + " programs of this rank are there";
  std::string missing;
  for (int32_t i = 0; i < team.size; ++i) {
    int32_t rank = team.rankOf(i);
    if (job.control.lastBarrier(team, rank).number < number)
      missing += (missing.empty() ? "rank " : ", rank ") + std::to_string(rank);
  }
  if (name.empty())
    name = "all programs of this rank are there";
  return name + (missing.empty() ? "" : "; not there yet: " + missing);
}

/// The count of all ranks is complete, but they stand at different barriers.
/// True, with a failure noted, when two of them run the same kernel.
static bool noteMismatch(Program &p, const LaunchTeam &t, const char *what, uint32_t site) {
  const Job::Impl &job = p.launch->job;
  auto idOf = [&](int32_t member) {
    return job.control.lastBarrier(t.team, t.team.rankOf(member)).id;
  };
  // The own rank first: its line is known here.
  const int32_t own = t.team.memberOf(job.rank);
  for (int32_t i = 0; i < t.team.size; ++i) {
    const int32_t first = i == 0 ? own : i <= own ? i - 1 : i;
    for (int32_t second = 0; second < t.team.size; ++second) {
      uint64_t a = idOf(first), b = idOf(second);
      if (a == b || a >> 32 != b >> 32)
        continue;
      const int32_t rank = t.team.rankOf(first), other = t.team.rankOf(second);
      std::string message =
          std::string(what) + (isWorld(t) ? "" : " of " + job.describeTeam(t.team)) + ": rank " +
          std::to_string(rank) + " is at barrier " + std::to_string(uint32_t(a) + 1) +
          " of its launch, rank " + std::to_string(other) + " at barrier " +
          std::to_string(uint32_t(b) + 1) +
          " of its own: the ranks have not executed the same number of barriers";
      if (first == own) {
        noteFailure(p, StatusCode::BarrierMismatch, std::move(message), site);
        return true;
      }
      // Nothing is wrong with this rank, which only came last.
      FailureDetail detail;
      detail.code = StatusCode::BarrierMismatch;
      detail.rank = rank;
      detail.message = std::move(message);
      p.worker->landing.reporting = true;
      p.launch->job.publishFailure(detail);
      p.worker->landing.reporting = false;
      return true;
    }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// The barrier
//===----------------------------------------------------------------------===//

/// All programs of this rank are there; true when all ranks are.
static bool arriveForRank(Program &p, LaunchTeam &t, const char *what, uint32_t site) {
  if (t.team.size == 1)
    return true;
  JobControl &control = p.launch->job.control;
  const uint64_t id = uint64_t(p.launch->kernelHash) << 32 | uint32_t(t.index++);
  const BarrierArrival arrival = control.arrive(t.team, id);
  if (arrival.outcome == BarrierArrival::Waits) {
    t.target.store(arrival.number, std::memory_order_release);
    return false;
  }
  if (arrival.outcome == BarrierArrival::Unlike) [[unlikely]] {
    if (noteMismatch(p, t, what, site))
      p.worker->leave(p);
    control.completeBarrier(t.team, arrival.number);
  }
  return true;
}

static void meet(Program &p, LaunchTeam &t, const char *what, int32_t flags, uint32_t site) {
  LaunchState &launch = *p.launch;
  Worker &worker = *p.worker;
  p.site = site;
  if (!(flags & NRD_BARRIER_SYNC))
    completeTransfers(p, what);
  worker.maybeYield(p);
  const bool one = launch.job.settings.profile.oneProgramPerRank;
  if (!p.fiber) [[unlikely]] {
    if (t.team.size == 1 && (one || launch.total == 1))
      return;
    noteCannotBlock(p, what, site);
    worker.leave(p);
  }
  p.condition.kind = WaitCondition::Barrier;
  p.condition.team = &t;
  p.condition.generation = t.generation.load(std::memory_order_acquire);
  if (one) {
    uint64_t other = 0;
    if (!t.inside.compare_exchange_strong(other, p.linear + 1)) [[unlikely]] {
      noteTwoPrograms(p, what, other - 1, site);
      worker.leave(p);
    }
  } else {
    // A call on one vector core stands for the whole program.
    uint64_t weight = flags & NRD_BARRIER_GATED ? uint64_t(p.abi.sub_vec_num) : 1;
    uint64_t arrived = t.arrived.fetch_add(weight, std::memory_order_seq_cst) + weight;
    if (arrived < launch.total) {
      if (launch.finished.load(std::memory_order_seq_cst) > 0) {
        p.waitName = what;
        launch.reportMissing(nullptr);
        worker.yieldFrom(p, ProgramState::Blocked); // to be listed, then to leave
      }
      blockProgram(p, what, site);
      return;
    }
    t.arrived.store(0, std::memory_order_seq_cst);
  }
  if (arriveForRank(p, t, what, site)) {
    t.generation.fetch_add(1, std::memory_order_acq_rel);
    worker.noteActivity();
  } else {
    blockProgram(p, what, site);
  }
  if (one)
    t.inside.store(0, std::memory_order_release);
  worker.maybeYield(p);
}

void barrier(Program &p, LaunchTeam &t, const char *what, int32_t flags, uint32_t site) {
  if (!p.observer) [[likely]]
    return meet(p, t, what, flags, site);
  p.site = site;
  EventRecord event = eventOf(p, EventKind::Barrier);
  event.id = uint32_t(t.team.key);
  event.how = uint8_t(flags);
  event.flags = flags & NRD_BARRIER_SYNC ? 0 : EventRecord::kCompletes;
  // Nobody can complete it before this program has arrived.
  event.value =
      (t.team.size > 1 ? t.team.barriers() : t.generation.load(std::memory_order_acquire)) + 1;
  const uint64_t tag = p.observer->before(event, 0);
  meet(p, t, what, flags, site);
  tellAfter(p, event, tag);
}

bool LaunchState::needs(int32_t rank) {
  bool needed = false;
  teams.each([&](LaunchTeam &t) {
    uint64_t number = t.target.load(std::memory_order_acquire);
    needed = needed || (number != 0 && t.team.memberOf(rank) >= 0 && t.team.barriers() < number);
  });
  return needed;
}

} // namespace nereid::runtime

using namespace nereid::runtime;

extern "C" {

void nrd_barrier_all(nrd_program *prog, uint32_t site) {
  Program &p = programOf(prog);
  barrier(p, p.launch->world, "barrier_all", 0, site);
}

void nrd_shmem_sync_all(nrd_program *prog, uint32_t site) {
  Program &p = programOf(prog);
  barrier(p, p.launch->world, "sync_all", NRD_BARRIER_SYNC, site);
}

} // extern "C"
