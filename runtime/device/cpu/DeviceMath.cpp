// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of device math libraries (abi/nereid/device_math.def) that the C
// library does not have, and arithmetic with directed rounding.
//
// Nearly all are computed in fp64, also for narrower types, whose results are
// rounded once from there (device_math.def): a few units in fp64's last place
// are nothing in fp32's. So methods may be simple. Only what depends on the
// format itself has a version of each: the next number, and results rounded in
// a direction.
#include "device/cpu/LibrarySymbols.h"

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace {
constexpr double pi = 3.14159265358979323846;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

/// Derivative of erf, up to its sign that of erfc.
double erfSlope(double y) { return 2.0 / std::sqrt(pi) * std::exp(-y * y); }

/// An estimate of erfinv within some thousandths, from log(1 - x^2).
double estimateErfInverse(double logarithm) {
  constexpr double a = 0.147;
  double half = 2.0 / (pi * a) + logarithm / 2;
  return std::sqrt(std::sqrt(half * half - logarithm / a) - half);
}

/// y >= 0 with erfc(y) == q for 0 < q <= 1/2: Newton's method on logarithms,
/// which are almost a parabola.
double inverseOfTail(double q) {
  double y = estimateErfInverse(std::log(q) + std::log(2 - q));
  for (int i = 0; i < 6; ++i) {
    double value = std::erfc(y);
    if (value == 0)
      break;
    double step = (std::log(value) - std::log(q)) * value / erfSlope(y);
    y += step;
    if (std::fabs(step) < 1e-17 * y)
      break;
  }
  // A last step on the numbers themselves, whose difference is exact by now.
  double slope = erfSlope(y);
  return slope > 0 ? y + (std::erfc(y) - q) / slope : y;
}

double besselSeries(double x, int order) {
  // Sum of (x/2)^(2k+n) / (k! (k+n)!): all terms have one sign.
  double quarter = x * x / 4, term = order ? std::fabs(x) / 2 : 1.0, sum = term;
  for (int k = 1; k < 2000 && term > sum * 1e-18; ++k) {
    term *= quarter / (double(k) * (k + order));
    sum += term;
  }
  return order && x < 0 ? -sum : sum;
}

/// exp(x^2) without losing the low bits of the square.
double expOfSquare(double x) {
  double high = x * x;
  if (!std::isfinite(high))
    return high;
  double low = std::fma(x, x, -high);
  return std::exp(high) * (1 + low);
}

/// `operation` with the processor rounding in `mode`. Operands and results pass
/// through volatile variables so that nothing moves across the switches.
template <typename Operation> auto rounded(int mode, Operation operation) {
  int before = std::fegetround();
  std::fesetround(mode);
  volatile auto result = operation();
  std::fesetround(before);
  return decltype(operation())(result);
}
} // namespace

extern "C" {
double nrd_math_lgamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}
double nrd_math_tgamma(double x) { return std::tgamma(x); }

