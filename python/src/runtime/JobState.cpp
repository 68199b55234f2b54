// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobState.cpp - Membership in a job, for Python ---------------------===//
//
// A process is in one job or in none, and joins once:
//
//   none ─▶ joined by nereid.init(), or on first use in a world of one (requireJob)
//        ─▶ finalized; the object stays, as arrays may lie in its heap until the end
//
//   a fork of a process that joined: the job moves to `parents`, which says whose memory
//   an address lies in
//
// Calls that wait release the interpreter's lock (collective()): other threads
// of Python go on, and the runtime can ask whether the user has pressed Ctrl-C
// (checkInterrupt), which needs that lock. So no lock that the runtime holds
// while it waits is ever taken with the interpreter's held: two threads with
// one of them each would wait for ever.
//
//===----------------------------------------------------------------------===//
#include "JobState.h"
#include "Errors.h"
#include "Symmetric.h"
#include "Targets.h"

#include "nereid/abi.h"
#include "nereid/runtime/Config.h"
#include "nereid/runtime/Device.h"
#include "nereid/runtime/JobLauncher.h"
#include "nereid/runtime/Launch.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <csignal>
#include <cstdlib>
#include <sys/prctl.h>
#include <utility>

namespace nb = nanobind;
using namespace nereid;
using namespace nereid::python;
using runtime::Job;

JobState &python::jobState() {
  static JobState state;
  return state;
}

/// Lets Ctrl-C through while the runtime waits on a thread of Python's.
static bool checkInterrupt() {
  if (!Py_IsInitialized())
    return false;
  PyGILState_STATE gil = PyGILState_Ensure();
  bool stop = PyErr_CheckSignals() != 0;
  PyGILState_Release(gil);
  return stop;
}

static runtime::Status joinJob(const runtime::JobOptions &options) {
  nb::gil_scoped_release release;
  runtime::Expected<std::unique_ptr<Job>> joined = Job::init(options);
  if (!joined.ok())
    return joined.status();
  jobState().job = (*joined).release();
  return {};
}

Job *python::requireJob(const std::string &who, std::string device) {
  JobState &state = jobState();
  if (state.active())
    return state.job;
  if (state.job) {
    PyErr_SetString(errorTypes().job,
                    (who + " after nereid.finalize(): this rank has left its job").c_str());
    return nullptr;
  }
  runtime::Expected<runtime::EnvironmentJob> environment = runtime::environmentJob();
  if (!environment.ok()) {
    setPythonError(environment.status(), errorTypes().job);
    return nullptr;
  }
  const int world = environment->worldSize;
  if (world != 1 && state.parents) {
    PyErr_SetString(errorTypes().job, (who + ": " + forkedText(*state.parents)).c_str());
    return nullptr;
  }
  if (world != 1) {
    PyErr_SetString(errorTypes().job,
                    (who + " needs the job of " + std::to_string(world) + " ranks that " +
                     environment->variable + " describes: call nereid.init() first, on every rank")
                        .c_str());
    return nullptr;
  }
  runtime::JobOptions options;
  options.device = device.empty() ? activeDevice() : std::move(device);
  runtime::Status status = joinJob(options);
  if (!status.ok()) {
    setPythonError(status, errorTypes().job);
    return nullptr;
  }
  return state.job;
}

std::string python::forkedText(const Job &parents) {
  return "this process was forked from rank " + std::to_string(parents.rank()) +
         " of a job and has no part in it: its barriers and its symmetric memory belong to the "
         "process that joined. Work with them there; a child may make ranks of its own with "
         "nereid.testing.spawn";
}

/// requireJob for functions bound through nanobind.
static Job &job(const char *who) {
  Job *found = requireJob(who);
  if (!found)
    throw nb::python_error();
  return *found;
}

/// Runs `call` without the GIL; throws its failure as JobError.
template <typename Call> static void collective(Call call) {
  runtime::Status status;
  {
    nb::gil_scoped_release release;
    status = call();
  }
  checkJob(status);
}

