// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Knobs.cpp - Settings from options and environment ------------------===//
//
// Every setting comes from the first that has it: an option of the job
// (JobOptions), the environment, the default of the table below. An environment
// variable that is empty counts as not set. The table says what each may be. `nereid info` and
// docs/environment.md show the table.
//
// At the end stand the hooks by which a binding tells the runtime about its
// language: whether Ctrl-C was pressed, which line called, where print goes.
//
//===----------------------------------------------------------------------===//
#include "base/Knobs.h"

#include "base/Clock.h"
#include "nereid/abi.h"

#include <algorithm>
#include <cctype>
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
      {"NEREID_HEAP_SIZE", "1G", "symmetric heap of each rank; K, M, G, T", KnobKind::Size},
      {"NEREID_TIMEOUT", "30",
       "seconds without any progress of the job after which waits fail; 0 = never",
       KnobKind::Seconds},
      {"NEREID_INIT_TIMEOUT", "60", "seconds that ranks wait for each other at the start",
       KnobKind::Seconds},
      {"NEREID_NUM_THREADS", "0", "worker threads per rank; 0 = cores / ranks", KnobKind::Integer,
       0, kMaxThreadsPerRank},
      {"NEREID_PROFILE", "host",
       "by which machine's rules kernels are written: host, cuda, ascend910b"},
      {"NEREID_SCHEDULE", "fifo",
       "fifo, or random:SEED for the order of programs and late transfers that a seed decides"},
      {"NEREID_RANKS_PER_NODE", "0",
       "ranks that share a node; programs reach other nodes by put, get and "
       "signals only; 0 = all ranks",
       KnobKind::Integer, 0, 1 << 20},
      {"NEREID_TRANSPORT", "auto",
       "what moves bytes between nodes: shared_memory, remote (messages over "
       "sockets; each rank is a node unless NEREID_RANKS_PER_NODE says "
       "otherwise), ucx (the same over UCX), or delayed: and one of these; auto "
       "= delayed:shared_memory, or ucx when ranks are on several machines"},
      {"NEREID_RENDEZVOUS", "",
       "host:port at which ranks of several machines meet: the host of rank 0 and a free port "
       "there"},
      {"NEREID_PORT", "",
       "port at which ranks that torchrun has started on several machines meet on MASTER_ADDR "
       "(unset: the one after MASTER_PORT)"},
      {"NEREID_SECRET", "",
       "a text without which nobody joins a job on several machines; alike on all ranks"},
      {"NEREID_INTERFACE", "",
       "network interface for bytes between machines (unset: the one by which rank 0 is reached)"},
      {"NEREID_NODE_TIMEOUT", "3",
       "seconds after which a machine that says nothing is lost to the job; 0 = never",
       KnobKind::Seconds},
      {"NEREID_UCX_LIBRARY", "libucp.so.0", "UCX, for the transport ucx"},
      {"NEREID_STACK_SIZE", "128K", "stack of one program in a blocking launch; at least 32K",
       KnobKind::Size, 32 * 1024, int64_t(1) << 40},
      {"NEREID_CUDA_DRIVER", "libcuda.so.1", "the library of NVIDIA's driver, for the device cuda"},
      {"NEREID_PIN", "0", "1 = pin each worker thread to a core", KnobKind::Flag},
      {"NEREID_CHECK", "", "log of a checked run (set by `nereid run --check`)"},
      {"NEREID_DETECT_DEADLOCK", "1",
       "0 = rely on NEREID_TIMEOUT alone, for programs that wait for signals "
       "which host threads write",
       KnobKind::Flag},
  };
  return table;
}

static const KnobInfo &findKnob(const char *name) {
  for (const KnobInfo &knob : knobTable())
    if (!std::strcmp(knob.name, name))
      return knob;
  std::abort(); // a variable that is read but has no row
}

