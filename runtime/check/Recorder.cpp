// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Recorder.cpp - The log, and the words to it ------------------------===//
//
// Words are lines of fields between tabs; Words.cpp reads them:
//
//   job          rank  ranks  heap base  heap bytes  profile
//   allocations  from which launch on, then one line each: allocation  offset  bytes
//                name
//   kernel       number  name, then one line each: site  number  index  line  column
//                function  file  text
//   launch       number of the launch  number of the kernel
//   place        number of the host's operation  file:line
//
//===----------------------------------------------------------------------===//
#include "check/Recorder.h"

#include "base/Knobs.h"
#include "symmetric/HeapAllocator.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace nereid::runtime::check {

/// A text as one field of one line.
static std::string field(const std::string &text) {
  std::string out = "\t";
  for (char c : text)
    out += c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
  return out;
}
static std::string field(uint64_t number) { return "\t" + std::to_string(number); }

Expected<std::unique_ptr<Recorder>> Recorder::make(Job &job, const std::string &path) {
  Expected<std::unique_ptr<Log>> log = Log::open(path);
  if (!log.ok())
    return log.status();
  const std::string beside = path + "." + std::to_string(job.rank());
  int fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0)
    return Status::error(StatusCode::SystemError, "the log of the check, " + beside +
                                                      ": cannot be made: " + strerror(errno));
  std::unique_ptr<Recorder> recorder(new Recorder(job, std::move(*log), fd));
  recorder->say("job" + field(uint64_t(job.rank())) + field(uint64_t(job.worldSize())) +
                field(reinterpret_cast<uint64_t>(job.heapBase())) + field(job.heapBytes()) +
                field(std::string(job.profile().name)));
  return recorder;
}

Recorder::~Recorder() { close(words); }

void Recorder::say(const std::string &line) {
  const std::string whole = line + "\n";
  for (size_t done = 0; done < whole.size();) {
    const ssize_t n = write(words, whole.data() + done, whole.size() - done);
    if (n < 0 && errno != EINTR)
      return; // the disk is full: reports name numbers instead of lines
    done += n > 0 ? size_t(n) : 0;
  }
}

void Recorder::sayAllocations(uint32_t launch) {
  std::string now;
  for (const Allocation &a : job.allocations())
    now += "\nallocation" + field(a.offset) + field(a.bytes) + field(infoText(a.info));
  if (now == allocations)
    return;
  allocations = now;
  say("allocations" + field(uint64_t(launch)) + now);
}

void Recorder::sayLaunch(const EventRecord &event, const LaunchSpec &spec) {
  std::lock_guard<std::mutex> guard(lock);
  sayAllocations(event.launch);
  std::string text = field(spec.kernel->name);
  for (size_t i = 0; spec.kernel->sites && i < spec.kernel->sites->size(); ++i) {
    const SourceSite &site = (*spec.kernel->sites)[i];
    text += "\nsite\t@" + field(uint64_t(i)) + field(uint64_t(site.line)) +
            field(uint64_t(site.column)) + field(site.function) + field(site.file) +
            field(site.text);
  }
  auto [entry, isNew] = kernels.try_emplace(text, std::to_string(kernels.size()));
  const std::string &number = entry->second;
  if (isNew) {
    for (size_t at; (at = text.find("\nsite\t@")) != std::string::npos;)
      text.replace(at + 6, 1, number);
    say("kernel\t" + number + text);
  }
  say("launch" + field(uint64_t(event.launch)) + "\t" + number);
}

void Recorder::sayPlace(const EventRecord &event) {
  std::string where = callSite();
  if (where.empty())
    return;
  std::lock_guard<std::mutex> guard(lock);
  say("place" + field(uint64_t(event.id)) + field(where));
}

uint64_t Recorder::before(const EventRecord &event, uint64_t tag) {
  switch (event.kind) {
  case EventKind::Launch:
    sayLaunch(event, *reinterpret_cast<const LaunchSpec *>(event.value));
    break;
  case EventKind::Issue:
    if (event.program == EventRecord::kHost)
      sayPlace(event);
    break;
  case EventKind::Update:
    log->lockWord(rank, event.pe, event.offset);
    break;
  case EventKind::Transfer:
    return tag; // when it happens does not matter
  default:
    break;
  }
  log->add(event, rank, /*before=*/true);
  return tag;
}

void Recorder::after(const EventRecord &event, uint64_t) {
  if (event.kind == EventKind::Transfer || event.kind == EventKind::Run)
    return;
  log->add(event, rank, /*before=*/false);
  if (event.kind == EventKind::Update)
    log->unlockWord(rank, event.pe, event.offset);
}

} // namespace nereid::runtime::check
