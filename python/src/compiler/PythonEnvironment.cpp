// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PythonEnvironment.cpp - What a name of Python means to the compiler ===//
//
//   Python object                                     compile-time Value
//   None, bool, int, float, str                       itself
//   dtype, jit function, function of the language     Type, Function, Builtin
//   tuple, list, named tuple                          Tuple, of the same
//   module, class, constexpr_function                 Host: a number, behind which the
//                                                     object stays here
//
// Two doors. import() takes plain data: arguments, defaults, results of
// functions that run at compile time. importLanguageObject() is for names that
// a kernel finds in its module and takes no plain numbers or strings: they can
// change after the kernel was compiled, and a change of them would not reach
// it. `x = tl.constexpr(3)` says that it will not change.
//
// A Host is asked again for each attribute and call, so the compiler needs to
// know nothing of Python's objects, and unit tests answer from a table.
// Functions and hosts are numbered and held as long as the environment lives:
// an address never stands for two objects.
//
// Python code runs in here: attributes may be computed, functions are called.
// What a called function raises becomes an error at the line of the kernel.
//
//===----------------------------------------------------------------------===//
#include "PythonEnvironment.h"
#include "AstImport.h"

#include "nereid/Frontend/Constexpr.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nereid;
using namespace nereid::frontend;

