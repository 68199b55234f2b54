// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Stream.cpp - One thread, one queue ---------------------------------===//
//
// The thread of a stream starts with the first operation and ends with the stream. A
// device that runs launches beside the host gets them one after the other without a
// pause; before the stream does anything else, its thread waits for the device:
//
//   queue   launch  launch  call                          launch
//   thread  give    give    wait, then call the function  give
//
// When nothing stands in the queue, the thread that launches gives the launch to the
// device itself; into a stream of the device's own kind always, since what others put
// there next must come after it. `carrying` says that somebody is at what the stream has to do; it
// alone uses the device's queue. The device's end is noticed by whoever waits for the
// stream, else by its thread, which looks now and then.
//
// Nothing that was in the queue is destroyed with a lock held: it may belong to a host
// language with a lock of its own.
//
//===----------------------------------------------------------------------===//
#include "nereid/runtime/Stream.h"

#include "base/Clock.h"
#include "base/InvalidArgument.h"
#include "execution/Launches.h"
#include "symmetric/StreamAccount.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

namespace nereid::runtime {

/// How often a thread that waits asks whether the user wants to stop.
static constexpr auto kAskEvery = std::chrono::milliseconds(50);
/// How long an interrupted launch may take to stop.
static constexpr auto kStopWithin = std::chrono::seconds(5);
/// How often a stream's thread looks whether the device is done.
static constexpr auto kLookEvery = std::chrono::milliseconds(2);
/// Launches in the device after which the stream waits for it: they keep memory.
static constexpr size_t kMostUnderway = 4096;

static Status interrupted() { return Status::error(StatusCode::Interrupted, "interrupted"); }

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

namespace {
/// One record() of an event.
struct Happening {
  std::mutex lock; ///< guards what follows
  std::condition_variable changed;
  uint64_t when = 0;                ///< 0 = it has not happened
  std::vector<Job::Impl *> waiting; ///< owners of the streams that wait for it

  bool happened() {
    std::lock_guard<std::mutex> guard(lock);
    return when != 0;
  }
  void happen() {
    std::lock_guard<std::mutex> guard(lock);
    // Who waits is at work before anybody can see that it happened.
    for (Job::Impl *owner : waiting)
      StreamAccount::get().park(owner, -1);
    waiting.clear();
    when = nowNs();
    changed.notify_all();
  }
  /// Waits, as the thread of a stream of `owner`.
  void park(Job::Impl *owner) {
    std::unique_lock<std::mutex> guard(lock);
    if (when)
      return;
    waiting.push_back(owner);
    StreamAccount::get().park(owner, 1);
    changed.wait(guard, [&] { return when != 0; });
  }
};
} // namespace

struct Event::State {
  std::mutex lock;
  std::shared_ptr<Happening> last; ///< guarded by lock

