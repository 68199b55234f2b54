// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Log.h - What all ranks of a job did, in one order ------------------===//
//
// A file that every rank maps. Whoever has something to tell takes the next record;
// the order of records is the order in which they were taken, for all ranks. A rank
// that is killed leaves at most one record unwritten for each of its threads.
//
//   +--------+----------+----------+-----          PATH.RANK: lines of text, what the
//   | Header | Record 0 | Record 1 | ...           numbers in records mean (Words)
//   +--------+----------+----------+-----
//
// An update of a word is recorded, made, and recorded with its value while its thread
// holds the word's lock, so that the order of records is the order of the word.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_CHECK_LOG_H
#define NEREID_RUNTIME_CHECK_LOG_H

#include "nereid/runtime/Events.h"
#include "nereid/runtime/Status.h"

#include <atomic>
#include <memory>
#include <string>

namespace nereid::runtime::check {

struct Record {
  EventRecord event;
  uint16_t heardBy = 0; ///< the rank in whose process it happened
  uint8_t before = 0;   ///< else after
  std::atomic<uint8_t> written{0};
  uint32_t unused = 0;
};
static_assert(sizeof(Record) == 72);

struct LogHeader {
  static constexpr uint64_t kMagic = 0x4e52'4443'4845'0002; // changes with the format
  static constexpr uint32_t kLocks = 1024;
  uint64_t magic;
  uint64_t capacity; ///< in records
  std::atomic<uint64_t> count;
  std::atomic<uint32_t> locks[kLocks];   ///< 1 + rank of who holds it
  std::atomic<uint32_t> changes[kLocks]; ///< updates of the words of the lock, so far
};

/// The mapped file.
class Log {
public:
  /// Makes the file, with room for `capacity` records that the disk is sure to hold.
  static Status create(const std::string &path, uint64_t capacity);
  static Expected<std::unique_ptr<Log>> open(const std::string &path);
  ~Log();
  Log(const Log &) = delete;
  Log &operator=(const Log &) = delete;

  /// Drops the event when the log is full; lost() tells.
  void add(const EventRecord &event, int32_t rank, bool before);
  /// Around an update of the word at `offset` of `pe`. Who waits long takes the lock
  /// away: its holder may have been killed inside.
  void lockWord(int32_t rank, int32_t pe, uint64_t offset);
  void unlockWord(int32_t rank, int32_t pe, uint64_t offset);
  /// By who holds the lock: the word changes; how often one of the lock's has.
  void noteChange(int32_t pe, uint64_t offset);
  uint32_t changesOf(int32_t pe, uint64_t offset) const;

  uint64_t count() const;
  uint64_t lost() const;
  const Record &record(uint64_t index) const { return records[index]; }

private:
  Log(void *memory, uint64_t bytes);
  static size_t slotOf(int32_t pe, uint64_t offset) {
    return (offset / 8 * 31 + uint64_t(pe)) % LogHeader::kLocks;
  }
  std::atomic<uint32_t> &lockOf(int32_t pe, uint64_t offset) const {
    return header.locks[slotOf(pe, offset)];
  }

  void *const memory;
  const uint64_t bytes;
  LogHeader &header;
  Record *const records;
};

} // namespace nereid::runtime::check

#endif // NEREID_RUNTIME_CHECK_LOG_H
