// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rendezvous.cpp - How ranks without a launcher meet -----------------===//
//
// serve() is rank 0, call() every other rank; the picture is in Rendezvous.h.
// Rank 0 answers nobody before it has heard all, or has found a reason why
// there will be no job: then every caller gets that one reason, not just the
// rank that is to blame. The answer carries the descriptor of the job's memory,
// so a rank that has one knows that the job is complete.
//
// Three mistakes would look like a time-out and so have errors of their own:
// two processes with one rank (a second rank 0 cannot bind, a second rank r is
// refused), ranks that disagree about the job, and ranks of different users.
// The user is part of the socket's name, so a rank that waits in vain looks in
// /proc/net/unix for the same job under another user, and calls there, that
// both sides learn of it.
//
// Anything on the machine may connect to an abstract socket. A caller that says
// nothing is dropped after two seconds, one that says something else at once.
//
//===----------------------------------------------------------------------===//
#include "launch/Rendezvous.h"

#include "base/Clock.h"
#include "base/Knobs.h"
#include "base/Process.h"
#include "base/Random.h"
#include "control/ControlPlanes.h"
#include "launch/Waiting.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace nereid::runtime {

namespace {
constexpr uint64_t kHelloMagic = 0x4f4c4c45'4844524e; // "NRDHELLO"

struct Hello {
  uint64_t magic;
  uint32_t version;
  int32_t rank;
  int32_t worldSize;
  int32_t pid;
  uint64_t heapBytes;
};

struct Verdict {
  uint32_t code; // StatusCode
  char text[508];
};

/// Closes a descriptor at the end of its scope.
struct Descriptor {
  int fd = -1;
  explicit Descriptor(int fd = -1) : fd(fd) {}
  Descriptor(Descriptor &&other) : fd(std::exchange(other.fd, -1)) {}
  Descriptor &operator=(Descriptor &&other) {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Descriptor() {
    if (fd >= 0)
      close(fd);
  }
};
} // namespace

static std::string hashOf(const std::string &jobKey) {
  char text[20];
  std::snprintf(text, sizeof(text), "%016llx", (unsigned long long)hashText(jobKey));
  return text;
}

static socklen_t socketName(const std::string &jobKey, unsigned user, sockaddr_un &address) {
  std::memset(&address, 0, sizeof(address));
  address.sun_family = AF_UNIX;
  // A zero first byte makes the name abstract.
  int n = std::snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "nereid.%u.%s", user,
                        hashOf(jobKey).c_str());
  return socklen_t(offsetof(sockaddr_un, sun_path) + 1 + size_t(n));
}

/// The user at the other end.
static std::optional<unsigned> userOf(int fd) {
  ucred who;
  socklen_t size = sizeof(who);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
    return std::nullopt;
  return unsigned(who.uid);
}

/// How often a rank that waits for rank 0 looks for one of another user.
static constexpr uint64_t kLookForOthersNs = 500000000;

/// The user as whom rank 0 of the job listens, when that is another one than this.
static std::optional<unsigned> otherUserOf(const std::string &jobKey) {
  std::ifstream sockets("/proc/net/unix");
  const std::string hash = hashOf(jobKey);
  for (std::string line; std::getline(sockets, line);) {
    unsigned user;
    char found[17];
    size_t name = line.rfind(" @nereid.");
    if (name != std::string::npos &&
        std::sscanf(line.c_str() + name, " @nereid.%u.%16[0-9a-f]", &user, found) == 2 &&
        found == hash && user != unsigned(getuid()))
      return user;
  }
  return std::nullopt;
}

/// The error of ranks that belong to different users.
static Status otherUser(const std::string &who, unsigned user, unsigned userOfRank0) {
  return Status::error(StatusCode::Environment, who + " belongs to user " + std::to_string(user) +
                                                    ", rank 0 to user " +
                                                    std::to_string(userOfRank0) +
                                                    "; start all ranks of a job as the same user");
}

static std::string nameOf(int32_t rank, int32_t process) {
  return "rank " + std::to_string(rank) + " (process " + std::to_string(process) + ")";
}

static void sendVerdict(int fd, const Status &status, int segmentFd) {
  Verdict verdict;
  std::memset(&verdict, 0, sizeof(verdict));
  verdict.code = uint32_t(status.code());
  std::snprintf(verdict.text, sizeof(verdict.text), "%s", status.message().c_str());
  iovec io{&verdict, sizeof(verdict)};
  msghdr message;
  std::memset(&message, 0, sizeof(message));
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  std::memset(control, 0, sizeof(control));
  if (status.ok()) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(c), &segmentFd, sizeof(int));
  }
  sendmsg(fd, &message, MSG_NOSIGNAL);
}

