// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Launch.h - Runs a compiled kernel on this rank ------------*- C++ -*-===//
#ifndef NEREID_RUNTIME_LAUNCH_H
#define NEREID_RUNTIME_LAUNCH_H

#include "nereid/abi.h"
#include "nereid/runtime/Status.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace nereid::runtime {

class Job;
class KernelCode;

/// One launch of one kernel. Holds no ownership: what it points to must live
/// until launch() returns.
struct LaunchSpec {
  /// For reports and for matching barriers of different ranks.
  std::string_view kernelName;
  nrd_kernel_fn kernel = nullptr;
  /// What `kernel` is part of; null when unknown. Says which source line an
  /// instruction comes from, and lets the runtime stop programs that never call
  /// it.
  const KernelCode *code = nullptr;
  /// One slot per run-time argument, encoded as abi.h says.
  const uint64_t *args = nullptr;
  /// Programs along each axis; each at least 1, their product below 2^31.
  std::array<int32_t, 3> grid{1, 1, 1};
  /// Bytes of tile buffers per program (kernel metadata).
  uint64_t scratchBytes = 0;
  /// Kernel metadata: the kernel waits, yields or calls barriers. Programs of
  /// a blocking launch are all alive at once (fibers); those of another one
  /// run one after the other on each worker.
  bool blocking = false;
  /// Source table of the kernel; null = no locations known.
  const SiteTable *sites = nullptr;
  /// Vector cores per program: each program runs once for each, with
  /// sub_vec_id 0.. and all of them take part in barriers.
  int32_t subVecNum = 1;
};

/// Runs the kernel over the whole grid and returns when all its programs have
/// ended. Not collective by itself; kernels that wait for other ranks need
/// those to launch theirs. `job` may be null: a world of rank 0 without a
/// symmetric heap. Launches of one job from several threads run one after the
/// other. The calling thread is worker 0 and runs programs itself.
///
/// Errors: InvalidArgument; whatever a program failed with (BadRank,
/// NotSymmetric, AssertFailed, BadAccess); BarrierMismatch, Deadlock, Timeout;
/// the first failure anywhere in the job when that made this launch stop.
Status launch(Job *job, const LaunchSpec &spec);

/// For hosts that launch from threads of their own. While host code runs beside
/// a launch, a launch all of whose programs wait is no deadlock yet: the host
/// may write a signal. It says so here, and takes it back when it waits for the
/// launch itself. `streamsAtWork`: how many threads that have called
/// beStreamThread() have something to do; those of them that are not inside a
/// launch, a host collective or a wait for a signal count as host code that runs.
/// `job` as in launch().
void setHostBusy(Job *job, bool busy, int32_t streamsAtWork = 0);
void beStreamThread();
/// Makes the launch that another thread is in, if any, fail with Interrupted.
void interruptLaunches(Job *job);

/// The entry points of abi.h for a JIT's symbol table.
struct RuntimeSymbol {
  const char *name;
  void *address;
};
const std::vector<RuntimeSymbol> &runtimeSymbols();

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_LAUNCH_H
