// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Grid.h - The grid of a launch ----------------------------*- C++ -*-===//
#ifndef NEREID_PYTHON_GRID_H
#define NEREID_PYTHON_GRID_H

#include <Python.h>

#include <array>
#include <cstdint>
#include <string>

namespace nereid::python {

/// Programs along the three axes; missing ones are 1.
struct Grid {
  std::array<int32_t, 3> dims{1, 1, 1};
  /// No program at all: nothing is launched.
  bool empty() const { return dims[0] == 0 || dims[1] == 0 || dims[2] == 0; }
};

/// Reads a tuple or list of one to three integers >= 0 with a product below
/// 2^31; false with ArgumentError set. `called`: it came from a callable grid.
bool parseGrid(const std::string &kernel, PyObject *object, bool called, Grid &grid);

} // namespace nereid::python

#endif // NEREID_PYTHON_GRID_H
