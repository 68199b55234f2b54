// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/TargetFeatures.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <map>

using namespace nereid::cpu;

TargetFeatures TargetFeatures::host(unsigned maxVectorBits) {
  TargetFeatures target;
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = llvm::sys::getHostCPUName().str();

  // Sorted, so that equal hosts give equal strings (they are part of cache keys).
  std::map<std::string, bool> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features[feature.getKey().str()] = feature.getValue();
  auto has = [&](const char *name) {
    auto it = features.find(name);
    return it != features.end() && it->second;
  };

  if (maxVectorBits < 512)
    for (auto &[name, enabled] : features)
      if (llvm::StringRef(name).starts_with("avx512") || llvm::StringRef(name).starts_with("avx10"))
        enabled = false;
  if (maxVectorBits < 256)
    for (auto &[name, enabled] : features)
      if (llvm::StringRef(name).starts_with("avx") || name == "fma" || name == "f16c" ||
          name == "fma4" || name == "xop" || name == "vaes" || name == "vpclmulqdq")
        enabled = false;

  llvm::Triple triple(target.triple);
  if (triple.isX86()) {
    bool avx512 = has("avx512f") && has("avx512vl") && has("avx512bw") && has("avx512dq");
    target.vectorBits = avx512 ? 512 : has("avx2") ? 256 : 128;
    target.vectorRegisters = avx512 ? 32 : 16;
    target.hasFMA = has("fma");
    target.hasF16C = has("f16c");
    target.hasAVX512BF16 = avx512 && has("avx512bf16");
    target.hasMaskedVectors = has("avx2");
    target.hasByteMasks = avx512;
  } else if (triple.isAArch64()) {
    target.vectorBits = 128;
    target.vectorRegisters = 32;
    target.hasFMA = true;
    target.hasF16C = true;
  }
  for (const auto &[name, enabled] : features) {
    if (!target.features.empty())
      target.features += ',';
    target.features += (enabled ? "+" : "-") + name;
  }
  return target;
}

TargetFeatures TargetFeatures::named(llvm::StringRef name, std::string *error) {
  if (name.empty() || name == "host") {
    static const TargetFeatures thisMachine = host(); // each compilation asks several times
    return thisMachine;
  }
  int level = llvm::StringSwitch<int>(name)
                  .Case("x86-64-v2", 2)
                  .Case("x86-64-v3", 3)
                  .Case("x86-64-v4", 4)
                  .Default(0);
  if (level == 0) {
    if (error)
      *error =
          "unknown CPU '" + name.str() + "'; known are host, x86-64-v2, x86-64-v3 and x86-64-v4";
    return host();
  }
  TargetFeatures target;
  target.triple = llvm::Triple("x86_64-unknown-linux-gnu").str();
  target.cpu = name.str();
  target.vectorBits = level == 4 ? 512 : level == 3 ? 256 : 128;
  target.vectorRegisters = level == 4 ? 32 : 16;
  target.hasFMA = target.hasF16C = target.hasMaskedVectors = level >= 3;
  target.hasByteMasks = level == 4;
  return target;
}
