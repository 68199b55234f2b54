// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ArrayView.cpp - Arrays of numpy, torch and others ------------------===//
//
// Two readers over the same objects. readArray() gives what a launch needs,
// with an error that says what is wrong with an array; readLayout() gives all
// but the elements, only of the kinds that a table of prepared calls may trust,
// and says no more than "not known".
//
//   tried in this order        how it is read
//   numpy                      the C structure itself, behind a check when numpy is first
//                              seen that it is laid out as expected; else by attributes
//   symmetric tensor           its own C structure
//   data_ptr() and dtype       torch, by a function of C that its class of tensors offers
//                              (the table of DLPack 1.x), else by attributes and calls
//   __cuda_array_interface__   a dict; only where kernels run on a GPU
//   __dlpack__                 a capsule, which must live as long as the launch (keepAlive)
//
// This module links neither numpy nor torch: it works with whatever version is
// there, or none. That numpy's structure is read all the same is for speed: by
// its attributes, each array of a launch would cost several Python objects.
//
// Memory of a GPU is refused for kernels of the host by where the array says
// that it lies, before its address is asked for.
//
//===----------------------------------------------------------------------===//
#include "ArrayView.h"
#include "Symmetric.h"
#include "Targets.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace nereid::python;

namespace {

//===----------------------------------------------------------------------===//
// Small helpers over the C API
//===----------------------------------------------------------------------===//

/// Owns a reference.
struct Ref {
  PyObject *object;
  explicit Ref(PyObject *object) : object(object) {}
  Ref(const Ref &) = delete;
  ~Ref() { Py_XDECREF(object); }
  explicit operator bool() const { return object != nullptr; }
  PyObject *get() const { return object; }
};

/// getattr without an exception when there is none.
PyObject *attributeOrNull(PyObject *object, const char *name) {
  PyObject *value = PyObject_GetAttrString(object, name);
  if (!value)
    PyErr_Clear();
  return value;
}

std::string text(PyObject *object) {
  Ref string(object ? PyObject_Str(object) : nullptr);
  const char *utf8 = string ? PyUnicode_AsUTF8(string.get()) : nullptr;
  if (!utf8) {
    PyErr_Clear();
    return "?";
  }
  return utf8;
}

std::string attributeText(PyObject *object, const char *name) {
  return text(Ref(attributeOrNull(object, name)).get());
}

//===----------------------------------------------------------------------===//
// numpy
//===----------------------------------------------------------------------===//

/// The public layout of numpy's array object: what the accessor macros of its
/// C API read, the same since 1.7. Checked against the Python attributes when
/// numpy is first seen.
struct NumpyArray {
  PyObject_HEAD char *data;
  int numDimensions;
  Py_ssize_t *dimensions;
  Py_ssize_t *strides;
  PyObject *base;
  PyObject *descr;
  int flags;
};
constexpr int numpyContiguous = 0x0001, numpyAligned = 0x0100, numpyWriteable = 0x0400;

struct Numpy {
  PyTypeObject *array = nullptr;
  PyTypeObject *scalar = nullptr;
  /// Whether the layout above is what this numpy uses.
  bool layoutKnown = false;
};

bool checkNumpyLayout(PyObject *module) {
  Ref array(PyObject_CallMethod(module, "zeros", "((nn)s)", Py_ssize_t(3), Py_ssize_t(5), "int16"));
  if (!array)
    return false;
  Ref interface(PyObject_GetAttrString(array.get(), "__array_interface__"));
  Ref descr(PyObject_GetAttrString(array.get(), "dtype"));
  if (!interface || !descr)
    return false;
  PyObject *data = PyDict_GetItemString(interface.get(), "data"); // (address, read-only)
  if (!data || !PyTuple_Check(data))
    return false;
  auto *raw = reinterpret_cast<NumpyArray *>(array.get());
  return PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0)) == raw->data && raw->numDimensions == 2 &&
         raw->dimensions[0] == 3 && raw->dimensions[1] == 5 && raw->strides[0] == 10 &&
         raw->strides[1] == 2 && raw->descr == descr.get() && (raw->flags & numpyContiguous) &&
         (raw->flags & numpyWriteable);
}