static Status checkHello(const RankInfo &info, uint64_t heapBytes, const Hello &hello,
                         const std::vector<Descriptor> &callers) {
  std::string who = nameOf(hello.rank, hello.pid);
  if (hello.version != localControlPlane().version)
    return Status::error(StatusCode::Mismatch, who + " runs another version of Nereid than rank 0");
  if (hello.worldSize != info.worldSize)
    return Status::error(StatusCode::Mismatch,
                         who + " was told of a world of " + std::to_string(hello.worldSize) +
                             " ranks, rank 0 of " + std::to_string(info.worldSize),
                         hello.rank);
  if (hello.rank <= 0 || hello.rank >= info.worldSize || callers[size_t(hello.rank)].fd >= 0)
    return Status::error(StatusCode::Environment, who + ": two processes have the same rank",
                         hello.rank);
  if (hello.heapBytes != heapBytes)
    return Status::error(StatusCode::Mismatch,
                         "the symmetric heap must have the same size on all "
                         "ranks: rank 0 asks for " +
                             std::to_string(heapBytes) + " bytes, rank " +
                             std::to_string(hello.rank) + " for " + std::to_string(hello.heapBytes),
                         hello.rank);
  return {};
}

static Expected<std::shared_ptr<ControlPlane>> serve(const RankInfo &info, uint64_t heapBytes,
                                                     int32_t slots, double timeoutSeconds,
                                                     uint64_t deadline) {
  sockaddr_un address;
  socklen_t size = socketName(info.jobKey, unsigned(getuid()), address);
  Descriptor listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (listener.fd < 0)
    return systemError("socket", errno);
  if (bind(listener.fd, reinterpret_cast<sockaddr *>(&address), size) < 0) {
    if (errno == EADDRINUSE)
      return Status::error(StatusCode::Environment, "another process is rank 0 of this job (" +
                                                        info.jobKey +
                                                        "); two processes have the same rank");
    return systemError("bind", errno);
  }
  if (listen(listener.fd, info.worldSize) < 0)
    return systemError("listen", errno);

  Expected<std::shared_ptr<ControlPlane>> plane =
      localControlPlane().create(slots ? slots : info.worldSize, heapBytes);
  std::vector<Descriptor> callers(size_t(info.worldSize));
  Status verdict = plane.status();
  Descriptor odd; // the caller that did not fit
  int32_t missing = info.worldSize - 1;
  while (verdict.ok() && missing > 0) {
    int ready = waitFor(listener.fd, POLLIN, deadline);
    if (ready < 0) {
      verdict = interruptedMeeting();
      break;
    }
    if (ready == 0) {
      std::string who;
      int32_t shown = 0;
      for (int32_t r = 1; r < info.worldSize; ++r)
        if (callers[size_t(r)].fd < 0 && shown++ < 16)
          who += (who.empty() ? "" : ", ") + std::to_string(r);
      char seconds[32];
      std::snprintf(seconds, sizeof(seconds), "%g", timeoutSeconds);
      verdict =
          Status::error(StatusCode::Bootstrap,
                        "after " + std::string(seconds) + " s " + std::to_string(missing) + " of " +
                            std::to_string(info.worldSize) + " ranks have not joined: rank " + who +
                            (shown > 16 ? ", ..." : "") + " (NEREID_INIT_TIMEOUT sets the limit)");
      break;
    }
    Descriptor caller(accept4(listener.fd, nullptr, nullptr, SOCK_CLOEXEC));
    std::optional<unsigned> user = caller.fd >= 0 ? userOf(caller.fd) : std::nullopt;
    if (!user)
      continue;
    Hello hello;
    int got = waitFor(caller.fd, POLLIN, std::min(deadline, nowNs() + 2000000000u));
    if (got < 0) {
      verdict = interruptedMeeting();
      break;
    }
    if (got == 0 || recv(caller.fd, &hello, sizeof(hello), 0) != ssize_t(sizeof(hello)) ||
        hello.magic != kHelloMagic)
      continue;
    verdict = *user == unsigned(getuid())
                  ? checkHello(info, heapBytes, hello, callers)
                  : otherUser(nameOf(hello.rank, hello.pid), *user, unsigned(getuid()));
    if (!verdict.ok()) {
      odd = std::move(caller);
      break;
    }
    callers[size_t(hello.rank)] = std::move(caller);
    --missing;
  }
  int fd = plane.ok() ? (*plane)->descriptor() : -1;
  for (const Descriptor &caller : callers)
    if (caller.fd >= 0)
      sendVerdict(caller.fd, verdict, fd);
  if (odd.fd >= 0)
    sendVerdict(odd.fd, verdict, fd);
  if (!verdict.ok())
    return verdict;
  return plane;
}

