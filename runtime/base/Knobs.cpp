// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Knobs.cpp - Settings from options and environment ------------------===//
//
// Every setting comes from the first that has it: an option of the job
// (JobOptions), the environment, the default of the table below. An environment
// variable that is empty counts as not set. `nereid info` and
// docs/environment.md show the table.
//
// At the end stand the hooks by which a binding tells the runtime about its
// language: whether Ctrl-C was pressed, which line called, where print goes.
//
//===----------------------------------------------------------------------===//
#include "base/Knobs.h"

#include "base/Clock.h"
#include "nereid/abi.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sched.h>
#include <unistd.h>

namespace nereid::runtime {

const std::vector<KnobInfo> &knobTable() {
  static const std::vector<KnobInfo> table = {
      {"NEREID_RANK", "", "rank of this process (set by `nereid run`)"},
      {"NEREID_WORLD_SIZE", "", "ranks of the job (set by `nereid run`)"},
      {"NEREID_LOCAL_RANK", "", "rank among those of this machine (set by `nereid run`)"},
      {"NEREID_JOB", "", "name under which the ranks find each other"},
      {"NEREID_JOB_FD", "", "inherited file descriptor of the job's memory"},
      {"NEREID_HEAP_SIZE", "1G", "symmetric heap of each rank; K, M, G, T"},
      {"NEREID_TIMEOUT", "30",
       "seconds without any progress of the job after which waits fail; "
       "0 = never"},
      {"NEREID_INIT_TIMEOUT", "60",
       "seconds that ranks wait for each other "
       "at the start"},
      {"NEREID_NUM_THREADS", "0", "worker threads per rank; 0 = cores / ranks"},
      {"NEREID_PROFILE", "host",
       "by which machine's rules kernels are written: host, cuda, ascend910b"},
      {"NEREID_SCHEDULE", "fifo",
       "fifo, or random:SEED for the order of "
       "programs and late transfers that a seed "
       "decides"},
      {"NEREID_RANKS_PER_NODE", "0",
       "ranks that share a node; programs reach other nodes by put, get and "
       "signals only; 0 = all ranks"},
      {"NEREID_TRANSPORT", "delayed:shared_memory",
       "what moves bytes between nodes: shared_memory, remote (messages over "
       "sockets; each rank is a node unless NEREID_RANKS_PER_NODE says "
       "otherwise), ucx (the same over UCX), or delayed: and one of these"},
      {"NEREID_UCX_LIBRARY", "libucp.so.0", "UCX, for the transport ucx"},
      {"NEREID_STACK_SIZE", "128K", "stack of one program in a blocking launch"},
      {"NEREID_CUDA_DRIVER", "libcuda.so.1", "the library of NVIDIA's driver, for the device cuda"},
      {"NEREID_PIN", "0", "1 = pin each worker thread to a core"},
      {"NEREID_CHECK", "", "log of a checked run (set by `nereid run --check`)"},
      {"NEREID_DETECT_DEADLOCK", "1",
       "0 = rely on NEREID_TIMEOUT alone, for programs that wait for signals "
       "which host threads write"},
  };
  return table;
}

std::string knobText(const char *name) {
  if (const char *value = std::getenv(name))
    if (*value)
      return value;
  for (const KnobInfo &knob : knobTable())
    if (!std::strcmp(knob.name, name))
      return knob.defaultText;
  return "";
}

std::optional<int64_t> parseInteger(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

static std::optional<double> parseNumber(std::string_view text) {
  std::string copy(text);
  char *end = nullptr;
  errno = 0;
  double value = std::strtod(copy.c_str(), &end);
  if (copy.empty() || end != copy.c_str() + copy.size() || errno || !std::isfinite(value))
    return std::nullopt;
  return value;
}

Expected<uint64_t> parseByteSize(std::string_view text) {
  std::string_view number = text, suffix;
  size_t split = text.find_first_not_of("0123456789.");
  if (split != std::string_view::npos) {
    number = text.substr(0, split);
    suffix = text.substr(split);
  }
  while (!suffix.empty() && suffix.front() == ' ')
    suffix.remove_prefix(1);
  int shift = 0;
  bool good = true;
  if (!suffix.empty()) {
    switch (suffix.front()) {
    case 'k':
    case 'K':
      shift = 10;
      break;
    case 'm':
    case 'M':
      shift = 20;
      break;
    case 'g':
    case 'G':
      shift = 30;
      break;
    case 't':
    case 'T':
      shift = 40;
      break;
    case 'b':
    case 'B':
      break;
    default:
      good = false;
    }
    std::string_view rest = suffix.substr(1);
    good = good && (rest.empty() || (shift && (rest == "B" || rest == "b" || rest == "iB")));
  }
  std::optional<double> value = parseNumber(number);
  double bytes = value ? *value * double(uint64_t(1) << shift) : -1;
  if (!good || !(bytes >= 0) || bytes > 1e17)
    return Status::error(StatusCode::InvalidArgument,
                         "'" + std::string(text) +
                             "' is not a valid size; write bytes or a number with K, "
                             "M, G or T, e.g. 512M");
  return uint64_t(bytes);
}

Expected<Profile> findProfile(std::string_view name) {
  if (const TargetProfile *profile = findTargetProfile(name))
    return Profile(*profile);
  return Status::error(StatusCode::InvalidArgument, "unknown profile '" + std::string(name) +
                                                        "'; known: " + targetProfileNames());
}

static Status knobError(const char *name, const std::string &text, const std::string &expected) {
  return Status::error(StatusCode::Environment,
                       std::string(name) + "='" + text + "': expected " + expected);
}

Expected<Settings> resolveSettings(const JobOptions &options) {
  Settings s;
  if (options.heapBytes) {
    s.heapBytes = *options.heapBytes;
  } else {
    Expected<uint64_t> bytes = parseByteSize(knobText("NEREID_HEAP_SIZE"));
    if (!bytes.ok())
      return Status::error(StatusCode::Environment,
                           "NEREID_HEAP_SIZE: " + bytes.status().message());
    s.heapBytes = *bytes;
  }
  uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
  s.heapBytes = (s.heapBytes + page - 1) / page * page;
  if (s.heapBytes == 0)
    s.heapBytes = page;

  auto seconds = [&](const char *name, const std::optional<double> &given, double &out) -> Status {
    if (given) {
      out = *given;
      if (!(out >= 0))
        return Status::error(StatusCode::InvalidArgument, "a timeout cannot be negative");
      return {};
    }
    std::string text = knobText(name);
    std::optional<double> value = parseNumber(text);
    if (!value || *value < 0)
      return knobError(name, text, "a number of seconds");
    out = *value;
    return {};
  };
  if (Status st = seconds("NEREID_TIMEOUT", options.timeoutSeconds, s.timeoutSeconds); !st.ok())
    return st;
  if (Status st = seconds("NEREID_INIT_TIMEOUT", options.initTimeoutSeconds, s.initTimeoutSeconds);
      !st.ok())
    return st;

  if (options.numThreads) {
    s.numThreads = *options.numThreads;
    if (s.numThreads < 1 || s.numThreads > kMaxThreadsPerRank)
      return Status::error(StatusCode::InvalidArgument, "worker threads per rank must be 1.." +
                                                            std::to_string(kMaxThreadsPerRank));
  } else {
    std::string text = knobText("NEREID_NUM_THREADS");
    std::optional<int64_t> value = parseInteger(text);
    if (!value || *value < 0 || *value > kMaxThreadsPerRank)
      return knobError("NEREID_NUM_THREADS", text,
                       "a number from 0 to " + std::to_string(kMaxThreadsPerRank));
    s.numThreads = int32_t(*value);
  }

  Expected<Profile> profile =
      findProfile(options.profile ? *options.profile : knobText("NEREID_PROFILE"));
  if (!profile.ok())
    return profile.status();
  s.profile = *profile;

  std::string schedule = options.schedule ? *options.schedule : knobText("NEREID_SCHEDULE");
  if (schedule.rfind("random:", 0) == 0) {
    std::optional<int64_t> seed = parseInteger(schedule.substr(7));
    if (!seed || *seed < 0)
      return knobError("NEREID_SCHEDULE", schedule, "fifo or random:SEED");
    s.randomSchedule = true;
    s.seed = uint64_t(*seed);
  } else if (schedule != "fifo") {
    return knobError("NEREID_SCHEDULE", schedule, "fifo or random:SEED");
  }

  if (options.ranksPerNode) {
    s.ranksPerNode = *options.ranksPerNode;
    if (s.ranksPerNode < 0)
      return Status::error(StatusCode::InvalidArgument, "ranks per node cannot be negative");
  } else {
    std::string text = knobText("NEREID_RANKS_PER_NODE");
    std::optional<int64_t> value = parseInteger(text);
    if (!value || *value < 0 || *value > 1 << 20)
      return knobError("NEREID_RANKS_PER_NODE", text, "a number of ranks (0 = all on one node)");
    s.ranksPerNode = int32_t(*value);
  }

  s.transport = options.transport ? *options.transport : knobText("NEREID_TRANSPORT");

  if (options.stackBytes) {
    s.stackBytes = *options.stackBytes;
  } else {
    std::string text = knobText("NEREID_STACK_SIZE");
    Expected<uint64_t> bytes = parseByteSize(text);
    if (!bytes.ok())
      return knobError("NEREID_STACK_SIZE", text, "a size such as 128K");
    s.stackBytes = *bytes;
  }
  // Less does not even hold the formatting of a print.
  if (s.stackBytes < 32 * 1024)
    s.stackBytes = 32 * 1024;

  if (options.pinThreads) {
    s.pinThreads = *options.pinThreads;
  } else {
    std::string text = knobText("NEREID_PIN");
    if (text != "0" && text != "1")
      return knobError("NEREID_PIN", text, "0 or 1");
    s.pinThreads = text == "1";
  }
  std::string detect = knobText("NEREID_DETECT_DEADLOCK");
  if (detect != "0" && detect != "1")
    return knobError("NEREID_DETECT_DEADLOCK", detect, "0 or 1");
  s.detectDeadlock = detect == "1";
  return s;
}

int32_t availableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    int32_t n = CPU_COUNT(&set);
    if (n > 0)
      return n;
  }
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? int32_t(n) : 1;
}

