// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostTest.cpp - Heap, collectives, environment, joining -------------===//
#include "Harness.h"

#include "base/Knobs.h"
#include "base/Sha256.h"
#include "launch/Environment.h"
#include "nereid/runtime/Stream.h"
#include "symmetric/HeapAllocator.h"
#include "symmetric/JobImpl.h"

#include "nereid/abi.h"

#include <algorithm>
#include <map>
#include <random>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace nereid::test;
using namespace nereid::runtime;

namespace {

//===--- allocator ------------------------------------------------------------

TEST(Heap, AlignsAndMerges) {
  HeapAllocator heap(1 << 20);
  auto a = heap.allocate(100, {});
  auto b = heap.allocate(1, {});
  auto c = heap.allocate(5000, {});
  ASSERT_TRUE(a && b && c);
  EXPECT_EQ(*a % 64, 0u);
  EXPECT_EQ(*b % 64, 0u);
  EXPECT_EQ(*c % 4096, 0u);
  EXPECT_TRUE(heap.free(*a));
  EXPECT_FALSE(heap.free(*a));
  EXPECT_TRUE(heap.free(*c));
  EXPECT_TRUE(heap.free(*b));
  EXPECT_EQ(heap.used(), 0u);
  EXPECT_EQ(heap.largestFree(), uint64_t(1) << 20);
}

TEST(Heap, RandomTrafficNeverOverlaps) {
  std::mt19937 random(3);
  HeapAllocator heap(1 << 18);
  std::map<uint64_t, uint64_t> live;
  for (int i = 0; i < 20000; ++i) {
    if (random() % 2 && !live.empty()) {
      auto it = std::next(live.begin(), long(random() % live.size()));
      EXPECT_TRUE(heap.free(it->first));
      live.erase(it);
      continue;
    }
    uint64_t bytes = random() % (random() % 4 ? 500 : 20000);
    auto at = heap.allocate(bytes, {});
    if (!at)
      continue;
    ASSERT_LE(*at + bytes, heap.capacity());
    auto next = live.lower_bound(*at);
    if (next != live.end())
      ASSERT_LE(*at + std::max<uint64_t>(bytes, 1), next->first);
    if (next != live.begin())
      ASSERT_LE(std::prev(next)->first + std::prev(next)->second, *at);
    live[*at] = bytes;
  }
}

//===--- symmetric allocation -------------------------------------------------

TEST(Symmetric, SameOffsetsReuseAndDescription) {
  runBoth(3, testOptions(), [](Job &job) {
    auto a = job.allocate(1000, {"a_buf", "float32", "(250,)"});
    auto b = job.allocate(8192, {"b_buf", "float16", "(64, 64)"});
    ASSERT_TRUE(a.ok() && b.ok());
    uint8_t *pa = static_cast<uint8_t *>(*a);
    EXPECT_EQ(job.ownerRank(pa), job.rank());
    EXPECT_TRUE(job.isSymmetric(pa, 1000));
    EXPECT_FALSE(job.isSymmetric(pa, 1001));
    EXPECT_TRUE(job.isSymmetric(pa + 999));
    EXPECT_FALSE(job.isSymmetric(job.peerAddress(pa, (job.rank() + 1) % 3)));
    int local = 0;
    EXPECT_FALSE(job.isSymmetric(&local));
    EXPECT_EQ(job.describe(pa + 16),
              "'a_buf' float32 (250,) + 16, on rank " + std::to_string(job.rank()));
    // Writing through the peer's address shows at the peer.
    int32_t next = (job.rank() + 1) % 3;
    *static_cast<int32_t *>(job.peerAddress(pa, next)) = 100 + job.rank();
    EXPECT_TRUE(job.barrier().ok());
    EXPECT_EQ(*reinterpret_cast<int32_t *>(pa), 100 + (job.rank() + 2) % 3);
    EXPECT_TRUE(job.free(*a).ok());
    EXPECT_EQ(job.free(*a).code(), StatusCode::InvalidArgument);
    EXPECT_EQ(job.free(&local).code(), StatusCode::InvalidArgument);
    auto c = job.allocate(1000, {"c_buf", "", ""});
    ASSERT_TRUE(c.ok());
    EXPECT_EQ(*c, static_cast<void *>(pa));
    EXPECT_EQ(job.allocations().size(), 2u);
    auto zero = job.allocate(0);
    ASSERT_TRUE(zero.ok());
    EXPECT_TRUE(job.free(*zero).ok());
  });
}

TEST(Symmetric, DifferentRequestsAreNamedOnEveryRank) {
  runBoth(4, testOptions(), [](Job &job) {
    auto a = job.allocate(job.rank() == 2 ? 512 : 256, {"buf", "int8", ""});
    ASSERT_FALSE(a.ok());
    EXPECT_EQ(a.status().code(), StatusCode::Mismatch);
    const std::string &text = a.status().message();
    EXPECT_TRUE(contains(text, "rank 0 called allocate('buf' int8, 256 bytes)")) << text;
    EXPECT_TRUE(contains(text, "rank 2 called allocate('buf' int8, 512 bytes)")) << text;
    // Different labels and different calls are found as well.
    auto b = job.allocate(64, {job.rank() ? "x" : "y", "", ""});
    EXPECT_EQ(b.status().code(), StatusCode::Mismatch);
    Status st = job.rank() == 3 ? job.barrier() : job.allocate(64).status();
    EXPECT_EQ(st.code(), StatusCode::Mismatch);
    EXPECT_TRUE(contains(st.message(), "rank 3 called barrier()"));
    // And the job goes on.
    EXPECT_TRUE(job.allocate(64).ok());
    EXPECT_EQ(job.allocations().size(), 1u);
  });
}

TEST(Symmetric, FullHeapSaysWhoHasIt) {
  runThreads(2, testOptions(), [](Job &job) {
    ASSERT_TRUE(job.allocate(3 << 20, {"weights", "float32", "(1024,)"}).ok());
    auto more = job.allocate(2 << 20, {"activations", "", ""});
    ASSERT_FALSE(more.ok());
    EXPECT_EQ(more.status().code(), StatusCode::OutOfMemory);
    const std::string &text = more.status().message();
    EXPECT_TRUE(contains(text, "'activations' needs 2 MiB")) << text;
    EXPECT_TRUE(contains(text, "'weights' float32 (1024,) 3 MiB")) << text;
    EXPECT_TRUE(contains(text, "NEREID_HEAP_SIZE")) << text;
    EXPECT_TRUE(job.allocate(1000).ok());
  });
}

TEST(Symmetric, CallsAfterFinalizeFail) {
  runThreads(2, testOptions(), [](Job &job) {
    EXPECT_TRUE(job.barrier().ok());
    EXPECT_TRUE(job.finalize().ok());
    EXPECT_TRUE(job.finalize().ok());
    EXPECT_EQ(job.barrier().code(), StatusCode::InvalidArgument);
    EXPECT_EQ(job.allocate(8).status().code(), StatusCode::InvalidArgument);
  });
}

TEST(Symmetric, ManyBarriersUnderOversubscription) {
  runBoth(8, testOptions(), [](Job &job) {
    for (int i = 0; i < 300; ++i)
      ASSERT_TRUE(job.barrier().ok());
  });
}

//===--- knobs ----------------------------------------------------------------

TEST(Knobs, ByteSizes) {
  EXPECT_EQ(*parseByteSize("4096"), 4096u);
  EXPECT_EQ(*parseByteSize("64K"), 65536u);
  EXPECT_EQ(*parseByteSize("2MiB"), uint64_t(2) << 20);
  EXPECT_EQ(*parseByteSize("1G"), uint64_t(1) << 30);
  EXPECT_EQ(*parseByteSize("0.5 GB"), uint64_t(1) << 29);
  for (const char *bad : {"", "G", "1X", "-1", "1KiBx", "1e3", "12 34"})
    EXPECT_FALSE(parseByteSize(bad).ok()) << bad;
}

TEST(Knobs, EveryRowHasHelp) {
  for (const KnobInfo &knob : knobTable()) {
    EXPECT_EQ(std::string(knob.name).rfind("NEREID_", 0), 0u);
    EXPECT_GT(std::string(knob.help).size(), 8u);
  }
}

TEST(Knobs, BadValuesAreNamed) {
  auto problem = [](auto change) {
    JobOptions options = testOptions();
    change(options);
    return resolveSettings(options).status();
  };
  EXPECT_TRUE(contains(problem([](JobOptions &o) { o.profile = "tpu"; }).message(),
                       "host, cuda, ascend910b"));
  Status schedule = problem([](JobOptions &o) { o.schedule = "random"; });
  EXPECT_EQ(schedule.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(schedule.message(), "schedule='random': expected fifo or random:SEED");
  EXPECT_EQ(problem([](JobOptions &o) { o.numThreads = 513; }).message(),
            "num_threads='513': expected a number from 0 to 512");
  EXPECT_EQ(problem([](JobOptions &o) { o.ranksPerNode = -1; }).message(),
            "ranks_per_node='-1': expected a number from 0 to 1048576");
  EXPECT_TRUE(contains(problem([](JobOptions &o) { o.timeoutSeconds = -1; }).message(),
                       "expected a number of seconds, 0 or more"));
  EXPECT_TRUE(contains(problem([](JobOptions &o) { o.stackBytes = 100; }).message(),
                       "stack_size='100': expected a size such as 512M from 32768 to"));
}

TEST(Knobs, BadVariablesAreNamed) {
  const char *bad[][2] = {{"NEREID_TIMEOUT", "soon"},       {"NEREID_INIT_TIMEOUT", "-1"},
                          {"NEREID_HEAP_SIZE", "much"},     {"NEREID_STACK_SIZE", "1K"},
                          {"NEREID_NUM_THREADS", "513"},    {"NEREID_NUM_THREADS", "2.5"},
                          {"NEREID_RANKS_PER_NODE", "two"}, {"NEREID_PIN", "yes"},
                          {"NEREID_SCHEDULE", "lifo"},      {"NEREID_DETECT_DEADLOCK", "no"}};
  for (auto [name, text] : bad) {
    const char *before = getenv(name);
    std::string kept = before ? before : "";
    setenv(name, text, 1);
    Status status = resolveSettings({}).status();
    before ? setenv(name, kept.c_str(), 1) : unsetenv(name);
    EXPECT_EQ(status.code(), StatusCode::Environment) << name;
    EXPECT_TRUE(contains(status.message(), std::string(name) + "='" + text + "': expected "))
        << status.message();
  }
}

//===--- environment ----------------------------------------------------------

Expected<RankInfo> discover(std::map<std::string, std::string> variables) {
  return discoverRank([=](const char *name) -> std::optional<std::string> {
    auto it = variables.find(name);
    return it == variables.end() ? std::nullopt : std::optional<std::string>(it->second);
  });
}

TEST(Environment, Launchers) {
  auto none = discover({});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->worldSize, 1);

  auto torch = discover({{"RANK", "2"},
                         {"WORLD_SIZE", "4"},
                         {"LOCAL_WORLD_SIZE", "4"},
                         {"MASTER_ADDR", "127.0.0.1"},
                         {"MASTER_PORT", "29500"}});
  ASSERT_TRUE(torch.ok()) << torch.status().report();
  EXPECT_EQ(torch->rank, 2);
  EXPECT_EQ(torch->worldSize, 4);
  EXPECT_EQ(torch->launcher, "torchrun");

  auto mpi = discover(
      {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_NAMESPACE", "ns"}});
  ASSERT_TRUE(mpi.ok());
  EXPECT_EQ(mpi->launcher, "Open MPI");

  auto pmi = discover({{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}});
  ASSERT_TRUE(pmi.ok());
  EXPECT_EQ(pmi->worldSize, 3);

  auto slurm =
      discover({{"SLURM_PROCID", "5"}, {"SLURM_STEP_NUM_TASKS", "6"}, {"SLURM_JOB_ID", "77"}});
  ASSERT_TRUE(slurm.ok());
  EXPECT_EQ(slurm->rank, 5);
  // A batch script without srun is one process.
  auto batch = discover({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}});
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->worldSize, 1);

  // Our own launcher wins over what it was started under.
  auto own = discover(
      {{"NEREID_RANK", "1"}, {"NEREID_WORLD_SIZE", "2"}, {"RANK", "0"}, {"WORLD_SIZE", "8"}});
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->worldSize, 2);

