// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch/Meeting.h"

#include "base/Clock.h"
#include "base/Process.h"
#include "base/Random.h"
#include "base/Sha256.h"
#include "control/ControlPlanes.h"
#include "launch/Rendezvous.h"
#include "launch/Waiting.h"
#include "nereid/abi.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <ifaddrs.h>
#include <map>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nereid::runtime {

namespace {

/// "!NRDMEET", then what both sides must have alike to understand each other.
constexpr uint64_t kMagic = 0x544545'4d44524e21;
constexpr uint32_t kVersion = 1;
/// How long a caller may take to say who it is.
constexpr uint64_t kCallerNs = 5000000000;
/// How long rank 0 stays to tell what is wrong.
constexpr uint64_t kLateNs = 2000000000;
constexpr uint64_t kRetryNs = 20000000;
constexpr size_t kMaxTextBytes = 1 << 20;

/// Closes a socket at the end of its scope.
struct Socket {
  int fd = -1;
  explicit Socket(int fd = -1) : fd(fd) {}
  Socket(Socket &&other) : fd(std::exchange(other.fd, -1)) {}
  Socket &operator=(Socket &&other) {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Socket() {
    if (fd >= 0)
      close(fd);
  }
  int release() { return std::exchange(fd, -1); }
};

struct Greeting {
  uint64_t magic = kMagic;
  uint32_t version = kVersion;
  uint32_t unused = 0;
  std::array<uint8_t, 16> number{};
};
static_assert(sizeof(Greeting) == 32);

/// Lines "name=value", in which everything is that the two sides tell each other.
class Lines {
public:
  Lines() = default;
  explicit Lines(const std::string &text) {
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      if (const size_t split = line.find('='); split != std::string::npos)
        rows.emplace_back(line.substr(0, split), line.substr(split + 1));
      at = end + 1;
    }
  }
  void add(const std::string &name, std::string value) {
    std::replace(value.begin(), value.end(), '\n', ' ');
    rows.emplace_back(name, std::move(value));
  }
  void add(const std::string &name, int64_t value) { add(name, std::to_string(value)); }
  std::string get(const std::string &name) const {
    for (const auto &[key, value] : rows)
      if (key == name)
        return value;
    return {};
  }
  int64_t number(const std::string &name) const { return parseInteger(get(name)).value_or(-1); }
  std::string text() const {
    std::string out;
    for (const auto &[key, value] : rows)
      out += key + "=" + value + "\n";
    return out;
  }
  std::vector<std::pair<std::string, std::string>> rows;
};

/// What begins the name of a row that all ranks must have alike.
constexpr char kAlike[] = "alike:";

std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

std::string machineName() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat network;
  const uint64_t inode = stat("/proc/self/ns/net", &network) == 0 ? uint64_t(network.st_ino) : 0;
  return boot + "." + std::to_string(inode) + "." + std::to_string(getuid());
}

std::string hostName() {
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  return *name ? name : "?";
}

bool sendAll(int fd, std::string_view bytes, uint64_t deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
      if (waitFor(fd, POLLOUT, deadline) != 1)
        return false;
      continue;
    }
    if (sent < 0)
      return false;
    bytes.remove_prefix(size_t(sent));
  }
  return true;
}

/// 1 all there, 0 time is up or the other side is gone, -1 interrupted.
int receiveAll(int fd, void *to, size_t bytes, uint64_t deadline) {
  char *at = static_cast<char *>(to);
  while (bytes) {
    const int ready = waitFor(fd, POLLIN, deadline);
    if (ready != 1)
      return ready;
    const ssize_t got = recv(fd, at, bytes, 0);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return 0;
    at += got;
    bytes -= size_t(got);
  }
  return 1;
}

/// A text with its length before it and the proof behind it.
std::string sealed(const std::string &secret, std::string_view number, const std::string &text) {
  const uint32_t bytes = uint32_t(text.size());
  const Digest proof = keyedHash(secret, std::string(number) + text);
  std::string out(reinterpret_cast<const char *>(&bytes), sizeof(bytes));
  out += text;
  return out.append(reinterpret_cast<const char *>(proof.data()), proof.size());
}

