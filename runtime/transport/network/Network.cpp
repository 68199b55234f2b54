// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/network/Network.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <pthread.h>

namespace nereid::runtime {

/// More than this many operations, or this much data, does not pile up: the
/// rank that asks for one more carries out some first.
static constexpr size_t kMaxPending = 1024;
static constexpr uint64_t kMaxBytesTaken = uint64_t(64) << 20;
/// In the background, operations of at most this size overtake larger ones.
static constexpr uint64_t kSmallBytes = 4096;

void PendingOperation::takeData() {
  if (data || bytes == 0)
    return;
  data.reset(new uint8_t[bytes]);
  std::memcpy(data.get(), from, bytes);
  from = data.get();
}

Network::Network(const Transport::Shape &shape, bool background)
    : shape(shape), background(background), fences(size_t(shape.worldSize)),
      earliest(size_t(shape.worldSize)) {}

Network::~Network() {
  {
    std::lock_guard<std::mutex> guard(lock);
    stopping = true;
  }
  wake.notify_all();
  if (thread.joinable())
    thread.join();
}

bool Network::isSymmetric(const void *at, uint64_t bytes) const {
  uint64_t all = shape.heapBytes * uint64_t(shape.worldSize);
  for (const uint8_t *base : {shape.heaps, shape.reach}) {
    uint64_t offset = uint64_t(static_cast<const uint8_t *>(at) - base);
    if (base && offset < all && bytes <= all - offset)
      return true;
  }
  return false;
}

void Network::publishCount() { shape.inFlight->store(pending.size(), std::memory_order_release); }

void Network::add(PendingOperation operation) {
  std::lock_guard<std::mutex> guard(lock);
  while (pending.size() >= kMaxPending || bytesTaken >= kMaxBytesTaken) {
    collect(-1);
    carryOut(next.front());
  }
  operation.fences = fences[size_t(operation.pe)];
  if (operation.data)
    bytesTaken += operation.bytes;
  pending.push_back(std::move(operation));
  publishCount();
  if (!background)
    return;
  if (!thread.joinable()) {
    // Signals are for the threads of the program.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread = std::thread(&Network::threadMain, this);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  wake.notify_one();
}

void Network::fence(int32_t pe) {
  std::lock_guard<std::mutex> guard(lock);
  if (pe >= 0) {
    ++fences[size_t(pe)];
    return;
  }
  for (uint64_t &count : fences)
    ++count;
}

void Network::collect(int32_t pe) {
  std::fill(earliest.begin(), earliest.end(), ~uint64_t(0));
  for (const PendingOperation &p : pending)
    if (p.kind != PendingOperation::Get)
      earliest[size_t(p.pe)] = std::min(earliest[size_t(p.pe)], p.fences);
  next.clear();
  for (size_t i = 0; i < pending.size(); ++i) {
    const PendingOperation &p = pending[i];
    if (pe >= 0 && p.pe != pe)
      continue;
    if (p.kind == PendingOperation::Get || p.fences == earliest[size_t(p.pe)])
      next.push_back(i);
  }
}

void Network::carryOut(size_t index) {
  PendingOperation &p = pending[index];
  switch (p.kind) {
  case PendingOperation::Put:
    copyPush(p.to, p.from, p.bytes);
    break;
  case PendingOperation::Get:
    copyPull(p.to, p.from, p.bytes);
    break;
  case PendingOperation::PutSignal:
    // The signal is an operation of its own from here on.
    copyPush(p.to, p.from, p.bytes);
    if (p.data)
      bytesTaken -= p.bytes;
    p.data.reset();
    p.bytes = 0;
    p.kind = PendingOperation::Signal;
    return;
  case PendingOperation::Signal:
    updateSignal(p.signal, p.value, p.op, p.width);
    break;
  case PendingOperation::Update:
    p.apply(p.signal, p.value, p.width);
    break;
  }
  if (p.data)
    bytesTaken -= p.bytes;
  pending.erase(pending.begin() + ptrdiff_t(index));
  publishCount();
}

bool Network::deliver(uint64_t choice) {
  std::lock_guard<std::mutex> guard(lock);
  if (pending.empty())
    return false;
  collect(-1);
  carryOut(next[choice % next.size()]);
  return true;
}

void Network::deliverAll(int32_t pe) {
  std::lock_guard<std::mutex> guard(lock);
  for (;;) {
    collect(pe);
    if (next.empty())
      return;
    carryOut(next.front());
  }
}

void Network::letGoOfArguments() {
  std::lock_guard<std::mutex> guard(lock);
  for (size_t i = 0; i < pending.size();) {
    PendingOperation &p = pending[i];
    if (p.kind == PendingOperation::Get && !isSymmetric(p.to, p.bytes)) {
      carryOut(i);
      continue;
    }
    if (p.bytes && !p.data && p.kind != PendingOperation::Get && !isSymmetric(p.from, p.bytes)) {
      p.takeData();
      bytesTaken += p.bytes;
    }
    ++i;
  }
}

void Network::drop() {
  std::lock_guard<std::mutex> guard(lock);
  pending.clear();
  bytesTaken = 0;
  publishCount();
}

void Network::threadMain() {
  std::unique_lock<std::mutex> guard(lock);
  for (;;) {
    wake.wait(guard, [&] { return stopping || !pending.empty(); });
    if (stopping)
      return;
    collect(-1);
    size_t index = next.front();
    for (size_t i : next)
      if (pending[i].bytes <= kSmallBytes) {
        index = i;
        break;
      }
    carryOut(index);
    // Whoever wants to add or complete operations goes first.
    guard.unlock();
    std::this_thread::yield();
    guard.lock();
  }
}

} // namespace nereid::runtime
