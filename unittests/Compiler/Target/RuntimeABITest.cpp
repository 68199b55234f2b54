// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler's mirror of abi.h says what abi.h says.
#include "Target/CPU/RuntimeABI.h"
#include "nereid/abi.h"

#include "gtest/gtest.h"

#include <cstddef>

using namespace nereid;

TEST(RuntimeABI, ProgramOffsets) {
  EXPECT_EQ(size_t(cpu::program_offset::pid), offsetof(nrd_program, pid));
  EXPECT_EQ(size_t(cpu::program_offset::grid), offsetof(nrd_program, grid));
  EXPECT_EQ(size_t(cpu::program_offset::rank), offsetof(nrd_program, rank));
  EXPECT_EQ(size_t(cpu::program_offset::numRanks), offsetof(nrd_program, num_ranks));
  EXPECT_EQ(size_t(cpu::program_offset::subVecId), offsetof(nrd_program, sub_vec_id));
  EXPECT_EQ(size_t(cpu::program_offset::subVecNum), offsetof(nrd_program, sub_vec_num));
  EXPECT_EQ(size_t(cpu::program_offset::heapBase), offsetof(nrd_program, heap_base));
  EXPECT_EQ(size_t(cpu::program_offset::heapBytes), offsetof(nrd_program, heap_bytes));
  EXPECT_EQ(size_t(cpu::program_offset::scratch), offsetof(nrd_program, scratch));
  EXPECT_EQ(size_t(cpu::program_offset::waitStride), offsetof(nrd_program, wait_stride));
  EXPECT_EQ(size_t(cpu::program_offset::runtime), offsetof(nrd_program, runtime));
  EXPECT_EQ(cpu::firstYield, NRD_FIRST_YIELD);
}

namespace {
template <typename T> char letter() {
  if constexpr (std::is_void_v<T>)
    return 'v';
  else if constexpr (std::is_pointer_v<T>)
    return 'p';
  else if constexpr (sizeof(T) == 4)
    return 'i';
  else
    return 'l';
}
template <typename R, typename... Args> std::string signature(R (*)(Args...)) {
  return std::string{letter<R>(), letter<Args>()...};
}
} // namespace

TEST(RuntimeABI, Signatures) {
  std::vector<std::pair<std::string, std::string>> declared = {
#define ENTRY(name) {#name, signature(static_cast<decltype(&::name)>(nullptr))}
      ENTRY(nrd_yield),
      ENTRY(nrd_clock_ns),
      ENTRY(nrd_wait),
      ENTRY(nrd_notify),
      ENTRY(nrd_fail_rank),
      ENTRY(nrd_fail_not_symmetric),
      ENTRY(nrd_fail_assert),
      ENTRY(nrd_print),
      ENTRY(nrd_barrier_all),
      ENTRY(nrd_shmem_ptr),
      ENTRY(nrd_shmem_put),
      ENTRY(nrd_shmem_get),
      ENTRY(nrd_shmem_put_signal),
      ENTRY(nrd_shmem_signal_op),
      ENTRY(nrd_shmem_p),
      ENTRY(nrd_shmem_g),
      ENTRY(nrd_shmem_wait_until),
      ENTRY(nrd_shmem_fence),
      ENTRY(nrd_shmem_quiet),
      ENTRY(nrd_shmem_sync_all),
      ENTRY(nrd_shmem_fence_pe),
      ENTRY(nrd_shmem_quiet_pe),
      ENTRY(nrd_shmem_atomic),
      ENTRY(nrd_team_my_pe),
      ENTRY(nrd_team_n_pes),
      ENTRY(nrd_team_translate_pe),
      ENTRY(nrd_team_barrier),
      ENTRY(nrd_team_broadcast),
      ENTRY(nrd_team_fcollect),
      ENTRY(nrd_lane_share),
#undef ENTRY
  };
  ASSERT_EQ(declared.size(), cpu::runtimeFunctions().size());
  for (auto [i, function] : llvm::enumerate(cpu::runtimeFunctions())) {
    EXPECT_EQ(declared[i].first, function.name);
    EXPECT_EQ(declared[i].second, function.signature) << function.name;
    EXPECT_EQ(function.returns, !llvm::StringRef(function.name).starts_with("nrd_fail"))
        << function.name;
  }
}
