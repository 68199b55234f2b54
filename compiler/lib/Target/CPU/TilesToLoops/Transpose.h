// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies whose source is contiguous along another dimension than the target.
//
//   read L vectors along `from`          write L vectors along `to`
//
//     . . . . . . . .  <- to = i           | | | | | | | |
//     . . . . . . . .  <- to = i + 1       | | | | | | | |
//     ...                                  transposed in registers
#ifndef NEREID_LIB_CONVERSION_TILESTOLOOPS_TRANSPOSE_H
#define NEREID_LIB_CONVERSION_TILESTOLOOPS_TRANSPOSE_H

#include "TileEmitter.h"

namespace nereid::tiles {

/// Runs over `shape` in square blocks: `read` yields a vector along `from`,
/// `write` takes one along `to`. Returns false, having done nothing, when the
/// sizes are no multiples of a block.
bool transposedNest(TileEmitter &emitter, llvm::ArrayRef<int64_t> shape, unsigned from, unsigned to,
                    unsigned maxLanes, llvm::function_ref<mlir::Value(llvm::ArrayRef<Index>)> read,
                    llvm::function_ref<void(mlir::Value, llvm::ArrayRef<Index>)> write);

} // namespace nereid::tiles

#endif // NEREID_LIB_CONVERSION_TILESTOLOOPS_TRANSPOSE_H
