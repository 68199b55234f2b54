// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Conformance.h"

#include "transport/Transports.h"

namespace nereid::test {

std::vector<Way> allWays() {
  std::vector<Way> ways = {
      {"threads", "shared_memory", false, 0, "fifo", 3, 2},
      {"processes", "shared_memory", true, 0, "fifo", 3, 1},
      {"random_threads", "shared_memory", false, 0, "random:11", 3, 1},
      {"random_processes", "shared_memory", true, 0, "random:12", 3, 1},
      {"alone", "shared_memory", false, 0, "fifo", 1, 1},
  };
  for (const runtime::TransportRow &row : runtime::transportTable())
    for (const Way &way : waysOver(row.name))
      ways.push_back(way);
  return ways;
}

std::vector<Way> waysOver(const std::string &transport) {
  std::string delayed = "delayed:" + transport;
  return {
      {transport, transport, true, 1, "fifo", 3, 1},
      {transport + "_pairs", transport, true, 2, "fifo", 4, 1},
      {transport + "_threads", transport, false, 1, "fifo", 3, 2},
      {"delayed_" + transport, delayed, true, 1, "fifo", 3, 1},
      {"delayed_" + transport + "_pairs", delayed, true, 2, "fifo", 4, 1},
      {"delayed_" + transport + "_threads", delayed, false, 1, "fifo", 3, 2},
      {"random_" + transport, transport, true, 1, "random:13", 3, 1},
      {"random_" + transport + "_pairs", transport, true, 2, "random:14", 4, 1},
  };
}

std::ostream &operator<<(std::ostream &os, const Way &way) { return os << way.name; }

void Conformance::onRanks(const std::function<void(Job &)> &body, uint64_t heapBytes) {
  const Way &way = GetParam();
  JobOptions options = testOptions();
  options.numThreads = way.threads;
  options.schedule = way.schedule;
  options.ranksPerNode = way.ranksPerNode;
  options.transport = way.transport;
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
