// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CheckTest.cpp - What the check says of small programs --------------===//
//
// Each row is a kernel with what must be found, by code and by both lines: in the order
// of the system on one node, under seeds, and between nodes, the same. What is a race
// depends on the language, never on what happened. tests/races/test_model.py has the
// same rows for the model.
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include "nereid/runtime/Check.h"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

using namespace nereid::test;
namespace check = nereid::runtime::check;

namespace {

/// One program of one rank; every call is on the line that it names.
struct Rank {
  nrd_program *p;
  uint64_t *cells;
  uint64_t *local; ///< an argument that is not symmetric

  bool is(int32_t rank) const { return p->rank == rank; }
  uint64_t *cell(int i) const { return cells + 8 * i; }
  void put(int i, int32_t pe, uint32_t line, bool nbi = false) const {
    nrd_shmem_put(p, cell(i), local, 8, pe, nbi, line);
  }
  void putFrom(int i, int from, int32_t pe, uint32_t line, bool nbi) const {
    nrd_shmem_put(p, cell(i), cell(from), 8, pe, nbi, line);
  }
  void putSignal(int i, int signal, int32_t pe, uint32_t line) const {
    nrd_shmem_put_signal(p, cell(i), local, 8, cell(signal), 1, NRD_SIG_SET, pe, 8, 0, line);
  }
  void signal(int i, int32_t pe, uint32_t line, int32_t op = NRD_SIG_SET) const {
    nrd_shmem_signal_op(p, cell(i), 1, op, pe, 8, line);
  }
  void notify(int i, int32_t pe, uint32_t line, int32_t scope = NRD_COMM_INTER_NODE) const {
    nrd_notify(p, cell(i), 1, pe, NRD_SIG_SET, scope, 8, line);
  }
  void wait(int i, uint32_t line, uint64_t value = 1) const {
    nrd_wait(p, cell(i), 1, int64_t(value), 8, line);
  }
  void fence(uint32_t line) const { nrd_shmem_fence(p, line); }
  void quiet(uint32_t line) const { nrd_shmem_quiet(p, line); }
  void barrier(uint32_t line) const { nrd_barrier_all(p, line); }
  /// Reads the rank's own cell.
  void read(int i, uint32_t line) const {
    uint64_t value;
    nrd_shmem_get(p, &value, cell(i), 8, p->rank, 0, line);
  }
  /// Writes it, with what its cell 15 holds.
  void write(int i, uint32_t line) const {
    nrd_shmem_get(p, cell(i), cell(15), 8, p->rank, 0, line);
  }
};

struct Row {
  const char *name;
  const char *code; ///< "": clean; several: which depends on the order of the run
  uint32_t first, second;
  void (*body)(Rank);
  const char *profile = "host";
  bool nodes = true; ///< also between nodes
};

const Row kRows[] = {
    {"put, signal_op", "NRD-0004", 1, 4,
     [](Rank r) {
       if (r.is(0))
         r.put(0, 1, 1), r.signal(1, 1, 2);
       if (r.is(1))
         r.wait(1, 3), r.read(0, 4);
     }},
    {"put, fence, signal_op", "", 0, 0,
     [](Rank r) {
       if (r.is(0))
         r.put(0, 1, 1), r.fence(2), r.signal(1, 1, 3);
       if (r.is(1))
         r.wait(1, 4), r.read(0, 5);
     }},
    {"put, quiet, signal_op", "", 0, 0,
     [](Rank r) {
       if (r.is(0))
         r.put(0, 1, 1), r.quiet(2), r.signal(1, 1, 3);
       if (r.is(1))
         r.wait(1, 4), r.read(0, 5);
     }},
    {"put, notify between nodes", "NRD-0004", 1, 4,
     [](Rank r) {
       if (r.is(0))
         r.put(0, 1, 1), r.notify(1, 1, 2);
       if (r.is(1))
         r.wait(1, 3), r.read(0, 4);
     }},
    {"put, notify in the node", "", 0, 0,
     [](Rank r) {
       if (r.is(0))
         r.put(0, 1, 1), r.notify(1, 1, 2, NRD_COMM_INTRA_NODE);
       if (r.is(1))
         r.wait(1, 3), r.read(0, 4);
     },
     "host", false},
    {"put with signal", "", 0, 0,
     [](Rank r) {
       if (r.is(0))
         r.putSignal(0, 1, 1, 1);
       if (r.is(1))
         r.wait(1, 2), r.read(0, 3);
     }},
    {"put, put with signal, the first one read", "NRD-0004", 1, 5,
     [](Rank r) {
       if (r.is(0))
         r.put(2, 1, 1), r.putSignal(0, 1, 1, 2);
       if (r.is(1))
         r.wait(1, 3), r.read(0, 4), r.read(2, 5);
     }},
    {"a fence does not reach a third rank", "NRD-0004", 1, 7,
     [](Rank r) {
       if (r.is(0))
         r.put(0, 1, 1), r.fence(2), r.signal(1, 2, 3);
       if (r.is(2))
         r.wait(1, 4), r.notify(2, 1, 5);
       if (r.is(1))
         r.wait(2, 6), r.read(0, 7);
     }},
    {"under ascend910b it does", "", 0, 0,
     [](Rank r) {
       if (r.is(0))
         r.put(0, 1, 1), r.fence(2), r.notify(1, 2, 3);
       if (r.is(2))
         r.wait(1, 4), r.notify(2, 1, 5);
       if (r.is(1))
         r.wait(2, 6), r.read(0, 7);
     },
     "ascend910b"},
    {"a quiet does", "", 0, 0,
     [](Rank r) {
       if (r.is(0))
         r.put(0, 1, 1), r.quiet(2), r.signal(1, 2, 3);
       if (r.is(2))
         r.wait(1, 4), r.signal(2, 1, 5);
       if (r.is(1))
         r.wait(2, 6), r.read(0, 7);
     }},
    {"read before the wait", "NRD-0001 NRD-0002", 1, 3,
     [](Rank r) {
       // A third rank puts the events in an order, and tells nothing.
       if (r.is(0))
         r.put(0, 1, 1), r.quiet(2);
       if (r.is(1))
         r.read(0, 3);
     }},
    {"put, barrier, read", "", 0, 0,
     [](Rank r) {
       if (r.is(0))
         r.put(0, 1, 1);
       r.barrier(2);
       if (r.is(1))
         r.read(0, 3);
     }},
    {"the slot is written again, no answer", "NRD-0002", 3, 4,
     [](Rank r) {
       if (r.is(0))
         r.putSignal(0, 1, 1, 1);
       if (r.is(1))
         r.wait(1, 2), r.read(0, 3), r.signal(4, 2, 5);
       // Rank 2 knows that rank 1 is over, rank 0 does not: it only comes later.
       if (r.is(2))
         r.wait(4, 6), r.put(5, 0, 7);
       if (r.is(0)) {
         while (__atomic_load_n(r.cell(5), __ATOMIC_ACQUIRE) == 0)
           nrd_yield(r.p, 8);
         r.fence(9), r.put(0, 1, 4);
       }
     }},
    {"the slot is written again after an answer", "", 0, 0,
     [](Rank r) {
       if (r.is(0))
         r.putSignal(0, 1, 1, 1), r.wait(2, 5), r.putSignal(0, 3, 1, 6);
       if (r.is(1))
         r.wait(1, 2), r.read(0, 3), r.signal(2, 0, 4), r.wait(3, 7), r.read(0, 8);
     }},
    {"the source of a put under way is changed", "NRD-0031", 1, 2,
     [](Rank r) {
       if (r.is(0))
         r.putFrom(0, 3, 1, 1, /*nbi=*/true), r.write(3, 2);
     }},
    {"the source after a quiet", "", 0, 0,
     [](Rank r) {
       if (r.is(0))
         r.putFrom(0, 3, 1, 1, /*nbi=*/true), r.quiet(2), r.write(3, 3);
     }},
    {"the source of a blocking put", "", 0, 0,
     [](Rank r) {
       if (r.is(0))
         r.putFrom(0, 3, 1, 1, /*nbi=*/false), r.write(3, 2);
     }},
    {"two puts to one place", "NRD-0033", 1, 2,
     [](Rank r) {
       if (r.is(0))
         r.put(0, 1, 1), r.put(0, 1, 2);
     }},
    {"two puts with a fence", "", 0, 0,
     [](Rank r) {
       if (r.is(0))
         r.put(0, 1, 1), r.fence(2), r.put(0, 1, 3);
     }},
    {"the target of a get", "NRD-0032", 1, 2,
     [](Rank r) {
       if (r.is(0)) {
         nrd_shmem_get(r.p, r.cell(3), r.cell(4), 8, 1, /*nbi=*/1, 1);
         r.read(3, 2);
       }
     }},
    {"a put over a signal", "NRD-0006", 2, 1,
     [](Rank r) {
       if (r.is(0))
         r.signal(1, 1, 2);
       if (r.is(2))
         r.put(1, 1, 1);
     }},
    {"the receiver resets its signal, then answers", "", 0, 0,
     [](Rank r) {
       if (r.is(0))
         r.signal(1, 1, 1), r.wait(2, 2), r.signal(1, 1, 3);
       if (r.is(1))
         r.wait(1, 4), r.write(1, 5), r.notify(2, 0, 6), r.wait(1, 7);
     }},
    {"two turns with data, the signal reset between", "", 0, 0,
     [](Rank r) {
       if (r.is(0)) {
         r.put(0, 1, 1), r.fence(1), r.signal(1, 1, 1), r.wait(2, 2);
         r.put(0, 1, 3), r.fence(3), r.signal(1, 1, 3);
       }
       if (r.is(1)) {
         r.wait(1, 4), r.read(0, 4), r.write(1, 5), r.notify(2, 0, 6);
         r.wait(1, 7), r.read(0, 8);
       }
     }},
    {"many turns", "", 0, 0,
     [](Rank r) {
       for (uint64_t turn = 1; turn <= 400; ++turn) {
         if (r.is(0)) {
           r.put(0, 1, 1), r.fence(2);
           nrd_shmem_signal_op(r.p, r.cell(1), turn, NRD_SIG_SET, 1, 8, 3);
           r.wait(2, 4, turn);
         }
         if (r.is(1)) {
           r.wait(1, 5, turn), r.read(0, 6);
           nrd_shmem_signal_op(r.p, r.cell(2), turn, NRD_SIG_SET, 0, 8, 7);
         }
       }
     }},
    {"a put onto itself", "", 0, 0,
     [](Rank r) {
       if (r.is(0))
         r.putFrom(3, 3, 0, 1, /*nbi=*/true), r.read(3, 2);
     }},
    {"it answers, then resets", "NRD-0006", 3, 6,
     [](Rank r) {
       if (r.is(0))
         r.signal(1, 1, 1), r.wait(2, 2), r.signal(1, 1, 3);
       if (r.is(1))
         r.wait(1, 4), r.notify(2, 0, 5), r.write(1, 6);
     }},
    {"two adders, both read", "", 0, 0,
     [](Rank r) {
       if (r.is(0))
         r.put(0, 1, 1), r.quiet(2), r.signal(5, 1, 3, NRD_SIG_ADD);
       if (r.is(2))
         r.put(2, 1, 4), r.quiet(5), r.signal(5, 1, 6, NRD_SIG_ADD);
       if (r.is(1))
         r.wait(5, 7, 2), r.read(0, 8), r.read(2, 9);
     }},
};

class Check : public testing::TestWithParam<Row> {};

void kernel(nrd_program *p, const uint64_t *args) {
  auto body = reinterpret_cast<void (*)(Rank)>(args[2]);
  body({p, pointerArg<uint64_t>(args, 0), pointerArg<uint64_t>(args, 1)});
}

check::Verdict verdictOf(const Row &row, const char *schedule, int32_t ranksPerNode) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("nereid-check-test-" + std::to_string(getpid())))
          .string();
  EXPECT_TRUE(check::createLog(path, 1 << 16).ok());
  setenv("NEREID_CHECK", path.c_str(), 1);
  JobOptions options = testOptions();
  options.schedule = schedule;
  options.profile = row.profile;
  options.ranksPerNode = ranksPerNode;
  std::vector<int> codes = runForked(3, options, [&](Job &job) {
    SiteTable sites(16);
    for (int i = 0; i < 16; ++i)
      sites[size_t(i)] = {"kernel.py", i, 5, "kernel", "line " + std::to_string(i)};
    uint64_t *cells = symmetric<uint64_t>(job, 128, "cells");
    uint64_t local = 1;
    Status st =
        launchBlocking(job, kernel, {arg(cells), arg(&local), reinterpret_cast<uint64_t>(row.body)},
                       1, "kernel", &sites);
    EXPECT_TRUE(st.ok()) << st.report();
    EXPECT_TRUE(job.barrier().ok());
    return 0;
  });
  unsetenv("NEREID_CHECK");
  EXPECT_EQ(codes, std::vector<int>(3, 0));
  auto verdict = check::checkLog(path);
  EXPECT_TRUE(verdict.ok()) << verdict.status().report();
  for (const char *end : {"", ".0", ".1", ".2"})
    unlink((path + end).c_str());
  return verdict.ok() ? *verdict : check::Verdict();
}

