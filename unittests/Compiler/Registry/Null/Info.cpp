// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A target that makes text of kernels, to show what a target consists of.
#include "nereid/Target/TargetInfo.h"

namespace nereid {
const TargetInfo &infoOfNull();
}

const nereid::TargetInfo &nereid::infoOfNull() {
  using Kind = TargetOption::Kind;
  static const TargetInfo info = {
      "null",
      "a list of the kernel's operations",
      "cuda",
      /*device=*/"",
      {{"depth", Kind::Number, "1", "how deep to look"},
       {"num_warps", Kind::Number, "4", "known here, and only here"}},
      {{"ir", "mlir", true, "the simplified module", "simplify"},
       {"text", "txt", true, "names of operations, one a line"}},
      {{"dl", "simt_exec_region", "it has no threads", "write blocks"}},
      [](const OptionValues &) { return std::string("version 1"); },
  };
  return info;
}
