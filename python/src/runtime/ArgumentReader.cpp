// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ArgumentReader.cpp - What each kind of argument becomes ------------===//
//
// The key is a string of (tag, data), one entry per argument and one per item
// of a tuple. Two launches may share a kernel exactly when their keys are the
// same bytes, so each kind has a tag of its own and each datum a fixed size, or
// its size in front:
//
//   tag        what follows                         slots
//   D I        dtype                                an integer (D: divisible by 16)
//   1                                               none: the integer 1 is folded
//   F          dtype                                the bits of a float
//   Q P        dtype of the elements                an address (Q: divisible by 16)
//   t u        count, (u: its class,) items         those of the items
//   N T f i n d s o (                               none: constants, by value; o and n by a
//                                                   number of the InternTable
//   O          number of the name, a constant       none: a compile option
//
// What decides about code and is not in the key would run the wrong kernel in
// silence. So whatever a rule looks at, it also puts there, and what it cannot
// describe is an error.
//
// In front of all entries the Dispatcher puts the profile and the target. The
// order of the questions in readRuntime() is by how often the answer is yes:
// exact ints, numpy arrays, floats; those further down may call Python code of
// the argument.
//
// Most arguments are those of the launch before: constants, sizes, buffers of an
// operator. An object that comes a second time and cannot change is remembered
// with what it adds, and not read again while it is the same object. That is
// for exact ints, floats, strings, bools, None, objects of the language and plain
// SymmetricBuffers, which own nothing: nothing that a reference would keep alive.
//
//===----------------------------------------------------------------------===//
#include "ArgumentReader.h"
#include "Errors.h"
#include "LanguageObjects.h"
#include "Symmetric.h"

#include <cmath>
#include <cstdio>
#include <limits>

using namespace nereid::python;

//===----------------------------------------------------------------------===//
// InternTable
//===----------------------------------------------------------------------===//