/// numpy as far as the process has loaded it: an array cannot turn up before.
const Numpy &numpy() {
  static Numpy found;
  if (!found.array) {
    PyObject *module = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
    if (module) {
      PyObject *array = attributeOrNull(module, "ndarray");
      PyObject *scalar = attributeOrNull(module, "generic");
      found.layoutKnown = array && checkNumpyLayout(module);
      PyErr_Clear();
      found.scalar = reinterpret_cast<PyTypeObject *>(scalar);
      found.array = reinterpret_cast<PyTypeObject *>(array);
    }
  }
  return found;
}

/// dtype objects seen so far. They are singletons nearly always; the list is
/// kept short, so that a program which makes new ones all the time only pays
/// the slow look-up.
class DtypeCache {
public:
  bool find(PyObject *object, Dtype &dtype) const {
    for (const auto &[known, value] : entries)
      if (known == object) {
        dtype = value;
        return true;
      }
    return false;
  }
  void add(PyObject *object, Dtype dtype) {
    if (entries.size() < 32) {
      Py_INCREF(object);
      entries.emplace_back(object, dtype);
    }
  }

private:
  std::vector<std::pair<PyObject *, Dtype>> entries;
};

DtypeCache &dtypeCache() {
  static DtypeCache cache;
  return cache;
}

/// The dtype of a numpy dtype object; None and a reason when it has none.
Dtype numpyDtype(PyObject *descr, std::string *problem) {
  Dtype dtype = Dtype::None;
  if (dtypeCache().find(descr, dtype))
    return dtype;
  std::string name = attributeText(descr, "name"), kind = attributeText(descr, "kind");
  dtype = findDtype(name);
  if (dtype == Dtype::None) {
    if (problem && kind == "O")
      *problem = "holds Python objects, which have no layout that a kernel can read; convert it, "
                 "e.g. with "
                 ".astype(np.float32)";
    else if (problem && (kind == "U" || kind == "S"))
      *problem = "holds text; kernels read arrays of numbers";
    else if (problem)
      *problem = "has elements of type " + text(descr) +
                 ", which the kernel language does not know; convert it, e.g. "
                 "with .astype(np.float32)";
    return Dtype::None;
  }
  Ref native(attributeOrNull(descr, "isnative"));
  if (native && native.get() == Py_False) {
    if (problem)
      *problem = "has its bytes in the other order than this machine (" + text(descr) +
                 "); convert it with .astype(x.dtype.newbyteorder('='))";
    return Dtype::None;
  }
  dtypeCache().add(descr, dtype);
  return dtype;
}

/// Strides in elements, from strides in bytes.
bool elementStrides(ArrayView &view, const std::vector<int64_t> &byteStrides,
                    std::string &problem) {
  const int64_t size = dtypeInfo(view.dtype).bytes;
  view.strides.clear();
  for (size_t i = 0; i < byteStrides.size(); ++i) {
    if (byteStrides[i] % size != 0 && view.shape[i] > 1) {
      problem = "has a stride of " + std::to_string(byteStrides[i]) +
                " bytes, which is not a whole number of its " + std::to_string(size) +
                "-byte elements; pass a copy (np.ascontiguousarray)";
      return false;
    }
    view.strides.push_back(byteStrides[i] / size);
  }
  return true;
}

ArrayResult checkAlignment(const ArrayView &view, std::string &problem) {
  if (reinterpret_cast<uintptr_t>(view.data) % dtypeInfo(view.dtype).bytes == 0)
    return ArrayResult::Ok;
  problem = "is not aligned to its " + std::to_string(dtypeInfo(view.dtype).bytes) +
            "-byte elements; pass a copy (x.copy())";
  return ArrayResult::Unusable;
}

ArrayResult readNumpy(PyObject *object, ArrayView &view, std::string &problem) {
  auto *array = reinterpret_cast<NumpyArray *>(object);
  view.dtype = numpyDtype(array->descr, &problem);
  if (view.dtype == Dtype::None)
    return ArrayResult::Unusable;
  view.data = array->data;
  view.readOnly = !(array->flags & numpyWriteable);
  view.contiguous = array->flags & numpyContiguous;
  if (!view.contiguous) {
    std::vector<int64_t> byteStrides(array->strides, array->strides + array->numDimensions);
    view.shape.assign(array->dimensions, array->dimensions + array->numDimensions);
    if (!elementStrides(view, byteStrides, problem))
      return ArrayResult::Unusable;
  }
  if (!(array->flags & numpyAligned))
    return checkAlignment(view, problem);
  return ArrayResult::Ok;
}