int receiveSealed(int fd, const std::string &secret, std::string_view number, uint64_t deadline,
                  std::string &text, bool &proven) {
  uint32_t bytes = 0;
  if (int got = receiveAll(fd, &bytes, sizeof(bytes), deadline); got != 1)
    return got;
  if (bytes > kMaxTextBytes)
    return 0;
  text.resize(bytes);
  if (int got = receiveAll(fd, text.data(), bytes, deadline); got != 1)
    return got;
  Digest proof;
  if (int got = receiveAll(fd, proof.data(), proof.size(), deadline); got != 1)
    return got;
  proven = isSame(proof, keyedHash(secret, std::string(number) + text));
  return 1;
}

std::string_view bytesOf(const Greeting &greeting) {
  return {reinterpret_cast<const char *>(&greeting), sizeof(greeting)};
}

void tune(int fd, double timeoutSeconds) {
  const int on = 1, idle = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof(idle));
  if (const unsigned ms = unsigned(timeoutSeconds * 1000))
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
}

/// The interface whose address is this end's; "all", as UCX calls them, when none has it.
std::string interfaceOf(int fd) {
  sockaddr_storage own{};
  socklen_t size = sizeof(own);
  ifaddrs *all = nullptr;
  std::string found;
  if (getsockname(fd, reinterpret_cast<sockaddr *>(&own), &size) != 0 || getifaddrs(&all) != 0)
    return "all";
  for (const ifaddrs *entry = all; entry && found.empty(); entry = entry->ifa_next) {
    if (!entry->ifa_addr || entry->ifa_addr->sa_family != own.ss_family)
      continue;
    const bool same =
        own.ss_family == AF_INET
            ? reinterpret_cast<const sockaddr_in *>(entry->ifa_addr)->sin_addr.s_addr ==
                  reinterpret_cast<const sockaddr_in &>(own).sin_addr.s_addr
            : own.ss_family == AF_INET6 &&
                  !std::memcmp(&reinterpret_cast<const sockaddr_in6 *>(entry->ifa_addr)->sin6_addr,
                               &reinterpret_cast<const sockaddr_in6 &>(own).sin6_addr,
                               sizeof(in6_addr));
    if (same)
      found = entry->ifa_name;
  }
  freeifaddrs(all);
  return found.empty() ? "all" : found;
}

/// One rank's way into the job.
class Meeting {
public:
  Meeting(const RankInfo &info, const Settings &settings, const std::string &device,
          uint64_t heapBytes);

  /// Who is where; with the sockets of a rank that speaks for its machine.
  Expected<MachineLinks> run() { return info.rank == 0 ? serve() : call(); }
  /// Another one for each job.
  std::string jobName;

private:
  struct Caller {
    Socket socket;
    Lines hello;
    bool proven = false;
    Greeting greeting;
  };

  Status resolve(addrinfo *&found) const;
  Status check(const Lines &hello, const std::vector<std::unique_ptr<Caller>> &callers) const;
  Status settle(const std::vector<std::unique_ptr<Caller>> &callers, Lines &verdict) const;
  Expected<MachineLinks> understand(const Lines &verdict) const;
  std::string nameOf(const Lines &hello) const {
    return "rank " + hello.get("rank") + " on host " + hello.get("host");
  }
  std::unique_ptr<Caller> hear(int listener, uint64_t until);
  Status late(const std::vector<std::unique_ptr<Caller>> &callers) const;
  Expected<MachineLinks> serve();
  Expected<MachineLinks> call();

  const RankInfo &info;
  const Settings &settings;
  const std::string secret;
  std::string host, port;
  Lines own;
  uint64_t deadline;
  bool stopped = false; ///< Ctrl-C has come while a caller spoke
};

