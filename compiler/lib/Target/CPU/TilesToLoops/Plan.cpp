// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decisions, in this order; each looks at what the ones before have left
// inline:
//
//   1. must      what can only be read from a buffer: the source of a gather, of an uneven
//                reshape, of a split; tables of unequal constants
//   2. pays      users before operands: a load that may not move to its root, or has
//                several; an expensive element that several roots need, or one in an inner
//                loop, or that is repeated along a dimension (getCost, storeThreshold)
//   3. again     what is stored is a root of its own operands now: uses are collected anew,
//                and loads checked again, until nothing changes
//   4. in place  dots that may accumulate in their loop's buffer
//   5. deferred  stored tiles that a reduction reads first: its loops fill the buffer
//
// A buffer costs a store and loads of each element, computing twice costs the
// operations again; storeThreshold is where the buffer wins. Tiles of addresses
// are not stored to save work, and neither are integers that progress evenly:
// what makes them fast is that their structure is known.
//
// Why loads are different: they read memory at some time, and the plan moves
// that time. A load is computed at its root only when nothing between the two
// may write, wait or call (ordersMemory). If it has several roots, each of them
// reads memory for itself where that costs no more than reading a copy would
// (mayReadAgain); else the load fills a buffer and memory is read once. A store may still be such a
// root; whether its addresses and the load's keep apart is asked at run time (lowerStore), for
// which both need to be ranges (hasRange).
//
// visitTree() is how all of this looks through inline operations: from a root's
// dimensions to those of whatever is read, FixedDim where an operand has only
// one element, ComplexDim where a reshape mixes dimensions.
#include "Plan.h"

#include "nereid/Dialect/Distributed/IR/Distributed.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <set>

using namespace mlir;

namespace nereid::tiles {

/// Costs are in half operations per element; at this one a buffer pays.
static constexpr unsigned storeThreshold = 8;
static constexpr unsigned maxCost = 1000;
/// Of reading an element that lies beside its neighbours.
static constexpr unsigned readCost = 2;

bool hasTiles(Operation *op) {
  auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
  return llvm::any_of(op->getOperandTypes(), isTile) || llvm::any_of(op->getResultTypes(), isTile);
}

bool isInline(Operation *op) {
  if (op->getNumRegions() || op->getNumResults() == 0)
    return false;
  if (isa<tt::SplatOp, tt::MakeRangeOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::TransOp,
          tt::ReshapeOp, tt::SplitOp, tt::AddPtrOp, tt::BitcastOp, tt::IntToPtrOp, tt::PtrToIntOp,
          tt::FpToFpOp, tt::ClampFOp, tt::PreciseSqrtOp, tt::PreciseDivFOp, tt::MulhiUIOp,
          distributed::ConsumeTokenOp, arith::ConstantOp, ub::PoisonOp>(op))
    return true;
  if (isa<tt::LoadOp>(op))
    return true;
  if (auto call = dyn_cast<tt::ExternElementwiseOp>(op))
    return call.getPure();
  return OpTrait::hasElementwiseMappableTraits(op) && isMemoryEffectFree(op) &&
         isa<arith::ArithDialect, math::MathDialect>(op->getDialect());
}

bool TilePlan::isAlwaysStored(Value value) const {
  if (!getTile(value))
    return false;
  Operation *op = value.getDefiningOp();
  return !op || !isInline(op);
}

bool TilePlan::ordersMemory(Operation *op) {
  if (auto load = dyn_cast<tt::LoadOp>(op))
    return load.getIsVolatile();
  if (isa<tt::PrintOp, tt::AssertOp, distributed::AccessOp>(op))
    return false; // they write no memory of the user's
  if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>()) {
    bool orders = false;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          orders |= ordersMemory(&inner);
    if (orders || !isa<MemoryEffectOpInterface>(op))
      return orders;
  }
  return !isMemoryEffectFree(op);
}

//===----------------------------------------------------------------------===//
// Trees
//===----------------------------------------------------------------------===//