double nrd_math_erfinv(double x) {
  double size = std::fabs(x);
  if (!(size <= 1))
    return notANumber;
  if (size == 1)
    return std::copysign(infinity, x);
  if (size < 1e-8) // the next term is below half a unit of the last place
    return x * (std::sqrt(pi) / 2);
  if (size > 0.5)
    return std::copysign(inverseOfTail(1 - size), x);
  double y = estimateErfInverse(std::log1p(-size * size));
  for (int i = 0; i < 4; ++i)
    y -= (std::erf(y) - size) / erfSlope(y);
  return std::copysign(y, x);
}
double nrd_math_erfcinv(double q) {
  if (!(q >= 0 && q <= 2))
    return notANumber;
  if (q == 0 || q == 2)
    return q == 0 ? infinity : -infinity;
  if (q > 0.5 && q < 1.5)
    return nrd_math_erfinv(1 - q);
  return q < 1 ? inverseOfTail(q) : -inverseOfTail(2 - q);
}
double nrd_math_erfcx(double x) {
  if (x < 25)
    return expOfSquare(x) * std::erfc(x);
  // Asymptotic series; its terms shrink by more than 1000 each.
  double r = 1 / (2 * x * x), sum = 1, term = 1;
  for (int k = 1; k < 8; ++k) {
    term *= -(2 * k - 1) * r;
    sum += term;
  }
  return sum / (x * std::sqrt(pi));
}
double nrd_math_normcdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double nrd_math_normcdfinv(double p) { return -std::sqrt(2.0) * nrd_math_erfcinv(2 * p); }
double nrd_math_cyl_bessel_i0(double x) { return besselSeries(x, 0); }
double nrd_math_cyl_bessel_i1(double x) { return besselSeries(x, 1); }
double nrd_math_j0(double x) { return ::j0(x); }
double nrd_math_j1(double x) { return ::j1(x); }
double nrd_math_y0(double x) { return ::y0(x); }
double nrd_math_y1(double x) { return ::y1(x); }
double nrd_math_jn(int32_t n, double x) { return ::jn(n, x); }
double nrd_math_yn(int32_t n, double x) { return ::yn(n, x); }
double nrd_math_rcbrt(double x) { return 1 / std::cbrt(x); }
double nrd_math_logb(double x) { return std::logb(x); }
double nrd_math_cospi(double x);
double nrd_math_sinpi(double x) {
  if (!std::isfinite(x))
    return notANumber;
  double r = std::fmod(x, 2.0); // exact
  if (r == std::trunc(r))
    return std::copysign(0.0, x);
  double size = std::fabs(r), sign = r < 0 ? -1 : 1;
  if (size > 1) {
    size -= 1;
    sign = -sign;
  }
  if (size > 0.5)
    size = 1 - size;
  return sign * (size > 0.25 ? std::cos(pi * (0.5 - size)) : std::sin(pi * size));
}
double nrd_math_cospi(double x) {
  if (!std::isfinite(x))
    return notANumber;
  double size = std::fmod(std::fabs(x), 2.0), sign = 1;
  if (size > 1)
    size = 2 - size;
  if (size > 0.5) {
    size = 1 - size;
    sign = -1;
  }
  if (size == 0.5)
    return 0;
  return sign * (size > 0.25 ? std::sin(pi * (0.5 - size)) : std::cos(pi * size));
}
double nrd_math_exp10(double x) { return std::pow(10.0, x); }
double nrd_math_hypot(double x, double y) { return std::hypot(x, y); }
double nrd_math_rhypot(double x, double y) { return 1 / std::hypot(x, y); }
double nrd_math_remainder(double x, double y) { return std::remainder(x, y); }
double nrd_math_fdim(double x, double y) { return std::fdim(x, y); }
double nrd_math_norm3d(double x, double y, double z) { return std::hypot(std::hypot(x, y), z); }
double nrd_math_rnorm3d(double x, double y, double z) { return 1 / nrd_math_norm3d(x, y, z); }
double nrd_math_norm4d(double x, double y, double z, double w) {
  return std::hypot(std::hypot(x, y), std::hypot(z, w));
}
double nrd_math_rnorm4d(double x, double y, double z, double w) {
  return 1 / nrd_math_norm4d(x, y, z, w);
}
double nrd_math_ldexp(double x, int32_t n) { return std::ldexp(x, n); }
int32_t nrd_math_ilogb(double x) { return std::ilogb(x); }

/// Out of range: the nearest integer; NaN: 0.
static int64_t toInteger(double x) {
  if (std::isnan(x))
    return 0;
  if (x >= 0x1p63)
    return std::numeric_limits<int64_t>::max();
  return x < -0x1p63 ? std::numeric_limits<int64_t>::min() : int64_t(x);
}
int64_t nrd_math_llrint(double x) { return toInteger(std::nearbyint(x)); }
int64_t nrd_math_llround(double x) { return toInteger(std::round(x)); }

float nrd_math_nextafter_f32(float x, float y) { return std::nextafter(x, y); }
double nrd_math_nextafter_f64(double x, double y) { return std::nextafter(x, y); }

