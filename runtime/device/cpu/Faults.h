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

#include <atomic>
#include <cstdint>
#include <pthread.h>

namespace nereid::runtime {

struct Program;

/// What another thread wants of the program that a worker runs.
enum class PreemptRequest : uint32_t {
  None = 0,
  CheckInterrupt, ///< ask the host whether the user wants to stop
  Leave,          ///< the launch stops: leave the program
};

/// Why a signal handler made a program leave its code.
enum class Landing : uint8_t { Fault, Interrupt, Stop };

/// What a worker's thread and the signal handlers that run on it tell each
/// other about the program that it runs.
struct FaultLanding {
  Program *volatile running = nullptr; ///< whose code the thread executes
  volatile bool reporting = false;     ///< the runtime allocates memory for a report

  // What a handler leaves behind for the program that it makes leave.
  Landing why = Landing::Fault;
  uint32_t site = ~0u;
  int signal = 0;
  uintptr_t address = 0;
  bool addressKnown = true;

  /// Sends the thread the signal that makes its program leave its own code or
  /// ask for interrupts. Does nothing outside a FaultScope. The thread must be
  /// alive.
  void preempt(PreemptRequest request);
  PreemptRequest takeRequest() {
    return PreemptRequest(requested.exchange(0, std::memory_order_acq_rel));
  }

private:
  friend class FaultScope;
  std::atomic<uint32_t> requested{0}; ///< a PreemptRequest
  std::atomic<bool> open{false};      ///< `thread` runs programs
  pthread_t thread{};
};

/// While it lives, faults of this thread's programs are errors of their launch,
/// and its programs can be preempted.
class FaultScope {
public:
  explicit FaultScope(FaultLanding &landing);
  ~FaultScope();
  FaultScope(const FaultScope &) = delete;
  FaultScope &operator=(const FaultScope &) = delete;

private:
  FaultLanding &landing;
  FaultLanding *before;
};

/// Whether this build reaches programs that never call the runtime: not under
/// sanitizers, which have handlers of their own.
bool canPreempt();

/// The signal that preempts; workers must not block it.
int preemptSignal();

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_FAULTS_H
