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
  // What abi.h declares, against what entry_points.def says.
  size_t i = 0;
#define CHECK(NAME, SIGNATURE, RETURNS)                                                            \
  ASSERT_LT(i, cpu::runtimeFunctions().size());                                                    \
  EXPECT_STREQ(cpu::runtimeFunctions()[i].name, #NAME);                                            \
  EXPECT_EQ(signature(static_cast<decltype(&::NAME)>(nullptr)), SIGNATURE) << #NAME;               \
  EXPECT_EQ(cpu::runtimeFunctions()[i++].returns, RETURNS) << #NAME;
#define NRD_ENTRY(NAME, SIGNATURE) CHECK(NAME, SIGNATURE, true)
#define NRD_ENTRY_NO_RETURN(NAME, SIGNATURE) CHECK(NAME, SIGNATURE, false)
#include "nereid/entry_points.def"
#undef CHECK
  EXPECT_EQ(i, cpu::runtimeFunctions().size());
}
