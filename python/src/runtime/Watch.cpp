// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Watch is a list of entries, one for each object that can change. What an
// entry compares, by kind:
//
//   Items      the values of some keys of a dict: variables of a module. Up to
//              Python 3.11 a dict has a version, which answers at once as long as
//              nothing in it has changed.
//   Mapping    all keys and values of a dict, in order (with the version as well)
//   Sequence   the items of a list
//   Set        the elements of a set, in the order of its table
//   Cell       the value of a closure cell
//   Class      the version tag, which changes with any attribute of the class or
//              of one of its bases
//   Instance   the type of an object and which dict holds its attributes
//   Slot       one attribute that lives in __slots__
//   Function   code, defaults and attribute dict of a Python function
//   Buffer     shape, format and bytes of an array
//   Again      the result of a Python function that is called at each launch: the
//              last resort
//   Always     nothing: it has always changed
//
// All objects that an entry compares by identity are kept alive, so that no other
// object can take their place in memory.
#include "Watch.h"

#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace nb = nanobind;
using namespace nereid::python;

namespace {

enum class Kind : uint8_t {
  Items,
  Mapping,
  Sequence,
  Set,
  Cell,
  Class,
  Instance,
  Slot,
  Function,
  Buffer,
  Again,
  Always,
};

struct Entry {
  Kind kind;
  PyObject *object = nullptr;
  /// Of a dict or a class; 0 is the version of none.
  uint64_t version = 0;
  /// What it held, by kind; items may be null for "nothing".
  std::vector<PyObject *> held;
  /// Of a buffer: a header, then the bytes.
  std::string bytes;
};

struct Watch {
  std::vector<Entry> entries;
  std::unordered_map<PyObject *, size_t> itemsOf;

  ~Watch() { clear(); }
  void clear() {
    std::vector<Entry> old = std::move(entries);
    entries.clear();
    itemsOf.clear();
    for (Entry &entry : old) {
      Py_XDECREF(entry.object);
      for (PyObject *object : entry.held)
        Py_XDECREF(object);
    }
  }
  Entry &add(Kind kind, PyObject *object) {
    entries.push_back({kind, Py_XNewRef(object), 0, {}, {}});
    return entries.back();
  }
};

struct WatchObject {
  PyObject_HEAD Watch *state;
};

PyTypeObject *watchType = nullptr;

Watch &stateOf(PyObject *self) { return *reinterpret_cast<WatchObject *>(self)->state; }

void hold(Entry &entry, PyObject *object) { entry.held.push_back(Py_XNewRef(object)); }

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

uint64_t dictVersion(PyObject *dict) {
#if PY_VERSION_HEX < 0x030C0000
  return reinterpret_cast<PyDictObject *>(dict)->ma_version_tag;
#else
  (void)dict;
  return 0;
#endif
}

/// 0 while the class has no tag; then nothing is known about it.
uint64_t classVersion(PyObject *object) {
  auto *type = reinterpret_cast<PyTypeObject *>(object);
#ifdef Py_TPFLAGS_VALID_VERSION_TAG
  if (!PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG))
    return 0;
#endif
  return type->tp_version_tag;
}

bool sameItems(Entry &entry) {
  const uint64_t version = dictVersion(entry.object);
  if (version && version == entry.version)
    return true;
  for (size_t i = 0; i < entry.held.size(); i += 2) {
    PyObject *now = PyDict_GetItemWithError(entry.object, entry.held[i]);
    if (now != entry.held[i + 1] || PyErr_Occurred())
      return false;
  }
  entry.version = version;
  return true;
}

bool sameMapping(Entry &entry) {
  const uint64_t version = dictVersion(entry.object);
  if (version && version == entry.version)
    return true;
  if (static_cast<size_t>(PyDict_GET_SIZE(entry.object)) * 2 != entry.held.size())
    return false;
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t position = 0;
  for (size_t i = 0; PyDict_Next(entry.object, &position, &key, &value); i += 2)
    if (i + 1 >= entry.held.size() || key != entry.held[i] || value != entry.held[i + 1])
      return false;
  entry.version = version;
  return true;
}

bool sameSequence(const Entry &entry) {
  auto *list = reinterpret_cast<PyListObject *>(entry.object);
  const size_t size = entry.held.size();
  return static_cast<size_t>(PyList_GET_SIZE(entry.object)) == size &&
         (size == 0 ||
          std::memcmp(list->ob_item, entry.held.data(), size * sizeof(PyObject *)) == 0);
}

bool sameSet(const Entry &entry) {
  if (static_cast<size_t>(PySet_GET_SIZE(entry.object)) != entry.held.size())
    return false;
  PyObject *iterator = PyObject_GetIter(entry.object);
  bool same = iterator != nullptr;
  for (size_t i = 0; same && i < entry.held.size(); ++i) {
    PyObject *item = PyIter_Next(iterator);
    same = item == entry.held[i];
    Py_XDECREF(item);
  }
  Py_XDECREF(iterator);
  return same;
}

