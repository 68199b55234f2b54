// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Ascend/Passes.h"

#include "mlir/IR/AttrTypeSubElements.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDPLAINLOCATIONS
#include "Target/Ascend/Passes.h.inc"

using namespace mlir;

namespace {
struct PlainLocations : impl::NereidPlainLocationsBase<PlainLocations> {
  void runOnOperation() override {
    AttrTypeReplacer replacer;
    replacer.addReplacement([](FileLineColRange range) -> std::optional<Attribute> {
      return FileLineColLoc::get(range.getFilename(), range.getStartLine(), range.getStartColumn());
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/false,
                                          /*replaceLocs=*/true, /*replaceTypes=*/false);
  }
};
} // namespace
} // namespace nereid
