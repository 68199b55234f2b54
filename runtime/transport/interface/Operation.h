// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Operation.h - What a rank asks of another rank's memory ------------===//
//
// Plain data: no address of a peer and no function, so that an operation can be
// held back, reordered or sent to another process as it is.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_TRANSPORT_INTERFACE_OPERATION_H
#define NEREID_RUNTIME_TRANSPORT_INTERFACE_OPERATION_H

#include "nereid/abi.h"

#include <cstdint>

namespace nereid::runtime {

/// What an update does to a word; the numbers are NRD_AMO_*, of which the first
/// two are NRD_SIG_*.
enum class AtomicOp : uint8_t {
  Set = NRD_AMO_SET,
  Add = NRD_AMO_ADD,
  And = NRD_AMO_AND,
  Or = NRD_AMO_OR,
  Xor = NRD_AMO_XOR,
  Swap = NRD_AMO_SWAP,
  CompareSwap = NRD_AMO_COMPARE_SWAP,
  Fetch = NRD_AMO_FETCH,
};
static_assert(int(NRD_SIG_SET) == int(NRD_AMO_SET) && int(NRD_SIG_ADD) == int(NRD_AMO_ADD));

struct Operation {
  enum Kind : uint8_t {
    Put,    ///< `bytes` at `source` go to `offset`; then `at` is updated if it signals
    Get,    ///< `bytes` at `offset` go to `target`
    Update, ///< the word at `at` is changed, its old value is not asked for
    Fetch,  ///< the same, and the old value goes to the 8 bytes at `target`
  };
  Kind kind = Put;
  AtomicOp op = AtomicOp::Set;
  uint8_t width = 0;    ///< bytes of the word: 1, 2, 4 or 8, at a multiple of it
  bool signals = false; ///< Put: with a signal
  /// Put, Get: source and target stay as they are until a quiet. Otherwise the
  /// source may change when submit returns, and the target is there when the
  /// completion is finished.
  bool nbi = false;
  /// Update by a notify: NRD_COMM_*, otherwise 0; for the observer alone.
  uint8_t scope = 0;
  int32_t pe = 0;
  /// Places in the heap of `pe`, in bytes from its start. Those of the rank
  /// itself may lie outside (plain memory), counted modulo 2^64.
  uint64_t offset = 0;
  uint64_t at = 0;
  uint64_t bytes = 0;
  uint64_t value = 0;
  uint64_t compare = 0; ///< CompareSwap: the value that is replaced
  const void *source = nullptr;
  void *target = nullptr;
  /// For the observer (Events.h): the operation's number among those of its rank,
  /// and what the observer has made of the Issue. A transport hands both on with
  /// every part of the operation.
  uint32_t id = 0;
  uint64_t tag = 0;

  static Operation put(int32_t pe, uint64_t offset, const void *source, uint64_t bytes, bool nbi) {
    Operation o;
    o.kind = Put;
    o.pe = pe;
    o.offset = offset;
    o.source = source;
    o.bytes = bytes;
    o.nbi = nbi;
    return o;
  }
  static Operation get(int32_t pe, uint64_t offset, void *target, uint64_t bytes, bool nbi) {
    Operation o;
    o.kind = Get;
    o.pe = pe;
    o.offset = offset;
    o.target = target;
    o.bytes = bytes;
    o.nbi = nbi;
    return o;
  }
  static Operation update(int32_t pe, uint64_t at, AtomicOp op, uint64_t value, int32_t width) {
    Operation o;
    o.kind = Update;
    o.pe = pe;
    o.setWord(at, op, value, width);
    return o;
  }
  static Operation fetch(int32_t pe, uint64_t at, AtomicOp op, uint64_t value, uint64_t compare,
                         int32_t width, uint64_t *old) {
    Operation o = update(pe, at, op, value, width);
    o.kind = Fetch;
    o.compare = compare;
    o.target = old;
    return o;
  }
  /// Makes a put one with a signal.
  Operation &withSignal(uint64_t at, AtomicOp op, uint64_t value, int32_t width) {
    signals = true;
    setWord(at, op, value, width);
    return *this;
  }
  /// Somebody waits for what it brings.
  bool isAwaited() const { return kind == Fetch || (kind == Get && !nbi); }

private:
  void setWord(uint64_t word, AtomicOp how, uint64_t with, int32_t bytesOfIt) {
    at = word;
    op = how;
    value = with;
    width = uint8_t(bytesOfIt);
  }
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_TRANSPORT_INTERFACE_OPERATION_H
