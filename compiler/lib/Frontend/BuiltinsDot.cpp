// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: matrix products.
//
// The dtype of the result:
//
//   int8                 int32
//   fp64                 fp64
//   fp32, bf16           fp32
//   fp16, fp8            out_dtype, else that of acc, else fp32
//
// acc must have that dtype and the result's shape; it is not cast.
// input_precision says how fp32 operands may be rounded, and means nothing for
// others.
#include "Rules.h"

#include "llvm/ADT/StringSwitch.h"

using namespace nereid;
using namespace nereid::frontend;

static tt::InputPrecision precisionOf(llvm::StringRef name) {
  return *tt::symbolizeInputPrecision(name);
}

static tt::InputPrecision precisionArg(Semantic &s, const BoundArgs &args) {
  if (!args[3].isNone() && !args[4].isNone())
    fail(Diag::dot_precision_twice, args.ranges[4]);
  if (!args[4].isNone())
    return s.constexprBool(args, 4) ? tt::InputPrecision::TF32 : tt::InputPrecision::IEEE;
  if (args[3].isNone())
    return precisionOf(s.options.defaultInputPrecision);
  return precisionOf(choiceArg(s, args, 3, {"ieee", "tf32", "tf32x3", "bf16x3", "bf16x6", "hf32"}));
}

/// Element type of the product.
static Type resultType(Semantic &s, const BoundArgs &args, const Type &element, const Tensor *acc) {
  std::optional<Type> wanted;
  if (!args[6].isNone())
    wanted = s.dtype(args, 6);
  auto refuse = [&](llvm::StringRef help) {
    fail(Diag::dot_out_dtype, args.ranges[6], element.str(), wanted->str(), help);
  };
  if (wanted && *wanted == Type(Scalar::BF16))
    refuse("use out_dtype=tl.float32 and cast the result: .to(tl.bfloat16)");
  if (element.isInteger()) {
    if (wanted && *wanted != Type(Scalar::Int32) && *wanted != Type(Scalar::Fp32))
      refuse("products of int8 are int32");
    return Scalar::Int32;
  }
  if (element == Type(Scalar::Fp64))
    return Scalar::Fp64;
  if (element == Type(Scalar::Fp32) || element == Type(Scalar::BF16))
    return Scalar::Fp32;
  // fp16 and fp8.
  if (!wanted && acc && (acc->type.scalar() == Scalar::Fp16 || acc->type.scalar() == Scalar::Fp32))
    return acc->type.element();
  if (wanted && *wanted != Type(Scalar::Fp16) && *wanted != Type(Scalar::Fp32))
    refuse("it is tl.float16 or tl.float32");
  return wanted.value_or(Scalar::Fp32);
}

static void checkShapes(const BoundArgs &args, const Tensor &a, const Tensor &b) {
  llvm::ArrayRef<int64_t> m = a.type.shape(), n = b.type.shape();
  if (m.size() < 2 || m.size() != n.size())
    failOperands(Diag::dot_rank, args.range, args[0], args[1], args[0].describe(),
                 args[1].describe());
  size_t rank = m.size();
  auto mismatch = [&](const std::string &why) {
    failOperands(Diag::dot_shape, args.range, args[0], args[1], shapeString(m), shapeString(n),
                 why);
  };
  if (m[rank - 1] != n[rank - 2])
    mismatch(
        llvm::formatv("the inner dimensions differ, {0} and {1}", m[rank - 1], n[rank - 2]).str());
  for (size_t i = 0; i + 2 < rank; ++i)
    if (m[i] != n[i])
      mismatch(llvm::formatv("batch dimension {0} differs, {1} and {2}", i, m[i], n[i]).str());
}

