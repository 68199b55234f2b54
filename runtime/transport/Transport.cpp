// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/Transport.h"

#include "transport/network/Network.h"

namespace nereid::runtime {

Transport::Transport(const Shape &given)
    : shape(given), severalNodes(given.ranksPerNode > 0 && given.worldSize > given.ranksPerNode),
      ownNode(given.ranksPerNode ? given.rank / given.ranksPerNode : 0) {
  if (shape.random || severalNodes)
    network = std::make_unique<Network>(shape, !shape.random);
}

Transport::~Transport() = default;

/// Touches every page, so that a bad address is an error of the program that
/// passed it.
static void probe(const void *source, uint64_t bytes) {
  const volatile uint8_t *p = static_cast<const volatile uint8_t *>(source);
  for (uint64_t i = 0; i < bytes; i += 4096)
    (void)p[i];
  if (bytes)
    (void)p[bytes - 1];
}

static PendingOperation transfer(PendingOperation::Kind kind, int32_t pe, void *to,
                                 const void *from, uint64_t bytes) {
  PendingOperation p;
  p.kind = kind;
  p.pe = pe;
  p.to = static_cast<uint8_t *>(to);
  p.from = static_cast<const uint8_t *>(from);
  p.bytes = bytes;
  return p;
}

void Transport::queuePut(int32_t pe, uint8_t *to, const void *source, uint64_t bytes, bool nbi) {
  if (bytes == 0)
    return;
  probe(source, bytes);
  PendingOperation p = transfer(PendingOperation::Put, pe, to, source, bytes);
  if (!nbi)
    p.takeData();
  network->add(std::move(p));
}

void Transport::queueGet(int32_t pe, void *dest, const uint8_t *from, uint64_t bytes) {
  if (bytes == 0)
    return;
  probe(dest, bytes);
  network->add(transfer(PendingOperation::Get, pe, dest, from, bytes));
}

void Transport::queueSignal(int32_t pe, uint8_t *at, uint64_t value, int32_t op, int32_t bytes) {
  PendingOperation p;
  p.kind = PendingOperation::Signal;
  p.pe = pe;
  p.signal = at;
  p.value = value;
  p.op = op;
  p.width = bytes;
  network->add(std::move(p));
}

void Transport::queuePutSignal(int32_t pe, uint8_t *to, const void *source, uint64_t bytes,
                               uint8_t *at, uint64_t value, int32_t op, int32_t sigBytes,
                               bool nbi) {
  probe(source, bytes);
  PendingOperation p = transfer(bytes ? PendingOperation::PutSignal : PendingOperation::Signal, pe,
                                to, source, bytes);
  if (!nbi)
    p.takeData();
  p.signal = at;
  p.value = value;
  p.op = op;
  p.width = sigBytes;
  network->add(std::move(p));
}

void Transport::queueUpdate(int32_t pe, uint8_t *at, UpdateFunction apply, uint64_t value,
                            int32_t bytes) {
  PendingOperation p;
  p.kind = PendingOperation::Update;
  p.pe = pe;
  p.signal = at;
  p.apply = apply;
  p.value = value;
  p.width = bytes;
  network->add(std::move(p));
}

void Transport::queueFence(int32_t pe) { network->fence(pe); }
bool Transport::deliver(uint64_t choice) { return network && network->deliver(choice); }
void Transport::deliverAll(int32_t pe) {
  if (network)
    network->deliverAll(pe);
}
void Transport::letGoOfArguments() {
  if (network)
    network->letGoOfArguments();
}
void Transport::drop() {
  if (network)
    network->drop();
}

} // namespace nereid::runtime
