// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From what upstream's front ends write to what targets take.
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Dialect/TritonGPU/IR/TritonGPU.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDIMPORTTTIR
#include "nereid/Transforms/Passes.h.inc"

using namespace mlir;

namespace {

bool isTensor(Type type) { return isa<RankedTensorType>(type); }

/// Functions that take or give tiles are part of their callers here.
void inlineFunctionsOfTiles(tt::FuncOp function) {
  auto noinline = function->getAttrOfType<BoolAttr>("noinline");
  if (!noinline || !noinline.getValue())
    return;
  if (llvm::any_of(function.getArgumentTypes(), isTensor) ||
      llvm::any_of(function.getResultTypes(), isTensor))
    function->setAttr("noinline", BoolAttr::get(function.getContext(), false));
}

/// Descriptors say whether their elements are signed; here operations do.
void dropSignedness(ModuleOp module) {
  module.walk([](tt::DescriptorReduceOp op) {
    Type element = op.getDesc().getType().getBlockType().getElementType();
    if (element.isUnsignedInteger())
      op->setAttr(attr::isUnsigned, UnitAttr::get(op.getContext()));
  });
  AttrTypeReplacer replacer;
  replacer.addReplacement([](IntegerType type) {
    return type.isSignless() ? type : IntegerType::get(type.getContext(), type.getWidth());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

/// A kernel that is given descriptors gets pointers in their place. Upstream
/// passes the sizes and the strides as arguments behind each descriptor.
LogicalResult expandDescriptorArguments(tt::FuncOp function) {
  if (!function.isPublic() || function.isExternal())
    return success();
  Block &entry = function.getBody().front();
  OpBuilder builder(&entry, entry.begin());
  SmallVector<Type> types(function.getArgumentTypes());
  for (unsigned i = 0; i < types.size(); ++i) {
    auto type = dyn_cast<tt::TensorDescType>(types[i]);
    if (!type)
      continue;
    RankedTensorType block = type.getBlockType();
    unsigned rank = block.getRank();
    bool complete = i + 2 * rank < types.size();
    for (unsigned d = 0; complete && d < rank; ++d)
      complete = types[i + 1 + d].isInteger(32) && types[i + 1 + rank + d].isInteger(64);
    if (!complete)
      return function.emitError() << "argument " << i << " is a descriptor without its sizes ("
                                  << rank << " of type i32) and strides (" << rank
                                  << " of type i64) behind it";
    BlockArgument descriptor = entry.getArgument(i);
    ValueRange all = entry.getArguments();
    Type pointer = tt::PointerType::get(block.getElementType(), 1);
    types[i] = pointer;
    descriptor.setType(pointer);
    auto made = tt::MakeTensorDescOp::create(builder, descriptor.getLoc(), type, descriptor,
                                             all.slice(i + 1, rank), all.slice(i + 1 + rank, rank));
    descriptor.replaceAllUsesExcept(made, made);
    for (StringRef name : {"tt.nv_tma_desc", "tt.tensordesc"})
      function.removeArgAttr(i, name);
  }
  function.setFunctionType(
      FunctionType::get(function.getContext(), types, function.getResultTypes()));
  return success();
}

struct ImportTTIR : impl::NereidImportTTIRBase<ImportTTIR> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    dropSignedness(module);
    for (auto function : module.getOps<tt::FuncOp>()) {
      inlineFunctionsOfTiles(function);
      if (failed(expandDescriptorArguments(function)))
        return signalPassFailure();
    }
    module.walk([](Operation *op) {
      if (!isa<ttg::BarrierOp, gpu::BarrierOp>(op))
        return;
      OpBuilder builder(op);
      tt::BarrierOp::create(builder, op->getLoc());
      op->erase();
    });
  }
};
} // namespace

void registerTTIRDialects(DialectRegistry &registry) {
  registry.insert<gpu::GPUDialect, ttg::TritonGPUDialect>();
}
} // namespace nereid
