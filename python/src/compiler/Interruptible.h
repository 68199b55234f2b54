// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Interruptible.h - Compiling while Python's signals act -----*- C++ -*-===//
//
// Passes and LLVM look at no signals, so they run on a thread of their own while
// the caller's waits without the interpreter's lock and looks at signals now and
// then. When one raises (Ctrl-C), the caller leaves at once; the work it leaves
// behind owns all it needs, is told to end, and nobody sees its result.
#ifndef NEREID_PYTHON_INTERRUPTIBLE_H
#define NEREID_PYTHON_INTERRUPTIBLE_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <nanobind/nanobind.h>

#include <atomic>
#include <functional>
#include <mutex>

namespace nereid::python {

class Interruptible {
public:
  /// Runs `work` on a thread of its own; what it throws comes out here. Raises what
  /// a signal handler raises: then `work` may still be running and must refer to
  /// nothing but what it owns. Call with the interpreter's lock.
  static void run(std::function<void(Interruptible &)> work);

  /// For the work: whether the caller has left.
  const std::atomic<bool> &isCancelled() const { return cancelled; }

  /// For the work: calls `use` with the interpreter's lock, unless the caller has
  /// left, after which Python may end at any time.
  void withPython(llvm::function_ref<void()> use);

private:
  void cancel();

  std::atomic<bool> cancelled{false};
  std::mutex python; // held by who uses Python and by who cancels
};

} // namespace nereid::python

#endif // NEREID_PYTHON_INTERRUPTIBLE_H
