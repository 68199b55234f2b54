// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of addresses that a loop moves as a whole become the tile from before
// the loop plus carried scalars.
//
// Why: to an analysis of strides (TileStrides) an argument of a loop is opaque.
// A loop that carries `a_ptrs` and adds to it each round would lose that its
// rows are contiguous, and all its loads would go element by element; and a
// target would have to carry a tile of addresses in memory or registers from
// round to round.
//
// The idea: a value that the loop carries and that is the value from before it
// plus something uniform is that value from before plus a scalar, and only the
// scalar has to be carried.
//
//   a = a_ptrs                          s = 0
//   for i in range(n):                  for i in range(n):
//       x = load(a)              ->         x = load(a_ptrs + splat(s))
//       a += BLOCK_K * stride               s += BLOCK_K * stride
//
// What is carried instead: for a tile of pointers an i64 (elements), for a tile
// of integers a scalar of their type, for a block pointer an i32 for each
// dimension that moves. Nothing is said about what is *between* before and
// after: a movement is a chain of additions, subtractions, tl.advance,
// consume_token, and of choices (scf.if, a select with one condition) both of
// whose sides are movements. One more form is taken, a tile from outside the
// loop that each round adds as a whole: then the scalar counts rounds and the
// tile is multiplied by it.
//
// The rewriting changes the types of the loop's arguments and results in place.
// While it does, placeholders stand for the tiles, so that the chain of
// movements can still be read from the back edge (Movement::apply); only then
// do init + offset take their places.
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Transforms/Passes.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDSTRUCTURELOOPPOINTERS
#include "nereid/Transforms/Passes.h.inc"

using namespace mlir;

namespace {

//===----------------------------------------------------------------------===//
// Tiles that are the same in every lane
//===----------------------------------------------------------------------===//

bool isShapeOp(Operation *op) {
  return isa<tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp>(op);
}

bool isElementwise(Operation *op) {
  return op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         OpTrait::hasElementwiseMappableTraits(op) && isPure(op);
}

/// Can `tile` be computed as a scalar?
bool isUniform(Value tile) {
  if (!isa<RankedTensorType>(tile.getType()))
    return true;
  Operation *op = tile.getDefiningOp();
  if (!op)
    return false;
  if (isa<tt::SplatOp>(op) || matchPattern(op, m_Constant<SplatElementsAttr>(nullptr)))
    return true;
  if (isShapeOp(op))
    return isUniform(op->getOperand(0));
  return isElementwise(op) && llvm::all_of(op->getOperands(), isUniform);
}

/// The scalar that a uniform tile is made of.
Value getScalar(Value tile, OpBuilder &builder) {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  if (!type)
    return tile;
  Operation *op = tile.getDefiningOp();
  SplatElementsAttr constant;
  if (auto splat = dyn_cast<tt::SplatOp>(op))
    return splat.getSrc();
  if (matchPattern(op, m_Constant(&constant)))
    return arith::ConstantOp::create(builder, op->getLoc(),
                                     cast<TypedAttr>(constant.getSplatValue<Attribute>()));
  if (isShapeOp(op))
    return getScalar(op->getOperand(0), builder);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(getScalar(operand, builder));
  IRMapping mapping;
  mapping.map(op->getOperands(), operands);
  Operation *scalar = builder.clone(*op, mapping);
  scalar->getResult(0).setType(type.getElementType());
  return scalar->getResult(0);
}

Value toWidth(Value scalar, Type type, OpBuilder &builder) {
  unsigned from = scalar.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (from == to)
    return scalar;
  return arith::ExtSIOp::create(builder, scalar.getLoc(), type, scalar);
}

//===----------------------------------------------------------------------===//
// One view of scf.for and scf.while
//===----------------------------------------------------------------------===//

/// The values of a loop that are one carried value: region arguments and
/// results that hold it, and what the back edge sets it to.
struct Carried {
  OpOperand *init;
  OpOperand *yielded;
  SmallVector<BlockArgument, 2> arguments;
  SmallVector<OpResult, 1> results;
  /// While the loop is rewritten: tiles in place of `arguments`.
  SmallVector<Value, 2> placeholders;