static nb::dict allocationDict(const runtime::Allocation &allocation) {
  nb::dict entry;
  entry["offset"] = allocation.offset;
  entry["bytes"] = allocation.bytes;
  entry["label"] = nb::str(allocation.info.label.c_str());
  entry["dtype"] = nb::str(allocation.info.dtype.c_str());
  entry["shape"] = nb::str(allocation.info.shape.c_str());
  entry["where"] = nb::str(allocation.info.where.c_str());
  return entry;
}

static nb::list pythonKnobs() {
  nb::list rows;
  for (const runtime::KnobInfo &knob : runtime::knobTable())
    rows.append(nb::make_tuple(knob.name, knob.defaultText, knob.help));
  return rows;
}

/// Joining and leaving the job, and what its ranks do together.
static void bindMembership(nb::module_ &m) {
  // Launches without a job can be interrupted too.
  runtime::setInterruptCheck(checkInterrupt);
  m.def(
      "init",
      [](std::optional<uint64_t> heapBytes, std::optional<double> timeout,
         std::optional<double> initTimeout, std::optional<int32_t> numThreads,
         std::optional<std::string> profile, std::optional<std::string> schedule,
         std::optional<int32_t> ranksPerNode) {
        JobState &state = jobState();
        if (state.active())
          return false;
        if (state.job) {
          PyErr_SetString(errorTypes().job,
                          "nereid.init() after nereid.finalize(): a process joins a job once");
          throw nb::python_error();
        }
        runtime::JobOptions options;
        options.heapBytes = heapBytes;
        options.timeoutSeconds = timeout;
        options.initTimeoutSeconds = initTimeout;
        options.numThreads = numThreads;
        options.profile = std::move(profile);
        options.schedule = std::move(schedule);
        options.ranksPerNode = ranksPerNode;
        options.device = activeDevice();
        checkJob(joinJob(options));
        return true;
      },
      nb::arg("heap_bytes").none() = nb::none(), nb::arg("timeout").none() = nb::none(),
      nb::arg("init_timeout").none() = nb::none(), nb::arg("num_threads").none() = nb::none(),
      nb::arg("profile").none() = nb::none(), nb::arg("schedule").none() = nb::none(),
      nb::arg("ranks_per_node").none() = nb::none(),
      "Joins the job of this process; False when it has joined already.");
  m.def("is_initialized", [] { return jobState().active(); });
  m.def("environment_world_size", [] {
    runtime::Expected<runtime::EnvironmentJob> environment = runtime::environmentJob();
    checkJob(environment.status());
    return environment->worldSize;
  });
  m.def("finalize", [] {
    if (jobState().active())
      collective([] { return jobState().job->finalize(); });
  });
  m.def("rank", [] { return job("nereid.rank()").rank(); });
  m.def("world_size", [] { return job("nereid.world_size()").worldSize(); });
  m.def("num_threads", [] { return job("nereid.num_threads()").numThreads(); });
  m.def(
      "barrier",
      [](const char *what) {
        Job &current = job("nereid.barrier()");
        collective([&] { return current.barrier(what); });
      },
      nb::arg("what") = "barrier()",
      "Waits for all ranks; `what` is what a report of calls that differ names it.");
  m.def(
      "set_call_site",
      [](nb::callable site) {
        static nb::callable *kept = nullptr; // outlives every thread that may ask
        if (!kept)
          kept = new nb::callable;
        *kept = std::move(site);
        runtime::setCallSite([]() -> std::string {
          if (!Py_IsInitialized())
            return "";
          nb::gil_scoped_acquire gil;
          try {
            std::string where = nb::cast<std::string>((*kept)());
            return where == "?" ? std::string() : where;
          } catch (const nb::python_error &) {
            return "";
          }
        });
      },
      nb::arg("site"), "A function that gives the line outside the package, \"job.py:12\".");
  m.def("abort", [](const std::string &reason) {
    if (jobState().active())
      jobState().job->abort(reason);
  });
  m.def(
      "claim_text",
      [](const std::string &text) { return job("nereid.claim_text()").claimText(text); },
      "The rank that prints a text which several ranks may have: the first to ask.");
}

