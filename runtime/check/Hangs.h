// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Hangs.h - Why a wait has never ended -------------------------------===//
//
// What has happened to words, whoever may know of it: when a job has ended while
// programs waited, the history of the word, of the same word of other ranks and of its
// neighbours says why the value has not come.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_CHECK_HANGS_H
#define NEREID_RUNTIME_CHECK_HANGS_H

#include "nereid/runtime/Events.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace nereid::runtime::check {

/// A wait that has never ended. Records are numbers of the log.
struct Hang {
  uint64_t wait;
  std::optional<uint64_t> update; ///< what explains it, or came last
  std::string title, order, help;
};

class Hangs {
public:
  /// The word at `offset` of `pe` is `value` from now on.
  void update(int32_t pe, uint64_t offset, uint64_t value, uint64_t record);
  /// Host code stores to these bytes.
  void reset(int32_t pe, uint64_t offset, uint64_t bytes, uint64_t record);
  void begin(const EventRecord &wait, uint64_t record);
  void end(const EventRecord &wait);

  /// The waits that are left.
  std::vector<Hang> all() const;

private:
  struct Update {
    uint64_t value, record;
    bool isReset = false;
    bool taken = false; ///< a wait has seen it
  };
  static constexpr size_t kKept = 16;
  using Word = std::pair<int32_t, uint64_t>;
  using History = std::deque<Update>;
  struct Waiting {
    EventRecord event;
    uint64_t record;
  };

  Hang explain(const Waiting &waiting) const;
  const History *historyOf(int32_t pe, uint64_t offset) const;

  std::map<Word, History> words;
  std::map<std::tuple<int32_t, uint32_t, uint32_t>, Waiting> waiting; ///< rank, launch, program
};

} // namespace nereid::runtime::check

#endif // NEREID_RUNTIME_CHECK_HANGS_H
