// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "symmetric/Programs.h"

#include <algorithm>

namespace nereid::runtime {

const char *comparisonText(int comparison) {
  static const char *texts[] = {"==", "!=", ">", "<=", "<", ">="};
  return comparison >= 0 && comparison < 6 ? texts[comparison] : "==";
}

std::string programsText(const std::array<int32_t, 3> &grid, int32_t lanes,
                         std::vector<uint64_t> programs) {
  std::sort(programs.begin(), programs.end());
  const bool flat = grid[1] == 1 && grid[2] == 1 && lanes == 1;
  std::string out;
  int items = 0;
  for (size_t i = 0; i < programs.size();) {
    size_t end = i + 1;
    while (flat && end < programs.size() && programs[end] == programs[end - 1] + 1)
      ++end;
    if (!out.empty())
      out += ", ";
    if (++items > 8) {
      out += "...";
      break;
    }
    if (flat) {
      out += std::to_string(programs[i]);
      if (end - i > 1)
        out += (end - i > 2 ? "-" : ", ") + std::to_string(programs[end - 1]);
    } else {
      std::array<int32_t, 3> id = programId(grid, lanes, programs[i]);
      out += "(" + std::to_string(id[0]) + ", " + std::to_string(id[1]) + ", " +
             std::to_string(id[2]) + ")";
      if (lanes > 1)
        out += " vector core " + std::to_string(programs[i] % uint64_t(lanes));
    }
    i = end;
  }
  return out;
}

} // namespace nereid::runtime
