// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/runtime/KernelCode.h"

namespace nereid::runtime {

const std::vector<RuntimeSymbol> &runtimeSymbols() {
  static const std::vector<RuntimeSymbol> symbols = {
#define NRD_ENTRY(NAME, SIGNATURE) {#NAME, reinterpret_cast<void *>(&NAME)},
#include "nereid/entry_points.def"
  };
  return symbols;
}

} // namespace nereid::runtime