bool readIntegers(PyObject *sequence, std::vector<int64_t> &values) {
  Ref fast(sequence ? PySequence_Fast(sequence, "not a sequence") : nullptr);
  if (!fast)
    return false;
  values.clear();
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i) {
    values.push_back(PyLong_AsLongLong(PySequence_Fast_GET_ITEM(fast.get(), i)));
    if (PyErr_Occurred())
      return false;
  }
  return true;
}

/// numpy through its Python attributes, should its layout ever change.
ArrayResult readNumpySlowly(PyObject *object, ArrayView &view, std::string &problem) {
  Ref descr(PyObject_GetAttrString(object, "dtype"));
  Ref interface(PyObject_GetAttrString(object, "__array_interface__"));
  Ref strides(PyObject_GetAttrString(object, "strides"));
  Ref shape(PyObject_GetAttrString(object, "shape"));
  Ref flags(PyObject_GetAttrString(object, "flags"));
  if (!descr || !interface || !strides || !shape || !flags)
    return ArrayResult::Raised;
  view.dtype = numpyDtype(descr.get(), &problem);
  if (view.dtype == Dtype::None)
    return ArrayResult::Unusable;
  PyObject *data = PyDict_GetItemString(interface.get(), "data");
  Ref contiguous(PyObject_GetAttrString(flags.get(), "c_contiguous"));
  Ref writeable(PyObject_GetAttrString(flags.get(), "writeable"));
  std::vector<int64_t> byteStrides;
  if (!data || !contiguous || !writeable || !readIntegers(shape.get(), view.shape) ||
      !readIntegers(strides.get(), byteStrides))
    return ArrayResult::Raised;
  view.data = static_cast<char *>(PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0)));
  view.readOnly = writeable.get() != Py_True;
  view.contiguous = contiguous.get() == Py_True;
  if (!elementStrides(view, byteStrides, problem))
    return ArrayResult::Unusable;
  return checkAlignment(view, problem);
}

//===----------------------------------------------------------------------===//
// DLPack (the layout of its version 0.x structures, which every producer gives
// when it is asked for no version, and which version 1 has inside its own)
//===----------------------------------------------------------------------===//

struct DLTensor {
  void *data;
  int32_t deviceType, deviceId;
  int32_t ndim;
  uint8_t typeCode, typeBits;
  uint16_t typeLanes;
  int64_t *shape;
  int64_t *strides;
  uint64_t byteOffset;
};
constexpr int32_t dlCpu = 1, dlCuda = 2, dlCudaHost = 3, dlRocmHost = 11;

const char *dlDeviceName(long type) {
  switch (type) {
  case 2:
    return "a CUDA device";
  case 4:
    return "an OpenCL device";
  case 7:
    return "a Vulkan device";
  case 8:
    return "a Metal device";
  case 10:
    return "a ROCm device";
  case 13:
    return "CUDA managed memory";
  case 14:
    return "a oneAPI device";
  default:
    return "another device than the CPU";
  }
}

Dtype dlDtype(const DLTensor &tensor) {
  if (tensor.typeLanes != 1)
    return Dtype::None;
  if (tensor.typeCode == 2 && tensor.typeBits == 32)
    return Dtype::Fp32;
  const std::string bits = std::to_string(tensor.typeBits);
  switch (tensor.typeCode) {
  case 0:
    return findDtype("int" + bits);
  case 1:
    return findDtype("uint" + bits);
  case 2:
    return findDtype("float" + bits);
  case 4:
    return tensor.typeBits == 16 ? Dtype::BF16 : Dtype::None;
  case 6:
    return tensor.typeBits == 8 ? Dtype::Int1 : Dtype::None;
  case 10:
    return Dtype::Fp8E4NV;
  case 11:
    return Dtype::Fp8E4B8;
  case 12:
    return Dtype::Fp8E5;
  case 13:
    return Dtype::Fp8E5B16;
  default:
    return Dtype::None;
  }
}

