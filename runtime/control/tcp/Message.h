// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Message.h - What ranks and machines tell each other ----------------===//
//
//   Envelope │ facts of `facts` ranks │ what the kind carries
//
// From a rank to its speaker it is a datagram without facts, which the speaker puts
// in; between machines it follows its length, 4 bytes, in a stream. Numbers are in
// the order of bytes of the machine: the ranks have compared it when they met.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_CONTROL_TCP_MESSAGE_H
#define NEREID_RUNTIME_CONTROL_TCP_MESSAGE_H

#include "control/interface/ControlPlane.h"

#include <cstring>
#include <type_traits>

namespace nereid::runtime::tcp {

/// Of the calls of JobControl that change something, and what speakers say.
enum class Kind : uint32_t {
  Join,
  Settle,
  Address,
  Failure,
  Account,
  ArriveHost,
  CompleteHost,
  RequestPlace,
  Post,
  ArriveRecovery,
  CompleteRecovery,
  Arrive,
  CompleteBarrier,
  NoteCall,
  MakeTeam,
  DropTeam,
  LeaveTeam,
  ClaimText,
  Facts,    ///< nothing but the facts: the heartbeat of a machine
  Farewell, ///< all ranks of the machine have left the job, in whatever order
};

struct Envelope {
  Kind kind = Kind::Facts;
  int32_t rank = -1;   ///< whose call it is; -1: a speaker's
  uint32_t number = 0; ///< of the rank's calls, from 1 on
  uint32_t facts = 0;
};
static_assert(sizeof(Envelope) == 16);

/// RankFacts of one rank and what else others know of it.
struct FactsCopy {
  int32_t rank;
  uint32_t state, hostBusy, launching, hostWaiting, streamsAtWork, streamsInside, exitStatus;
  uint64_t collectives, launches, barriers, hostMoves, inFlight, cpuTicks, moves;
};
static_assert(sizeof(FactsCopy) == 88 && std::is_trivially_copyable_v<FactsCopy>);

inline constexpr size_t kMaxMessageBytes =
    sizeof(Envelope) + size_t(kMaxRanks) * sizeof(FactsCopy) + (1 << 17);

class Writer {
public:
  template <typename T> Writer &add(const T &value) {
    static_assert(std::has_unique_object_representations_v<T>, "padding must not be sent");
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
    return *this;
  }
  /// Cut to `limit` bytes.
  Writer &text(std::string_view value, size_t limit) {
    value = value.substr(0, limit);
    add(uint32_t(value.size()));
    bytes.append(value);
    return *this;
  }
  Writer &shape(const TeamShape &value) {
    return add(value.start).add(value.stride).add(value.size);
  }
  Writer &team(const Team &value) { return add(value.key).shape(value); }
  Writer &site(const SourceSite &value) {
    add(value.line).add(value.column).text(value.file, 512).text(value.function, 256);
    return text(value.text, 512);
  }
  std::string bytes;
};

/// Gives zeros and empty texts behind the end of what there is, and says so.
class Reader {
public:
  explicit Reader(std::string_view bytes) : rest(bytes) {}
  template <typename T> T get() {
    T value{};
    if (rest.size() < sizeof(T)) {
      short_ = true;
      return value;
    }
    std::memcpy(&value, rest.data(), sizeof(T));
    rest.remove_prefix(sizeof(T));
    return value;
  }
  std::string text() {
    const size_t bytes = get<uint32_t>();
    if (bytes > rest.size()) {
      short_ = true;
      return {};
    }
    std::string out(rest.substr(0, bytes));
    rest.remove_prefix(bytes);
    return out;
  }
  bool tooShort() const { return short_; }

private:
  std::string_view rest;
  bool short_ = false;
};

inline TeamShape readShape(Reader &from) {
  TeamShape shape;
  shape.start = from.get<int32_t>();
  shape.stride = from.get<int32_t>();
  shape.size = from.get<int32_t>();
  return shape;
}
inline Team readTeam(Reader &from) {
  Team team;
  team.key = from.get<int32_t>();
  static_cast<TeamShape &>(team) = readShape(from);
  return team;
}
inline SourceSite readSite(Reader &from) {
  SourceSite site;
  site.line = from.get<int32_t>();
  site.column = from.get<int32_t>();
  site.file = from.text();
  site.function = from.text();
  site.text = from.text();
  return site;
}

} // namespace nereid::runtime::tcp

#endif // NEREID_RUNTIME_CONTROL_TCP_MESSAGE_H
