// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobLauncher.cpp - Starts, watches and stops the ranks --------------===//
//
// One process, the launcher, that forks the ranks and then waits in one poll()
// for their output, their ends and signals; handlers write a byte into a pipe
// and do nothing else.
//
// Starting: everything that allocates is done before fork(), so the child needs
// only calls that are safe there. Whether exec() worked comes back through a
// pipe that exec closes: an error number, or nothing. The job's memory exists
// before the first rank, which inherits its descriptor; ranks that start late
// or never are no special case.
//
// Each rank leads a process group of its own: what it has started ends with it,
// and a Ctrl-C in the terminal reaches ranks only through the launcher, once.
//
// Ending:
//
//   a rank ends badly        it is to blame; the others have graceSeconds to report, then
//                            SIGTERM, then SIGKILL
//   a signal for the job     goes to all ranks; after graceSeconds, or when it comes once
//                            more, SIGKILL
//   all have ended           what is left in their pipes is read for a second at most: a
//                            process that a rank has detached may hold one open for ever
//
// The rank that ends first need not be the one that went wrong: one that left
// the job made the others fail, who may be faster. The control plane knows whom
// the failure is about (blamedRank), and the blame moves there as long as
// nobody had to be told to stop.
//
//===----------------------------------------------------------------------===//
#include "nereid/runtime/JobLauncher.h"

#include "base/Clock.h"
#include "base/Knobs.h"
#include "base/Process.h"
#include "control/ControlPlanes.h"
#include "transport/Transports.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace nereid::runtime {

namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// A TCP port of this machine that nobody listens on now, for what the ranks start
/// themselves: torch's store, for one. Errors: SystemError.
Expected<uint16_t> freePort() {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return systemError("socket", errno);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  sockaddr *generic = reinterpret_cast<sockaddr *>(&address);
  int error = bind(fd, generic, size) != 0 || getsockname(fd, generic, &size) != 0 ? errno : 0;
  close(fd);
  if (error)
    return systemError("finding a free port", error);
  return ntohs(address.sin_port);
}

/// Who a rank is: for this runtime, and under the names that torch.distributed reads. `rank` is
/// the number among the `here` ranks of this host. What an outer job has set for its own ranks is
/// taken away.
Variables variablesOf(int32_t rank, int32_t here, const HostShare &share, const std::string &job,
                      const ControlPlane &plane) {
  const std::string me = std::to_string(share.firstRank + rank), local = std::to_string(rank),
                    size = std::to_string(share.totalRanks);
  return {{"NEREID_RANK", me},
          {"NEREID_LOCAL_RANK", local},
          {"NEREID_WORLD_SIZE", size},
          {"NEREID_JOB", job},
          {"NEREID_JOB_FD", std::to_string(plane.descriptor())},
          {"NEREID_RENDEZVOUS", share.rendezvous},
          {"NEREID_SECRET", share.secret},
          {"RANK", me},
          {"LOCAL_RANK", local},
          {"WORLD_SIZE", size},
          {"LOCAL_WORLD_SIZE", std::to_string(here)},
          {"MASTER_ADDR", share.masterAddress},
          {"MASTER_PORT", std::to_string(share.masterPort)}};
}

/// The only host of a job.
HostShare wholeJob(int32_t worldSize, uint16_t port) {
  HostShare share;
  share.totalRanks = worldSize;
  share.masterAddress = "127.0.0.1";
  share.masterPort = port;
  return share;
}

std::string newJobName() { return std::to_string(getpid()) + "." + std::to_string(nowNs()); }

/// One output stream of one rank, cut into lines.
struct Stream {
  int fd = -1;
  int to = -1;
  std::string pending;
};

struct Child {
  pid_t pid = -1;
  bool running = false;
  int waitStatus = 0;
  Stream streams[2];
};

/// Written by the signal handler only.
std::atomic<int> stopSignal{0};
int wakePipe[2] = {-1, -1};

