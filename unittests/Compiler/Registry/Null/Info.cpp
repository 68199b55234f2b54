// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A target that makes text of kernels, to show what a target consists of. What the
// device `null` of the runtime loads is text, too.
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
      /*device=*/"null",
      {{"depth", Kind::Number, "1", "how deep to look"},
       {"num_warps", Kind::Number, "4", "known here, and only here"}},
      {{"ir", "mlir", true, "the simplified module", "simplify"},
       {"text", "txt", true, "names of operations, one a line"},
       {"kernel", "txt", true, "what a launch must know of the kernel"}},
      {{"dl", "simt_exec_region", "it has no threads", "write blocks"}},
      [](const OptionValues &) { return std::string("version 1"); },
  };
  return info;
}