/// How a process of the job ends, in success or failure.
static void bindEnds(nb::module_ &m) {
  // sys.excepthook while the process ends: a Ctrl-C that comes now changes nothing
  // any more, and must not interrupt the report.
  m.def("report_uncaught",
        [](nb::callable hook, nb::object kind, nb::object value, nb::object trace) {
          struct sigaction ignore = {}, before = {};
          ignore.sa_handler = SIG_IGN;
          sigaction(SIGINT, &ignore, &before);
          while (PyErr_CheckSignals() != 0)
            PyErr_Clear();
          try {
            hook(kind, value, trace);
          } catch (nb::python_error &) {
            sigaction(SIGINT, &before, nullptr);
            throw;
          }
          sigaction(SIGINT, &before, nullptr);
        });
  // Once: the exit code becomes 1 where it would be 0. Other exits stay as they are.
  m.def("fail_at_exit", [] {
    static bool registered = on_exit(
                                 [](int status, void *) {
                                   if (status == 0)
                                     exit(1); // the remaining handlers run, too
                                 },
                                 nullptr) == 0;
    return registered;
  });
}

/// What the job is and how it is.
/// Programs of a launch that run side by side.
static int32_t programsAtOnce(const Job &current) {
  runtime::Expected<std::optional<int32_t>> known = current.device().programsAtOnce(current);
  checkJob(known.status());
  return known->value_or(current.numThreads());
}

static void bindHealth(nb::module_ &m) {
  m.def("recover", [] {
    Job &current = job("nereid.recover()");
    collective([&] { return current.recover(); });
  });
  m.def("health", [] { checkJob(job("nereid.health()").health()); });
  m.def("job_info", [] {
    Job &current = job("nereid.job_info()");
    nb::dict info;
    info["rank"] = current.rank();
    info["world_size"] = current.worldSize();
    info["heap_base"] = reinterpret_cast<uintptr_t>(current.heapBase());
    info["heap_bytes"] = current.heapBytes();
    info["heap_bytes_used"] = current.heapBytesUsed();
    info["num_threads"] = current.numThreads();
    info["programs"] = programsAtOnce(current);
    info["device"] = nb::str(current.device().name());
    info["timeout"] = current.timeoutSeconds();
    info["profile"] = nb::str(current.profile().name);
    info["sub_vec_num"] = current.profile().subVecNum;
    return info;
  });
}

static void bindMemory(nb::module_ &m) {
  // Symmetric memory; python/nereid/_job/symmetric.py makes tensors of it.
  m.def(
      "symm_allocate",
      [](uint64_t bytes, std::string label, std::string dtype, std::string shape,
         std::string where) {
        Job &current = job("nereid.symm");
        void *address = nullptr;
        collective([&] {
          auto result = current.allocate(
              bytes, {std::move(label), std::move(dtype), std::move(shape), std::move(where)});
          if (result.ok())
            address = *result;
          return result.status();
        });
        return reinterpret_cast<uintptr_t>(address);
      },
      nb::arg("bytes"), nb::arg("label"), nb::arg("dtype"), nb::arg("shape"),
      nb::arg("where") = "");
  m.def("symm_free", [](uintptr_t address) {
    Job &current = job("nereid.symm.free()");
    collective([&] { return current.free(reinterpret_cast<void *>(address)); });
  });
  m.def("symm_allocations", [] {
    nb::list entries;
    for (const runtime::Allocation &allocation : job("nereid.symm").allocations())
      entries.append(allocationDict(allocation));
    return entries;
  });
  m.def("is_symmetric", [](uintptr_t address, uint64_t bytes) {
    return jobState().job && jobState().job->isSymmetric(reinterpret_cast<void *>(address), bytes);
  });
  m.def("peer_address", [](uintptr_t address, int32_t rank) {
    Job &current = job("nereid.symm");
    if (rank >= 0 && rank < current.worldSize() && !current.reachable(rank)) {
      std::string text = "rank " + std::to_string(rank) + " is on node " +
                         std::to_string(current.nodeOf(rank)) + ", this rank " +
                         std::to_string(current.rank()) + " on node " +
                         std::to_string(current.nodeOf(current.rank())) +
                         ": there is no view of another node's memory; copy with nereid.symm.put "
                         "and get, or in a kernel with "
                         "libshmem_device.putmem and getmem";
      PyErr_SetString(errorTypes().job, text.c_str());
      throw nb::python_error();
    }
    return reinterpret_cast<uintptr_t>(
        current.peerAddress(reinterpret_cast<void *>(address), rank));
  });
  m.def(
      "heaps_on_host", [] { return !jobState().job || jobState().job->heapsOnHost(); },
      "Whether the host can load and store in symmetric memory.");
}

