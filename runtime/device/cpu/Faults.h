// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Faults.h - Programs that are left at any instruction ---------------===//
//
// A wild access, an integer division by zero or a stack overflow inside a
// kernel ends the program, not the process: the signal handler sends the
// program to a function that reports the fault like any other error, with the
// line that the instruction comes from, and leaves it. Programs that compute
// without end are left in the same way when the job has failed or the user has
// pressed Ctrl-C (Monitor.h). That is sound since generated code holds no locks
// and no destructors. Faults anywhere else go to whatever handler was there
// before.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_FAULTS_H
#define NEREID_RUNTIME_DEVICE_CPU_FAULTS_H

#include <cstdint>

namespace nereid::runtime {

class Worker;

/// What another thread wants of the program that a worker runs.
enum class PreemptRequest : uint32_t {
  None = 0,
  CheckInterrupt, ///< ask the host whether the user wants to stop
  Leave,          ///< the launch stops: leave the program
};

/// While it lives, faults of this thread's program are errors of `worker`'s
/// launch, and its programs can be preempted.
class FaultScope {
public:
  explicit FaultScope(Worker &worker);
  ~FaultScope();
  FaultScope(const FaultScope &) = delete;
  FaultScope &operator=(const FaultScope &) = delete;

private:
  [[maybe_unused]] Worker *before;
};

/// Whether this build reaches programs that never call the runtime: not under
/// sanitizers, which have handlers of their own.
bool canPreempt();

/// The signal that preempts; workers must not block it.
int preemptSignal();

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_FAULTS_H