namespace {
class TreeVisitor {
public:
  TreeVisitor(const TilePlan &plan, llvm::function_ref<void(const TreeAccess &)> visit)
      : plan(plan), visit(visit) {}

  void walk(Value value, ArrayRef<int> dims, bool throughSelf) {
    if (!getTile(value))
      return;
    std::pair<void *, std::vector<int>> key(value.getAsOpaquePointer(), dims.vec());
    if (!seen.insert(key).second)
      return;
    if (!throughSelf && plan.isStored(value)) {
      visit({value, {}, dims});
      return;
    }
    Operation *op = value.getDefiningOp();
    if (!op || !isInline(op))
      return;
    if (auto load = dyn_cast<tt::LoadOp>(op))
      visit({value, load, dims});
    TypeSwitch<Operation *>(op)
        .Case<tt::ExpandDimsOp>([&](tt::ExpandDimsOp expand) {
          SmallVector<int> inner(dims);
          inner.erase(inner.begin() + expand.getAxis());
          walk(expand.getSrc(), inner, false);
        })
        .Case<tt::BroadcastOp>([&](tt::BroadcastOp broadcast) {
          SmallVector<int> inner(dims);
          for (auto [d, size] : llvm::enumerate(getTile(broadcast.getSrc()).getShape()))
            if (size == 1)
              inner[d] = FixedDim;
          walk(broadcast.getSrc(), inner, false);
        })
        .Case<tt::TransOp>([&](tt::TransOp trans) {
          SmallVector<int> inner(dims.size());
          for (auto [d, from] : llvm::enumerate(trans.getOrder()))
            inner[from] = dims[d];
          walk(trans.getSrc(), inner, false);
        })
        .Case<tt::ReshapeOp>([&](tt::ReshapeOp reshape) { walkReshape(reshape, dims); })
        .Case<tt::SplitOp>([&](tt::SplitOp split) {
          SmallVector<int> inner(dims);
          inner.push_back(FixedDim);
          walk(split.getSrc(), inner, false);
        })
        .Default([&](Operation *) {
          for (Value operand : op->getOperands())
            walk(operand, dims, false);
        });
  }

private:
  /// Dimensions of size 1 come and go; anything else mixes dimensions.
  void walkReshape(tt::ReshapeOp reshape, ArrayRef<int> dims) {
    ArrayRef<int64_t> from = getTile(reshape.getSrc()).getShape(),
                      to = reshape.getType().getShape();
    SmallVector<int> inner(from.size(), FixedDim);
    size_t d = 0;
    bool simple = true;
    for (size_t e = 0; e < from.size(); ++e) {
      if (from[e] == 1)
        continue;
      while (d < to.size() && to[d] == 1)
        ++d;
      simple &= d < to.size() && to[d] == from[e];
      if (!simple)
        break;
      inner[e] = dims[d++];
    }
    if (!simple)
      inner.assign(from.size(), ComplexDim);
    walk(reshape.getSrc(), inner, false);
  }

  const TilePlan &plan;
  llvm::function_ref<void(const TreeAccess &)> visit;
  std::set<std::pair<void *, std::vector<int>>> seen;
};
} // namespace

void TilePlan::visitTree(Value value, ArrayRef<int> dims, bool throughSelf,
                         llvm::function_ref<void(const TreeAccess &)> visit) const {
  TreeVisitor(*this, visit).walk(value, dims, throughSelf);
}

void TilePlan::visitTree(Value value, bool throughSelf,
                         llvm::function_ref<void(const TreeAccess &)> visit) const {
  if (!getTile(value))
    return;
  auto dims = llvm::to_vector(llvm::seq<int>(0, getTile(value).getRank()));
  visitTree(value, dims, throughSelf, visit);
}

