// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "check/Log.h"

#include "symmetric/HeapAllocator.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nereid::runtime::check {

static Status failed(const std::string &path, const std::string &what, int error) {
  return Status::error(StatusCode::SystemError,
                       "the log of the check, " + path + ": " + what +
                           (error ? std::string(": ") + strerror(error) : std::string()));
}

Status Log::create(const std::string &path, uint64_t capacity) {
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    return failed(path, "cannot be made", errno);
  const uint64_t bytes = sizeof(LogHeader) + capacity * sizeof(Record);
  // A disk that fills up later would kill whoever writes to the mapping.
  if (int error = posix_fallocate(fd, 0, off_t(bytes))) {
    close(fd);
    unlink(path.c_str());
    return failed(path, "no room for " + sizeText(bytes), error);
  }
  LogHeader header{};
  header.magic = LogHeader::kMagic;
  header.capacity = capacity;
  const bool written = pwrite(fd, &header, sizeof(header), 0) == ssize_t(sizeof(header));
  const int error = errno;
  close(fd);
  return written ? Status() : failed(path, "cannot be written", error);
}

Expected<std::unique_ptr<Log>> Log::open(const std::string &path) {
  int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat info{};
  if (fd < 0 || fstat(fd, &info) < 0) {
    const int error = errno;
    if (fd >= 0)
      close(fd);
    return failed(path, "cannot be opened", error);
  }
  const uint64_t bytes = uint64_t(info.st_size);
  void *memory = bytes < sizeof(LogHeader)
                     ? MAP_FAILED
                     : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED)
    return failed(path, "is not a log", 0);
  const LogHeader &header = *static_cast<LogHeader *>(memory);
  if (header.magic != LogHeader::kMagic ||
      header.capacity > (bytes - sizeof(LogHeader)) / sizeof(Record)) {
    munmap(memory, bytes);
    return failed(path, "is not a log of this version of Nereid", 0);
  }
  return std::unique_ptr<Log>(new Log(memory, bytes));
}

Log::Log(void *memory, uint64_t bytes)
    : memory(memory), bytes(bytes), header(*static_cast<LogHeader *>(memory)),
      records(reinterpret_cast<Record *>(static_cast<uint8_t *>(memory) + sizeof(LogHeader))) {}

Log::~Log() { munmap(memory, bytes); }

void Log::add(const EventRecord &event, int32_t rank, bool before) {
  const uint64_t at = header.count.fetch_add(1, std::memory_order_acq_rel);
  if (at >= header.capacity)
    return;
  Record &record = records[at];
  record.event = event;
  record.heardBy = uint16_t(rank);
  record.before = before;
  record.written.store(1, std::memory_order_release);
}

void Log::lockWord(int32_t rank, int32_t pe, uint64_t offset) {
  std::atomic<uint32_t> &lock = lockOf(pe, offset);
  for (int rounds = 0; rounds < 20000; ++rounds) {
    uint32_t free = 0;
    if (lock.compare_exchange_weak(free, uint32_t(rank) + 1, std::memory_order_acquire))
      return;
    if (rounds > 100)
      sched_yield();
  }
  // Its holder has been killed, or has not had the core for long.
  lock.store(uint32_t(rank) + 1, std::memory_order_release);
}

void Log::unlockWord(int32_t rank, int32_t pe, uint64_t offset) {
  uint32_t own = uint32_t(rank) + 1;
  lockOf(pe, offset).compare_exchange_strong(own, 0, std::memory_order_release);
}

void Log::noteChange(int32_t pe, uint64_t offset) {
  header.changes[slotOf(pe, offset)].fetch_add(1, std::memory_order_relaxed);
}

uint32_t Log::changesOf(int32_t pe, uint64_t offset) const {
  return header.changes[slotOf(pe, offset)].load(std::memory_order_relaxed);
}

uint64_t Log::count() const {
  return std::min(header.count.load(std::memory_order_acquire), header.capacity);
}

uint64_t Log::lost() const { return header.count.load(std::memory_order_acquire) - count(); }

} // namespace nereid::runtime::check
