// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Recorder.cpp - The log, and the words to it ------------------------===//
//
// Accesses that say nothing new are left out: the same bytes by the same line of a
// program of which nobody can have learnt anything since. So are rounds of a loop that
// waits by atomic operations: those that change nothing, when nobody has updated the
// word since the program's last one.
//
// Words are lines of fields between tabs; Words.cpp reads them:
//
//   job          rank  ranks  heap base  heap bytes  profile
//   allocations  from which launch on, then one line each: allocation  offset  bytes
//                name
//   kernel       number  name  whether it is instrumented  vector cores, then one line each: site
//   number  index line  column
//                function  file  text
//   launch       number of the launch  number of the kernel
//   place        number of the host's operation  file:line
//   deadlock     why the job has failed
//
//===----------------------------------------------------------------------===//
#include "check/Recorder.h"

#include "base/Knobs.h"
#include "symmetric/HeapAllocator.h"

#include "nereid/abi.h"
#include "nereid/runtime/KernelDescription.h"

#include <array>
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
  const KernelDescription *description = spec.kernel->description.get();
  std::string text = field(spec.kernel->name) +
                     field(uint64_t(description && description->instrumented)) +
                     field(uint64_t(spec.kernel->lanes));
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

namespace {

/// What one thread of the rank has told of late. A program stays on its thread.
class Recent {
public:
  /// Whether this access of the program's step has not been told yet.
  bool isNew(const void *teller, const EventRecord &e, uint32_t changes) {
    Program &program = find(teller, e);
    program.touched = true;
    const Access access{program.step,
                        e.offset,
                        e.bytes,
                        e.value,
                        e.id,
                        e.site,
                        uint32_t(uint16_t(e.pe)) << 16 | uint32_t(e.how) << 8 | e.flags,
                        changes};
    Access &slot = accesses[hashOf(access) % accesses.size()];
    if (slot == access)
      return false;
    slot = access;
    return true;
  }
  /// Others can learn of what the program did up to now.
  void endStep(const void *teller, const EventRecord &e) { find(teller, e) = begun(teller, e); }

  /// An atomic operation that changes nothing, and has nothing to tell or take since
  /// the last one: the word has been updated `changes` times then and now.
  bool isRepeated(const void *teller, const EventRecord &e, uint32_t changes) {
    Program &program = find(teller, e);
    return !program.touched && program.hasWord && program.offset == e.offset &&
           program.pe == e.pe && program.site == e.site && program.changes == changes;
  }
  void note(const void *teller, const EventRecord &e, uint32_t changes) {
    Program &program = find(teller, e) = begun(teller, e);
    program.hasWord = true;
    program.offset = e.offset;
    program.pe = e.pe;
    program.site = e.site;
    program.changes = changes;
  }

private:
  struct Program {
    const void *teller = nullptr;
    uint32_t launch = 0, program = 0;
    uint64_t step = 0;
    bool touched = false, hasWord = false;
    int16_t pe = 0;
    uint32_t site = 0, changes = 0;
    uint64_t offset = 0;
  };
  struct Access {
    uint64_t step = 0, offset = 0, bytes = 0, stride = 0;
    uint32_t rows = 0, site = 0, what = 0, changes = 0;
    bool operator==(const Access &) const = default;
  };
  static uint64_t hashOf(const Access &a) {
    uint64_t hash = a.step;
    for (uint64_t part : {a.offset, a.bytes ^ a.stride << 32, uint64_t(a.site) << 32 | a.what})
      hash = (hash ^ part) * 0x9e3779b97f4a7c15u, hash ^= hash >> 32;
    return hash;
  }
  Program begun(const void *teller, const EventRecord &e) {
    Program program;
    program.teller = teller;
    program.launch = e.launch;
    program.program = e.program;
    program.step = ++steps;
    return program;
  }
  Program &find(const void *teller, const EventRecord &e) {
    Program &slot = programs[(e.program * 31u + e.launch) % programs.size()];
    if (slot.teller != teller || slot.launch != e.launch || slot.program != e.program)
      slot = begun(teller, e);
    return slot;
  }

  uint64_t steps = 0; ///< never the same one twice
  std::array<Program, 256> programs;
  std::array<Access, 4096> accesses;
};

Recent &recent() {
  static thread_local std::unique_ptr<Recent> mine = std::make_unique<Recent>();
  return *mine;
}

/// Leaves the word as it is, whatever it is.
bool changesNothing(const EventRecord &e) {
  if (!(e.flags & EventRecord::kWrites))
    return true;
  return e.value == 0 && (e.how == NRD_AMO_ADD || e.how == NRD_AMO_OR || e.how == NRD_AMO_XOR);
}

/// Tags of Atomic: whether its second half is to be told.
constexpr uint64_t kTell = 1, kLeaveOut = 2;

} // namespace

uint64_t Recorder::beforeAtomic(const EventRecord &event) {
  log->lockWord(rank, event.pe, event.offset);
  const uint32_t changes = log->changesOf(event.pe, event.offset);
  if (changesNothing(event)) {
    if (recent().isRepeated(this, event, changes))
      return kLeaveOut;
  } else {
    log->noteChange(event.pe, event.offset);
  }
  recent().note(this, event, log->changesOf(event.pe, event.offset));
  log->add(event, rank, /*before=*/true);
  return kTell;
}

uint64_t Recorder::before(const EventRecord &event, uint64_t tag) {
  switch (event.kind) {
  case EventKind::Access:
    if (event.program == EventRecord::kHost) {
      sayPlace(event);
      break;
    }
    // A look at a word is told again when the word has changed.
    if (!recent().isNew(
            this, event,
            event.flags & EventRecord::kVolatile ? log->changesOf(event.pe, event.offset) : 0))
      return tag;
    log->add(event, rank, /*before=*/true);
    return tag;
  case EventKind::Atomic:
    return beforeAtomic(event);
  case EventKind::Launch:
    sayLaunch(event, *reinterpret_cast<const LaunchSpec *>(event.value));
    break;
  case EventKind::Issue:
    if (event.program == EventRecord::kHost)
      sayPlace(event);
    break;
  case EventKind::Update:
    log->lockWord(rank, event.pe, event.offset);
    log->noteChange(event.pe, event.offset);
    break;
  case EventKind::Transfer:
    return tag; // when it happens does not matter
  case EventKind::Wait:
    log->add(event, rank, /*before=*/true); // others learn nothing of it
    return tag;
  default:
    break;
  }
  endStep(event);
  log->add(event, rank, /*before=*/true);
  return tag;
}

/// Of this thread's programs; updates are carried out by anybody.
void Recorder::endStep(const EventRecord &event) {
  if (event.kind != EventKind::Update && event.kind != EventKind::Poll)
    recent().endStep(this, event);
}

void Recorder::after(const EventRecord &event, uint64_t tag) {
  if (event.kind == EventKind::Transfer || event.kind == EventKind::Run)
    return;
  if (event.kind == EventKind::Launch && job.health().code() == StatusCode::Deadlock) {
    std::lock_guard<std::mutex> guard(lock);
    say("deadlock");
  }
  const bool isAtomic = event.kind == EventKind::Atomic && event.how != NRD_AMO_FETCH;
  if (!isAtomic)
    endStep(event);
  if (!isAtomic || tag == kTell)
    log->add(event, rank, /*before=*/false);
  if (event.kind == EventKind::Update || isAtomic)
    log->unlockWord(rank, event.pe, event.offset);
}

} // namespace nereid::runtime::check
