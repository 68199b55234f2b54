// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// distributed.access of tiles: one call of the runtime for a whole tile.
//
// Addresses that progress evenly along each dimension are told as the address of
// the first element and strides. A mask that is a conjunction of terms, each of
// which depends on one dimension only, is told as one row of bytes for each
// dimension:
//
//     (rows[:, None] < m) & (cols[None, :] < n)      64 + 64 bytes, not 64 * 64
//
// Anything else is written out: a byte, or an address, for each element.
#include "TileEmitter.h"

#include "Target/CPU/Observed.h"
#include "nereid/abi.h"

using namespace mlir;

namespace nereid::tiles {

namespace {

/// The terms of a mask, by the dimension that each depends on.
struct MaskTerms {
  SmallVector<SmallVector<Value>> ofDim;
  bool separable = true;
};

MaskTerms separate(Value mask, TileStrides &strides) {
  MaskTerms terms;
  if (!mask)
    return terms;
  auto type = getTile(mask);
  terms.ofDim.resize(type.getRank());
  SmallVector<Value> work{mask};
  while (!work.empty()) {
    Value term = work.pop_back_val();
    if (auto known = TileStrides::getConstant(term); known && *known != 0)
      continue;
    if (auto both = term.getDefiningOp<arith::AndIOp>()) {
      llvm::append_range(work, both->getOperands());
      continue;
    }
    SmallVector<unsigned> varies;
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (type.getDimSize(d) != 1 && !strides.get(term, d).isUniform())
        varies.push_back(d);
    terms.separable &= varies.size() <= 1;
    terms.ofDim[varies.empty() ? 0 : varies.front()].push_back(term);
  }
  return terms;
}

unsigned innermost(ArrayRef<int64_t> shape) {
  for (unsigned d = shape.size(); d-- > 0;)
    if (shape[d] != 1)
      return d;
  return unsigned(shape.size()) - 1;
}

} // namespace

/// Bytes of the mask along one dimension.
static void fillRow(TileEmitter &emitter, Buffer *row, ArrayRef<Value> terms, int64_t rank,
                    int64_t dim, int64_t size, unsigned lanes) {
  emitter.nest({size}, 0, lanes, [&](ArrayRef<Index> along) {
    Indices at(rank, Index{Index::Scalar, emitter.constant(0)});
    at[dim] = along[0];
    Value all;
    for (Value term : terms) {
      Value holds = emitter.emitVector(term, at);
      all = all ? Value(arith::AndIOp::create(emitter.builder, emitter.loc, all, holds)) : holds;
    }
    emitter.storeToBuffer(row, all, along);
  });
}

void FunctionLowering::lowerAccess(distributed::AccessOp access) {
  OpBuilder builder(access);
  Location loc = access.getLoc();
  RankedTensorType type = getTile(access.getPtrs());
  ArrayRef<int64_t> shape = type.getShape();
  TileStrides &strides = plan.getStrides();
  Type element = tt::getPointeeType(type.getElementType());
  int64_t bytes = getStorageBytes(element);
  unsigned lanes = chooseLanes(*this, builder.getI32Type());

  auto fillTile = [&](Value value, Type stored, unsigned maxLanes) {
    Buffer *buffer = createBuffer(RankedTensorType::get(shape, stored), access->getBlock());
    TileEmitter emitter(*this, builder, loc, access);
    emitter.nest(shape, innermost(shape), maxLanes, [&](ArrayRef<Index> at) {
      emitter.storeToBuffer(buffer, emitter.emitVector(value, at), at);
    });
    buffer->touches.push_back(access);
    return buffer->pointer;
  };

  // Dimensions of one element say nothing.
  SmallVector<unsigned> dims;
  bool even = true;
  for (unsigned d = 0; d < shape.size(); ++d)
    if (shape[d] != 1) {
      dims.push_back(d);
      even &= strides.get(access.getPtrs(), d).kind != TileStride::Unknown;
    }
  even &= dims.size() <= cpu::kTileDims;
  MaskTerms terms = separate(access.getMask(), strides);

  cpu::ObservedTile tile;
  if (even) {
    TileEmitter emitter(*this, builder, loc, access);
    Indices first(shape.size(), Index{Index::Scalar, emitter.constant(0)});
    auto addressOf = [&](ArrayRef<Index> at) { return emitter.emit(access.getPtrs(), at); };
    tile.base = addressOf(first);
    auto toInteger = [&](Value pointer) -> Value {
      return LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), pointer);
    };
    for (unsigned d : dims) {
      TileStride stride = strides.get(access.getPtrs(), d);
      tile.shape.push_back(shape[d]);
      if (stride.isConstant()) {
        tile.strides.push_back(emitter.constant(stride.value * bytes));
      } else {
        Indices next = first;
        next[d] = {Index::Scalar, emitter.constant(1)};
        tile.strides.push_back(
            arith::SubIOp::create(builder, loc, toInteger(addressOf(next)), toInteger(tile.base)));
      }
    }
    tile.masks.resize(dims.size());
    if (terms.separable && !terms.ofDim.empty()) {
      // What depends on no dimension may have come to one of a single element.
      for (unsigned d = 0; d < shape.size(); ++d)
        if (!terms.ofDim[d].empty() && shape[d] == 1 && !dims.empty())
          llvm::append_range(terms.ofDim[dims.front()], std::exchange(terms.ofDim[d], {}));
      for (auto [i, d] : llvm::enumerate(dims)) {
        if (terms.ofDim[d].empty())
          continue;
        Buffer *row = createBuffer(builder.getI1Type(), shape[d], access->getBlock());
        TileEmitter rowEmitter(*this, builder, loc, access);
        fillRow(rowEmitter, row, terms.ofDim[d], int64_t(shape.size()), d, shape[d], lanes);
        row->touches.push_back(access);
        tile.masks[i] = row->pointer;
      }
    }
  } else {
    tile.shape.push_back(type.getNumElements());
    tile.strides.emplace_back();
    tile.masks.emplace_back();
    tile.addresses =
        fillTile(access.getPtrs(), type.getElementType(), chooseLanes(*this, builder.getI64Type()));
  }
  bool rowsDo = even && terms.separable && !dims.empty();
  if (access.getMask() && !rowsDo)
    tile.mask = fillTile(access.getMask(), builder.getI1Type(), lanes);

  Value program =
      cpu::ProgramOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()));
  Value site = cpu::SiteOp::create(builder, loc, builder.getI32Type());
  cpu::emitAccess(builder, loc, program, site, tile, cpu::accessKindOf(access), unsigned(bytes));
}

} // namespace nereid::tiles
