// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelObject.cpp - Reads the description in an object file ---------===//
//
//   ELF file:  ... section NRD_KERNEL_SECTION ...     other code:  section, then the code
//
//   section:   nrd_kernel_info │ tables (args, sites, lines, ...) │ strings
//              0                 positions that info names          info.strings ... section_bytes
//
// The file comes from a cache, a wheel or a user. verify() compares in an order
// in which each step makes the next one safe: the magic number, the version (by
// which all else is laid out), sizes, the checksum over the whole file. After
// that the content is what some compiler wrote, which may still not be ours:
// each table and string is checked against the bounds of its part before it is
// read, and numbers are checked where others rely on them (the order of lines,
// the range of sites).
//
//===----------------------------------------------------------------------===//
#include "nereid/runtime/KernelObject.h"

#include "kernel/ObjectBytes.h"

#include <cstddef>
#include <cstring>

namespace nereid::runtime {

ObjectSections::ObjectSections(const ObjectBytes &file) {
  if (file.size() < SELFMAG || std::memcmp(file.begin(), ELFMAG, SELFMAG) != 0)
    rejectObject("it is not an ELF file");
  auto header = file.read<Elf64_Ehdr>(0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != EM_X86_64)
    rejectObject("it is for another kind of machine than x86-64");
  if (header.e_type != ET_REL || header.e_shentsize != sizeof(Elf64_Shdr))
    rejectObject("it is not a relocatable object file");
  for (unsigned i = 0; i < header.e_shnum; ++i)
    headers.push_back(file.read<Elf64_Shdr>(header.e_shoff + uint64_t(i) * sizeof(Elf64_Shdr)));
  if (header.e_shstrndx >= headers.size())
    rejectObject("its sections have no names");
  names = file.slice(headers[header.e_shstrndx].sh_offset, headers[header.e_shstrndx].sh_size);
}

size_t ObjectSections::find(std::string_view wanted) const {
  size_t found = headers.size();
  for (size_t i = 0; i < headers.size(); ++i) {
    if (name(i) != wanted)
      continue;
    if (found != headers.size())
      rejectObject("it has two sections " + std::string(wanted));
    found = i;
  }
  return found;
}

namespace {

/// The section NRD_KERNEL_SECTION, read with bounds checks.
class Reader {
public:
  explicit Reader(const ObjectBytes &file) : file(file), section(find(file)) {}

  /// Compares everything that says whether the rest may be believed.
  void verify() {
    // These three stand at the same place in every version.
    if (section.size() < offsetof(nrd_kernel_info, checksum) ||
        section.read<uint64_t>(0) != NRD_KERNEL_MAGIC)
      rejectObject("its section " NRD_KERNEL_SECTION " holds something else");
    auto version = section.read<uint32_t>(offsetof(nrd_kernel_info, abi_version));
    if (version != NRD_ABI_VERSION)
      rejectObject("it was compiled for version " + std::to_string(version) +
                   " of the interface between kernels and the runtime, which has version " +
                   std::to_string(NRD_ABI_VERSION) + " here; compile it again");
    if (section.read<uint32_t>(offsetof(nrd_kernel_info, size)) != sizeof(nrd_kernel_info) ||
        section.size() < sizeof(nrd_kernel_info))
      damaged();
    info = section.read<nrd_kernel_info>(0);
    if (info.file_bytes != file.size())
      rejectObject("it is damaged: it has " + std::to_string(file.size()) + " bytes instead of " +
                   std::to_string(info.file_bytes));
    uint64_t hole = uint64_t(section.begin() - file.begin()) + offsetof(nrd_kernel_info, checksum);
    if (info.checksum != nrd_kernel_checksum(file.begin(), file.size(), hole))
      rejectObject("it is damaged: its checksum is wrong");
    // What follows holds for everything that the compiler writes.
    if (info.section_bytes != section.size() || info.strings > info.section_bytes ||
        info.lanes < 1 || info.lanes > 64 || (info.flags & ~uint32_t(NRD_KERNEL_ALL_FLAGS)) != 0 ||
        info.entry >= info.code_bytes || info.scratch_bytes > uint64_t(1) << 40)
      damaged();
  }