void onStopSignal(int sig) {
  int error = errno;
  stopSignal.store(sig);
  char byte = 1;
  if (write(wakePipe[1], &byte, 1) < 0) {
    // The pipe is full: the loop is going to wake anyway.
  }
  errno = error;
}

void onChild(int) {
  int error = errno;
  char byte = 0;
  if (write(wakePipe[1], &byte, 1) < 0) {
  }
  errno = error;
}

/// Handlers for the time of one job.
class SignalScope {
public:
  SignalScope() {
    stopSignal.store(0);
    if (pipe2(wakePipe, O_CLOEXEC | O_NONBLOCK) != 0)
      wakePipe[0] = wakePipe[1] = -1;
    for (size_t i = 0; i < 4; ++i) {
      struct sigaction action;
      std::memset(&action, 0, sizeof(action));
      action.sa_handler = kSignals[i] == SIGCHLD ? onChild : onStopSignal;
      action.sa_flags = SA_RESTART | (kSignals[i] == SIGCHLD ? SA_NOCLDSTOP : 0);
      sigfillset(&action.sa_mask);
      sigaction(kSignals[i], &action, &before[i]);
    }
  }
  ~SignalScope() {
    for (size_t i = 0; i < 4; ++i)
      sigaction(kSignals[i], &before[i], nullptr);
    close(wakePipe[0]);
    close(wakePipe[1]);
    wakePipe[0] = wakePipe[1] = -1;
  }

private:
  static constexpr int kSignals[4] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
  struct sigaction before[4];
};

class Launcher {
public:
  Launcher(const std::vector<std::string> &argv, int32_t worldSize, const LaunchJobOptions &options,
           std::shared_ptr<ControlPlane> plane, HostShare share)
      : argv(argv), worldSize(worldSize), options(options), plane(std::move(plane)),
        share(std::move(share)), children(size_t(worldSize)) {
    result.exitCodes.assign(size_t(worldSize), 0);
  }
  ~Launcher() {
    killAll(SIGKILL);
    reap(true);
    for (Child &child : children)
      for (Stream &stream : child.streams)
        if (stream.fd >= 0)
          close(stream.fd);
  }

  Status start();
  JobResult watch();

private:
  Status startRank(int32_t rank, int errorPipe);
  std::vector<std::string> environmentOf(int32_t rank) const;
  void reap(bool block);
  void ended(int32_t rank);
  void killAll(int sig);
  void forward(Child &child, int32_t rank, Stream &stream);
  void flushLine(int32_t rank, Stream &stream, std::string_view line);
  /// "rank 5", "rank 5 on host b".
  std::string nameOf(int32_t rank) const;
  void hearCommands();
  void stop(int sig);
  int32_t runningCount() const;

  const std::vector<std::string> &argv;
  int32_t worldSize;
  const LaunchJobOptions &options;
  std::shared_ptr<ControlPlane> plane;
  HostShare share;
  std::vector<Child> children;
  JobResult result;
  bool stopping = false;
  int escalation = 0; ///< how often the ranks were told to stop
  uint64_t killAt = 0;
  uint64_t drainUntil = 0;
  std::string jobName;
};

std::string replaceRank(std::string text, int32_t rank) {
  const std::string mark = "{rank}";
  for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos;) {
    std::string number = std::to_string(rank);
    text.replace(at, mark.size(), number);
    at += number.size();
  }
  return text;
}