static Value dot(Semantic &s, const BoundArgs &args) {
  Tensor a = tensorArg(s, args, 0), b = tensorArg(s, args, 1);
  Type left = a.type.element(), right = b.type.element();
  auto allowed = [](const Type &type) {
    switch (type.scalar()) {
    case Scalar::Int8:
    case Scalar::Fp16:
    case Scalar::BF16:
    case Scalar::Fp32:
    case Scalar::Fp64:
      return true;
    default:
      return type.isFp8() && type.scalar() != Scalar::Fp8E4B15;
    }
  };
  if (!a.type.isBlock() || !b.type.isBlock())
    failOperands(Diag::dot_rank, args.range, args[0], args[1], args[0].describe(),
                 args[1].describe());
  checkShapes(args, a, b);
  if (!allowed(left) || !allowed(right) || (left != right && !(left.isFp8() && right.isFp8())))
    failOperands(Diag::dot_dtype, args.range, args[0], args[1], left.str(), right.str(),
                 left != right ? "cast one of them: a.to(b.dtype)"
                               : "int8, fp8, fp16, bf16, fp32 and fp64 are multiplied");

  std::optional<Tensor> acc;
  if (!args[2].isNone() && !(args[2].isNumber() && !args[2].isTensor()))
    acc = tensorArg(s, args, 2);
  Type element = resultType(s, args, left, acc ? &*acc : nullptr);
  std::vector<int64_t> shape(a.type.shape());
  shape.back() = b.type.shape().back();
  Type type = Type::block(shape, element);
  if (args[2].isNumber())
    acc = s.full(shape, args[2], element, args.ranges[2]);
  if (acc && acc->type != type) {
    std::string dims;
    for (int64_t size : shape)
      dims += (dims.empty() ? "" : ", ") + std::to_string(size);
    static const char *const fallback = "tl.float32";
    std::string dtype = element == Type(Scalar::Int32)  ? "tl.int32"
                        : element == Type(Scalar::Fp16) ? "tl.float16"
                        : element == Type(Scalar::Fp64) ? "tl.float64"
                                                        : fallback;
    Diagnostic diagnostic =
        makeDiagnostic(Diag::dot_acc, args.ranges[2], args[2].describe(), type.str(), dims, dtype);
    noteValue(diagnostic, args[2], "acc");
    throw CompileError(std::move(diagnostic));
  }
  s.checkShape(shape, args.range);
  tt::InputPrecision precision = precisionArg(s, args);
  if (left != Type(Scalar::Fp32))
    precision = tt::InputPrecision::IEEE;
  int64_t imprecise = 0;
  if (!args[5].isNone()) {
    Int count = s.constexprInt(args, 5);
    if (left.isFp8() && count > 0)
      imprecise = int64_t(std::min<Int>(count, a.type.shape().back()));
  }
  if (!acc)
    acc = s.full(shape, Int(0), element, args.range);

  // Batches of any rank are one batch dimension.
  size_t rank = shape.size();
  Tensor c = *acc;
  if (rank > 3) {
    auto fold = [&](const Tensor &x) {
      llvm::ArrayRef<int64_t> sizes = x.type.shape();
      int64_t batch = 1;
      for (int64_t size : sizes.drop_back(2))
        batch *= size;
      return s.reshape(x, {batch, sizes[rank - 2], sizes[rank - 1]}, false, args.range);
    };
    a = fold(a);
    b = fold(b);
    c = fold(c);
  }
  auto op = s.emit<tt::DotOp>(args.range, c.handle.getType(), a.handle, b.handle, c.handle,
                              precision, uint32_t(imprecise));
  return s.reshape(s.wrap(op.getResult(), c.type, args.range), shape, false, args.range);
}

//===----------------------------------------------------------------------===//
// dot_scaled
//===----------------------------------------------------------------------===//

/// An operand of dot_scaled with its format checked; bf16 and fp16 keep their
/// values, the others lie in 8-bit elements.
static Tensor scaledOperand(Semantic &s, const BoundArgs &args, unsigned i,
                            tt::ScaleDotElemType &format) {
  Tensor x = blockArg(s, args, i);
  std::string name = choiceArg(s, args, i + 2, {"e2m1", "e4m3", "e5m2", "bf16", "fp16"});
  format = *tt::symbolizeScaleDotElemType(name);
  Scalar wanted = name == "bf16"   ? Scalar::BF16
                  : name == "fp16" ? Scalar::Fp16
                  : name == "e4m3" ? Scalar::Fp8E4NV
                  : name == "e5m2" ? Scalar::Fp8E5
                                   : Scalar::UInt8;
  if (x.type.scalar() == wanted)
    return x;
  if ((x.type.scalar() == Scalar::UInt8 || x.type.scalar() == Scalar::Int8) &&
      Type(wanted).bits() == 8)
    return s.bitcast(x, wanted, args.ranges[i]);
  fail(Diag::unsupported_dtype, args.ranges[i], x.type.element().str(),
       "tl.dot_scaled with format '" + name + "'", "pass elements of dtype " + Type(wanted).str());
}