Meeting::Meeting(const RankInfo &info, const Settings &settings, const std::string &device,
                 uint64_t heapBytes)
    : info(info), settings(settings),
      secret(knobText("NEREID_SECRET").empty() ? info.meetAt : knobText("NEREID_SECRET")) {
  const size_t colon = info.meetAt.rfind(':');
  host = info.meetAt.substr(0, colon);
  port = info.meetAt.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  own.add("rank", info.rank);
  own.add("process", getpid());
  own.add("machine", machineName());
  own.add("host", hostName());
  // All that follows must be alike; a name is what to set alike, or what is of another version.
  auto alike = [&](const char *name, const std::string &value) {
    own.add(kAlike + std::string(name), value);
  };
  alike("the number of ranks", std::to_string(info.worldSize));
  alike("the version of Nereid", std::to_string(NRD_ABI_VERSION));
  for (const ControlPlaneRow &row : controlPlaneTable())
    if (row.connect)
      alike("the version of Nereid's control plane", std::to_string(row.version));
  alike("the device", device);
  alike("NEREID_HEAP_SIZE", std::to_string(heapBytes));
  alike("NEREID_RANKS_PER_NODE", std::to_string(settings.ranksPerNode));
  alike("NEREID_SCHEDULE",
        settings.randomSchedule ? "random:" + std::to_string(settings.seed) : "fifo");
  alike("NEREID_PROFILE", settings.profile.name);
  alike("NEREID_TRANSPORT", settings.transport);
  alike("NEREID_NODE_TIMEOUT", seconds(settings.nodeTimeoutSeconds));
  const double limit = settings.initTimeoutSeconds > 0 ? settings.initTimeoutSeconds : 3e7;
  deadline = nowNs() + uint64_t(limit * 1e9);
}

Status Meeting::resolve(addrinfo *&found) const {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  if (int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found))
    return Status::error(StatusCode::Bootstrap,
                         "there is no address of '" + host + "', where " + info.meetAtFrom +
                             " says that the ranks meet: " + gai_strerror(error));
  return {};
}

Status Meeting::check(const Lines &hello,
                      const std::vector<std::unique_ptr<Caller>> &callers) const {
  for (const auto &[name, value] : own.rows) {
    if (name.rfind(kAlike, 0) != 0 || hello.get(name) == value)
      continue;
    const std::string what = name.substr(sizeof(kAlike) - 1), other = hello.get(name);
    auto has = [&](const std::string &v) {
      return what.rfind("NEREID_", 0) == 0 ? what + "=" + v : "'" + v + "' for " + what;
    };
    return Status::error(
        StatusCode::Mismatch,
        nameOf(hello) + " has " + has(other) + ", " + nameOf(own) + " has " + has(value) +
            (what.rfind("NEREID_", 0) == 0 ? "; set it alike on all hosts"
                                           : "; all ranks of a job must have the same"),
        int32_t(hello.number("rank")));
  }
  const int64_t rank = hello.number("rank");
  const bool inside = rank >= 0 && rank < info.worldSize;
  if (!inside || rank == 0 || callers[size_t(rank)])
    return Status::error(
        StatusCode::Environment,
        "two processes are rank " + hello.get("rank") + " of this job: process " +
            hello.get("process") + " on host " + hello.get("host") +
            (inside ? " and process " +
                          (rank == 0 ? own : callers[size_t(rank)]->hello).get("process") +
                          " on host " + (rank == 0 ? own : callers[size_t(rank)]->hello).get("host")
                    : std::string()));
  return {};
}

/// Which ranks are on one machine: as many on each, in ascending order, but for the last.
Status Meeting::settle(const std::vector<std::unique_ptr<Caller>> &callers, Lines &verdict) const {
  auto helloOf = [&](int32_t r) -> const Lines & { return r ? callers[size_t(r)]->hello : own; };
  std::map<std::string, std::string> ranks; // by machine
  std::vector<std::string> order;
  int32_t perMachine = 0;
  bool regular = true;
  for (int32_t r = 0; r < info.worldSize; ++r) {
    const std::string machine = helloOf(r).get("machine");
    std::string &list = ranks[machine];
    if (list.empty()) {
      order.push_back(machine);
      verdict.add("host", helloOf(r).get("host"));
      if (order.size() == 2)
        perMachine = r;
      regular = regular && (order.size() == 1 || r % perMachine == 0);
    } else {
      regular = regular && order.back() == machine && (order.size() == 1 || r % perMachine != 0);
    }
    list += (list.empty() ? "" : ", ") + std::to_string(r);
  }
  if (!regular) {
    std::string where;
    for (size_t i = 0; i < order.size() && i < 8; ++i)
      where +=
          (i ? "; host " : "host ") + verdict.rows[i].second + " has the ranks " + ranks[order[i]];
    return Status::error(StatusCode::Environment,
                         "consecutive ranks must share a host, as many on each, but for the last "
                         "one: " +
                             where +
                             " (mpirun --map-by slot and srun --distribution=block place them so)");
  }
  verdict.add("per_machine", order.size() == 1 ? info.worldSize : perMachine);
  std::array<uint8_t, 8> number;
  if (getrandom(number.data(), number.size(), 0) != ssize_t(number.size()))
    return systemError("getrandom", errno);
  char name[20];
  std::snprintf(name, sizeof(name), "%016llx",
                (unsigned long long)hashText({reinterpret_cast<const char *>(number.data()), 8}));
  verdict.add("job", name);
  return {};
}

