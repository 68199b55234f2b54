// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ArgumentReader.h - From Python arguments to slots and a key -*- C++ -*-===//
//
// One pass over the bound arguments of a launch makes three things:
//
//   slots   the 8-byte values that the kernel reads (abi.h)
//   key     bytes that are equal exactly when the same compiled kernel serves:
//           types, divisibility by 16, values of constexprs
//   specs   on request (a miss), the same facts as Python objects for the
//           compiler (CompilerModule.h says how they look)
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_PYTHON_ARGUMENTREADER_H
#define NEREID_PYTHON_ARGUMENTREADER_H

#include "ArrayView.h"
#include "Dtype.h"
#include "SmallBuffer.h"

#include <Python.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nereid::python {

/// One parameter of a kernel.
struct Parameter {
  PyObject *name = nullptr; // interned str
  std::string nameText;
  bool isConstexpr = false;
  bool noSpecialize = false;      // neither "== 1" nor divisibility
  bool noAlignment = false;       // no divisibility
  bool isVariadic = false;        // *args
  bool isConst = false;           // tl.const: a pointer that is only read
  Dtype annotation = Dtype::None; // scalar dtype that overrides the type
  PyObject *defaultValue = nullptr;

  /// What the argument of earlier launches added, when it can never add anything else.
  struct Remembered {
    PyObject *object = nullptr; ///< a reference to the argument; null: none is remembered
    PyObject *last = nullptr;   ///< the argument of the last launch, only to be compared
    bool tried = false;         ///< whether `last` has been looked at
    bool isBuffer = false;      ///< a SymmetricBuffer, whose memory can be freed
    bool hasSlot = false;
    uint8_t keySize = 0;
    char key[24];
    uint64_t slot = 0;
  };
  mutable Remembered remembered;
};

/// Python objects that appear in keys by identity or equality: dtypes, jit
/// functions, enumeration members. Holds references, so that no other object
/// can take the place of one that a key names.
class InternTable {
public:
  ~InternTable() { Py_XDECREF(numbers); }
  /// A number for `object`, the same for equal objects; -1 with an exception
  /// set when it cannot be hashed.
  int64_t intern(PyObject *object);

private:
  PyObject *numbers = nullptr; // dict
};

class ArgumentReader {
public:
  ArgumentReader(const std::string &kernel, const std::vector<Parameter> &parameters,
                 InternTable &interned)
      : kernel(kernel), parameters(parameters), interned(interned) {}
  ~ArgumentReader();

  /// Reads the argument of parameter `index`; false with an exception set.
  bool read(size_t index, PyObject *value);
  /// What can only be checked when all arguments are there; `values` are all of
  /// them.
  bool finish(PyObject *const *values);
  /// Adds a compile option to the key (not to the specs).
  bool addOption(PyObject *name, PyObject *value);

  std::string_view keyBytes() const { return {key.data(), key.size()}; }
  SmallBuffer<char, 512> key;
  SmallBuffer<uint64_t, 48> slots;
  /// Parameter that each slot belongs to.
  SmallBuffer<uint16_t, 48> slotParameter;
  /// A bit for each of the first 64 slots: it is the address of memory of a GPU.
  uint64_t slotsOnGPU = 0;
  /// A list to be filled, or null.
  PyObject *specs = nullptr;
  /// dtypes and numpy types may stand for pointers (kernel.warmup).
  bool dtypesArePointers = false;

  /// "kernel: argument 2 'y_ptr': " for messages.
  std::string place(size_t index) const;

  /// Objects made for this launch that own memory of its arguments; the caller
  /// gets the references.
  std::vector<PyObject *> takeKeepAlive() { return std::exchange(keepAlive, {}); }

private:
  /// Adds what is remembered; false when that is no longer so.
  bool addRemembered(const Parameter::Remembered &remembered);
  /// Remembers what `value` has added since `key` and `slots` had these sizes, if it always will.
  void remember(const Parameter &parameter, PyObject *value, size_t keyBefore, size_t slotsBefore);
  bool readConstexpr(PyObject *value, PyObject **spec);
  bool readConstexprItems(PyObject *value, PyObject **spec);
  bool readRuntime(PyObject *value, const Parameter &parameter, PyObject **spec);
  bool readOther(PyObject *value, const Parameter &parameter, PyObject **spec);
  bool readInteger(PyObject *value, const Parameter &parameter, PyObject **spec);
  bool readFloat(double value, const Parameter &parameter, PyObject **spec);
  bool readBool(bool value, const Parameter &parameter, PyObject **spec);
  bool readArrayArgument(PyObject *value, const Parameter &parameter, PyObject **spec,
                         bool &isArray);
  bool readTuple(PyObject *value, const Parameter &parameter, PyObject **spec);
  bool readPointerDtype(PyObject *value, const Parameter &parameter, PyObject **spec,
                        bool &matched);
  /// What nereid.TensorDescriptor says of itself, a new reference; null without
  /// an exception for anything else.
  static PyObject *descriptorFields(PyObject *value);
  bool readDescriptor(PyObject *fields, const Parameter &parameter, PyObject **spec);

  void addSlot(uint64_t value);
  static bool typeSpec(PyObject **spec, std::string_view name, bool divisible);
  bool fail(const std::string &text);
  bool strideWasPassed(int64_t stride, const std::vector<int64_t> &shape,
                       PyObject *const *values) const;

  void put(char tag) { key.push_back(tag); }
  template <typename T> void putRaw(const T &value) {
    key.append(reinterpret_cast<const char *>(&value), sizeof(T));
  }

  const std::string &kernel;
  const std::vector<Parameter> &parameters;
  InternTable &interned;
  size_t current = 0;
  /// Arrays with gaps or another order than row-major, to be checked at the end.
  struct Strided {
    size_t parameter;
    std::vector<int64_t> shape, strides;
  };
  std::vector<Strided> strided;
  std::vector<PyObject *> keepAlive;
  std::optional<bool> kernelsOnGPU; ///< of ArrayView
};

} // namespace nereid::python

#endif // NEREID_PYTHON_ARGUMENTREADER_H