TEST_P(Check, FindsWhatItMust) {
  const Row &row = GetParam();
  struct Way {
    const char *schedule;
    int32_t ranksPerNode;
  };
  for (Way way : {Way{"fifo", 0}, Way{"random:3", 0}, Way{"random:4", 0}, Way{"fifo", 1},
                  Way{"random:5", 1}}) {
    if (way.ranksPerNode && !row.nodes)
      continue;
    check::Verdict verdict = verdictOf(row, way.schedule, way.ranksPerNode);
    const std::string where = std::string(way.schedule) + ", " + std::to_string(way.ranksPerNode);
    EXPECT_EQ(verdict.lost, 0u);
    if (!*row.code) {
      EXPECT_TRUE(verdict.findings.empty()) << where << ": " << verdict.findings.front().text();
      continue;
    }
    ASSERT_EQ(verdict.findings.size(), 1u) << where;
    const check::Finding &f = verdict.findings.front();
    EXPECT_NE(std::string(row.code).find(f.code), std::string::npos) << where << ": " << f.text();
    // Which end came first is the run's affair.
    std::pair<int32_t, int32_t> lines{f.first.site.line, f.second.site.line};
    EXPECT_TRUE(lines == std::pair(int32_t(row.first), int32_t(row.second)) ||
                lines == std::pair(int32_t(row.second), int32_t(row.first)))
        << where << ": " << f.text();
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, Check, testing::ValuesIn(kRows),
                         [](const testing::TestParamInfo<Row> &info) {
                           std::string name = info.param.name;
                           for (char &c : name)
                             if (!isalnum(c))
                               c = '_';
                           return name;
                         });

TEST(CheckLog, SaysWhatIsNoLog) {
  auto verdict = check::checkLog("/nonexistent/log");
  ASSERT_FALSE(verdict.ok());
  EXPECT_NE(verdict.status().message().find("/nonexistent/log"), std::string::npos);
  EXPECT_FALSE(check::createLog("/nonexistent/log", 10).ok());
}

TEST(CheckLog, SaysHowMuchDidNotFit) {
  const Row row = kRows[0];
  const std::string path =
      (std::filesystem::temp_directory_path() / ("nereid-check-full-" + std::to_string(getpid())))
          .string();
  ASSERT_TRUE(check::createLog(path, 8).ok());
  setenv("NEREID_CHECK", path.c_str(), 1);
  runForked(3, testOptions(), [&](Job &job) {
    uint64_t *cells = symmetric<uint64_t>(job, 128, "cells");
    uint64_t local = 1;
    (void)launchBlocking(job, kernel,
                         {arg(cells), arg(&local), reinterpret_cast<uint64_t>(row.body)}, 1);
    return job.barrier().ok() ? 0 : 1;
  });
  unsetenv("NEREID_CHECK");
  auto verdict = check::checkLog(path);
  ASSERT_TRUE(verdict.ok());
  EXPECT_GT(verdict->lost, 0u);
  EXPECT_NE(verdict->summary().find("the log was full"), std::string::npos);
  for (const char *end : {"", ".0", ".1", ".2"})
    unlink((path + end).c_str());
}

} // namespace
