// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TransferBench.cpp - get and put against loops of loads and stores --===//
//
//   get           the peer has just written its memory; time of the read
//   put, consume  the peer has just read its memory; time from the push until
//                 the peer has read all of it again
//
// Ours and bare take turns operation by operation inside one launch.
//
//===----------------------------------------------------------------------===//
#include "Bench.h"

#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace nereid::bench {

using namespace nereid::runtime;

//===----------------------------------------------------------------------===//
// Loops written by hand
//===----------------------------------------------------------------------===//

/// Reads all of it, keeps nothing; bytes is a multiple of 256.
#if defined(__x86_64__)
__attribute__((target("avx2"))) static uint64_t readAll(const uint8_t *from, uint64_t bytes) {
  __m256i sum[4] = {};
  for (uint64_t i = 0; i < bytes; i += 128)
    for (int k = 0; k < 4; ++k)
      sum[k] = _mm256_xor_si256(
          sum[k], _mm256_load_si256(reinterpret_cast<const __m256i *>(from + i + 32 * k)));
  sum[0] = _mm256_xor_si256(_mm256_xor_si256(sum[0], sum[1]), _mm256_xor_si256(sum[2], sum[3]));
  return uint64_t(_mm256_extract_epi64(sum[0], 0)) ^ uint64_t(_mm256_extract_epi64(sum[0], 2));
}

/// Around the caches, 64 bytes at a time.
__attribute__((target("avx512f"))) static void pushWide(uint8_t *to, const uint8_t *from,
                                                        uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; i += 256)
    for (int k = 0; k < 256; k += 64)
      _mm512_stream_si512(reinterpret_cast<__m512i *>(to + i + k),
                          _mm512_loadu_si512(from + i + k));
  _mm_sfence();
}

__attribute__((target("avx2"))) static void pushAvx(uint8_t *to, const uint8_t *from,
                                                    uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; i += 128)
    for (int k = 0; k < 128; k += 32)
      _mm256_stream_si256(reinterpret_cast<__m256i *>(to + i + k),
                          _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + i + k)));
  _mm_sfence();
}

static void pushAll(uint8_t *to, const uint8_t *from, uint64_t bytes) {
  static const bool wide = __builtin_cpu_supports("avx512f");
  wide ? pushWide(to, from, bytes) : pushAvx(to, from, bytes);
}
#else
static uint64_t readAll(const uint8_t *from, uint64_t bytes) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < bytes; i += 8) {
    uint64_t word;
    std::memcpy(&word, from + i, 8);
    sum ^= word;
  }
  return sum;
}
static void pushAll(uint8_t *to, const uint8_t *from, uint64_t bytes) {
  std::memcpy(to, from, bytes);
}
#endif

static void fill(uint8_t *to, uint64_t bytes, uint64_t value) {
  auto *words = reinterpret_cast<uint64_t *>(to);
  for (uint64_t i = 0; i < bytes / 8; ++i)
    words[i] = value + i;
}

//===----------------------------------------------------------------------===//
// The kernels
//===----------------------------------------------------------------------===//

namespace {
enum Way { Ours, Bare, Plain, Ways };

struct Transfer {
  Bench &bench;
  uint8_t *heap;  ///< this rank's symmetric buffer
  uint8_t *local; ///< this rank's private one
  uint64_t bytes = 0;
  int rounds = 0;
  uint64_t turn = 0; ///< flags of the bare kind, both ranks count alike
  std::vector<double> times[Ways] = {};
  uint64_t sink = 0;

  void send() { bench.at(1 - bench.rank()).ready.store(++turn, std::memory_order_release); }
  void receive() {
    ++turn;
    while (bench.own->ready.load(std::memory_order_acquire) != turn)
      pause();
  }
};
} // namespace

static Transfer &transferOf(const uint64_t *args) { return *reinterpret_cast<Transfer *>(args[0]); }

