// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Launch.h - Runs a loaded kernel on this rank --------------*- C++ -*-===//
#ifndef NEREID_RUNTIME_LAUNCH_H
#define NEREID_RUNTIME_LAUNCH_H

#include "nereid/runtime/Device.h"
#include "nereid/runtime/Status.h"

#include <cstdint>
#include <optional>

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

/// Whether the kernel can only be launched in a job: it uses ranks, signals or
/// symmetric memory, or has arguments that must be symmetric.
bool needsJob(const Kernel &kernel);

/// The first of the kernel's symmetric arguments that is not an address in
/// symmetric memory of this rank; nothing when all are. `slots` has one entry per
/// argument. For hosts to ask before they launch: they know the argument's name.
std::optional<uint32_t> findNonSymmetric(const Kernel &kernel, const uint64_t *slots,
                                         const Job &job);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_LAUNCH_H
