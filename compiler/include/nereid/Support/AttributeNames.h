// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes by which parts of the compiler that do not know each other tell each other
// something: the front end, passes and targets. What only one target's own passes say
// to each other is named in that target. tests/check holds the code to this list.
#ifndef NEREID_SUPPORT_ATTRIBUTENAMES_H
#define NEREID_SUPPORT_ATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace nereid::attr {

//===--- on the module --------------------------------------------------------

/// bool: programs of the kernel may wait for each other, so that all of a launch must be
/// able to run. nereid-mark-spin-loops says so.
inline constexpr llvm::StringLiteral blocking = "nereid.blocking";
/// i32: threads of a program, where the kernel has code for single ones. Front end.
inline constexpr llvm::StringLiteral threads = "nereid.threads";
/// string: "vector", "cube" or "mixed" cores run the kernel. nereid-infer-launch-mode.
inline constexpr llvm::StringLiteral launchMode = "ascend.launch_mode";
/// i32: vector cores that run each program. nereid-split-vector-cores.
inline constexpr llvm::StringLiteral vectorCores = "ascend.lanes";
/// unit: the kernel divides its work by the number of vector cores. Front end.
inline constexpr llvm::StringLiteral asksVectorCores = "ascend.asks_sub_vec_num";

//===--- on a function and its arguments --------------------------------------

/// unit, on a function: it has a scope of the cube core. Front end.
inline constexpr llvm::StringLiteral cubeScope = "ascend.cube_scope";
/// unit, on an argument: a pointer into the symmetric heap. nereid-infer-symmetric-args.
inline constexpr llvm::StringLiteral symmetric = "nereid.symmetric";

//===--- on an operation ------------------------------------------------------

/// unit: the operation means its integers without sign (waits, reductions of descriptors).
inline constexpr llvm::StringLiteral isUnsigned = "nereid.unsigned";
/// unit, on a call: each thread of the program makes it. Front end.
inline constexpr llvm::StringLiteral eachThread = "nereid.each_thread";
/// string, on a call: the threads ("block", "warp") that make it together. Front end.
inline constexpr llvm::StringLiteral together = "nereid.together";
/// string, on a load, store or atomic of a thread: its memory order. Front end.
inline constexpr llvm::StringLiteral order = "nereid.order";
/// unit, on a barrier: only one vector core comes to it. nereid-split-vector-cores.
inline constexpr llvm::StringLiteral gated = "nereid.gated";
/// unit, on an atomic operation, or on a load or store of one thread that orders: observers
/// of the job are told of it (distributed.access says it of others). nereid-instrument-accesses.
inline constexpr llvm::StringLiteral observed = "nereid.observed";
/// i32, on a wait: its number among the waits of the kernel, for observers; the last of
/// `waitSlots` is for all others. A wait without one orders everything after it.
/// nereid-number-waits.
inline constexpr llvm::StringLiteral slot = "nereid.slot";
inline constexpr int waitSlots = 8;
/// i32, on consume_token, a load and its distributed.access: a bit for each slot of the waits
/// that it depends on; without it that is not known. nereid-number-waits, nereid-tie-loads.
inline constexpr llvm::StringLiteral tokens = "nereid.tokens";

} // namespace nereid::attr

#endif // NEREID_SUPPORT_ATTRIBUTENAMES_H