/// Fills shape and strides and finds whether the tensor is row-major.
void readDlLayout(const DLTensor &tensor, ArrayView &view) {
  view.contiguous = true;
  int64_t expected = 1;
  for (int32_t i = tensor.ndim - 1; i >= 0 && tensor.strides; --i) {
    if (tensor.shape[i] > 1 && tensor.strides[i] != expected)
      view.contiguous = false;
    expected *= tensor.shape[i];
  }
  if (view.contiguous)
    return;
  view.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  view.strides.assign(tensor.strides, tensor.strides + tensor.ndim);
}

//===----------------------------------------------------------------------===//
// Objects with data_ptr() and dtype (torch tensors)
//===----------------------------------------------------------------------===//

PyObject *interned(const char *name) { return PyUnicode_InternFromString(name); }

/// The text of torch's device, empty when the object lies in host memory.
std::string foreignDevice(PyObject *object) {
  static PyObject *isCpu = interned("is_cpu");
  Ref onCpu(PyObject_GetAttr(object, isCpu));
  if (onCpu)
    return onCpu.get() == Py_True ? "" : attributeText(object, "device");
  PyErr_Clear();
  Ref device(attributeOrNull(object, "device"));
  if (!device)
    return "";
  Ref kind(attributeOrNull(device.get(), "type"));
  std::string name = text(kind ? kind.get() : device.get());
  return name.rfind("cpu", 0) == 0 ? "" : text(device.get());
}

bool isOnKernelsGPU(ArrayView &view) {
  if (!view.kernelsOnGPU)
    view.kernelsOnGPU = kernelsRunOnGPU();
  return *view.kernelsOnGPU;
}

/// Whether a tensor of torch lies in memory of the GPU that kernels run on; quicker
/// than the text of its device.
bool isOnKernelsGPU(PyObject *object, ArrayView &view) {
  static PyObject *isCuda = interned("is_cuda");
  Ref onCuda(PyObject_GetAttr(object, isCuda));
  if (!onCuda)
    PyErr_Clear();
  return onCuda.get() == Py_True && isOnKernelsGPU(view);
}

/// None when the language does not know it.
Dtype torchDtype(PyObject *object) {
  Dtype dtype = Dtype::None;
  if (!dtypeCache().find(object, dtype) && (dtype = dtypeOfObject(object)) != Dtype::None)
    dtypeCache().add(object, dtype);
  return dtype;
}

/// What torch's class of tensors offers as `__dlpack_c_exchange_api__`: a capsule with
/// this table, which lives as long as the process.
struct ExchangeTable {
  uint32_t major, minor;
  ExchangeTable *older; ///< of an earlier major version
  void *allocate, *exportOwned, *import;
  /// Fills `view` without owning anything; -1 with an exception set.
  int (*view)(void *object, DLTensor *view);
  void *currentStream;
};

/// torch's class of tensors and its table, once the process has loaded torch; both are
/// null as long as there is none.
struct TorchTensors {
  PyTypeObject *type = nullptr;
  const ExchangeTable *table = nullptr;
};

const TorchTensors &torchTensors() {
  static TorchTensors found;
  if (found.type)
    return found;
  static PyObject *torchName = interned("torch");
  PyObject *module = PyDict_GetItemWithError(PyImport_GetModuleDict(), torchName);
  PyObject *type = module ? attributeOrNull(module, "Tensor") : nullptr;
  if (!type || !PyType_Check(type)) {
    PyErr_Clear();
    Py_XDECREF(type);
    return found;
  }
  if (Ref capsule(attributeOrNull(type, "__dlpack_c_exchange_api__"));
      capsule && PyCapsule_IsValid(capsule.get(), "dlpack_exchange_api")) {
    auto *table =
        static_cast<ExchangeTable *>(PyCapsule_GetPointer(capsule.get(), "dlpack_exchange_api"));
    while (table && table->major != 1)
      table = table->older;
    found.table = table && table->view ? table : nullptr;
  }
  found.type = reinterpret_cast<PyTypeObject *>(type);
  return found;
}