  CPUKernelDescription read() const {
    CPUKernelDescription kernel;
    kernel.abiVersion = info.abi_version;
    kernel.name = string(info.name);
    kernel.scratchBytes = info.scratch_bytes;
    kernel.blocking = info.flags & NRD_KERNEL_BLOCKING;
    kernel.distributed = info.flags & NRD_KERNEL_DISTRIBUTED;
    kernel.instrumented = info.flags & NRD_KERNEL_INSTRUMENTED;
    kernel.lanes = int32_t(info.lanes);
    kernel.launchMode = string(info.launch_mode);
    kernel.architecture = string(info.architecture);
    kernel.cpu = string(info.cpu);
    kernel.codeBytes = info.code_bytes;
    kernel.entry = info.entry;
    std::string features = string(info.features);
    for (size_t at = 0; at < features.size();) {
      size_t end = std::min(features.find(',', at), features.size());
      kernel.features.push_back(features.substr(at, end - at));
      at = end + 1;
    }
    auto bits = table<uint64_t>(info.symmetric, (uint64_t(info.num_args) + 63) / 64);
    auto args = table<nrd_kernel_arg>(info.args, info.num_args);
    for (size_t i = 0; i < args.size(); ++i)
      kernel.arguments.push_back({string(args[i].name), string(args[i].type), args[i].divisibility,
                                  bool(bits[i / 64] >> i % 64 & 1)});
    for (const nrd_kernel_site &row : table<nrd_kernel_site>(info.sites, info.num_sites)) {
      if (row.line > INT32_MAX || row.column > INT32_MAX)
        damaged();
      kernel.sites.push_back({string(row.file), int32_t(row.line), int32_t(row.column),
                              string(row.function), string(row.text)});
    }
    kernel.lines = table<nrd_kernel_line>(info.lines, info.num_lines);
    for (size_t i = 0; i < kernel.lines.size(); ++i)
      if (kernel.lines[i].offset > info.code_bytes ||
          (i > 0 && kernel.lines[i].offset <= kernel.lines[i - 1].offset) ||
          (kernel.lines[i].site != NRD_NO_SITE && kernel.lines[i].site >= info.num_sites))
        damaged();
    return kernel;
  }

private:
  static ObjectBytes find(const ObjectBytes &file) {
    // Code that is no relocatable ELF file stands behind its description.
    if (file.size() >= sizeof(nrd_kernel_info) && file.read<uint64_t>(0) == NRD_KERNEL_MAGIC) {
      auto info = file.read<nrd_kernel_info>(0);
      bool known = info.abi_version == NRD_ABI_VERSION;
      return ObjectBytes(file.slice(0, known ? info.section_bytes : file.size()));
    }
    ObjectSections sections(file);
    size_t index = sections.find(NRD_KERNEL_SECTION);
    if (index == sections.headers.size())
      rejectObject("it is not a kernel: it has no section " NRD_KERNEL_SECTION
                   ", as the files of `nereid compile --emit=obj` have");
    const Elf64_Shdr &header = sections.headers[index];
    if (header.sh_type != SHT_PROGBITS)
      damaged();
    return ObjectBytes(file.slice(header.sh_offset, header.sh_size));
  }

  [[noreturn]] static void damaged() {
    rejectObject("it is damaged: its section " NRD_KERNEL_SECTION " contradicts itself");
  }

  template <typename T> std::vector<T> table(uint64_t position, uint64_t count) const {
    if (position > info.strings || count > (info.strings - position) / sizeof(T))
      damaged();
    std::vector<T> rows(count);
    if (count)
      std::memcpy(rows.data(), section.slice(position, count * sizeof(T)).data(),
                  count * sizeof(T));
    return rows;
  }
  std::string string(uint32_t position) const {
    if (position < info.strings)
      damaged();
    return std::string(ObjectBytes::string(section.slice(0, info.section_bytes), position));
  }

  ObjectBytes file, section;
  nrd_kernel_info info{};
};

} // namespace

Expected<CPUKernelDescription> describeKernel(std::string_view object) {
  try {
    Reader reader{ObjectBytes(object)};
    reader.verify();
    return reader.read();
  } catch (const ObjectProblem &problem) {
    return Status::error(StatusCode::InvalidArgument,
                         "the kernel's object file cannot be read: " + problem.text);
  }
}

std::string_view codeBehind(std::string_view object) {
  nrd_kernel_info info;
  if (object.size() < sizeof(info))
    return {};
  std::memcpy(&info, object.data(), sizeof(info));
  if (info.magic != NRD_KERNEL_MAGIC || info.section_bytes > object.size())
    return {};
  return object.substr(info.section_bytes, info.code_bytes);
}

} // namespace nereid::runtime
