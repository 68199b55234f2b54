// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LineTable.cpp - From an instruction to a source location -----------===//
//
// Runs the line program of the object file (DWARF 2 to 5) far enough to find
// one address. Nothing here allocates: it runs in signal handlers. Line numbers
// are 1 + the number of a site; 0 means that the code generator knows no place,
// then the one before it is the best guess.
//
//===----------------------------------------------------------------------===//
#include "nereid/runtime/KernelCode.h"

#include <cstring>

namespace nereid::runtime {
namespace {

/// Reads within bounds; past the end everything is zero.
class Reader {
public:
  Reader(const char *data, size_t size) : at(data), end(data + size) {}

  template <typename T> T read() {
    T value{};
    if (size_t(end - at) < sizeof(T)) {
      at = end;
      return value;
    }
    std::memcpy(&value, at, sizeof(T));
    at += sizeof(T);
    return value;
  }
  uint64_t uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; at != end; shift += 7) {
      uint8_t byte = read<uint8_t>();
      if (shift < 64)
        value |= uint64_t(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        break;
    }
    return value;
  }
  int64_t sleb() {
    int64_t value = 0;
    for (unsigned shift = 0; at != end;) {
      uint8_t byte = read<uint8_t>();
      if (shift < 64)
        value |= int64_t(byte & 0x7f) << shift;
      shift += 7;
      if (!(byte & 0x80)) {
        if (shift < 64 && (byte & 0x40))
          value |= -(int64_t(1) << shift);
        break;
      }
    }
    return value;
  }
  void skip(uint64_t n) { at += n < size_t(end - at) ? n : size_t(end - at); }
  Reader sub(uint64_t n) {
    size_t size = n < size_t(end - at) ? size_t(n) : size_t(end - at);
    Reader part(at, size);
    at += size;
    return part;
  }
  bool done() const { return at == end; }

private:
  const char *at, *end;
};

/// Looks for the row that covers `pc`.
class Search {
public:
  explicit Search(uintptr_t pc) : pc(pc) {}

  /// One row of the table; true when the one before it was the right one.
  bool row(uint64_t address, uint64_t line, bool endOfSequence) {
    bool found = open && previous <= pc && pc < address && lastLine != 0;
    if (found)
      return true;
    open = !endOfSequence;
    previous = address;
    if (endOfSequence)
      lastLine = 0;
    else if (line != 0)
      lastLine = line;
    return false;
  }
  uint32_t site() const { return uint32_t(lastLine - 1); }

private:
  uintptr_t pc;
  bool open = false;
  uint64_t previous = 0, lastLine = 0;
};

/// Runs one unit of the table; true when it found the row.
bool runUnit(Reader unit, Search &search) {
  uint16_t version = unit.read<uint16_t>();
  if (version < 2 || version > 5)
    return false;
  if (version >= 5)
    unit.skip(2); // sizes of addresses and segments
  uint64_t headerLength = unit.read<uint32_t>();
  Reader header = unit.sub(headerLength);
  uint64_t step = header.read<uint8_t>();
  if (version >= 4)
    header.skip(1); // operations per instruction: 1 on all that we emit for
  header.skip(1);   // whether rows are statements at first
  int64_t lineBase = header.read<int8_t>();
  uint64_t lineRange = header.read<uint8_t>();
  uint8_t opcodeBase = header.read<uint8_t>();
  uint8_t operands[256] = {};
  for (unsigned i = 1; i < opcodeBase; ++i)
    operands[i] = header.read<uint8_t>();
  if (lineRange == 0)
    return false;

  uint64_t address = 0, line = 1;
  while (!unit.done()) {
    uint8_t opcode = unit.read<uint8_t>();
    if (opcode >= opcodeBase) {
      uint64_t adjusted = uint64_t(opcode - opcodeBase);
      address += adjusted / lineRange * step;
      line += uint64_t(lineBase + int64_t(adjusted % lineRange));
      if (search.row(address, line, false))
        return true;
      continue;
    }
    switch (opcode) {
    case 0: {
      Reader extended = unit.sub(unit.uleb());
      uint8_t kind = extended.read<uint8_t>();
      if (kind == 1) { // end of a sequence
        if (search.row(address, line, true))
          return true;
        address = 0;
        line = 1;
      } else if (kind == 2) { // address
        address = extended.read<uint64_t>();
      }
      break;
    }
    case 1: // row
      if (search.row(address, line, false))
        return true;
      break;
    case 2:
      address += unit.uleb() * step;
      break;
    case 3:
      line += uint64_t(unit.sleb());
      break;
    case 8: // as opcode 255, without a row
      address += uint64_t(255 - opcodeBase) / lineRange * step;
      break;
    case 9:
      address += unit.read<uint16_t>();
      break;
    default:
      for (unsigned i = 0; i < operands[opcode]; ++i)
        unit.uleb();
    }
  }
  return false;
}

} // namespace

uint32_t KernelCode::siteAt(uintptr_t pc) const {
  Reader table(lineProgram.data(), lineProgram.size());
  while (!table.done()) {
    uint64_t length = table.read<uint32_t>();
    if (length >= 0xfffffff0u)
      return kNoSite; // 64-bit form: nobody writes it for kernels
    Search search(pc);
    if (runUnit(table.sub(length), search))
      return search.site();
  }
  return kNoSite;
}

} // namespace nereid::runtime
