// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops, indices and buffers. Elements are in EmitElements.cpp, accesses to the
// user's memory in EmitMemory.cpp.
//
// emit(value, indices) is the whole idea: the elements of a tile at some place,
// computed by running its operation on the elements of its operands at their
// places. A tile never exists; what exists is a loop nest and an expression for
// its body.
//
// Hoisting is not left to a later pass. Every value that is made here has a
// depth, the innermost loop that it depends on, known from its indices
// (depthOf). It is emitted in front of the loops that it does not depend on
// (AtDepth) and remembered at that depth (memo), by operation and indices, so
// that a row's address is computed once for each row whoever asks for it.
// Closing a loop forgets what was made in it. Two rules keep this sound:
//
// - what is looked up again must have a depth that is recorded; a value of
//   unknown depth counts as depth 0, so sums with one go through addHere();
// - what writes the user's memory stands in the innermost loop; loads may be
//   hoisted, as their time within a root does not matter (Plan.cpp).
//
// A vector loop is written twice where masks are bounds:
//
//   for j = 0 .. min(n, bounds) rounded down    no masks: `fast`; each mask that is met adds
//                                               its bound to `bounds`, and the loop's end is
//                                               set when its body has been emitted
//   for j = there .. n                          masks evaluated; with a store's own bound, the
//                                               loop ends where nothing more is stored
//   one piece per power of two                  for what is left of n
#include "TileEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace nereid::tiles {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type getStorageType(Type element) {
  MLIRContext *context = element.getContext();
  if (isa<tt::PointerType>(element))
    return IntegerType::get(context, 64);
  if (element.isInteger(1))
    return IntegerType::get(context, 8);
  if (auto type = dyn_cast<FloatType>(element); type && type.getWidth() == 8)
    return IntegerType::get(context, 8);
  if (element.isBF16())
    return IntegerType::get(context, 16);
  return element;
}

Type getComputeType(Type element, bool isVector) {
  if (isa<tt::PointerType>(element) && !isVector)
    return LLVM::LLVMPointerType::get(element.getContext());
  return element.isInteger(1) || element.isBF16() ? element : getStorageType(element);
}

int64_t getStorageBytes(Type element) {
  return getStorageType(element).getIntOrFloatBitWidth() / 8;
}

//===----------------------------------------------------------------------===//
// Depths
//===----------------------------------------------------------------------===//

TileEmitter::AtDepth::AtDepth(TileEmitter &emitter, unsigned depth) : guard(emitter.builder) {
  assert(depth < emitter.levels.size());
  if (Operation *op = emitter.levels[depth].hoistBefore)
    emitter.builder.setInsertionPoint(op);
}

TileEmitter::TileEmitter(FunctionLowering &lowering, OpBuilder &builder, Location loc,
                         Operation *anchor, bool unwrapped)
    : builder(builder), loc(loc), lowering(lowering),
      strides(unwrapped ? lowering.getPlan().getUnwrappedStrides()
                        : lowering.getPlan().getStrides()),
      anchor(anchor) {
  levels.emplace_back();
}

unsigned TileEmitter::depthOf(ArrayRef<Index> indices) const {
  unsigned depth = 0;
  for (const Index &index : indices)
    depth = std::max(depth, depthOf(index.value));
  return depth;
}

void TileEmitter::recordDepth(Value value, unsigned depth) { depths.try_emplace(value, depth); }

std::optional<unsigned> TileEmitter::linearDim(ArrayRef<Index> indices) const {
  std::optional<unsigned> result;
  for (auto [d, index] : llvm::enumerate(indices)) {
    if (index.kind == Index::Vector || (index.kind == Index::Linear && result))
      return std::nullopt;
    if (index.kind == Index::Linear)
      result = d;
  }
  return result;
}

bool TileEmitter::isVector(ArrayRef<Index> indices) const {
  return llvm::any_of(indices, [](const Index &index) { return index.kind != Index::Scalar; });
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Value TileEmitter::constant(int64_t value) {
  Value &slot = constants[value];
  if (!slot) {
    AtDepth at(*this, 0);
    slot = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
  }
  return slot;
}

Value TileEmitter::add(Value a, Value b) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y)
    return constant(*x + *y);
  if (x && *x == 0)
    return b;
  if (y && *y == 0)
    return a;
  unsigned depth = std::max(depthOf(a), depthOf(b));
  Value &slot =
      levels[depth].memo[{1, uintptr_t(a.getAsOpaquePointer()), uintptr_t(b.getAsOpaquePointer())}];
  if (!slot) {
    AtDepth at(*this, depth);
    slot = arith::AddIOp::create(builder, loc, a, b);
    recordDepth(slot, depth);
  }
  return slot;
}

