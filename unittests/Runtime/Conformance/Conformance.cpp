// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Conformance.h"

namespace nereid::test {

const std::vector<Way> kWays = {
    {"threads", false, 0, "fifo", 3, 2},
    {"processes", true, 0, "fifo", 3, 1},
    {"nodes", true, 1, "fifo", 3, 1},
    {"node_pairs", true, 2, "fifo", 4, 1},
    {"nodes_of_threads", false, 1, "fifo", 3, 2},
    {"random_threads", false, 0, "random:11", 3, 1},
    {"random_processes", true, 0, "random:12", 3, 1},
    {"random_nodes", true, 1, "random:13", 3, 1},
    {"alone", false, 0, "fifo", 1, 1},
};

std::ostream &operator<<(std::ostream &os, const Way &way) { return os << way.name; }

void Conformance::onRanks(const std::function<void(Job &)> &body, uint64_t heapBytes) {
  const Way &way = GetParam();
  JobOptions options = testOptions();
  options.numThreads = way.threads;
  options.schedule = way.schedule;
  options.ranksPerNode = way.ranksPerNode;
  if (heapBytes)
    options.heapBytes = heapBytes;
  if (!way.processes)
    return runThreads(way.ranks, options, body);
  std::vector<int> codes = runForked(way.ranks, options, [&](Job &job) {
    body(job);
    return 0;
  });
  EXPECT_EQ(codes, std::vector<int>(size_t(way.ranks), 0));
}

std::string Findings::text() const {
  std::string out = std::to_string(count.load()) + " findings; the first:";
  for (int64_t value : first)
    out += " " + std::to_string(value);
  return out;
}

} // namespace nereid::test
