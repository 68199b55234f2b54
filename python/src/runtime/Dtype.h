// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dtype.h - Element types of launch arguments --------------*- C++ -*-===//
#ifndef NEREID_PYTHON_DTYPE_H
#define NEREID_PYTHON_DTYPE_H

#include <cstdint>
#include <string_view>

namespace nereid::python {

/// Element types that arrays and scalars of a launch can have.
enum class Dtype : uint8_t {
  None, // not a type of the language
  Int1,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Fp8E5,
  Fp8E4NV,
  Fp8E4B8,
  Fp8E5B16,
  Fp16,
  BF16,
  Fp32,
  Fp64,
};
constexpr unsigned numDtypes = static_cast<unsigned>(Dtype::Fp64) + 1;

struct DtypeInfo {
  Dtype dtype;
  /// Name in launch signatures: "fp16", "i32", "u8", ...
  const char *name;
  /// Name that numpy, ml_dtypes and torch use: "float16", "bool", ...
  const char *arrayName;
  uint8_t bytes;
  bool floating;
};
const DtypeInfo &dtypeInfo(Dtype dtype);

/// The dtype of a name of either kind; torch's prefix "torch." is dropped.
/// None when there is no such type.
Dtype findDtype(std::string_view name);

} // namespace nereid::python

#endif // NEREID_PYTHON_DTYPE_H