Value TileEmitter::addHere(Value a, Value b) {
  Value sum = arith::AddIOp::create(builder, loc, a, b);
  recordDepth(sum, levels.size() - 1);
  return sum;
}

Value TileEmitter::mul(Value a, int64_t b) {
  auto x = getConstantIntValue(a);
  if (x)
    return constant(*x * b);
  if (b == 1)
    return a;
  if (b == 0)
    return constant(0);
  Value factor = constant(b);
  unsigned depth = depthOf(a);
  Value &slot =
      levels[depth]
          .memo[{2, uintptr_t(a.getAsOpaquePointer()), uintptr_t(factor.getAsOpaquePointer())}];
  if (!slot) {
    AtDepth at(*this, depth);
    slot = arith::MulIOp::create(builder, loc, a, factor);
    recordDepth(slot, depth);
  }
  return slot;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static Index::Kind isScalarWidth(unsigned width) {
  return width == 1 ? Index::Scalar : Index::Linear;
}

Value TileEmitter::openLoop(int64_t n) {
  if (n == 1) {
    loops.push_back({});
    return constant(0);
  }
  return openLoop(0, n, 1, {});
}

Value TileEmitter::openLoop(int64_t from, int64_t n, int64_t step, ValueRange init) {
  Value low = constant(from), high = constant(n), by = constant(step);
  auto loop = scf::ForOp::create(builder, loc, low, high, by, init);
  if (!levels.back().hoistBefore)
    levels.back().hoistBefore = loop;
  loops.push_back(loop);
  levels.emplace_back();
  depths[loop.getInductionVar()] = levels.size() - 1;
  for (BlockArgument arg : loop.getRegionIterArgs())
    depths[arg] = levels.size() - 1;
  Block *body = loop.getBody();
  if (init.empty())
    builder.setInsertionPoint(body->getTerminator());
  else
    builder.setInsertionPointToEnd(body);
  return loop.getInductionVar();
}

ValueRange TileEmitter::getCarried() const { return scf::ForOp(loops.back()).getRegionIterArgs(); }

SmallVector<Value> TileEmitter::closeLoop(ValueRange yields) {
  scf::ForOp loop = loops.pop_back_val();
  if (!loop)
    return {};
  if (!yields.empty())
    scf::YieldOp::create(builder, loc, yields);
  levels.pop_back();
  builder.setInsertionPointAfter(loop);
  SmallVector<Value> results(loop.getResults());
  for (Value result : results)
    recordDepth(result, levels.size() - 1);
  return results;
}

void TileEmitter::vectorLoops(int64_t n, unsigned maxLanes, llvm::function_ref<void(Index)> body) {
  unsigned saved = lanes;
  int64_t width = std::min<int64_t>(maxLanes, llvm::bit_floor(uint64_t(n)));
  if (width == 1) {
    lanes = 1;
    body({Index::Scalar, openLoop(n)});
    closeLoop();
    lanes = saved;
    return;
  }
  int64_t main = n / width * width;
  lanes = width;
  if (main / width <= unrollLimit) {
    for (int64_t at = 0; at < main; at += width)
      body({Index::Linear, constant(at)});
  } else {
    vectorLoop(main, body);
  }
  int64_t at = main;
  for (int64_t piece = width / 2; piece >= 1; piece /= 2) {
    if (n - at < piece)
      continue;
    lanes = piece;
    body({piece == 1 ? Index::Scalar : Index::Linear, constant(at)});
    at += piece;
  }
  lanes = saved;
}

/// The whole vectors of the first `main` elements: a loop without the masks that
/// hold to the end of the loop, then one that evaluates them.
void TileEmitter::vectorLoop(int64_t main, llvm::function_ref<void(Index)> body) {
  const int64_t width = lanes;
  bounds.clear();
  storeBound = {};
  fast = !alwaysMasked;
  fastLevel = levels.size() - 1;
  Value counter = openLoop(0, main, width, {});
  scf::ForOp loop = loops.back();
  body({Index::Linear, counter});
  closeLoop();
  fast = false;
  if (!bounds.empty()) {
    Value high, end;
    {
      AtDepth at(*this, levels.size() - 1);
      high = constant(main);
      for (Value bound : bounds)
        high = arith::MinSIOp::create(builder, loc, high, bound);
      high = arith::MaxSIOp::create(builder, loc, high, constant(0));
      high = arith::AndIOp::create(builder, loc, high, constant(-width));
      end = constant(main);
      if (storeBound)
        end = arith::MinSIOp::create(builder, loc, end, storeBound);
    }
    loop.setUpperBound(high);
    bounds.clear();
    counter = openLoop(0, main, width, {});
    loop = loops.back();
    loop.setLowerBound(high);
    loop.setUpperBound(end);
    body({Index::Linear, counter});
    closeLoop();
  }
}

// `groups` sets of partial results are independent of each other: with one, each step would wait
// for the addition of the step before. The main loop takes them all in a round, the second one does
// the vectors that are left, into the first set.
SmallVector<Value>
TileEmitter::reductionLoops(Value base, int64_t start, int64_t n, unsigned width, unsigned groups,
                            ValueRange init,
                            llvm::function_ref<SmallVector<Value>(Index, ValueRange)> body) {
  unsigned saved = lanes, each = init.size() / groups;
  lanes = width;
  int64_t step = int64_t(width) * groups;
  int64_t unrolled = start + (n - start) / step * step, main = start + (n - start) / width * width;
  SmallVector<Value> carried(init);
  Value rest = constant(start);
  bool needsRest = main > unrolled;
  if (unrolled > start) {
    bounds.clear();
    fast = true;
    fastLevel = levels.size() - 1;
    Value counter = openLoop(start, unrolled, step, init);
    scf::ForOp loop = loops.back();
    SmallVector<Value> next;
    SmallVector<Value> now(getCarried());
    for (unsigned g = 0; g < groups; ++g)
      llvm::append_range(
          next, body({isScalarWidth(width), add(add(base, counter), constant(int64_t(g) * width))},
                     ValueRange(now).slice(g * each, each)));
    carried = closeLoop(next);
    fast = false;
    rest = constant(unrolled);
    if (!bounds.empty()) {
      // start + floor((min(bounds) - start) / step) * step
      AtDepth at(*this, levels.size() - 1);
      Value high = constant(unrolled);
      for (Value bound : bounds) {
        if (getConstantIntValue(base) != 0)
          bound = arith::SubIOp::create(builder, loc, bound, base);
        high = arith::MinSIOp::create(builder, loc, high, bound);
      }
      high = arith::MaxSIOp::create(builder, loc, high, constant(start));
      Value count = arith::SubIOp::create(builder, loc, high, constant(start));
      count = llvm::isPowerOf2_64(step)
                  ? Value(arith::AndIOp::create(builder, loc, count, constant(-step)))
                  : Value(arith::MulIOp::create(
                        builder, loc, arith::DivUIOp::create(builder, loc, count, constant(step)),
                        constant(step)));
      rest = arith::AddIOp::create(builder, loc, count, constant(start));
      loop.setUpperBound(rest);
      bounds.clear();
      needsRest = true;
    }
  }
  if (needsRest) {
    ValueRange first = ValueRange(carried).take_front(each);
    Value counter = openLoop(start, main, width, first);
    loops.back().setLowerBound(rest);
    SmallVector<Value> now(getCarried());
    SmallVector<Value> next = body({isScalarWidth(width), add(base, counter)}, now);
    SmallVector<Value> last = closeLoop(next);
    llvm::copy(last, carried.begin());
  }
  lanes = saved;
  return carried;
}

void TileEmitter::nest(ArrayRef<int64_t> shape, unsigned vectorDim, unsigned maxLanes, Body body) {
  Indices indices(shape.size());
  for (auto [d, size] : llvm::enumerate(shape))
    if (d != vectorDim)
      indices[d] = {Index::Scalar, openLoop(size)};
  vectorLoops(shape[vectorDim], maxLanes, [&](Index index) {
    indices[vectorDim] = index;
    current = indices;
    body(indices);
    current.clear();
  });
  for (size_t d = 0; d + 1 < shape.size(); ++d)
    closeLoop();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Value TileEmitter::toVector(Value scalar) {
  if (isa<VectorType>(scalar.getType()) || lanes == 1)
    return scalar;
  if (isa<LLVM::LLVMPointerType>(scalar.getType()))
    scalar = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), scalar);
  return vector::BroadcastOp::create(builder, loc, VectorType::get({lanes}, scalar.getType()),
                                     scalar);
}

