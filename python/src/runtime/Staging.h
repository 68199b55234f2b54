// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Staging.h - Arrays of the host as arguments on a device --*- C++ -*-===//
//
// A device that cannot read the memory of the host gets copies of the arrays that lie
// there, in memory of its own, which are copied back when the launch has ended. Arrays
// that share bytes share them on the device too.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_PYTHON_STAGING_H
#define NEREID_PYTHON_STAGING_H

#include "nereid/runtime/Device.h"

#include <Python.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nereid::python {

class Staging {
public:
  explicit Staging(runtime::Device &device) : device(device) {}
  ~Staging();
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;

  /// The array behind `slot`, which holds an address in it. False when where it lies
  /// cannot be told; a symmetric tensor, or an array of the device, is left alone.
  bool add(PyObject *array, uint64_t &slot, bool readOnly);
  bool empty() const { return slots.empty(); }
  /// Copies all to the device and changes the slots.
  runtime::Status copyIn();
  /// Copies back what the kernel may have written.
  runtime::Status copyOut();

private:
  struct Slot {
    uint64_t *slot;
    uint64_t begin, end;
    bool readOnly;
  };
  /// Bytes of the host and where they are on the device.
  struct Range {
    uint64_t begin, end;
    bool readOnly;
    uint8_t *copy = nullptr;
  };

  runtime::Device &device;
  std::vector<Slot> slots;
  std::vector<Range> ranges;
  uint8_t *memory = nullptr;
  uint64_t bytes = 0;
};

} // namespace nereid::python

#endif // NEREID_PYTHON_STAGING_H
