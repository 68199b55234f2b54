// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ArrayView.h - Arrays as launches read them ---------------*- C++ -*-===//
#ifndef NEREID_PYTHON_ARRAYVIEW_H
#define NEREID_PYTHON_ARRAYVIEW_H

#include "Dtype.h"

#include <Python.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nereid::python {

/// What a launch needs to know of an array argument.
struct ArrayView {
  char *data = nullptr;
  Dtype dtype = Dtype::None;
  bool readOnly = false;
  /// Whether kernels run on a GPU, if that has been asked before for this launch.
  std::optional<bool> kernelsOnGPU;
  /// Known to be in memory of the GPU that kernels run on.
  bool onGPU = false;
  /// Row-major without gaps. When false, shape and strides are filled.
  bool contiguous = true;
  std::vector<int64_t> shape;
  /// In elements.
  std::vector<int64_t> strides;
  /// What must live until the launch has ended besides the argument itself
  /// (a DLPack capsule); a new reference or null.
  PyObject *keepAlive = nullptr;
};

enum class ArrayResult {
  NotAnArray, ///< nothing that stands for memory
  Ok,
  Unusable, ///< an array that no kernel can read; the text says why
  Raised,   ///< a Python exception is set
};

/// Reads a numpy array, a symmetric tensor, an object with data_ptr() and dtype
/// (torch) or a DLPack object. `problem` gets the rest of the sentence that
/// begins with the argument's name, and what to write instead.
ArrayResult readArray(PyObject *object, ArrayView &view, std::string &problem);

/// Whether `object` is an array in memory of a GPU: a torch tensor on "cuda", or
/// anything with __cuda_array_interface__.
bool isOnGPU(PyObject *object);

/// Everything of an array but its elements.
struct ArrayLayout {
  enum class Kind : char { Numpy, Symmetric, Torch, TorchOnGPU };
  static constexpr int mostDimensions = 8;

  Kind kind = Kind::Numpy;
  Dtype dtype = Dtype::None;
  bool writeable = true;
  /// Of a tensor on a GPU, its number.
  int8_t gpu = -1;
  int rank = 0;
  int64_t shape[mostDimensions];
  /// In bytes for numpy, else in elements.
  int64_t strides[mostDimensions];
  /// The bytes it lies in; the same address twice when it has no element.
  uintptr_t begin = 0, end = 0;
};

/// Reads a numpy array (no subclass), a symmetric tensor or a tensor of torch that
/// requires no gradient, on the CPU or where kernels run, of at most 8 dimensions. False
/// without an exception for anything else.
bool readLayout(PyObject *object, ArrayLayout &layout);

/// Whether `object` is a numpy array; exact or a subclass.
bool isNumpyArray(PyObject *object);
/// Whether `object` is a tensor of torch, of no subclass.
bool isTorchTensor(PyObject *object);
/// Whether `object` is one of numpy's scalars (np.int32(3)).
bool isNumpyScalar(PyObject *object);

/// The dtype behind a numpy dtype, torch dtype, type such as np.float32, a
/// string or a dtype of the language; None when it is not one.
Dtype dtypeOfObject(PyObject *object);

/// "numpy array of float32 with shape (4, 8)", "int 5", "str 'abc'": how
/// messages name an argument.
std::string describeObject(PyObject *object);

} // namespace nereid::python

#endif // NEREID_PYTHON_ARRAYVIEW_H
