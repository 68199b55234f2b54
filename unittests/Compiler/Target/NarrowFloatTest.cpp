// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions of fp8, fp16 and bf16 against LLVM's APFloat, bit for bit.
#include "Kernel.h"

#include "llvm/ADT/APFloat.h"

#include <random>

using namespace nereid;
using namespace nereid::test;
using NarrowFloatTest = KernelTest;

namespace {
struct Format {
  const char *name;
  const llvm::fltSemantics &semantics;
};
const Format formats[] = {
    {"f8E4M3FN", llvm::APFloat::Float8E4M3FN()},
    {"f8E5M2", llvm::APFloat::Float8E5M2()},
    {"f8E4M3FNUZ", llvm::APFloat::Float8E4M3FNUZ()},
    {"f8E5M2FNUZ", llvm::APFloat::Float8E5M2FNUZ()},
    {"bf16", llvm::APFloat::BFloat()},
    {"f16", llvm::APFloat::IEEEhalf()},
};
unsigned width(const Format &format) { return llvm::APFloat::getSizeInBits(format.semantics); }

/// Loads n values, converts each, stores it.
std::string convertLoop(llvm::StringRef from, llvm::StringRef to, llvm::StringRef rounding = "") {
  return llvm::formatv(R"(
tt.func public @convert(%in: !tt.ptr<{0}>, %out: !tt.ptr<{1}>, %n: i32) {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {{
    %p = tt.addptr %in, %i : !tt.ptr<{0}>, i32
    %q = tt.addptr %out, %i : !tt.ptr<{1}>, i32
    %x = tt.load %p : !tt.ptr<{0}>
    %y = tt.fp_to_fp %x {2} : {0} -> {1}
    tt.store %q, %y : !tt.ptr<{1}>
  }
  tt.return
})",
                       from, to, rounding)
      .str();
}

std::vector<float> interestingFloats() {
  std::vector<float> values;
  auto add = [&](uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, 4);
    values.push_back(value);
  };
  // Around every power of two, ties and their neighbours included.
  for (uint32_t exponent = 0; exponent < 256; ++exponent)
    for (uint32_t mantissa :
         {0u,        1u,        0x1000u,   0x8000u,   0xffffu,   0x18000u,  0x7fffu,
          0x80000u,  0x7ffffu,  0x80001u,  0xc0000u,  0x100000u, 0x180000u, 0x200000u,
          0x300000u, 0x400000u, 0x600000u, 0x7fffffu, 0x700000u, 0x6fffffu, 0x780000u})
      for (uint32_t sign : {0u, 0x80000000u})
        add(sign | exponent << 23 | mantissa);
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i)
    add(random());
  return values;
}

bool isNaN(const Format &format, uint32_t bits) {
  return llvm::APFloat(format.semantics, llvm::APInt(width(format), bits)).isNaN();
}
} // namespace

TEST_F(NarrowFloatTest, WidenEveryValue) {
  for (const Format &format : formats) {
    Kernel kernel = compile(convertLoop(format.name, "f32"));
    uint32_t count = 1u << width(format);
    std::vector<uint16_t> wide(count);
    std::vector<uint8_t> narrow(count);
    for (uint32_t i = 0; i < count; ++i)
      wide[i] = i, narrow[i] = i;
    std::vector<float> out(count);
    void *in = width(format) == 8 ? static_cast<void *>(narrow.data()) : wide.data();
    ASSERT_TRUE(kernel(in, out.data(), int32_t(count)));
    for (uint32_t i = 0; i < count; ++i) {
      llvm::APFloat value(format.semantics, llvm::APInt(width(format), i));
      if (value.isNaN()) {
        EXPECT_TRUE(std::isnan(out[i])) << format.name << " " << i;
        continue;
      }
      bool lossy;
      value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &lossy);
      uint32_t bits;
      std::memcpy(&bits, &out[i], 4);
      EXPECT_EQ(bits, value.bitcastToAPInt().getZExtValue()) << format.name << " " << i;
    }
  }
}