  // Inside of `nereid run`, which sets both families alike: numbers that differ are
  // those of a newer job.
  auto inner = discover({{"NEREID_RANK", "0"},
                         {"NEREID_WORLD_SIZE", "1"},
                         {"NEREID_JOB_FD", "7"},
                         {"RANK", "0"},
                         {"WORLD_SIZE", "2"},
                         {"LOCAL_WORLD_SIZE", "1"},
                         {"MASTER_PORT", "29500"}});
  ASSERT_TRUE(inner.ok()) << inner.status().report();
  EXPECT_EQ(inner->launcher, "torchrun");
  EXPECT_EQ(inner->worldSize, 2);
  EXPECT_EQ(inner->segmentFd, -1);
  auto same = discover({{"NEREID_RANK", "1"},
                        {"NEREID_WORLD_SIZE", "2"},
                        {"NEREID_JOB_FD", "7"},
                        {"RANK", "1"},
                        {"WORLD_SIZE", "2"}});
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->launcher, "nereid run");
  EXPECT_EQ(same->segmentFd, 7);
}

TEST(Environment, Mistakes) {
  auto text = [](std::map<std::string, std::string> variables) {
    auto info = discover(std::move(variables));
    EXPECT_FALSE(info.ok());
    EXPECT_EQ(info.status().code(), StatusCode::Environment);
    return info.status().message();
  };
  EXPECT_TRUE(contains(text({{"RANK", "1"}}), "WORLD_SIZE is not"));
  EXPECT_TRUE(contains(text({{"NEREID_WORLD_SIZE", "2"}}), "NEREID_RANK is not"));
  EXPECT_TRUE(
      contains(text({{"RANK", "x"}, {"WORLD_SIZE", "2"}}), "RANK='x' is not a whole number"));
  EXPECT_TRUE(contains(text({{"RANK", "2"}, {"WORLD_SIZE", "2"}}), "allows ranks 0..1"));
  EXPECT_TRUE(contains(text({{"RANK", "0"}, {"WORLD_SIZE", "0"}}), "outside 1..4096"));
  EXPECT_TRUE(contains(text({{"RANK", "0"}, {"WORLD_SIZE", "16"}, {"LOCAL_WORLD_SIZE", "8"}}),
                       "several machines"));
  const std::map<std::string, std::string> torch = {{"RANK", "0"},
                                                    {"WORLD_SIZE", "4"},
                                                    {"LOCAL_WORLD_SIZE", "2"},
                                                    {"MASTER_ADDR", "a"},
                                                    {"MASTER_PORT", "65535"}};
  EXPECT_TRUE(
      contains(text(torch), "MASTER_PORT='65535' is not the number of a port with another"));
  auto with = [&](const char *name, const char *value) {
    auto variables = torch;
    variables[name] = value;
    return variables;
  };
  EXPECT_TRUE(contains(text(with("NEREID_PORT", "70000")), "NEREID_PORT='70000' is not"));
  EXPECT_TRUE(
      contains(text(with("NEREID_RENDEZVOUS", "a")), "NEREID_RENDEZVOUS='a': expected host:port"));
  EXPECT_TRUE(contains(text(with("NEREID_RENDEZVOUS", ":7")), "expected host:port"));
}