std::vector<std::string> Launcher::environmentOf(int32_t rank) const {
  Variables mine = variablesOf(rank, worldSize, share, jobName, *plane);
  auto set = [&](const std::string &name, const std::string &value) {
    mine.emplace_back(name, value);
  };
  set("NEREID_HEAP_SIZE", std::to_string(plane->heapBytes()));
  if (options.timeoutSeconds) {
    char text[32];
    std::snprintf(text, sizeof(text), "%g", *options.timeoutSeconds);
    set("NEREID_TIMEOUT", text);
  }
  if (!options.schedule.empty())
    set("NEREID_SCHEDULE", options.schedule);
  if (!options.profile.empty())
    set("NEREID_PROFILE", options.profile);
  if (options.ranksPerNode)
    set("NEREID_RANKS_PER_NODE", std::to_string(*options.ranksPerNode));
  if (!options.transport.empty())
    set("NEREID_TRANSPORT", options.transport);
  if (options.numThreads > 0)
    set("NEREID_NUM_THREADS", std::to_string(options.numThreads));
  const int32_t number = share.firstRank + rank;
  for (const auto &entry : options.environment)
    set(entry.first, replaceRank(entry.second, number));
  for (const auto &[only, name, value] : options.rankEnvironment)
    if (only == number)
      set(name, replaceRank(value, number));

  std::vector<std::string> out;
  for (char **e = environ; *e; ++e) {
    std::string entry = *e;
    std::string name = entry.substr(0, entry.find('='));
    bool replaced =
        std::any_of(mine.begin(), mine.end(), [&](const auto &m) { return m.first == name; });
    if (!replaced)
      out.push_back(std::move(entry));
  }
  for (size_t i = 0; i < mine.size(); ++i) {
    // The last setting of a name wins.
    bool later = std::any_of(mine.begin() + ptrdiff_t(i) + 1, mine.end(),
                             [&](const auto &m) { return m.first == mine[i].first; });
    if (!later)
      out.push_back(mine[i].first + "=" + mine[i].second);
  }
  return out;
}

Status Launcher::startRank(int32_t rank, int errorPipe) {
  Child &child = children[size_t(rank)];
  // Everything that allocates happens before the fork.
  std::vector<std::string> environment = environmentOf(rank);
  std::vector<char *> envPointers, argPointers;
  for (std::string &entry : environment)
    envPointers.push_back(entry.data());
  envPointers.push_back(nullptr);
  for (const std::string &arg : argv)
    argPointers.push_back(const_cast<char *>(arg.c_str()));
  argPointers.push_back(nullptr);

  int pipes[2][2] = {{-1, -1}, {-1, -1}};
  if (options.tagOutput)
    for (auto &p : pipes)
      if (pipe2(p, O_CLOEXEC) != 0)
        return systemError("pipe", errno);
  bool quietInput = rank != 0 || share.commands >= 0 || isatty(0);
  pid_t parent = getpid();
  int segmentFd = plane->descriptor();

  std::fflush(nullptr);
  pid_t pid = fork();
  if (pid < 0) {
    int error = errno;
    for (auto &p : pipes)
      for (int fd : p)
        if (fd >= 0)
          close(fd);
    return systemError("fork", error);
  }
  // From here to exec: nothing that allocates or locks, as another thread may have been in the
  // middle of it. A rank does not outlive the launcher (PDEATHSIG; the parent may be gone already,
  // hence the look), leads a process group of its own, so that what it starts can be killed with
  // it, and begins with the signals of a fresh process.
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(127);
    setpgid(0, 0);
    for (int sig : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE})
      signal(sig, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (quietInput) {
      int null = open("/dev/null", O_RDONLY);
      if (null >= 0) {
        dup2(null, 0);
        close(null);
      }
    }
    if (options.tagOutput) {
      dup2(pipes[0][1], 1);
      dup2(pipes[1][1], 2);
    }
    fcntl(segmentFd, F_SETFD, 0);
    execvpe(argPointers[0], argPointers.data(), envPointers.data());
    int error = errno;
    if (write(errorPipe, &error, sizeof(error)) < 0) {
    }
    _exit(127);
  }
  setpgid(pid, pid); // both sides, so that no order matters
  child.pid = pid;
  child.running = true;
  if (options.tagOutput)
    for (int i = 0; i < 2; ++i) {
      close(pipes[i][1]);
      fcntl(pipes[i][0], F_SETFL, O_NONBLOCK);
      child.streams[i].fd = pipes[i][0];
      child.streams[i].to = i + 1;
    }
  return {};
}