int64_t InternTable::intern(PyObject *object) {
  if (!numbers && !(numbers = PyDict_New()))
    return -1;
  PyObject *number = PyDict_GetItemWithError(numbers, object);
  if (number)
    return PyLong_AsLongLong(number);
  if (PyErr_Occurred())
    return -1;
  const int64_t next = PyDict_Size(numbers);
  PyObject *value = PyLong_FromLongLong(next);
  const bool stored = value && PyDict_SetItem(numbers, object, value) == 0;
  Py_XDECREF(value);
  return stored ? next : -1;
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

namespace {

/// Range of the integer types, for annotated parameters.
bool fitsInteger(Dtype dtype, long long value) {
  const DtypeInfo &info = dtypeInfo(dtype);
  const bool isSigned = dtype >= Dtype::Int8 && dtype <= Dtype::Int64;
  if (dtype == Dtype::Int1)
    return value == 0 || value == 1;
  if (info.bytes == 8)
    return isSigned || value >= 0;
  const long long range = 1LL << (8 * info.bytes - (isSigned ? 1 : 0));
  return value < range && value >= (isSigned ? -range : 0);
}

/// The bits of `value` in a floating type, in the low bytes of a slot.
uint64_t floatBits(Dtype dtype, double value) {
  auto bits = [](auto number) {
    uint64_t slot = 0;
    std::memcpy(&slot, &number, sizeof(number));
    return slot;
  };
  switch (dtype) {
  case Dtype::Fp64:
    return bits(value);
  case Dtype::Fp16:
    return bits(static_cast<_Float16>(value));
  case Dtype::BF16: {
    const float single = static_cast<float>(value);
    uint32_t word = 0;
    std::memcpy(&word, &single, sizeof(word));
    if (std::isnan(single))
      return (word >> 16) | 0x40;
    return (word + 0x7fff + ((word >> 16) & 1)) >> 16;
  }
  default:
    return bits(static_cast<float>(value));
  }
}

std::string floatText(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

std::string listText(const std::vector<int64_t> &values) {
  std::string words = "(";
  for (size_t i = 0; i < values.size(); ++i)
    words += (i ? ", " : "") + std::to_string(values[i]);
  return words + (values.size() == 1 ? ",)" : ")");
}

/// A Python int of a number-like object that is no exact int, or null.
PyObject *asInteger(PyObject *value) {
  if (!PyIndex_Check(value))
    return nullptr;
  PyObject *number = PyNumber_Index(value);
  if (!number)
    PyErr_Clear();
  return number;
}

bool isNumpyBool(PyObject *value) {
  return std::strncmp(Py_TYPE(value)->tp_name, "numpy.bool", 10) == 0;
}

} // namespace

ArgumentReader::~ArgumentReader() {
  for (PyObject *object : keepAlive)
    Py_DECREF(object);
}

std::string ArgumentReader::place(size_t index) const {
  return kernel + ": argument " + std::to_string(index + 1) + " '" + parameters[index].nameText +
         "'";
}

bool ArgumentReader::fail(const std::string &text) {
  setArgumentError(place(current) + ": " + text);
  return false;
}

void ArgumentReader::addSlot(uint64_t value) {
  slots.push_back(value);
  slotParameter.push_back(static_cast<uint16_t>(current));
}

bool ArgumentReader::typeSpec(PyObject **spec, std::string_view name, bool divisible) {
  if (spec)
    *spec = Py_BuildValue("(Ni)", PyUnicode_FromStringAndSize(name.data(), Py_ssize_t(name.size())),
                          divisible ? 16 : 0);
  return !spec || *spec;
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

bool ArgumentReader::addRemembered(const Parameter::Remembered &remembered) {
  if (remembered.isBuffer &&
      reinterpret_cast<uint64_t>(reinterpret_cast<SymmetricBuffer *>(remembered.object)->data) !=
          remembered.slot)
    return false;
  key.append(remembered.key, remembered.keySize);
  if (remembered.hasSlot)
    addSlot(remembered.slot);
  return true;
}

void ArgumentReader::remember(const Parameter &parameter, PyObject *value, size_t keyBefore,
                              size_t slotsBefore) {
  Parameter::Remembered &remembered = parameter.remembered;
  const size_t keySize = key.size() - keyBefore, added = slots.size() - slotsBefore;
  const bool isBuffer = Py_TYPE(value) == symmetricBufferType();
  const bool isPlain = PyLong_CheckExact(value) || PyFloat_CheckExact(value) ||
                       PyUnicode_CheckExact(value) || PyBool_Check(value) || value == Py_None;
  if (keySize > sizeof(remembered.key) || added > 1)
    return;
  if (!isPlain && !isBuffer &&
      !(parameter.isConstexpr && !isConstexpr(value) && isLanguageObject(value)))
    return;
  Py_XSETREF(remembered.object, Py_NewRef(value));
  remembered.isBuffer = isBuffer;
  remembered.keySize = static_cast<uint8_t>(keySize);
  std::memcpy(remembered.key, key.data() + keyBefore, keySize);
  remembered.hasSlot = added == 1;
  remembered.slot = added ? slots[slotsBefore] : 0;
}

bool ArgumentReader::read(size_t index, PyObject *value) {
  current = index;
  const Parameter &parameter = parameters[index];
  Parameter::Remembered &remembered = parameter.remembered;
  const bool remembers = !specs && !dtypesArePointers;
  if (remembers && remembered.object == value && addRemembered(remembered))
    return true;
  const size_t keyBefore = key.size(), slotsBefore = slots.size();
  const uint64_t onGPUBefore = slotsOnGPU;
  PyObject *spec = nullptr;
  PyObject **wanted = specs ? &spec : nullptr;
  const bool ok =
      parameter.isConstexpr ? readConstexpr(value, wanted) : readRuntime(value, parameter, wanted);
  if (!ok)
    return false;
  if (specs) {
    const bool stored = spec && PyList_Append(specs, spec) == 0;
    Py_XDECREF(spec);
    return stored;
  }
  if (remembers && remembered.last != value) {
    remembered.last = value;
    remembered.tried = false;
  } else if (remembers && !remembered.tried) {
    remembered.tried = true;
    if (slotsOnGPU == onGPUBefore)
      remember(parameter, value, keyBefore, slotsBefore);
  }
  return true;
}

bool ArgumentReader::addOption(PyObject *name, PyObject *value) {
  const int64_t number = interned.intern(name);
  if (number < 0)
    return false;
  put('O');
  putRaw(number);
  return readConstexpr(value, nullptr);
}

static bool isNamedStride(const std::string &name) {
  return name.find("stride") != std::string::npos || name.find("STRIDE") != std::string::npos;
}

/// Whether a run-time argument gives the kernel `stride`. The length of a 1-D
/// array that happens to equal it is no stride, unless its parameter is called one.
bool ArgumentReader::strideWasPassed(int64_t stride, const std::vector<int64_t> &shape,
                                     PyObject *const *values) const {
  const bool isSize = shape.size() == 1 && shape[0] == stride;
  auto matches = [stride](PyObject *value) {
    if (isConstexpr(value) || PyBool_Check(value))
      return false;
    PyObject *number = asInteger(value);
    const bool same = number && PyLong_AsLongLong(number) == stride;
    PyErr_Clear();
    Py_XDECREF(number);
    return same;
  };
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].isConstexpr && !isNamedStride(parameters[i].nameText))
      continue;
    if (isSize && !isNamedStride(parameters[i].nameText))
      continue;
    if (matches(values[i]))
      return true;
    if (PyTuple_Check(values[i]))
      for (Py_ssize_t j = 0; j < PyTuple_GET_SIZE(values[i]); ++j)
        if (matches(PyTuple_GET_ITEM(values[i], j)))
          return true;
  }
  return false;
}