bool sameInstance(const Entry &entry) {
  if (reinterpret_cast<PyObject *>(Py_TYPE(entry.object)) != entry.held[0])
    return false;
  if (!entry.held[1])
    return true;
  PyObject *dict = PyObject_GenericGetDict(entry.object, nullptr);
  const bool same = dict == entry.held[1];
  Py_XDECREF(dict);
  return same;
}

PyObject *readSlot(PyObject *object, PyObject *descriptor) {
  descrgetfunc get = Py_TYPE(descriptor)->tp_descr_get;
  PyObject *value =
      get ? get(descriptor, object, reinterpret_cast<PyObject *>(Py_TYPE(object))) : nullptr;
  if (!value)
    PyErr_Clear(); // not assigned
  return value;
}

bool sameSlot(const Entry &entry) {
  PyObject *now = readSlot(entry.object, entry.held[0]);
  const bool same = now == entry.held[1];
  Py_XDECREF(now);
  return same;
}

bool sameFunction(const Entry &entry) {
  auto *function = reinterpret_cast<PyFunctionObject *>(entry.object);
  return function->func_code == entry.held[0] && function->func_defaults == entry.held[1] &&
         function->func_kwdefaults == entry.held[2] && function->func_dict == entry.held[3];
}

/// Shape, format and bytes of an array; false when it shows none.
bool readBuffer(PyObject *object, std::string &text) {
  Py_buffer view;
  if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) != 0) {
    PyErr_Clear();
    return false;
  }
  text = view.format ? view.format : "B";
  text += ':' + std::to_string(view.itemsize);
  for (int i = 0; i < view.ndim; ++i)
    text += ',' + std::to_string(view.shape[i]);
  text += '\n';
  const size_t header = text.size();
  text.resize(header + view.len);
  const bool ok = PyBuffer_ToContiguous(text.data() + header, &view, view.len, 'C') == 0;
  PyBuffer_Release(&view);
  PyErr_Clear();
  return ok;
}

/// Compares without a copy where the bytes lie in one piece.
bool sameBuffer(const Entry &entry) {
  Py_buffer view;
  if (PyObject_GetBuffer(entry.object, &view, PyBUF_FULL_RO) != 0)
    return false;
  std::string header = view.format ? view.format : "B";
  header += ':' + std::to_string(view.itemsize);
  for (int i = 0; i < view.ndim; ++i)
    header += ',' + std::to_string(view.shape[i]);
  header += '\n';
  bool same = entry.bytes.size() == header.size() + view.len && entry.bytes.starts_with(header);
  if (same && PyBuffer_IsContiguous(&view, 'C')) {
    same = std::memcmp(view.buf, entry.bytes.data() + header.size(), view.len) == 0;
  } else if (same) {
    std::string now(view.len, '\0');
    same = PyBuffer_ToContiguous(now.data(), &view, view.len, 'C') == 0 &&
           std::memcmp(now.data(), entry.bytes.data() + header.size(), view.len) == 0;
  }
  PyBuffer_Release(&view);
  return same;
}

bool sameAgain(const Entry &entry) {
  PyObject *now = PyObject_CallNoArgs(entry.held[0]);
  const bool same = now && PyObject_RichCompareBool(now, entry.held[1], Py_EQ) == 1;
  Py_XDECREF(now);
  return same;
}

