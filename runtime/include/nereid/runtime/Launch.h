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
/// other; Stream.h has queues for them. On the CPU the calling thread is worker 0 and runs programs
/// itself.
///
/// Errors: InvalidArgument; whatever a program failed with (BadRank,
/// NotSymmetric, AssertFailed, BadAccess); BarrierMismatch, Deadlock, Timeout;
/// the first failure anywhere in the job when that made this launch stop.
Status launch(Job *job, const LaunchSpec &spec);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_LAUNCH_H