bool ArgumentReader::finish(PyObject *const *values) {
  for (const Strided &array : strided) {
    int64_t expected = 1;
    bool empty = false;
    std::vector<int64_t> missing;
    for (size_t i = array.shape.size(); i-- > 0;) {
      empty |= array.shape[i] == 0;
      if (array.shape[i] > 1 && array.strides[i] != expected && array.strides[i] != 1 &&
          !strideWasPassed(array.strides[i], array.shape, values))
        missing.push_back(array.strides[i]);
      expected *= array.shape[i];
    }
    if (empty || missing.empty())
      continue;
    current = array.parameter;
    return fail(
        "the array of shape " + listText(array.shape) + " is not contiguous (strides " +
        listText(array.strides) + " in elements), and no argument of the launch is " +
        std::to_string(missing.front()) +
        ", so the kernel cannot know where its elements lie. Pass np.ascontiguousarray(x), or pass "
        "its strides "
        "to the kernel (@nereid.jit(check_strides=False) if the kernel knows them in another way)");
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Compile-time values
//===----------------------------------------------------------------------===//

bool ArgumentReader::readConstexprItems(PyObject *value, PyObject **spec) {
  PyObject *items = PySequence_Fast(value, "a tuple was expected");
  if (!items)
    return false;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
  put('(');
  putRaw(count);
  // A named tuple is another constant than a plain one of the same values.
  int64_t type = -1;
  if (PyTuple_Check(value) && !PyTuple_CheckExact(value))
    type = interned.intern(reinterpret_cast<PyObject *>(Py_TYPE(value)));
  putRaw(type);
  PyObject *normal = spec && type < 0 ? PyTuple_New(count) : nullptr;
  bool ok = !PyErr_Occurred();
  for (Py_ssize_t i = 0; ok && i < count; ++i) {
    PyObject *inner = nullptr;
    ok = readConstexpr(PySequence_Fast_GET_ITEM(items, i), normal ? &inner : nullptr);
    if (ok && normal) {
      PyObject *plain = PyTuple_GET_ITEM(inner, 1);
      Py_INCREF(plain);
      PyTuple_SET_ITEM(normal, i, plain);
    }
    Py_XDECREF(inner);
  }
  if (ok && spec)
    *spec = Py_BuildValue("(sO)", "constexpr", normal ? normal : value);
  Py_XDECREF(normal);
  Py_DECREF(items);
  return ok && (!spec || *spec);
}

bool ArgumentReader::readConstexpr(PyObject *value, PyObject **spec) {
  PyObject *owned = nullptr; // a normalised value
  bool ok = true;
  if (isConstexpr(value)) {
    value = owned = PyObject_GetAttrString(value, "value");
    if (!owned)
      return false;
  }
  if (value == Py_None) {
    put('N');
  } else if (PyBool_Check(value) || isNumpyBool(value)) {
    const int truth = PyObject_IsTrue(value);
    put(truth ? 'T' : 'f');
    value = truth ? Py_True : Py_False;
  } else if (PyLong_Check(value) || (isNumpyScalar(value) && PyIndex_Check(value))) {
    if (!PyLong_CheckExact(value)) {
      PyObject *number = PyNumber_Long(value);
      Py_XDECREF(owned);
      value = owned = number;
      if (!number)
        return false;
    }
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    put(overflow ? 'n' : 'i');
    const int64_t stored = overflow ? interned.intern(value) : number;
    ok = !PyErr_Occurred();
    putRaw(stored);
  } else if (PyFloat_Check(value) || isNumpyScalar(value)) {
    const double number = PyFloat_AsDouble(value);
    if (PyErr_Occurred()) {
      PyErr_Clear();
      ok = fail(describeObject(value) + " cannot be a compile-time constant");
    } else if (!PyFloat_CheckExact(value)) {
      Py_XDECREF(owned);
      value = owned = PyFloat_FromDouble(number);
    }
    put('d');
    putRaw(number);
  } else if (PyUnicode_Check(value)) {
    Py_ssize_t size = 0;
    const char *utf8 = PyUnicode_AsUTF8AndSize(value, &size);
    ok = utf8 != nullptr;
    if (ok) {
      put('s');
      putRaw(size);
      key.append(utf8, size);
    }
  } else if (PyTuple_Check(value) || PyList_Check(value)) {
    ok = readConstexprItems(value, spec);
    Py_XDECREF(owned);
    return ok;
  } else if (isNumpyArray(value)) {
    ok = fail(describeObject(value) +
              " was given for a constexpr parameter; a constexpr takes a number, a string, a "
              "dtype, a function or a tuple of such");
  } else {
    if (!isLanguageObject(value)) {
      PyObject *dtype = languageDtype(dtypeOfObject(value));
      if (!dtype) {
        ok = fail(describeObject(value) +
                  " cannot be a compile-time constant; a constexpr takes None, a bool, a "
                  "number, a string, a dtype, a jit function or a tuple of such");
      } else {
        Py_XDECREF(owned);
        Py_INCREF(dtype);
        value = owned = dtype;
      }
    }
    if (ok) {
      put('o');
      const int64_t number = interned.intern(value);
      ok = number >= 0;
      putRaw(number);
    }
  }
  if (ok && spec)
    ok = (*spec = Py_BuildValue("(sO)", "constexpr", value)) != nullptr;
  Py_XDECREF(owned);
  return ok;
}

//===----------------------------------------------------------------------===//
// Run-time values
//===----------------------------------------------------------------------===//

bool ArgumentReader::readRuntime(PyObject *value, const Parameter &parameter, PyObject **spec) {
  if (PyLong_CheckExact(value))
    return readInteger(value, parameter, spec);
  bool isArray = false;
  if (isNumpyArray(value) || isTorchTensor(value))
    return readArrayArgument(value, parameter, spec, isArray);
  if (PyFloat_CheckExact(value))
    return readFloat(PyFloat_AS_DOUBLE(value), parameter, spec);
  if (PyBool_Check(value))
    return readBool(value == Py_True, parameter, spec);
  if (value == Py_None || isConstexpr(value))
    return readConstexpr(value, spec);
  if (PyUnicode_Check(value))
    return fail(describeObject(value) +
                " was given for a run-time parameter; a string can only be a compile-time "
                "constant: annotate the parameter, '" +
                (parameter.nameText.empty() ? "name" : parameter.nameText) + ": tl.constexpr'");
  if (isNumpyBool(value))
    return readBool(PyObject_IsTrue(value), parameter, spec);
  if (PyLong_Check(value) || (isNumpyScalar(value) && PyIndex_Check(value))) {
    PyObject *number;
    if (PyObject_HasAttrString(value, "__nereid_constant__")) {
      // The handle of a team is a number; all others mean something to the compiler alone.
      number = PyObject_GetAttrString(value, "__nereid_team__");
      if (!number)
        PyErr_Clear();
      if (!number || number == Py_None) {
        Py_XDECREF(number);
        return fail(describeObject(value) +
                    " is a constant of the kernel language; mark the parameter tl.constexpr");
      }
    } else {
      number = PyNumber_Index(value);
    }
    const bool ok = number && readInteger(number, parameter, spec);
    Py_XDECREF(number);
    return ok;
  }
  if (PyFloat_Check(value) || isNumpyScalar(value)) {
    const double number = PyFloat_AsDouble(value);
    if (PyErr_Occurred()) {
      PyErr_Clear();
      return fail(describeObject(value) + " is not a number that a kernel can take");
    }
    return readFloat(number, parameter, spec);
  }
  return readOther(value, parameter, spec);
}

bool ArgumentReader::readOther(PyObject *value, const Parameter &parameter, PyObject **spec) {
  if (PyTuple_Check(value))
    return readTuple(value, parameter, spec);
  if (PyObject *fields = descriptorFields(value)) {
    const bool ok = readDescriptor(fields, parameter, spec);
    Py_DECREF(fields);
    return ok;
  }
  if (dtypesArePointers) {
    bool matched = false;
    const bool ok = readPointerDtype(value, parameter, spec, matched);
    if (matched)
      return ok;
  }
  bool isArray = false;
  const bool ok = readArrayArgument(value, parameter, spec, isArray);
  if (isArray)
    return ok;
  if (isLanguageObject(value))
    return readConstexpr(value, spec);
  if (dtypeOfObject(value) != Dtype::None)
    return readConstexpr(value, spec);
  if (PyList_Check(value))
    return fail("a list cannot be passed; write np.array(x) for an array, or tuple(x) for a tuple "
                "of values");
  if (PyComplex_Check(value))
    return fail("complex numbers are not in the language; pass real and imaginary part");
  if (PyObject_CheckBuffer(value))
    return fail(describeObject(value) + " was given; wrap its memory in an array: np.asarray(x)");
  return fail(describeObject(value) + " cannot be passed to a kernel. A kernel takes numpy arrays, "
                                      "torch CPU tensors, DLPack objects, symmetric "
                                      "tensors (nereid.symm), tensor descriptors, ints, floats, "
                                      "bools, None, dtypes, jit functions and tuples "
                                      "of such");
}

bool ArgumentReader::readInteger(PyObject *value, const Parameter &parameter, PyObject **spec) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  Dtype type = parameter.annotation;
  if (dtypeInfo(type).floating)
    return readFloat(PyLong_AsDouble(value), parameter, spec);
  uint64_t slot = static_cast<uint64_t>(number);
  if (overflow) {
    slot = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred() || (type != Dtype::None && type != Dtype::UInt64)) {
      PyErr_Clear();
      return fail("the integer " + describeObject(value).substr(4) + " does not fit in " +
                  (type == Dtype::None
                       ? "64 bits"
                       : std::string("the annotated type ") + dtypeInfo(type).name));
    }
    type = Dtype::UInt64;
  } else if (type != Dtype::None) {
    if (!fitsInteger(type, number))
      return fail("the integer " + std::to_string(number) + " does not fit in the annotated type " +
                  dtypeInfo(type).name);
  } else if (number == 1 && !parameter.noSpecialize) {
    put('1');
    if (spec)
      *spec = Py_BuildValue("(si)", "constexpr", 1);
    return !spec || *spec;
  } else {
    type = number >= std::numeric_limits<int32_t>::min() &&
                   number <= std::numeric_limits<int32_t>::max()
               ? Dtype::Int32
               : Dtype::Int64;
  }
  const bool divisible =
      slot % 16 == 0 && !parameter.noSpecialize && !parameter.noAlignment && type != Dtype::Int1;
  put(divisible ? 'D' : 'I');
  put(static_cast<char>(type));
  addSlot(slot);
  return typeSpec(spec, dtypeInfo(type).name, divisible);
}

