// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What code generation needs to know about a CPU.
#ifndef NEREID_TARGET_CPU_TARGETFEATURES_H
#define NEREID_TARGET_CPU_TARGETFEATURES_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace nereid::cpu {

/// Vector units of a CPU, and how LLVM names it.
struct TargetFeatures {
  unsigned vectorBits = 128; ///< width of the widest usable vector register
  unsigned vectorRegisters = 16;
  bool hasFMA = false;           ///< fused multiply-add on fp32 and fp64
  bool hasF16C = false;          ///< fp16 <-> fp32 conversions
  bool hasAVX512BF16 = false;    ///< vdpbf16ps
  bool hasMaskedVectors = false; ///< masked loads and stores of 4- and 8-byte elements (AVX2 on)
  bool hasByteMasks = false;     ///< ... of 1- and 2-byte elements (AVX-512BW)

  std::string triple;   ///< target triple, e.g. "x86_64-unknown-linux-gnu"
  std::string cpu;      ///< LLVM's name, e.g. "znver4"
  std::string features; ///< LLVM's feature string, "+avx2,-avx512f,..."

  /// Elements of `bits` bits in one vector register.
  unsigned lanes(unsigned bits) const { return vectorBits / bits; }

  /// The CPU this process runs on. `maxVectorBits` caps the vector width: 256
  /// gives the code of an AVX2 machine, 128 that of a machine without AVX.
  static TargetFeatures host(unsigned maxVectorBits = 512);

  /// A named x86-64 level, for cross-checks and ahead-of-time objects:
  /// "host", "x86-64-v2" (128 bits), "x86-64-v3" (AVX2), "x86-64-v4"
  /// (AVX-512). Anything else sets `error` and gives the host's.
  static TargetFeatures named(llvm::StringRef name, std::string *error = nullptr);
};

} // namespace nereid::cpu

#endif // NEREID_TARGET_CPU_TARGETFEATURES_H
