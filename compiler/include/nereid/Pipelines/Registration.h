// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All dialects, passes and pipelines, for tools and for the driver.
#ifndef NEREID_PIPELINES_REGISTRATION_H
#define NEREID_PIPELINES_REGISTRATION_H

#include "mlir/IR/DialectRegistry.h"

namespace nereid {

/// Every dialect that kernels and their lowering use, with the interfaces that
/// the lowering to LLVM needs.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Every pass and pipeline by its command-line name.
void registerAllPasses();

} // namespace nereid

#endif // NEREID_PIPELINES_REGISTRATION_H