  bool is(Value value) const {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument ? llvm::is_contained(arguments, argument)
                    : llvm::is_contained(placeholders, value);
  }
};

/// Value `index` of the loop. scf.while has two arguments for it: the one before its condition, and
/// the one after, if the condition hands it on. One that is not handed on as it is cannot be
/// followed through the loop: nullopt.
std::optional<Carried> getCarried(Operation *op, unsigned index) {
  Carried carried;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    carried.init = &loop.getInitArgsMutable()[index];
    carried.yielded = &(*loop.getYieldedValuesMutable())[index];
    carried.arguments.push_back(loop.getRegionIterArgs()[index]);
    carried.results.push_back(cast<OpResult>(loop.getResult(index)));
    return carried;
  }
  auto loop = cast<scf::WhileOp>(op);
  BlockArgument before = loop.getBeforeArguments()[index];
  carried.init = &loop.getInitsMutable()[index];
  carried.yielded = &loop.getYieldOp()->getOpOperand(index);
  carried.arguments.push_back(before);
  for (auto [i, value] : llvm::enumerate(loop.getConditionOp().getArgs())) {
    if (value != before)
      continue;
    carried.arguments.push_back(loop.getAfterArguments()[i]);
    carried.results.push_back(cast<OpResult>(loop.getResult(i)));
  }
  return carried.arguments.size() > 1 ? std::optional(carried) : std::nullopt;
}

unsigned getNumCarried(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return loop.getInitArgs().size();
  return cast<scf::WhileOp>(op).getInits().size();
}

/// Replaces the loop by one that carries `inits` too (their yields: themselves).
Operation *appendCarried(Operation *op, ValueRange inits, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    auto keep = [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
      return SmallVector<Value>(arguments.begin(), arguments.end());
    };
    return *loop.replaceWithAdditionalYields(rewriter, inits,
                                             /*replaceInitOperandUsesInLoop=*/false, keep);
  }
  auto loop = cast<scf::WhileOp>(op);
  SmallVector<Type> types(loop.getResultTypes());
  llvm::append_range(types, inits.getTypes());
  SmallVector<Value> operands(loop.getInits());
  llvm::append_range(operands, inits);
  auto extended = scf::WhileOp::create(rewriter, loop.getLoc(), types, operands);
  extended->setAttrs(loop->getAttrs());
  extended.getBefore().takeBody(loop.getBefore());
  extended.getAfter().takeBody(loop.getAfter());
  for (Value init : inits) {
    Value before = extended.getBeforeBody()->addArgument(init.getType(), loop.getLoc());
    Value after = extended.getAfterBody()->addArgument(init.getType(), loop.getLoc());
    extended.getConditionOp().getArgsMutable().append(before);
    extended.getYieldOp().getResultsMutable().append(after);
  }
  for (auto [i, result] : llvm::enumerate(loop.getResults()))
    result.replaceAllUsesWith(extended.getResult(i));
  rewriter.eraseOp(loop);
  return extended;
}

//===----------------------------------------------------------------------===//
// Movements
//===----------------------------------------------------------------------===//

enum class Kind { Pointer, Integer, Block };

/// How one carried tile moves: `value` is it, plus something uniform.
class Movement {
public:
  Movement(const Carried &carried) : carried(carried) {
    Type type = carried.init->get().getType();
    if (auto pointer = dyn_cast<tt::PointerType>(type)) {
      if (auto tile = dyn_cast<RankedTensorType>(pointer.getPointeeType())) {
        kind = Kind::Block;
        moves.assign(tile.getRank(), false);
        scalarType = IntegerType::get(type.getContext(), 32);
      }
    } else if (auto tile = dyn_cast<RankedTensorType>(type)) {
      if (isa<tt::PointerType>(tile.getElementType())) {
        kind = Kind::Pointer;
        scalarType = IntegerType::get(type.getContext(), 64);
      } else if (isa<IntegerType>(tile.getElementType())) {
        kind = Kind::Integer;
        scalarType = tile.getElementType();
      }
      moves.assign(1, true);
    }
  }

