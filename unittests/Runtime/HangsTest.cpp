// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HangsTest.cpp - Why a wait never ended, from the history of words --===//
#include "check/Hangs.h"
#include "base/Words.h"

#include <gtest/gtest.h>

using namespace nereid::runtime;

namespace {

TEST(Words, CompareByWidthAndSign) {
  EXPECT_TRUE(compareWords(NRD_CMP_LT, 0xff, 1, 1, /*isSigned=*/true));
  EXPECT_FALSE(compareWords(NRD_CMP_LT, 0xff, 1, 1, /*isSigned=*/false));
  EXPECT_TRUE(compareWords(NRD_CMP_GE, ~uint64_t(0), 1, 8, /*isSigned=*/false));
  EXPECT_FALSE(compareWords(NRD_CMP_GE, ~uint64_t(0), 1, 8, /*isSigned=*/true));
  for (bool isSigned : {false, true})
    for (uint64_t word : {3, 4, 5}) {
      EXPECT_EQ(compareWords(NRD_CMP_EQ, word, 4, 4, isSigned), word == 4);
      EXPECT_EQ(compareWords(NRD_CMP_NE, word, 4, 4, isSigned), word != 4);
      EXPECT_EQ(compareWords(NRD_CMP_GT, word, 4, 4, isSigned), word > 4);
      EXPECT_EQ(compareWords(NRD_CMP_LE, word, 4, 4, isSigned), word <= 4);
      EXPECT_EQ(compareWords(NRD_CMP_LT, word, 4, 4, isSigned), word < 4);
      EXPECT_EQ(compareWords(NRD_CMP_GE, word, 4, 4, isSigned), word >= 4);
    }
}

EventRecord waitFor(int how, uint64_t value, bool isSigned) {
  EventRecord wait;
  wait.kind = EventKind::Wait;
  wait.rank = wait.pe = 1;
  wait.offset = 64;
  wait.width = 8;
  wait.how = uint8_t(how);
  wait.value = value;
  wait.flags = EventRecord::kReads | (isSigned ? 0 : EventRecord::kUnsigned);
  return wait;
}

/// A word that becomes 2^63 and then 0, and a wait for at least 1.
check::Hang hangOf(bool isSigned) {
  check::Hangs hangs;
  hangs.update(1, 64, uint64_t(1) << 63, 10);
  hangs.update(1, 64, 0, 11);
  hangs.begin(waitFor(NRD_CMP_GE, 1, isSigned), 12);
  std::vector<check::Hang> all = hangs.all();
  EXPECT_EQ(all.size(), 1u);
  return all.front();
}

TEST(Hangs, WordsAreReadAsTheWaitReadsThem) {
  const check::Hang passed = hangOf(/*isSigned=*/false);
  EXPECT_EQ(passed.title, "the value that this waits for has been passed");
  EXPECT_NE(passed.order.find("the word was 9223372036854775808"), std::string::npos)
      << passed.order;
  EXPECT_NE(hangOf(/*isSigned=*/true).title, passed.title); // negative: never was enough
}

} // namespace
