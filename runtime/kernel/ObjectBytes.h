// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ObjectBytes.h - Reads files that may be damaged ----------*- C++ -*-===//
#ifndef NEREID_RUNTIME_KERNEL_OBJECTBYTES_H
#define NEREID_RUNTIME_KERNEL_OBJECTBYTES_H

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nereid::runtime {

/// Why a file cannot be loaded; thrown and caught inside the loader.
struct ObjectProblem {
  std::string text;
};

[[noreturn]] inline void rejectObject(std::string text) { throw ObjectProblem{std::move(text)}; }

/// Reads with bounds checks.
class ObjectBytes {
public:
  explicit ObjectBytes(std::string_view data) : data(data) {}

  template <typename T> T read(uint64_t offset) const {
    T value;
    std::memcpy(&value, slice(offset, sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view slice(uint64_t offset, uint64_t size) const {
    if (offset > data.size() || size > data.size() - offset)
      rejectObject("it ends too early");
    return data.substr(offset, size);
  }
  uint64_t size() const { return data.size(); }
  const char *begin() const { return data.data(); }
  /// The zero-terminated string at `offset` of `table`.
  static std::string_view string(std::string_view table, uint64_t offset) {
    if (offset >= table.size())
      rejectObject("a name lies outside its table");
    std::string_view rest = table.substr(offset);
    size_t end = rest.find('\0');
    if (end == std::string_view::npos)
      rejectObject("a name has no end");
    return rest.substr(0, end);
  }

private:
  std::string_view data;
};

/// The sections of a relocatable ELF file of x86-64, and their names.
struct ObjectSections {
  explicit ObjectSections(const ObjectBytes &file);

  std::string_view name(size_t section) const {
    return ObjectBytes::string(names, headers[section].sh_name);
  }
  /// Number of the only section of that name; headers.size() when there is none.
  size_t find(std::string_view name) const;

  std::vector<Elf64_Shdr> headers;

private:
  std::string_view names;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_KERNEL_OBJECTBYTES_H
