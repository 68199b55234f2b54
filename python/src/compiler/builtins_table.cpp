// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants of the language's modules, for python/generate_language.py.
#include "CompilerModule.h"

#include "nereid/Frontend/Builtins.h"

namespace nb = nanobind;
using namespace nereid;
using namespace nereid::frontend;

/// A Python int of up to 128 bits.
static nb::object pythonInt(Int value) {
  const uint64_t low = static_cast<uint64_t>(value);
  const int64_t high = static_cast<int64_t>(value >> 64);
  return (nb::int_(high) << nb::int_(64)) | nb::int_(low);
}

/// (module, name, value) of every constant; the value of a dtype is None.
static nb::list constantTable() {
  nb::list rows;
  for (const std::string &module : constantModules())
    for (const std::string &name : constantNames(module)) {
      std::optional<Value> value = findConstant(module, name);
      const Int *number = value ? value->getIf<Int>() : nullptr;
      rows.append(nb::make_tuple(module.c_str(), name.c_str(),
                                 number ? pythonInt(*number) : nb::object(nb::none())));
    }
  return rows;
}

void nereid::python::bindConstantTable(nb::module_ &m) {
  m.def("constant_table", constantTable,
        "Constants of the language's modules: (module, name, value or None).");
}