Status Launcher::start() {
  jobName = newJobName();
  int errorPipe[2];
  if (pipe2(errorPipe, O_CLOEXEC) != 0)
    return systemError("pipe", errno);
  Status status;
  for (int32_t r = 0; r < worldSize && status.ok(); ++r)
    status = startRank(r, errorPipe[1]);
  close(errorPipe[1]);
  // Closed by every successful exec; a number means that one failed.
  int error = 0;
  if (status.ok() && read(errorPipe[0], &error, sizeof(error)) == ssize_t(sizeof(error)))
    status = Status::error(StatusCode::SystemError,
                           "cannot run '" + argv[0] + "': " + std::strerror(error));
  close(errorPipe[0]);
  // The ranks that did start are not to be reported one by one.
  stopping = !status.ok();
  return status;
}

int32_t Launcher::runningCount() const {
  int32_t n = 0;
  for (const Child &child : children)
    n += child.running;
  return n;
}

void Launcher::killAll(int sig) {
  for (const Child &child : children)
    if (child.running)
      kill(-child.pid, sig);
}

// The plane learns how the process ended before anybody is told: ranks that report its death wait a
// moment for just that (departureOf).
void Launcher::ended(int32_t rank) {
  Child &child = children[size_t(rank)];
  child.running = false;
  // What the rank itself has started and left behind.
  kill(-child.pid, SIGKILL);
  int status = child.waitStatus;
  int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  result.exitCodes[size_t(rank)] = code;

  const int32_t number = share.firstRank + rank;
  plane->rankEnded(number, status);
  if (code == 0 || stopping)
    return;
  // A rank that left may end after those who noticed: it is the one to blame.
  bool blamed = escalation == 0 && result.firstBadRank >= 0 && result.firstBadRank != number &&
                plane->blamedRank() == number;
  if (blamed) {
    result.firstBadRank = number;
    result.exitCode = code;
    if (options.verbose)
      std::fprintf(stderr, "nereid run: it was %s, which %s\n", nameOf(rank).c_str(),
                   exitText(status).c_str());
  }
  if (result.firstBadRank < 0) {
    result.firstBadRank = number;
    result.exitCode = code;
    if (options.verbose)
      std::fprintf(stderr, "nereid run: %s %s%s\n", nameOf(rank).c_str(), exitText(status).c_str(),
                   runningCount() ? "; stopping the job" : "");
    killAt = nowNs() + uint64_t(options.graceSeconds * 1e9);
  }
}

void Launcher::reap(bool block) {
  for (int32_t r = 0; r < worldSize; ++r) {
    Child &child = children[size_t(r)];
    if (!child.running)
      continue;
    int status = 0;
    pid_t got;
    do
      got = waitpid(child.pid, &status, block ? 0 : WNOHANG);
    while (got < 0 && errno == EINTR);
    if (got != child.pid)
      continue;
    child.waitStatus = status;
    ended(r);
  }
}

std::string Launcher::nameOf(int32_t rank) const {
  return "rank " + std::to_string(share.firstRank + rank) +
         (share.host.empty() ? "" : " on host " + share.host);
}

void Launcher::stop(int sig) {
  if (stopping) {
    killAt = nowNs(); // asked twice: at once
    return;
  }
  stopping = true;
  result.exitCode = 128 + sig;
  killAt = nowNs() + uint64_t(options.graceSeconds * 1e9);
  killAll(sig == SIGHUP ? SIGTERM : sig);
}

/// What the launcher of the whole job says, or that it is there no more.
void Launcher::hearCommands() {
  unsigned char sig = 0;
  const ssize_t got = read(share.commands, &sig, 1);
  if (got < 0)
    return;
  if (got == 0)
    share.commands = -1;
  stop(got == 0 ? SIGTERM : sig);
}

