// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Toy.cpp - A transport from outside of the runtime ------------------===//
//
// Shows that a transport is one folder and one row: this file is what the folder
// holds, Main.cpp adds the row, and the conformance suite runs on it. A thread carries
// operations out one by one, in their order, by copies of single bytes.
//
//===----------------------------------------------------------------------===//
#include "base/FaultGuard.h"
#include "transport/interface/Delivery.h"
#include "transport/interface/Transport.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

using namespace nereid::runtime;

namespace {

class Toy final : public Transport {
public:
  explicit Toy(const TransportShape &shape) : shape(shape) {}
  ~Toy() override { withdraw(); }

  Expected<std::string> expose() override {
    thread = std::thread(&Toy::threadMain, this);
    return "toy " + std::to_string(shape.rank);
  }
  void withdraw() override {
    {
      std::lock_guard<std::mutex> guard(lock);
      stopping = true;
    }
    wake.notify_one();
    if (thread.joinable())
      thread.join();
  }

  Status submit(const Operation &operation, Completion &done) override {
    if (shape.addressOf(operation.pe) != "toy " + std::to_string(operation.pe))
      return Status::error(StatusCode::Internal, "the address of a peer is not what it gave");
    Job job{operation, {}};
    if (operation.kind == Operation::Put) {
      job.data.resize(operation.bytes);
      auto *from = static_cast<const uint8_t *>(operation.source);
      if (!touches([&] { std::copy_n(from, operation.bytes, job.data.data()); }))
        return Status::error(StatusCode::BadAccess,
                             "the memory of a put is gone; it must stay until a quiet");
    }
    std::lock_guard<std::mutex> guard(lock);
    shape.inFlight->fetch_add(1);
    jobs.push_back(std::move(job));
    done = {operation.pe, ++issued};
    wake.notify_one();
    return {};
  }
  bool hasRoom(int32_t) const override { return issued - carriedOut < 100; }
  bool finished(const Completion &done) const override { return carriedOut >= done.number; }
  void fence(int32_t) override {}
  void quiet(int32_t pe, Completion &done) override { done = {pe, issued}; }
  bool progress() override { return false; }
  void letGoOfArguments(Completion &done) override { done = {-1, issued}; }
  void abandon(Completion &done) override {
    std::lock_guard<std::mutex> guard(lock);
    shape.inFlight->fetch_sub(jobs.size());
    jobs.clear();
    carriedOut = issued.load();
    done = {-1, issued};
  }

  void drop(int32_t) override {} // its memory is there for as long as this rank's

private:
  struct Job {
    Operation operation;
    std::vector<uint8_t> data;
  };

  void carryOut(const Job &job) {
    const Operation &o = job.operation;
    uint8_t *heap = shape.mapped + uint64_t(o.pe) * shape.heapBytes;
    Delivery delivery(shape, shape.rank, o.pe, o.id, o.tag);
    auto update = [&] {
      return delivery.update(heap + o.at, o.at, o.op, o.value, o.compare, o.width);
    };
    if (o.kind == Operation::Put || o.kind == Operation::Get)
      delivery.beginMove(o.offset, o.bytes,
                         o.kind == Operation::Put ? EventRecord::kWrites : EventRecord::kReads);
    if (o.kind == Operation::Put)
      for (uint64_t i = 0; i < o.bytes; ++i)
        heap[o.offset + i] = job.data[i];
    if (o.kind == Operation::Get)
      if (!touches([&] {
            for (uint64_t i = 0; i < o.bytes; ++i)
              static_cast<uint8_t *>(o.target)[i] = heap[o.offset + i];
          }))
        shape.fail(Status::error(StatusCode::BadAccess,
                                 "the memory of a get is gone; it must stay until a quiet"));
    delivery.endMove();
    if (o.kind == Operation::Update || o.signals)
      update();
    if (o.kind == Operation::Fetch)
      *static_cast<uint64_t *>(o.target) = update();
  }

  void threadMain() {
    std::unique_lock<std::mutex> guard(lock);
    for (;;) {
      wake.wait(guard, [&] { return stopping || !jobs.empty(); });
      if (jobs.empty())
        return;
      carryOut(jobs.front());
      jobs.pop_front();
      ++carriedOut;
      shape.inFlight->fetch_sub(1);
      guard.unlock(); // submit and abandon come in between
      guard.lock();
    }
  }

  const TransportShape shape;
  std::mutex lock;
  std::condition_variable wake;
  std::deque<Job> jobs;
  std::atomic<uint64_t> issued{0}, carriedOut{0};
  bool stopping = false;
  std::thread thread;
};

} // namespace

namespace nereid::runtime {
Expected<std::unique_ptr<Transport>> make_toy(const TransportShape &shape) {
  return std::unique_ptr<Transport>(std::make_unique<Toy>(shape));
}
} // namespace nereid::runtime