#define NRD_TYPED(MODE, FE, SUFFIX, TYPE)                                                          \
  TYPE nrd_math_add_##MODE##_##SUFFIX(TYPE x, TYPE y) {                                            \
    volatile TYPE a = x, b = y;                                                                    \
    return rounded(FE, [&] { return TYPE(a + b); });                                               \
  }                                                                                                \
  TYPE nrd_math_sub_##MODE##_##SUFFIX(TYPE x, TYPE y) {                                            \
    volatile TYPE a = x, b = y;                                                                    \
    return rounded(FE, [&] { return TYPE(a - b); });                                               \
  }                                                                                                \
  TYPE nrd_math_mul_##MODE##_##SUFFIX(TYPE x, TYPE y) {                                            \
    volatile TYPE a = x, b = y;                                                                    \
    return rounded(FE, [&] { return TYPE(a * b); });                                               \
  }                                                                                                \
  TYPE nrd_math_div_##MODE##_##SUFFIX(TYPE x, TYPE y) {                                            \
    volatile TYPE a = x, b = y;                                                                    \
    return rounded(FE, [&] { return TYPE(a / b); });                                               \
  }                                                                                                \
  TYPE nrd_math_sqrt_##MODE##_##SUFFIX(TYPE x) {                                                   \
    volatile TYPE a = x;                                                                           \
    return rounded(FE, [&] { return std::sqrt(TYPE(a)); });                                        \
  }                                                                                                \
  TYPE nrd_math_rcp_##MODE##_##SUFFIX(TYPE x) {                                                    \
    volatile TYPE a = x;                                                                           \
    return rounded(FE, [&] { return TYPE(1 / a); });                                               \
  }                                                                                                \
  TYPE nrd_math_fma_##MODE##_##SUFFIX(TYPE x, TYPE y, TYPE z) {                                    \
    volatile TYPE a = x, b = y, c = z;                                                             \
    return rounded(FE, [&] { return std::fma(TYPE(a), TYPE(b), TYPE(c)); });                       \
  }
#define NRD_CONVERSION(NAME, MODE, FE, TO, FROM, PASSED)                                           \
  TO nrd_math_##NAME##_##MODE(PASSED x) {                                                          \
    volatile FROM a = FROM(x);                                                                     \
    return rounded(FE, [&] { return TO(a); });                                                     \
  }
#define NRD_MODE(MODE, FE)                                                                         \
  NRD_TYPED(MODE, FE, f32, float)                                                                  \
  NRD_TYPED(MODE, FE, f64, double)                                                                 \
  NRD_CONVERSION(double2float, MODE, FE, float, double, double)                                    \
  NRD_CONVERSION(int2float, MODE, FE, float, int32_t, int32_t)                                     \
  NRD_CONVERSION(uint2float, MODE, FE, float, uint32_t, int32_t)                                   \
  NRD_CONVERSION(ll2float, MODE, FE, float, int64_t, int64_t)                                      \
  NRD_CONVERSION(ll2double, MODE, FE, double, int64_t, int64_t)
NRD_MODE(rz, FE_TOWARDZERO)
NRD_MODE(rd, FE_DOWNWARD)
NRD_MODE(ru, FE_UPWARD)
#undef NRD_MODE
#undef NRD_CONVERSION
#undef NRD_TYPED

} // extern "C"

/// A uint64 rounded to `bits` bits of mantissa; upwards when `up`. Done on the
/// integer, as compilers convert the upper half of the range in several steps.
static double roundedUnsigned(uint64_t x, int bits, bool up) {
  int length = x ? 64 - __builtin_clzll(x) : 0;
  if (length <= bits)
    return double(x);
  int shift = length - bits;
  uint64_t kept = x >> shift;
  if (up && (kept << shift) != x)
    ++kept;
  return std::ldexp(double(kept), shift);
}

extern "C" {
#define NRD_UNSIGNED(MODE, UP)                                                                     \
  float nrd_math_ull2float_##MODE(int64_t x) {                                                     \
    return float(roundedUnsigned(uint64_t(x), 24, UP));                                            \
  }                                                                                                \
  double nrd_math_ull2double_##MODE(int64_t x) { return roundedUnsigned(uint64_t(x), 53, UP); }
NRD_UNSIGNED(rz, false)
NRD_UNSIGNED(rd, false)
NRD_UNSIGNED(ru, true)
#undef NRD_UNSIGNED
} // extern "C"

const std::vector<nereid::runtime::RuntimeSymbol> &nereid::runtime::deviceMathSymbols() {
  static const std::vector<RuntimeSymbol> table = {
#define NRD_MATH(NAME, SIGNATURE) {"nrd_math_" #NAME, reinterpret_cast<void *>(&nrd_math_##NAME)},
#define NRD_MATH_TYPED(NAME, SIGNATURE)                                                            \
  {"nrd_math_" #NAME "_f32", reinterpret_cast<void *>(&nrd_math_##NAME##_f32)},                    \
      {"nrd_math_" #NAME "_f64", reinterpret_cast<void *>(&nrd_math_##NAME##_f64)},
#include "nereid/device_math.def"
  };
  return table;
}