TEST(Environment, WhereRanksOfSeveralMachinesMeet) {
  std::map<std::string, std::string> torch = {{"RANK", "0"},
                                              {"WORLD_SIZE", "4"},
                                              {"LOCAL_WORLD_SIZE", "4"},
                                              {"MASTER_ADDR", "a"},
                                              {"MASTER_PORT", "29500"}};
  auto meetAt = [&] {
    auto info = discover(torch);
    EXPECT_TRUE(info.ok()) << info.status().report();
    return info.ok() ? info->meetAt : "";
  };
  EXPECT_EQ(meetAt(), "") << "all are on this machine";
  torch["LOCAL_WORLD_SIZE"] = "2";
  EXPECT_EQ(meetAt(), "a:29501") << "the port itself is torch's";
  torch["NEREID_PORT"] = "4000";
  EXPECT_EQ(meetAt(), "a:4000");
  torch["NEREID_RENDEZVOUS"] = "[fe80::1]:5000";
  EXPECT_EQ(meetAt(), "[fe80::1]:5000");
  // Ranks that a rank of another job has started do not meet where that job does.
  torch["LOCAL_WORLD_SIZE"] = "4";
  torch["NEREID_RANK"] = "0";
  torch["NEREID_WORLD_SIZE"] = "1";
  torch["NEREID_JOB_FD"] = "7";
  EXPECT_EQ(meetAt(), "");
  torch.erase("NEREID_JOB_FD");
  EXPECT_EQ(meetAt(), "") << "a world of one meets nobody";
}