ArrayRef<Operation *> TilePlan::getRoots(Value value) const {
  auto it = roots.find(value);
  return it == roots.end() ? ArrayRef<Operation *>() : ArrayRef<Operation *>(it->second);
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

unsigned TilePlan::getCost(Value value) {
  if (!getTile(value) || isStored(value))
    return 0;
  auto [it, inserted] = costs.try_emplace(value, 0);
  if (!inserted)
    return it->second;
  Operation *op = value.getDefiningOp();
  unsigned cost = 0;
  Type element = getElementTypeOrSelf(value.getType());
  if (auto load = dyn_cast<tt::LoadOp>(op); load && isQuickToRead(load))
    return costs[value] = readCost;
  if (isa<tt::LoadOp, tt::ExternElementwiseOp>(op))
    cost = storeThreshold;
  else if (isa<math::MathDialect>(op->getDialect()) &&
           !isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::FloorOp, math::CeilOp>(op))
    cost = 2 * storeThreshold;
  else if (isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp, arith::RemSIOp,
               arith::RemUIOp, tt::PreciseDivFOp, tt::PreciseSqrtOp, tt::FpToFpOp>(op))
    cost = storeThreshold;
  else if (isa<tt::ReshapeOp, tt::SplitOp>(op))
    cost = 2;
  else if (isa<arith::ArithDialect>(op->getDialect()) && !isa<arith::ConstantOp>(op))
    cost = isa<FloatType>(element) ? 2 : 1;
  for (Value operand : op->getOperands())
    cost = std::min(maxCost, cost + getCost(operand));
  costs[value] = cost;
  return cost;
}

/// The block's own operation that `op` is or lies in.
static Operation *ancestorIn(Block *block, Operation *op) {
  return block->findAncestorOpInBlock(*op);
}

bool TilePlan::canSink(Operation *load, Operation *root) const {
  if (root->getBlock() != load->getBlock())
    return false;
  for (Operation *op = load->getNextNode(); op && op != root; op = op->getNextNode())
    if (ordersMemory(op))
      return false;
  return true;
}

bool TilePlan::hasRange(Value pointers) {
  auto type = getTile(pointers);
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (strides.get(pointers, d).kind == TileStride::Unknown)
      return false;
  return true;
}

/// Reading the tile again costs no more than reading a copy of it: its elements lie side by
/// side, and its mask is quickly computed.
bool TilePlan::isQuickToRead(tt::LoadOp load) {
  auto type = getTile(load.getResult());
  if (!type || load.getIsVolatile() || !hasRange(load.getPtr()))
    return false;
  bool isDense = false;
  for (int64_t d = 0; d < type.getRank(); ++d)
    isDense |= type.getDimSize(d) > 1 && strides.get(load.getPtr(), d).isConstant(1);
  for (Value operand : {load.getMask(), load.getOther()})
    if (operand && getCost(operand) >= storeThreshold)
      return false;
  return isDense;
}

/// Whether each of the load's roots may read memory for itself: nothing between the load and
/// the last of them writes, waits or calls.
bool TilePlan::mayReadAgain(tt::LoadOp load, ArrayRef<Operation *> users) {
  return isQuickToRead(load) && llvm::all_of(users, [&](Operation *root) {
           if (!isa<tt::ReduceOp, tt::ScanOp, tt::StoreOp>(root) && !isInline(root))
             return false;
           auto store = dyn_cast<tt::StoreOp>(root);
           return canSink(load, root) && (!store || storeAllows(store, load));
         });
}

bool TilePlan::storeAllows(tt::StoreOp store, tt::LoadOp load) {
  return getTile(store.getPtr()) && getTile(load.getPtr()) && hasRange(store.getPtr()) &&
         hasRange(load.getPtr());
}

/// Shapes whose rows a reshape keeps whole, so that a vector of either lies in
/// one row of the other.
static bool isNiceReshape(tt::ReshapeOp reshape) {
  auto inner = [](RankedTensorType type) {
    for (int64_t size : llvm::reverse(type.getShape()))
      if (size != 1)
        return size;
    return int64_t(1);
  };
  int64_t from = inner(getTile(reshape.getSrc())), to = inner(reshape.getType());
  return from == to || (from >= 16 && to >= 16 && from % 16 == 0 && to % 16 == 0);
}

/// Looks through operations that only rename dimensions.
static Value skipViews(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tt::ExpandDimsOp, tt::BroadcastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

void TilePlan::collectUses(Operation *op) {
  for (Value result : op->getResults()) {
    if (!getTile(result))
      continue;
    SmallVector<Operation *, 2> &list = roots[result];
    auto add = [&](Operation *root) {
      if (!llvm::is_contained(list, root))
        list.push_back(root);
    };
    for (OpOperand &use : result.getUses()) {
      Operation *user = use.getOwner();
      if (!isInline(user)) {
        add(user);
        continue;
      }
      for (Value next : user->getResults()) {
        if (!getTile(next) || isStored(next))
          add(user);
        else
          for (Operation *root : getRoots(next))
            add(root);
      }
    }
    llvm::sort(list, [&](Operation *a, Operation *b) { return order.lookup(a) < order.lookup(b); });
  }
}

void TilePlan::decide(Operation *op, Value value) {
  ArrayRef<Operation *> users = getRoots(value);
  if (users.empty() || isStored(value))
    return;
  if (auto load = dyn_cast<tt::LoadOp>(op)) {
    bool sink = !load.getIsVolatile() && users.size() == 1 && canSink(op, users[0]);
    // A loop reads its initial values before anything in it runs.
    if (sink && ordersMemory(users[0]) && !isa<scf::ForOp, scf::WhileOp>(users[0])) {
      // The root writes while it reads: only a store with checkable addresses.
      auto store = dyn_cast<tt::StoreOp>(users[0]);
      sink = store && storeAllows(store, load);
    }
    if (!sink && !mayReadAgain(load, users))
      stored.insert(value);
    return;
  }
  if (getCost(value) == 0 || isa<arith::ConstantOp>(op))
    return;
  // A buffer of addresses would hide their structure.
  bool isPointer = isa<tt::PointerType>(getElementTypeOrSelf(value.getType()));
  bool isViewOnly =
      isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::SplatOp, tt::TransOp, distributed::ConsumeTokenOp>(
          op);
  if (isPointer || isViewOnly)
    return;
  unsigned cost = getCost(value);
  bool deeper = llvm::any_of(users, [&](Operation *root) {
    Operation *ancestor = ancestorIn(op->getBlock(), root);
    return ancestor && ancestor != root && isa<LoopLikeOpInterface>(ancestor);
  });
  // Integers that progress evenly are cheaper to compute than to read.
  auto type = getTile(value);
  bool isIndex = type.getElementType().isSignlessInteger();
  if (isIndex && !type.getElementType().isInteger(1)) {
    for (int64_t d = 0; isIndex && d < type.getRank(); ++d)
      isIndex = strides.get(value, d).kind != TileStride::Unknown;
    if (isIndex)
      return;
  }
  if ((users.size() > 1 && cost >= storeThreshold) || (deeper && cost >= storeThreshold / 2))
    stored.insert(value);
}

TilePlan::TilePlan(FunctionOpInterface function) {
  SmallVector<Operation *> ops;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    order[op] = ops.size();
    ops.push_back(op);
  });

  // Operands that an operation can only read from a buffer.
  for (Operation *op : ops) {
    auto need = [&](Value value) {
      if (getTile(value) && !isStored(value))
        stored.insert(value);
    };
    if (auto gather = dyn_cast<tt::GatherOp>(op))
      need(gather.getSrc());
    else if (auto reshape = dyn_cast<tt::ReshapeOp>(op)) {
      if (!isNiceReshape(reshape) && !reshape.getSrc().getDefiningOp<tt::SplatOp>() &&
          !TileStrides::getConstant(reshape.getSrc()))
        need(reshape.getSrc());
    } else if (auto split = dyn_cast<tt::SplitOp>(op)) {
      need(split.getSrc());
    } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
      if (dense && !dense.isSplat())
        stored.insert(constant.getResult());
    }
  }

  // Users come before their operands.
  for (Operation *op : llvm::reverse(ops)) {
    if (!isInline(op))
      continue;
    collectUses(op);
    for (Value result : op->getResults())
      if (getTile(result))
        decide(op, result);
    // Repeating an expensive element along a dimension repeats its work.
    if (auto broadcast = dyn_cast<tt::BroadcastOp>(op)) {
      Value core = skipViews(broadcast.getSrc());
      Operation *def = core.getDefiningOp();
      if (def && isInline(def) &&
          broadcast.getType().getNumElements() > getTile(core).getNumElements() &&
          !isa<tt::PointerType>(getElementTypeOrSelf(core.getType())) &&
          getTile(core).getNumElements() > 1 && getCost(core) >= storeThreshold &&
          !getRoots(op->getResult(0)).empty()) {
        auto type = getTile(core);
        bool isIndex = type.getElementType().isSignlessInteger();
        for (int64_t d = 0; isIndex && d < type.getRank(); ++d)
          isIndex = strides.get(core, d).kind != TileStride::Unknown;
        if (!isIndex)
          stored.insert(core);
      }
    }
  }
  // The costs and roots that led to the decisions change with them: what is
  // stored now is a root of its own operands.
  roots.clear();
  for (Operation *op : llvm::reverse(ops))
    collectUses(op);
  // A load that came to feed a stored tile or several of them is checked anew.
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *op : llvm::reverse(ops)) {
      auto load = dyn_cast<tt::LoadOp>(op);
      if (!load || !getTile(load.getResult()) || isStored(load.getResult()))
        continue;
      decide(op, load.getResult());
      changed |= isStored(load.getResult());
    }
    if (changed) {
      roots.clear();
      for (Operation *op : llvm::reverse(ops))
        collectUses(op);
    }
  }
  for (BlockArgument arg : function.getArguments())
    roots[arg];
  function->walk([&](Block *block) {
    for (BlockArgument arg : block->getArguments()) {
      if (!getTile(arg))
        continue;
      SmallVector<Operation *, 2> &list = roots[arg];
      for (OpOperand &use : arg.getUses()) {
        Operation *user = use.getOwner();
        if (!isInline(user) ||
            llvm::any_of(user->getResults(), [&](Value v) { return isStored(v); })) {
          if (!llvm::is_contained(list, user))
            list.push_back(user);
          if (!isInline(user))
            continue;
        }
        for (Value next : user->getResults())
          if (!isStored(next))
            for (Operation *root : getRoots(next))
              if (!llvm::is_contained(list, root))
                list.push_back(root);
      }
    }
  });
  findInPlaceAccumulators(function);
  deferStores(function);
}