  /// Does the loop move the tile, always by uniform amounts?
  bool analyze() {
    if (!scalarType)
      return false;
    Value next = carried.yielded->get();
    if (carried.is(next))
      return false;
    if (canMove(next))
      return llvm::is_contained(moves, true);
    return isInvariantStep(next);
  }

  unsigned numScalars() const { return llvm::count(moves, true); }
  Type getScalarType() const { return scalarType; }

  /// `offsets` after the movement that `value` stands for.
  SmallVector<Value> apply(Value value, ArrayRef<Value> offsets);

  /// The tile at `offsets` from the one before the loop.
  Value materialize(Value init, ArrayRef<Value> offsets, Location loc, OpBuilder &builder) const;

private:
  const Carried &carried;
  std::optional<Kind> kind;
  Type scalarType;
  /// For each dimension of a block pointer (otherwise one entry): does it move?
  SmallVector<bool> moves;
  /// A tile from outside the loop that each iteration adds; the scalar counts
  /// iterations then.
  Value step;

  bool canMove(Value value);
  bool isInvariantStep(Value next);
  static bool isZero(Value value) { return matchPattern(value, m_Zero()); }
};

bool Movement::canMove(Value value) {
  if (carried.is(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto addPtr = dyn_cast<tt::AddPtrOp>(op))
    return isUniform(addPtr.getOffset()) && canMove(addPtr.getPtr());
  if (auto add = dyn_cast<arith::AddIOp>(op))
    return (isUniform(add.getRhs()) && canMove(add.getLhs())) ||
           (isUniform(add.getLhs()) && canMove(add.getRhs()));
  if (auto sub = dyn_cast<arith::SubIOp>(op))
    return isUniform(sub.getRhs()) && canMove(sub.getLhs());
  if (auto advance = dyn_cast<tt::AdvanceOp>(op)) {
    for (auto [i, offset] : llvm::enumerate(advance.getOffsets()))
      moves[i] |= !isZero(offset);
    return canMove(advance.getPtr());
  }
  if (auto consume = dyn_cast<distributed::ConsumeTokenOp>(op)) {
    // The dependence has to survive in some scalar.
    if (kind == Kind::Block)
      moves[0] = true;
    return canMove(consume.getValue());
  }
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return !isa<RankedTensorType>(select.getCondition().getType()) &&
           canMove(select.getTrueValue()) && canMove(select.getFalseValue());
  if (auto ifOp = dyn_cast<scf::IfOp>(op)) {
    unsigned index = cast<OpResult>(value).getResultNumber();
    return canMove(ifOp.thenYield().getOperand(index)) &&
           canMove(ifOp.elseYield().getOperand(index));
  }
  return false;
}

/// `carried + tile` with a tile from outside: after i rounds it is init + i * tile. Only one such
/// addition is taken, since the scalar counts rounds and nothing else.
bool Movement::isInvariantStep(Value next) {
  Operation *op = next.getDefiningOp();
  if (!op || !isa<tt::AddPtrOp, arith::AddIOp>(op) || !carried.is(op->getOperand(0)))
    return false;
  Region *outside = carried.arguments.front().getOwner()->getParentOp()->getParentRegion();
  Value tile = op->getOperand(1);
  if (!tile.getParentRegion()->isAncestor(outside))
    return false;
  step = tile;
  return true;
}

SmallVector<Value> Movement::apply(Value value, ArrayRef<Value> offsets) {
  if (carried.is(value))
    return SmallVector<Value>(offsets);
  Operation *op = value.getDefiningOp();
  OpBuilder builder(op);
  Location loc = op->getLoc();
  if (step) {
    Value one = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(scalarType, 1));
    return {arith::AddIOp::create(builder, loc, offsets[0], one)};
  }
  auto add = [&](Value from, Value uniform) {
    Value offset = apply(from, offsets)[0];
    Value amount = toWidth(getScalar(uniform, builder), scalarType, builder);
    return arith::AddIOp::create(builder, loc, offset, amount).getResult();
  };
  if (auto addPtr = dyn_cast<tt::AddPtrOp>(op))
    return {add(addPtr.getPtr(), addPtr.getOffset())};
  if (auto addOp = dyn_cast<arith::AddIOp>(op)) {
    bool left = isUniform(addOp.getRhs()) && canMove(addOp.getLhs());
    return {left ? add(addOp.getLhs(), addOp.getRhs()) : add(addOp.getRhs(), addOp.getLhs())};
  }
  if (auto sub = dyn_cast<arith::SubIOp>(op)) {
    Value offset = apply(sub.getLhs(), offsets)[0];
    return {arith::SubIOp::create(builder, loc, offset, getScalar(sub.getRhs(), builder))};
  }
  if (auto advance = dyn_cast<tt::AdvanceOp>(op)) {
    SmallVector<Value> moved = apply(advance.getPtr(), offsets);
    unsigned k = 0;
    for (auto [i, offset] : llvm::enumerate(advance.getOffsets())) {
      if (!moves[i])
        continue;
      if (!isZero(offset))
        moved[k] = arith::AddIOp::create(builder, loc, moved[k], offset);
      ++k;
    }
    return moved;
  }
  if (auto consume = dyn_cast<distributed::ConsumeTokenOp>(op)) {
    SmallVector<Value> moved = apply(consume.getValue(), offsets);
    auto again = distributed::ConsumeTokenOp::create(builder, loc, moved[0].getType(), moved[0],
                                                     consume.getToken());
    again->setDiscardableAttrs(consume->getDiscardableAttrDictionary());
    moved[0] = again;
    return moved;
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    SmallVector<Value> yes = apply(select.getTrueValue(), offsets),
                       no = apply(select.getFalseValue(), offsets);
    for (auto [a, b] : llvm::zip_equal(yes, no))
      a = arith::SelectOp::create(builder, loc, select.getCondition(), a, b);
    return yes;
  }
  // A branch: the scalars become further results of it.
  auto ifOp = cast<scf::IfOp>(op);
  unsigned index = cast<OpResult>(value).getResultNumber();
  SmallVector<Value> yes = apply(ifOp.thenYield().getOperand(index), offsets);
  SmallVector<Value> no = apply(ifOp.elseYield().getOperand(index), offsets);
  ifOp.thenYield().getResultsMutable().append(yes);
  ifOp.elseYield().getResultsMutable().append(no);
  SmallVector<Type> types(ifOp.getResultTypes());
  types.append(yes.size(), scalarType);
  builder.setInsertionPoint(ifOp);
  auto extended = scf::IfOp::create(builder, loc, types, ifOp.getCondition());
  extended->setAttrs(ifOp->getAttrs());
  extended.getThenRegion().takeBody(ifOp.getThenRegion());
  extended.getElseRegion().takeBody(ifOp.getElseRegion());
  unsigned numResults = ifOp.getNumResults();
  for (auto [i, result] : llvm::enumerate(ifOp.getResults()))
    result.replaceAllUsesWith(extended.getResult(i));
  ifOp.erase();
  return SmallVector<Value>(extended.getResults().drop_front(numResults));
}