Expected<MachineLinks> Meeting::understand(const Lines &verdict) const {
  MachineLinks links;
  links.ranksPerMachine = int32_t(verdict.number("per_machine"));
  if (links.ranksPerMachine < 1 || links.ranksPerMachine > info.worldSize)
    return Status::error(StatusCode::Bootstrap, "rank 0 has sent what makes no sense", 0);
  links.machine = info.rank / links.ranksPerMachine;
  for (const auto &[name, value] : verdict.rows)
    if (name == "host")
      links.hosts.push_back(value);
  links.interface = knobText("NEREID_INTERFACE");
  links.timeoutSeconds = settings.nodeTimeoutSeconds;
  return links;
}

Status Meeting::late(const std::vector<std::unique_ptr<Caller>> &callers) const {
  std::string who, hosts;
  int32_t missing = 0;
  for (int32_t r = 1; r < info.worldSize; ++r)
    if (!callers[size_t(r)] && missing++ < 16)
      who += (who.empty() ? "" : ", ") + std::to_string(r);
  for (const auto &caller : callers)
    if (caller && hosts.find(caller->hello.get("host")) == std::string::npos)
      hosts += ", " + caller->hello.get("host");
  return Status::error(StatusCode::Bootstrap,
                       "after " + seconds(settings.initTimeoutSeconds) + " s " +
                           std::to_string(missing) + " of " + std::to_string(info.worldSize) +
                           " ranks have not joined at " + info.meetAt + ": rank " + who +
                           (missing > 16 ? ", ..." : "") + "; heard from host " + own.get("host") +
                           hosts + " (NEREID_INIT_TIMEOUT sets the limit)");
}

