// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StreamBindings.h - Streams for Python --------------------*- C++ -*-===//
#ifndef NEREID_PYTHON_STREAMBINDINGS_H
#define NEREID_PYTHON_STREAMBINDINGS_H

#include "KernelImage.h"

namespace nereid::python {

/// A launch with its arguments already read.
struct PendingLaunch {
  std::string name;
  const KernelImage *image = nullptr;
  std::array<int32_t, 3> grid{1, 1, 1};
  std::vector<uint64_t> slots;
  /// The kernel and its arguments, which must stay alive until it has run.
  nanobind::list keepAlive;
};

/// The stream that launches of this thread go to; null when they run at once. A
/// borrowed reference.
PyObject *currentStream();

/// Whether a launch of `image` goes into the current stream. One that cannot wait runs at
/// once in a stream that says so, unless something is left before it.
bool goesIntoStream(const KernelImage &image);

/// Gives `launch` to the current stream; false with an exception set.
bool enqueue(PendingLaunch launch);

void bindStreams(nanobind::module_ &m);

} // namespace nereid::python

#endif // NEREID_PYTHON_STREAMBINDINGS_H