static Value dotScaled(Semantic &s, const BoundArgs &args) {
  tt::ScaleDotElemType leftFormat, rightFormat;
  Tensor a = scaledOperand(s, args, 0, leftFormat), b = scaledOperand(s, args, 3, rightFormat);
  if (a.type.shape().size() != b.type.shape().size() || a.type.shape().size() < 2)
    failOperands(Diag::dot_rank, args.range, args[0], args[3], args[0].describe(),
                 args[3].describe());
  size_t rank = a.type.shape().size();
  bool leftPack = s.constexprBool(args, 8), rightPack = s.constexprBool(args, 9);
  int64_t leftFactor = leftFormat == tt::ScaleDotElemType::E2M1 ? 2 : 1;
  int64_t rightFactor = rightFormat == tt::ScaleDotElemType::E2M1 ? 2 : 1;
  int64_t k = a.type.shape()[rank - 1] * (leftPack ? leftFactor : 1);
  int64_t m = a.type.shape()[rank - 2] * (leftPack ? 1 : leftFactor);
  int64_t rightK = b.type.shape()[rank - 2] * (rightPack ? rightFactor : 1);
  int64_t n = b.type.shape()[rank - 1] * (rightPack ? 1 : rightFactor);
  if (k != rightK)
    failOperands(Diag::dot_shape, args.range, args[0], args[3], shapeString(a.type.shape()),
                 shapeString(b.type.shape()),
                 llvm::formatv("the inner dimensions differ, {0} and {1}", k, rightK).str());
  auto scale = [&](unsigned i, int64_t rows) -> mlir::Value {
    if (args[i].isNone())
      return {};
    Tensor x = blockArg(s, args, i);
    if (x.type.bits() != 8 || x.type.shape().size() != rank || x.type.shape()[rank - 2] != rows ||
        k % x.type.shape()[rank - 1] != 0)
      fail(Diag::argument_kind, args.ranges[i], parameterName(args, i), "tl.dot_scaled",
           llvm::formatv("an 8-bit block of shape [{0}, {1} // 32]", rows, k).str(),
           args[i].describe(), "");
    return s.cast(x, Scalar::UInt8, args.ranges[i]).handle;
  };
  mlir::Value leftScale = scale(1, m), rightScale = scale(4, n);
  Type element = args[10].isNone() ? Type(Scalar::Fp32) : s.dtype(args, 10);
  if (element != Type(Scalar::Fp32))
    fail(Diag::dot_out_dtype, args.ranges[10], a.type.element().str(), element.str(),
         "it is tl.float32");
  std::vector<int64_t> shape(a.type.shape());
  shape[rank - 2] = m;
  shape[rank - 1] = n;
  Type type = Type::block(shape, element);
  Tensor acc =
      args[6].isNone() ? s.full(shape, Int(0), element, args.range) : tensorArg(s, args, 6);
  if (acc.type != type)
    fail(Diag::argument_kind, args.ranges[6], "acc", "tl.dot_scaled", type.str() + " block",
         args[6].describe(), "");
  auto op = s.emit<tt::DotScaledOp>(args.range, type.lower(s.builder.getContext()), a.handle,
                                    b.handle, acc.handle, leftScale, rightScale, leftFormat,
                                    rightFormat, s.constexprBool(args, 7), leftPack, rightPack);
  return s.wrap(op.getResult(), type, args.range);
}

static const BuiltinInfo rows[] = {
    {"tl", "dot",
     "input, other, acc=None, input_precision=None, allow_tf32=None, max_num_imprecise_acc=None, "
     "out_dtype=None",
     false, dot,
     "Matrix product of [.., M, K] and [.., K, N], plus acc; any sizes from 1 on.\n\n"
     "input, other: blocks of equal rank (2, or more with batch dimensions in front) and equal "
     "dtype: int8,\n"
     "fp16, bf16, fp32, fp64; two fp8 types may differ. The result is int32 for 8-bit integers, "
     "fp64 for fp64, fp32\n"
     "for bf16 and fp32; for fp16 and fp8 it is out_dtype (fp16 or fp32; default that of acc, or "
     "fp32). Floats are\n"
     "summed in fp32, fp64 in fp64. acc: a block of the result's shape and dtype.\n"
     "input_precision: \"ieee\" (default), \"tf32\", \"tf32x3\", \"bf16x3\", \"bf16x6\", \"hf32\": "
     "how fp32 operands may\n"
     "be rounded. allow_tf32: old spelling of \"tf32\" (True) and \"ieee\" (False)."},
    {"tl", "dot_scaled",
     "lhs, lhs_scale, lhs_format, rhs, rhs_scale, rhs_format, acc=None, fast_math=False, "
     "lhs_k_pack=True, "
     "rhs_k_pack=True, out_dtype=None",
     false, dotScaled,
     "Matrix product of block-scaled operands, fp32 result.\n\n"
     "Formats: \"e2m1\" (two elements per uint8), \"e4m3\", \"e5m2\", \"bf16\", \"fp16\". Scales: "
     "powers of two (e8m0) in\n"
     "uint8, one for each group of elements along K; None for unscaled operands."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::dotRows() { return rows; }
