// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Job.cpp - A rank's place in its job --------------------------------===//
//
// Put together here, from a control plane, a transport and a device. What hosts
// do together is in Collective.cpp and Team.cpp, transfers are in
// HostTransfers.cpp, signals in HostSignals.cpp, failures in Failure.cpp,
// launches in execution/.
//
// Locks, from the outside in; the last two are leaves:
//
//   hostLock     one collective call of this rank at a time
//   launchLock   one launch at a time
//   heapLock     the allocator: who looks an address up shares it
//   stateLock    the counts of what threads of the rank do
//
// Allocating needs no message about offsets: every rank runs the same allocator
// on the same calls, which the collective compares (HeapAllocator.h). Programs
// remember allocations that they have used (KnownAllocations); heapVersion
// tells them when that is out of date.
//
// A process that was forked from a rank (isCopy) has the job's memory and none
// of its threads: it may look, and whatever others would notice is refused.
//
//===----------------------------------------------------------------------===//
#include "nereid/runtime/Job.h"

#include "base/Clock.h"
#include "base/Random.h"
#include "nereid/abi.h"
#include "symmetric/HostTurns.h"
#include "symmetric/JobImpl.h"
#include "symmetric/JobWatch.h"
#include "symmetric/StreamAccount.h"
#include "symmetric/Turns.h"

#include <algorithm>
#include <unistd.h>