/// Who has called, and what it says; null when it does not say who it is.
std::unique_ptr<Meeting::Caller> Meeting::hear(int listener, uint64_t until) {
  auto caller = std::make_unique<Caller>();
  caller->socket = Socket(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (caller->socket.fd < 0)
    return nullptr;
  const uint64_t limit = std::min(until, nowNs() + kCallerNs);
  Greeting &greeting = caller->greeting;
  std::string hello;
  if (getrandom(greeting.number.data(), greeting.number.size(), 0) < 0 ||
      !sendAll(caller->socket.fd, bytesOf(greeting), limit))
    return nullptr;
  const int got =
      receiveSealed(caller->socket.fd, secret, bytesOf(greeting), limit, hello, caller->proven);
  stopped = stopped || got < 0;
  if (got != 1)
    return nullptr;
  caller->hello = Lines(hello);
  return caller;
}

Expected<MachineLinks> Meeting::serve() {
  addrinfo *found = nullptr;
  if (Status st = resolve(found); !st.ok())
    return st;
  Socket listener;
  int error = 0;
  for (const addrinfo *at = found; at && listener.fd < 0; at = at->ai_next) {
    Socket trial(socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    setsockopt(trial.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (trial.fd >= 0 && bind(trial.fd, at->ai_addr, at->ai_addrlen) == 0 &&
        listen(trial.fd, std::min(info.worldSize, 1024)) == 0)
      listener = std::move(trial);
    else
      error = errno;
  }
  freeaddrinfo(found);
  if (listener.fd < 0)
    return Status::error(
        StatusCode::Bootstrap,
        "rank 0 on host " + own.get("host") + " cannot listen at " + info.meetAt + ", which " +
            info.meetAtFrom + " gives: " + std::strerror(error) +
            (error == EADDRNOTAVAIL ? "; it must be an address of the host on which rank 0 runs"
             : error == EADDRINUSE  ? "; another job, or another rank 0 of this one, listens there"
                                    : ""),
        0);
  std::vector<std::unique_ptr<Caller>> callers{size_t(info.worldSize)};
  std::unique_ptr<Caller> odd; // the caller that did not fit
  Status wrong;
  for (int32_t missing = info.worldSize - 1; missing > 0 && wrong.ok();) {
    const int ready = waitFor(listener.fd, POLLIN, deadline);
    if (ready != 1) {
      wrong = ready < 0 ? interruptedMeeting() : late(callers);
      break;
    }
    std::unique_ptr<Caller> caller = hear(listener.fd, deadline);
    if (stopped)
      wrong = interruptedMeeting();
    if (!caller)
      continue;
    if (!caller->proven)
      wrong = Status::error(StatusCode::Mismatch, nameOf(caller->hello) +
                                                      " has another NEREID_SECRET than " +
                                                      nameOf(own) + "; set it alike on all hosts");
    else
      wrong = check(caller->hello, callers);
    if (!wrong.ok()) {
      odd = std::move(caller);
      break;
    }
    const size_t rank = size_t(caller->hello.number("rank"));
    callers[rank] = std::move(caller);
    --missing;
  }
  Lines verdict;
  if (wrong.ok())
    wrong = settle(callers, verdict);
  if (!wrong.ok()) {
    verdict = {};
    verdict.add("code", int64_t(wrong.code()));
    verdict.add("wrong", wrong.message());
  }
  callers.push_back(std::move(odd));
  int32_t told = 0;
  auto tell = [&](const Caller &caller) {
    told += sendAll(
        caller.socket.fd,
        sealed(secret, std::string(bytesOf(caller.greeting)) + caller.hello.text(), verdict.text()),
        nowNs() + kCallerNs);
  };
  for (const auto &caller : callers)
    if (caller)
      tell(*caller);
  // Who comes a moment later hears it, too, instead of waiting in vain.
  for (const uint64_t end = nowNs() + kLateNs; !wrong.ok() && told < info.worldSize - 1;) {
    if (waitFor(listener.fd, POLLIN, end) != 1)
      break;
    if (std::unique_ptr<Caller> caller = hear(listener.fd, end))
      tell(*caller);
  }
  if (!wrong.ok())
    return wrong;
  jobName = verdict.get("job");
  Expected<MachineLinks> links = understand(verdict);
  if (!links.ok())
    return links;
  for (int32_t r = links->ranksPerMachine; r < info.worldSize; r += links->ranksPerMachine) {
    const int fd = callers[size_t(r)]->socket.release();
    tune(fd, settings.nodeTimeoutSeconds);
    if (links->interface.empty())
      links->interface = interfaceOf(fd);
    links->sockets.push_back(fd);
  }
  return links;
}

Expected<MachineLinks> Meeting::call() {
  addrinfo *found = nullptr;
  if (Status st = resolve(found); !st.ok())
    return st;
  Socket s;
  int error = 0;
  while (s.fd < 0) {
    for (const addrinfo *at = found; at && s.fd < 0; at = at->ai_next) {
      Socket trial(socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (trial.fd < 0 ||
          (connect(trial.fd, at->ai_addr, at->ai_addrlen) != 0 && errno != EINPROGRESS)) {
        error = errno;
        continue;
      }
      if (waitFor(trial.fd, POLLOUT, std::min(deadline, nowNs() + kCallerNs)) < 0) {
        freeaddrinfo(found);
        return interruptedMeeting();
      }
      socklen_t size = sizeof(error);
      sockaddr_storage peer;
      socklen_t peerSize = sizeof(peer);
      if (getsockopt(trial.fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0)
        continue;
      if (getpeername(trial.fd, reinterpret_cast<sockaddr *>(&peer), &peerSize) == 0)
        s = std::move(trial);
      else
        error = ETIMEDOUT;
    }
    if (s.fd >= 0)
      break;
    if (nowNs() >= deadline || interruptRequested()) {
      freeaddrinfo(found);
      return nowNs() < deadline
                 ? interruptedMeeting()
                 : Status::error(StatusCode::Bootstrap,
                                 "after " + seconds(settings.initTimeoutSeconds) + " s rank " +
                                     std::to_string(info.rank) + " on host " + own.get("host") +
                                     " has not reached rank 0 at " + info.meetAt + ", which " +
                                     info.meetAtFrom + " gives: " + std::strerror(error) +
                                     " (is rank 0 there, and does a firewall let the port "
                                     "through? NEREID_INIT_TIMEOUT sets the limit)",
                                 0);
    }
    sleepNs(kRetryNs);
  }
  freeaddrinfo(found);
  auto ended = [&](int got, const char *text) {
    return got < 0 ? interruptedMeeting() : Status::error(StatusCode::Bootstrap, text, 0);
  };
  Greeting greeting;
  if (int got = receiveAll(s.fd, &greeting, sizeof(greeting), deadline + kCallerNs); got != 1)
    return ended(got, "rank 0 ended while the ranks were joining");
  if (greeting.magic != kMagic || greeting.version != kVersion)
    return Status::error(StatusCode::Bootstrap,
                         "what listens at " + info.meetAt +
                             " is no rank 0 of this version of Nereid; " + info.meetAtFrom +
                             " must give a port that nobody else uses",
                         0);
  const std::string hello = own.text();
  if (!sendAll(s.fd, sealed(secret, bytesOf(greeting), hello), deadline))
    return ended(0, "rank 0 ended while the ranks were joining");
  std::string text;
  bool proven = false;
  // Rank 0 has the same time limit and says so itself when it is over.
  if (int got = receiveSealed(s.fd, secret, std::string(bytesOf(greeting)) + hello,
                              deadline + kCallerNs, text, proven);
      got != 1)
    return ended(got, "rank 0 ended while the ranks were joining");
  const Lines verdict(text);
  if (!verdict.get("wrong").empty())
    return Status::error(StatusCode(verdict.number("code")), verdict.get("wrong"));
  if (!proven)
    return Status::error(StatusCode::Mismatch, "rank 0 at " + info.meetAt +
                                                   " has another NEREID_SECRET than " +
                                                   nameOf(own));
  jobName = verdict.get("job");
  Expected<MachineLinks> links = understand(verdict);
  if (!links.ok())
    return links;
  if (links->interface.empty())
    links->interface = interfaceOf(s.fd);
  if (info.rank % links->ranksPerMachine == 0) {
    tune(s.fd, settings.nodeTimeoutSeconds);
    links->sockets.push_back(s.release());
  }
  return links;
}

} // namespace

Expected<std::shared_ptr<ControlPlane>> meetMachines(const RankInfo &info, const Settings &settings,
                                                     const std::string &device) {
  const ControlPlaneRow *row = nullptr;
  for (const ControlPlaneRow &candidate : controlPlaneTable())
    if (candidate.connect && !row)
      row = &candidate;
  if (!row)
    return Status::error(StatusCode::Environment, "this build has no control plane for jobs on "
                                                  "several machines");
  std::shared_ptr<ControlPlane> memory;
  if (info.segmentFd >= 0) {
    auto made = localControlPlane().attach(info.segmentFd);
    if (!made.ok())
      return made.status();
    memory = *made;
  }
  Meeting meeting(info, settings, device, memory ? memory->heapBytes() : settings.heapBytes);
  Expected<MachineLinks> links = meeting.run();
  if (!links.ok())
    return links.status();
  const int32_t first = links->machine * links->ranksPerMachine;
  const int32_t here = std::min(links->ranksPerMachine, info.worldSize - first);
  auto closeAll = [&](Status status) {
    for (int fd : links->sockets)
      close(fd);
    return status;
  };
  if (!memory) {
    RankInfo local = info;
    local.rank = info.rank - first;
    local.worldSize = here;
    local.jobKey = "meeting;" + meeting.jobName;
    auto made = here == 1 ? localControlPlane().create(info.worldSize, settings.heapBytes)
                          : rendezvous(local, settings.heapBytes, settings.initTimeoutSeconds,
                                       info.worldSize);
    if (!made.ok())
      return closeAll(made.status());
    memory = *made;
  }
  if (here == info.worldSize)
    return memory;
  const int fd = fcntl(memory->descriptor(), F_DUPFD_CLOEXEC, 0);
  if (fd < 0)
    return closeAll(systemError("duplicating the descriptor of the job's memory", errno));
  return row->connect(fd, std::move(*links));
}

} // namespace nereid::runtime
