// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Objects.h - Kernel objects of the device cuda, for tests -----------===//
#ifndef NEREID_UNITTESTS_RUNTIME_CUDA_OBJECTS_H
#define NEREID_UNITTESTS_RUNTIME_CUDA_OBJECTS_H

#include "nereid/cuda_kernel.h"
#include "nereid/kernel.h"

#include <string>
#include <vector>

namespace nereid::test {

struct CUDAObject {
  std::string name = "adds";
  std::vector<std::string> types = {"*i64"};
  bool blocking = false, usesRuntime = false;
  int sites = 0; ///< lines 10, 20, ... of kernel.py
  std::string cubin = "fake cubin";
  std::string architecture = "sm_90";
  uint32_t scratchBytes = 0;

  std::string bytes() const {
    std::string strings;
    auto text = [&](const std::string &value) {
      uint32_t at = uint32_t(strings.size());
      strings += value;
      strings.push_back('\0');
      return at;
    };
    nrd_kernel_info info{};
    info.magic = NRD_KERNEL_MAGIC;
    info.abi_version = NRD_ABI_VERSION;
    info.size = sizeof(info);
    info.flags = (blocking ? NRD_KERNEL_BLOCKING : 0) | (usesRuntime ? NRD_KERNEL_DISTRIBUTED : 0);
    info.lanes = 1;
    std::vector<nrd_kernel_arg> args;
    for (size_t i = 0; i < types.size(); ++i)
      args.push_back({text("arg" + std::to_string(i)), text(types[i]), 0});
    std::vector<uint64_t> symmetric((types.size() + 63) / 64);
    std::vector<nrd_kernel_site> rows;
    for (int i = 0; i < sites; ++i)
      rows.push_back({uint32_t(10 * i + 10), 5, text("kernel.py"), text(name),
                      text("    dl.wait(signal, 1)")});
    uint32_t name_ = text(name), none = text(""), arch = text(architecture);
    const uint32_t argsAt = sizeof(info);
    const uint32_t symmetricAt = argsAt + uint32_t(args.size() * sizeof(args[0]));
    const uint32_t sitesAt = symmetricAt + uint32_t(symmetric.size() * 8);
    const uint32_t stringsAt = sitesAt + uint32_t(rows.size() * sizeof(rows[0]));
    for (auto &arg : args)
      arg.name += stringsAt, arg.type += stringsAt;
    for (auto &row : rows)
      row.file += stringsAt, row.function += stringsAt, row.text += stringsAt;
    while ((stringsAt + strings.size()) % 8)
      strings.push_back('\0');
    info.args = argsAt;
    info.symmetric = symmetricAt;
    info.sites = info.lines = sitesAt;
    info.strings = stringsAt;
    info.num_args = uint32_t(args.size());
    info.num_sites = uint32_t(rows.size());
    info.name = name_ + stringsAt;
    info.launch_mode = info.cpu = info.features = none + stringsAt;
    info.architecture = arch + stringsAt;
    info.section_bytes = stringsAt + uint32_t(strings.size());
    cuda::CUDAImage image;
    image.cubinBytes = uint32_t(cubin.size() + 1);
    image.usesRuntime = usesRuntime;
    image.scratchBytes = scratchBytes;
    info.code_bytes = uint32_t(sizeof(image)) + image.cubinBytes;
    std::string out(sizeof(info), '\0');
    auto table = [&](const auto &rowsOf) {
      out.append(reinterpret_cast<const char *>(rowsOf.data()), rowsOf.size() * sizeof(rowsOf[0]));
    };
    table(args);
    table(symmetric);
    table(rows);
    out += strings;
    out.append(reinterpret_cast<const char *>(&image), sizeof(image));
    out.append(cubin.c_str(), cubin.size() + 1);
    info.file_bytes = out.size();
    out.replace(0, sizeof(info), reinterpret_cast<const char *>(&info), sizeof(info));
    info.checksum =
        nrd_kernel_checksum(out.data(), out.size(), offsetof(nrd_kernel_info, checksum));
    return out.replace(0, sizeof(info), reinterpret_cast<const char *>(&info), sizeof(info));
  }
};

} // namespace nereid::test

#endif // NEREID_UNITTESTS_RUNTIME_CUDA_OBJECTS_H
