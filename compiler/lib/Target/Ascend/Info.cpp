// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What launches know of the target for Ascend's NPUs. No LLVM in here.
#include "nereid/Target/TargetInfo.h"
#include "nereid/ascend_chips.h"

namespace nereid {

const TargetInfo &infoOfAscend();

static std::vector<std::string_view> chipNames() {
  std::vector<std::string_view> names;
  for (const AscendChip &chip : ascendChips)
    names.emplace_back(chip.name);
  return names;
}

const TargetInfo &infoOfAscend() {
  using Kind = TargetOption::Kind;
  static const TargetInfo info = {
      "ascend",
      "files for CANN, the vendor's software of Ascend NPUs, and no device here runs them",
      "ascend910b",
      /*device=*/"",
      {
          {"fit_chip", Kind::Text, "ascend910b3", "the model that --emit=fit asks about",
           chipNames()},
          {"fit_grid", Kind::Number, "0", "programs of a launch, for --emit=fit; 0: not known"},
      },
      {
          {"fit", "json", true, "what will not compile or will be slow there (nereid fit)"},
          {"ttir", "ttir", true, "what the package triton-ascend 3.2 reads"},
      },
      {},
      [](const OptionValues &) { return std::string("triton-ascend 3.2"); },
  };
  return info;
}

} // namespace nereid
