// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "control/tcp/TcpJob.h"

#include "base/Clock.h"
#include "control/tcp/Speaker.h"

#include <cerrno>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nereid::runtime::tcp {

/// How long a rank waits for the speaker to begin.
static constexpr uint64_t kBeginNs = uint64_t(60) * 1000000000;
/// Looks at the answer before the rank sleeps: a call within the machine is over by then.
static constexpr int kSpins = 2000;

TcpJob::TcpJob(ControlBlock block, uint64_t identity, int32_t rank, int32_t machine, int32_t first,
               int32_t end)
    : JobControl(block.rank(rank).facts, block.header().failure.state),
      local(block, rank, first, end), block(block), rank(rank), first(first), end(end),
      speakerBytes(speakerAddress(identity, machine, speaker)),
      socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  const timeval patience{1, 0};
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

TcpJob::~TcpJob() {
  if (socket >= 0)
    close(socket);
}

bool TcpJob::tell(const std::string &message) {
  for (const uint64_t begin = nowNs();;) {
    if (sendto(socket, message.data(), message.size(), MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr *>(&speaker), speakerBytes) >= 0)
      return true;
    if (errno == EINTR)
      continue;
    const bool begun = block.header().speaker.load(std::memory_order_acquire) != 0;
    if (begun && (errno == ECONNREFUSED || !speakerLives(block)))
      return false;
    if (nowNs() - begin > kBeginNs)
      return false;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
      sleepNs(1000000);
  }
}

std::optional<TcpJob::Outcome> TcpJob::call(Kind kind, const Writer &what, bool waits) {
  std::lock_guard<std::mutex> guard(calling);
  const uint32_t number = ++lastNumber;
  Writer message;
  message.add(Envelope{kind, rank, number, 0});
  message.bytes += what.bytes;
  if (!tell(message.bytes))
    return std::nullopt;
  Outcome out;
  if (!waits)
    return out;
  RankSlot &slot = block.rank(rank);
  for (int spins = 0;; ++spins) {
    const uint32_t seen = slot.called.load(std::memory_order_acquire);
    if (int32_t(seen - number) >= 0)
      break;
    if (spins < kSpins) {
      cpuPause();
      continue;
    }
    const timespec moment{0, 20000000};
    if (syscall(SYS_futex, reinterpret_cast<uint32_t *>(&slot.called), FUTEX_WAIT, seen, &moment,
                nullptr, 0) != 0 &&
        errno == ETIMEDOUT && !speakerLives(block))
      return std::nullopt;
  }
  for (int i = 0; i < 2; ++i)
    out.words[i] = slot.outcome[i].load(std::memory_order_relaxed);
  return out;
}

int32_t TcpJob::join(int32_t process) {
  const auto out = call(Kind::Join, Writer().add(process), true);
  return out ? int32_t(out->words[0]) : 0;
}

void TcpJob::publishAddress(std::string_view address) {
  (void)call(Kind::Address, Writer().text(address, kMaxAddressBytes), false);
}

uint64_t TcpJob::settle(JobSetting setting, uint64_t own) {
  const auto out = call(Kind::Settle, Writer().add(uint32_t(setting)).add(own), true);
  return out ? out->words[0] : own;
}

void TcpJob::publishFailure(const FailureDetail &detail) {
  Writer what;
  what.add(uint32_t(detail.code)).add(detail.rank).add(detail.program);
  what.text(detail.kernel, 256).text(detail.message, 2048).site(detail.site);
  if (!call(Kind::Failure, what, true))
    local.publishFailure(detail);
}

void TcpJob::publishAccount(uint64_t failure, const std::vector<BlockedGroup> &groups) {
  const std::vector<BlockedGroup> some = shortAccount(groups);
  Writer what;
  what.add(failure).add(uint32_t(some.size()));
  for (const BlockedGroup &g : some) {
    what.add(g.programCount).add(g.currentValue).add(g.awaitedValue).add(uint32_t(g.hasValues));
    what.text(g.kind, 64).text(g.programs, 256).text(g.address, 256).text(g.comparison, 16);
    what.text(g.note, 256).site(g.site);
  }
  if (!call(Kind::Account, what, true))
    local.publishAccount(failure, some);
}

bool TcpJob::arriveHost(const Team &team, uint64_t number, std::string_view request,
                        const std::function<void()> &complete) {
  if (isLocal(team))
    return local.arriveHost(team, number, request, complete);
  Writer what;
  what.team(team).add(number).add(uint32_t(complete != nullptr)).text(request, 512);
  const auto out = call(Kind::ArriveHost, what, true);
  if (!out || !out->words[0])
    return false;
  if (complete) {
    complete();
    (void)call(Kind::CompleteHost, Writer().team(team).add(number), true);
  }
  return true;
}

void TcpJob::noteRequestPlace(uint64_t number, std::string_view where) {
  (void)call(Kind::RequestPlace, Writer().add(number).text(where, 256), false);
}

void TcpJob::post(int32_t r, std::array<int32_t, 2> numbers) {
  (void)call(Kind::Post, Writer().add(r).add(numbers), false);
}

bool TcpJob::arriveRecovery(uint64_t number, uint64_t hash, const std::function<void()> &complete) {
  const auto out = call(Kind::ArriveRecovery,
                        Writer().add(number).add(hash).add(uint32_t(complete != nullptr)), true);
  if (!out || !out->words[0])
    return false;
  if (complete) {
    complete();
    (void)call(Kind::CompleteRecovery, Writer().add(number), true);
  }
  return true;
}

BarrierArrival TcpJob::arrive(const Team &team, uint64_t id) {
  if (isLocal(team))
    return local.arrive(team, id);
  const auto out = call(Kind::Arrive, Writer().team(team).add(id), true);
  if (!out) // nobody completes it any more
    return {BarrierArrival::Waits, barrierEpoch(team.key).load(std::memory_order_acquire) + 1};
  return {BarrierArrival::Outcome(out->words[0]), out->words[1]};
}

void TcpJob::completeBarrier(const Team &team, uint64_t number) {
  if (isLocal(team))
    return local.completeBarrier(team, number);
  (void)call(Kind::CompleteBarrier, Writer().team(team).add(number), false);
}

void TcpJob::noteCall(const Team &team, uint64_t number, TeamCall made) {
  if (isLocal(team))
    return local.noteCall(team, number, made);
  (void)call(Kind::NoteCall, Writer().team(team).add(number).add(made), false);
}

std::optional<JobControl::MadeTeam> TcpJob::makeTeam(const TeamShape &shape) {
  const auto out = call(Kind::MakeTeam, Writer().shape(shape), true);
  if (!out || !out->words[0])
    return std::nullopt;
  return MadeTeam{TeamKey(out->words[0]), uint32_t(out->words[1])};
}

void TcpJob::dropTeam(TeamKey key) { (void)call(Kind::DropTeam, Writer().add(key), false); }

void TcpJob::leaveTeam(const Team &team) { (void)call(Kind::LeaveTeam, Writer().team(team), true); }

int32_t TcpJob::claimText(uint64_t hash) {
  const auto out = call(Kind::ClaimText, Writer().add(hash), true);
  return out ? int32_t(out->words[0]) : rank;
}

} // namespace nereid::runtime::tcp
