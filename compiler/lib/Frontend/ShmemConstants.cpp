// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The constants of libshmem_device's libraries: names, meanings, numbers.
//
// A constant is one integer of 128 bits, so that it goes through Python and
// through the kernel's arithmetic on constants like any number, and can still
// be told from one:
//
//   bits 127..96   95..80   79..72    71..64   63..32   31..0
//   a mark         -        library   kind     -        meaning, in our own numbers
//
// No number that a kernel computes for itself has the mark, which stands far
// above 64 bits. The libraries' own numbers appear only where a plain number
// has to be read (fromNative).
#include "nereid/Frontend/Value.h"

using namespace nereid;
using namespace nereid::frontend;
using Family = ShmemConstant::Family;
using Kind = ShmemConstant::Kind;

namespace {
struct Name {
  const char *name;
  ShmemConstant constant;
};
} // namespace

/// Of several names for one constant the first is used in messages.
static const Name names[] = {
#define NEREID_COMMON(FAMILY)                                                                      \
  {#FAMILY "_CMP_EQ", {Family::FAMILY, Kind::Compare, 0}},                                         \
      {#FAMILY "_CMP_NE", {Family::FAMILY, Kind::Compare, 1}},                                     \
      {#FAMILY "_CMP_GT", {Family::FAMILY, Kind::Compare, 2}},                                     \
      {#FAMILY "_CMP_LE", {Family::FAMILY, Kind::Compare, 3}},                                     \
      {#FAMILY "_CMP_LT", {Family::FAMILY, Kind::Compare, 4}},                                     \
      {#FAMILY "_CMP_GE", {Family::FAMILY, Kind::Compare, 5}},                                     \
      {#FAMILY "_SIGNAL_SET", {Family::FAMILY, Kind::Signal, 1}}, {                                \
    #FAMILY "_SIGNAL_ADD", {Family::FAMILY, Kind::Signal, 2}                                       \
  }
#define NEREID_ATOMIC(PREFIX, FAMILY)                                                              \
  {PREFIX "_INC", {Family::FAMILY, Kind::Atomic, ShmemConstant::Inc}},                             \
      {PREFIX "_SET", {Family::FAMILY, Kind::Atomic, ShmemConstant::Set}},                         \
      {PREFIX "_ADD", {Family::FAMILY, Kind::Atomic, ShmemConstant::Add}},                         \
      {PREFIX "_AND", {Family::FAMILY, Kind::Atomic, ShmemConstant::And}},                         \
      {PREFIX "_OR", {Family::FAMILY, Kind::Atomic, ShmemConstant::Or}},                           \
      {PREFIX "_XOR", {Family::FAMILY, Kind::Atomic, ShmemConstant::Xor}},                         \
      {PREFIX "_FETCH", {Family::FAMILY, Kind::Atomic, ShmemConstant::Fetch}},                     \
      {PREFIX "_FETCH_INC", {Family::FAMILY, Kind::Atomic, ShmemConstant::FetchInc}},              \
      {PREFIX "_FETCH_ADD", {Family::FAMILY, Kind::Atomic, ShmemConstant::FetchAdd}},              \
      {PREFIX "_FETCH_AND", {Family::FAMILY, Kind::Atomic, ShmemConstant::FetchAnd}},              \
      {PREFIX "_FETCH_OR", {Family::FAMILY, Kind::Atomic, ShmemConstant::FetchOr}},                \
      {PREFIX "_FETCH_XOR", {Family::FAMILY, Kind::Atomic, ShmemConstant::FetchXor}},              \
      {PREFIX "_SWAP", {Family::FAMILY, Kind::Atomic, ShmemConstant::Swap}},                       \
      {PREFIX "_COMPARE_SWAP", {Family::FAMILY, Kind::Atomic, ShmemConstant::CompareSwap}},        \
      {PREFIX "_SIGNAL_SET", {Family::FAMILY, Kind::Signal, 1}}, {                                 \
    PREFIX "_SIGNAL_ADD", {Family::FAMILY, Kind::Signal, 2}                                        \
  }
    NEREID_COMMON(NVSHMEM),
    NEREID_COMMON(ROCSHMEM),
    NEREID_COMMON(ACLSHMEM),
    NEREID_COMMON(MORI),
    NEREID_COMMON(MXSHMEM),
    NEREID_ATOMIC("NVSHMEMI_AMO", NVSHMEM),
    NEREID_ATOMIC("MORI_AMO", MORI),
#undef NEREID_COMMON
#undef NEREID_ATOMIC
    {"NVSHMEM_TEAM_INVALID", {Family::NVSHMEM, Kind::Team, -1}},
    {"NVSHMEM_TEAM_WORLD", {Family::NVSHMEM, Kind::Team, 0}},
    {"NVSHMEM_TEAM_WORLD_INDEX", {Family::NVSHMEM, Kind::Team, 0}},
    {"NVSHMEM_TEAM_SHARED", {Family::NVSHMEM, Kind::Team, 1}},
    {"NVSHMEM_TEAM_SHARED_INDEX", {Family::NVSHMEM, Kind::Team, 1}},
    {"NVSHMEMX_TEAM_NODE", {Family::NVSHMEM, Kind::Team, 2}},
    {"NVSHMEM_TEAM_NODE_INDEX", {Family::NVSHMEM, Kind::Team, 2}},
    {"NVSHMEMX_TEAM_SAME_MYPE_NODE", {Family::NVSHMEM, Kind::Team, 3}},
    {"NVSHMEM_TEAM_SAME_MYPE_NODE_INDEX", {Family::NVSHMEM, Kind::Team, 3}},
    {"ACLSHMEM_TEAM_INVALID", {Family::ACLSHMEM, Kind::Team, -1}},
    {"ACLSHMEM_TEAM_WORLD", {Family::ACLSHMEM, Kind::Team, 0}},
    {"MXSHMEM_TEAM_INVALID", {Family::MXSHMEM, Kind::Team, -1}},
    {"MXSHMEM_TEAM_WORLD", {Family::MXSHMEM, Kind::Team, 0}},
    {"MXSHMEM_TEAM_SHARED", {Family::MXSHMEM, Kind::Team, 1}},
    {"MXSHMEMX_TEAM_NODE", {Family::MXSHMEM, Kind::Team, 2}},
    {"MXSHMEMX_TEAM_SAME_MYPE_NODE", {Family::MXSHMEM, Kind::Team, 3}},
};

static constexpr Int shmemTag = Int(0x5348) << 96;

Int ShmemConstant::encode() const {
  return shmemTag | (Int(uint8_t(family)) << 72) | (Int(uint8_t(kind)) << 64) |
         Int(uint32_t(number));
}

std::optional<ShmemConstant> ShmemConstant::decode(Int value) {
  if (value >> 96 != shmemTag >> 96)
    return std::nullopt;
  return ShmemConstant{Family(uint8_t(value >> 72)), Kind(uint8_t(value >> 64)),
                       int32_t(uint32_t(value))};
}

std::optional<ShmemConstant> ShmemConstant::find(llvm::StringRef name) {
  for (const Name &entry : names)
    if (name == entry.name)
      return entry.constant;
  return std::nullopt;
}

std::vector<std::string> ShmemConstant::allNames() {
  std::vector<std::string> all;
  for (const Name &entry : names)
    all.push_back(entry.name);
  return all;
}

int64_t ShmemConstant::nativeNumber() const {
  const bool rocNumbers = family == Family::ROCSHMEM || family == Family::ACLSHMEM;
  switch (kind) {
  case Kind::Compare: { // EQ NE GT LE LT GE
    static const int roc[] = {0, 1, 2, 5, 4, 3};
    return rocNumbers && number >= 0 && number < 6 ? roc[number] : number;
  }
  case Kind::Signal:
    return rocNumbers ? number - 1 : number + 8;
  case Kind::Atomic: // those that return something begin at 12 or 14
    return number < Fetch ? number + 2 : number - Fetch + (family == Family::MORI ? 14 : 12);
  case Kind::Team:
    break;
  }
  return number;
}

std::optional<int32_t> ShmemConstant::fromNative(Family family, Kind kind, int64_t number) {
  for (const Name &entry : names)
    if (entry.constant.family == family && entry.constant.kind == kind &&
        entry.constant.nativeNumber() == number)
      return entry.constant.number;
  return std::nullopt;
}

std::string ShmemConstant::name() const {
  for (const Name &entry : names)
    if (entry.constant.encode() == encode())
      return entry.name;
  return "libshmem_device constant";
}

std::optional<ShmemConstant> ShmemConstant::in(Family other) const {
  ShmemConstant same{other, kind, number};
  for (const Name &entry : names)
    if (entry.constant.encode() == same.encode())
      return same;
  return std::nullopt;
}
