// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobWatch.cpp - When a job that stands still is called dead ---------===//
//
// A look (Snapshot) reads the words of all ranks one after the other while they
// run: it may put together what was never true at one time. Looks that are
// alike make it sound.
//
//   look 1    certain: everybody waits, nothing is in flight, no stream is at work
//   look 2    certain, and `steady`, the counts of everything that moves, as in look 1:
//             nobody has moved between the end of 1 and the start of 2, so all that
//             look 1 says was true at once. `certainSince` begins, `certainPasses` are
//             how often each wait has been looked at so far
//   look n    still so, and each of these counts has gone up by two or more
//
// The last condition is what makes it a deadlock: one look at a wait may have
// been under way at look 2 and have missed a store; the next one began after it,
// and sees all that was ever written. All that has to last for kSettleNs.
//
// A program in a spin loop of its own, or a rank in host code, may still do
// something, and of ranks on other machines only their moves are known. While
// there is one of these, no look is certain, and only the time-out is
// left, which runs from the last move of anything (steadySince). A poller that
// uses processor time within one round, and a host that uses some at all, are at
// work: that counts as a move.
//
// Every thread of a rank that waits calls tick(); one at a time looks. Who
// finds something publishes it, and only the first failure of the job counts.
//
//===----------------------------------------------------------------------===//
#include "symmetric/JobWatch.h"

#include "base/Clock.h"
#include "base/Process.h"

#include <cstdio>

