// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Dtype.h"

using namespace nereid::python;

namespace {
constexpr DtypeInfo table[numDtypes] = {
    {Dtype::None, "void", "void", 0, false},
    {Dtype::Int1, "i1", "bool", 1, false},
    {Dtype::Int8, "i8", "int8", 1, false},
    {Dtype::Int16, "i16", "int16", 2, false},
    {Dtype::Int32, "i32", "int32", 4, false},
    {Dtype::Int64, "i64", "int64", 8, false},
    {Dtype::UInt8, "u8", "uint8", 1, false},
    {Dtype::UInt16, "u16", "uint16", 2, false},
    {Dtype::UInt32, "u32", "uint32", 4, false},
    {Dtype::UInt64, "u64", "uint64", 8, false},
    {Dtype::Fp8E5, "fp8e5", "float8_e5m2", 1, true},
    {Dtype::Fp8E4NV, "fp8e4nv", "float8_e4m3fn", 1, true},
    {Dtype::Fp8E4B8, "fp8e4b8", "float8_e4m3fnuz", 1, true},
    {Dtype::Fp8E5B16, "fp8e5b16", "float8_e5m2fnuz", 1, true},
    {Dtype::Fp16, "fp16", "float16", 2, true},
    {Dtype::BF16, "bf16", "bfloat16", 2, true},
    {Dtype::Fp32, "fp32", "float32", 4, true},
    {Dtype::Fp64, "fp64", "float64", 8, true},
};
} // namespace

const DtypeInfo &nereid::python::dtypeInfo(Dtype dtype) {
  return table[static_cast<unsigned>(dtype)];
}

Dtype nereid::python::findDtype(std::string_view name) {
  constexpr std::string_view torch = "torch.";
  if (name.substr(0, torch.size()) == torch)
    name.remove_prefix(torch.size());
  if (name == "u1" || name == "int1")
    return Dtype::Int1;
  if (name == "half")
    return Dtype::Fp16;
  if (name == "float")
    return Dtype::Fp32;
  if (name == "double")
    return Dtype::Fp64;
  for (const DtypeInfo &info : table)
    if (info.dtype != Dtype::None && (name == info.name || name == info.arrayName))
      return info.dtype;
  return Dtype::None;
}
