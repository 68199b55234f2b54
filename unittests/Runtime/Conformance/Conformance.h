// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Conformance.h - One suite, every way between ranks -----------------===//
//
// What every transport must do, whatever it is made of. Each test of the suite
// runs over all ways between ranks: as threads or as processes, on one node or,
// for each row of the table of transports, on several nodes; delayed or not, in
// the system's order or in that of a seed; and over each control plane. A new row
// runs by itself. What a control plane must do by itself stands in ControlTest.cpp.
//
// To add an operation:
//
//   - one that moves bytes: a row in the table of TransfersTest.cpp. It says
//     how to start the operation and how the receiver learns that the data is
//     there; sizes, alignments, bytes around the target and all ways come by
//     themselves.
//   - one that works on a single element (an atomic, a signal): a row in the
//     table of ElementsTest.cpp, with the value it must leave behind.
//   - a collective or anything else: a TEST_P(Conformance, Name) in a file of
//     its own. onRanks() starts the ranks; write the kernel against abi.h and
//     count what is wrong into Findings. Ranks wait for each other inside the
//     kernel only by what the operation promises, so that a missing guarantee
//     shows under random schedules.
//   - what it refuses: a row in ErrorsTest.cpp.
//
// Add the file to unittests/Runtime/CMakeLists.txt.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_UNITTESTS_RUNTIME_CONFORMANCE_H
#define NEREID_UNITTESTS_RUNTIME_CONFORMANCE_H

#include "Harness.h"

#include "control/ControlPlanes.h"

#include <atomic>

namespace nereid::test {

/// How the ranks of a test exist and reach each other.
struct Way {
  std::string name;
  std::string transport; ///< between nodes
  bool processes = false;
  int32_t ranksPerNode = 0;
  const char *schedule = "fifo";
  int32_t ranks = 3;
  int32_t threads = 1; ///< of each rank
  std::string control = "memory";
};
std::ostream &operator<<(std::ostream &os, const Way &way);

/// Ways on one node, those over every transport and those over every other control
/// plane than the first.
std::vector<Way> allWays();
/// Between nodes by `transport`, also delayed and under random schedules.
std::vector<Way> waysOver(const std::string &transport);
/// By a control plane, with what it has: one machine or several, threads or processes.
std::vector<Way> waysBy(const runtime::ControlPlaneRow &row);

class Conformance : public testing::TestWithParam<Way> {
protected:
  /// Runs `body` once for each rank.
  void onRanks(const std::function<void(Job &)> &body, uint64_t heapBytes = 0);
};

/// What a kernel found wrong. One per rank, in symmetric or ordinary memory.
struct Findings {
  std::atomic<int64_t> count{0};
  /// The first one: four numbers that the test explains.
  int64_t first[4] = {0, 0, 0, 0};

  void note(int64_t a, int64_t b = 0, int64_t c = 0, int64_t d = 0) {
    if (count.fetch_add(1) != 0)
      return;
    first[0] = a;
    first[1] = b;
    first[2] = c;
    first[3] = d;
  }
  std::string text() const;
};

/// A byte of the data that `rank` sends in `round`.
inline uint8_t patternByte(int32_t rank, int64_t round, uint64_t at) {
  uint64_t x = (uint64_t(rank) + 1) * 0x9e3779b97f4a7c15u ^ uint64_t(round) * 0xd1b54a32d192ed03u ^
               at * 0xff51afd7ed558ccdu;
  x ^= x >> 29;
  return uint8_t(x >> 8 | 1); // never 0
}

} // namespace nereid::test

#endif // NEREID_UNITTESTS_RUNTIME_CONFORMANCE_H