  std::shared_ptr<Happening> get() {
    std::lock_guard<std::mutex> guard(lock);
    return last;
  }
  std::shared_ptr<Happening> renew() {
    auto fresh = std::make_shared<Happening>();
    std::lock_guard<std::mutex> guard(lock);
    return last = fresh;
  }
};

Event::Event() : state(std::make_shared<State>()) {}

void Event::record() { state->renew()->happen(); }
bool Event::recorded() const { return state->get() != nullptr; }
bool Event::query() const { return nanoseconds() != 0; }

uint64_t Event::nanoseconds() const {
  std::shared_ptr<Happening> last = state->get();
  if (!last)
    return 0;
  std::lock_guard<std::mutex> guard(last->lock);
  return last->when;
}

static Status neverRecorded() {
  return invalid("the event has not been recorded: record it first");
}

Status Event::synchronize() const {
  std::shared_ptr<Happening> last = state->get();
  if (!last)
    return neverRecorded();
  ThreadWaits waits;
  std::unique_lock<std::mutex> guard(last->lock);
  while (!last->changed.wait_for(guard, kAskEvery, [&] { return last->when != 0; })) {
    guard.unlock();
    if (interruptRequested())
      return interrupted();
    guard.lock();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

namespace {
struct Entry {
  std::function<Status()> work;
  std::string place;
  bool launches = false; ///< may stand behind launches that the device has not ended yet
  bool always = false;   ///< is done after a failure, too
};

/// A put takes the way of launches: it is one without a kernel.
class OwnedPut final : public StreamedLaunch {
public:
  OwnedPut(const StreamedPut &put, std::shared_ptr<const void> owner,
           std::function<Expected<Job *>()> find, std::string where)
      : put(put), owner(std::move(owner)), find(std::move(find)), where(std::move(where)) {}
  Expected<Job *> findJob() override { return find ? find() : Expected<Job *>(nullptr); }
  std::string place() override { return where; }

  const StreamedPut put;

private:
  const std::shared_ptr<const void> owner;
  const std::function<Expected<Job *>()> find;
  const std::string where;
};

/// A launch of launch(spec, ...).
class OwnedLaunch final : public StreamedLaunch {
public:
  OwnedLaunch(const LaunchSpec &given, std::shared_ptr<const void> owner,
              std::function<Expected<Job *>()> find, std::string where)
      : owner(std::move(owner)), find(std::move(find)), where(std::move(where)) {
    spec = given;
    if (spec.kernel->numArgs > 0)
      args.assign(spec.args, spec.args + spec.kernel->numArgs);
    spec.args = args.data();
  }
  Expected<Job *> findJob() override { return find ? find() : Expected<Job *>(nullptr); }
  std::string place() override { return where; }

private:
  std::vector<uint64_t> args;
  const std::shared_ptr<const void> owner;
  const std::function<Expected<Job *>()> find;
  const std::string where;
};
} // namespace

struct Stream::State : std::enable_shared_from_this<Stream::State> {
  State(Job *job, std::string name, std::optional<uintptr_t> native)
      : name(std::move(name)), job(job), owner(job ? &job->impl() : nullptr), native(native) {}

  Status enqueue(Entry entry);
  Status startThread();
  Status check(const StreamedLaunch &launch) const;
  bool launchNow(const std::shared_ptr<StreamedLaunch> &launch, bool wait);
  void run();
  template <typename Work> Status carryOut(Work &work);
  Status launch(const std::shared_ptr<StreamedLaunch> &launch);
  /// The stream's queue on the device of `job`.
  Status useQueueOf(Job *job);
  Status give(const std::shared_ptr<StreamedLaunch> &launch);
  /// Waits for what the device has been given.
  Status finishDevice();
  /// Notices that the device is done. With the lock held.
  void finishDevice(std::unique_lock<std::mutex> &guard);
  void begin();
  void endIfIdle();
  void note(const Status &status, const std::string &place);
  /// Removes what has not begun, but for what is always done.
  std::deque<Entry> drop();
  bool isForeign() const { return madeAt != forkDepth(); }

  const std::string name;
  Job *const job;
  Job::Impl *const owner;
  const std::optional<uintptr_t> native;
  const uint64_t madeAt = forkDepth();

  std::mutex lock; ///< guards what follows
  std::condition_variable changed;
  std::deque<Entry> entries;
  uint64_t pending = 0; ///< entries, and the one that is being carried out
  Status error;
  std::string errorPlace;
  std::thread thread;
  bool closed = false; ///< nothing more will come
  bool detached = false;
  bool carrying = false;
  bool counted = false;  ///< as busy, in the account of streams
  bool inDevice = false; ///< the device has, or had, launches that nobody has waited for
  bool direct = false;   ///< there is a queue of the device
  int32_t launching = 0; ///< threads that wait until they can launch

  // Of whoever is carrying.
  std::unique_ptr<DeviceQueue> queue;
  Job *queueJob = nullptr;
  std::vector<std::shared_ptr<StreamedLaunch>> underway;
};

Status Stream::State::enqueue(Entry entry) {
  if (isForeign())
    return invalid(name + " belongs to the parent of this process; make a stream of your own");
  std::lock_guard<std::mutex> guard(lock);
  // Before the entry counts as pending: nobody would carry it out without a thread.
  if (Status st = startThread(); !st.ok())
    return st;
  entries.push_back(std::move(entry));
  ++pending;
  begin();
  changed.notify_all();
  return {};
}

void Stream::State::begin() {
  if (!std::exchange(counted, true))
    StreamAccount::get().begin(owner);
}

void Stream::State::endIfIdle() {
  if (pending == 0 && !inDevice && std::exchange(counted, false))
    StreamAccount::get().end(owner);
}

void Stream::State::note(const Status &status, const std::string &place) {
  if (status.ok() || !error.ok())
    return;
  error = status;
  errorPlace = place;
}

/// The caller has the lock.
Status Stream::State::startThread() {
  if (thread.joinable())
    return {};
  try {
    thread = std::thread([self = shared_from_this()] { self->run(); });
  } catch (const std::system_error &cannot) {
    return Status::error(StatusCode::SystemError,
                         "the system gives no thread for " + name + ": " + cannot.what() +
                             "; use fewer streams, or raise the limit (ulimit -u)");
  }
  return {};
}

static bool comesAfterOthers(const StreamedLaunch &launch) {
  return !launch.spec.kernel && static_cast<const OwnedPut &>(launch).put.after;
}

/// Launches in the calling thread. False when the launch must wait for its turn, or,
/// without `wait`, for anybody.
bool Stream::State::launchNow(const std::shared_ptr<StreamedLaunch> &launched, bool wait) {
  if (isForeign())
    return false;
  std::unique_lock<std::mutex> guard(lock, std::defer_lock);
  if (wait)
    guard.lock();
  else if (!guard.try_lock())
    return false;
  if (native || comesAfterOthers(*launched)) {
    // Its thread notices the end, and nobody else may come in between: what others put
    // into their stream from now on is not before it.
    if (!startThread().ok() || thread.get_id() == std::this_thread::get_id())
      return false;
    auto ready = [&] { return entries.empty() && !carrying; };
    if (!wait && !ready())
      return false;
    ++launching;
    changed.wait(guard, ready);
    --launching;
  } else if (!direct || carrying || closed || !entries.empty()) {
    return false;
  }
  if (!error.ok())
    return true; // dropped, as all behind a failure
  carrying = true;
  begin();
  const bool wasIdle = !std::exchange(inDevice, true);
  guard.unlock();
  auto work = [&] { return launch(launched); };
  Status own = carryOut(work);
  const std::string place = own.ok() ? "" : launched->place();
  Status full = underway.size() < kMostUnderway ? Status() : finishDevice();
  guard.lock();
  carrying = false;
  note(own, place);
  note(full, "");
  if (wasIdle || launching || !entries.empty() || closed)
    changed.notify_all();
  return true;
}

template <typename Work> Status Stream::State::carryOut(Work &work) {
  try {
    return work();
  } catch (const std::exception &error) {
    return Status::error(StatusCode::Internal,
                         "a function in " + name + " threw an exception: " + error.what());
  }
}

Status Stream::State::finishDevice() {
  if (underway.empty())
    return {};
  Status result = synchronizeQueue(*queueJob, *queue);
  std::vector<std::shared_ptr<StreamedLaunch>> ended = std::move(underway);
  underway.clear();
  ended.front()->release(ended);
  return result;
}

void Stream::State::finishDevice(std::unique_lock<std::mutex> &guard) {
  carrying = true;
  guard.unlock();
  Status status = finishDevice();
  guard.lock();
  carrying = inDevice = false;
  note(status, "");
  endIfIdle();
  changed.notify_all();
}

void Stream::State::run() {
  isStreamThread = true;
  std::unique_lock<std::mutex> guard(lock);
  auto ready = [&] { return !carrying && (closed || !entries.empty()); };
  for (;;) {
    if (!inDevice)
      changed.wait(guard, [&] { return ready() || inDevice; });
    if (!ready() && !changed.wait_for(guard, kLookEvery, ready)) {
      if (inDevice && !carrying && queue && queue->isIdle())
        finishDevice(guard);
      continue;
    }
    if (entries.empty()) {
      if (inDevice)
        finishDevice(guard);
      queue.reset();
      return;
    }
    Entry entry = std::move(entries.front());
    entries.pop_front();
    carrying = true;
    bool skip = !error.ok();
    guard.unlock();
    // Of what came before and the device is still at.
    Status earlier = entry.launches ? Status() : finishDevice();
    skip = skip || !earlier.ok();
    Status own;
    if (!skip || entry.always)
      own = carryOut(entry.work);
    entry.work = nullptr;
    guard.lock();
    carrying = false;
    inDevice = !underway.empty();
    direct = queue != nullptr;
    note(earlier, "");
    note(own, entry.place);
    --pending;
    endIfIdle();
    changed.notify_all();
  }
}

std::deque<Entry> Stream::State::drop() {
  std::lock_guard<std::mutex> guard(lock);
  std::deque<Entry> kept, dropped;
  for (Entry &entry : entries)
    (entry.always ? kept : dropped).push_back(std::move(entry));
  entries = std::move(kept);
  pending -= dropped.size();
  endIfIdle();
  changed.notify_all();
  return dropped;
}

Status Stream::State::useQueueOf(Job *wanted) {
  if (queueJob == wanted)
    return {};
  if (Status st = finishDevice(); !st.ok())
    return st;
  queueJob = wanted;
  queue.reset();
  return {};
}

Status Stream::State::launch(const std::shared_ptr<StreamedLaunch> &launch) {
  Expected<Job *> wanted = launch->findJob();
  if (!wanted.ok())
    return wanted.status();
  if (!launch->spec.kernel) {
    const StreamedPut &put = static_cast<const OwnedPut &>(*launch).put;
    Job *into = *wanted ? *wanted : job;
    if (!into)
      return invalid("put in " + name + ": there is no job");
    if (Status st = useQueueOf(into); !st.ok())
      return st;
    Status result = putInto(*into, put, queue, native);
    if (queue)
      underway.push_back(launch);
    return result;
  }
  Expected<Job *> found = jobOfLaunch(*wanted ? *wanted : job, launch->spec);
  if (!found.ok())
    return found.status();
  if (Status st = useQueueOf(*found); !st.ok())
    return st;
  Status result = launchInto(*queueJob, launch->spec, &queue, native);
  if (queue)
    underway.push_back(launch);
  return result;
}

Stream::Stream(Job *job, std::string name, std::optional<uintptr_t> native)
    : state(std::make_shared<State>(job, std::move(name), native)) {}

Stream::~Stream() {
  if (state->isForeign()) {
    // Its thread is not here, and may have held the lock when the process forked.
    new std::shared_ptr<State>(state);
    return;
  }
  std::thread thread;
  {
    std::lock_guard<std::mutex> guard(state->lock);
    state->closed = true;
    state->changed.notify_all();
    thread = std::move(state->thread);
    // What is in the queue may hold the last reference to the stream.
    if (state->detached || thread.get_id() == std::this_thread::get_id())
      if (thread.joinable())
        thread.detach();
  }
  if (thread.joinable()) {
    ThreadWaits waits;
    thread.join();
  }
}

void Stream::detach() {
  if (state->isForeign())
    return;
  std::lock_guard<std::mutex> guard(state->lock);
  state->detached = true;
}

Status Stream::State::check(const StreamedLaunch &launch) const {
  if (Status st = checkLaunch(launch.spec); !st.ok())
    return st;
  if (launch.spec.kernel->numArgs < 0)
    return invalid("launch of '" + launch.spec.kernel->name + "' in " + name +
                   ": the kernel does not say how many arguments it has");
  return {};
}

Status Stream::launch(const LaunchSpec &spec, std::shared_ptr<const void> owner,
                      std::function<Expected<Job *>()> findJob, std::string place) {
  if (Status st = checkLaunch(spec); !st.ok())
    return st;
  return launch(
      std::make_shared<OwnedLaunch>(spec, std::move(owner), std::move(findJob), std::move(place)));
}

Status Stream::State::give(const std::shared_ptr<StreamedLaunch> &launched) {
  if (launchNow(launched, /*wait=*/true))
    return {};
  Entry entry;
  entry.work = [this, launched] { return launch(launched); };
  entry.place = launched->place();
  entry.launches = true;
  return enqueue(std::move(entry));
}

Status Stream::launch(const std::shared_ptr<StreamedLaunch> &launch) {
  if (Status st = state->check(*launch); !st.ok())
    return st;
  return state->give(launch);
}

Status Stream::put(const StreamedPut &put, std::shared_ptr<const void> owner,
                   std::function<Expected<Job *>()> findJob, std::string place) {
  return state->give(
      std::make_shared<OwnedPut>(put, std::move(owner), std::move(findJob), std::move(place)));
}

bool Stream::tryLaunch(const std::shared_ptr<StreamedLaunch> &launch, Status &status) {
  status = state->check(*launch);
  return !status.ok() || state->launchNow(launch, /*wait=*/false);
}

Status Stream::call(std::function<Status()> function, std::string place) {
  Entry entry;
  entry.work = std::move(function);
  entry.place = std::move(place);
  return state->enqueue(std::move(entry));
}

Status Stream::record(Event &event) {
  auto happening = std::make_shared<Happening>();
  Entry entry;
  entry.work = [happening] {
    happening->happen();
    return Status();
  };
  entry.always = true;
  if (Status st = state->enqueue(std::move(entry)); !st.ok())
    return st;
  std::lock_guard<std::mutex> guard(event.state->lock);
  event.state->last = happening;
  return {};
}

Status Stream::wait(const Event &event) {
  std::shared_ptr<Happening> happening = event.state->get();
  if (!happening)
    return neverRecorded();
  return call([happening, owner = state->owner] {
    happening->park(owner);
    return Status();
  });
}

Status Stream::synchronize(std::string *place) {
  State &s = *state;
  if (s.isForeign())
    return {};
  std::optional<ThreadWaits> waits;
  std::unique_lock<std::mutex> guard(s.lock);
  if (s.thread.get_id() == std::this_thread::get_id())
    return invalid(s.name + " cannot wait for itself");
  auto idle = [&] { return s.pending == 0 && !s.carrying; };
  // One that finds nothing to wait for is at work all the time.
  if (!idle())
    waits.emplace();
  while (!s.changed.wait_for(guard, kAskEvery, idle)) {
    guard.unlock();
    if (interruptRequested()) {
      (void)s.drop();
      StreamAccount::get().forJobs(s.owner, interruptLaunch);
      guard.lock();
      s.changed.wait_for(guard, kStopWithin, idle);
      s.error = Status();
      return interrupted();
    }
    guard.lock();
  }
  if (s.inDevice)
    s.finishDevice(guard); // which looks for interrupts, too
  if (place)
    *place = s.errorPlace;
  return std::exchange(s.error, Status());
}

uint64_t Stream::pending() const {
  if (state->isForeign())
    return 0;
  std::unique_lock<std::mutex> guard(state->lock);
  State &s = *state;
  if (s.pending == 0 && s.inDevice && !s.carrying && s.queue && s.queue->isIdle())
    s.finishDevice(guard);
  return s.pending + (s.inDevice ? 1 : 0);
}

Job *Stream::job() const { return state->job; }
const std::string &Stream::name() const { return state->name; }

} // namespace nereid::runtime
