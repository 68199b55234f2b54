// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mathematical functions on scalars and vectors against the C library in
// fp64, in units of the last place.
#include "Kernel.h"

#include <cmath>
#include <random>

using namespace nereid;
using namespace nereid::test;
using MathTest = KernelTest;

namespace {
struct Function {
  const char *op;
  double (*reference)(double);
  double low, high; // range of the arguments
  double ulps;      // allowed error
};

double ulpOf(double value, bool isDouble) {
  if (isDouble)
    return std::nextafter(std::fabs(value), INFINITY) - std::fabs(value);
  float f = std::fabs(float(value));
  return double(std::nextafterf(f, INFINITY)) - double(f);
}

template <typename T> std::string loop(llvm::StringRef op) {
  return llvm::formatv(R"(
tt.func public @apply(%in: !tt.ptr<{1}>, %out: !tt.ptr<{1}>, %n: i32) {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {{
    %p = tt.addptr %in, %i : !tt.ptr<{1}>, i32
    %q = tt.addptr %out, %i : !tt.ptr<{1}>, i32
    %x = tt.load %p : !tt.ptr<{1}>
    %y = math.{0} %x : {1}
    tt.store %q, %y : !tt.ptr<{1}>
  }
  tt.return
})",
                       op, sizeof(T) == 8 ? "f64" : "f32")
      .str();
}

/// Vectors of 16 through !llvm.ptr, as tile loops do it.
std::string vectorLoop(llvm::StringRef op) {
  return llvm::formatv(R"(
tt.func public @apply(%in: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {{
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %a = builtin.unrealized_conversion_cast %in : !tt.ptr<f32> to !llvm.ptr
  %b = builtin.unrealized_conversion_cast %out : !tt.ptr<f32> to !llvm.ptr
  scf.for %i = %c0 to %n step %c16 : i32 {{
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %q = llvm.getelementptr %b[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %x = llvm.load %p {{alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
    %y = math.{0} %x : vector<16xf32>
    llvm.store %y, %q {{alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  }
  tt.return
})",
                       op)
      .str();
}

template <typename T> std::vector<T> samples(double low, double high) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<T> values;
  for (int i = 0; i < 4000; ++i)
    values.push_back(T(uniform(random)));
  // Small arguments of both signs where the range has them.
  for (int exponent = -40; exponent < 2; ++exponent)
    for (double sign : {-1.0, 1.0}) {
      double value = sign * std::ldexp(1.37, exponent);
      if (value >= low && value <= high)
        values.push_back(T(value));
    }
  while (values.size() % 16)
    values.push_back(T(low));
  return values;
}

template <typename T> void check(Kernel &kernel, const Function &f, double ulps) {
  std::vector<T> in = samples<T>(f.low, f.high), out(in.size());
  ASSERT_TRUE(kernel(in.data(), out.data(), int32_t(in.size())));
  double worst = 0, where = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    double expected = f.reference(in[i]);
    double error = std::fabs(double(out[i]) - expected) / ulpOf(expected, sizeof(T) == 8);
    if (!(error <= worst))
      worst = error, where = in[i];
  }
  EXPECT_LE(worst, ulps) << f.op << "(" << where << ")";
  if (std::getenv("NEREID_PRINT_ULPS"))
    printf("%-8s %zu bytes: %6.2f ulp at %g\n", f.op, sizeof(T), worst, where);
}

const Function functions[] = {
    {"exp", std::exp, -87, 88, 3},
    {"exp2", std::exp2, -125, 127, 3},
    {"expm1", std::expm1, -10, 80, 5},
    {"log", std::log, 1e-30, 1e30, 3},
    {"log2", std::log2, 1e-30, 1e30, 4},
    {"log10", std::log10, 1e-30, 1e30, 4},
    {"log1p", std::log1p, -0.99, 1000, 5},
    {"sqrt", std::sqrt, 0, 1e10, 0.5001},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1e-10, 1e10, 1.5},
    {"sin", std::sin, -100, 100, 2},
    {"cos", std::cos, -100, 100, 2},
    {"tan", std::tan, -10, 10, 2},
    {"tanh", std::tanh, -10, 10, 6},
    {"erf", std::erf, -4, 4, 6},
    {"atan", std::atan, -20, 20, 4},
    {"floor", std::floor, -100, 100, 0},
    {"ceil", std::ceil, -100, 100, 0},
    {"absf", std::fabs, -100, 100, 0},
};
} // namespace

TEST_F(MathTest, Float32Scalars) {
  for (const Function &f : functions) {
    Kernel kernel = compile(loop<float>(f.op));
    check<float>(kernel, f, f.ulps);
  }
}

TEST_F(MathTest, Float32Vectors) {
  for (const Function &f : functions) {
    Kernel kernel = compile(vectorLoop(f.op));
    check<float>(kernel, f, f.ulps);
  }
}

TEST_F(MathTest, Float64) {
  for (const Function &f : functions) {
    Kernel kernel = compile(loop<double>(f.op));
    check<double>(kernel, f, 2);
  }
}

TEST_F(MathTest, ExpEdges) {
  const float inf = INFINITY;
  for (const char *op : {"exp", "exp2"}) {
    Kernel kernel = compile(loop<float>(op));
    float in[] = {0.0f, -0.0f, inf, -inf, NAN, 1000.0f, -1000.0f}, out[7];
    ASSERT_TRUE(kernel(in, out, 7));
    EXPECT_EQ(out[0], 1.0f);
    EXPECT_EQ(out[1], 1.0f);
    EXPECT_EQ(out[2], inf) << op;
    EXPECT_EQ(out[3], 0.0f) << op;
    EXPECT_TRUE(std::isnan(out[4])) << op;
    EXPECT_EQ(out[5], inf) << op;
    EXPECT_EQ(out[6], 0.0f) << op;
  }
  Kernel exact = compile(loop<float>("exp2"));
  std::vector<float> in, out;
  for (int i = -149; i <= 127; ++i)
    in.push_back(float(i));
  out.resize(in.size());
  ASSERT_TRUE(exact(in.data(), out.data(), int32_t(in.size())));
  for (size_t i = 0; i < in.size(); ++i)
    EXPECT_EQ(out[i], std::exp2f(in[i])) << in[i];
}

TEST_F(MathTest, LogEdges) {
  Kernel kernel = compile(loop<float>("log"));
  float in[] = {0.0f, 1.0f, INFINITY, -1.0f, NAN, 1e-42f}, out[6];
  ASSERT_TRUE(kernel(in, out, 6));
  EXPECT_EQ(out[0], -INFINITY);
  EXPECT_EQ(out[1], 0.0f);
  EXPECT_EQ(out[2], INFINITY);
  EXPECT_TRUE(std::isnan(out[3]));
  EXPECT_TRUE(std::isnan(out[4]));
  EXPECT_NEAR(out[5], std::log(1e-42f), 1e-5 * 96);
}

TEST_F(MathTest, Power) {
  Kernel kernel = compile(R"(
tt.func public @power(%p: !tt.ptr<f32>, %q: !tt.ptr<f64>, %x: f32, %y: f32, %u: f64, %v: f64) {
  %r = math.powf %x, %y : f32
  tt.store %p, %r : !tt.ptr<f32>
  %s = math.powf %u, %v : f64
  tt.store %q, %s : !tt.ptr<f64>
  tt.return
})");
  float f;
  double d;
  ASSERT_TRUE(kernel(&f, &d, 1.7f, 3.3f, 0.3, -2.5));
  EXPECT_NEAR(f, std::pow(1.7, 3.3), 1e-5);
  EXPECT_NEAR(d, std::pow(0.3, -2.5), 1e-12);
}
