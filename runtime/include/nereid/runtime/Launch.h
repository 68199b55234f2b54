// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Launch.h - Runs a loaded kernel on this rank --------------*- C++ -*-===//
#ifndef NEREID_RUNTIME_LAUNCH_H
#define NEREID_RUNTIME_LAUNCH_H

#include "nereid/runtime/Device.h"
#include "nereid/runtime/Status.h"

#include <cstdint>

namespace nereid::runtime {

/// Runs the kernel over the whole grid and returns when all its programs have
/// ended. Not collective by itself; kernels that wait for other ranks need
/// those to launch theirs. `job` may be null: a world of rank 0 without a
/// symmetric heap. Launches of one job from several threads run one after the
/// other. On the CPU the calling thread is worker 0 and runs programs itself.
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

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_LAUNCH_H