TEST_F(NarrowFloatTest, NarrowBothRoundings) {
  std::vector<float> in = interestingFloats();
  for (const Format &format : formats)
    for (bool towardsZero : {false, true}) {
      Kernel kernel = compile(
          convertLoop("f32", format.name, towardsZero ? ", rounding = rtz" : ", rounding = rtne"));
      std::vector<uint16_t> wide(in.size());
      std::vector<uint8_t> narrow(in.size());
      void *out = width(format) == 8 ? static_cast<void *>(narrow.data()) : wide.data();
      ASSERT_TRUE(kernel(in.data(), out, int32_t(in.size())));
      unsigned failures = 0;
      for (size_t i = 0; i < in.size() && failures < 5; ++i) {
        uint32_t bits = width(format) == 8 ? narrow[i] : wide[i];
        if (std::isnan(in[i])) {
          EXPECT_TRUE(isNaN(format, bits)) << format.name << " NaN";
          continue;
        }
        llvm::APFloat value(in[i]);
        bool lossy;
        value.convert(
            format.semantics,
            towardsZero ? llvm::APFloat::rmTowardZero : llvm::APFloat::rmNearestTiesToEven, &lossy);
        // fp8 saturates; infinity of the wider formats stays.
        llvm::APFloat largest = llvm::APFloat::getLargest(format.semantics, std::signbit(in[i]));
        bool tooLarge = value.isInfinity() || value.isNaN();
        if (width(format) == 8 && tooLarge)
          value = largest;
        uint32_t expected = value.bitcastToAPInt().getZExtValue();
        EXPECT_EQ(bits, expected) << format.name << (towardsZero ? " towards zero " : " ") << in[i];
        failures += bits != expected;
      }
    }
}

TEST_F(NarrowFloatTest, DoubleRoundsOnce) {
  std::mt19937_64 random(3);
  std::vector<double> in;
  for (float value : interestingFloats()) {
    in.push_back(value);
    in.push_back(value * (1 + 1e-12));
    in.push_back(value * (1 - 1e-12));
  }
  for (int i = 0; i < 5000; ++i)
    in.push_back(std::ldexp(double(random() >> 11), int(random() % 60) - 90));
  for (const Format &format : {formats[4], formats[5]}) {
    Kernel kernel = compile(convertLoop("f64", format.name, ", rounding = rtne"));
    std::vector<uint16_t> out(in.size());
    ASSERT_TRUE(kernel(in.data(), out.data(), int32_t(in.size())));
    unsigned failures = 0;
    for (size_t i = 0; i < in.size() && failures < 5; ++i) {
      if (std::isnan(in[i]))
        continue;
      llvm::APFloat value(in[i]);
      bool lossy;
      value.convert(format.semantics, llvm::APFloat::rmNearestTiesToEven, &lossy);
      uint32_t expected = value.bitcastToAPInt().getZExtValue();
      EXPECT_EQ(out[i], expected) << format.name << " " << in[i];
      failures += out[i] != expected;
    }
  }
}

TEST_F(NarrowFloatTest, ArithmeticRoundsEveryStep) {
  Kernel kernel = compile(R"(
tt.func public @sum(%p: !tt.ptr<bf16>, %q: !tt.ptr<bf16>, %i: i32, %flag: !tt.ptr<i1>) {
  %x = tt.load %p : !tt.ptr<bf16>
  %n = arith.sitofp %i : i32 to bf16
  %s = arith.addf %x, %n : bf16
  %m = arith.mulf %s, %s : bf16
  tt.store %q, %m : !tt.ptr<bf16>
  %b = arith.cmpf olt, %x, %m : bf16
  tt.store %flag, %b : !tt.ptr<i1>
  tt.return
})");
  uint16_t in = 0x3f81, out = 0; // 1.0078125
  uint8_t flag = 9;
  ASSERT_TRUE(kernel(&in, &out, 2, &flag));
  // 3.0078125 rounds to 3.0; 3 * 3 = 9
  EXPECT_EQ(out, 0x4110);
  EXPECT_EQ(flag, 1);
}

TEST_F(NarrowFloatTest, MaskedTilesOnEveryVectorWidth) {
  const char *text = R"(
tt.func public @copy(%x: !tt.ptr<bf16>, %y: !tt.ptr<bf16>, %n: i32) {
  %range = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %limit = tt.splat %n : i32 -> tensor<32xi32>
  %mask = arith.cmpi slt, %range, %limit : tensor<32xi32>
  %other = arith.constant dense<1.5> : tensor<32xbf16>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<32x!tt.ptr<bf16>>
  %xp = tt.addptr %xs, %range : tensor<32x!tt.ptr<bf16>>, tensor<32xi32>
  %a = tt.load %xp, %mask, %other : tensor<32x!tt.ptr<bf16>>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<32x!tt.ptr<bf16>>
  %yp = tt.addptr %ys, %range : tensor<32x!tt.ptr<bf16>>, tensor<32xi32>
  tt.store %yp, %a : tensor<32x!tt.ptr<bf16>>
  tt.return
})";
  for (unsigned bits : {128, 256, 512}) {
    if (cpu::TargetFeatures::host().vectorBits < bits)
      continue;
    Kernel kernel = compile(text, cpuOptions(bits));
    uint16_t in[32], out[32];
    for (int i = 0; i < 32; ++i)
      in[i] = uint16_t(0x7f81 + 977 * i); // a signalling NaN among them
    ASSERT_TRUE(kernel(in, out, 21));
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(out[i], i < 21 ? in[i] : 0x3fc0) << bits << " bits, element " << i;
  }
}
