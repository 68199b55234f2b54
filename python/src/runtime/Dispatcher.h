// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dispatcher.h - kernel[grid](...) -------------------------*- C++ -*-===//
//
// nereid._runtime.Dispatcher is the base class of JITFunction. It binds the
// arguments of a launch, finds the compiled kernel that serves them and runs
// it; only a launch that needs a kernel not seen before calls into Python.
//
//   kernel[grid]          a BoundLaunch, which remembers kernel and grid
//   kernel[grid](*args)   BoundLaunch's vectorcall -> Dispatcher -> runtime
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_PYTHON_DISPATCHER_H
#define NEREID_PYTHON_DISPATCHER_H

#include <nanobind/nanobind.h>

namespace nereid::python {

/// Whether `object` is a jit function.
bool isDispatcher(PyObject *object);

/// Launches the jit function `kernel`, or only compiles it, with a value for every
/// parameter, in their order, and behind those with one for each of `options`, a tuple of
/// names of launch options or null. A new reference to the compiled kernel, or null with an
/// exception set.
PyObject *launchKernel(PyObject *kernel, PyObject *grid, PyObject *const *values, size_t count,
                       PyObject *options, bool compileOnly);

void bindDispatcher(nanobind::module_ &m);

} // namespace nereid::python

#endif // NEREID_PYTHON_DISPATCHER_H
