// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How blocks are loaded and stored: as rows, with masks that are ranges, or not.
#include "Target/Ascend/Fit/Blocks.h"
#include "Target/Ascend/Fit/Findings.h"
#include "Target/Ascend/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDFITACCESSES
#include "Target/Ascend/Passes.h.inc"

using namespace mlir;
using namespace nereid::fit;

namespace {

struct FitAccesses : impl::NereidFitAccessesBase<FitAccesses> {
  void runOnOperation() override {
    Blocks blocks;
    getOperation().walk([&](Operation *op) {
      if (auto load = dyn_cast<tt::LoadOp>(op))
        check(blocks, op, "load", load.getPtr(), load.getMask());
      else if (auto store = dyn_cast<tt::StoreOp>(op))
        check(blocks, op, "store", store.getPtr(), store.getMask());
    });
  }

private:
  static void check(Blocks &blocks, Operation *op, StringRef what, Value pointer, Value mask) {
    auto type = dyn_cast<RankedTensorType>(pointer.getType());
    if (!type || type.getNumElements() == 1)
      return;
    checkMask(blocks, op, what, pointer, mask);
    checkAddresses(blocks, op, what, pointer, type);
  }

  static void checkMask(Blocks &blocks, Operation *op, StringRef what, Value pointer, Value mask) {
    switch (blocks.maskOf(mask)) {
    case MaskKind::Range:
      return;
    case MaskKind::Carried:
      return report(op, checks::carried_mask, what);
    case MaskKind::Lanes:
      break;
    }
    if (what == "load")
      return report(op, checks::load_mask);
    report(op, checks::store_mask,
           isOfPeer(pointer) ? "; the memory is another rank's, which loses what it has written "
                               "there meanwhile"
                             : "");
  }

  static void checkAddresses(Blocks &blocks, Operation *op, StringRef what, Value pointer,
                             RankedTensorType type) {
    int64_t bytes =
        std::max(
            8u, tt::getElementBits(cast<tt::PointerType>(type.getElementType()).getPointeeType())) /
        8;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (type.getDimSize(d) == 1)
        continue;
      if (std::string why = blocks.whyDiscrete(pointer, unsigned(d)); !why.empty())
        return report(op, checks::discrete_access, what, d, why, type.getNumElements());
      TileStride stride = blocks.strides.get(pointer, unsigned(d));
      if (stride.isUniform())
        return report(op, checks::repeated_address, what, d);
      if (stride.isConstant() && stride.value < 0)
        return report(op, checks::backward_address, what, stride.value);
    }
    unsigned last = unsigned(type.getRank()) - 1;
    if (type.getDimSize(last) == 1)
      return;
    TileStride stride = blocks.strides.get(pointer, last);
    if (stride.kind == TileStride::Linear)
      return report(op, checks::strided_access, what, "a distance that is known at run time only");
    if (stride.isConstant() && !stride.isConstant(1))
      return report(op, checks::strided_access, what, bytesText(stride.value * bytes));
    if (!stride.isConstant(1))
      return; // a loop's, or what the analysis does not see
    int64_t row = type.getDimSize(last) * bytes;
    if (row % 32 != 0)
      report(op, checks::short_rows, what, row, 32 / std::min<int64_t>(bytes, 32));
  }
};

} // namespace
} // namespace nereid