bool ArgumentReader::readFloat(double value, const Parameter &parameter, PyObject **spec) {
  Dtype type = parameter.annotation == Dtype::None ? Dtype::Fp32 : parameter.annotation;
  if (!dtypeInfo(type).floating)
    return fail("a float (" + floatText(value) + ") was given where the annotation says " +
                dtypeInfo(type).name);
  if (dtypeInfo(type).bytes == 1)
    return fail(std::string("scalars of type ") + dtypeInfo(type).name +
                " cannot be passed; use fp16 or fp32");
  if (type == Dtype::Fp32 && std::isfinite(value) && std::isinf(static_cast<float>(value)))
    return fail("the float " + floatText(value) +
                " is too large for fp32, the type of float arguments; annotate the parameter with "
                "tl.float64");
  put('F');
  put(static_cast<char>(type));
  addSlot(floatBits(type, value));
  return typeSpec(spec, dtypeInfo(type).name, false);
}

bool ArgumentReader::readBool(bool value, const Parameter &parameter, PyObject **spec) {
  Dtype type = parameter.annotation == Dtype::None ? Dtype::Int1 : parameter.annotation;
  if (dtypeInfo(type).floating)
    return readFloat(value, parameter, spec);
  put('I');
  put(static_cast<char>(type));
  addSlot(value);
  return typeSpec(spec, type == Dtype::Int1 ? "u1" : dtypeInfo(type).name, false);
}

