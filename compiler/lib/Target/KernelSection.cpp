// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Target/KernelSection.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

#include <cstddef>
#include <cstring>

using namespace nereid;

KernelSection::KernelSection(const KernelMetadata &metadata) {
  info.magic = NRD_KERNEL_MAGIC;
  info.abi_version = NRD_ABI_VERSION;
  info.size = sizeof(info);
  info.scratch_bytes = metadata.scratchBytes;
  info.flags = (metadata.blocking ? NRD_KERNEL_BLOCKING : 0) |
               (metadata.distributed ? NRD_KERNEL_DISTRIBUTED : 0) |
               (metadata.instrumented ? NRD_KERNEL_INSTRUMENTED : 0);
  info.lanes = metadata.lanes;
  info.name = string(metadata.name);
  info.launch_mode = string(metadata.launchMode);
  info.architecture = info.cpu = info.features = string("");
  symmetric.resize((metadata.arguments.size() + 63) / 64);
  for (auto [i, argument] : llvm::enumerate(metadata.arguments)) {
    args.push_back({string(argument.name), string(argument.type), uint64_t(argument.divisibility)});
    if (argument.symmetric)
      symmetric[i / 64] |= uint64_t(1) << i % 64;
  }
  auto text = [&](const std::string &any) { return string(llvm::json::fixUTF8(any)); };
  for (const Site &site : metadata.sites)
    sites.push_back(
        {site.line, site.column, text(site.file), text(site.function), text(site.text)});
}

uint32_t KernelSection::string(llvm::StringRef text) {
  auto [row, isNew] = known.try_emplace(text, uint32_t(strings.size()));
  if (isNew) {
    strings.append(text.begin(), text.end());
    strings.push_back('\0');
  }
  return row->second;
}

/// String numbers become positions.
std::string KernelSection::finish(unsigned alignment) {
  std::string bytes(sizeof(info), '\0');
  auto table = [&](auto &rows) {
    uint32_t at = uint32_t(bytes.size());
    bytes.append(reinterpret_cast<const char *>(rows.data()), rows.size() * sizeof(rows[0]));
    return at;
  };
  uint32_t begin = uint32_t(sizeof(info) + args.size() * sizeof(args[0]) +
                            symmetric.size() * sizeof(symmetric[0]) +
                            sites.size() * sizeof(sites[0]) + lines.size() * sizeof(lines[0]));
  for (nrd_kernel_arg &arg : args) {
    arg.name += begin;
    arg.type += begin;
  }
  for (nrd_kernel_site &site : sites) {
    site.file += begin;
    site.function += begin;
    site.text += begin;
  }
  for (uint32_t *field :
       {&info.name, &info.launch_mode, &info.architecture, &info.cpu, &info.features})
    *field += begin;
  info.num_args = uint32_t(args.size());
  info.num_sites = uint32_t(sites.size());
  info.num_lines = uint32_t(lines.size());
  info.args = table(args);
  info.symmetric = table(symmetric);
  info.sites = table(sites);
  info.lines = table(lines);
  info.strings = uint32_t(bytes.size());
  bytes += strings;
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
  info.section_bytes = uint32_t(bytes.size());
  std::memcpy(bytes.data(), &info, sizeof(info));
  return bytes;
}

void nereid::sealKernelObject(llvm::MutableArrayRef<char> file, uint64_t section) {
  uint64_t size = file.size();
  std::memcpy(file.data() + section + offsetof(nrd_kernel_info, file_bytes), &size, sizeof(size));
  uint64_t hole = section + offsetof(nrd_kernel_info, checksum);
  uint64_t checksum = nrd_kernel_checksum(file.data(), size, hole);
  std::memcpy(file.data() + hole, &checksum, sizeof(checksum));
}
