// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks: triton-ascend 3.2.0 sees a range in a comparison (slt, sle, sge, eq) of lanes
// that count up by one in one dimension with a value that is the same for all, in
// conjunctions of such, and in masks that are the same for all lanes. Addresses: it
// follows sums and products with uniform values; division, remainder, bits, minimum,
// maximum and lanes that are subtracted make every element a transfer of its own. Both
// lists were found by asking the tool (tests/ascend/test_fit.py asks it again).
#include "Target/Ascend/Fit/Blocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::fit;

bool Blocks::isUniform(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return true;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (!strides.get(value, unsigned(d)).isUniform())
      return false;
  return true;
}

bool Blocks::isRangeComparison(Operation *op) {
  auto compare = cast<arith::CmpIOp>(op);
  using P = arith::CmpIPredicate;
  Value lanes = compare.getLhs(), bound = compare.getRhs();
  P predicate = compare.getPredicate();
  if (isUniform(lanes) && !isUniform(bound)) {
    // The export writes the lanes on the left.
    std::swap(lanes, bound);
    predicate = predicate == P::sgt   ? P::slt
                : predicate == P::sge ? P::sle
                : predicate == P::sle ? P::sge
                : predicate == P::eq  ? P::eq
                                      : P::ne;
  }
  if (!llvm::is_contained({P::slt, P::sle, P::sge, P::eq}, predicate) || !isUniform(bound))
    return false;
  auto type = cast<RankedTensorType>(lanes.getType());
  unsigned counting = 0;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    TileStride stride = strides.get(lanes, unsigned(d));
    if (stride.isUniform())
      continue;
    if (!stride.isConstant(1) || !whyDiscrete(lanes, unsigned(d)).empty())
      return false;
    ++counting;
  }
  return counting <= 1;
}

MaskKind Blocks::maskOf(Value mask) {
  if (!mask || !isa<RankedTensorType>(mask.getType()) || isUniform(mask))
    return MaskKind::Range;
  if (auto argument = dyn_cast<BlockArgument>(mask))
    return isa_and_nonnull<LoopLikeOpInterface>(argument.getOwner()->getParentOp())
               ? MaskKind::Carried
               : MaskKind::Lanes;
  Operation *op = mask.getDefiningOp();
  if (isa<arith::AndIOp>(op))
    return std::max(maskOf(op->getOperand(0)), maskOf(op->getOperand(1)));
  if (isa<tt::BroadcastOp, tt::ExpandDimsOp>(op))
    return maskOf(op->getOperand(0));
  if (isa<arith::CmpIOp>(op) && isRangeComparison(op))
    return MaskKind::Range;
  return MaskKind::Lanes;
}

std::string Blocks::whyDiscrete(Value value, unsigned dim) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getDimSize(dim) == 1 || strides.get(value, dim).isUniform())
    return "";
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto argument = cast<BlockArgument>(value);
    auto loop = dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    return init ? whyDiscrete(init->get(), dim) : "they are computed elsewhere";
  }
  if (isa<tt::MakeRangeOp>(op))
    return "";
  if (isa<tt::LoadOp>(op))
    return "they are loaded from memory";
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op))
    return whyDiscrete(expand.getSrc(), dim < expand.getAxis() ? dim : dim - 1);
  if (auto trans = dyn_cast<tt::TransOp>(op))
    return whyDiscrete(trans.getSrc(), unsigned(trans.getOrder()[dim]));
  if (isa<tt::BroadcastOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, tt::BitcastOp>(op))
    return whyDiscrete(op->getOperand(0), dim);
  if (isa<arith::AddIOp, tt::AddPtrOp, arith::MulIOp>(op)) {
    std::string first = whyDiscrete(op->getOperand(0), dim);
    return first.empty() ? whyDiscrete(op->getOperand(1), dim) : first;
  }
  if (auto difference = dyn_cast<arith::SubIOp>(op))
    return isUniform(difference.getRhs()) ? whyDiscrete(difference.getLhs(), dim)
                                          : "lanes are subtracted";
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return "they are computed with a remainder";
  if (isa<arith::DivSIOp, arith::DivUIOp>(op))
    return "they are computed with a division";
  if (auto shift = dyn_cast<arith::ShLIOp>(op); shift && TileStrides::getConstant(shift.getRhs()))
    return whyDiscrete(shift.getLhs(), dim); // the export writes a product
  return "they are computed with " + op->getName().getStringRef().str();
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

int64_t nereid::fit::blockBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.getElementType().isIntOrFloat())
    return 0;
  return tensor.getNumElements() * (std::max(8u, tensor.getElementTypeBitWidth()) / 8);
}

/// What a value may be made of, one step back.
static void sourcesOf(Value value, SmallVectorImpl<Value> &sources) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_or_null<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    if (!loop)
      return;
    if (OpOperand *init = loop.getTiedLoopInit(argument))
      sources.push_back(init->get());
    if (OpOperand *yielded = loop.getTiedLoopYieldedValue(argument))
      sources.push_back(yielded->get());
    return;
  }
  Operation *op = value.getDefiningOp();
  if (isa<tt::LoadOp>(op))
    return;
  unsigned number = cast<OpResult>(value).getResultNumber();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (Operation *end = &block.back(); isa<scf::YieldOp>(end) && number < end->getNumOperands())
        sources.push_back(end->getOperand(number));
      else if (auto condition = dyn_cast<scf::ConditionOp>(end);
               condition && number < condition.getArgs().size())
        sources.push_back(condition.getArgs()[number]);
  if (!isa<scf::ForOp, scf::WhileOp>(op)) {
    llvm::append_range(sources, op->getOperands());
  } else if (number < op->getNumOperands()) {
    auto loop = cast<LoopLikeOpInterface>(op);
    if (number < loop.getInits().size())
      sources.push_back(loop.getInits()[number]);
  }
}

DenseSet<Value> nereid::fit::dataBlocks(ModuleOp module) {
  Blocks blocks;
  DenseSet<Value> data;
  SmallVector<Value> worklist;
  auto need = [&](Value value) {
    if (value && data.insert(value).second)
      worklist.push_back(value);
  };
  auto access = [&](Value pointer, Value mask) {
    if (blocks.maskOf(mask) != MaskKind::Range)
      need(mask);
    auto type = dyn_cast<RankedTensorType>(pointer.getType());
    for (int64_t d = 0; type && d < type.getRank(); ++d)
      if (!blocks.whyDiscrete(pointer, unsigned(d)).empty()) {
        need(pointer);
        return;
      }
  };
  module.walk([&](Operation *op) {
    if (auto load = dyn_cast<tt::LoadOp>(op)) {
      need(load.getResult());
      access(load.getPtr(), load.getMask());
    } else if (auto store = dyn_cast<tt::StoreOp>(op)) {
      need(store.getValue());
      access(store.getPtr(), store.getMask());
    } else if (isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op)) {
      for (Value operand : op->getOperands().drop_front())
        need(operand);
    } else if (isa<tt::ReduceOp, tt::ScanOp, tt::DotOp, tt::PrintOp, tt::AssertOp>(op)) {
      for (Value operand : op->getOperands())
        need(operand);
    }
  });
  SmallVector<Value> sources;
  while (!worklist.empty()) {
    sources.clear();
    sourcesOf(worklist.pop_back_val(), sources);
    for (Value source : sources)
      if (isa<RankedTensorType>(source.getType()))
        need(source);
  }
  return data;
}