bool ArgumentReader::readArrayArgument(PyObject *value, const Parameter &parameter, PyObject **spec,
                                       bool &isArray) {
  ArrayView view;
  std::string problem;
  view.kernelsOnGPU = kernelsOnGPU;
  const ArrayResult result = readArray(value, view, problem);
  kernelsOnGPU = view.kernelsOnGPU;
  if (view.keepAlive)
    keepAlive.push_back(view.keepAlive);
  isArray = result != ArrayResult::NotAnArray;
  if (result == ArrayResult::Raised)
    return false;
  if (result == ArrayResult::Unusable)
    return fail("the " + describeObject(value) + " " + problem);
  if (!isArray)
    return false;
  if (parameter.annotation != Dtype::None)
    return fail("the " + describeObject(value) +
                " was given where the annotation says a scalar of type " +
                dtypeInfo(parameter.annotation).name +
                "; write x.item() for the value of an array of one element");
  if (view.readOnly && !parameter.isConst)
    return fail("the " + describeObject(value) +
                " is read-only. Pass a copy (x.copy()), or declare that the kernel only reads it "
                "by annotating the "
                "parameter: '" +
                parameter.nameText + ": tl.const'");
  if (!view.contiguous)
    strided.push_back({current, std::move(view.shape), std::move(view.strides)});
  const uint64_t address = reinterpret_cast<uintptr_t>(view.data);
  const bool divisible = address % 16 == 0 && !parameter.noSpecialize && !parameter.noAlignment;
  put(divisible ? 'Q' : 'P');
  put(static_cast<char>(view.dtype));
  if (view.onGPU && slots.size() < 64)
    slotsOnGPU |= uint64_t(1) << slots.size();
  addSlot(address);
  return !spec ||
         typeSpec(spec, std::string(parameter.isConst ? "*k" : "*") + dtypeInfo(view.dtype).name,
                  divisible);
}