/// A tensor by the table; false when it has to be read by attributes, which also know
/// what is wrong with it.
bool readByTable(PyObject *object, const ExchangeTable &table, ArrayView &view) {
  DLTensor tensor;
  if (table.view(object, &tensor) != 0) {
    PyErr_Clear();
    return false;
  }
  const bool onGPU = tensor.deviceType == dlCuda;
  if ((view.dtype = dlDtype(tensor)) == Dtype::None ||
      (onGPU ? !isOnKernelsGPU(view) : tensor.deviceType != dlCpu))
    return false;
  view.onGPU = onGPU;
  view.data = static_cast<char *>(tensor.data) + tensor.byteOffset;
  readDlLayout(tensor, view);
  return true;
}

ArrayResult readDataPointer(PyObject *object, PyObject *dtypeObject, ArrayView &view,
                            std::string &problem) {
  static PyObject *dataPtr = interned("data_ptr"), *isContiguous = interned("is_contiguous");
  view.onGPU = isOnKernelsGPU(object, view);
  std::string device = view.onGPU ? "" : foreignDevice(object);
  if (!device.empty()) {
    problem = "lies on " + device + "; kernels of the CPU target read host memory: pass x.cpu()";
    return ArrayResult::Unusable;
  }
  view.dtype = torchDtype(dtypeObject);
  if (view.dtype == Dtype::None) {
    problem =
        "has elements of type " + text(dtypeObject) + ", which the kernel language does not know";
    return ArrayResult::Unusable;
  }
  Ref address(PyObject_CallMethodNoArgs(object, dataPtr));
  if (!address)
    return ArrayResult::Raised;
  view.data = static_cast<char *>(PyLong_AsVoidPtr(address.get()));
  if (PyErr_Occurred())
    return ArrayResult::Raised;
  Ref contiguous(PyObject_CallMethodNoArgs(object, isContiguous));
  if (!contiguous)
    PyErr_Clear();
  view.contiguous = !contiguous || contiguous.get() == Py_True;
  if (!view.contiguous) {
    Ref shape(PyObject_GetAttrString(object, "shape"));
    Ref strides(PyObject_CallMethod(object, "stride", nullptr));
    if (!shape || !strides || !readIntegers(shape.get(), view.shape) ||
        !readIntegers(strides.get(), view.strides))
      return ArrayResult::Raised;
  }
  return checkAlignment(view, problem);
}

/// The dict of version 2 and 3 of the interface, which numba, cupy and others have.
ArrayResult readCudaArray(PyObject *interface, ArrayView &view, std::string &problem) {
  auto entry = [&](const char *name) {
    return PyDict_Check(interface) ? PyDict_GetItemString(interface, name) : nullptr;
  };
  PyObject *data = entry("data"), *shape = entry("shape"), *typestr = entry("typestr");
  if (!data || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2 || !shape || !typestr) {
    problem = "has a __cuda_array_interface__ without data, shape or typestr";
    return ArrayResult::Unusable;
  }
  Ref numpyModule(PyImport_ImportModule("numpy"));
  Ref dtype(numpyModule ? PyObject_CallMethod(numpyModule.get(), "dtype", "O", typestr) : nullptr);
  if (!dtype)
    return ArrayResult::Raised;
  view.dtype = dtypeOfObject(dtype.get());
  if (view.dtype == Dtype::None) {
    problem =
        "has elements of type " + text(dtype.get()) + ", which the kernel language does not know";
    return ArrayResult::Unusable;
  }
  view.data = static_cast<char *>(PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0)));
  view.readOnly = PyObject_IsTrue(PyTuple_GET_ITEM(data, 1)) == 1;
  if (PyErr_Occurred())
    return ArrayResult::Raised;
  if (PyObject *strides = entry("strides"); strides && strides != Py_None) {
    std::vector<int64_t> byteStrides;
    if (!readIntegers(shape, view.shape) || !readIntegers(strides, byteStrides))
      return ArrayResult::Raised;
    view.contiguous = false;
    if (!elementStrides(view, byteStrides, problem))
      return ArrayResult::Unusable;
  }
  return checkAlignment(view, problem);
}