SmallVector<tt::LoadOp> TilePlan::getFusedLoads(tt::StoreOp store) {
  SmallVector<tt::LoadOp> loads;
  for (Value operand : store->getOperands())
    visitTree(operand, /*throughSelf=*/false, [&](const TreeAccess &access) {
      if (access.load && !llvm::is_contained(loads, access.load))
        loads.push_back(access.load);
    });
  return loads;
}

//===----------------------------------------------------------------------===//
// Accumulators in place
//===----------------------------------------------------------------------===//

/// The loop argument that `dot`'s result becomes in the next iteration, through
/// a chain of dots that hand on their accumulators.
static BlockArgument nextIteration(tt::DotOp dot) {
  Value result = dot.getResult();
  for (OpOperand &use : result.getUses())
    if (auto yield = dyn_cast<scf::YieldOp>(use.getOwner()))
      if (auto loop = dyn_cast<scf::ForOp>(yield->getParentOp()))
        if (dot->getBlock() == loop.getBody())
          return loop.getRegionIterArg(use.getOperandNumber());
  if (result.hasOneUse())
    if (auto next = dyn_cast<tt::DotOp>(*result.user_begin()))
      if (next.getC() == result && next->getBlock() == dot->getBlock())
        return nextIteration(next);
  return {};
}