bool ArgumentReader::readPointerDtype(PyObject *value, const Parameter &parameter, PyObject **spec,
                                      bool &matched) {
  const Dtype dtype = dtypeOfObject(value);
  matched = dtype != Dtype::None;
  if (!matched)
    return false;
  const bool divisible = !parameter.noSpecialize && !parameter.noAlignment;
  put(divisible ? 'Q' : 'P');
  put(static_cast<char>(dtype));
  addSlot(0);
  return typeSpec(spec, std::string(parameter.isConst ? "*k" : "*") + dtypeInfo(dtype).name,
                  divisible);
}

bool ArgumentReader::readTuple(PyObject *value, const Parameter &parameter, PyObject **spec) {
  // Items are specialised as parameters without options of their own are.
  static const Parameter plain{};
  const Py_ssize_t count = PyTuple_GET_SIZE(value);
  put(PyTuple_CheckExact(value) ? 't' : 'u');
  putRaw(count);
  PyObject *names = Py_None;
  if (!PyTuple_CheckExact(value)) {
    const int64_t type = interned.intern(reinterpret_cast<PyObject *>(Py_TYPE(value)));
    if (type < 0)
      return false;
    putRaw(type);
    names = PyObject_GetAttrString(value, "_fields");
    if (!names) {
      PyErr_Clear();
      names = Py_None;
    }
  }
  PyObject *items = spec ? PyList_New(0) : nullptr;
  bool ok = !spec || items;
  for (Py_ssize_t i = 0; ok && i < count; ++i) {
    PyObject *inner = nullptr;
    ok = readRuntime(PyTuple_GET_ITEM(value, i), plain, spec ? &inner : nullptr);
    if (ok && spec)
      ok = inner && PyList_Append(items, inner) == 0;
    Py_XDECREF(inner);
  }
  if (ok && spec) {
    PyObject *list = names == Py_None ? Py_NewRef(Py_None) : PySequence_List(names);
    *spec = list ? Py_BuildValue("(sOO)", "tuple", items, list) : nullptr;
    Py_XDECREF(list);
    ok = *spec != nullptr;
  }
  Py_XDECREF(items);
  if (names != Py_None)
    Py_DECREF(names);
  return ok;
}