static Expected<std::shared_ptr<ControlPlane>> call(const RankInfo &info, uint64_t heapBytes,
                                                    double timeoutSeconds, uint64_t deadline) {
  sockaddr_un address;
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%g", timeoutSeconds);
  Descriptor s;
  uint64_t nextLook = nowNs() + kLookForOthersNs;
  for (;;) {
    unsigned expected = unsigned(getuid());
    if (nowNs() >= nextLook) {
      // Rank 0 may have been started by someone else, who then is told.
      expected = otherUserOf(info.jobKey).value_or(expected);
      nextLook = nowNs() + kLookForOthersNs;
    }
    const socklen_t size = socketName(info.jobKey, expected, address);
    s = Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (s.fd < 0)
      return systemError("socket", errno);
    if (connect(s.fd, reinterpret_cast<sockaddr *>(&address), size) == 0)
      break;
    if (errno != ECONNREFUSED && errno != EAGAIN && errno != EINTR)
      return systemError("connect to rank 0", errno);
    if (nowNs() >= deadline)
      return Status::error(StatusCode::Bootstrap,
                           "after " + std::string(seconds) + " s rank 0 has not come up (job " +
                               info.jobKey + "; NEREID_INIT_TIMEOUT sets the limit)",
                           0);
    if (interruptRequested())
      return interruptedMeeting();
    sleepNs(2000000);
  }
  const unsigned user = userOf(s.fd).value_or(unsigned(getuid()));
  Hello hello{kHelloMagic,    localControlPlane().version, info.rank,
              info.worldSize, int32_t(getpid()),           heapBytes};
  if (send(s.fd, &hello, sizeof(hello), MSG_NOSIGNAL) != ssize_t(sizeof(hello)))
    return systemError("talking to rank 0", errno);
  if (user != unsigned(getuid()))
    return otherUser(nameOf(info.rank, int32_t(getpid())), unsigned(getuid()), user);
  // Rank 0 has the same time limit and says so itself when it is over.
  int ready = waitFor(s.fd, POLLIN, deadline + 2000000000u);
  if (ready < 0)
    return interruptedMeeting();
  if (ready == 0)
    return Status::error(StatusCode::Bootstrap,
                         "rank 0 does not answer (after " + std::string(seconds) + " s)", 0);
  Verdict verdict;
  iovec io{&verdict, sizeof(verdict)};
  msghdr message;
  std::memset(&message, 0, sizeof(message));
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  if (recvmsg(s.fd, &message, MSG_CMSG_CLOEXEC) != ssize_t(sizeof(verdict)))
    return Status::error(StatusCode::Bootstrap, "rank 0 ended while the ranks were joining", 0);
  verdict.text[sizeof(verdict.text) - 1] = 0;
  if (verdict.code != uint32_t(StatusCode::Ok))
    return Status::error(StatusCode(verdict.code), verdict.text);
  cmsghdr *c = CMSG_FIRSTHDR(&message);
  if (!c || c->cmsg_type != SCM_RIGHTS)
    return Status::error(StatusCode::Bootstrap, "rank 0 sent no memory", 0);
  int fd;
  std::memcpy(&fd, CMSG_DATA(c), sizeof(int));
  return localControlPlane().attach(fd);
}

Expected<std::shared_ptr<ControlPlane>> rendezvous(const RankInfo &info, uint64_t heapBytes,
                                                   double timeoutSeconds, int32_t slots) {
  // 0 = no limit, which a year is.
  double limit = timeoutSeconds > 0 ? timeoutSeconds : 3e7;
  uint64_t deadline = nowNs() + uint64_t(limit * 1e9);
  return info.rank == 0 ? serve(info, heapBytes, slots, timeoutSeconds, deadline)
                        : call(info, heapBytes, timeoutSeconds, deadline);
}

} // namespace nereid::runtime