ArrayResult readDlpack(PyObject *object, ArrayView &view, std::string &problem) {
  static PyObject *deviceMethod = interned("__dlpack_device__"),
                  *exportMethod = interned("__dlpack__");
  if (!PyObject_HasAttr(reinterpret_cast<PyObject *>(Py_TYPE(object)), exportMethod))
    return ArrayResult::NotAnArray;
  Ref device(PyObject_CallMethodNoArgs(object, deviceMethod));
  if (!device)
    return ArrayResult::Raised;
  Ref kind(PySequence_GetItem(device.get(), 0));
  long type = kind ? PyLong_AsLong(kind.get()) : -1;
  if (PyErr_Occurred())
    return ArrayResult::Raised;
  if (type != dlCpu && type != dlCudaHost && type != dlRocmHost &&
      !(type == dlCuda && isOnKernelsGPU(view))) {
    problem = std::string("lies on ") + dlDeviceName(type) + " (DLPack device type " +
              std::to_string(type) +
              "); kernels of the CPU target read host memory: copy it there first";
    return ArrayResult::Unusable;
  }
  PyObject *capsule = PyObject_CallMethodNoArgs(object, exportMethod);
  if (!capsule)
    return ArrayResult::Raised;
  view.keepAlive = capsule;
  auto *tensor = static_cast<DLTensor *>(PyCapsule_GetPointer(capsule, "dltensor"));
  if (!tensor)
    return ArrayResult::Raised;
  view.dtype = dlDtype(*tensor);
  if (view.dtype == Dtype::None) {
    problem = "has elements of DLPack type code " + std::to_string(tensor->typeCode) + " with " +
              std::to_string(tensor->typeBits) + " bits and " + std::to_string(tensor->typeLanes) +
              " lanes, which the kernel language does not know";
    return ArrayResult::Unusable;
  }
  view.data = static_cast<char *>(tensor->data) + tensor->byteOffset;
  readDlLayout(*tensor, view);
  return checkAlignment(view, problem);
}

} // namespace

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

static bool readDimensions(ArrayLayout &layout, PyObject *sequence, int64_t *values) {
  if (!sequence || !PyTuple_Check(sequence) ||
      PyTuple_GET_SIZE(sequence) > ArrayLayout::mostDimensions)
    return false;
  layout.rank = static_cast<int>(PyTuple_GET_SIZE(sequence));
  for (int i = 0; i < layout.rank; ++i) {
    values[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(sequence, i));
    if (values[i] == -1 && PyErr_Occurred())
      return false;
  }
  return true;
}

/// Fills the extent of an array whose first element lies at `data`; `unit` is the
/// number of bytes in which strides are counted.
static void spanElements(ArrayLayout &layout, const char *data, int64_t unit) {
  int64_t low = 0, high = dtypeInfo(layout.dtype).bytes;
  for (int i = 0; i < layout.rank; ++i) {
    if (layout.shape[i] == 0) {
      layout.begin = layout.end = reinterpret_cast<uintptr_t>(data);
      return;
    }
    const int64_t reach = (layout.shape[i] - 1) * layout.strides[i] * unit;
    (reach < 0 ? low : high) += reach;
  }
  layout.begin = reinterpret_cast<uintptr_t>(data) + low;
  layout.end = reinterpret_cast<uintptr_t>(data) + high;
}

static bool readNumpyLayout(PyObject *object, ArrayLayout &layout) {
  auto *array = reinterpret_cast<NumpyArray *>(object);
  layout.dtype = numpyDtype(array->descr, nullptr);
  if (array->numDimensions > ArrayLayout::mostDimensions || !(array->flags & numpyAligned) ||
      layout.dtype == Dtype::None)
    return false;
  layout.kind = ArrayLayout::Kind::Numpy;
  layout.writeable = array->flags & numpyWriteable;
  layout.rank = array->numDimensions;
  std::copy_n(array->dimensions, layout.rank, layout.shape);
  std::copy_n(array->strides, layout.rank, layout.strides);
  spanElements(layout, array->data, 1);
  return true;
}

