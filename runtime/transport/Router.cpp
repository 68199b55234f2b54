// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Router.cpp - Which engine carries what -----------------------------===//
//
//       nodes     schedule    engine
//       one       fifo        none: every operation is direct
//       one       random      delayed: shared memory
//       several   fifo        the transport of that name, behind delayed: if it is named so
//       several   random      delayed: own node by shared memory, others by the transport
//
// Under a random schedule delayed: stands outermost and has no thread, so that
// one seed decides about all operations. While somebody watches (watch), direct
// operations would go unseen; they take an engine as well then, shared memory
// by itself or by node, and the one from before comes back afterwards. Nothing
// may be under way at either change.
//
//===----------------------------------------------------------------------===//
#include "transport/Router.h"

#include "transport/Transports.h"
#include "transport/delayed/Delayed.h"
#include "transport/shared_memory/SharedMemory.h"

namespace nereid::runtime {

namespace {
/// Ranks of the own node are mapped where programs see them.
TransportShape nearShape(TransportShape shape) {
  shape.mapped = shape.heaps;
  return shape;
}

/// Ranks of the own node by their mapped heaps, the others by another transport:
/// what a random schedule holds back, and what an observer sees.
class ByNode final : public Transport {
public:
  ByNode(const TransportShape &shape, std::function<bool(int32_t)> isNear,
         std::shared_ptr<Transport> far)
      : near(nearShape(shape)), far(std::move(far)), isNear(std::move(isNear)) {}

  Expected<std::string> expose() override { return far->expose(); }
  void withdraw() override { far->withdraw(); }
  Status submit(const Operation &operation, Completion &done) override {
    return isNear(operation.pe) ? near.submit(operation, done) : far->submit(operation, done);
  }
  bool hasRoom(int32_t pe) const override { return isNear(pe) || far->hasRoom(pe); }
  bool finished(const Completion &done) const override { return far->finished(done); }
  void fence(int32_t pe) override { far->fence(pe); }
  void quiet(int32_t pe, Completion &done) override { far->quiet(pe, done); }
  bool progress() override { return far->progress(); }
  void letGoOfArguments(Completion &done) override { far->letGoOfArguments(done); }
  void abandon(Completion &done) override { far->abandon(done); }
  void drop(int32_t pe) override { far->drop(pe); }

private:
  SharedMemory near;
  const std::shared_ptr<Transport> far;
  const std::function<bool(int32_t)> isNear;
};
} // namespace

Router::Router(const Shape &shape)
    : perNode(shape.ranksPerNode),
      severalNodes(shape.ranksPerNode > 0 && shape.transport.worldSize > shape.ranksPerNode),
      ownNode(shape.ranksPerNode ? shape.transport.rank / shape.ranksPerNode : 0),
      heaps(shape.transport.heaps), heapBytes(shape.transport.heapBytes), shape(shape.transport),
      allByEngine(shape.random) {
  Expected<std::unique_ptr<Transport>> engine = makeEngine(shape);
  if (!engine.ok()) {
    error = engine.status();
    return;
  }
  used = unwatched = std::move(*engine);
  if (!used)
    return;
  Expected<std::string> address = used->expose();
  if (!address.ok())
    error = address.status();
  else if (address->size() > kMaxEngineAddressBytes)
    error = Status::error(StatusCode::Internal, "the address of transport " + shape.between +
                                                    " has " + std::to_string(address->size()) +
                                                    " bytes, more than " +
                                                    std::to_string(kMaxEngineAddressBytes));
  else
    ownAddress = std::move(*address);
}

void Router::watch(bool on) {
  if (scheduled)
    return; // everything goes through the engine already
  allByEngine = on;
  used = unwatched;
  if (!on)
    return;
  if (severalNodes)
    used = std::make_shared<ByNode>(shape, [this](int32_t pe) { return reachable(pe); }, unwatched);
  else
    used = std::make_shared<SharedMemory>(nearShape(shape));
}

Router::~Router() {
  if (unwatched)
    unwatched->withdraw();
}

/// The nodes' transport, delayed as the name or the schedule says.
Expected<std::unique_ptr<Transport>> Router::makeEngine(const Shape &shape) {
  Expected<TransportChoice> choice = findTransport(shape.between);
  if (!choice.ok())
    return choice.status();
  if (!shape.random && !severalNodes)
    return std::unique_ptr<Transport>();
  std::unique_ptr<Transport> engine = std::make_unique<SharedMemory>(shape.transport);
  if (severalNodes) {
    TransportShape farShape = shape.transport;
    if (!choice->row->needsMapping)
      farShape.mapped = nullptr;
    Expected<std::unique_ptr<Transport>> far = choice->row->make(farShape);
    if (!far.ok())
      return far.status();
    engine = std::move(*far);
    if (shape.random)
      engine = std::make_unique<ByNode>(
          shape.transport, [this](int32_t pe) { return reachable(pe); }, std::move(engine));
  }
  if (shape.random || choice->delayed) {
    auto delayed = std::make_unique<Delayed>(std::move(engine), shape.transport, !shape.random);
    scheduled = shape.random ? delayed.get() : nullptr;
    engine = std::move(delayed);
  }
  return engine;
}

bool Router::startQuiet(int32_t pe, Completion &done) {
  used->quiet(pe, done);
  fullFence();
  return used->finished(done);
}

uint64_t Router::held() const { return scheduled ? scheduled->held() : 0; }

bool Router::deliver(uint64_t choice) { return scheduled && scheduled->deliver(choice); }

} // namespace nereid::runtime