namespace nereid::python {
namespace {

std::string text(nb::handle object) { return nb::cast<std::string>(nb::str(object)); }

/// `object.name`, or a null object when there is none.
nb::object tryGet(nb::handle object, const char *name) {
  PyObject *found = PyObject_GetAttrString(object.ptr(), name);
  if (!found)
    PyErr_Clear();
  return nb::steal(found);
}

std::string typeName(nb::handle object) { return Py_TYPE(object.ptr())->tp_name; }

/// The class tl.constexpr.
nb::handle constexprType() {
  static nb::object type = nb::module_::import_("nereid.language").attr("constexpr");
  return type;
}

bool isConstexpr(nb::handle object) {
  return PyObject_TypeCheck(object.ptr(), (PyTypeObject *)constexprType().ptr());
}

/// A jit function: it has what the compiler reads of one.
bool isJitFunction(nb::handle object) {
  if (PyModule_Check(object.ptr()) || PyType_Check(object.ptr()))
    return false;
  return PyObject_HasAttrString(object.ptr(), "noinline") &&
         PyObject_HasAttrString(object.ptr(), "params");
}

bool isNamedTupleClass(nb::handle object) {
  return PyType_Check(object.ptr()) &&
         PyType_IsSubtype((PyTypeObject *)object.ptr(), &PyTuple_Type) &&
         PyObject_HasAttrString(object.ptr(), "_fields");
}

/// A description for messages, e.g. "the int 3", "a dict".
std::string describeObject(nb::handle object) {
  std::string name = typeName(object);
  if (PyFunction_Check(object.ptr()))
    return "a plain Python function";
  if (PyLong_Check(object.ptr()) || PyFloat_Check(object.ptr()) || PyUnicode_Check(object.ptr())) {
    std::string value = nb::cast<std::string>(nb::repr(object));
    if (value.size() < 40)
      return "the plain " + name + " " + value;
  }
  bool isVowel = name.find_first_of("aeiouAEIOU") == 0;
  return (isVowel ? "an " : "a ") + name;
}

std::string exceptionText(const nb::python_error &error) {
  nb::object value = nb::borrow(error.value());
  std::string message = text(value);
  std::string name = typeName(value);
  return message.empty() ? name : name + ": " + message;
}

} // namespace

// ---- functions -----------------------------------------------------------------

std::shared_ptr<const SourceFile> PythonEnvironment::file(nb::handle jitFunction) {
  std::string path = text(jitFunction.attr("file"));
  std::shared_ptr<const SourceFile> &known = files[path];
  if (!known) {
    auto source = std::make_shared<SourceFile>();
    source->path = path;
    for (nb::handle line : jitFunction.attr("source_lines"))
      source->lines.push_back(nb::cast<std::string>(line));
    known = std::move(source);
  }
  return known;
}

const FunctionDef &PythonEnvironment::function(nb::handle jitFunction) {
  auto known = functionOf.find(jitFunction.ptr());
  if (known != functionOf.end())
    return *known->second;
  std::unique_ptr<FunctionDef> def = importFunction(jitFunction.attr("ast"), file(jitFunction));
  def->id = functionObjects.size();
  functionObjects.push_back(nb::borrow(jitFunction));
  FunctionDef &result = *def;
  functions.push_back(std::move(def));
  // Known before its defaults are read: one of them may be the function itself.
  functionOf.emplace(jitFunction.ptr(), &result);

  nb::object absent = nb::module_::import_("inspect").attr("Parameter").attr("empty");
  for (nb::handle param : jitFunction.attr("params")) {
    std::string name = text(param.attr("name"));
    auto found = llvm::find_if(result.params, [&](const Param &p) { return p.name == name; });
    if (found == result.params.end())
      continue;
    found->isConstexpr = nb::cast<bool>(param.attr("is_constexpr"));
    nb::object value = param.attr("default");
    if (value.is(absent))
      continue;
    std::optional<Value> imported = import(value);
    if (!imported)
      throw CompileError(
          makeDiagnostic(Diag::unsupported_default, found->range, name, describeObject(value)));
    found->hasDefault = true;
    found->defaultValue = std::move(*imported);
  }
  return result;
}

// ---- objects to values ------------------------------------------------------------

Value PythonEnvironment::host(nb::handle object, std::string description) {
  auto [known, isNew] = hostOf.try_emplace(object.ptr(), hosts.size());
  if (isNew)
    hosts.push_back(nb::borrow(object));
  return Host{known->second, std::move(description)};
}

std::optional<Value> PythonEnvironment::importData(nb::handle object) {
  if (object.is_none())
    return Value();
  if (PyBool_Check(object.ptr()))
    return Value(object.ptr() == Py_True);
  if (PyLong_Check(object.ptr())) {
    if (std::optional<Int> integer = importInt(object))
      return Value(*integer);
    return std::nullopt;
  }
  if (PyFloat_Check(object.ptr()))
    return Value(PyFloat_AsDouble(object.ptr()));
  if (PyUnicode_Check(object.ptr()))
    return Value(nb::cast<std::string>(nb::str(object)));
  // Numbers of numpy and the like.
  if (PyIndex_Check(object.ptr()) && !PyType_Check(object.ptr()) &&
      !PyObject_HasAttrString(object.ptr(), "__len__")) {
    PyObject *integer = PyNumber_Index(object.ptr());
    if (integer) {
      nb::object owned = nb::steal(integer);
      if (std::optional<Int> value = importInt(owned))
        return Value(*value);
      return std::nullopt;
    }
    PyErr_Clear();
  }
  return std::nullopt;
}

std::optional<Value> PythonEnvironment::importLanguageObject(nb::handle object,
                                                             const SourceRange &range) {
  if (isConstexpr(object)) {
    nb::object value = object.attr("value");
    if (PyFunction_Check(value.ptr())) // runs while the kernel is compiled
      return host(value, "function '" + text(value.attr("__name__")) + "'");
    return import(value);
  }
  if (PyModule_Check(object.ptr()))
    return host(object, "module '" + text(object.attr("__name__")) + "'");
  if (object.is_none())
    return Value();
  if (nb::object type = tryGet(object, "__nereid_type__");
      type.is_valid() && PyUnicode_Check(type.ptr())) {
    // A class has the attribute only through its instances' slots.
    if (std::optional<Type> parsed = Type::parse(text(type)))
      return Value(*parsed);
  }
  if (nb::object key = tryGet(object, "__nereid_builtin__");
      key.is_valid() && PyTuple_Check(key.ptr())) {
    std::string module = text(key[0]), name = text(key[1]);
    if (const BuiltinInfo *info = findBuiltin(module, name))
      return Value(Builtin{info});
    if (std::optional<Value> constant = findConstant(module, name))
      return constant;
    if (!constantNames(module + "." + name).empty()) // a class of constants
      return host(object, module + "." + name);
    throw CompileError(makeDiagnostic(Diag::not_supported_yet, range, module + "." + name, "", ""));
  }
  if (PyObject_HasAttrString(object.ptr(), "__nereid_constexpr_function__"))
    return host(object, "function '" + text(object.attr("__name__")) + "'");
  if (PyType_Check(object.ptr()))
    return host(object, "class '" + text(object.attr("__name__")) + "'");
  if (isJitFunction(object))
    return Value(Function{&function(object)});
  if (PyTuple_Check(object.ptr()) || PyList_Check(object.ptr())) {
    Tuple tuple;
    for (nb::handle item : object) {
      std::optional<Value> value = importLanguageObject(item, range);
      if (!value)
        return std::nullopt;
      tuple.items.push_back(std::move(*value));
    }
    if (nb::object fields = tryGet(object, "_fields"); fields.is_valid())
      for (nb::handle field : fields)
        tuple.names.push_back(text(field));
    return Value(std::move(tuple));
  }
  return std::nullopt;
}

std::optional<Value> PythonEnvironment::import(nb::handle object) {
  if (isConstexpr(object))
    return import(object.attr("value"));
  if (std::optional<Value> data = importData(object))
    return data;
  if (PyTuple_Check(object.ptr()) || PyList_Check(object.ptr())) {
    Tuple tuple;
    for (nb::handle item : object) {
      std::optional<Value> value = import(item);
      if (!value)
        return std::nullopt;
      tuple.items.push_back(std::move(*value));
    }
    if (nb::object fields = tryGet(object, "_fields"); fields.is_valid())
      for (nb::handle field : fields)
        tuple.names.push_back(text(field));
    return Value(std::move(tuple));
  }
  if (std::optional<Value> value = importLanguageObject(object, SourceRange()))
    return value;
  // Members of an enumeration stand for their values.
  static nb::object enumType = nb::module_::import_("enum").attr("Enum");
  if (PyObject_IsInstance(object.ptr(), enumType.ptr()) == 1)
    return import(object.attr("value"));
  return std::nullopt;
}

nb::object PythonEnvironment::exportValue(const Value &value) {
  if (value.isNone())
    return nb::none();
  if (const bool *b = value.getIf<bool>())
    return nb::bool_(*b);
  if (const Int *i = value.getIf<Int>())
    return exportInt(*i);
  if (const double *d = value.getIf<double>())
    return nb::float_(*d);
  if (const auto *string = value.getIf<std::string>())
    return nb::str(string->c_str(), string->size());
  if (const auto *tuple = value.getIf<Tuple>(); tuple && tuple->aggregate < 0) {
    nb::list items;
    for (const Value &item : tuple->items) {
      nb::object exported = exportValue(item);
      if (!exported.is_valid())
        return {};
      items.append(exported);
    }
    return nb::tuple(items);
  }
  if (const auto *type = value.getIf<Type>()) {
    nb::module_ types = nb::module_::import_("nereid.language");
    if (type->isPointer()) {
      nb::object pointee = exportValue(type->pointee());
      return pointee.is_valid() ? types.attr("pointer_type")(pointee) : nb::object();
    }
    return type->isScalar() ? nb::object(types.attr("dtype")(type->str())) : nb::object();
  }
  if (const auto *function = value.getIf<Function>())
    return functionObjects[function->def->id];
  if (const auto *object = value.getIf<Host>(); object && object->id >= 0)
    return hosts[object->id];
  return {};
}

// ---- names -----------------------------------------------------------------------

void PythonEnvironment::refuse(nb::handle object, llvm::StringRef name, const SourceRange &range) {
  std::string help;
  if (PyFunction_Check(object.ptr()))
    help = "decorate it with @nereid.jit, or with @nereid.language.constexpr_function when it runs "
           "at compile time";
  else if (importData(object) || PyTuple_Check(object.ptr()))
    help = "make it a compile-time constant, `" + name.str() +
           " = tl.constexpr(...)`, or pass it as an argument";
  else
    help = "pass it as an argument of the kernel";
  throw CompileError(
      makeDiagnostic(Diag::global_not_constexpr, range, name, describeObject(object), help));
}

void PythonEnvironment::checkInterrupt() {
  if (PyErr_CheckSignals() != 0)
    throw nb::python_error();
}

// In Python's order: the closure, the globals of the module, built-ins. A cell that is empty (the
// name is bound later) is looked up further, as if it were not there.
std::optional<Value> PythonEnvironment::lookup(const FunctionDef &function, llvm::StringRef name,
                                               const SourceRange &range) {
  nb::object python = functionObjects[function.id].attr("fn");
  std::string key = name.str();
  nb::object found;
  nb::object closure = python.attr("__closure__");
  if (!closure.is_none()) {
    size_t i = 0;
    for (nb::handle free : python.attr("__code__").attr("co_freevars")) {
      if (text(free) == key)
        found = tryGet(closure[i], "cell_contents");
      ++i;
    }
  }
  if (!found.is_valid()) {
    nb::object globals = python.attr("__globals__");
    if (PyObject *global = PyDict_GetItemString(globals.ptr(), key.c_str()))
      found = nb::borrow(global);
  }
  if (found.is_valid()) {
    if (std::optional<Value> value = importLanguageObject(found, range))
      return value;
    if (allowGlobals)
      if (std::optional<Value> value = import(found))
        return value;
    refuse(found, name, range);
  }
  if (const BuiltinInfo *info = findBuiltin("python", name))
    return Value(Builtin{info});
  nb::object builtins = nb::module_::import_("builtins");
  if (key == "bool" || key == "str" || key == "tuple" || key == "list") // for isinstance
    return host(builtins.attr(key.c_str()), "class '" + key + "'");
  if (PyObject_HasAttrString(builtins.ptr(), key.c_str())) {
    std::string help;
    if (findBuiltin("tl", name))
      help = "use `tl." + key + "`";
    throw CompileError(
        makeDiagnostic(Diag::unsupported_syntax, range, "Python's built-in '" + key + "'", help));
  }
  return std::nullopt;
}

std::optional<Value> PythonEnvironment::attribute(const Host &object, llvm::StringRef name,
                                                  const SourceRange &range) {
  nb::object owner = hosts[object.id];
  std::string key = name.str();
  if (nb::object row = tryGet(owner, "__nereid_builtin__");
      row.is_valid() && PyTuple_Check(row.ptr()))
    if (std::optional<Value> constant = findConstant(text(row[0]) + "." + text(row[1]), key))
      return constant;
  nb::object found = tryGet(owner, key.c_str());
  if (!found.is_valid())
    return std::nullopt;
  if (std::optional<Value> value = importLanguageObject(found, range))
    return value;
  if (std::optional<Value> value = import(found)) // math.pi, a class's constants
    return value;
  refuse(found,
         text(tryGet(owner, "__name__").is_valid() ? owner.attr("__name__") : nb::str("object")) +
             "." + key,
         range);
}

Value PythonEnvironment::call(const Host &callee, llvm::ArrayRef<Value> args,
                              llvm::ArrayRef<std::pair<std::string, Value>> keywords,
                              const SourceRange &range) {
  nb::object function = tryGet(hosts[callee.id], "__nereid_constexpr_function__");
  if (!function.is_valid() && PyFunction_Check(hosts[callee.id].ptr()))
    function = hosts[callee.id];
  if (!function.is_valid())
    throw CompileError(
        makeDiagnostic(Diag::not_callable, range, callee.description,
                       "only jit functions, functions of the language and functions marked with "
                       "constexpr_function can be called"));
  nb::list positional;
  nb::dict named;
  auto exported = [&](const Value &value) {
    nb::object object = exportValue(value);
    if (!object.is_valid())
      throw CompileError(makeDiagnostic(Diag::host_call_runtime_argument, range, callee.description,
                                        value.describe()));
    return object;
  };
  for (const Value &arg : args)
    positional.append(exported(arg));
  for (const auto &[name, value] : keywords)
    named[name.c_str()] = exported(value);
  nb::object result;
  try {
    result = nb::steal(PyObject_Call(function.ptr(), nb::tuple(positional).ptr(), named.ptr()));
    if (!result.is_valid())
      nb::raise_python_error();
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_Exception))
      throw; // Ctrl-C or the end of the process: no fault of the kernel
    throw CompileError(
        makeDiagnostic(Diag::host_call_failed, range, callee.description, exceptionText(error)));
  }
  if (std::optional<Value> value = import(result))
    return *value;
  throw CompileError(
      makeDiagnostic(Diag::host_call_result, range, callee.description, describeObject(result)));
}