TEST(Environment, ProofsOfASecret) {
  auto hex = [](const Digest &digest) {
    std::string out;
    for (uint8_t byte : digest) {
      out += "0123456789abcdef"[byte >> 4];
      out += "0123456789abcdef"[byte & 15];
    }
    return out;
  };
  // FIPS 180-4's examples, and RFC 4231's cases 2 and 6.
  EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(keyedHash("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(keyedHash(std::string(131, char(0xaa)),
                          "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_TRUE(isSame(sha256("a"), sha256("a")));
  EXPECT_FALSE(isSame(sha256("a"), sha256("b")));
}

//===--- joining --------------------------------------------------------------

/// Starts processes with hand-made environments; returns their exit codes.
std::vector<int> processes(const std::vector<std::map<std::string, std::string>> &environments,
                           const std::function<int()> &body) {
  std::vector<pid_t> pids;
  fflush(nullptr);
  for (const auto &environment : environments) {
    pid_t pid = fork();
    if (pid == 0) {
      for (const auto &entry : environment)
        setenv(entry.first.c_str(), entry.second.c_str(), 1);
      int code = body();
      fflush(nullptr);
      _exit(code);
    }
    pids.push_back(pid);
  }
  std::vector<int> codes;
  for (pid_t pid : pids) {
    int status = 0;
    waitpid(pid, &status, 0);
    codes.push_back(WEXITSTATUS(status));
  }
  return codes;
}

std::map<std::string, std::string> torch(int rank, int size, const char *id) {
  return {{"RANK", std::to_string(rank)},
          {"WORLD_SIZE", std::to_string(size)},
          {"MASTER_ADDR", "localhost"},
          {"MASTER_PORT", "2"},
          {"TORCHELASTIC_RUN_ID", std::string(id) + std::to_string(getpid())}};
}

int expectInit(StatusCode code, const std::string &text, uint64_t heapBytes = 1 << 20) {
  JobOptions options = testOptions();
  options.initTimeoutSeconds = 1;
  options.heapBytes = heapBytes;
  auto job = Job::init(options);
  if (job.status().code() == code && contains(job.status().message(), text))
    return 0;
  fprintf(stderr, "%s", job.status().report().c_str());
  return 1;
}

TEST(Joining, MissingRanksAreNamed) {
  EXPECT_EQ(
      processes({torch(0, 4, "a"), torch(2, 4, "a")},
                [] { return expectInit(StatusCode::Bootstrap, "have not joined: rank 1, 3"); }),
      std::vector<int>(2, 0));
}

TEST(Joining, MissingRankZero) {
  EXPECT_EQ(processes({torch(1, 2, "b")},
                      [] { return expectInit(StatusCode::Bootstrap, "rank 0 has not come up"); }),
            std::vector<int>(1, 0));
}

TEST(Joining, WorldSizesMustAgree) {
  EXPECT_EQ(processes({torch(0, 2, "c"), torch(1, 3, "c")},
                      [] {
                        return expectInit(StatusCode::Mismatch,
                                          "told of a world of 3 ranks, rank 0 "
                                          "of 2");
                      }),
            std::vector<int>(2, 0));
}

TEST(Joining, TwoProcessesWithOneRank) {
  EXPECT_EQ(processes({torch(0, 3, "d"), torch(1, 3, "d"), torch(1, 3, "d")},
                      [] { return expectInit(StatusCode::Environment, "same rank"); }),
            std::vector<int>(3, 0));
}

TEST(Joining, HeapSizesMustAgree) {
  EXPECT_EQ(processes({torch(0, 2, "e"), torch(1, 2, "e")},
                      [] {
                        uint64_t bytes = getenv("RANK")[0] == '0' ? 1 << 20 : 2 << 20;
                        return expectInit(StatusCode::Mismatch,
                                          "rank 0 asks for 1048576 bytes, rank "
                                          "1 for 2097152",
                                          bytes);
                      }),
            std::vector<int>(2, 0));
}

TEST(Joining, RanksOfTwoUsersAreNamed) {
  if (getuid() != 0)
    GTEST_SKIP() << "only root can start processes of another user";
  for (const char *other : {"0", "1"}) { // the rank that belongs to user 65534
    std::vector<int> codes = processes({torch(0, 2, "u"), torch(1, 2, "u")}, [&] {
      if (getenv("RANK")[0] == other[0] && setuid(65534) != 0)
        return 2;
      JobOptions options = testOptions();
      options.heapBytes = 1 << 20;
      auto job = Job::init(options);
      const std::string text = job.status().message();
      const bool zero = other[0] == '0';
      if (job.status().code() == StatusCode::Environment &&
          contains(text, zero ? "belongs to user 0, rank 0 to user 65534"
                              : "belongs to user 65534, rank 0 to user 0") &&
          contains(text, "rank 1 (process ") && contains(text, "as the same user"))
        return 0;
      fprintf(stderr, "%s", job.status().report().c_str());
      return 1;
    });
    EXPECT_EQ(codes, std::vector<int>(2, 0)) << "rank " << other;
  }
}

TEST(Joining, AgainAfterFinalize) {
  EXPECT_EQ(processes({torch(0, 2, "f"), torch(1, 2, "f")},
                      [] {
                        for (int i = 0; i < 3; ++i) {
                          auto job = Job::init(testOptions());
                          if (!job.ok() || !(*job)->barrier().ok() || !(*job)->finalize().ok())
                            return 1;
                        }
                        return 0;
                      }),
            std::vector<int>(2, 0));
}

//===--- signals of the host ----------------------------------------------------

TEST(HostSignals, OrderWhatWasWritten) {
  runBoth(3, testOptions(), [](Job &job) {
    int64_t *data = symmetric<int64_t>(job, 8, "data");
    int32_t *flag = symmetric<int32_t>(job, 2, "flag");
    const int32_t next = (job.rank() + 1) % job.worldSize();
    for (int32_t i = 1; i <= 200; ++i) {
      int64_t values[8];
      std::fill(std::begin(values), std::end(values), int64_t(i) * 1000);
      ASSERT_TRUE(job.put(data, values, sizeof(values), next).ok());
      ASSERT_TRUE(job.signal(flag, 1, NRD_SIG_ADD, 4, next).ok());
      Status st = job.waitUntil(flag, NRD_CMP_GE, uint64_t(i), 4, true);
      ASSERT_TRUE(st.ok()) << st.report();
      ASSERT_EQ(data[7], int64_t(i) * 1000);
      ASSERT_TRUE(job.barrier().ok());
    }
    ASSERT_TRUE(job.signal(flag + 1, uint64_t(-3), NRD_SIG_SET, 4, job.rank()).ok());
    EXPECT_TRUE(job.waitUntil(flag + 1, NRD_CMP_LT, 0, 4, true).ok());
    EXPECT_TRUE(job.waitUntil(flag + 1, NRD_CMP_GT, 5, 4, false).ok());
    EXPECT_TRUE(job.barrier().ok());
  });
}

TEST(HostSignals, WrongArguments) {
  runThreads(1, testOptions(), [](Job &job) {
    int64_t *flag = symmetric<int64_t>(job, 1, "flag");
    EXPECT_EQ(job.signal(flag, 1, NRD_SIG_SET, 2, 0).code(), StatusCode::InvalidArgument);
    EXPECT_EQ(job.signal(flag, 1, NRD_SIG_SET, 8, 1).code(), StatusCode::BadRank);
    EXPECT_EQ(job.signal(reinterpret_cast<char *>(flag) + 2, 1, NRD_SIG_SET, 4, 0).code(),
              StatusCode::BadAccess);
    int64_t local = 0;
    EXPECT_EQ(job.waitUntil(&local, NRD_CMP_EQ, 1, 8, true).code(), StatusCode::NotSymmetric);
    EXPECT_EQ(job.waitUntil(flag, 17, 1, 8, true).code(), StatusCode::InvalidArgument);
  });
}

/// `body` on two ranks; a deadlock on both, or the test fails.
std::vector<std::string> deadlockReports(const std::function<Status(Job &, int64_t *)> &body) {
  JobOptions options = testOptions();
  options.timeoutSeconds = 20;
  std::vector<std::string> reports(2);
  runThreads(2, options, [&](Job &job) {
    int64_t *flag = symmetric<int64_t>(job, 4, "flag");
    Status st = body(job, flag);
    EXPECT_EQ(st.code(), StatusCode::Deadlock) << st.report();
    reports[size_t(job.rank())] = st.report();
    // And the job can go on.
    EXPECT_TRUE(job.recover().ok());
    EXPECT_TRUE(job.signal(flag + 1, 70, NRD_SIG_SET, 8, 1 - job.rank()).ok());
    EXPECT_TRUE(job.waitUntil(flag + 1, NRD_CMP_EQ, 70, 8, true).ok());
    EXPECT_TRUE(job.barrier().ok());
  });
  return reports;
}

TEST(HostSignals, AWaitThatNothingEnds) {
  for (const std::string &report : deadlockReports([](Job &job, int64_t *flag) {
         return job.rank() == 0 ? job.waitUntil(flag + 1, NRD_CMP_EQ, 7, 8, true) : job.barrier();
       })) {
    EXPECT_TRUE(contains(report, "host wait on 'flag' + 8, on rank 0: value 0, waits for 7"))
        << report;
    EXPECT_TRUE(contains(report, "host barrier (barrier())")) << report;
  }
}

TEST(HostSignals, AllRanksWaitInVain) {
  for (const std::string &report : deadlockReports([](Job &job, int64_t *flag) {
         flag[1] = 5 + job.rank();
         return job.waitUntil(flag + 1, NRD_CMP_EQ, 4, 8, true);
       }))
    for (const char *part : {"every rank waits", "on rank 0: value 5, waits for 4",
                             "on rank 1: value 6, waits for 4", "has passed the awaited value"})
      EXPECT_TRUE(contains(report, part)) << report;
}

/// args: flag, awaited value
void kernelWaits(nrd_program *p, const uint64_t *args) {
  nrd_wait(p, pointerArg<uint32_t>(args, 0), 1, int64_t(args[1]), 4, 0);
}

TEST(HostSignals, AWaitBesideALaunchOfAnotherRank) {
  for (const std::string &report : deadlockReports([](Job &job, int64_t *flag) {
         return job.rank() == 0 ? job.waitUntil(flag, NRD_CMP_GE, 3, 8, true)
                                : launchBlocking(job, kernelWaits, {arg(flag + 2), arg(9)}, 2);
       })) {
    EXPECT_TRUE(contains(report, "on rank 0: value 0, waits for >= 3")) << report;
    EXPECT_TRUE(contains(report, "2 programs 0, 1")) << report;
  }
}

TEST(HostSignals, AJobOfOneRankReportsAndGoesOn) {
  JobOptions options = testOptions();
  options.timeoutSeconds = 20;
  runThreads(1, options, [](Job &job) {
    int64_t *flag = symmetric<int64_t>(job, 1, "flag");
    for (int64_t awaited : {3, 4}) {
      Status st = job.waitUntil(flag, NRD_CMP_EQ, uint64_t(awaited), 8, true);
      EXPECT_EQ(st.code(), StatusCode::Deadlock) << st.report();
      EXPECT_TRUE(contains(st.report(), "waits for " + std::to_string(awaited))) << st.report();
      EXPECT_TRUE(job.health().ok());
    }
  });
}

TEST(HostSignals, HostCodeIsNeverBlocked) {
  // Rank 1 takes its time between calls; rank 2 sits in a barrier.
  runBoth(3, testOptions(), [](Job &job) {
    int64_t *flag = symmetric<int64_t>(job, 1, "flag");
    if (job.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(600));
      EXPECT_TRUE(job.signal(flag, 1, NRD_SIG_SET, 8, 0).ok());
    } else if (job.rank() == 0) {
      Status st = job.waitUntil(flag, NRD_CMP_EQ, 1, 8, true);
      EXPECT_TRUE(st.ok()) << st.report();
    }
    EXPECT_TRUE(job.barrier().ok());
  });
}

TEST(HostSignals, ThreadsThatWriteSignals) {
  // Without the search for deadlocks, a thread of one's own; with it, a stream.
  for (bool stream : {false, true}) {
    JobOptions options = testOptions();
    runThreads(1, options, [&](Job &job) {
      job.impl().settings.detectDeadlock = stream;
      int64_t *flag = symmetric<int64_t>(job, 1, "flag");
      auto write = [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        return job.signal(flag, 1, NRD_SIG_SET, 8, 0);
      };
      Stream queue(&job);
      std::thread writer;
      if (stream)
        EXPECT_TRUE(queue.call(write).ok());
      else
        writer = std::thread([&] { EXPECT_TRUE(write().ok()); });
      Status st = job.waitUntil(flag, NRD_CMP_EQ, 1, 8, true);
      EXPECT_TRUE(st.ok()) << st.report();
      EXPECT_TRUE(queue.synchronize().ok());
      if (writer.joinable())
        writer.join();
    });
  }
}

TEST(HostSignals, AStreamThatWaitsItselfIsBlocked) {
  JobOptions options = testOptions();
  options.timeoutSeconds = 20;
  runThreads(1, options, [](Job &job) {
    int64_t *flag = symmetric<int64_t>(job, 2, "flag");
    Stream stream(&job);
    EXPECT_TRUE(stream.call([&] { return job.waitUntil(flag, NRD_CMP_EQ, 1, 8, true); }).ok());
    EXPECT_EQ(job.waitUntil(flag + 1, NRD_CMP_EQ, 1, 8, true).code(), StatusCode::Deadlock);
    EXPECT_EQ(stream.synchronize().code(), StatusCode::Deadlock);
  });
}

TEST(HostSignals, ATimeoutTellsTheSame) {
  JobOptions options = testOptions();
  options.timeoutSeconds = 0.3;
  runThreads(2, options, [](Job &job) {
    job.impl().settings.detectDeadlock = false;
    int64_t *flag = symmetric<int64_t>(job, 4, "flag");
    Status st = job.rank() == 0 ? job.waitUntil(flag + 1, NRD_CMP_EQ, 7, 8, true) : job.barrier();
    ASSERT_EQ(st.code(), StatusCode::Timeout) << st.report();
    EXPECT_TRUE(contains(st.report(), "host wait on 'flag' + 8, on rank 0: value 0, waits for 7"))
        << st.report();
    EXPECT_TRUE(contains(st.report(), "host barrier")) << st.report();
  });
}

} // namespace
