// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- profiles.h - What differs between the machines that kernels are for -===//
//
// A target profile makes the CPU behave like the machine that a kernel is
// written for, where the language leaves room. One row per profile; the
// compiler (checks, sub_vec_num) and the runtime (everything else) read the
// same table. docs/shmem.md explains the columns.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_PROFILES_H
#define NEREID_PROFILES_H

#include <cstdint>
#include <string>
#include <string_view>

namespace nereid {

/// The libraries whose functions and constants libshmem_device has.
enum class ShmemLibrary : uint8_t { NVSHMEM, ROCSHMEM, ACLSHMEM, MORI, MXSHMEM, Any };

struct TargetProfile {
  const char *name;
  /// The library that libshmem_device stands for; Any: all of them together.
  ShmemLibrary library;
  /// How plain numbers of comparisons and signal operations are read.
  ShmemLibrary numbering;
  /// Bytes between the slots of one dl.wait; 0 = one element.
  uint64_t waitStride;
  /// Vector cores of one AI core: al.sub_vec_num().
  int32_t subVecNum;
  /// Bytes of the signals of libshmem_device; 0 = any integer.
  int32_t signalBytes;
  /// Barriers and team collectives are called by one program of each rank
  /// instead of by all of them.
  bool oneProgramPerRank;
  /// fence() also completes transfers, as quiet() does.
  bool fenceCompletes;
};

inline constexpr TargetProfile targetProfiles[] = {
    {"host", ShmemLibrary::Any, ShmemLibrary::NVSHMEM, 0, 1, 0, false, false},
    {"cuda", ShmemLibrary::NVSHMEM, ShmemLibrary::NVSHMEM, 0, 1, 8, true, false},
    {"ascend910b", ShmemLibrary::ACLSHMEM, ShmemLibrary::ACLSHMEM, 64, 2, 4, false, true},
};

/// The profile of that name, or null.
inline const TargetProfile *findTargetProfile(std::string_view name) {
  for (const TargetProfile &profile : targetProfiles)
    if (name == profile.name)
      return &profile;
  return nullptr;
}

/// "host, cuda, ascend910b", for messages.
inline std::string targetProfileNames() {
  std::string names;
  for (const TargetProfile &profile : targetProfiles)
    names += (names.empty() ? "" : ", ") + std::string(profile.name);
  return names;
}

inline const char *shmemLibraryName(ShmemLibrary library) {
  constexpr const char *names[] = {"NVSHMEM", "ROCSHMEM", "ACLSHMEM",
                                   "MORI",    "MXSHMEM",  "every library"};
  return names[int(library)];
}

} // namespace nereid

#endif // NEREID_PROFILES_H
