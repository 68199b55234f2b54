// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: random numbers by Philox 4x32 (or 4x64), bit for bit those of the
// published generator (Salmon et al., "Parallel random numbers: as easy as 1, 2,
// 3", SC 2011) with the language's choice of counters.
//
// A counter of four words goes through rounds, each of which mixes by two wide
// products (hi and lo are their halves), and the key moves on:
//
//   c0 = hi(c2 * B) ^ c1 ^ k0        k0 += 0x9E3779B9
//   c1 = lo(c2 * B)                  k1 += 0xBB67AE85
//   c2 = hi(c0 * A) ^ c3 ^ k1
//   c3 = lo(c0 * A)                  (right sides: values from before the round)
//
// There is no state: a number depends on seed and offset alone, so that
// programs need not know of each other and any element can be made again.
#include "Rules.h"

#include <array>

using namespace nereid;
using namespace nereid::frontend;

namespace {
/// Short spellings for one rule's arithmetic.
struct Emit {
  Semantic &s;
  const SourceRange &range;

  Tensor op(BinaryOp kind, const Value &a, const Value &b) const {
    return s.binary(kind, a, b, range).as<Tensor>();
  }
  Tensor mul(const Value &a, const Value &b) const { return op(BinaryOp::Mult, a, b); }
  Tensor add(const Value &a, const Value &b) const { return op(BinaryOp::Add, a, b); }
  Tensor exclusiveOr(const Value &a, const Value &b) const { return op(BinaryOp::BitXor, a, b); }
  Tensor high(const Value &a, const Value &b) const {
    auto [x, y] = s.operands(a, b, {"tl.umulhi"}, range);
    return s.wrap(s.emit<tt::MulhiUIOp>(range, x.handle, y.handle).getResult(), x.type, range);
  }
};
using Four = std::array<Tensor, 4>;
} // namespace

static Four philoxRounds(const Emit &e, Four c, Tensor k0, Tensor k1, int64_t rounds) {
  bool wide = c[0].type.bits() == 64;
  auto constant = [&](uint64_t narrow, uint64_t wideValue) {
    return Value(Int(wide ? wideValue : narrow));
  };
  Value keyA = constant(0x9E3779B9, 0x9E3779B97F4A7C15),
        keyB = constant(0xBB67AE85, 0xBB67AE8584CAA73B);
  Value roundA = constant(0xD2511F53, 0xD2E7470EE14C6C93),
        roundB = constant(0xCD9E8D57, 0xCA5A826395121157);
  for (int64_t i = 0; i < rounds; ++i) {
    Tensor c0 = c[0], c2 = c[2];
    c[0] = e.exclusiveOr(e.exclusiveOr(e.high(c2, roundB), c[1]), k0);
    c[2] = e.exclusiveOr(e.exclusiveOr(e.high(c0, roundA), c[3]), k1);
    c[1] = e.mul(c2, roundB);
    c[3] = e.mul(c0, roundA);
    k0 = e.add(k0, keyA);
    k1 = e.add(k1, keyB);
  }
  return c;
}

static int64_t roundsArg(Semantic &s, const BoundArgs &args, unsigned i) {
  Int rounds = s.constexprInt(args, i);
  if (rounds < 1 || rounds > 64)
    fail(Diag::argument_out_of_range, args.ranges[i], toString(rounds),
         "the number of Philox rounds", "1", "64");
  return int64_t(rounds);
}

static Tensor integerArg(Semantic &s, const BoundArgs &args, unsigned i) {
  Tensor x = tensorArg(s, args, i);
  if (!x.type.isInteger() || x.type.isBool())
    fail(Diag::argument_kind, args.ranges[i], parameterName(args, i), functionName(args.info),
         "an integer", args[i].describe(), "");
  return x;
}