static void bindTransfers(nb::module_ &m) {
  // Host transfers: they also reach other nodes, and are complete on return.
  m.def(
      "peer_put",
      [](uintptr_t address, uintptr_t source, uint64_t bytes, int32_t rank) {
        Job &current = job("nereid.symm");
        collective([&] {
          return current.put(reinterpret_cast<void *>(address), reinterpret_cast<void *>(source),
                             bytes, rank);
        });
      },
      nb::arg("address"), nb::arg("source"), nb::arg("bytes"), nb::arg("rank"));
  m.def(
      "peer_get",
      [](uintptr_t dest, uintptr_t address, uint64_t bytes, int32_t rank) {
        Job &current = job("nereid.symm");
        collective([&] {
          return current.get(reinterpret_cast<void *>(dest), reinterpret_cast<void *>(address),
                             bytes, rank);
        });
      },
      nb::arg("dest"), nb::arg("address"), nb::arg("bytes"), nb::arg("rank"));
  m.def(
      "signal_op",
      [](uintptr_t address, uint64_t value, bool add, int32_t bytes, int32_t rank) {
        Job &current = job("nereid.symm");
        collective([&] {
          return current.signal(reinterpret_cast<void *>(address), value,
                                add ? NRD_SIG_ADD : NRD_SIG_SET, bytes, rank);
        });
      },
      nb::arg("address"), nb::arg("value"), nb::arg("add"), nb::arg("bytes"), nb::arg("rank"));
  // Random schedules: host code is about to change symmetric memory.
  m.def("give_way", [] {
    if (jobState().active() && jobState().job->hasRandomSchedule()) {
      nb::gil_scoped_release release;
      jobState().job->giveWay();
    }
  });
  m.def("is_watched", [] { return jobState().active() && jobState().job->isWatched(); });
  m.def(
      "note_access",
      [](uintptr_t address, uint64_t bytes, bool writes) {
        if (jobState().active())
          jobState().job->noteAccess(reinterpret_cast<void *>(address), bytes, writes);
      },
      nb::arg("address"), nb::arg("bytes"), nb::arg("writes"));
  m.def(
      "signal_wait_until",
      [](uintptr_t address, int32_t comparison, uint64_t value, int32_t bytes, bool isSigned) {
        Job &current = job("nereid.symm");
        collective([&] {
          return current.waitUntil(reinterpret_cast<void *>(address), comparison, value, bytes,
                                   isSigned);
        });
      },
      nb::arg("address"), nb::arg("comparison"), nb::arg("value"), nb::arg("bytes"),
      nb::arg("is_signed"));
  m.def("node_of", [](int32_t rank) { return job("nereid").nodeOf(rank); }, nb::arg("rank"));
}

/// Profiles, environment variables and the sizes in them.
static void bindSettings(nb::module_ &m) {
  m.def("parse_byte_size", [](const std::string &text) {
    auto bytes = runtime::parseByteSize(text);
    checkJob(bytes.status());
    return *bytes;
  });
  m.def("find_profile", [](const std::string &name) {
    auto profile = runtime::findProfile(name);
    checkJob(profile.status());
    nb::dict entry;
    entry["name"] = nb::str((*profile).name);
    entry["library"] = nb::str(shmemLibraryName((*profile).library));
    entry["wait_stride"] = (*profile).waitStride;
    entry["sub_vec_num"] = (*profile).subVecNum;
    entry["signal_bytes"] = (*profile).signalBytes;
    entry["one_program_per_rank"] = (*profile).oneProgramPerRank;
    entry["fence_completes"] = (*profile).fenceCompletes;
    return entry;
  });
  m.def(
      "profile_names",
      [] {
        nb::list names;
        for (const TargetProfile &profile : targetProfiles)
          names.append(nb::str(profile.name));
        return names;
      },
      "Names of the profiles.");
  m.def("knobs", pythonKnobs, "Environment variables of the runtime: (name, default, help).");
}

