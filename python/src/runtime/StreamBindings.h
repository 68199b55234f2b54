// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StreamBindings.h - Streams for Python --------------------*- C++ -*-===//
#ifndef NEREID_PYTHON_STREAMBINDINGS_H
#define NEREID_PYTHON_STREAMBINDINGS_H

#include "KernelImage.h"
#include "SmallBuffer.h"

#include "nereid/runtime/Stream.h"

namespace nereid::python {

class KeptException;
class PythonStream;

/// A launch of Python with its arguments already read. Made and used with the GIL held,
/// but for what it overrides.
class PythonLaunch final : public runtime::StreamedLaunch {
public:
  PythonLaunch(const KernelImage &image, const std::array<int32_t, 3> &grid, const uint64_t *slots,
               size_t numSlots);
  ~PythonLaunch() override;

  /// What must stay alive until it has run: the kernel and its arguments.
  void keep(PyObject *object) { objects.push_back(Py_NewRef(object)); }
  void keepStolen(PyObject *object) { objects.push_back(object); }

  runtime::Expected<runtime::Job *> findJob() override;
  std::string place() override;
  void release(std::vector<std::shared_ptr<StreamedLaunch>> &ended) override;

private:
  friend class PythonStream;
  const KernelImage &image;
  SmallBuffer<uint64_t, 16> slots;
  SmallBuffer<PyObject *, 20> objects;
  /// Of the stream that it was given to.
  std::shared_ptr<KeptException> kept;
  std::string stream;
  /// Where it was given; known when it has had to wait.
  std::string where;
  /// While its thread tries whether it has its turn at once, with the GIL held until a
  /// job has been found.
  bool tried = false;
  PyThreadState *released = nullptr;
};

/// The stream that launches of this thread go to; null when they run at once. A
/// borrowed reference.
PyObject *currentStream();

/// Whether a launch of `image` goes into the current stream. One that cannot wait runs at
/// once in a stream that says so, unless something is left before it.
bool goesIntoStream(const KernelImage &image);

/// Gives `launch` to the current stream; false with an exception set.
bool enqueue(const std::shared_ptr<PythonLaunch> &launch);

void bindStreams(nanobind::module_ &m);

} // namespace nereid::python

#endif // NEREID_PYTHON_STREAMBINDINGS_H
