// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Bootstrap.cpp - Job::init and its in-process twin ------------------===//
//
// Two ways to a Job: a process that finds out which rank it is (init), and all
// ranks as threads of one process (createThreadRanks), for tests.
//
//   1. who am I, what is set         environment; transport and device by their names
//   2. the job's memory              the launcher's descriptor, or of one's own (a world of
//                                    one), or from rank 0 (rendezvous); of ranks on several
//                                    machines, first of all who is where (Meeting.h)
//   3. nodes                         what settings mean for ranks where they are (settle);
//                                    heaps of other nodes become inaccessible
//   4. heaps of a device             made here, and a socket to hand them out
//   5. Job::Impl                     the transport listens from here on
//   6. takeSlot                      the rank is taken; settings that all must share agree;
//                                    peers can read where the transport listens
//   7. the log of a checked run      before anybody can reach this rank
//   8. meet, exchange heaps, meet
//
// The order is the point. Whatever others may ask of this rank when they have
// met it (4, 5, 7) is there before step 8. An error up to there is this rank's
// own; the others learn of it when its process ends, or when their time to join
// is over. In step 8 the job exists, and an error is one of the job.
//
//===----------------------------------------------------------------------===//
#include "base/Random.h"
#include "check/Recorder.h"
#include "control/ControlPlanes.h"
#include "launch/Environment.h"
#include "launch/Meeting.h"
#include "launch/Rendezvous.h"
#include "nereid/runtime/Devices.h"
#include "symmetric/JobImpl.h"
#include "symmetric/JobWatch.h"
#include "transport/Transports.h"

#include <unistd.h>