static bool readSymmetricLayout(PyObject *object, ArrayLayout &layout) {
  static PyObject *shapeName = interned("shape");
  auto *buffer = reinterpret_cast<SymmetricBuffer *>(object);
  Ref shape(buffer->data ? PyObject_GetAttr(object, shapeName) : nullptr);
  if (!readDimensions(layout, shape.get(), layout.shape))
    return false;
  layout.kind = ArrayLayout::Kind::Symmetric;
  layout.dtype = buffer->dtype;
  layout.writeable = true;
  int64_t step = 1;
  for (int i = layout.rank; i-- > 0; step *= layout.shape[i])
    layout.strides[i] = step;
  spanElements(layout, buffer->data, dtypeInfo(layout.dtype).bytes);
  return true;
}

static bool readTorchLayout(PyObject *object, ArrayLayout &layout) {
  static PyObject *isCpu = interned("is_cpu"), *dtypeName = interned("dtype"),
                  *shapeName = interned("shape"), *strideName = interned("stride"),
                  *dataPtr = interned("data_ptr"), *requiresGrad = interned("requires_grad"),
                  *isCuda = interned("is_cuda"), *getDevice = interned("get_device");
  Ref onCpu(PyObject_GetAttr(object, isCpu));
  if (!onCpu)
    return false;
  if (onCpu.get() != Py_True) {
    Ref onGPU(kernelsRunOnGPU() ? PyObject_GetAttr(object, isCuda) : nullptr);
    Ref number(onGPU.get() == Py_True ? PyObject_CallMethodNoArgs(object, getDevice) : nullptr);
    const long gpu = number ? PyLong_AsLong(number.get()) : -1;
    if (gpu < 0 || gpu > INT8_MAX)
      return false;
    layout.gpu = int8_t(gpu);
  }
  // Whether that is right depends on more than the tensor: on torch's grad mode.
  Ref grad(PyObject_GetAttr(object, requiresGrad));
  if (!grad || grad.get() == Py_True)
    return false;
  Ref dtype(PyObject_GetAttr(object, dtypeName)), shape(PyObject_GetAttr(object, shapeName));
  layout.dtype = dtype ? torchDtype(dtype.get()) : Dtype::None;
  if (layout.dtype == Dtype::None || !readDimensions(layout, shape.get(), layout.shape))
    return false;
  const int rank = layout.rank;
  Ref strides(PyObject_CallMethodNoArgs(object, strideName));
  if (!readDimensions(layout, strides.get(), layout.strides) || layout.rank != rank)
    return false;
  Ref address(PyObject_CallMethodNoArgs(object, dataPtr));
  const char *data = address ? static_cast<char *>(PyLong_AsVoidPtr(address.get())) : nullptr;
  if (PyErr_Occurred())
    return false;
  layout.kind = layout.gpu < 0 ? ArrayLayout::Kind::Torch : ArrayLayout::Kind::TorchOnGPU;
  layout.writeable = true;
  spanElements(layout, data, dtypeInfo(layout.dtype).bytes);
  return true;
}

bool nereid::python::readLayout(PyObject *object, ArrayLayout &layout) {
  const Numpy &known = numpy();
  if (Py_TYPE(object) == known.array)
    return known.layoutKnown && readNumpyLayout(object, layout);
  bool ok = false;
  if (PyObject_TypeCheck(object, symmetricBufferType()))
    ok = readSymmetricLayout(object, layout);
  else if (!PyType_Check(object))
    ok = readTorchLayout(object, layout);
  if (!ok)
    PyErr_Clear();
  return ok;
}

bool nereid::python::isOnGPU(PyObject *object) {
  if (PyType_Check(object) || isNumpyArray(object))
    return false;
  if (foreignDevice(object).starts_with("cuda"))
    return true;
  return bool(Ref(attributeOrNull(object, "__cuda_array_interface__")));
}

bool nereid::python::isNumpyArray(PyObject *object) {
  PyTypeObject *type = numpy().array;
  return type && (Py_TYPE(object) == type || PyType_IsSubtype(Py_TYPE(object), type));
}

bool nereid::python::isTorchTensor(PyObject *object) {
  return Py_TYPE(object) == torchTensors().type;
}

