// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pulse.h - What a worker shows to those who watch the job -----------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_PULSE_H
#define NEREID_RUNTIME_DEVICE_CPU_PULSE_H

#include "device/cpu/WorkerArea.h"

namespace nereid::runtime {

/// A worker's own line of its rank's WorkerArea. Only its thread writes it.
class Pulse {
public:
  explicit Pulse(WorkerSlot &slot) : slot(slot) {}

  void set(WorkerState state) { slot.state.store(uint32_t(state), std::memory_order_release); }
  /// A program starts or goes on.
  void beat() {
    slot.progress.store(slot.progress.load(std::memory_order_relaxed) + 1,
                        std::memory_order_release);
  }
  /// A program did something for others: a signal, a transfer, an atomic that
  /// changes a word. What only reads is none: it may be a poll. Seen at once,
  /// since the program may not give way for long.
  void act() {
    ++acted;
    beat();
  }
  /// How often act() was called.
  uint64_t actions() const { return acted; }
  /// All programs were looked at and none can go on.
  void pass() {
    slot.idlePasses.store(slot.idlePasses.load(std::memory_order_relaxed) + 1,
                          std::memory_order_release);
  }
  /// The kernel's number of the thread, for its use of the processor.
  void setThread(int32_t id) { slot.thread.store(id, std::memory_order_relaxed); }

private:
  WorkerSlot &slot;
  uint64_t acted = 0;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_PULSE_H