namespace nereid::runtime {

/// A size as options take it: "2G", "1536M", "1000".
static std::string optionText(uint64_t bytes) {
  const char *unit = "";
  for (const char *next : {"K", "M", "G", "T"}) {
    if (bytes == 0 || bytes % 1024)
      break;
    bytes /= 1024;
    unit = next;
  }
  return std::to_string(bytes) + unit;
}

/// Takes the rank's place in the job.
// The first rank to come settles each setting; 0 stands for "not settled", so numbers are shifted
// by one where 0 is a value.
static Status takeSlot(Job::Impl &impl) {
  if (int32_t other = impl.control.join(int32_t(getpid())))
    return Status::error(StatusCode::Environment,
                         "rank " + std::to_string(impl.rank) + " is already taken by process " +
                             std::to_string(other) +
                             "; a child of a rank must not inherit its NEREID_* variables, and "
                             "one rank joins its job once",
                         impl.rank);
  // Ranks that disagree about these would wait for each other in vain.
  const Settings &s = impl.settings;
  auto agree = [&](JobSetting setting, uint64_t own, uint64_t &other) {
    other = impl.control.settle(setting, own);
    return other == own;
  };
  uint64_t other;
  if (!agree(JobSetting::RanksPerNode, uint64_t(s.ranksPerNode) + 1, other))
    return Status::error(
        StatusCode::Mismatch,
        "rank " + std::to_string(impl.rank) + " has " + std::to_string(s.ranksPerNode) +
            " ranks per node, another rank of this job " + std::to_string(other - 1) +
            "; set NEREID_RANKS_PER_NODE alike on all ranks",
        impl.rank);
  auto scheduleText = [](uint64_t cell) {
    return cell == 1 ? std::string("fifo") : "random:" + std::to_string(cell - 2);
  };
  uint64_t own = s.randomSchedule ? 2 + s.seed : 1;
  if (!agree(JobSetting::Schedule, own, other))
    return Status::error(StatusCode::Mismatch,
                         "rank " + std::to_string(impl.rank) + " has the schedule " +
                             scheduleText(own) + ", another rank of this job " +
                             scheduleText(other) + "; set NEREID_SCHEDULE alike on all ranks",
                         impl.rank);
  if (!agree(JobSetting::Transport, hashText(s.transport) | 1, other))
    return Status::error(StatusCode::Mismatch,
                         "rank " + std::to_string(impl.rank) + " has the transport " + s.transport +
                             ", another rank of this job another one; set NEREID_TRANSPORT alike "
                             "on all ranks",
                         impl.rank);
  const TargetProfile *row = findTargetProfile(s.profile.name);
  uint64_t number = uint64_t(row - targetProfiles) + 1;
  if (!agree(JobSetting::Profile, number, other))
    return Status::error(StatusCode::Mismatch,
                         "rank " + std::to_string(impl.rank) + " has the profile " +
                             s.profile.name + ", another rank of this job " +
                             targetProfiles[other - 1].name +
                             "; set NEREID_PROFILE alike on all ranks",
                         impl.rank);
  impl.control.publishAddress(impl.transport->engineAddress());
  impl.setState(RankState::Host);
  return {};
}

/// Addresses for the heaps of a device that has them in memory of its own.
static Expected<std::shared_ptr<DeviceHeaps>> makeHeaps(Device &device, const Settings &settings,
                                                        int32_t worldSize, uint64_t bytes,
                                                        const std::vector<int32_t> &ranks) {
  const std::string name = device.name();
  if (settings.ranksPerNode && settings.ranksPerNode < worldSize)
    return Status::error(StatusCode::Environment,
                         "the device '" + name +
                             "' reaches all ranks of a job by loads and stores: they must be on "
                             "one machine, and NEREID_RANKS_PER_NODE unset");
  if (settings.randomSchedule)
    return Status::error(StatusCode::Environment,
                         "NEREID_SCHEDULE=random decides the order of programs on the device "
                         "'cpu'; on '" +
                             name + "' the GPU does: leave it unset");
  if (Status st = device.prepare(ranks); !st.ok())
    return st;
  return DeviceHeaps::create(device, worldSize, bytes);
}

/// NEREID_CHECK names a log: what this rank does goes there, before anybody can reach it.
static Status recordIfChecked(Job &job) {
  const std::string path = knobText("NEREID_CHECK");
  if (path.empty())
    return {};
  Expected<std::unique_ptr<check::Recorder>> recorder = check::Recorder::make(job, path);
  if (!recorder.ok())
    return recorder.status();
  job.impl().recorder = std::move(*recorder);
  return job.observe(job.impl().recorder.get());
}

/// What is wrong with the transport's name shows before anybody waits for others.
static Status checkTransport(const Settings &settings) {
  return settings.transport == kAnyTransport ? Status()
                                             : findTransport(settings.transport).status();
}

/// What settings mean for a job whose ranks are where `plane` has them.
static Status settle(Settings &settings, const ControlPlane &plane) {
  const int32_t worldSize = plane.worldSize(), perMachine = plane.ranksPerMachine();
  if (settings.transport == kAnyTransport)
    settings.transport = perMachine < worldSize ? kBetweenMachines : kBetweenNodes;
  if (Expected<TransportChoice> choice = findTransport(settings.transport);
      !plane.interface().empty() && choice.ok() && !choice->row->needsMapping &&
      !choice->row->betweenMachines)
    return Status::error(StatusCode::Environment,
                         "NEREID_TRANSPORT='" + settings.transport +
                             "' works within one machine, but this job has " +
                             std::to_string(perMachine) + " of " + std::to_string(worldSize) +
                             " ranks on each; leave it unset for " + kBetweenMachines);
  // Turns of programs are words that all ranks map.
  if (settings.randomSchedule && perMachine < worldSize)
    return Status::error(StatusCode::Environment,
                         "NEREID_SCHEDULE=random:" + std::to_string(settings.seed) +
                             " needs all ranks on one machine; --ranks-per-node makes nodes of it");
  return settleNodes(settings.transport, worldSize, perMachine, settings.ranksPerNode);
}

Expected<std::unique_ptr<Job>> Job::init(const JobOptions &options) {
  Expected<RankInfo> info = discoverRank(readEnvironment);
  if (!info.ok())
    return info.status();
  Expected<Settings> settings = resolveSettings(options);
  if (!settings.ok())
    return settings.status();
  if (Status st = checkTransport(*settings); !st.ok())
    return st;

  Expected<Device *> device = findDevice(options.device);
  if (!device.ok())
    return device.status();

  Expected<std::shared_ptr<ControlPlane>> plane =
      !info->meetAt.empty()  ? meetMachines(*info, *settings, options.device)
      : info->segmentFd >= 0 ? localControlPlane().attach(info->segmentFd)
      : info->worldSize == 1 ? localControlPlane().create(1, settings->heapBytes)
                             : rendezvous(*info, settings->heapBytes, settings->initTimeoutSeconds);
  if (!plane.ok())
    return plane.status();
  if ((*plane)->worldSize() != info->worldSize)
    return Status::error(StatusCode::Environment,
                         "NEREID_WORLD_SIZE=" + std::to_string(info->worldSize) +
                             ", but the job has " + std::to_string((*plane)->worldSize()) +
                             " ranks");
  if (Status st = settle(*settings, **plane); !st.ok())
    return st;
  // A larger heap than a rank asks for serves it as well.
  if (const uint64_t asked = settings->heapBytes;
      options.heapBytes && (*plane)->heapBytes() < asked)
    return Status::error(
        StatusCode::Mismatch,
        "rank " + std::to_string(info->rank) + " asks for a heap of " + sizeText(asked) +
            ", but the job was started with " + sizeText((*plane)->heapBytes()) +
            " for each rank; write `nereid run --heap-size=" + optionText(asked) +
            " ...`, or set NEREID_HEAP_SIZE=" + optionText(asked) + " before the start",
        info->rank);
  if (int32_t perNode = settings->ranksPerNode; perNode && perNode < info->worldSize)
    if (Status st = (*plane)->isolate(info->rank / perNode * perNode, perNode,
                                      findTransport(settings->transport)->row->needsMapping);
        !st.ok())
      return st;
  std::shared_ptr<DeviceHeaps> heaps;
  const uint64_t identity = (*plane)->identity();
  if (!(*device)->hasHostMemory()) {
    Expected<std::shared_ptr<DeviceHeaps>> made =
        makeHeaps(**device, *settings, info->worldSize, (*plane)->heapBytes(), {info->rank});
    if (!made.ok())
      return made.status();
    heaps = std::move(*made);
    if (Status st = heaps->allocate(info->rank); !st.ok())
      return st;
    if (Status st = heaps->listen(identity, info->rank); !st.ok())
      return st;
  }
  auto impl = std::make_unique<Job::Impl>(*plane, info->rank, *settings, **device, heaps);
  if (!impl->transport->status().ok())
    return impl->transport->status();
  if (Status st = takeSlot(*impl); !st.ok())
    return st;
  double limit = impl->settings.initTimeoutSeconds;
  std::unique_ptr<Job> job = JobFactory::make(std::move(impl));
  if (Status st = recordIfChecked(*job); !st.ok())
    return st;
  if (Status st = job->impl().meet("init() on device '" + options.device + "'", limit); !st.ok())
    return st;
  if (heaps) {
    if (Status st = heaps->exchange(identity, info->rank, limit); !st.ok()) {
      job->abort(st.message());
      return st;
    }
    if (Status st = job->impl().meet("init(), heaps", limit); !st.ok())
      return st;
  }
  return job;
}

Expected<std::vector<std::unique_ptr<Job>>> Job::createThreadRanks(int32_t worldSize,
                                                                   const JobOptions &options) {
  if (worldSize < 1 || worldSize > kMaxRanks)
    return Status::error(StatusCode::InvalidArgument,
                         "the number of ranks must be 1.." + std::to_string(kMaxRanks));
  Expected<Settings> settings = resolveSettings(options);
  if (!settings.ok())
    return settings.status();
  if (Status st = checkTransport(*settings); !st.ok())
    return st;
  Expected<Device *> device = findDevice(options.device);
  if (!device.ok())
    return device.status();
  Expected<std::shared_ptr<ControlPlane>> plane =
      localControlPlane().create(worldSize, settings->heapBytes);
  if (!plane.ok())
    return plane.status();
  if (Status st = settle(*settings, **plane); !st.ok())
    return st;
  std::shared_ptr<DeviceHeaps> heaps;
  if (!(*device)->hasHostMemory()) {
    std::vector<int32_t> ranks;
    for (int32_t r = 0; r < worldSize; ++r)
      ranks.push_back(r);
    Expected<std::shared_ptr<DeviceHeaps>> made =
        makeHeaps(**device, *settings, worldSize, (*plane)->heapBytes(), ranks);
    if (!made.ok())
      return made.status();
    heaps = std::move(*made);
    for (int32_t r = 0; r < worldSize; ++r)
      if (Status st = heaps->allocate(r); !st.ok())
        return st;
  }
  std::vector<std::unique_ptr<Job>> jobs;
  for (int32_t r = 0; r < worldSize; ++r) {
    auto impl = std::make_unique<Job::Impl>(*plane, r, *settings, **device, heaps);
    if (!impl->transport->status().ok())
      return impl->transport->status();
    if (Status st = takeSlot(*impl); !st.ok())
      return st;
    jobs.push_back(JobFactory::make(std::move(impl)));
  }
  return jobs;
}

} // namespace nereid::runtime