// acc = dot(a, b, acc) in a loop: the accumulator's buffer is read and written element by element
// by the dot itself, so the copy of the result to the buffer of the next round is not needed. That
// holds when all who read the old value come before the dot, or are the dot reading its own
// element.
void TilePlan::findInPlaceAccumulators(FunctionOpInterface function) {
  function->walk([&](tt::DotOp dot) {
    BlockArgument arg = nextIteration(dot);
    if (!arg || arg.getType() != dot.getType())
      return;
    // The result goes on to one argument only.
    unsigned yields = 0;
    for (Operation *user : dot.getResult().getUsers())
      yields += isa<scf::YieldOp>(user);
    if (yields > 1)
      return;
    auto previous = dot.getC().getDefiningOp<tt::DotOp>();
    if (previous && previous.getResult().hasOneUse() && inPlace.lookup(previous) == arg) {
      inPlace[dot] = arg;
      return;
    }
    // Nobody may want the old value once the dot has changed it: its readers
    // come before, or are this dot's initial value, element by element.
    for (Operation *root : getRoots(arg)) {
      Operation *at = ancestorIn(dot->getBlock(), root);
      if (!at || (at != dot && !at->isBeforeInBlock(dot)))
        return;
    }
    bool elementwise = true;
    for (Value operand : {dot.getA(), dot.getB()})
      visitTree(operand, false,
                [&](const TreeAccess &access) { elementwise &= access.value != arg; });
    visitTree(dot.getC(), false, [&](const TreeAccess &access) {
      if (access.value == arg)
        for (auto [d, from] : llvm::enumerate(access.dims))
          elementwise &= from == int(d);
    });
    if (elementwise)
      inPlace[dot] = arg;
  });
}