bool same(Entry &entry) {
  switch (entry.kind) {
  case Kind::Items:
    return sameItems(entry);
  case Kind::Mapping:
    return sameMapping(entry);
  case Kind::Sequence:
    return sameSequence(entry);
  case Kind::Set:
    return sameSet(entry);
  case Kind::Cell:
    return PyCell_GET(entry.object) == entry.held[0];
  case Kind::Class:
    return entry.version && classVersion(entry.object) == entry.version;
  case Kind::Instance:
    return sameInstance(entry);
  case Kind::Slot:
    return sameSlot(entry);
  case Kind::Function:
    return sameFunction(entry);
  case Kind::Buffer:
    return sameBuffer(entry);
  case Kind::Again:
    return sameAgain(entry);
  case Kind::Always:
    return false;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Methods: each takes what the describer of a kernel has just seen
//===----------------------------------------------------------------------===//

bool checkType(bool ok, const char *what) {
  if (!ok)
    PyErr_Format(PyExc_TypeError, "%s was expected", what);
  return ok;
}

/// item(dict, key[, value]): without a value, the key is not there.
PyObject *watchItem(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  if (!checkType((count == 2 || count == 3) && PyDict_Check(args[0]) && PyUnicode_Check(args[1]),
                 "a dict, a str and possibly a value"))
    return nullptr;
  Watch &state = stateOf(self);
  auto [place, isNew] = state.itemsOf.try_emplace(args[0], state.entries.size());
  if (isNew)
    state.add(Kind::Items, args[0]).version = dictVersion(args[0]);
  Entry &entry = state.entries[place->second];
  PyObject *value = count == 3 ? args[2] : nullptr;
  for (size_t i = 0; i < entry.held.size(); i += 2)
    if (entry.held[i] == args[1] && entry.held[i + 1] == value)
      Py_RETURN_NONE;
  hold(entry, args[1]);
  hold(entry, value);
  // Changed since it was read, or since the version was taken.
  if (PyDict_GetItemWithError(args[0], args[1]) != value)
    entry.version = 0;
  PyErr_Clear();
  Py_RETURN_NONE;
}

/// mapping(dict, {key: value, ...} as a flat tuple)
PyObject *watchMapping(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  if (!checkType(count == 2 && PyDict_Check(args[0]) && PyTuple_Check(args[1]),
                 "a dict and a tuple"))
    return nullptr;
  Entry &entry = stateOf(self).add(Kind::Mapping, args[0]);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[1]); ++i)
    hold(entry, PyTuple_GET_ITEM(args[1], i));
  Py_RETURN_NONE;
}

/// sequence(list, tuple)
PyObject *watchSequence(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  if (!checkType(count == 2 && PyList_Check(args[0]) && PyTuple_Check(args[1]),
                 "a list and a tuple"))
    return nullptr;
  Entry &entry = stateOf(self).add(Kind::Sequence, args[0]);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[1]); ++i)
    hold(entry, PyTuple_GET_ITEM(args[1], i));
  Py_RETURN_NONE;
}

/// set(set, tuple)
PyObject *watchSet(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  if (!checkType(count == 2 && PyAnySet_Check(args[0]) && PyTuple_Check(args[1]),
                 "a set and a tuple"))
    return nullptr;
  Entry &entry = stateOf(self).add(Kind::Set, args[0]);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[1]); ++i)
    hold(entry, PyTuple_GET_ITEM(args[1], i));
  Py_RETURN_NONE;
}

/// cell(cell[, value])
PyObject *watchCell(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  if (!checkType((count == 1 || count == 2) && PyCell_Check(args[0]), "a cell"))
    return nullptr;
  hold(stateOf(self).add(Kind::Cell, args[0]), count == 2 ? args[1] : nullptr);
  Py_RETURN_NONE;
}

/// cls(class): before it is read.
PyObject *watchClass(PyObject *self, PyObject *type) {
  if (!checkType(PyType_Check(type), "a class"))
    return nullptr;
  // A lookup gives the class a tag.
  static PyObject *const name = PyUnicode_InternFromString("__nereid__");
  _PyType_Lookup(reinterpret_cast<PyTypeObject *>(type), name);
  Entry &entry = stateOf(self).add(Kind::Class, type);
  entry.version = classVersion(type);
  Py_RETURN_NONE;
}

/// instance(object, its __dict__ or None)
PyObject *watchInstance(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  if (!checkType(count == 2, "an object and its __dict__"))
    return nullptr;
  Entry &entry = stateOf(self).add(Kind::Instance, args[0]);
  hold(entry, reinterpret_cast<PyObject *>(Py_TYPE(args[0])));
  hold(entry, args[1] == Py_None ? nullptr : args[1]);
  Py_RETURN_NONE;
}

/// slot(object, descriptor[, value])
PyObject *watchSlot(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  if (!checkType(count == 2 || count == 3, "an object and a descriptor"))
    return nullptr;
  Entry &entry = stateOf(self).add(Kind::Slot, args[0]);
  hold(entry, args[1]);
  hold(entry, count == 3 ? args[2] : nullptr);
  Py_RETURN_NONE;
}

/// function(function): before it is read.
PyObject *watchFunction(PyObject *self, PyObject *object) {
  if (!checkType(PyFunction_Check(object), "a function"))
    return nullptr;
  auto *function = reinterpret_cast<PyFunctionObject *>(object);
  Entry &entry = stateOf(self).add(Kind::Function, object);
  for (PyObject *part : {function->func_code, function->func_defaults, function->func_kwdefaults,
                         function->func_dict})
    hold(entry, part);
  Py_RETURN_NONE;
}

/// buffer(array) -> bytes, or None when the object shows no buffer.
PyObject *watchBuffer(PyObject *self, PyObject *object) {
  std::string text;
  if (!readBuffer(object, text))
    Py_RETURN_NONE;
  PyObject *result = PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  stateOf(self).add(Kind::Buffer, object).bytes = std::move(text);
  return result;
}

