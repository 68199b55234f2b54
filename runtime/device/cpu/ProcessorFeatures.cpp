// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProcessorFeatures.cpp - What this processor can run ----------------===//
//
// An object file names the features that its code uses, by LLVM's names; this
// table says for each which bit of CPUID stands for it. (__builtin_cpu_supports
// takes names that are known when it is compiled.)
//
// A bit of the processor is not enough. Wide registers are of use only when the
// operating system saves them at a switch of threads, which it says in XCR0: a
// feature counts when both have it. A name that is not in the table counts as
// missing: better a message that says so than an illegal instruction.
//
//===----------------------------------------------------------------------===//
#include "device/cpu/ProcessorFeatures.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace nereid::runtime {
namespace {

enum Register : uint8_t { EAX, EBX, ECX, EDX };
/// What the system must save of a thread for the feature to be of use.
enum State : uint8_t { None, AVX, AVX512, APX };

/// One bit of what the instruction CPUID tells. `least`: not a bit but the lowest
/// byte of the register, which must be at least this.
struct Feature {
  const char *name;
  uint32_t leaf, subleaf;
  Register reg;
  uint8_t bit;
  State state = None;
  uint8_t least = 0;
};

/// What the code generator may use, by LLVM's names.
constexpr Feature features[] = {
    {"x87", 1, 0, EDX, 0},
    {"cx8", 1, 0, EDX, 8},
    {"cmov", 1, 0, EDX, 15},
    {"mmx", 1, 0, EDX, 23},
    {"fxsr", 1, 0, EDX, 24},
    {"sse", 1, 0, EDX, 25},
    {"sse2", 1, 0, EDX, 26},
    {"sse3", 1, 0, ECX, 0},
    {"pclmul", 1, 0, ECX, 1},
    {"ssse3", 1, 0, ECX, 9},
    {"fma", 1, 0, ECX, 12, AVX},
    {"cx16", 1, 0, ECX, 13},
    {"sse4.1", 1, 0, ECX, 19},
    {"sse4.2", 1, 0, ECX, 20},
    {"crc32", 1, 0, ECX, 20},
    {"movbe", 1, 0, ECX, 22},
    {"popcnt", 1, 0, ECX, 23},
    {"aes", 1, 0, ECX, 25},
    {"avx", 1, 0, ECX, 28, AVX},
    {"f16c", 1, 0, ECX, 29, AVX},
    {"bmi", 7, 0, EBX, 3},
    {"avx2", 7, 0, EBX, 5, AVX},
    {"bmi2", 7, 0, EBX, 8},
    {"avx512f", 7, 0, EBX, 16, AVX512},
    {"avx512dq", 7, 0, EBX, 17, AVX512},
    {"adx", 7, 0, EBX, 19},
    {"avx512ifma", 7, 0, EBX, 21, AVX512},
    {"avx512cd", 7, 0, EBX, 28, AVX512},
    {"sha", 7, 0, EBX, 29},
    {"avx512bw", 7, 0, EBX, 30, AVX512},
    {"avx512vl", 7, 0, EBX, 31, AVX512},
    {"avx512vbmi", 7, 0, ECX, 1, AVX512},
    {"avx512vbmi2", 7, 0, ECX, 6, AVX512},
    {"gfni", 7, 0, ECX, 8},
    {"vaes", 7, 0, ECX, 9, AVX},
    {"vpclmulqdq", 7, 0, ECX, 10, AVX},
    {"avx512vnni", 7, 0, ECX, 11, AVX512},
    {"avx512bitalg", 7, 0, ECX, 12, AVX512},
    {"avx512vpopcntdq", 7, 0, ECX, 14, AVX512},
    {"movdiri", 7, 0, ECX, 27},
    {"movdir64b", 7, 0, ECX, 28},
    {"avx512vp2intersect", 7, 0, EDX, 8, AVX512},
    {"avx512fp16", 7, 0, EDX, 23, AVX512},
    {"sha512", 7, 1, EAX, 0, AVX},
    {"sm3", 7, 1, EAX, 1, AVX},
    {"sm4", 7, 1, EAX, 2, AVX},
    {"raoint", 7, 1, EAX, 3},
    {"avxvnni", 7, 1, EAX, 4, AVX},
    {"avx512bf16", 7, 1, EAX, 5, AVX512},
    {"cmpccxadd", 7, 1, EAX, 7},
    {"avxifma", 7, 1, EAX, 23, AVX},
    {"avxvnniint8", 7, 1, EDX, 4, AVX},
    {"avxneconvert", 7, 1, EDX, 5, AVX},
    {"avxvnniint16", 7, 1, EDX, 10, AVX},
    {"egpr", 7, 1, EDX, 21, APX},
    {"push2pop2", 7, 1, EDX, 21, APX},
    {"ppx", 7, 1, EDX, 21, APX},
    {"ndd", 7, 1, EDX, 21, APX},
    {"ccmp", 7, 1, EDX, 21, APX},
    {"nf", 7, 1, EDX, 21, APX},
    {"cf", 7, 1, EDX, 21, APX},
    {"zu", 7, 1, EDX, 21, APX},
    {"avx10.1", 0x24, 0, EBX, 0, AVX512, 1},
    {"avx10.2", 0x24, 0, EBX, 0, AVX512, 2},
    {"sahf", 0x80000001, 0, ECX, 0},
    {"lzcnt", 0x80000001, 0, ECX, 5},
    {"sse4a", 0x80000001, 0, ECX, 6},
    {"prfchw", 0x80000001, 0, ECX, 8},
    {"xop", 0x80000001, 0, ECX, 11, AVX},
    {"fma4", 0x80000001, 0, ECX, 16, AVX},
    {"tbm", 0x80000001, 0, ECX, 21},
    {"64bit", 0x80000001, 0, EDX, 29},
};
constexpr size_t numFeatures = sizeof(features) / sizeof(features[0]);

#if defined(__x86_64__)

using Registers = std::array<uint32_t, 4>;

/// What the processor says of itself. Asks for each leaf once: in a virtual machine
/// the instruction takes tens of microseconds.
class Identification {
public:
  /// All zero for a leaf that the processor does not have.
  const Registers &operator()(uint32_t leaf, uint32_t subleaf = 0) {
    auto [entry, isNew] = known.try_emplace({leaf, subleaf}, Registers{});
    if (isNew && has(leaf, subleaf))
      entry->second = ask(leaf, subleaf);
    return entry->second;
  }

private:
  static Registers ask(uint32_t leaf, uint32_t subleaf) {
    Registers r{};
    __cpuid_count(leaf, subleaf, r[EAX], r[EBX], r[ECX], r[EDX]);
    return r;
  }
  bool has(uint32_t leaf, uint32_t subleaf) {
    const uint32_t first = leaf & 0x80000000u;
    if (leaf == first)
      return true;
    return (*this)(first)[EAX] >= leaf && (leaf != 7 || subleaf == 0 || (*this)(7)[EAX] >= subleaf);
  }