/// The fields of HostShare, in their order.
using HostShareArguments =
    std::tuple<int32_t, int32_t, std::string, std::string, std::string, std::string, uint16_t, int>;

/// Starting the processes of a job.
static void bindLauncher(nb::module_ &m) {
  m.def(
      "launch_job",
      [](const std::vector<std::string> &argv, int32_t worldSize, bool tagOutput,
         std::optional<uint64_t> heapBytes, std::optional<double> timeout,
         const std::string &schedule, const std::string &profile, int32_t numThreads,
         std::optional<int32_t> ranksPerNode, const std::string &transport,
         const std::vector<std::pair<std::string, std::string>> &environment,
         const std::vector<std::tuple<int32_t, std::string, std::string>> &rankEnvironment,
         double grace, bool verbose, std::optional<HostShareArguments> share) {
        runtime::LaunchJobOptions options;
        if (share) {
          const auto &[first, total, host, rendezvous, secret, address, port, commands] = *share;
          options.share =
              runtime::HostShare{first, total, host, rendezvous, secret, address, port, commands};
        }
        options.tagOutput = tagOutput;
        options.heapBytes = heapBytes;
        options.timeoutSeconds = timeout;
        options.schedule = schedule;
        options.profile = profile;
        options.numThreads = numThreads;
        options.ranksPerNode = ranksPerNode;
        options.transport = transport;
        options.environment = environment;
        options.rankEnvironment = rankEnvironment;
        options.graceSeconds = grace;
        options.verbose = verbose;
        runtime::JobResult result;
        collective([&] {
          auto finished = runtime::launchJob(argv, worldSize, options);
          if (finished.ok())
            result = *finished;
          return finished.status();
        });
        return nb::make_tuple(result.exitCode, result.firstBadRank, nb::cast(result.exitCodes));
      },
      nb::arg("argv"), nb::arg("world_size"), nb::arg("tag_output") = false,
      nb::arg("heap_bytes").none() = nb::none(), nb::arg("timeout").none() = nb::none(),
      nb::arg("schedule") = "", nb::arg("profile") = "", nb::arg("num_threads") = 0,
      nb::arg("ranks_per_node").none() = nb::none(), nb::arg("transport") = "",
      nb::arg("environment") = std::vector<std::pair<std::string, std::string>>(),
      nb::arg("rank_environment") = std::vector<std::tuple<int32_t, std::string, std::string>>(),
      nb::arg("grace") = 5.0, nb::arg("verbose") = true, nb::arg("share").none() = nb::none());

  nb::class_<runtime::JobMemory>(m, "JobMemory",
                                 "Memory of a job whose ranks are started by nereid.testing.spawn.")
      .def(nb::new_([](int32_t worldSize, std::optional<uint64_t> heapBytes) {
             auto memory = runtime::JobMemory::create(worldSize, heapBytes);
             checkJob(memory.status());
             return std::move(*memory);
           }),
           nb::arg("world_size"), nb::arg("heap_bytes").none() = nb::none())
      .def("environment", &runtime::JobMemory::environment, nb::arg("rank"),
           "Names and values that the process of a rank needs in its environment.")
      .def("rank_ended", &runtime::JobMemory::rankEnded, nb::arg("rank"), nb::arg("status"));

  // For nereid.testing.spawn: children that must not outlive their parent.
  m.def("die_with_parent", [] { return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0; });
  // A forked child belongs to no job: the threads and the membership of its
  // parent are not its own.
  m.def("forget_job_after_fork", [] {
    JobState &state = jobState();
    if (state.job)
      state.parents = std::exchange(state.job, nullptr);
  });
}

void python::bindJob(nb::module_ &m) {
  bindMembership(m);
  bindEnds(m);
  bindHealth(m);
  bindMemory(m);
  bindTransfers(m);
  bindSettings(m);
  bindLauncher(m);
}
