// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProcessorFeatures.h - What this processor can run --------*- C++ -*-===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_PROCESSORFEATURES_H
#define NEREID_RUNTIME_DEVICE_CPU_PROCESSORFEATURES_H

#include <string>
#include <string_view>
#include <vector>

namespace nereid::runtime {

/// Whether this processor, with the state that the system saves, has a feature by
/// LLVM's name. Null: a name that the table does not know.
const bool *processorHas(std::string_view feature);

/// As its maker calls it: "AMD EPYC 9B45 128-Core Processor".
std::string processorName();

/// The names among `features` that this processor lacks or that are not known.
std::vector<std::string> missingFeatures(const std::vector<std::string> &features);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_PROCESSORFEATURES_H
