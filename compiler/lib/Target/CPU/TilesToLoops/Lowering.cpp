// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks a function in program order, emits its roots, and cleans up.
//
// In program order, as buffers are bound to values when they are filled: a
// value is looked up by whoever reads it later, and a loop's argument stands
// for whatever its buffer holds then.
//
// Buffers get their places at the end, when it is known who touches them. A
// buffer is an interval of time (from its first to its last touch, whole loops
// counting as one) of some size; intervals that meet must not overlap in the
// scratch area. The largest first, each at the lowest place that is free during
// its life, is not optimal and good enough: kernels have a few large tiles,
// which fit beside each other either way.
#include "Lowering.h"
#include "nereid/Support/PassDiagnostics.h"
#include "nereid/Support/SpeedRemarks.h"

#include "KeptOperands.h"
#include "TileEmitter.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace nereid::tiles {

FunctionLowering::FunctionLowering(FunctionOpInterface function, const cpu::TargetFeatures &target,
                                   bool alone)
    : function(function), target(target), plan(function), isAlone(alone) {}
FunctionLowering::~FunctionLowering() = default;

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Buffer *FunctionLowering::createBuffer(Type element, int64_t count, Block *owner) {
  auto buffer = std::make_unique<Buffer>();
  buffer->element = element;
  buffer->shape = {count};
  buffer->bytes = llvm::alignTo(count * getStorageBytes(element), 64);
  buffer->owner = owner;
  Block &entry = function.getFunctionBody().front();
  OpBuilder builder(&entry, entry.begin());
  buffer->scratch = cpu::ScratchOp::create(builder, function.getLoc(), 0);
  buffer->pointer = buffer->scratch;
  buffers.push_back(std::move(buffer));
  return buffers.back().get();
}

Buffer *FunctionLowering::createBuffer(RankedTensorType type, Block *owner) {
  Buffer *buffer = createBuffer(type.getElementType(), type.getNumElements(), owner);
  buffer->shape.assign(type.getShape().begin(), type.getShape().end());
  return buffer;
}

Value FunctionLowering::getScalar(OpBuilder &builder, Value value) {
  Type type = getComputeType(value.getType(), /*isVector=*/false);
  if (type == value.getType())
    return value;
  Value &slot = scalars[value];
  if (!slot) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(value);
    slot = UnrealizedConversionCastOp::create(builder, value.getLoc(), type, value).getResult(0);
  }
  return slot;
}

void FunctionLowering::explain(Operation *op, const Twine &what, StringRef faster) {
  if (explained.insert(op).second)
    sayOfSpeed(op, what, faster);
}

/// Gives each buffer a place so that buffers in use at the same time do not
/// overlap. A buffer is in use from its first to its last touch, counted in the
/// block that owns it: a touch inside a loop of that block counts for the whole
/// loop.
void FunctionLowering::layOutScratch(int64_t start) {
  scratchEnd = start;
  DenseMap<Operation *, std::pair<int64_t, int64_t>> spans;
  int64_t clock = 0;
  auto number = [&](auto &self, Operation *op) -> void {
    int64_t start = clock++;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          self(self, &inner);
    spans[op] = {start, clock++};
  };
  number(number, function);

  struct Live {
    Buffer *buffer;
    int64_t from, to, offset;
  };
  SmallVector<Live> lives;
  bool structured = function.getFunctionBody().hasOneBlock();
  for (auto &buffer : buffers) {
    if (!buffer->scratch)
      continue;
    Live live{buffer.get(), INT64_MAX, -1, 0};
    for (Operation *touch : buffer->touches) {
      Operation *at = buffer->owner->findAncestorOpInBlock(*touch);
      if (!at || !structured)
        at = function; // shared between blocks: alive throughout
      live.from = std::min(live.from, spans[at].first);
      live.to = std::max(live.to, spans[at].second);
    }
    if (live.to < 0) {
      buffer->scratch.erase();
      continue;
    }
    lives.push_back(live);
  }
  // The largest first; each at the lowest place that is free for its life.
  llvm::stable_sort(lives, [](const Live &a, const Live &b) {
    return std::pair(a.buffer->atStart, a.buffer->bytes) >
           std::pair(b.buffer->atStart, b.buffer->bytes);
  });
  for (size_t i = 0; i < lives.size(); ++i) {
    SmallVector<std::pair<int64_t, int64_t>> taken;
    for (size_t j = 0; j < i; ++j)
      if (lives[j].from <= lives[i].to && lives[i].from <= lives[j].to)
        taken.push_back({lives[j].offset, lives[j].offset + lives[j].buffer->bytes});
    llvm::sort(taken);
    int64_t offset = start;
    for (auto [low, high] : taken) {
      if (offset + lives[i].buffer->bytes <= low)
        break;
      offset = std::max(offset, high);
    }
    lives[i].offset = offset;
    lives[i].buffer->scratch.setOffset(offset);
    scratchEnd = std::max(scratchEnd, offset + lives[i].buffer->bytes);
  }
}