std::optional<std::vector<std::string>> PythonEnvironment::namedTupleFields(const Host &object) {
  nb::object type = hosts[object.id];
  if (!isNamedTupleClass(type))
    return std::nullopt;
  std::vector<std::string> fields;
  for (nb::handle field : type.attr("_fields"))
    fields.push_back(text(field));
  return fields;
}

std::optional<std::vector<AggregateField>> PythonEnvironment::aggregateFields(const Host &object) {
  if (object.id < 0)
    return std::nullopt;
  nb::object rows = tryGet(hosts[object.id], "__nereid_aggregate__");
  if (!rows.is_valid() || !PyType_Check(hosts[object.id].ptr()))
    return std::nullopt;
  std::vector<AggregateField> fields;
  for (nb::handle row : rows) {
    std::string kind = text(row[1]);
    fields.push_back({text(row[0]), kind == "constexpr", kind == "tensor"});
  }
  return fields;
}

const FunctionDef *PythonEnvironment::aggregateInit(const Host &object) {
  nb::object init = tryGet(hosts[object.id], "__nereid_init__");
  return init.is_valid() && !init.is_none() ? &function(init) : nullptr;
}

std::optional<std::string> PythonEnvironment::className(const Host &object) {
  nb::object type = hosts[object.id];
  if (!PyType_Check(type.ptr()))
    return std::nullopt;
  return text(type.attr("__name__"));
}