static Type withLanesOf(Type element, Value like) {
  if (auto type = dyn_cast<VectorType>(like.getType()))
    return VectorType::get(type.getShape(), element);
  return element;
}

Value TileEmitter::toStorage(Value element, Type type) {
  if (type.isInteger(1))
    return arith::ExtUIOp::create(builder, loc, withLanesOf(builder.getI8Type(), element), element);
  if (isa<LLVM::LLVMPointerType>(element.getType()))
    return LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), element);
  if (type.isBF16())
    return arith::BitcastOp::create(builder, loc, withLanesOf(builder.getI16Type(), element),
                                    element);
  return element;
}

Value TileEmitter::fromStorage(Value element, Type type) {
  if (type.isInteger(1)) {
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element.getType()));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, element, zero);
  }
  if (type.isBF16())
    return arith::BitcastOp::create(builder, loc, withLanesOf(type, element), element);
  if (isa<tt::PointerType>(type) && !isa<VectorType>(element.getType()))
    return LLVM::IntToPtrOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
                                    element);
  return element;
}

Value TileEmitter::flatten(ArrayRef<int64_t> shape, ArrayRef<Index> indices) {
  Value offset = constant(0);
  int64_t step = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    if (indices[d].kind != Index::Vector)
      offset = add(offset, mul(indices[d].value, step));
    step *= shape[d];
  }
  return offset;
}