//===----------------------------------------------------------------------===//
// Stored values
//===----------------------------------------------------------------------===//

/// A table of unequal constants becomes a global.
static Buffer *createTable(FunctionOpInterface function, arith::ConstantOp constant,
                           std::vector<std::unique_ptr<Buffer>> &buffers) {
  auto dense = cast<DenseElementsAttr>(constant.getValue());
  Type element = dense.getElementType(), storage = getStorageType(element);
  unsigned bits = storage.getIntOrFloatBitWidth();
  SmallVector<APInt> values;
  for (int64_t i = 0; i < dense.getNumElements(); ++i)
    values.push_back(isa<FloatType>(element)
                         ? (*(dense.value_begin<APFloat>() + i)).bitcastToAPInt()
                         : (*(dense.value_begin<APInt>() + i)).zextOrTrunc(bits));
  auto module = function->getParentOfType<ModuleOp>();
  OpBuilder builder(module.getBody(), module.getBody()->begin());
  auto integer = builder.getIntegerType(bits);
  auto attr =
      DenseElementsAttr::get(RankedTensorType::get({int64_t(values.size())}, integer), values);
  auto type = LLVM::LLVMArrayType::get(integer, values.size());
  std::string name;
  for (int n = 0;; ++n) {
    name = (Twine("__nereid_table_") + Twine(n)).str();
    if (!module.lookupSymbol(name))
      break;
  }
  auto global = LLVM::GlobalOp::create(builder, constant.getLoc(), type, /*isConstant=*/true,
                                       LLVM::Linkage::Internal, name, attr, /*alignment=*/64);
  auto buffer = std::make_unique<Buffer>();
  Block &entry = function.getFunctionBody().front();
  builder.setInsertionPointToStart(&entry);
  buffer->pointer = LLVM::AddressOfOp::create(builder, constant.getLoc(), global);
  buffer->element = element;
  auto shape = cast<RankedTensorType>(constant.getType()).getShape();
  buffer->shape.assign(shape.begin(), shape.end());
  buffers.push_back(std::move(buffer));
  return buffers.back().get();
}

void FunctionLowering::materialise(Operation *op, Value value) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    bind(value, createTable(function, constant, buffers));
    return;
  }
  if (plan.getDeferral(value) || plan.getRoots(value).empty())
    return;
  if (size_t uses = plan.getRoots(value).size(); isa<tt::LoadOp>(op) && uses > 1)
    sayOfSpeed(op, "load: goes through scratch memory, as " + Twine(uses) + " uses read it",
               "uses in the same block, with no store, wait or call in between, read memory "
               "themselves where its elements lie side by side");
  else if (isa<tt::LoadOp>(op))
    sayOfSpeed(op,
               "load: goes through scratch memory, as its use may write what it reads, or stands "
               "behind something that may",
               "whether a store does is asked at run time where both addresses are made of one "
               "base, tl.arange and steps; what orders memory is best behind the use");
  OpBuilder builder(op);
  Buffer *buffer = createBuffer(getTile(value), op->getBlock());
  storeTile(builder, op, value, buffer, /*throughSelf=*/true);
  bind(value, buffer);
}

