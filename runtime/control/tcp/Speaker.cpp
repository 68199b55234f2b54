// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "control/tcp/Speaker.h"

#include "base/Clock.h"
#include "base/Process.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nereid::runtime::tcp {

/// How often a machine tells of its ranks, and looks whether they are there.
static constexpr uint64_t kBeatNs = 100000000;
static constexpr uint64_t kLookNs = 50000000;
/// How long a process that ends stays for the reports of others on a failed job.
static constexpr uint64_t kReportNs = 1000000000;
/// Of what a machine has not taken from its connection: it is lost.
static constexpr size_t kMaxQueuedBytes = size_t(64) << 20;
static constexpr size_t kBufferBytes = 1 << 18;

socklen_t speakerAddress(uint64_t identity, int32_t machine, sockaddr_un &address) {
  std::memset(&address, 0, sizeof(address));
  address.sun_family = AF_UNIX;
  const int n =
      std::snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "nereid-control.%u.%llx.%d",
                    unsigned(getuid()), (unsigned long long)identity, int(machine));
  return socklen_t(offsetof(sockaddr_un, sun_path) + 1 + size_t(n));
}

bool speakerLives(ControlBlock block) {
  const int32_t process = block.header().speaker.load(std::memory_order_acquire);
  return process == int32_t(getpid()) ||
         (process && processStartTime(process) == block.header().speakerStart.load());
}

Speaker::Speaker(Shape s)
    : shape(std::move(s)), worldSize(shape.block.header().worldSize),
      firstRank(firstOf(shape.links.machine)), endRank(endOf(shape.links.machine)),
      watch(shape.block, -1, firstRank, endRank), buffer(kBufferBytes) {
  for (int32_t r = 0; r < worldSize; ++r)
    jobs.push_back(std::make_unique<MemoryJob>(shape.block, r, 0, 0));
  const uint64_t now = nowNs();
  int32_t machine = isHub() ? 1 : 0;
  for (int fd : shape.links.sockets) {
    Link link;
    link.machine = machine++;
    link.fd = fd;
    link.heard = now;
    links.push_back(std::move(link));
  }
}

int32_t Speaker::endOf(int32_t machine) const {
  return std::min(shape.block.header().worldSize, firstOf(machine) + shape.links.ranksPerMachine);
}

/// "host b (ranks 4 to 7)".
std::string Speaker::describe(int32_t machine) const {
  const int32_t first = firstOf(machine), last = endOf(machine) - 1;
  const size_t i = size_t(machine);
  return (i < shape.links.hosts.size() ? "host " + shape.links.hosts[i] : std::string("a host")) +
         (first == last ? " (rank " + std::to_string(first) + ")"
                        : " (ranks " + std::to_string(first) + " to " + std::to_string(last) + ")");
}

