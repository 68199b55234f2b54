// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FiberSwitch.h - From a thread to its fibers and back ---------------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_FIBERSWITCH_H
#define NEREID_RUNTIME_DEVICE_CPU_FIBERSWITCH_H

#include "base/Sanitizer.h"
#include "device/cpu/Program.h"

namespace nereid::runtime {

/// One thread's side of switching to programs with stacks of their own. Tells
/// sanitizers about every switch.
class FiberSwitch {
public:
  /// The calling thread is the one that switches from now on.
  void adoptThread();
  /// Makes `program`, which has a stack, begin in `main` when it is entered. What
  /// `main` gets, it hands to arrive() first.
  void prepare(Program &program, void (*main)(boost::context::detail::transfer_t));
  Program &arrive(boost::context::detail::transfer_t from);

  /// Goes on with `program`; returns when it calls exit().
  void enter(Program &program);
  /// Back to whoever entered `program`; for good when it has ended.
  void exit(Program &program, bool forGood);
  /// `program` has left for good: its stack may be used again.
  void retire(Program &program);

private:
  boost::context::detail::fcontext_t thread = nullptr;
  [[maybe_unused]] void *sanitizerThread = nullptr;
  [[maybe_unused]] void *fakeStack = nullptr;
  [[maybe_unused]] const void *threadStack = nullptr;
  [[maybe_unused]] size_t threadStackBytes = 0;
};

inline void FiberSwitch::adoptThread() {
#if defined(NEREID_TSAN)
  sanitizerThread = __tsan_get_current_fiber();
#endif
}

inline void FiberSwitch::prepare(Program &program,
                                 void (*main)(boost::context::detail::transfer_t)) {
  program.context = boost::context::detail::make_fcontext(program.stackBase + program.stackBytes,
                                                          program.stackBytes, main);
#if defined(NEREID_TSAN)
  program.sanitizerFiber = __tsan_create_fiber(0);
#endif
}

inline Program &FiberSwitch::arrive(boost::context::detail::transfer_t from) {
  thread = from.fctx;
#if defined(NEREID_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, &threadStack, &threadStackBytes);
#endif
  return *static_cast<Program *>(from.data);
}

inline void FiberSwitch::enter(Program &program) {
#if defined(NEREID_ASAN)
  __sanitizer_start_switch_fiber(&fakeStack, program.stackBase, program.stackBytes);
#endif
#if defined(NEREID_TSAN)
  __tsan_switch_to_fiber(program.sanitizerFiber, 0);
#endif
  boost::context::detail::transfer_t from =
      boost::context::detail::jump_fcontext(program.context, &program);
  program.context = from.fctx;
#if defined(NEREID_ASAN)
  __sanitizer_finish_switch_fiber(fakeStack, nullptr, nullptr);
#endif
}

inline void FiberSwitch::exit(Program &program, bool forGood) {
#if defined(NEREID_ASAN)
  __sanitizer_start_switch_fiber(forGood ? nullptr : &program.fakeStack, threadStack,
                                 threadStackBytes);
#endif
#if defined(NEREID_TSAN)
  __tsan_switch_to_fiber(sanitizerThread, 0);
#endif
  boost::context::detail::transfer_t from = boost::context::detail::jump_fcontext(thread, nullptr);
  thread = from.fctx;
#if defined(NEREID_ASAN)
  __sanitizer_finish_switch_fiber(program.fakeStack, &threadStack, &threadStackBytes);
#endif
}

inline void FiberSwitch::retire(Program &program) {
#if defined(NEREID_TSAN)
  __tsan_destroy_fiber(program.sanitizerFiber);
  program.sanitizerFiber = nullptr;
#endif
#if defined(NEREID_ASAN)
  ASAN_UNPOISON_MEMORY_REGION(program.stackBase, program.stackBytes);
#endif
}

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_FIBERSWITCH_H
