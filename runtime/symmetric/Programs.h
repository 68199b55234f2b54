// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Programs.h - Programs of a grid in words ---------------------------===//
#ifndef NEREID_RUNTIME_SYMMETRIC_PROGRAMS_H
#define NEREID_RUNTIME_SYMMETRIC_PROGRAMS_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace nereid::runtime {

/// The program of that number over all axes, and its vector core when there are
/// `lanes` of them: its place on each axis.
inline std::array<int32_t, 3> programId(const std::array<int32_t, 3> &grid, int32_t lanes,
                                        uint64_t linear) {
  uint64_t p = linear / uint64_t(lanes);
  uint64_t gx = uint64_t(grid[0]), gy = uint64_t(grid[1]);
  // Most grids are one-dimensional; divisions are slow.
  if (p < gx)
    return {int32_t(p), 0, 0};
  return {int32_t(p % gx), int32_t(p / gx % gy), int32_t(p / gx / gy)};
}

/// "0-3, 7" for one-dimensional grids, "(0, 1, 0), (2, 1, 0)" for others.
std::string programsText(const std::array<int32_t, 3> &grid, int32_t lanes,
                         std::vector<uint64_t> programs);

/// "==", ">=": of the comparison NRD_CMP_*.
const char *comparisonText(int comparison);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_SYMMETRIC_PROGRAMS_H