/// Counters of one width and a seed of 64 bits.
static Four philoxSeeded(Semantic &s, const SourceRange &range, const Tensor &seedValue, Four c,
                         int64_t rounds) {
  Emit e{s, range};
  Tensor seed = s.cast(seedValue, Scalar::UInt64, range);
  bool wide = c[0].type.bits() == 64;
  Type type = wide ? Scalar::UInt64 : Scalar::UInt32;
  for (Tensor &counter : c)
    counter = s.cast(counter, type, range);
  Tensor low = s.cast(seed, type, range);
  Tensor high = wide ? s.full(seed.type.shape(), Int(0), type, range)
                     : s.cast(e.op(BinaryOp::RShift, seed, Int(32)), type, range);
  return philoxRounds(e, c, low, high, rounds);
}

/// The four numbers of one offset: its words are the first two counters.
static Four randomFour(Semantic &s, const BoundArgs &args) {
  Emit e{s, args.range};
  Tensor seed = integerArg(s, args, 0), offset = integerArg(s, args, 1);
  Tensor low = s.cast(offset, Scalar::UInt32, args.range);
  Tensor zero = s.full(low.type.shape(), Int(0), Scalar::UInt32, args.range);
  Tensor high = offset.type.bits() > 32
                    ? s.cast(e.op(BinaryOp::RShift, offset, Int(32)), Scalar::UInt32, args.range)
                    : zero;
  return philoxSeeded(s, args.range, seed, {low, high, zero, zero}, roundsArg(s, args, 2));
}

/// Integers to floats in [0, 1).
static Tensor toUniform(Semantic &s, const Tensor &bits, const SourceRange &range) {
  Emit e{s, range};
  bool wide = bits.type.bits() == 64;
  Tensor x = s.cast(bits, wide ? Scalar::Int64 : Scalar::Int32, range);
  Tensor mirrored = e.op(BinaryOp::Sub, s.unary(UnaryOp::USub, x, range), Int(1));
  Tensor negative = s.compare(CompareOp::Lt, x, Int(0), range).as<Tensor>();
  // Greatest scale whose product with the greatest integer stays below 1.
  return e.mul(s.select(negative, mirrored, x, range),
               wide ? 1.0842020432385337e-19 : 4.6566127342e-10);
}

/// Box and Muller's transform.
static std::pair<Tensor, Tensor> toNormal(Semantic &s, const Tensor &u1, const Tensor &u2,
                                          const SourceRange &range) {
  Emit e{s, range};
  Tensor safe =
      minimumMaximum(s, true, 1.0e-7, u1, false, "tl.pair_uniform_to_normal", range).as<Tensor>();
  Tensor angle = e.mul(6.283185307179586, u2);
  Tensor radius = mathUnary(s, "sqrt", e.mul(-2.0, mathUnary(s, "log", safe, range)), range);
  return {e.mul(radius, mathUnary(s, "cos", angle, range)),
          e.mul(radius, mathUnary(s, "sin", angle, range))};
}

static Value packed(const Four &c) { return Tuple{{c[0], c[1], c[2], c[3]}, {}}; }

static Value randint4x(Semantic &s, const BoundArgs &args) { return packed(randomFour(s, args)); }
static Value randint(Semantic &s, const BoundArgs &args) { return randomFour(s, args)[0]; }
static Value rand(Semantic &s, const BoundArgs &args) {
  return toUniform(s, randomFour(s, args)[0], args.range);
}

static Value rand4x(Semantic &s, const BoundArgs &args) {
  Four c = randomFour(s, args);
  for (Tensor &x : c)
    x = toUniform(s, x, args.range);
  return packed(c);
}

static Value randn(Semantic &s, const BoundArgs &args) {
  Four c = randomFour(s, args);
  return toNormal(s, toUniform(s, c[0], args.range), toUniform(s, c[1], args.range), args.range)
      .first;
}