Value TileEmitter::indexVector(Index index) {
  if (index.kind == Index::Vector)
    return index.value;
  Value base = toVector(index.value);
  if (index.kind == Index::Scalar)
    return base;
  auto iota = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
  Value step = arith::ConstantOp::create(builder, loc, builder.getI64VectorAttr(iota));
  return arith::AddIOp::create(builder, loc, base, step);
}

Value TileEmitter::advance(Value pointer, Type storage, Value offset) {
  if (auto value = getConstantIntValue(offset); value && *value == 0)
    return pointer;
  return LLVM::GEPOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
                             storage, pointer, ValueRange{offset});
}

Value TileEmitter::loadFromBuffer(Buffer *buffer, ArrayRef<int64_t> shape,
                                  ArrayRef<Index> indices) {
  Type storage = getStorageType(buffer->element);
  int64_t bytes = getStorageBytes(buffer->element);
  Value offset = flatten(shape, indices);
  auto step = [&](unsigned dim) {
    int64_t product = 1;
    for (size_t d = dim + 1; d < shape.size(); ++d)
      product *= shape[d];
    return product;
  };
  Value result;
  if (!isVector(indices)) {
    result = LLVM::LoadOp::create(builder, loc, storage, advance(buffer->pointer, storage, offset),
                                  bytes);
  } else if (auto dim = linearDim(indices); dim && step(*dim) == 1) {
    auto type = VectorType::get({lanes}, storage);
    result =
        LLVM::LoadOp::create(builder, loc, type, advance(buffer->pointer, storage, offset), bytes);
  } else {
    // Lanes lie apart.
    Value elements = toVector(offset);
    for (auto [d, index] : llvm::enumerate(indices)) {
      if (index.kind == Index::Scalar)
        continue;
      Value part =
          index.kind == Index::Vector ? index.value : indexVector({Index::Linear, constant(0)});
      Value scale = toVector(constant(step(d)));
      part = arith::MulIOp::create(builder, loc, part, scale);
      elements = arith::AddIOp::create(builder, loc, elements, part);
    }
    Value addresses = arith::MulIOp::create(builder, loc, elements, toVector(constant(bytes)));
    addresses = arith::AddIOp::create(builder, loc, addresses, toVector(buffer->pointer));
    result = loadGather(storage, addresses, {}, {});
  }
  return fromStorage(result, buffer->element);
}

void TileEmitter::storeAt(Value base, Type element, Value offset, Value value) {
  Value stored = toStorage(value, element);
  LLVM::StoreOp::create(builder, loc, stored, advance(base, getStorageType(element), offset),
                        getStorageBytes(element));
}

