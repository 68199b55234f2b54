// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Faults.h - Kernels that touch memory that is not there -------------===//
//
// A wild access, an integer division by zero or a stack overflow inside a
// kernel ends the program, not the process: the signal handler sends the
// program to a function that reports the fault like any other error and leaves
// it. That is sound since generated code holds no locks and no destructors.
// Faults anywhere else go to whatever handler was there before.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_FAULTS_H
#define NEREID_RUNTIME_DEVICE_CPU_FAULTS_H

namespace nereid::runtime {

class Worker;

/// While it lives, faults of this thread's program are errors of `worker`'s
/// launch.
class FaultScope {
public:
  explicit FaultScope(Worker &worker);
  ~FaultScope();
  FaultScope(const FaultScope &) = delete;
  FaultScope &operator=(const FaultScope &) = delete;

private:
  [[maybe_unused]] Worker *before;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_FAULTS_H