/// Rank 1 writes, rank 0 reads.
static void getKernel(nrd_program *p, const uint64_t *args) {
  Transfer &t = transferOf(args);
  auto *peer = static_cast<uint8_t *>(t.bench.job.peerAddress(t.heap, 1));
  for (int i = 0; i < t.rounds; ++i) {
    if (p->rank == 1) {
      fill(t.heap, t.bytes, uint64_t(i));
      t.send();
      t.receive();
      continue;
    }
    t.receive();
    Way way = Way(i % Ways);
    double begin = now();
    if (way == Ours)
      nrd_shmem_get(p, t.local, t.heap, t.bytes, 1, 0, 0);
    else if (way == Bare)
      t.sink ^= readAll(peer, t.bytes);
    else
      std::memcpy(t.local, peer, t.bytes);
    t.times[way].push_back(now() - begin);
    asm volatile("" ::"r"(t.local) : "memory");
    t.send();
  }
}

/// Rank 0 pushes, rank 1 reads and answers. Signals of ours go through the
/// runtime, bare ones are flags.
static void putKernel(nrd_program *p, const uint64_t *args) {
  Transfer &t = transferOf(args);
  uint64_t *signal = &t.bench.own->signal, *answer = &t.bench.own->answer;
  auto *peer = static_cast<uint8_t *>(t.bench.job.peerAddress(t.heap, 1));
  uint64_t turn = 0;
  for (int i = 0; i < t.rounds; ++i) {
    Way way = Way(i % Ways);
    ++turn;
    if (p->rank == 1) {
      if (way == Ours)
        nrd_wait(p, signal, 1, int64_t(turn), 8, 0);
      else
        t.receive();
      t.sink ^= readAll(t.heap, t.bytes);
      if (way == Ours)
        nrd_notify(p, answer, int64_t(turn), 0, NRD_SIG_SET, NRD_COMM_INTRA_NODE, 8, 0);
      else
        t.send();
      continue;
    }
    fill(t.local, t.bytes, uint64_t(i));
    double begin = now();
    if (way == Ours) {
      nrd_shmem_put_signal(p, t.heap, t.local, t.bytes, signal, turn, NRD_SIG_SET, 1, 8, 0, 0);
      nrd_wait(p, answer, 1, int64_t(turn), 8, 0);
    } else {
      if (way == Bare)
        pushAll(peer, t.local, t.bytes);
      else
        std::memcpy(peer, t.local, t.bytes);
      t.send();
      t.receive();
    }
    t.times[way].push_back(now() - begin);
  }
}

//===----------------------------------------------------------------------===//

void benchTransfers(Bench &bench) {
  if (bench.ranks() != 2)
    return;
  constexpr uint64_t kMax = 4 << 20;
  auto heap = bench.job.allocate(kMax, {"data", "", ""});
  if (!heap.ok())
    return;
  void *local = nullptr;
  if (posix_memalign(&local, 4096, kMax))
    return;
  std::memset(local, 1, kMax);
  auto against = [&](const std::string &name, nrd_kernel_fn kernel, uint64_t bytes, Way bareWay,
                     double bar) {
    bench.compareTimes(
        name, double(bytes), bar, [&](std::vector<double> &bare, std::vector<double> &ours) {
          Transfer t{bench, static_cast<uint8_t *>(*heap), static_cast<uint8_t *>(local)};
          t.bytes = bytes;
          t.rounds = bytes >= 1 << 20 ? 18 : 90;
          bench.bareBarrier();
          bench.own->ready.store(0);
          bench.own->signal = bench.own->answer = 0;
          bench.bareBarrier();
          bench.launch(kernel, {reinterpret_cast<uint64_t>(&t)}, 1);
          bare = t.times[bareWay];
          ours = t.times[Ours];
        });
  };
  for (uint64_t bytes : {uint64_t(4) << 10, uint64_t(64) << 10, uint64_t(512) << 10, kMax}) {
    const std::string size = bytes >= 1 << 20 ? std::to_string(bytes >> 20) + " MiB"
                                              : std::to_string(bytes >> 10) + " KiB";
    const bool counts = bytes >= 64 << 10;
    against("get " + size + " / memcpy from the peer", getKernel, bytes, Plain, counts ? 0.9 : 0);
    against("get " + size + " / loads alone", getKernel, bytes, Bare, 0);
    against("put + consume " + size + " / NT stores", putKernel, bytes, Bare, counts ? 0.9 : 0);
    against("put + consume " + size + " / memcpy", putKernel, bytes, Plain, 0);
  }
  std::free(local);
}

} // namespace nereid::bench
