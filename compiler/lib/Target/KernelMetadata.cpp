// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Target/KernelMetadata.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace nereid;

std::string KernelMetadata::toJSON() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  json.object([&] {
    json.attribute("name", name);
    json.attributeArray("args", [&] {
      for (const std::string &type : argumentTypes)
        json.value(type);
    });
    json.attribute("scratch_bytes", int64_t(scratchBytes));
    json.attribute("blocking", blocking);
    json.attribute("distributed", distributed);
    json.attribute("launch_mode", launchMode);
    json.attribute("lanes", int64_t(lanes));
    json.attributeArray("symmetric_args", [&] {
      for (unsigned index : symmetricArguments)
        json.value(int64_t(index));
    });
    json.attributeArray("sites", [&] {
      for (const Site &site : sites)
        json.array([&] {
          json.value(llvm::json::fixUTF8(site.file));
          json.value(int64_t(site.line));
          json.value(int64_t(site.column));
          json.value(site.function);
          json.value(llvm::json::fixUTF8(site.text));
        });
    });
    json.attribute("abi_version", int64_t(abiVersion));
    json.attribute("target_cpu", targetCPU);
  });
  return text;
}