/// again(function, its result)
PyObject *watchAgain(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  if (!checkType(count == 2, "a function and its result"))
    return nullptr;
  Entry &entry = stateOf(self).add(Kind::Again, nullptr);
  hold(entry, args[0]);
  hold(entry, args[1]);
  Py_RETURN_NONE;
}

PyObject *watchAlways(PyObject *self, PyObject *) {
  stateOf(self).add(Kind::Always, nullptr);
  Py_RETURN_NONE;
}

PyObject *unchangedMethod(PyObject *self, PyObject *) { return PyBool_FromLong(isUnchanged(self)); }

PyObject *newWatch(PyTypeObject *type, PyObject *, PyObject *) {
  PyObject *self = type->tp_alloc(type, 0);
  if (self)
    reinterpret_cast<WatchObject *>(self)->state = new Watch;
  return self;
}

void deallocWatch(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  delete reinterpret_cast<WatchObject *>(self)->state;
  type->tp_free(self);
  Py_DECREF(type);
}

int traverseWatch(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  if (!reinterpret_cast<WatchObject *>(self)->state)
    return 0;
  for (Entry &entry : stateOf(self).entries) {
    Py_VISIT(entry.object);
    for (PyObject *object : entry.held)
      Py_VISIT(object);
  }
  return 0;
}

int clearWatch(PyObject *self) {
  Watch &state = stateOf(self);
  state.clear();
  state.add(Kind::Always, nullptr); // it knows nothing any more
  return 0;
}

template <typename F> PyCFunction method(F function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef watchMethods[] = {
    {"item", method(watchItem), METH_FASTCALL, "item(dict, key[, value]): a variable."},
    {"mapping", method(watchMapping), METH_FASTCALL,
     "mapping(dict, (key, value, ...)): all of a dict."},
    {"sequence", method(watchSequence), METH_FASTCALL, "sequence(list, items)"},
    {"set", method(watchSet), METH_FASTCALL, "set(set, elements in its order)"},
    {"cell", method(watchCell), METH_FASTCALL, "cell(cell[, value])"},
    {"cls", watchClass, METH_O, "cls(class): any attribute of it and of its bases."},
    {"instance", method(watchInstance), METH_FASTCALL,
     "instance(object, its __dict__ or None): its type and which dict that is."},
    {"slot", method(watchSlot), METH_FASTCALL, "slot(object, descriptor[, value])"},
    {"function", watchFunction, METH_O, "function(function): its code, defaults, attributes."},
    {"buffer", watchBuffer, METH_O,
     "buffer(array) -> a text of shape, format and contents; None without a buffer."},
    {"again", method(watchAgain), METH_FASTCALL,
     "again(function, result): calls the function at each launch."},
    {"always", watchAlways, METH_NOARGS, "From now on everything has always changed."},
    {"unchanged", unchangedMethod, METH_NOARGS, "Whether everything is as it was."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot watchSlots[] = {
    {Py_tp_doc,
     const_cast<char *>("What Python objects held when a kernel was compiled; see Watch.h.")},
    {Py_tp_new, reinterpret_cast<void *>(newWatch)},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocWatch)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseWatch)},
    {Py_tp_clear, reinterpret_cast<void *>(clearWatch)},
    {Py_tp_methods, watchMethods},
    {0, nullptr},
};
PyType_Spec watchSpec = {"nereid._runtime.Watch", sizeof(WatchObject), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, watchSlots};

/// Whether a class statement has made `type`. Such a class frees its instances by
/// a function that all of them share.
bool isPythonClass(nb::handle type) {
  static const destructor shared = [] {
    nb::object made = nb::steal(
        PyObject_CallFunction(reinterpret_cast<PyObject *>(&PyType_Type), "s(){}", "Sample"));
    if (!made.is_valid())
      nb::raise_python_error();
    return reinterpret_cast<PyTypeObject *>(made.ptr())->tp_dealloc;
  }();
  return PyType_Check(type.ptr()) &&
         reinterpret_cast<PyTypeObject *>(type.ptr())->tp_dealloc == shared;
}

} // namespace

bool nereid::python::isWatch(PyObject *object) {
  return watchType && PyObject_TypeCheck(object, watchType);
}

bool nereid::python::isUnchanged(PyObject *watch) {
  Watch &state = stateOf(watch);
  for (Entry &entry : state.entries)
    if (!same(entry)) {
      PyErr_Clear();
      return false;
    }
  return true;
}

void nereid::python::bindWatch(nb::module_ &m) {
  watchType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&watchSpec));
  if (!watchType)
    throw nb::python_error();
  m.attr("Watch") = nb::borrow(reinterpret_cast<PyObject *>(watchType));
  m.def("is_python_class", &isPythonClass, nb::arg("type"),
        "Whether a class statement has made a class.");
}
