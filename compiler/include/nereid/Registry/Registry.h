// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All targets, dialects, passes and pipelines of this build: what tools and the
// Python package start from.
#ifndef NEREID_REGISTRY_REGISTRY_H
#define NEREID_REGISTRY_REGISTRY_H

#include "nereid/Target/Target.h"

#include "mlir/IR/DialectRegistry.h"

namespace nereid {

/// The target of that name; null when this build has none (unknownTarget says so).
const Target *findTarget(std::string_view name);

/// Every dialect of the language and of the targets, with the interfaces that
/// lowerings need.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Every pass and pipeline by its command-line name.
void registerAllPasses();

} // namespace nereid

#endif // NEREID_REGISTRY_REGISTRY_H
