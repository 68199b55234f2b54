// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/runtime/Status.h"

#include <gtest/gtest.h>

using namespace nereid::runtime;

TEST(Status, SuccessIsSilent) {
  Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::Ok);
  EXPECT_EQ(status.message(), "");
}

TEST(Status, ReportShowsLineCaretAndPlace) {
  FailureDetail detail;
  detail.code = StatusCode::BadRank;
  detail.message = "rank 7 is outside this job of 4 ranks";
  detail.rank = 2;
  detail.program = {3, 0, 1};
  detail.kernel = "ring";
  detail.site = {"k.py", 12, 5, "ring", "    dl.notify(sig, 7)"};
  std::string report = Status(detail).report();
  EXPECT_NE(report.find("k.py:12:5: error: rank 7 is outside"), std::string::npos) << report;
  EXPECT_NE(report.find("    dl.notify(sig, 7)\n    ^\n"), std::string::npos) << report;
  EXPECT_NE(report.find("kernel 'ring', rank 2, program (3, 0, 1)"), std::string::npos) << report;
}

TEST(Status, ReportGroupsBlockedProgramsByRank) {
  FailureDetail detail;
  detail.message = "deadlock";
  BlockedGroup group;
  group.rank = 1;
  group.kind = "wait";
  group.programs = "(0, 0, 0)";
  group.programCount = 1;
  group.address = "'flags' + 8";
  group.hasValues = true;
  group.currentValue = 3;
  group.awaitedValue = 2;
  group.comparison = "==";
  group.note = "passed it";
  detail.blocked.push_back(group);
  std::string report = Status(detail).report();
  EXPECT_NE(report.find("rank 1:"), std::string::npos);
  EXPECT_NE(report.find("wait on 'flags' + 8: value 3, waits for 2 (passed it)"), std::string::npos)
      << report;
}
