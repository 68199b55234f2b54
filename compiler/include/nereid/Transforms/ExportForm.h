// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every text for another compiler needs: no attributes that mean something to
// this project only, and names of operations as users write them, for errors.
#ifndef NEREID_TRANSFORMS_EXPORTFORM_H
#define NEREID_TRANSFORMS_EXPORTFORM_H

#include "nereid/Dialect/Triton/IR/Triton.h"

#include <string>

namespace nereid {

/// Removes the attributes of this project's dialects from `op` and, of a function, from
/// its arguments. A function then says whether it may be inlined.
void stripOwnAttributes(mlir::Operation *op);

/// "distributed.wait" as the user wrote it: "dl.wait".
std::string userNameOf(mlir::Operation *op);

} // namespace nereid

#endif // NEREID_TRANSFORMS_EXPORTFORM_H