namespace nereid::runtime {

Team teamOf(const JobControl &control, TeamKey key, int32_t handle, const TeamShape &shape) {
  Team team;
  static_cast<TeamShape &>(team) = shape;
  team.key = key;
  team.handle = handle;
  team.epoch = &control.barrierEpoch(key);
  return team;
}

/// A number that changes whenever a program has moved whose rank has this area.
static uint64_t movesIn(const Device &device, const std::byte *area) {
  DeviceActivity activity;
  device.look(*reinterpret_cast<const DeviceArea *>(area), activity);
  uint64_t moves = activity.steps.size() + activity.running;
  for (uint64_t steps : activity.steps)
    moves += steps;
  return moves;
}

/// A rank's place, on a plane that can read areas of its device.
static RankControl openPlace(ControlPlane &plane, int32_t rank, const Device &device) {
  plane.readAreasBy([&device](const std::byte *area) { return movesIn(device, area); });
  return plane.open(rank);
}

Job::Impl::Impl(std::shared_ptr<ControlPlane> shared, int32_t rank, Settings s, Device &device,
                std::shared_ptr<DeviceHeaps> deviceHeaps)
    : plane(std::move(shared)), heaps(std::move(deviceHeaps)),
      place(openPlace(*plane, rank, device)), control(*place.job), node(*place.node), rank(rank),
      worldSize(plane->worldSize()), machineSize(plane->ranksPerMachine()),
      worldTeam(teamOf(control, kWorldTeam, NRD_TEAM_WORLD, {0, 1, worldSize})),
      settings(std::move(s)), heapBase(heaps ? heaps->base() : plane->heapBase()),
      heapBytes(heaps ? heaps->stride() : plane->heapBytes()), deviceOffset(plane->heapBytes()),
      heap(plane->heapBytes()), hostRandom(settings.seed, uint64_t(rank)), device(device) {
  const int32_t ranksHere = std::min(worldSize, machineSize);
  int32_t cores = availableCores();
  numThreads = settings.numThreads ? settings.numThreads
                                   : std::clamp(cores / ranksHere, 1, kMaxThreadsPerRank);
  if (settings.randomSchedule) {
    numThreads = 1;
    turns = std::make_unique<Turns>(control, node, rank, worldSize, settings.seed);
  }
  static_assert(kMaxEngineAddressBytes <= kMaxAddressBytes);
  Router::Shape shape;
  shape.transport.rank = rank;
  shape.transport.worldSize = worldSize;
  shape.transport.heapBytes = heapBytes;
  shape.transport.heaps = heapBase;
  shape.transport.mapped = heaps ? heaps->base() : plane->reachBase();
  shape.transport.addressOf = [this](int32_t pe) { return control.addressOf(pe); };
  shape.transport.interface = plane->interface();
  shape.transport.inFlight = &facts().inFlight;
  shape.transport.observer = &observer;
  shape.transport.fail = [this](const Status &status) {
    FailureDetail detail = status.failure();
    detail.rank = this->rank;
    publishFailure(detail);
  };
  shape.ranksPerNode = settings.ranksPerNode;
  shape.between = settings.transport;
  shape.random = settings.randomSchedule;
  transport = std::make_unique<Router>(shape);
  if (turns)
    late = std::make_unique<LateTransfers>(*this);
  maySpin = int64_t(ranksHere) * numThreads <= cores;
  watch = std::make_unique<JobWatch>(*this);
  StreamAccount::get().join(*this);
}

Job::Impl::~Impl() { StreamAccount::get().quit(*this); }

void Job::Impl::countInside(int32_t by) {
  if (isStreamThread)
    facts().streamsInside.fetch_add(uint32_t(by), std::memory_order_acq_rel);
  else
    StreamAccount::threadWaits(by);
}

void Job::Impl::showStreams(uint32_t atWork, bool hostBusy) {
  facts().streamsAtWork.store(atWork, std::memory_order_release);
  facts().hostBusy.store(hostBusy, std::memory_order_release);
}

void Job::Impl::count(RankState state, int32_t by, bool waits) {
  // Who leaves is at work before anything says that it no longer waits.
  if (waits && by < 0)
    countInside(by);
  {
    std::lock_guard<std::mutex> guard(stateLock);
    RankFacts &own = facts();
    own.hostMoves.fetch_add(1, std::memory_order_acq_rel);
    (state == RankState::Launch     ? launching
     : state == RankState::HostWait ? hostWaiting
                                    : collecting) += by;
    own.launching.store(uint32_t(launching), std::memory_order_release);
    own.hostWaiting.store(uint32_t(hostWaiting + collecting), std::memory_order_release);
    if (!isGone(control.stateOf(rank)))
      setState(collecting    ? RankState::Collective
               : hostWaiting ? RankState::HostWait
               : launching   ? RankState::Launch
                             : RankState::Host);
  }
  if (waits && by > 0)
    countInside(by);
}

Job::Job(std::unique_ptr<Impl> impl) : pimpl(std::move(impl)) {}

Job::~Job() {
  // A copy must not touch the job, and cannot join threads that it has not got.
  if (pimpl->isCopy()) {
    pimpl.release();
    return;
  }
  if (!pimpl->finalized.load(std::memory_order_acquire))
    pimpl->setState(RankState::Left);
}

int32_t Job::rank() const { return pimpl->rank; }
int32_t Job::worldSize() const { return pimpl->worldSize; }
uint8_t *Job::heapBase() const { return pimpl->heapBase; }
uint64_t Job::heapBytes() const { return pimpl->heapBytes; }
bool Job::heapsOnHost() const { return pimpl->device.hasHostMemory(); }
int32_t Job::numThreads() const { return pimpl->numThreads; }
const Profile &Job::profile() const { return pimpl->settings.profile; }
Device &Job::device() const { return pimpl->device; }
double Job::timeoutSeconds() const { return pimpl->settings.timeoutSeconds; }
bool Job::hasRandomSchedule() const { return pimpl->settings.randomSchedule; }
void Job::giveWay() { pimpl->giveWay(); }
bool Job::finalized() const { return pimpl->finalized.load(std::memory_order_acquire); }

static std::string heapFullText(const HeapAllocator &heap, uint64_t bytes,
                                const AllocationInfo &info) {
  std::string out = "the symmetric heap is full: " + infoText(info) + " needs " + sizeText(bytes) +
                    ", " + sizeText(heap.capacity() - heap.used()) + " of " +
                    sizeText(heap.capacity()) + " are free (largest free range " +
                    sizeText(heap.largestFree()) + ")";
  std::vector<Allocation> all = heap.list();
  std::sort(all.begin(), all.end(),
            [](const Allocation &a, const Allocation &b) { return a.bytes > b.bytes; });
  if (!all.empty())
    out += "; allocated:";
  for (size_t i = 0; i < all.size() && i < 8; ++i)
    out += (i ? ", " : " ") + infoText(all[i].info) + " " + sizeText(all[i].bytes) +
           (all[i].info.where.empty() ? "" : " at " + all[i].info.where);
  if (all.size() > 8)
    out += ", and " + std::to_string(all.size() - 8) + " smaller ones";
  return out + "; free some, or set NEREID_HEAP_SIZE (nereid run --heap-size) "
               "to more";
}

Expected<void *> Job::allocate(uint64_t bytes, const AllocationInfo &info) {
  std::string request = "allocate(" + infoText(info) + ", " + std::to_string(bytes) + " bytes)";
  if (Status st = pimpl->collective(request); !st.ok())
    return st;
  // All ranks have passed the same text, and so allocate the same in the same order: their heaps
  // stay alike without a word between them.
  std::unique_lock<std::shared_mutex> guard(pimpl->heapLock);
  std::optional<uint64_t> offset = pimpl->heap.allocate(bytes, info);
  if (!offset)
    return Status::error(StatusCode::OutOfMemory, heapFullText(pimpl->heap, bytes, info), rank());
  pimpl->heapVersion.fetch_add(1, std::memory_order_release);
  return static_cast<void *>(pimpl->ownHeap() + *offset);
}

Status Job::free(void *ptr) {
  uint64_t offset = 0;
  std::optional<Allocation> found;
  if (pimpl->ownOffset(ptr, 0, offset)) {
    std::shared_lock<std::shared_mutex> guard(pimpl->heapLock);
    const Allocation *a = pimpl->heap.findBefore(offset);
    if (a && a->offset == offset)
      found = *a;
  }
  if (!found)
    return Status::error(StatusCode::InvalidArgument,
                         "free: " + pimpl->describe(ptr) +
                             " is not the start of a symmetric allocation");
  if (Status st = pimpl->collective("free(" + infoText(found->info) + " at heap offset " +
                                    std::to_string(offset) + ")");
      !st.ok())
    return st;
  std::unique_lock<std::shared_mutex> guard(pimpl->heapLock);
  pimpl->heapVersion.fetch_add(1, std::memory_order_release);
  if (!pimpl->heap.free(offset))
    return Status::error(StatusCode::InvalidArgument,
                         "free: freed by another thread at the same time");
  return {};
}

Status Job::barrier(std::string_view what) { return pimpl->collective(what); }

Status Job::Impl::refuseCopy(std::string_view what) const {
  if (!isCopy()) [[likely]]
    return {};
  return Status::error(StatusCode::InvalidArgument,
                       std::string(what) + ": this process was forked from rank " +
                           std::to_string(rank) +
                           " of a job and has no part in it; only the process that joined may "
                           "call this");
}

Status Job::finalize() {
  if (Status st = pimpl->refuseCopy("finalize"); !st.ok())
    return st;
  std::lock_guard<std::mutex> guard(pimpl->hostLock);
  std::lock_guard<std::mutex> launches(pimpl->launchLock);
  if (pimpl->finalized.exchange(true))
    return {};
  Status result;
  if (!pimpl->jobFailed())
    result = pimpl->completeTransfers("finalize");
  if (pimpl->late)
    pimpl->late->stop();
  pimpl->setState(RankState::Finalized);
  return result;
}

void Job::abort(std::string_view reason) {
  if (pimpl->worldSize == 1 || finalized() || pimpl->isCopy())
    return;
  FailureDetail detail;
  detail.code = StatusCode::RankRaised;
  detail.rank = pimpl->rank;
  detail.message = "rank " + std::to_string(pimpl->rank) + " stopped: " + std::string(reason);
  pimpl->publishFailure(detail);
}

int32_t Job::claimText(std::string_view text) {
  return pimpl->isCopy() ? pimpl->rank : pimpl->control.claimText(hashText(text));
}

Status Job::observe(Observer *observer) {
  std::lock_guard<std::mutex> guard(pimpl->hostLock);
  std::lock_guard<std::mutex> launches(pimpl->launchLock);
  if (observer && !pimpl->device.hasHostMemory())
    return Status::error(StatusCode::InvalidArgument,
                         std::string("a job on the device '") + pimpl->device.name() +
                             "' cannot be watched: what its programs do happens there",
                         pimpl->rank);
  if (Status st = pimpl->completeTransfers("observe"); !st.ok())
    return st;
  pimpl->observer.store(observer, std::memory_order_release);
  pimpl->transport->watch(observer != nullptr);
  return {};
}

bool Job::isWatched() const { return pimpl->observer.load(std::memory_order_acquire) != nullptr; }

void Job::noteAccess(const void *ptr, uint64_t bytes, bool writes) {
  Observer *watching = pimpl->observer.load(std::memory_order_acquire);
  uint64_t offset = 0;
  if (!watching || !pimpl->ownOffset(ptr, bytes, offset))
    return;
  EventRecord event = pimpl->hostEvent(EventKind::Access);
  event.id = pimpl->nextOperation();
  event.offset = offset;
  event.bytes = bytes;
  event.pe = event.rank;
  event.how = 0xff;
  event.flags = writes ? EventRecord::kWrites : EventRecord::kReads;
  watching->before(event, 0);
}

EventRecord Job::Impl::hostEvent(EventKind kind) const {
  EventRecord event;
  event.kind = kind;
  event.begin = event.end = cheapTicks();
  event.launch = uint32_t(facts().launches.load(std::memory_order_relaxed));
  event.rank = int16_t(rank);
  return event;
}

Status Job::recover() { return pimpl->recover(); }

Status Job::health() const { return pimpl->jobFailed() ? Status(pimpl->readFailure()) : Status(); }

bool Job::isSymmetric(const void *ptr, uint64_t bytes) const {
  uint64_t offset = 0;
  if (!pimpl->ownOffset(ptr, bytes, offset))
    return false;
  std::shared_lock<std::shared_mutex> guard(pimpl->heapLock);
  const Allocation *a = pimpl->heap.find(offset);
  return a && bytes <= a->bytes - (offset - a->offset);
}

int32_t Job::ownerRank(const void *ptr) const {
  if (!pimpl->heapBase)
    return -1;
  uint64_t at = uint64_t(static_cast<const uint8_t *>(ptr) - pimpl->heapBase);
  uint64_t r = at / pimpl->heapBytes;
  return r < uint64_t(pimpl->worldSize) ? int32_t(r) : -1;
}

void *Job::peerAddress(const void *ptr, int32_t rank) const {
  int32_t owner = ownerRank(ptr);
  if (owner < 0 || rank < 0 || rank >= pimpl->worldSize || !reachable(rank))
    return nullptr;
  uint64_t at = uint64_t(static_cast<const uint8_t *>(ptr) - pimpl->heapBase) % pimpl->heapBytes;
  return pimpl->heapBase + uint64_t(rank) * pimpl->heapBytes + at;
}

int32_t Job::nodeOf(int32_t rank) const { return pimpl->transport->nodeOf(rank); }
bool Job::reachable(int32_t rank) const { return pimpl->transport->reachable(rank); }

std::optional<Allocation> Job::find(const void *ptr) const {
  if (ownerRank(ptr) < 0)
    return std::nullopt;
  uint64_t at = uint64_t(static_cast<const uint8_t *>(ptr) - pimpl->heapBase) % pimpl->heapBytes;
  std::shared_lock<std::shared_mutex> guard(pimpl->heapLock);
  const Allocation *a = pimpl->heap.find(at);
  return a ? std::optional<Allocation>(*a) : std::nullopt;
}

std::string Job::Impl::outsideText(std::string_view what, const void *ptr, uint64_t bytes) const {
  uint64_t offset = uint64_t(static_cast<const uint8_t *>(ptr) - heapBase) % heapBytes;
  std::string text = std::string(what) + ": " + std::to_string(bytes) +
                     (bytes == 1 ? " byte from " : " bytes from ") + describe(ptr) + " on ";
  std::shared_lock<std::shared_mutex> guard(heapLock);
  const Allocation *a = heap.find(offset);
  if (!a)
    return text + "lie in no symmetric allocation";
  return text + "reach " + std::to_string(offset - a->offset + bytes - a->bytes) +
         " bytes past its end: the allocation has " + std::to_string(a->bytes) + " bytes";
}

std::string Job::Impl::describeOffset(uint64_t offset) const {
  std::shared_lock<std::shared_mutex> guard(heapLock);
  if (const Allocation *a = heap.findBefore(offset)) {
    uint64_t inside = offset - a->offset;
    std::string out = infoText(a->info);
    if (inside)
      out += " + " + std::to_string(inside);
    if (inside >= a->bytes && a->bytes)
      out += " (" + std::to_string(inside - a->bytes) + " bytes past its end)";
    return out;
  }
  return "heap offset " + std::to_string(offset);
}

std::string Job::Impl::describe(const void *ptr) const {
  char hex[32];
  std::snprintf(hex, sizeof(hex), "%p", ptr);
  if (!heapBase)
    return std::string("address ") + hex;
  uint64_t at = uint64_t(static_cast<const uint8_t *>(ptr) - heapBase);
  uint64_t r = at / heapBytes;
  if (r >= uint64_t(worldSize)) {
    std::string text = std::string("address ") + hex;
    if (r == uint64_t(worldSize))
      return text + ", " + std::to_string(at - uint64_t(worldSize) * heapBytes) +
             " bytes past the end of the last symmetric heap (rank " +
             std::to_string(worldSize - 1) + ")";
    if (uint64_t before = heapBase - static_cast<const uint8_t *>(ptr); before <= heapBytes)
      return text + ", " + std::to_string(before) +
             " bytes before the first symmetric heap (rank 0)";
    return text + " outside the symmetric heaps";
  }
  std::string out = describeOffset(at % heapBytes);
  if (worldSize > 1)
    out += ", on rank " + std::to_string(r);
  return out;
}

std::string Job::describe(const void *ptr) const { return pimpl->describe(ptr); }

std::vector<Allocation> Job::allocations() const {
  std::shared_lock<std::shared_mutex> guard(pimpl->heapLock);
  return pimpl->heap.list();
}

uint64_t Job::heapBytesUsed() const {
  std::shared_lock<std::shared_mutex> guard(pimpl->heapLock);
  return pimpl->heap.used();
}

} // namespace nereid::runtime