void Launcher::flushLine(int32_t rank, Stream &stream, std::string_view line) {
  std::string text = "[" + std::to_string(share.firstRank + rank) +
                     (share.host.empty() ? "" : "@" + share.host) + "] " + std::string(line) + "\n";
  size_t done = 0;
  while (done < text.size()) {
    ssize_t n = write(stream.to, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 && errno == EAGAIN) {
      pollfd p{stream.to, POLLOUT, 0};
      poll(&p, 1, 100);
      continue;
    }
    if (n <= 0)
      return;
    done += size_t(n);
  }
}

void Launcher::forward(Child &child, int32_t rank, Stream &stream) {
  (void)child;
  char buffer[65536];
  for (;;) {
    ssize_t n = read(stream.fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 && errno == EAGAIN)
      return;
    if (n <= 0) {
      if (!stream.pending.empty())
        flushLine(rank, stream, stream.pending);
      stream.pending.clear();
      close(stream.fd);
      stream.fd = -1;
      return;
    }
    stream.pending.append(buffer, size_t(n));
    size_t begin = 0, end;
    while ((end = stream.pending.find('\n', begin)) != std::string::npos) {
      flushLine(rank, stream, std::string_view(stream.pending).substr(begin, end - begin));
      begin = end + 1;
    }
    stream.pending.erase(0, begin);
  }
}

/// One loop for all that can happen: children that end and signals (both through the pipe that
/// their handlers write to), output of ranks, and the time at which patience ends. Whoever is told
/// to stop gets SIGTERM first (or the signal that came), later SIGKILL.
JobResult Launcher::watch() {
  for (;;) {
    reap(false);
    bool open = false;
    std::vector<pollfd> polls{{wakePipe[0], POLLIN, 0}};
    std::vector<std::pair<int32_t, int>> owners{{-1, 0}};
    for (int32_t r = 0; r < worldSize; ++r)
      for (int i = 0; i < 2; ++i)
        if (children[size_t(r)].streams[i].fd >= 0) {
          open = true;
          polls.push_back({children[size_t(r)].streams[i].fd, POLLIN, 0});
          owners.emplace_back(r, i);
        }
    // A process that a rank has detached from itself may hold its pipe open
    // for ever; what the ranks wrote has been read by then.
    if (runningCount() == 0 && drainUntil == 0)
      drainUntil = nowNs() + 1000000000u;
    if (runningCount() == 0 && (!open || nowNs() >= drainUntil))
      break;

    if (int sig = stopSignal.exchange(0))
      stop(sig);
    uint64_t now = nowNs();
    if (killAt && now >= killAt && runningCount()) {
      // Python turns SIGTERM into nothing special; SIGKILL always works.
      killAll(escalation++ == 0 && !stopping ? SIGTERM : SIGKILL);
      killAt = now + 500000000;
    }
    int timeout = drainUntil ? 50 : 200;
    if (killAt)
      timeout = int(std::clamp<uint64_t>(killAt > now ? (killAt - now) / 1000000 + 1 : 1, 1, 200));
    polls.push_back({share.commands, POLLIN, 0});
    poll(polls.data(), polls.size(), timeout);
    if (polls.back().revents)
      hearCommands();
    polls.pop_back();
    char drain[256];
    while (read(wakePipe[0], drain, sizeof(drain)) > 0) {
    }
    for (size_t i = 1; i < polls.size(); ++i)
      if (polls[i].revents) {
        Child &child = children[size_t(owners[i].first)];
        forward(child, owners[i].first, child.streams[owners[i].second]);
      }
  }
  return result;
}

} // namespace

struct JobMemory::Impl {
  std::shared_ptr<ControlPlane> plane;
  std::string jobName;
  uint16_t port = 0;
};

JobMemory::~JobMemory() = default;