bool nereid::python::isNumpyScalar(PyObject *object) {
  PyTypeObject *type = numpy().scalar;
  return type && PyType_IsSubtype(Py_TYPE(object), type);
}

ArrayResult nereid::python::readArray(PyObject *object, ArrayView &view, std::string &problem) {
  const Numpy &known = numpy();
  if (known.array &&
      (Py_TYPE(object) == known.array || PyType_IsSubtype(Py_TYPE(object), known.array)))
    return known.layoutKnown ? readNumpy(object, view, problem)
                             : readNumpySlowly(object, view, problem);
  if (PyObject_TypeCheck(object, symmetricBufferType())) {
    auto *buffer = reinterpret_cast<SymmetricBuffer *>(object);
    if (!buffer->data) {
      problem = "is a symmetric tensor that has been freed";
      return ArrayResult::Unusable;
    }
    view.data = buffer->data;
    view.dtype = buffer->dtype;
    view.onGPU = isOnKernelsGPU(view); // as all symmetric memory then
    return ArrayResult::Ok;
  }
  if (PyType_Check(object))
    return ArrayResult::NotAnArray;
  // No subclass: it may see to its data_ptr() and dtype itself.
  if (const TorchTensors &torch = torchTensors();
      torch.table && Py_TYPE(object) == torch.type && readByTable(object, *torch.table, view))
    return checkAlignment(view, problem);
  static PyObject *dataPtr = interned("data_ptr"), *dtypeName = interned("dtype");
  if (PyObject_HasAttr(reinterpret_cast<PyObject *>(Py_TYPE(object)), dataPtr)) {
    Ref dtype(PyObject_GetAttr(object, dtypeName));
    if (dtype)
      return readDataPointer(object, dtype.get(), view, problem);
    PyErr_Clear();
  }
  if (Ref device(attributeOrNull(object, "__cuda_array_interface__")); device) {
    if (isOnKernelsGPU(view))
      return readCudaArray(device.get(), view, problem);
    problem = "lies on a GPU; kernels of the CPU target read host memory: copy it there first "
              "(torch: x.cpu())";
    return ArrayResult::Unusable;
  }
  return readDlpack(object, view, problem);
}

Dtype nereid::python::dtypeOfObject(PyObject *object) {
  if (PyUnicode_Check(object)) {
    const char *utf8 = PyUnicode_AsUTF8(object);
    return utf8 ? findDtype(utf8) : (PyErr_Clear(), Dtype::None);
  }
  if (Ref tag(attributeOrNull(object, "__nereid_type__")); tag)
    return findDtype(text(tag.get()));
  if (PyType_Check(object)) // np.float32, ml_dtypes.bfloat16
    return findDtype(attributeText(object, "__name__"));
  if (Ref kind(attributeOrNull(object, "isnative")); kind)
    return numpyDtype(object, nullptr);
  return findDtype(text(object)); // torch.float16
}

std::string nereid::python::describeObject(PyObject *object) {
  if (object == Py_None)
    return "None";
  const char *type = Py_TYPE(object)->tp_name;
  if (const char *dot = std::strrchr(type, '.'))
    type = dot + 1;
  if (isNumpyArray(object))
    return "numpy array of " + attributeText(object, "dtype") + " with shape " +
           attributeText(object, "shape");
  if (PyBool_Check(object) || PyLong_Check(object) || PyFloat_Check(object) ||
      isNumpyScalar(object))
    return std::string(type) + " " + text(object);
  if (PyUnicode_Check(object)) {
    std::string value = text(object);
    if (value.size() > 40)
      value = value.substr(0, 37) + "...";
    return "str '" + value + "'";
  }
  if (Ref dtype(attributeOrNull(object, "dtype")); dtype && !PyType_Check(object)) {
    Ref shape(attributeOrNull(object, "shape"));
    std::string device = foreignDevice(object);
    return std::string(type) + " of " + text(dtype.get()) +
           (shape ? " with shape " + text(shape.get()) : "") +
           (device.empty() ? "" : " on " + device);
  }
  std::string words = std::string("object of type ") + type;
  if (PyTuple_Check(object) || PyList_Check(object))
    words = std::string(type) + " of " + std::to_string(PySequence_Size(object)) + " items";
  return words;
}