std::string knobText(const char *name) {
  const KnobInfo &knob = findKnob(name);
  const char *value = std::getenv(name);
  return value && *value ? value : knob.defaultText;
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

namespace {
/// Takes settings from options, else from the environment, else from their rows, which
/// also say what is allowed. Remembers the first that is not.
class SettingsReader {
public:
  Status problem;

  std::string text(const char *name, const std::optional<std::string> &given = {}) {
    return given ? *given : knobText(name);
  }

  int64_t integer(const char *name, const std::optional<int32_t> &given) {
    std::string text = given ? std::to_string(*given) : knobText(name);
    return within(name, given.has_value(), text, parseInteger(text), "a number");
  }

  uint64_t size(const char *name, const std::optional<uint64_t> &given) {
    std::string text = given ? std::to_string(*given) : knobText(name);
    Expected<uint64_t> bytes = parseByteSize(text);
    std::optional<int64_t> value;
    if (bytes.ok() && *bytes <= uint64_t(INT64_MAX))
      value = int64_t(*bytes);
    return uint64_t(within(name, given.has_value(), text, value, "a size such as 512M"));
  }

  double seconds(const char *name, const std::optional<double> &given = {}) {
    std::string text = given ? std::to_string(*given) : knobText(name);
    std::optional<double> value = given ? given : parseNumber(text);
    if (value && *value >= 0)
      return *value;
    refuse(name, given.has_value(), text, "a number of seconds, 0 or more");
    return 0;
  }

  bool flag(const char *name, const std::optional<bool> &given = {}) {
    if (given)
      return *given;
    std::string text = knobText(name);
    if (text != "0" && text != "1")
      refuse(name, false, text, "0 or 1");
    return text == "1";
  }

  /// What was given in code is named as there: the variable's name without its prefix.
  void refuse(const char *name, bool given, const std::string &text, const std::string &expected) {
    if (!problem.ok())
      return;
    std::string source = name;
    if (given) {
      source = source.substr(std::strlen("NEREID_"));
      std::transform(source.begin(), source.end(), source.begin(),
                     [](unsigned char c) { return char(std::tolower(c)); });
    }
    problem = Status::error(given ? StatusCode::InvalidArgument : StatusCode::Environment,
                            source + "='" + text + "': expected " + expected);
  }

private:
  int64_t within(const char *name, bool given, const std::string &text,
                 std::optional<int64_t> value, std::string expected) {
    const KnobInfo &knob = findKnob(name);
    if (value && *value >= knob.least && *value <= knob.most)
      return *value;
    if (knob.most != INT64_MAX)
      expected += " from " + std::to_string(knob.least) + " to " + std::to_string(knob.most);
    refuse(name, given, text, expected);
    return knob.least;
  }
};
} // namespace

Expected<Settings> resolveSettings(const JobOptions &options) {
  SettingsReader read;
  Settings s;
  uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
  s.heapBytes = read.size("NEREID_HEAP_SIZE", options.heapBytes);
  s.heapBytes = std::max((s.heapBytes + page - 1) / page * page, page);
  s.timeoutSeconds = read.seconds("NEREID_TIMEOUT", options.timeoutSeconds);
  s.initTimeoutSeconds = read.seconds("NEREID_INIT_TIMEOUT", options.initTimeoutSeconds);
  s.nodeTimeoutSeconds = read.seconds("NEREID_NODE_TIMEOUT");
  s.numThreads = int32_t(read.integer("NEREID_NUM_THREADS", options.numThreads));
  s.ranksPerNode = int32_t(read.integer("NEREID_RANKS_PER_NODE", options.ranksPerNode));
  s.transport = read.text("NEREID_TRANSPORT", options.transport);
  s.stackBytes = read.size("NEREID_STACK_SIZE", options.stackBytes);
  s.pinThreads = read.flag("NEREID_PIN", options.pinThreads);
  s.detectDeadlock = read.flag("NEREID_DETECT_DEADLOCK");

  std::string schedule = read.text("NEREID_SCHEDULE", options.schedule);
  if (schedule != "fifo") {
    std::optional<int64_t> seed;
    if (schedule.rfind("random:", 0) == 0)
      seed = parseInteger(std::string_view(schedule).substr(7));
    if (!seed || *seed < 0)
      read.refuse("NEREID_SCHEDULE", options.schedule.has_value(), schedule, "fifo or random:SEED");
    s.randomSchedule = true;
    s.seed = uint64_t(seed.value_or(0));
  }
  if (!read.problem.ok())
    return read.problem;
  Expected<Profile> profile = findProfile(read.text("NEREID_PROFILE", options.profile));
  if (!profile.ok())
    return profile.status();
  s.profile = *profile;
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