void TileEmitter::storeToBuffer(Buffer *buffer, Value element, ArrayRef<Index> indices) {
  buffer->touches.push_back(anchor);
  Value offset = flatten(buffer->shape, indices);
  auto dim = linearDim(indices);
  if (!dim) {
    storeAt(buffer->pointer, buffer->element, offset, element);
    return;
  }
  int64_t step = 1;
  for (size_t d = *dim + 1; d < buffer->shape.size(); ++d)
    step *= buffer->shape[d];
  if (step == 1) {
    storeAt(buffer->pointer, buffer->element, offset, toVector(element));
    return;
  }
  int64_t bytes = getStorageBytes(buffer->element);
  Value first = toVector(advance(buffer->pointer, getStorageType(buffer->element), offset));
  Value apart = arith::MulIOp::create(builder, loc, indexVector({Index::Linear, constant(0)}),
                                      toVector(constant(step * bytes)));
  Value addresses = arith::AddIOp::create(builder, loc, first, apart);
  storeScatter(toStorage(toVector(element), buffer->element), addresses, {});
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value TileEmitter::emit(Value value, ArrayRef<Index> at) {
  RankedTensorType type = getTile(value);
  if (!type)
    return lowering.getScalar(builder, value);
  // Along a dimension where all elements are equal, the first one will do.
  Indices indices(at);
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.getDimSize(d) == 1 || strides.get(value, d).isUniform())
      indices[d] = {Index::Scalar, constant(0)};
  std::vector<uintptr_t> key = {3, uintptr_t(value.getAsOpaquePointer())};
  for (const Index &index : indices)
    key.push_back(uintptr_t(index.value.getAsOpaquePointer()) | index.kind);
  unsigned depth = depthOf(indices);
  if (auto it = levels[depth].memo.find(key); it != levels[depth].memo.end())
    return it->second;

  Value result;
  {
    AtDepth place(*this, depth);
    auto fill = filled.find(value);
    Buffer *buffer = lowering.lookup(value);
    if (fill != filled.end()) {
      result = emitOp(value, indices);
    } else if (buffer && !direct.contains(value)) {
      buffer->touches.push_back(anchor);
      result = loadFromBuffer(buffer, type.getShape(), indices);
    } else {
      result = emitOp(value, indices);
    }
    recordDepth(result, depth);
  }
  if (auto fill = filled.find(value); fill != filled.end()) {
    AtDepth place(*this, depth);
    storeToBuffer(fill->second, result, indices);
  }
  levels[depth].memo[key] = result;
  return result;
}

Value TileEmitter::emitVector(Value value, ArrayRef<Index> indices) {
  return toVector(emit(value, indices));
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

unsigned chooseLanes(FunctionLowering &lowering, Type element) {
  unsigned bits = getStorageType(element).getIntOrFloatBitWidth();
  unsigned width = std::max(128u, lowering.getTarget().vectorBits);
  if (isa<FloatType>(element) || element.isInteger(1))
    bits = std::max(bits, 32u); // computed in fp32
  return width / std::clamp(bits, 16u, 64u);
}

// A vote of everything that is read and of what is stored: dimensions along which elements lie side
// by side win, those whose addresses are not related lose.
unsigned chooseVectorDim(FunctionLowering &lowering, RankedTensorType type, ValueRange trees,
                         bool throughSelf, Value storedThrough) {
  TilePlan &plan = lowering.getPlan();
  TileStrides &strides = plan.getStrides();
  SmallVector<int> scores(type.getRank(), 0);
  auto addStride = [&](int dim, TileStride stride, int weight) {
    if (dim < 0)
      return;
    if (stride.isConstant(1))
      scores[dim] += 4 * weight;
    else if (stride.kind == TileStride::Linear)
      scores[dim] += weight;
    else if (!stride.isUniform())
      scores[dim] -= 4 * weight;
  };
  for (Value tree : trees) {
    if (!getTile(tree) || getTile(tree).getShape() != type.getShape())
      continue;
    plan.visitTree(tree, throughSelf, [&](const TreeAccess &access) {
      auto shape = getTile(access.value).getShape();
      for (auto [d, from] : llvm::enumerate(access.dims)) {
        if (from < 0 || shape[d] == 1)
          continue;
        if (access.load) {
          addStride(from, strides.get(access.load->getOperand(0), d), 2);
        } else {
          bool inner =
              llvm::all_of(shape.drop_front(d + 1), [](int64_t size) { return size == 1; });
          scores[from] += inner ? 4 : -4;
        }
      }
    });
  }
  if (storedThrough)
    for (int64_t d = 0; d < type.getRank(); ++d)
      addStride(d, strides.get(storedThrough, d), 2);
  // The innermost of equals; short dimensions waste lanes.
  int best = -1;
  for (int d = type.getRank(); d-- > 0;) {
    int64_t size = type.getDimSize(d);
    if (size == 1)
      continue;
    if (size < 4)
      scores[d] -= 16;
    else if (size < 8)
      scores[d] -= 3;
    if (best < 0 || scores[d] > scores[best])
      best = d;
  }
  return best < 0 ? type.getRank() - 1 : best;
}

} // namespace nereid::tiles
