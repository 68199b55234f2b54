// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Registry/Registry.h"

#include "nereid/Pipelines/Common.h"
#include "nereid/Pipelines/TTIR.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

#include <memory>

namespace nereid {
#define NEREID_TARGET(NAME) std::unique_ptr<Target> create##NAME();
#include "Targets.def"
#undef NEREID_TARGET
} // namespace nereid

using namespace nereid;

static const std::vector<std::unique_ptr<Target>> &targets() {
  static const std::vector<std::unique_ptr<Target>> table = [] {
    std::vector<std::unique_ptr<Target>> rows;
#define NEREID_TARGET(NAME) rows.push_back(create##NAME());
#include "Targets.def"
#undef NEREID_TARGET
    return rows;
  }();
  return table;
}

const Target *nereid::findTarget(std::string_view name) {
  for (const std::unique_ptr<Target> &target : targets())
    if (target->info.name == name)
      return target.get();
  return nullptr;
}

void nereid::registerAllDialects(mlir::DialectRegistry &registry) {
  registerLanguageDialects(registry);
  for (const std::unique_ptr<Target> &target : targets())
    target->registerDialects(registry);
}

void nereid::registerAllPasses() {
  mlir::registerTransformsPasses();
  registerNereidTransformsPasses();
  registerTTIRPipelines();
  for (const std::unique_ptr<Target> &target : targets())
    target->registerPasses();
}