namespace nereid::runtime {

static constexpr uint64_t kLookEveryNs = 10000000;
static constexpr uint64_t kPeersEveryNs = 50000000;
/// How long everything must stand still before a deadlock is called one.
static constexpr uint64_t kSettleNs = 100000000;
/// Processor time inside one round of a spin loop that makes it work.
static constexpr uint64_t kWorkTicks = 3;
/// Processor time in half a second that tells a host at work from one that sleeps,
/// even if it shares its core with ten others.
static constexpr uint64_t kHostWindowNs = 500000000;
static constexpr uint64_t kHostWorkTicks = 2;
/// With a rank gone, spin loops that see nothing new get this long.
static constexpr double kGoneSeconds = 2.0;

JobWatch::JobWatch(Job::Impl &job) : job(job) {}

void JobWatch::failWith(StatusCode code, std::string message, int32_t rank) {
  FailureDetail detail;
  detail.code = code;
  detail.message = std::move(message);
  detail.rank = rank;
  job.publishFailure(detail);
}

JobWatch::Snapshot JobWatch::look() const {
  Snapshot s;
  s.certain = true;
  bool waiting = false;
  for (int32_t r = 0; r < job.worldSize; ++r) {
    const RankReport report = job.control.report(r);
    const RankState state = report.state;
    s.steady.insert(s.steady.end(), {uint64_t(state), report.launches, report.collectives,
                                     report.barriers, report.hostMoves});
    if (isGone(state)) {
      s.gone = true;
      continue;
    }
    // Somebody may be waiting for what is still under way.
    s.steady.push_back(report.inFlight);
    if (report.inFlight || report.hostBusy)
      s.certain = false;
    // A stream at work in host code may write what somebody waits for.
    s.steady.push_back(uint64_t(report.streamsInside) << 32 | report.streamsAtWork);
    if (report.streamsInside < report.streamsAtWork)
      s.certain = false;
    if (state == RankState::Host || state == RankState::Absent) {
      s.certain = false;
      continue;
    }
    // What programs of other machines wait for is not known here, only that they move.
    if (!job.isOnThisMachine(r)) {
      s.steady.push_back(report.moves);
      s.certain = false;
      continue;
    }
    const std::vector<uint64_t> passes = job.node.hostWaitsOf(r);
    const uint32_t hostWaits = uint32_t(passes.size());
    s.idlePasses.insert(s.idlePasses.end(), passes.begin(), passes.end());
    // One that is about to start or to end, or has found no place in the list.
    bool hostListed = hostWaits > 0 || state == RankState::Launch;
    if (!hostListed || hostWaits != report.hostWaiting)
      s.certain = false;
    waiting = waiting || hostWaits > 0;
    // A rank without a waiting program is about to start or to end its launch.
    DeviceActivity activity;
    job.device.look(job.deviceArea(r), activity);
    s.steady.insert(s.steady.end(), activity.steps.begin(), activity.steps.end());
    s.idlePasses.insert(s.idlePasses.end(), activity.looks.begin(), activity.looks.end());
    for (const DeviceActivity::Spinner &spinner : activity.spinners)
      s.pollers.push_back({job.node.processOf(r), spinner.thread, spinner.looks, 0});
    if (activity.running)
      s.computing = r;
    if (activity.running || !activity.spinners.empty())
      s.certain = false;
    const bool rankWaits = !activity.looks.empty();
    s.programs = s.programs || rankWaits;
    waiting = waiting || rankWaits;
    if (report.launching || state == RankState::Launch)
      s.certain = s.certain && rankWaits;
  }
  s.certain = s.certain && waiting;
  return s;
}

/// For messages: " has finalized and left the job".
std::string JobWatch::howItLeft(int32_t rank, RankState state) const {
  if (state == RankState::Finalized)
    return " has finalized and left the job";
  if (state == RankState::Left)
    return " left without finalizing";
  const Departure departure = job.control.departureOf(rank);
  return " (process " + std::to_string(departure.process) + ") " +
         (departure.waitStatus ? exitText(*departure.waitStatus) : "ended without finalizing");
}

/// True when it found a failure.
bool JobWatch::checkRanks(Awaited &wait) {
  // First the state of the ranks, then whether they are still needed.
  job.control.findLost();
  for (int32_t r = 0; r < job.worldSize; ++r) {
    RankState state = job.control.stateOf(r);
    if (!isGone(state) || (state == RankState::Finalized ? !wait.needs(r) : wait.isOver()))
      continue;
    failWith(state == RankState::Finalized ? StatusCode::RankFinalized : StatusCode::RankDied,
             "rank " + std::to_string(r) + howItLeft(r, state) + " while rank " +
                 std::to_string(job.rank) + " waits in " + wait.what(),
             r);
    return true;
  }
  return false;
}

/// A worker that has made no pass over its programs since the last look either
/// did not get a core or is inside one of them, out of its spin loop and at
/// work: then it uses processor time.
bool JobWatch::pollersMoved(Snapshot &current) const {
  bool moved = current.pollers.size() != last.pollers.size();
  for (size_t i = 0; i < current.pollers.size(); ++i) {
    Snapshot::Poller &p = current.pollers[i];
    uint64_t ticks = threadCpuTicks(p.pid, p.thread);
    if (moved || p.thread != last.pollers[i].thread || p.passes != last.pollers[i].passes) {
      p.cpuTicks = ticks;
      continue;
    }
    p.cpuTicks = last.pollers[i].cpuTicks;
    if (ticks >= p.cpuTicks + kWorkTicks) {
      moved = true;
      p.cpuTicks = ticks; // it has to work again to count again
    }
  }
  return moved;
}

/// Whether the host of a rank has been computing, in place of a launch or beside those that it has
/// given to streams: it will come to where the others wait, or write what they wait for, when it is
/// done. One that sleeps or waits for something outside the job uses next to no processor time. One
/// that waits for a core or a disk does not sleep.
bool JobWatch::hostsWorked(uint64_t now) {
  bool worked = false;
  hostWork.resize(job.worldSize);
  for (int32_t r = 0; r < job.worldSize; ++r) {
    HostWork &host = hostWork[r];
    const bool here = job.isOnThisMachine(r);
    const RankReport report = job.control.report(r);
    const bool beside = here && report.state == RankState::Launch && report.hostBusy;
    if (report.state != RankState::Host && !beside) {
      host.since = 0;
      continue;
    }
    if (host.since && now - host.since < kHostWindowNs)
      continue;
    char state = 0;
    uint64_t ticks = report.cpuTicks;
    if (here) {
      const int32_t process = job.node.processOf(r);
      ticks = processCpuTicks(process, state);
      if (beside)
        ticks = threadCpuTicks(process, process); // workers of its launches may poll
    }
    const bool wantsCore = state == 'R' || state == 'D'; // its first thread
    worked =
        worked ||
        (host.since && ((wantsCore && host.wantedCore) || ticks >= host.cpuTicks + kHostWorkTicks));
    host = {ticks, now, wantsCore};
  }
  return worked;
}

std::string JobWatch::deadlockText(const Snapshot &now) const {
  const char *still = now.gone ? " that is still in the job" : "";
  if (job.worldSize == 1)
    return now.programs ? "deadlock: every program waits and none can wake another"
                        : "deadlock: the host waits for a signal and nothing can write it any more";
  return std::string("deadlock: every ") + (now.programs ? "program of every rank" : "rank") +
         still + " waits and none can wake another" + goneText();
}

/// "; rank 2 has finalized and sends nothing more", if any have.
std::string JobWatch::goneText() const {
  std::string ranks;
  int32_t count = 0;
  for (int32_t r = 0; r < job.worldSize; ++r)
    if (isGone(job.control.stateOf(r)) && ++count <= 8)
      ranks += (count > 1 ? ", " : "") + std::to_string(r);
  if (count > 8)
    ranks += " and " + std::to_string(count - 8) + " more";
  if (count == 0)
    return "";
  return (count == 1 ? "; rank " + ranks + " has ended and sends"
                     : "; ranks " + ranks + " have ended and send") +
         std::string(" nothing more");
}

void JobWatch::tick(Awaited &wait, double timeoutSeconds) {
  uint64_t now = nowNs();
  if (now < nextLook.load(std::memory_order_relaxed))
    return;
  std::unique_lock<std::mutex> guard(lock, std::try_to_lock);
  if (!guard.owns_lock())
    return;
  nextLook.store(now + kLookEveryNs, std::memory_order_relaxed);
  if (job.jobFailed())
    return;

  if (job.worldSize > 1 && now - lastPeers >= kPeersEveryNs) {
    lastPeers = now;
    if (checkRanks(wait))
      return;
  }

  Snapshot current = look();
  bool steady =
      current.steady == last.steady && current.idlePasses.size() == last.idlePasses.size();
  bool moved = pollersMoved(current) || !steady;
  moved = hostsWorked(now) || moved;
  if (moved || steadySince == 0)
    steadySince = now;

  if (current.certain && steady && certainSince) {
    bool rechecked = certainPasses.size() == current.idlePasses.size();
    for (size_t i = 0; rechecked && i < certainPasses.size(); ++i)
      rechecked = current.idlePasses[i] >= certainPasses[i] + 2;
    if (rechecked && now - certainSince >= kSettleNs && job.settings.detectDeadlock) {
      failWith(StatusCode::Deadlock, deadlockText(current), -1);
      return;
    }
  } else if (current.certain && last.certain && steady) {
    // Nobody has moved since a look that had already ended: from here on each
    // new look at a condition sees all that was ever written.
    certainSince = now;
    certainPasses = current.idlePasses;
  } else {
    certainSince = 0;
  }
  last = std::move(current);

  double limit = timeoutSeconds;
  if (last.gone && (limit == 0 || limit > kGoneSeconds))
    limit = kGoneSeconds;
  if (limit > 0 && double(now - steadySince) * 1e-9 >= limit) {
    char seconds[32];
    std::snprintf(seconds, sizeof(seconds), "%g", limit);
    std::string message = "nothing has moved in the whole job for " + std::string(seconds) + " s";
    int32_t about = -1;
    for (int32_t r = 0; r < job.worldSize; ++r) {
      RankState state = job.control.stateOf(r);
      if (state == RankState::Host || state == RankState::Absent) {
        message += "; rank " + std::to_string(r) +
                   (state == RankState::Absent ? " has not joined the job"
                                               : " is in host code and has not come to where the "
                                                 "others wait, nor computed anything meanwhile");
        about = r;
        break;
      }
      if (r == last.computing) {
        message += "; rank " + std::to_string(r) +
                   " computes: a program of its kernel has neither ended nor "
                   "waited all that time";
        about = r;
        break;
      }
    }
    message += last.gone ? goneText() : " (NEREID_TIMEOUT sets the limit)";
    failWith(last.gone ? StatusCode::Deadlock : StatusCode::Timeout, message, about);
  }
}

} // namespace nereid::runtime
