// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CUDA/KernelObject.h"

#include "nereid/Target/KernelSection.h"

#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace nereid;

Expected<std::vector<uint32_t>> nereid::cuda::parameterBytes(StringRef ptx, StringRef name) {
  auto problem = [&](const Twine &text) {
    return createStringError(inconvertibleErrorCode(), "the PTX " + text);
  };
  size_t begin = ptx.find((".entry " + name + "(").str());
  if (begin == StringRef::npos)
    return problem("has no function '" + name + "'");
  StringRef list = ptx.substr(begin).split('(').second.split(')').first;
  std::vector<uint32_t> sizes;
  SmallVector<StringRef> rows;
  list.split(rows, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef row : rows) {
    // .param .u64 .ptr .global .align 16 NAME, or .param .align 2 .b8 NAME[2]
    row = row.trim();
    unsigned bits = 0, bytes = 0;
    bool known = row.consume_front(".param .");
    if (row.starts_with("align ") && row.consume_back("]")) {
      known &= !row.rsplit('[').second.getAsInteger(10, bytes);
    } else {
      known &= !row.empty() && !row.drop_front().consumeInteger(10, bits);
      bytes = bits / 8;
    }
    if (!known || bits % 8 || bytes < 1 || bytes > 8)
      return problem("has a parameter of an unknown form: " + row);
    sizes.push_back(bytes);
  }
  return sizes;
}

std::string nereid::cuda::makeKernelObject(StringRef cubin, const KernelMetadata &metadata,
                                           int arch, CUDAImage image) {
  KernelSection section(metadata);
  section.info.architecture = section.string("sm_" + std::to_string(arch));
  image.cubinBytes = uint32_t(cubin.size());
  section.info.code_bytes = uint32_t(sizeof(image) + cubin.size());
  std::string bytes = section.finish(/*alignment=*/8);
  bytes.append(reinterpret_cast<const char *>(&image), sizeof(image));
  bytes += cubin;
  sealKernelObject({bytes.data(), bytes.size()}, /*section=*/0);
  return bytes;
}