static Value randn4x(Semantic &s, const BoundArgs &args) {
  Four c = randomFour(s, args);
  for (Tensor &x : c)
    x = toUniform(s, x, args.range);
  auto [a, b] = toNormal(s, c[0], c[1], args.range);
  auto [d, f] = toNormal(s, c[2], c[3], args.range);
  return packed({a, b, d, f});
}

static Four countersArg(Semantic &s, const BoundArgs &args, unsigned first) {
  Four c;
  unsigned bits = 32;
  for (unsigned i = 0; i < 4; ++i) {
    c[i] = integerArg(s, args, first + i);
    bits = std::max(bits, c[i].type.bits());
  }
  for (Tensor &x : c)
    x = s.cast(x, bits == 64 ? Scalar::UInt64 : Scalar::UInt32, args.range);
  return c;
}

static Value philox(Semantic &s, const BoundArgs &args) {
  return packed(philoxSeeded(s, args.range, integerArg(s, args, 0), countersArg(s, args, 1),
                             roundsArg(s, args, 5)));
}

static Value philoxImpl(Semantic &s, const BoundArgs &args) {
  Four c = countersArg(s, args, 0);
  Type type = c[0].type.element();
  Tensor k0 = s.cast(integerArg(s, args, 4), type, args.range),
         k1 = s.cast(integerArg(s, args, 5), type, args.range);
  return packed(philoxRounds({s, args.range}, c, k0, k1, roundsArg(s, args, 6)));
}

static Value uniform(Semantic &s, const BoundArgs &args) {
  Tensor x = integerArg(s, args, 0);
  if (x.type.bits() < 32)
    fail(Diag::unsupported_dtype, args.ranges[0], x.type.element().str(), functionName(args.info),
         "it takes 32- or 64-bit integers");
  return toUniform(s, x, args.range);
}

static Value normalPair(Semantic &s, const BoundArgs &args) {
  auto [a, b] = toNormal(s, tensorArg(s, args, 0), tensorArg(s, args, 1), args.range);
  return Tuple{{a, b}, {}};
}

#define NEREID_RANDOM(NAME, RULE, DOC)                                                             \
  {"tl",                                                                                           \
   NAME,                                                                                           \
   "seed, offset, n_rounds=10",                                                                    \
   false,                                                                                          \
   RULE,                                                                                           \
   DOC "\n\nseed: an integer; offset: an integer scalar or block that gives the result's shape. "  \
       "Equal seeds and\n"                                                                         \
       "offsets give equal numbers."}

static const BuiltinInfo rows[] = {
    NEREID_RANDOM("randint", randint, "Uniform uint32 numbers."),
    NEREID_RANDOM("randint4x", randint4x,
                  "Four independent blocks of uniform uint32 numbers, at the cost of one."),
    NEREID_RANDOM("rand", rand, "Uniform fp32 numbers in [0, 1)."),
    NEREID_RANDOM("rand4x", rand4x, "Four independent blocks of uniform fp32 numbers in [0, 1)."),
    NEREID_RANDOM("randn", randn, "Normally distributed fp32 numbers."),
    NEREID_RANDOM("randn4x", randn4x,
                  "Four independent blocks of normally distributed fp32 numbers."),
    {"tl", "philox", "seed, c0, c1, c2, c3, n_rounds=10", false, philox,
     "The Philox generator on explicit counters, 32-bit or 64-bit by the widest of them. Returns "
     "four blocks."},
    {"tl", "philox_impl", "c0, c1, c2, c3, k0, k1, n_rounds=10", false, philoxImpl,
     "Rounds of the Philox generator on explicit counters and keys. Returns four blocks."},
    {"tl", "uint_to_uniform_float", "x", false, uniform,
     "32- or 64-bit integers to fp32 numbers in [0, 1)."},
    {"tl", "pair_uniform_to_normal", "u1, u2", false, normalPair,
     "Two blocks of uniform numbers to two of normally distributed ones (Box and Muller)."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::randomRows() { return rows; }
