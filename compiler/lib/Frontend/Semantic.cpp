// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions of values, creation and shape of blocks, broadcasting, subscripts.
//
// Where constants become values of the IR. A number has no dtype of its own as
// long as it is a constant; when it needs one alone it gets the first that
// holds it (naturalType): int32, uint32, int64, uint64; fp32, or fp64 beyond
// its range. Beside a tensor it takes the tensor's (promoteNumber in
// SemanticOperators.cpp). An integer must fit then; it is never cut.
//
// The shape functions check and emit one operation each, and fold what costs
// nothing to fold: a splat of a constant is a constant, a shape that stays the
// same emits nothing. Scalars count as blocks of rank 0.
#include "nereid/Frontend/Semantic.h"

#include "Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace nereid;
using namespace nereid::frontend;

Semantic::Semantic(mlir::OpBuilder &builder, const LanguageOptions &options, DiagnosticSink &sink)
    : builder(builder), options(options), sink(sink) {}

static mlir::Location baseLocation(mlir::MLIRContext *context, const SourceRange &range) {
  if (!range.isValid())
    return mlir::UnknownLoc::get(context);
  auto file = mlir::StringAttr::get(context, range.file->path);
  if (range.endLine == range.line && range.endColumn > range.column)
    return mlir::FileLineColRange::get(file, range.line, range.column, range.endLine,
                                       range.endColumn);
  return mlir::FileLineColLoc::get(file, range.line, range.column);
}

