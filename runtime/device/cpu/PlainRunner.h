// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PlainRunner.h - Programs that never wait, one after the other ------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_PLAINRUNNER_H
#define NEREID_RUNTIME_DEVICE_CPU_PLAINRUNNER_H

#include "device/cpu/LaunchState.h"
#include "symmetric/JobWatch.h"

#include <csetjmp>

namespace nereid::runtime {

/// A worker's share in launches without fibers: it takes pieces of the grid,
/// large ones first, and runs their programs on its own stack.
class PlainRunner : private Awaited {
public:
  explicit PlainRunner(Worker &worker);

  /// Runs programs of `launch` until none are left.
  void run(LaunchState &launch);
  /// Ends the running program, and with it the launch.
  [[noreturn]] void leave() { _longjmp(exit, 1); }
  /// Waits for what the running program has asked of the transport; nothing else
  /// makes a program wait that is no fiber.
  void wait();

private:
  std::string what() const override;
  bool isOver() override { return program.launch->isReady(program); }
  bool needs(int32_t rank) override;
  template <bool Observed> void runPieces(LaunchState &launch);

  Worker &worker;
  Program program; ///< used for all of them
  std::jmp_buf exit;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_PLAINRUNNER_H
