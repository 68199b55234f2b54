// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Launches.h - The steps of a launch ---------------------------------===//
#ifndef NEREID_RUNTIME_EXECUTION_LAUNCHES_H
#define NEREID_RUNTIME_EXECUTION_LAUNCHES_H

#include "nereid/runtime/Launch.h"
#include "nereid/runtime/Stream.h"
#include "symmetric/JobImpl.h"

namespace nereid::runtime {

/// What can be known to be wrong before the launch has its turn.
Status checkLaunch(const LaunchSpec &spec);
/// The job that a launch belongs to: `job`, which must run on the kernel's device, or
/// that of launches outside any job.
Expected<Job *> jobOfLaunch(Job *job, const LaunchSpec &spec);
/// Waits for its turn and launches. `queue`, unless it is null, is where a stream keeps
/// its queue of the job's device, which its first launch makes, over the device's stream
/// `native` if that is given; the launch has ended when there is none.
Status launchInto(Job &job, const LaunchSpec &spec, std::unique_ptr<DeviceQueue> *queue,
                  std::optional<uintptr_t> native = {});
/// Carries out a put, or gives it to the device, as launchInto does a launch.
Status putInto(Job &job, const StreamedPut &put, std::unique_ptr<DeviceQueue> &queue,
               std::optional<uintptr_t> native);
/// Waits for all that was launched into `queue`; the first that failed.
Status synchronizeQueue(Job &job, DeviceQueue &queue);
/// Makes the launch that `job` is in, if any, fail with Interrupted.
void interruptLaunch(Job::Impl &job);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_EXECUTION_LAUNCHES_H