Expected<std::unique_ptr<JobMemory>> JobMemory::create(int32_t worldSize,
                                                       std::optional<uint64_t> heapBytes) {
  if (worldSize < 1 || worldSize > kMaxRanks)
    return Status::error(StatusCode::InvalidArgument, "the number of ranks must be 1.." +
                                                          std::to_string(kMaxRanks) + ", got " +
                                                          std::to_string(worldSize));
  JobOptions options;
  options.heapBytes = heapBytes;
  Expected<Settings> settings = resolveSettings(options);
  if (!settings.ok())
    return settings.status();
  Expected<std::shared_ptr<ControlPlane>> plane =
      localControlPlane().create(worldSize, settings->heapBytes);
  if (!plane.ok())
    return plane.status();
  Expected<uint16_t> port = freePort();
  if (!port.ok())
    return port.status();
  (*plane)->announceLauncher();
  std::unique_ptr<JobMemory> memory(new JobMemory);
  memory->impl = std::make_unique<Impl>(Impl{*plane, newJobName(), *port});
  return memory;
}

std::vector<std::pair<std::string, std::string>> JobMemory::environment(int32_t rank) const {
  const int32_t worldSize = impl->plane->worldSize();
  return variablesOf(rank, worldSize, wholeJob(worldSize, impl->port), impl->jobName, *impl->plane);
}

void JobMemory::rankEnded(int32_t rank, int waitStatus) {
  if (rank >= 0 && rank < impl->plane->worldSize())
    impl->plane->rankEnded(rank, waitStatus);
}

Expected<JobResult> launchJob(const std::vector<std::string> &argv, int32_t worldSize,
                              const LaunchJobOptions &options) {
  if (argv.empty())
    return Status::error(StatusCode::InvalidArgument, "no program to run");
  if (worldSize < 1 || worldSize > kMaxRanks)
    return Status::error(StatusCode::InvalidArgument, "the number of ranks must be 1.." +
                                                          std::to_string(kMaxRanks) + ", got " +
                                                          std::to_string(worldSize));
  // Finds mistakes in the options before any process is started.
  JobOptions probe;
  probe.heapBytes = options.heapBytes;
  probe.timeoutSeconds = options.timeoutSeconds;
  if (!options.schedule.empty())
    probe.schedule = options.schedule;
  if (!options.profile.empty())
    probe.profile = options.profile;
  probe.ranksPerNode = options.ranksPerNode;
  if (options.numThreads > 0)
    probe.numThreads = options.numThreads;
  Expected<Settings> settings = resolveSettings(probe);
  if (!settings.ok())
    return settings.status();
  if (!options.transport.empty())
    if (auto choice = findTransport(options.transport, "--transport"); !choice.ok())
      return choice.status();
  HostShare share = options.share.value_or(HostShare());
  if (!options.share) {
    Expected<uint16_t> port = freePort();
    if (!port.ok())
      return port.status();
    share = wholeJob(worldSize, *port);
  }
  if (share.firstRank < 0 || share.totalRanks > kMaxRanks ||
      share.firstRank > share.totalRanks - worldSize)
    return Status::error(StatusCode::InvalidArgument,
                         "ranks " + std::to_string(share.firstRank) + " to " +
                             std::to_string(share.firstRank + worldSize - 1) +
                             " are not of a job of " + std::to_string(share.totalRanks) +
                             " ranks, of at most " + std::to_string(kMaxRanks));
  Expected<std::shared_ptr<ControlPlane>> plane =
      localControlPlane().create(share.totalRanks, settings->heapBytes);
  if (!plane.ok())
    return plane.status();
  (*plane)->announceLauncher();

  SignalScope signals;
  Launcher launcher(argv, worldSize, options, *plane, std::move(share));
  if (Status st = launcher.start(); !st.ok())
    return st;
  return launcher.watch();
}

} // namespace nereid::runtime