/// Calls are walked where they stand. So a location has the calls that led to it, the
/// innermost first: they are the notes of diagnostics that passes report.
mlir::Location Semantic::loc(const SourceRange &range) {
  mlir::MLIRContext *context = builder.getContext();
  mlir::Location location = baseLocation(context, range);
  for (const SourceRange &site : llvm::reverse(callStack))
    location = mlir::CallSiteLoc::get(location, baseLocation(context, site));
  return location;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Type Semantic::naturalType(const Value &number, const SourceRange &range) {
  if (number.is<bool>())
    return Scalar::Int1;
  if (const Int *i = number.getIf<Int>()) {
    if (ShmemConstant::decode(*i))
      return Scalar::Int32;
    constexpr Int one = 1;
    if (*i >= -(one << 31) && *i < (one << 31))
      return Scalar::Int32;
    if (*i >= 0 && *i < (one << 32))
      return Scalar::UInt32;
    if (*i >= -(one << 63) && *i < (one << 63))
      return Scalar::Int64;
    if (*i >= 0 && *i < (one << 64))
      return Scalar::UInt64;
    fail(Diag::number_too_large, range, toString(*i));
  }
  double d = number.as<double>();
  double magnitude = std::fabs(d);
  if (d == 0 || !std::isfinite(d) || (magnitude >= 0x1p-126 && magnitude <= 0x1.fffffep127))
    return Scalar::Fp32;
  return Scalar::Fp64;
}

/// Least and greatest value of an integer type.
static std::pair<Int, Int> integerRange(const Type &type) {
  constexpr Int one = 1;
  unsigned bits = type.bits();
  if (type.isUnsigned())
    return {0, (one << bits) - 1};
  return {-(one << (bits - 1)), (one << (bits - 1)) - 1};
}

/// The attribute of `number` in the element type; range-checked.
static mlir::TypedAttr constantAttr(Semantic &s, const Value &number, const Type &element,
                                    const SourceRange &range) {
  mlir::Type lowered = element.lower(s.builder.getContext());
  Int integer = 0;
  double real = 0;
  if (const bool *b = number.getIf<bool>())
    real = integer = *b;
  else if (const Int *i = number.getIf<Int>()) {
    std::optional<ShmemConstant> constant = ShmemConstant::decode(*i);
    integer = constant ? constant->nativeNumber() : *i;
    real = double(integer);
  } else
    real = number.as<double>();

  if (element.scalar() == Scalar::Fp8E4B15) {
    // 256 times the number has the bits of fp8e4nv; see SemanticCast.cpp.
    llvm::APFloat value(real * 256);
    bool losesInfo = false;
    value.convert(llvm::APFloat::Float8E4M3FN(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    uint64_t bits = value.bitcastToAPInt().getZExtValue();
    if (!(std::fabs(real) * 256 <= 464))
      bits = 0x7f | (std::signbit(real) ? 0x80 : 0);
    return mlir::IntegerAttr::get(lowered, llvm::APInt(8, bits));
  }
  if (element.isFloating()) {
    llvm::APFloat value(real);
    bool losesInfo = false;
    value.convert(mlir::cast<mlir::FloatType>(lowered).getFloatSemantics(),
                  llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return mlir::FloatAttr::get(lowered, value);
  }
  if (number.is<double>()) {
    if (!std::isfinite(real) || real != std::trunc(real) || std::fabs(real) > 0x1p64)
      fail(Diag::float_to_integer_constant, range, toString(real), element.str());
    integer = Int(real);
  }
  if (element.isBool())
    integer = integer != 0;
  auto [low, high] = integerRange(element);
  if (integer < low || integer > high)
    fail(Diag::number_out_of_range, range, toString(integer), element.str(), toString(low),
         toString(high));
  llvm::APInt bits(element.bits(), uint64_t(integer), false, /*implicitTrunc=*/true);
  return mlir::IntegerAttr::get(lowered, bits);
}

Tensor Semantic::constant(const Value &number, Type element, const SourceRange &range) {
  if (!number.isNumber() || element.isPointerLike())
    fail(Diag::not_a_runtime_value, range, number.describe());
  auto op = emit<mlir::arith::ConstantOp>(range, constantAttr(*this, number, element, range));
  return {op.getResult(), element, range};
}

Tensor Semantic::full(llvm::ArrayRef<int64_t> shape, const Value &number, Type element,
                      const SourceRange &range) {
  if (shape.empty())
    return constant(number, element, range);
  checkShape(shape, range);
  Type type = Type::block(shape, element);
  auto lowered = mlir::cast<mlir::RankedTensorType>(type.lower(builder.getContext()));
  auto dense = mlir::DenseElementsAttr::get(
      lowered, mlir::Attribute(constantAttr(*this, number, element, range)));
  return {emit<mlir::arith::ConstantOp>(range, mlir::cast<mlir::TypedAttr>(mlir::Attribute(dense)))
              .getResult(),
          type, range};
}

std::string nereid::frontend::helpForNone(const Value &value) {
  const None *none = value.getIf<None>();
  if (!none || none->origin.empty())
    return "";
  return llvm::StringRef(none->origin).starts_with("function")
             ? "end the function with a `return` of the value"
             : "pass an array or a number, or let the kernel ask `is None` before it uses the "
               "argument";
}

Tensor Semantic::toTensor(const Value &value, const SourceRange &range) {
  if (const Tensor *tensor = value.getIf<Tensor>())
    return *tensor;
  if (value.isNumber())
    return constant(value, naturalType(value, range), range);
  Diagnostic diagnostic = makeDiagnostic(Diag::not_a_runtime_value, range, value.describe());
  if (std::string help = helpForNone(value); !help.empty())
    diagnostic.help = help;
  throw CompileError(diagnostic);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

void Semantic::checkShape(llvm::ArrayRef<int64_t> shape, const SourceRange &range) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size <= 0)
      fail(Diag::shape_not_positive, range, size, shapeString(shape));
    count = size > (int64_t(1) << 20) ? size : count * size;
    if (count > (int64_t(1) << 20))
      fail(Diag::block_too_large, range, shapeString(shape), count);
  }
}

Tensor Semantic::splat(const Tensor &scalar, llvm::ArrayRef<int64_t> shape,
                       const SourceRange &range) {
  if (shape.empty())
    return scalar;
  checkShape(shape, range);
  Type type = Type::block(shape, scalar.type);
  mlir::Type lowered = type.lower(builder.getContext());
  // A splat constant is a constant.
  mlir::TypedAttr attr;
  if (mlir::matchPattern(scalar.handle, mlir::m_Constant(&attr))) {
    auto dense = mlir::DenseElementsAttr::get(mlir::cast<mlir::RankedTensorType>(lowered),
                                              mlir::Attribute(attr));
    return {
        emit<mlir::arith::ConstantOp>(range, mlir::cast<mlir::TypedAttr>(mlir::Attribute(dense)))
            .getResult(),
        type, range};
  }
  return {emit<tt::SplatOp>(range, lowered, scalar.handle).getResult(), type, range};
}

Tensor Semantic::arange(int64_t start, int64_t end, const SourceRange &range) {
  Type type = Type::block({end - start}, Scalar::Int32);
  checkShape(type.shape(), range);
  return {
      emit<tt::MakeRangeOp>(range, type.lower(builder.getContext()), uint32_t(start), uint32_t(end))
          .getResult(),
      type, range};
}

Tensor Semantic::expandDims(const Tensor &value, int64_t axis, const SourceRange &range) {
  if (!value.type.isBlock()) {
    if (!value.type.isScalar() && !value.type.isPointer())
      fail(Diag::not_a_runtime_value, range, Value(value).describe());
    return splat(value, {1}, range);
  }
  std::vector<int64_t> shape(value.type.shape());
  shape.insert(shape.begin() + axis, 1);
  Type type = value.type.withShape(shape);
  return {
      emit<tt::ExpandDimsOp>(range, type.lower(builder.getContext()), value.handle, uint32_t(axis))
          .getResult(),
      type, range};
}

Tensor Semantic::reshape(const Tensor &value, llvm::ArrayRef<int64_t> shape, bool allowReorder,
                         const SourceRange &range) {
  checkShape(shape, range);
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  if (count != value.type.numElements())
    fail(Diag::reshape_mismatch, range, Value(value).describe(), shapeString(shape),
         value.type.numElements(), count);
  if (!value.type.isBlock())
    return splat(value, shape, range);
  if (shape.empty())
    return {emit<tt::UnsplatOp>(range, value.handle).getResult(), value.type.element(), range};
  Type type = value.type.withShape(shape);
  if (type == value.type)
    return value;
  return {emit<tt::ReshapeOp>(range, type.lower(builder.getContext()), value.handle, allowReorder,
                              false)
              .getResult(),
          type, range};
}

Tensor Semantic::permute(const Tensor &value, llvm::ArrayRef<int64_t> order,
                         const SourceRange &range) {
  llvm::ArrayRef<int64_t> shape = value.type.shape();
  llvm::SmallVector<bool> seen(shape.size(), false);
  bool valid = order.size() == shape.size();
  for (int64_t dim : order) {
    if (!valid || dim < 0 || dim >= int64_t(shape.size()) || seen[dim]) {
      valid = false;
      break;
    }
    seen[dim] = true;
  }
  if (!valid)
    fail(Diag::permute_invalid, range, shapeString(order), shape.size(), Value(value).describe());
  std::vector<int64_t> permuted;
  llvm::SmallVector<int32_t> order32;
  for (int64_t dim : order) {
    permuted.push_back(shape[dim]);
    order32.push_back(int32_t(dim));
  }
  if (order.empty())
    return value;
  Type type = value.type.withShape(permuted);
  return {
      emit<tt::TransOp>(range, type.lower(builder.getContext()), value.handle, order32).getResult(),
      type, range};
}

Tensor Semantic::broadcastTo(const Tensor &value, llvm::ArrayRef<int64_t> shape,
                             const SourceRange &range) {
  if (!value.type.isBlock())
    return splat(value, shape, range);
  llvm::ArrayRef<int64_t> from = value.type.shape();
  if (from == shape)
    return value;
  if (from.size() != shape.size())
    fail(Diag::broadcast_to_mismatch, range, shapeString(from), shapeString(shape),
         "the ranks differ");
  for (auto [i, size] : llvm::enumerate(from))
    if (size != shape[i] && size != 1)
      fail(Diag::broadcast_to_mismatch, range, shapeString(from), shapeString(shape),
           llvm::formatv("dimension {0} is {1}, not {2}", i, size, shape[i]).str());
  checkShape(shape, range);
  Type type = value.type.withShape(shape);
  return {emit<tt::BroadcastOp>(range, type.lower(builder.getContext()), value.handle).getResult(),
          type, range};
}

std::pair<Tensor, Tensor> Semantic::broadcast(const Tensor &lhs, const Tensor &rhs,
                                              const char *what, const SourceRange &range) {
  if (!lhs.type.isBlock() && !rhs.type.isBlock())
    return {lhs, rhs};
  if (!lhs.type.isBlock())
    return {splat(lhs, rhs.type.shape(), range), rhs};
  if (!rhs.type.isBlock())
    return {lhs, splat(rhs, lhs.type.shape(), range)};
  Tensor left = lhs, right = rhs;
  while (left.type.shape().size() < right.type.shape().size())
    left = expandDims(left, 0, range);
  while (right.type.shape().size() < left.type.shape().size())
    right = expandDims(right, 0, range);
  std::vector<int64_t> shape;
  for (auto [i, a, b] : llvm::enumerate(left.type.shape(), right.type.shape())) {
    if (a != b && a != 1 && b != 1)
      failOperands(Diag::broadcast_mismatch, range, lhs, rhs, shapeString(lhs.type.shape()),
                   shapeString(rhs.type.shape()), what, i, a, b);
    shape.push_back(std::max(a, b));
  }
  return {broadcastTo(left, shape, range), broadcastTo(right, shape, range)};
}

Tensor Semantic::select(const Tensor &condition, const Tensor &x, const Tensor &y,
                        const SourceRange &range) {
  return {emit<mlir::arith::SelectOp>(range, condition.handle, x.handle, y.handle).getResult(),
          x.type, range};
}

Value Semantic::subscript(const Value &tensor, const Tuple &index, const SourceRange &range) {
  const Tensor *base = tensor.getIf<Tensor>();
  if (!base || base->type.isBlockPointer() || base->type.isDescriptor())
    fail(Diag::operand_invalid, range, "[]", tensor.describe(),
         "subscripts work on blocks and tuples");
  Tensor result = *base;
  int64_t rank = base->type.shape().size(), slices = 0, position = 0;
  for (const Value &item : index.items) {
    if (item.isNone()) {
      result = expandDims(result, position++, range);
      continue;
    }
    const Slice *slice = item.getIf<Slice>();
    auto absent = [](const std::shared_ptr<Value> &part) { return !part || part->isNone(); };
    if (!slice || !absent(slice->start) || !absent(slice->stop) || !absent(slice->step))
      fail(Diag::subscript_invalid, range,
           slice ? std::string("a slice with bounds") : item.describe());
    if (++slices > rank)
      fail(Diag::subscript_rank, range, slices, tensor.describe(), rank);
    ++position;
  }
  result.range = range;
  return result;
}

Tensor Semantic::toBool(const Tensor &value, const SourceRange &range) {
  if (value.type.isBool())
    return value;
  return cast(value, Scalar::Int1, range);
}

Tensor Semantic::toCondition(const Value &value, const SourceRange &range) {
  Tensor condition = toTensor(value, range);
  if (!condition.type.isScalar() && !condition.type.isPointer())
    fail(Diag::block_condition, range, value.describe());
  return toBool(condition, range);
}