//===----------------------------------------------------------------------===//
// Program order
//===----------------------------------------------------------------------===//

LogicalResult FunctionLowering::lowerBlock(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (Operation *op : ops)
    if (failed(lowerOp(op)))
      return failure();
  return success();
}

LogicalResult FunctionLowering::lowerOp(Operation *op) {
  if (auto store = dyn_cast<tt::StoreOp>(op)) {
    OpBuilder before(store);
    kept->noteStore(before, store);
  }
  if (op->getNextNode()) {
    OpBuilder after(op->getNextNode());
    kept->noteOrder(after, op);
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return lowerFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return lowerWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return lowerIf(branch);
  if (auto branch = dyn_cast<BranchOpInterface>(op))
    return lowerBranch(branch);
  if (isa<scf::YieldOp, scf::ConditionOp>(op))
    return success(); // their parents' matter
  if (!hasTiles(op)) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(lowerBlock(block)))
          return failure();
    return success();
  }
  tileOps.push_back(op);
  if (isInline(op)) {
    for (Value result : op->getResults())
      if (getTile(result) && plan.isStored(result))
        materialise(op, result);
    return success();
  }
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tt::StoreOp>([&](auto store) { return lowerStore(store); })
      .Case<tt::ReduceOp>([&](auto reduce) { return lowerReduce(reduce); })
      .Case<tt::ScanOp>([&](auto scan) { return lowerScan(scan); })
      .Case<tt::DotOp>([&](auto dot) { return lowerDot(dot); })
      .Case<distributed::AccessOp>([&](auto access) { return lowerAccess(access), success(); })
      .Case<tt::AtomicRMWOp>([&](auto atomic) { return lowerAtomicRMW(atomic); })
      .Case<tt::AtomicCASOp>([&](auto atomic) { return lowerAtomicCAS(atomic); })
      .Case<tt::MapElementwiseOp>([&](auto map) { return lowerMapElementwise(map); })
      .Case<tt::ExternElementwiseOp>([&](auto call) { return lowerExternElementwise(call); })
      .Case<tt::PrintOp>([&](auto print) { return lowerPrint(print); })
      .Case<tt::AssertOp>([&](auto assertion) { return lowerAssert(assertion); })
      .Case<tt::UnsplatOp>([&](auto unsplat) { return lowerUnsplat(unsplat), success(); })
      .Case<tt::JoinOp>([&](auto join) { return lowerJoin(join), success(); })
      .Case<tt::CatOp>([&](auto cat) { return lowerCat(cat), success(); })
      .Case<tt::GatherOp>([&](auto gather) { return lowerGather(gather), success(); })
      .Case<tt::HistogramOp>([&](auto histogram) { return lowerHistogram(histogram), success(); })
      .Case<tt::ElementwiseInlineAsmOp>([&](Operation *assembly) {
        return reportError(assembly->getLoc(), Diag::inline_assembly), failure();
      })
      .Default([&](Operation *other) {
        return reportError(other->getLoc(), Diag::tiles_unsupported,
                           other->getName().getStringRef()),
               failure();
      });
}

// Arguments of blocks have a buffer before anything is lowered: a branch to a block may stand
// before or behind it.
LogicalResult FunctionLowering::run(int64_t scratchStart) {
  for (Type type : function.getArgumentTypes())
    if (isa<RankedTensorType>(type))
      return function.emitError("takes a tile as an argument: inline it into its callers first");
  kept = std::make_unique<KeptOperands>(*this, function, isAlone);
  for (Block &block : function.getFunctionBody())
    for (BlockArgument arg : block.getArguments())
      if (auto type = getTile(arg))
        bind(arg, createBuffer(type, &block));
  for (Block &block : function.getFunctionBody())
    if (failed(lowerBlock(block)))
      return failure();
  layOutScratch(scratchStart);
  eraseTileOps();
  return success();
}

} // namespace nereid::tiles