Value Movement::materialize(Value init, ArrayRef<Value> offsets, Location loc,
                            OpBuilder &builder) const {
  if (kind == Kind::Block) {
    SmallVector<Value> all;
    unsigned k = 0;
    for (bool moving : moves)
      all.push_back(
          moving
              ? offsets[k++]
              : arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0)).getResult());
    return tt::AdvanceOp::create(builder, loc, init.getType(), init, all);
  }
  Type tileType = tt::getTypeLike(init.getType(), scalarType);
  Value tile = tt::SplatOp::create(builder, loc, tileType, offsets[0]);
  if (step) {
    Value wide = step;
    if (step.getType() != tileType)
      wide = arith::ExtSIOp::create(builder, loc, tileType, step);
    tile = arith::MulIOp::create(builder, loc, wide, tile);
  }
  if (kind == Kind::Pointer)
    return tt::AddPtrOp::create(builder, loc, init.getType(), init, tile);
  return arith::AddIOp::create(builder, loc, init, tile);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Stands for a tile until it can be computed.
Value makePlaceholder(Type type, Location loc, OpBuilder &builder) {
  return UnrealizedConversionCastOp::create(builder, loc, type, ValueRange()).getResult(0);
}

/// Rewrites the carried value `index` of the loop; returns the loop, which may
/// be a new one.
Operation *structure(Operation *op, unsigned index, IRRewriter &rewriter) {
  std::optional<Carried> carried = getCarried(op, index);
  if (!carried)
    return op;
  Movement movement(*carried);
  if (!movement.analyze())
    return op;

  Location loc = op->getLoc();
  rewriter.setInsertionPoint(op);
  Value zero = arith::ConstantOp::create(rewriter, loc,
                                         rewriter.getIntegerAttr(movement.getScalarType(), 0));
  unsigned first = getNumCarried(op), numExtra = movement.numScalars() - 1;
  SmallVector<Carried> extra;
  if (numExtra > 0) {
    op = appendCarried(op, SmallVector<Value>(numExtra, zero), rewriter);
    carried = getCarried(op, index);
    for (unsigned i = 0; i < numExtra; ++i)
      extra.push_back(*getCarried(op, first + i));
  }

  // The arguments and results become scalars; placeholders take over as tiles.
  Value init = carried->init->get();
  Type tileType = init.getType();
  // From here to the end the IR is not valid: types of the loop no longer fit its body.
  carried->init->set(zero);
  for (BlockArgument argument : carried->arguments) {
    rewriter.setInsertionPointToStart(argument.getOwner());
    Value placeholder = makePlaceholder(tileType, argument.getLoc(), rewriter);
    argument.replaceUsesWithIf(placeholder, [&](OpOperand &use) {
      return !isa<scf::ConditionOp>(use.getOwner()) || use.getOwner()->getParentOp() != op;
    });
    argument.setType(movement.getScalarType());
    carried->placeholders.push_back(placeholder);
  }
  rewriter.setInsertionPointAfter(op);
  for (OpResult result : carried->results) {
    SmallVector<Value> offsets = {result};
    for (Carried &scalar : extra)
      offsets.push_back(scalar.results.front());
    Value placeholder = makePlaceholder(tileType, loc, rewriter);
    result.replaceAllUsesWith(placeholder);
    result.setType(movement.getScalarType());
    rewriter.replaceOp(placeholder.getDefiningOp(),
                       movement.materialize(init, offsets, loc, rewriter));
  }

  // The back edge, then the tiles at the start of each region.
  SmallVector<Value> offsets = {carried->arguments.back()};
  for (Carried &scalar : extra)
    offsets.push_back(scalar.arguments.back());
  Operation *back = carried->yielded->getOwner();
  unsigned position = carried->yielded->getOperandNumber();
  SmallVector<Value> moved = movement.apply(carried->yielded->get(), offsets);
  back->setOperand(position, moved[0]);
  for (unsigned i = 0; i < numExtra; ++i)
    extra[i].yielded->set(moved[i + 1]);
  for (auto [i, argument] : llvm::enumerate(carried->arguments)) {
    Operation *placeholder = carried->placeholders[i].getDefiningOp();
    rewriter.setInsertionPoint(placeholder);
    offsets = {argument};
    for (Carried &scalar : extra)
      offsets.push_back(scalar.arguments[std::min<size_t>(i, scalar.arguments.size() - 1)]);
    rewriter.replaceOp(placeholder,
                       movement.materialize(init, offsets, argument.getLoc(), rewriter));
  }
  return op;
}

struct StructureLoopPointers : impl::NereidStructureLoopPointersBase<StructureLoopPointers> {
  void runOnOperation() override {
    // Inner loops first: what they do to a pointer of the outer loop becomes a
    // uniform movement there.
    SmallVector<Operation *> loops;
    getOperation()->walk([&](Operation *op) {
      if (isa<scf::ForOp, scf::WhileOp>(op))
        loops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *loop : loops) {
      unsigned count = getNumCarried(loop);
      for (unsigned i = 0; i < count; ++i)
        loop = structure(loop, i, rewriter);
    }
  }
};

} // namespace
} // namespace nereid
