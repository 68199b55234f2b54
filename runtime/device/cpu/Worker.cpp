// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device/cpu/Worker.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace nereid::runtime {

Worker::Worker(Job::Impl &job, uint32_t index)
    : job(job), index(index), pulse(WorkerArea::of(job.deviceArea(job.rank)).slots[index]),
      plain(*this) {}

static int32_t currentThread() {
  static thread_local int32_t id = int32_t(syscall(SYS_gettid));
  return id;
}

void Worker::run(LaunchState &launch) {
  interrupts.restart();
  if (launch.fibers)
    pulse.setThread(currentThread());
  pulse.set(WorkerState::Running);
  pulse.beat();
  {
    FaultScope faults(landing);
    if (launch.random)
      random.run(launch);
    else if (launch.fibers)
      scheduler.run(launch);
    else
      plain.run(launch);
  }
  pulse.set(WorkerState::None);
}

void Worker::leave(Program &program) {
  if (!program.fiber)
    plain.leave();
  scheduler.leave(program);
}

} // namespace nereid::runtime
