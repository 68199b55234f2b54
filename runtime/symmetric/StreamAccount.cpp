// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "symmetric/StreamAccount.h"

#include "symmetric/JobImpl.h"

#include <algorithm>
#include <pthread.h>

namespace nereid::runtime {

thread_local bool isStreamThread = false;
thread_local int32_t StreamAccount::waits = 0;
std::atomic<uint32_t> StreamAccount::busy{0};

StreamAccount &StreamAccount::get() {
  // Never destroyed: streams may be at work while static objects are.
  static std::atomic<StreamAccount *> instance{[] {
    pthread_atfork(nullptr, nullptr, [] {
      // The parent's may be locked for ever, and its streams are not the child's.
      instance.store(new StreamAccount, std::memory_order_release);
      busy.store(0, std::memory_order_relaxed);
      waits = 0;
      isStreamThread = false;
    });
    return new StreamAccount;
  }()};
  return *instance.load(std::memory_order_acquire);
}

void StreamAccount::tell() {
  for (Job::Impl *job : jobs) {
    uint32_t atWork = 0;
    bool hostBusy = false;
    for (const auto &[owner, each] : streams) {
      if ((owner && owner != job) || each.busy == 0)
        continue;
      atWork += each.busy - each.parked;
      hostBusy = hostBusy || std::any_of(each.hosts.begin(), each.hosts.end(),
                                         [&](auto host) { return !waiting.contains(host); });
    }
    job->showStreams(atWork, hostBusy);
  }
}

void StreamAccount::join(Job::Impl &job) {
  std::lock_guard<std::mutex> guard(lock);
  jobs.insert(&job);
  tell();
}

void StreamAccount::quit(Job::Impl &job) {
  std::lock_guard<std::mutex> guard(lock);
  jobs.erase(&job);
}

void StreamAccount::forJobs(Job::Impl *owner, const std::function<void(Job::Impl &)> &function) {
  std::lock_guard<std::mutex> guard(lock);
  for (Job::Impl *job : jobs)
    if (!owner || owner == job)
      function(*job);
}

void StreamAccount::begin(Job::Impl *owner) {
  std::lock_guard<std::mutex> guard(lock);
  Streams &own = streams[owner];
  ++own.busy;
  busy.fetch_add(1, std::memory_order_relaxed);
  if (!isStreamThread)
    own.hosts.insert(std::this_thread::get_id());
  tell();
}

void StreamAccount::end(Job::Impl *owner) {
  std::lock_guard<std::mutex> guard(lock);
  auto own = streams.find(owner);
  busy.fetch_sub(1, std::memory_order_relaxed);
  if (--own->second.busy == 0)
    streams.erase(own);
  tell();
}

void StreamAccount::park(Job::Impl *owner, int32_t by) {
  std::lock_guard<std::mutex> guard(lock);
  streams[owner].parked += uint32_t(by);
  tell();
}

void StreamAccount::countWait(int32_t by) {
  std::lock_guard<std::mutex> guard(lock);
  waits += by;
  auto entry = waiting.try_emplace(std::this_thread::get_id(), 0).first;
  if ((entry->second += by) == 0)
    waiting.erase(entry);
  tell();
}

} // namespace nereid::runtime