std::optional<std::string> PythonEnvironment::format(const Value &value, llvm::StringRef spec) {
  nb::object object = exportValue(value);
  if (!object.is_valid())
    return std::nullopt;
  nb::object formatted =
      nb::steal(PyObject_Format(object.ptr(), nb::str(spec.data(), spec.size()).ptr()));
  if (!formatted.is_valid()) {
    PyErr_Clear();
    return std::nullopt;
  }
  return nb::cast<std::string>(formatted);
}

std::vector<std::string> PythonEnvironment::visibleNames(const FunctionDef &function) {
  std::vector<std::string> names;
  nb::object python = functionObjects[function.id].attr("fn");
  for (nb::handle name : python.attr("__code__").attr("co_freevars"))
    names.push_back(text(name));
  for (nb::handle name : nb::cast<nb::dict>(python.attr("__globals__")).keys())
    names.push_back(text(name));
  for (const BuiltinInfo *info : allBuiltins())
    if (llvm::StringRef(info->module) == "python")
      names.push_back(info->name);
  return names;
}

std::vector<std::string> PythonEnvironment::attributeNames(const Host &object) {
  std::vector<std::string> names;
  nb::object list = nb::steal(PyObject_Dir(hosts[object.id].ptr()));
  if (!list.is_valid()) {
    PyErr_Clear();
    return names;
  }
  for (nb::handle name : list)
    names.push_back(text(name));
  return names;
}

} // namespace nereid::python