  std::map<std::pair<uint32_t, uint32_t>, Registers> known;
};

/// XCR0: what the system saves.
uint64_t savedState(Identification &query) {
  if (!(query(1)[ECX] & (1u << 27)))
    return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

std::array<bool, numFeatures> detect() {
  constexpr uint64_t needed[] = {0, 0x6, 0xe6, uint64_t(1) << 19};
  Identification query;
  uint64_t saved = savedState(query);
  std::array<bool, numFeatures> has{};
  for (size_t i = 0; i < numFeatures; ++i) {
    const Feature &f = features[i];
    uint32_t value = query(f.leaf, f.subleaf)[f.reg];
    // Only with AVX10 does its leaf mean something.
    if (f.leaf == 0x24 && !(query(7, 1)[EDX] & (1u << 19)))
      value = 0;
    bool present = f.least ? (value & 0xff) >= f.least : (value >> f.bit & 1) != 0;
    has[i] = present && (saved & needed[f.state]) == needed[f.state];
  }
  return has;
}

std::string brand() {
  Identification query;
  std::string text;
  if (query(0x80000000u)[EAX] >= 0x80000004u)
    for (uint32_t leaf = 0x80000002u; leaf <= 0x80000004u; ++leaf)
      text.append(reinterpret_cast<const char *>(query(leaf).data()), sizeof(Registers));
  // Padded with zeros, and with spaces on either side.
  text.resize(std::strlen(text.c_str()));
  const size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

#else
std::array<bool, numFeatures> detect() { return {}; }
std::string brand() { return ""; }
#endif

} // namespace

std::string processorName() {
  std::string name = brand();
  return name.empty() ? "a processor that does not tell its name" : name;
}

const bool *processorHas(std::string_view feature) {
  static const std::array<bool, numFeatures> has = detect();
  for (size_t i = 0; i < numFeatures; ++i)
    if (feature == features[i].name)
      return &has[i];
  return nullptr;
}

std::vector<std::string> missingFeatures(const std::vector<std::string> &wanted) {
  std::vector<std::string> missing;
  for (const std::string &feature : wanted)
    if (const bool *has = processorHas(feature); !has || !*has)
      missing.push_back(feature);
  return missing;
}

} // namespace nereid::runtime
