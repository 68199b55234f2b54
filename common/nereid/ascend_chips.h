// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ascend_chips.h - The models of Ascend NPUs -------------------------===//
//
// One row for each model of ascend_chips.def. Sizes are those of one AI core, in
// bytes; a core has one cube core and `vectorCores / aiCores` vector cores.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_ASCEND_CHIPS_H
#define NEREID_ASCEND_CHIPS_H

#include <cstdint>
#include <string_view>

namespace nereid {

struct AscendChip {
  const char *name;         ///< "ascend910b3"
  const char *compilerName; ///< of bishengir-compile: "Ascend910B3"
  int32_t aiCores;
  int32_t vectorCores;
  int64_t ub; ///< unified buffer, of the vector cores
  int64_t l1; ///< of the cube core, as the others
  int64_t l0a;
  int64_t l0b;
  int64_t l0c;
};

inline constexpr AscendChip ascendChips[] = {
#define NEREID_ASCEND_CHIP(name, compilerName, aiCores, vectorCores, ub, l1, l0a, l0b, l0c)        \
  {name, compilerName, aiCores, vectorCores, ub, l1, l0a, l0b, l0c},
#include "nereid/ascend_chips.def"
#undef NEREID_ASCEND_CHIP
};

/// The chip of that name, or null.
inline const AscendChip *findAscendChip(std::string_view name) {
  for (const AscendChip &chip : ascendChips)
    if (name == chip.name)
      return &chip;
  return nullptr;
}

/// Of the series 950, which has a compiler of its own.
inline bool isAscend950(const AscendChip &chip) {
  return std::string_view(chip.name).substr(0, 9) == "ascend950";
}

} // namespace nereid

#endif // NEREID_ASCEND_CHIPS_H