Status Speaker::start() {
  wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  fromRanks = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (wakeup < 0 || fromRanks < 0)
    return systemError("socket", errno);
  const int on = 1;
  setsockopt(fromRanks, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
  sockaddr_un address;
  const socklen_t size = speakerAddress(shape.identity, shape.links.machine, address);
  if (bind(fromRanks, reinterpret_cast<sockaddr *>(&address), size) < 0)
    return systemError("binding the socket of this machine's ranks", errno);
  JobHeader &header = shape.block.header();
  header.speakerStart.store(processStartTime(int32_t(getpid())));
  header.speaker.store(int32_t(getpid()), std::memory_order_release);
  // Signals are for the threads of the program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread = std::thread(&Speaker::run, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return {};
}

static void wake(int eventFd) {
  const uint64_t one = 1;
  if (write(eventFd, &one, sizeof(one)) < 0) {
    // Full: it is going to wake anyway.
  }
}

Speaker::~Speaker() {
  if (!shape.played)
    leave();
  stopping = true;
  if (thread.joinable()) {
    wake(wakeup);
    thread.join();
  }
  for (Link &link : links)
    if (link.fd >= 0)
      close(link.fd);
  for (int fd : {fromRanks, wakeup})
    if (fd >= 0)
      close(fd);
}

void Speaker::leave() {
  if (!thread.joinable())
    return;
  for (int32_t r = firstRank; r < endRank; ++r) {
    RankSlot &slot = shape.block.rank(r);
    // The first one is this process, which may not have come as far as join().
    const bool own = r == firstRank && slot.pid.load() == 0;
    if ((own || slot.pid.load() == int32_t(getpid())) && !isGone(shape.block.stateOf(r)))
      slot.facts.state.store(uint32_t(RankState::Left), std::memory_order_release);
  }
  leaving = true;
  wake(wakeup);
  thread.join();
}

void Speaker::closeInFork() {
  for (const Link &link : links)
    if (link.fd >= 0)
      close(link.fd);
  close(fromRanks);
  close(wakeup);
}

/// Whether nobody needs this speaker any more.
bool Speaker::mayEnd(uint64_t now) {
  if (!leavingSince)
    leavingSince = now;
  if (shape.block.header().failure.state.load() != 0 && now - leavingSince > kReportNs)
    return true;
  for (int32_t r = firstRank; r < endRank; ++r) {
    // One that has not joined by now may have failed before.
    const RankState state = shape.block.stateOf(r);
    if (!isGone(state) && (state != RankState::Absent || now - leavingSince < kReportNs))
      return false;
  }
  if (!farewell) {
    farewell = true;
    beat(); // with the last states
    Writer message;
    message.bytes.clear();
    message.add(Envelope{Kind::Farewell, -1, 0, 0});
    for (Link &link : links)
      if (!isHub())
        send(link, message.bytes);
  }
  // Machine 0 stays for the others.
  for (const Link &link : links)
    if (link.fd >= 0 && (isHub() || !link.out.empty()))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

void Speaker::run() {
  pthread_setname_np(pthread_self(), "nereid-speaker");
  const uint64_t timeout = uint64_t(shape.links.timeoutSeconds * 1e9);
  std::vector<pollfd> polls;
  while (!stopping) {
    polls.assign({{fromRanks, POLLIN, 0}, {wakeup, POLLIN, 0}});
    for (const Link &link : links)
      polls.push_back({link.fd, short(POLLIN | (link.out.empty() ? 0 : POLLOUT)), 0});
    poll(polls.data(), polls.size(), int(kLookNs / 1000000));
    if (polls[1].revents) {
      uint64_t count;
      if (read(wakeup, &count, sizeof(count)) < 0) {
      }
    }
    for (size_t i = 0; i < links.size(); ++i)
      if (links[i].fd >= 0 && polls[2 + i].revents) {
        flush(links[i]);
        hear(links[i]);
      }
    if (polls[0].revents)
      hearRanks();

    const uint64_t now = nowNs();
    bool changed = false;
    for (int32_t r : watch.newlyDead())
      shape.block.rank(r).facts.state.store(uint32_t(RankState::Dead), std::memory_order_release);
    for (int32_t r = firstRank; r < endRank; ++r)
      changed = changed ||
                (isGone(shape.block.stateOf(r)) &&
                 (told.empty() || told[size_t(r - firstRank)] != uint32_t(shape.block.stateOf(r))));
    if (changed || now >= nextBeat)
      beat();
    if (timeout)
      for (Link &link : links)
        if (link.fd >= 0 && now > link.heard && now - link.heard > timeout)
          lose(link, /*silent=*/true);
    if (leaving && mayEnd(now))
      return;
  }
}

/// Calls of this machine's ranks.
void Speaker::hearRanks() {
  for (;;) {
    iovec io{buffer.data(), buffer.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
    msghdr header{};
    header.msg_iov = &io;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    const ssize_t got = recvmsg(fromRanks, &header, MSG_CMSG_CLOEXEC);
    if (got < 0)
      return;
    // Anybody on the machine may write to the socket.
    const cmsghdr *from = CMSG_FIRSTHDR(&header);
    ucred who{};
    if (!from || from->cmsg_type != SCM_CREDENTIALS)
      continue;
    std::memcpy(&who, CMSG_DATA(from), sizeof(who));
    Envelope envelope;
    if (who.uid != getuid() || got < ssize_t(sizeof(envelope)))
      continue;
    std::memcpy(&envelope, buffer.data(), sizeof(envelope));
    if (!isHere(envelope.rank) || envelope.facts != 0)
      continue;
    envelope.facts = 1;
    std::string message(reinterpret_cast<const char *>(&envelope), sizeof(envelope));
    const FactsCopy facts = factsOf(envelope.rank);
    message.append(reinterpret_cast<const char *>(&facts), sizeof(facts));
    message.append(buffer.data() + sizeof(envelope), size_t(got) - sizeof(envelope));
    route(std::move(message));
  }
}

void Speaker::hear(Link &link) {
  while (link.fd >= 0) {
    const ssize_t got = recv(link.fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return;
    if (got <= 0)
      return lose(link, /*silent=*/got < 0 && errno == ETIMEDOUT);
    link.heard = nowNs();
    link.in.append(buffer.data(), size_t(got));
    size_t at = 0;
    for (uint32_t bytes; link.fd >= 0 && link.in.size() - at >= sizeof(bytes);) {
      std::memcpy(&bytes, link.in.data() + at, sizeof(bytes));
      if (bytes < sizeof(Envelope) || bytes > kMaxMessageBytes)
        return lose(link, /*silent=*/false);
      if (link.in.size() - at - sizeof(bytes) < bytes)
        break;
      std::string message = link.in.substr(at + sizeof(bytes), bytes);
      at += sizeof(bytes) + bytes;
      Envelope envelope;
      std::memcpy(&envelope, message.data(), sizeof(envelope));
      if (envelope.kind == Kind::Farewell)
        link.farewell = true;
      else if (isHub())
        route(std::move(message));
      else
        carryOut(message);
    }
    link.in.erase(0, at);
  }
}

void Speaker::flush(Link &link) {
  while (link.fd >= 0 && !link.out.empty()) {
    const ssize_t sent =
        ::send(link.fd, link.out.data(), link.out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent < 0)
      return; // full; an error comes again when it is read
    link.out.erase(0, size_t(sent));
  }
}

void Speaker::send(Link &link, std::string_view message) {
  if (link.fd < 0)
    return;
  const uint32_t bytes = uint32_t(message.size());
  link.out.append(reinterpret_cast<const char *>(&bytes), sizeof(bytes));
  link.out.append(message);
  flush(link);
  if (link.out.size() > kMaxQueuedBytes)
    lose(link, /*silent=*/true);
}

void Speaker::route(std::string message) {
  if (!isHub() && !alone) {
    send(links[0], message);
    Envelope envelope;
    std::memcpy(&envelope, message.data(), sizeof(envelope));
    if (envelope.rank >= 0)
      underWay.push_back(std::move(message));
    // Lost within send(): what is under way is carried out here.
    return;
  }
  carryOut(message);
  if (isHub())
    for (Link &link : links)
      send(link, message);
}

//===----------------------------------------------------------------------===//
// What ranks say of themselves
//===----------------------------------------------------------------------===//

FactsCopy Speaker::factsOf(int32_t rank) const {
  const RankSlot &slot = shape.block.rank(rank);
  const RankFacts &f = slot.facts;
  FactsCopy out{};
  out.rank = rank;
  // The state first: what goes with it is then at least as new.
  out.state = f.state.load(std::memory_order_acquire);
  out.collectives = f.collectives.load(std::memory_order_acquire);
  out.launches = f.launches.load(std::memory_order_acquire);
  out.barriers = f.barriers.load(std::memory_order_acquire);
  out.launching = f.launching.load(std::memory_order_acquire);
  out.hostWaiting = f.hostWaiting.load(std::memory_order_acquire);
  out.hostMoves = f.hostMoves.load(std::memory_order_acquire);
  out.streamsAtWork = f.streamsAtWork.load(std::memory_order_acquire);
  out.streamsInside = f.streamsInside.load(std::memory_order_acquire);
  out.hostBusy = f.hostBusy.load(std::memory_order_acquire);
  out.inFlight = f.inFlight.load(std::memory_order_acquire);
  out.exitStatus = slot.exitStatus.load(std::memory_order_acquire);
  out.cpuTicks = slot.cpuTicks.load(std::memory_order_relaxed);
  out.moves = slot.moves.load(std::memory_order_relaxed);
  return out;
}

/// Of a rank of another machine.
void Speaker::take(const FactsCopy &from) {
  if (from.rank < 0 || from.rank >= worldSize || isHere(from.rank))
    return;
  RankSlot &slot = shape.block.rank(from.rank);
  RankFacts &to = slot.facts;
  auto set = [](auto &word, auto value) { word.store(value, std::memory_order_release); };
  set(to.collectives, from.collectives);
  set(to.launches, from.launches);
  // An arrival counts when it is carried out; a beat may be older.
  set(to.barriers, std::max(from.barriers, to.barriers.load()));
  set(to.launching, from.launching);
  set(to.hostWaiting, from.hostWaiting);
  set(to.hostMoves, from.hostMoves);
  set(to.streamsAtWork, from.streamsAtWork);
  set(to.streamsInside, from.streamsInside);
  set(to.hostBusy, from.hostBusy);
  set(to.inFlight, from.inFlight);
  set(slot.exitStatus, from.exitStatus);
  set(slot.cpuTicks, from.cpuTicks);
  set(slot.moves, from.moves);
  if (!isGone(shape.block.stateOf(from.rank)))
    set(to.state, from.state);
}

void Speaker::beat() {
  nextBeat = nowNs() + kBeatNs;
  std::function<uint64_t(const std::byte *)> moves;
  {
    std::lock_guard<std::mutex> guard(shape.areas->lock);
    moves = shape.areas->moves;
  }
  Writer message;
  message.add(Envelope{Kind::Facts, -1, 0, uint32_t(endRank - firstRank)});
  told.clear();
  for (int32_t r = firstRank; r < endRank; ++r) {
    RankSlot &slot = shape.block.rank(r);
    char state = 0;
    if (const int32_t process = slot.pid.load())
      slot.cpuTicks.store(processCpuTicks(process, state), std::memory_order_relaxed);
    if (moves)
      slot.moves.store(moves(shape.block.deviceArea(r)), std::memory_order_relaxed);
    message.add(factsOf(r));
    told.push_back(uint32_t(shape.block.stateOf(r)));
  }
  route(std::move(message.bytes));
}

//===----------------------------------------------------------------------===//
// Machines that are lost
//===----------------------------------------------------------------------===//

void Speaker::publish(StatusCode code, int32_t rank, const std::string &text) {
  FailureDetail detail;
  detail.code = code;
  detail.rank = rank;
  detail.message = text;
  Writer message;
  message.add(Envelope{Kind::Failure, -1, 0, 0});
  message.add(uint32_t(code)).add(rank).add(detail.program).text("", 0).text(text, 2048);
  message.site({});
  route(std::move(message.bytes));
}

/// To all machines that are left: `rank` is of another one.
void Speaker::markDead(int32_t rank) {
  FactsCopy facts = factsOf(rank);
  if (isGone(RankState(facts.state)))
    return;
  facts.state = uint32_t(RankState::Dead);
  Writer message;
  message.add(Envelope{Kind::Facts, -1, 0, 1}).add(facts);
  route(std::move(message.bytes));
}

/// Its connection has ended, or it is silent. When it is only the process of the speaker
/// that has ended, that rank is dead, and whoever waits says so; its machine's other
/// ranks know by themselves.
void Speaker::lose(Link &link, bool silent) {
  if (link.fd < 0)
    return;
  close(link.fd);
  link.fd = -1;
  link.in.clear();
  link.out.clear();
  if (!isHub())
    alone = true;
  const int32_t first = firstOf(link.machine);
  bool others = false;
  for (int32_t r = first; r < endOf(link.machine); ++r)
    others = others || (!isGone(shape.block.stateOf(r)) && (r > first || silent));
  if (!link.farewell && others && (silent || isGone(shape.block.stateOf(first)))) {
    char seconds[32];
    std::snprintf(seconds, sizeof(seconds), "%g", shape.links.timeoutSeconds);
    publish(StatusCode::RankDied, first,
            describe(link.machine) +
                (silent ? " has not answered for " + std::string(seconds) +
                              " s: it is down, or the network to it (NEREID_NODE_TIMEOUT sets the "
                              "limit)"
                        : " has closed its connection while ranks of it are in the job"));
    for (int32_t r = first; r < endOf(link.machine); ++r)
      markDead(r);
  } else if (!link.farewell) {
    markDead(first);
  }
  if (alone)
    for (std::string &message : std::exchange(underWay, {}))
      carryOut(message);
}

//===----------------------------------------------------------------------===//
// Carrying out
//===----------------------------------------------------------------------===//

void Speaker::carryOut(std::string_view message) {
  Reader in(message);
  const Envelope envelope = in.get<Envelope>();
  for (uint32_t i = 0; i < envelope.facts && !in.tooShort(); ++i)
    take(in.get<FactsCopy>());
  if (envelope.kind == Kind::Facts || in.tooShort() || envelope.rank >= worldSize)
    return;
  const bool ours = isHere(envelope.rank);
  if (ours && !underWay.empty())
    underWay.pop_front();
  const Outcome outcome = apply(envelope, in);
  if (ours)
    answer(envelope, outcome);
}

Speaker::Outcome Speaker::apply(const Envelope &envelope, Reader &in) {
  // A speaker's own message is about the job alone.
  MemoryJob &job = *jobs[size_t(std::max(envelope.rank, 0))];
  Outcome out;
  switch (envelope.kind) {
  case Kind::Join:
    out.words[0] = uint64_t(uint32_t(job.join(in.get<int32_t>())));
    break;
  case Kind::Settle: {
    const uint32_t setting = in.get<uint32_t>();
    const uint64_t own = in.get<uint64_t>();
    out.words[0] = setting < uint32_t(kJobSettings) ? job.settle(JobSetting(setting), own) : own;
    break;
  }
  case Kind::Address:
    job.publishAddress(std::string_view(in.text()).substr(0, kMaxAddressBytes));
    break;
  case Kind::Failure: {
    FailureDetail detail;
    detail.code = StatusCode(in.get<uint32_t>());
    detail.rank = in.get<int32_t>();
    detail.program = in.get<std::array<int32_t, 3>>();
    detail.kernel = in.text();
    detail.message = in.text();
    detail.site = readSite(in);
    job.publishFailure(detail);
    break;
  }
  case Kind::Account: {
    const uint64_t failure = in.get<uint64_t>();
    std::vector<BlockedGroup> groups(std::min(in.get<uint32_t>(), uint32_t(kMaxRecords)));
    for (BlockedGroup &g : groups) {
      g.programCount = in.get<int64_t>();
      g.currentValue = in.get<int64_t>();
      g.awaitedValue = in.get<int64_t>();
      g.hasValues = in.get<uint32_t>() != 0;
      g.kind = in.text();
      g.programs = in.text();
      g.address = in.text();
      g.comparison = in.text();
      g.note = in.text();
      g.site = readSite(in);
    }
    job.publishAccount(failure, groups);
    break;
  }
  case Kind::ArriveHost: {
    const Team team = readTeam(in);
    const uint64_t number = in.get<uint64_t>();
    const bool later = in.get<uint32_t>() != 0;
    const bool last = job.countHost(team, number, in.text());
    if (last && !later)
      job.completeHost(team, number);
    out.words[0] = last;
    break;
  }
  case Kind::CompleteHost: {
    const Team team = readTeam(in);
    job.completeHost(team, in.get<uint64_t>());
    break;
  }
  case Kind::RequestPlace: {
    const uint64_t number = in.get<uint64_t>();
    job.noteRequestPlace(number, in.text());
    break;
  }
  case Kind::Post: {
    const int32_t to = in.get<int32_t>();
    const auto numbers = in.get<std::array<int32_t, 2>>();
    if (to >= 0 && to < worldSize)
      job.post(to, numbers);
    break;
  }
  case Kind::ArriveRecovery: {
    const uint64_t number = in.get<uint64_t>(), hash = in.get<uint64_t>();
    const bool later = in.get<uint32_t>() != 0;
    const bool last = job.countRecovery(hash);
    if (last && !later)
      job.completeRecovery(number);
    out.words[0] = last;
    break;
  }
  case Kind::CompleteRecovery:
    job.completeRecovery(in.get<uint64_t>());
    break;
  case Kind::Arrive: {
    const Team team = readTeam(in);
    const BarrierArrival arrival = job.arrive(team, in.get<uint64_t>());
    out.words[0] = arrival.outcome;
    out.words[1] = arrival.number;
    break;
  }
  case Kind::CompleteBarrier: {
    const Team team = readTeam(in);
    job.completeBarrier(team, in.get<uint64_t>());
    break;
  }
  case Kind::NoteCall: {
    const Team team = readTeam(in);
    const uint64_t number = in.get<uint64_t>();
    job.noteCall(team, number, in.get<TeamCall>());
    break;
  }
  case Kind::MakeTeam: {
    const auto made = job.makeTeam(readShape(in));
    out.words[0] = made ? uint64_t(made->key) : 0; // the world is no split team
    out.words[1] = made ? made->generation : 0;
    break;
  }
  case Kind::DropTeam:
    job.dropTeam(in.get<int32_t>());
    break;
  case Kind::LeaveTeam:
    job.leaveTeam(readTeam(in));
    break;
  case Kind::ClaimText:
    out.words[0] = uint64_t(uint32_t(job.claimText(in.get<uint64_t>())));
    break;
  case Kind::Facts:
  case Kind::Farewell:
    break;
  }
  return out;
}

void Speaker::answer(const Envelope &envelope, const Outcome &outcome) {
  RankSlot &slot = shape.block.rank(envelope.rank);
  for (int i = 0; i < 2; ++i)
    slot.outcome[i].store(outcome.words[i], std::memory_order_relaxed);
  slot.called.store(envelope.number, std::memory_order_release);
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&slot.called), FUTEX_WAKE, INT_MAX, nullptr,
          nullptr, 0);
}

} // namespace nereid::runtime::tcp
