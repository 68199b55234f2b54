// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device/cpu/LibrarySymbols.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__)
// Conversions for CPUs without F16C, from the compiler's support library. Only
// their addresses are taken.
extern "C" {
void __truncsfhf2();
void __truncdfhf2();
void __extendhfsf2();
}
#endif

namespace nereid::runtime {

// Both forms of a function: fp64 and fp32.
#define UNARY(name)                                                                                \
  {#name, reinterpret_cast<void *>(static_cast<double (*)(double)>(::name))}, {                    \
    #name "f", reinterpret_cast<void *>(static_cast<float (*)(float)>(::name##f))                  \
  }
#define BINARY(name)                                                                               \
  {#name, reinterpret_cast<void *>(static_cast<double (*)(double, double)>(::name))}, {            \
    #name "f", reinterpret_cast<void *>(static_cast<float (*)(float, float)>(::name##f))           \
  }
#define TERNARY(name)                                                                              \
  {#name, reinterpret_cast<void *>(static_cast<double (*)(double, double, double)>(::name))}, {    \
    #name "f", reinterpret_cast<void *>(static_cast<float (*)(float, float, float)>(::name##f))    \
  }
#define WITH_INT(name)                                                                             \
  {#name, reinterpret_cast<void *>(static_cast<double (*)(double, int)>(::name))}, {               \
    #name "f", reinterpret_cast<void *>(static_cast<float (*)(float, int)>(::name##f))             \
  }

const std::vector<RuntimeSymbol> &librarySymbols() {
  static const std::vector<RuntimeSymbol> table = {
      UNARY(exp),
      UNARY(exp2),
      UNARY(expm1),
      UNARY(log),
      UNARY(log2),
      UNARY(log10),
      UNARY(log1p),
      UNARY(sqrt),
      UNARY(cbrt),
      UNARY(sin),
      UNARY(cos),
      UNARY(tan),
      UNARY(asin),
      UNARY(acos),
      UNARY(atan),
      UNARY(sinh),
      UNARY(cosh),
      UNARY(tanh),
      UNARY(asinh),
      UNARY(acosh),
      UNARY(atanh),
      UNARY(erf),
      UNARY(erfc),
      UNARY(tgamma),
      UNARY(lgamma),
      UNARY(floor),
      UNARY(ceil),
      UNARY(trunc),
      UNARY(round),
      UNARY(rint),
      UNARY(nearbyint),
      UNARY(fabs),
      BINARY(pow),
      BINARY(atan2),
      BINARY(fmod),
      BINARY(remainder),
      BINARY(hypot),
      BINARY(fmin),
      BINARY(fmax),
      BINARY(copysign),
      BINARY(nextafter),
      BINARY(fdim),
      TERNARY(fma),
      WITH_INT(ldexp),
      {"roundeven", reinterpret_cast<void *>(static_cast<double (*)(double)>(::rint))},
      {"roundevenf", reinterpret_cast<void *>(static_cast<float (*)(float)>(::rintf))},
      {"memcpy",
       reinterpret_cast<void *>(static_cast<void *(*)(void *, const void *, size_t)>(::memcpy))},
      {"memmove",
       reinterpret_cast<void *>(static_cast<void *(*)(void *, const void *, size_t)>(::memmove))},
      {"memset", reinterpret_cast<void *>(static_cast<void *(*)(void *, int, size_t)>(::memset))},
#if defined(__x86_64__)
      {"__truncsfhf2", reinterpret_cast<void *>(::__truncsfhf2)},
      {"__truncdfhf2", reinterpret_cast<void *>(::__truncdfhf2)},
      {"__extendhfsf2", reinterpret_cast<void *>(::__extendhfsf2)},
#endif
  };
  return table;
}

} // namespace nereid::runtime