//===----------------------------------------------------------------------===//
// Filling buffers on the way
//===----------------------------------------------------------------------===//

// A softmax reads exp(x - max) twice: for its sum and for the quotient. The reduction's loops
// compute each element anyway, so they also fill the buffer. That moves the computation down to the
// reduction, with the loads and the reads of buffers in it: none of these may change in between.
bool TilePlan::tryDefer(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<arith::ConstantOp>(op) || !stored.contains(value))
    return false;
  ArrayRef<Operation *> users = getRoots(value);
  if (users.empty())
    return false;
  Operation *root = users.front();
  auto reduce = dyn_cast<tt::ReduceOp>(root);
  if (!reduce || root->getBlock() != op->getBlock())
    return false;
  auto type = getTile(value);
  if (getTile(reduce.getSrcs()[0]).getShape() != type.getShape())
    return false;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.getDimSize(d) > 1 && strides.get(value, d).isUniform())
      return false;
  // The reduction visits each element once, at the place where it lies.
  bool found = false, identity = true;
  for (Value src : reduce.getSrcs())
    visitTree(src, false, [&](const TreeAccess &access) {
      if (access.value != value)
        return;
      found = true;
      for (auto [d, from] : llvm::enumerate(access.dims))
        identity &= from == int(d) || type.getDimSize(d) == 1;
    });
  if (!found || !identity)
    return false;
  if (auto load = dyn_cast<tt::LoadOp>(op); load && load.getIsVolatile())
    return false;
  // Its own loads move down to the reduction, and so do its reads of buffers.
  bool movable = true;
  visitTree(value, /*throughSelf=*/true, [&](const TreeAccess &access) {
    if (access.load)
      movable &= canSink(access.load, root);
    else if (auto arg = dyn_cast<BlockArgument>(access.value)) {
      for (Operation *between = op; between && between != root; between = between->getNextNode())
        movable &= !inPlace.count(between);
    } else if (deferred.count(access.value)) {
      movable &= deferred.lookup(access.value) == root ||
                 order.lookup(deferred.lookup(access.value)) < order.lookup(root);
    }
  });
  return movable;
}

void TilePlan::deferStores(FunctionOpInterface function) {
  SmallVector<Value> candidates;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      if (getTile(result) && stored.contains(result))
        candidates.push_back(result);
  });
  for (Value value : candidates) {
    if (!tryDefer(value))
      continue;
    Operation *root = getRoots(value).front();
    deferred[value] = root;
    deferredTo[root].push_back(value);
  }
}

} // namespace nereid::tiles