void sleepNs(uint64_t ns) {
  timespec ts{time_t(ns / 1000000000u), long(ns % 1000000000u)};
  nanosleep(&ts, nullptr);
}

//===----------------------------------------------------------------------===//
// Hooks. Held by shared pointers so that a call in progress survives a change.
//===----------------------------------------------------------------------===//

namespace {
struct Hooks {
  std::mutex lock;
  std::shared_ptr<std::function<bool()>> interrupt;
  std::shared_ptr<std::function<std::string()>> callSite;
  std::shared_ptr<std::function<void(std::string_view)>> print;
  std::mutex printing;
};
} // namespace

static Hooks &hooks() {
  static Hooks *instance = new Hooks; // outlives every thread
  return *instance;
}

void setInterruptCheck(std::function<bool()> check) {
  Hooks &h = hooks();
  std::lock_guard<std::mutex> guard(h.lock);
  h.interrupt = check ? std::make_shared<std::function<bool()>>(std::move(check)) : nullptr;
}

void setCallSite(std::function<std::string()> site) {
  Hooks &h = hooks();
  std::lock_guard<std::mutex> guard(h.lock);
  h.callSite = site ? std::make_shared<std::function<std::string()>>(std::move(site)) : nullptr;
}

std::string callSite() {
  Hooks &h = hooks();
  std::shared_ptr<std::function<std::string()>> site;
  {
    std::lock_guard<std::mutex> guard(h.lock);
    site = h.callSite;
  }
  return site ? (*site)() : std::string();
}

void setPrintSink(std::function<void(std::string_view)> sink) {
  Hooks &h = hooks();
  std::lock_guard<std::mutex> guard(h.lock);
  h.print =
      sink ? std::make_shared<std::function<void(std::string_view)>>(std::move(sink)) : nullptr;
}

bool interruptRequested() {
  Hooks &h = hooks();
  std::shared_ptr<std::function<bool()>> check;
  {
    std::lock_guard<std::mutex> guard(h.lock);
    check = h.interrupt;
  }
  return check && (*check)();
}

void printLine(std::string_view text) {
  Hooks &h = hooks();
  std::shared_ptr<std::function<void(std::string_view)>> sink;
  {
    std::lock_guard<std::mutex> guard(h.lock);
    sink = h.print;
  }
  std::lock_guard<std::mutex> guard(h.printing);
  if (sink) {
    (*sink)(text);
    return;
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

uint32_t abiVersion() { return NRD_ABI_VERSION; }

} // namespace nereid::runtime
