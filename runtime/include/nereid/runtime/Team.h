// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Team.h - Subsets of the ranks of a job --------------------*- C++ -*-===//
//
// A team is a subset of the ranks, in order; its members are numbered from 0.
// A team is named by a handle, a plain integer that kernels take as an argument:
// 0 is the whole job (NRD_TEAM_WORLD), the other fixed ones are in abi.h,
// NRD_TEAM_INVALID (-1) has no members. Handles are the same on all ranks, also
// on those that are no members.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_TEAM_H
#define NEREID_RUNTIME_TEAM_H

#include "nereid/runtime/Job.h"

#include <array>

namespace nereid::runtime {

/// Collective over the members of `parent`: the team of the members start,
/// start + stride, ... (`size` of them) of `parent`. stride is at least 1.
/// Errors: InvalidArgument (also when this rank is not a member of `parent`),
/// Mismatch when members pass different numbers, OutOfMemory when there are
/// kMaxTeams teams.
Expected<int32_t> teamSplitStrided(Job &job, int32_t parent, int32_t start, int32_t stride,
                                   int32_t size);

/// Collective over the members of `parent`, which are laid out row by row,
/// `xRange` in a row: the team of this rank's row and that of its column.
/// Errors as teamSplitStrided.
Expected<std::array<int32_t, 2>> teamSplit2D(Job &job, int32_t parent, int32_t xRange);

/// Collective over the members of `team`: its handle becomes invalid. Teams
/// that nobody made cannot be destroyed.
Status teamDestroy(Job &job, int32_t team);

/// Barrier among the hosts of the members.
Status teamBarrier(Job &job, int32_t team);

/// Ranks of the members in order. Errors: InvalidArgument for a handle that is
/// no team; NRD_TEAM_INVALID gives an empty list.
Expected<std::vector<int32_t>> teamRanks(Job &job, int32_t team);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_TEAM_H
