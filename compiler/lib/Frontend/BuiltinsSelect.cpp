// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: selection and gathering.
#include "Rules.h"

using namespace nereid;
using namespace nereid::frontend;

Tensor nereid::frontend::where(Semantic &s, const Value &conditionValue, const Value &x,
                               const Value &y, const SourceRange &range) {
  Tensor condition = s.toBool(s.toTensor(conditionValue, range), range);
  auto [a, b] = s.operands(x, y, {"tl.where", true, true}, range);
  if (a.type.element() != b.type.element())
    failOperands(Diag::operands_invalid, range, x, y, "tl.where", x.describe(), y.describe(),
                 "both must be pointers to the same type, or neither");
  if (condition.type.isBlock() || a.type.isBlock()) {
    auto [c1, a1] = s.broadcast(condition, a, "tl.where", range);
    auto [c2, b1] = s.broadcast(c1, b, "tl.where", range);
    condition = c2;
    a = s.broadcastTo(a1, c2.type.shape(), range);
    b = b1;
  }
  return s.select(condition, a, b, range);
}

static Value whereRule(Semantic &s, const BoundArgs &args) {
  return where(s, args[0], args[1], args[2], args.range);
}

static Value gather(Semantic &s, const BoundArgs &args) {
  Tensor source = blockArg(s, args, 0), index = blockArg(s, args, 1);
  if (!index.type.isInteger() || index.type.isBool())
    fail(Diag::argument_kind, args.ranges[1], "index", "tl.gather", "a block of integers",
         args[1].describe(), "");
  int64_t rank = source.type.shape().size();
  int64_t axis = normalizeAxis(s, s.constexprInt(args, 2), rank, source.type, args.ranges[2]);
  bool fits = int64_t(index.type.shape().size()) == rank;
  for (int64_t i = 0; fits && i < rank; ++i)
    fits = i == axis || source.type.shape()[i] == index.type.shape()[i];
  if (!fits)
    failOperands(Diag::gather_shape, args.range, args[0], args[1], args[0].describe(),
                 args[1].describe(), axis);
  // Indices are signed in the IR.
  if (index.type.isUnsigned() && index.type.bits() < 64)
    index = s.cast(index, index.type.bits() < 32 ? Scalar::Int32 : Scalar::Int64, args.range);
  Type type = Type::block(index.type.shape(), source.type.element());
  auto op = s.emit<tt::GatherOp>(args.range, type.lower(s.builder.getContext()), source.handle,
                                 index.handle, uint32_t(axis), false);
  return s.wrap(op.getResult(), type, args.range);
}

static const BuiltinInfo rows[] = {
    {"tl", "where", "condition, x, y", false, whereRule,
     "x where condition holds, y elsewhere. Both are evaluated.\n\n"
     "condition: int1 (other dtypes: != 0). x and y are promoted to one dtype; all three are "
     "broadcast together."},
    {"tl", "gather", "src, index, axis", true, gather,
     "Picks elements of src along axis: result[.., i, ..] = src[.., index[.., i, ..], ..].\n\n"
     "index: integers, of src's rank and of its size in all dimensions but axis; values from 0 to "
     "the size - 1."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::selectRows() { return rows; }
