// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Conformance.h"

#include "transport/Transports.h"

#include <cstdlib>
#include <iostream>

namespace nereid::test {

/// Whether a transport has what it needs on this machine; says so when not. Where
/// NEREID_REQUIRE_ORACLES is set, all of them must.
static bool isThere(const runtime::TransportRow &row) {
  auto made = row.make(runtime::TransportShape());
  const char *required = std::getenv("NEREID_REQUIRE_ORACLES");
  if (made.ok() || made.status().code() != StatusCode::Environment ||
      (required && std::string_view(required) == "1"))
    return true;
  std::cerr << "not run over " << row.name << ": " << made.status().message() << '\n';
  return false;
}

std::vector<Way> allWays() {
  std::vector<Way> ways = {
      {"threads", "shared_memory", false, 0, "fifo", 3, 2},
      {"processes", "shared_memory", true, 0, "fifo", 3, 1},
      {"random_threads", "shared_memory", false, 0, "random:11", 3, 1},
      {"random_processes", "shared_memory", true, 0, "random:12", 3, 1},
      {"alone", "shared_memory", false, 0, "fifo", 1, 1},
  };
  for (const runtime::TransportRow &row : runtime::transportTable())
    if (isThere(row))
      for (const Way &way : waysOver(row.name))
        ways.push_back(way);
  const auto &planes = runtime::controlPlaneTable();
  for (size_t i = 1; i < planes.size(); ++i)
    for (const Way &way : waysBy(planes[i]))
      ways.push_back(way);
  return ways;
}

std::vector<Way> waysBy(const runtime::ControlPlaneRow &row) {
  const std::string control = row.name;
  const char *mapped = "shared_memory", *delayed = "delayed:shared_memory";
  std::vector<Way> ways = {
      {control + "_alone", mapped, false, 0, "fifo", 1, 1, control},
      {control + "_remote", "remote", false, 1, "fifo", 3, 1, control},
      {control + "_delayed_remote", "delayed:remote", false, 1, "fifo", 3, 2, control},
  };
  if (row.severalMachines)
    return ways;
  ways.push_back({control + "_threads", mapped, false, 0, "fifo", 3, 2, control});
  ways.push_back({control + "_random_threads", mapped, false, 0, "random:15", 3, 1, control});
  ways.push_back({control + "_nodes", delayed, false, 1, "fifo", 3, 1, control});
  if (row.attach) {
    ways.push_back({control + "_processes", mapped, true, 0, "fifo", 3, 1, control});
    ways.push_back({control + "_pairs", delayed, true, 2, "fifo", 4, 1, control});
  }
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
  ASSERT_TRUE(runtime::useControlPlane(way.control).ok());
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
