// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Copy.cpp - Copies by vector registers ------------------------------===//
//
// All ways have one shape. The first and the last vector are moved unaligned,
// what lies between in whole vectors to aligned addresses; the ends overlap
// with the middle, so that no rest is left for smaller moves. The last vector
// is loaded before anything is stored.
//
//       pull            avx512 with prefetches; from 4 KiB on `rep movsb`, where the processor is
//                       good at it and the source lies in its line as the target does; avx2
//                       or sse where there is no avx512
//       push < 16 KiB   avx2 or sse, ordinary stores
//       push            stores that bypass the caches, and a fence after them
//
// What the processor has is asked at run time. On other processors, and under
// sanitizers, which must see each access, it is memmove.
//
//===----------------------------------------------------------------------===//
#include "transport/shared_memory/Copy.h"

#include "base/Sanitizer.h"

#include <cstring>

#if defined(__x86_64__) && !defined(NEREID_TSAN) && !defined(NEREID_ASAN)
#define NEREID_VECTOR_COPY 1
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace nereid::runtime {

#if NEREID_VECTOR_COPY

/// From here on pushes bypass the caches: below it the peer reads the data
/// faster out of this core's cache than out of memory.
static constexpr uint64_t kStreamBytes = 16 * 1024;

/// Up to 16 bytes by two overlapping moves.
static inline void copySmall(uint8_t *to, const uint8_t *from, uint64_t n) {
  if (n >= 8) {
    uint64_t a, b;
    std::memcpy(&a, from, 8);
    std::memcpy(&b, from + n - 8, 8);
    std::memcpy(to, &a, 8);
    std::memcpy(to + n - 8, &b, 8);
  } else if (n >= 4) {
    uint32_t a, b;
    std::memcpy(&a, from, 4);
    std::memcpy(&b, from + n - 4, 4);
    std::memcpy(to, &a, 4);
    std::memcpy(to + n - 4, &b, 4);
  } else {
    for (uint64_t i = 0; i < n; ++i)
      to[i] = from[i];
  }
}

static void copySse(uint8_t *to, const uint8_t *from, uint64_t n, bool stream) {
  if (n <= 16)
    return copySmall(to, from, n);
  __m128i last = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + n - 16));
  uint8_t *lastAt = to + n - 16;
  uint64_t head = (16 - (uintptr_t(to) & 15)) & 15;
  if (head) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to),
                     _mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
    to += head;
    from += head;
    n -= head;
  }
  for (; n >= 64; n -= 64, to += 64, from += 64)
    for (int i = 0; i < 64; i += 16) {
      __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + i));
      if (stream)
        _mm_stream_si128(reinterpret_cast<__m128i *>(to + i), v);
      else
        _mm_store_si128(reinterpret_cast<__m128i *>(to + i), v);
    }
  for (; n >= 16; n -= 16, to += 16, from += 16)
    _mm_store_si128(reinterpret_cast<__m128i *>(to),
                    _mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
  _mm_storeu_si128(reinterpret_cast<__m128i *>(lastAt), last);
}

__attribute__((target("avx2"))) static void copyAvx(uint8_t *to, const uint8_t *from, uint64_t n,
                                                    bool stream) {
  if (n < 64)
    return copySse(to, from, n, false);
  __m256i last = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + n - 32));
  uint8_t *lastAt = to + n - 32;
  uint64_t head = (32 - (uintptr_t(to) & 31)) & 31;
  if (head) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)));
    to += head;
    from += head;
    n -= head;
  }
  if (stream) {
    for (; n >= 128; n -= 128, to += 128, from += 128)
      for (int i = 0; i < 128; i += 32)
        _mm256_stream_si256(reinterpret_cast<__m256i *>(to + i),
                            _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + i)));
  } else {
    for (; n >= 128; n -= 128, to += 128, from += 128)
      for (int i = 0; i < 128; i += 32)
        _mm256_store_si256(reinterpret_cast<__m256i *>(to + i),
                           _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + i)));
  }
  for (; n >= 32; n -= 32, to += 32, from += 32)
    _mm256_store_si256(reinterpret_cast<__m256i *>(to),
                       _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)));
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(lastAt), last);
}

/// How far loads of a pull run ahead.
static constexpr uint64_t kAhead = 2048;

/// From here on starting `rep movsb` pays.
static constexpr uint64_t kStringBytes = 4096;

/// Does the processor copy long strings by whole lines (ERMS)?
static bool fastStrings() {
  static const bool fast = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 9 & 1);
  }();
  return fast;
}

/// Whole lines; loads run ahead by prefetches, since lines out of another
/// core's cache take longer to come than the core looks ahead by itself.
__attribute__((target("avx512f"))) static void copyWide(uint8_t *to, const uint8_t *from,
                                                        uint64_t n, bool stream) {
  if (n < 128)
    return copyAvx(to, from, n, false);
  __m512i last = _mm512_loadu_si512(from + n - 64);
  uint8_t *lastAt = to + n - 64;
  uint64_t head = (64 - (uintptr_t(to) & 63)) & 63;
  if (head) {
    _mm512_storeu_si512(to, _mm512_loadu_si512(from));
    to += head;
    from += head;
    n -= head;
  }
  if (stream) {
    for (; n >= 256; n -= 256, to += 256, from += 256)
      for (int i = 0; i < 256; i += 64)
        _mm512_stream_si512(reinterpret_cast<__m512i *>(to + i), _mm512_loadu_si512(from + i));
  } else if (n >= kStringBytes && (uintptr_t(from) & 63) == 0 && fastStrings()) {
    // The processor's own copy takes whole lines without reading what it will
    // overwrite; with the two sides shifted against each other it is a trap.
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory");
    return;
  } else {
    for (; n >= 256 + kAhead; n -= 256, to += 256, from += 256)
      for (int i = 0; i < 256; i += 64) {
        _mm_prefetch(reinterpret_cast<const char *>(from + i + kAhead), _MM_HINT_T0);
        _mm512_store_si512(to + i, _mm512_loadu_si512(from + i));
      }
  }
  for (; n >= 64; n -= 64, to += 64, from += 64)
    _mm512_store_si512(to, _mm512_loadu_si512(from));
  _mm512_storeu_si512(lastAt, last);
}

enum class Way { Pull, Push, Stream };

static void copyAny(void *to, const void *from, uint64_t bytes, Way way) {
  static const bool wide = __builtin_cpu_supports("avx512f");
  static const bool avx = __builtin_cpu_supports("avx2");
  uint8_t *t = static_cast<uint8_t *>(to);
  const uint8_t *f = static_cast<const uint8_t *>(from);
  const bool stream = way == Way::Stream;
  if (bytes <= 16)
    return copySmall(t, f, bytes);
  if (wide && way != Way::Push)
    copyWide(t, f, bytes, stream);
  else if (avx)
    copyAvx(t, f, bytes, stream);
  else
    copySse(t, f, bytes, stream);
  // Streaming stores are not ordered with anything by themselves.
  if (stream)
    _mm_sfence();
}

void copyPull(void *to, const void *from, uint64_t bytes) { copyAny(to, from, bytes, Way::Pull); }
void copyPush(void *to, const void *from, uint64_t bytes) {
  copyAny(to, from, bytes, bytes >= kStreamBytes ? Way::Stream : Way::Push);
}

#else

void copyPull(void *to, const void *from, uint64_t bytes) {
  if (bytes) // the pointers may be null without
    std::memmove(to, from, bytes);
}
void copyPush(void *to, const void *from, uint64_t bytes) {
  if (bytes) // the pointers may be null without
    std::memmove(to, from, bytes);
}

#endif

} // namespace nereid::runtime
