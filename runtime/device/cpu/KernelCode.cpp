// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/runtime/KernelCode.h"

#include "device/cpu/LibrarySymbols.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <elf.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace nereid::runtime {
namespace {

// Names of <elf.h> that older systems lack.
constexpr uint32_t typeUnwind = 0x70000001; // SHT_X86_64_UNWIND
constexpr uint32_t relocGotPcRelX = 41, relocRexGotPcRelX = 42;

/// Sections by what may be done with their memory, in the order of the mapping.
enum Group { Code, Constants, Data, NumGroups };

/// A jump to a function outside, and the slot with its address (which also
/// serves loads of the address).
struct Stub {
  uint8_t jump[8] = {0xff, 0x25, 0x02, 0, 0, 0, 0xcc, 0xcc}; // jmp *2(%rip)
  uint64_t address = 0;
};
static_assert(sizeof(Stub) == 16);

/// Why a file cannot be loaded.
struct Problem {
  std::string text;
};

[[noreturn]] void fail(std::string text) { throw Problem{std::move(text)}; }

uint64_t alignTo(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Reads with bounds checks: the file may be damaged.
class Bytes {
public:
  explicit Bytes(std::string_view data) : data(data) {}

  template <typename T> T read(uint64_t offset) const {
    T value;
    std::memcpy(&value, slice(offset, sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view slice(uint64_t offset, uint64_t size) const {
    if (offset > data.size() || size > data.size() - offset)
      fail("it ends too early");
    return data.substr(offset, size);
  }
  /// The zero-terminated string at `offset` of `table`.
  static std::string_view string(std::string_view table, uint64_t offset) {
    if (offset >= table.size())
      fail("a name lies outside its table");
    std::string_view rest = table.substr(offset);
    size_t end = rest.find('\0');
    if (end == std::string_view::npos)
      fail("a name has no end");
    return rest.substr(0, end);
  }

private:
  std::string_view data;
};

/// One load, step by step.
class Linker {
public:
  Linker(std::string_view object, std::string_view name, const std::vector<RuntimeSymbol> &symbols)
      : file(object), name(name), symbols(symbols) {}
  ~Linker() {
    if (memory)
      munmap(memory, total);
  }

  void link() {
    readSections();
    readSymbols();
    place();
    copy();
    resolve();
    for (const Elf64_Shdr &section : sections)
      if (section.sh_type == SHT_RELA && section.sh_info < sections.size() &&
          placed[section.sh_info] != unplaced)
        relocate(section);
      else if (section.sh_type == SHT_REL)
        fail("it has relocations of another kind than x86-64 uses");
    readLines();
    protect();
  }

  nrd_kernel_fn function() const { return reinterpret_cast<nrd_kernel_fn>(entry); }
  void *takeMemory() { return std::exchange(memory, nullptr); }
  std::string takeLines() { return std::move(lines); }
  size_t codeSize() const { return groupStart[Code + 1]; }
  size_t size() const { return total; }
  /// The system's error, when it gave no memory.
  int systemError = 0;

private:
  static constexpr uint64_t unplaced = ~uint64_t(0);
  static constexpr uint64_t largest = uint64_t(1) << 30;

  void readSections() {
    auto header = file.read<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
      fail("it is no ELF file");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_machine != EM_X86_64)
      fail("it is for another kind of machine");
    if (header.e_type != ET_REL || header.e_shentsize != sizeof(Elf64_Shdr))
      fail("it is no relocatable object file");
    for (unsigned i = 0; i < header.e_shnum; ++i)
      sections.push_back(file.read<Elf64_Shdr>(header.e_shoff + uint64_t(i) * sizeof(Elf64_Shdr)));
    if (header.e_shstrndx < sections.size())
      sectionNames =
          file.slice(sections[header.e_shstrndx].sh_offset, sections[header.e_shstrndx].sh_size);
  }

  void readSymbols() {
    for (const Elf64_Shdr &section : sections) {
      if (section.sh_type != SHT_SYMTAB)
        continue;
      if (section.sh_link >= sections.size())
        fail("its symbols have no names");
      const Elf64_Shdr &strings = sections[section.sh_link];
      std::string_view table = file.slice(strings.sh_offset, strings.sh_size);
      uint64_t count = section.sh_size / sizeof(Elf64_Sym);
      file.slice(section.sh_offset, section.sh_size);
      for (uint64_t i = 0; i < count; ++i) {
        elfSymbols.push_back(file.read<Elf64_Sym>(section.sh_offset + i * sizeof(Elf64_Sym)));
        names.push_back(Bytes::string(table, elfSymbols.back().st_name));
        stubOf.push_back(-1);
        if (i != 0 && elfSymbols.back().st_shndx == SHN_UNDEF)
          stubOf.back() = numStubs++;
      }
      return;
    }
    fail("it has no symbols");
  }

  static Group groupOf(const Elf64_Shdr &section) {
    return section.sh_flags & SHF_EXECINSTR ? Code
           : section.sh_flags & SHF_WRITE   ? Data
                                            : Constants;
  }

  /// Gives every section that is in memory at run time an offset.
  void place() {
    uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
    placed.assign(sections.size(), unplaced);
    uint64_t offset = 0;
    for (int group = Code; group < NumGroups; ++group) {
      groupStart[group] = offset;
      for (size_t i = 0; i < sections.size(); ++i) {
        const Elf64_Shdr &section = sections[i];
        if (!(section.sh_flags & SHF_ALLOC) || groupOf(section) != group ||
            section.sh_type == typeUnwind)
          continue;
        if (section.sh_flags & SHF_TLS)
          fail("it has thread-local data");
        uint64_t alignment = section.sh_addralign ? section.sh_addralign : 1;
        if ((alignment & (alignment - 1)) != 0 || alignment > page || section.sh_size > largest)
          fail("a section has an impossible size or alignment");
        offset = alignTo(offset, alignment);
        placed[i] = offset;
        offset += section.sh_size;
      }
      if (group == Code) {
        offset = alignTo(offset, sizeof(Stub));
        stubs = offset;
        offset += numStubs * sizeof(Stub);
      }
      offset = alignTo(offset, page);
      if (offset > largest)
        fail("it is too large");
    }
    groupStart[NumGroups] = offset;
    total = offset;
    if (total == 0)
      fail("it has no code");
  }

  void copy() {
    void *mapped = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
      systemError = errno;
      fail("the system gives no memory for it");
    }
    memory = static_cast<uint8_t *>(mapped);
    for (size_t i = 0; i < sections.size(); ++i)
      if (placed[i] != unplaced && sections[i].sh_type != SHT_NOBITS) {
        std::string_view bytes = file.slice(sections[i].sh_offset, sections[i].sh_size);
        std::memcpy(memory + placed[i], bytes.data(), bytes.size());
      }
  }

  void *findOutside(std::string_view symbol) const {
    for (const RuntimeSymbol &candidate : symbols)
      if (symbol == candidate.name)
        return candidate.address;
    for (const auto *table : {&librarySymbols(), &deviceMathSymbols()})
      for (const RuntimeSymbol &candidate : *table)
        if (symbol == candidate.name)
          return candidate.address;
    return nullptr;
  }

  /// Addresses of all symbols; stubs for those outside.
  void resolve() {
    std::string missing;
    addresses.assign(elfSymbols.size(), 0);
    for (size_t i = 1; i < elfSymbols.size(); ++i) {
      const Elf64_Sym &symbol = elfSymbols[i];
      if (symbol.st_shndx == SHN_UNDEF) {
        void *address = findOutside(names[i]);
        if (!address) {
          missing += (missing.empty() ? "" : ", ") + std::string(names[i]);
          continue;
        }
        Stub stub;
        stub.address = reinterpret_cast<uint64_t>(address);
        std::memcpy(stubAt(i), &stub, sizeof(stub));
        addresses[i] = stub.address;
      } else if (symbol.st_shndx == SHN_ABS) {
        addresses[i] = symbol.st_value;
      } else if (symbol.st_shndx < sections.size() && placed[symbol.st_shndx] != unplaced) {
        if (symbol.st_value > sections[symbol.st_shndx].sh_size)
          fail("a symbol lies outside its section");
        addresses[i] =
            reinterpret_cast<uint64_t>(memory) + placed[symbol.st_shndx] + symbol.st_value;
        if (names[i] == name && ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL &&
            groupOf(sections[symbol.st_shndx]) == Code)
          entry = addresses[i];
      }
    }
    if (!missing.empty())
      fail("nothing defines " + missing);
    if (!entry)
      fail("it does not define the function");
  }

  uint8_t *stubAt(size_t symbol) const {
    return memory + stubs + uint64_t(stubOf[symbol]) * sizeof(Stub);
  }

  void relocate(const Elf64_Shdr &section) {
    uint64_t base = placed[section.sh_info], size = sections[section.sh_info].sh_size;
    if (sections[section.sh_info].sh_type == SHT_NOBITS)
      fail("a section without content has relocations");
    for (uint64_t i = 0; i < section.sh_size / sizeof(Elf64_Rela); ++i) {
      auto entry = file.read<Elf64_Rela>(section.sh_offset + i * sizeof(Elf64_Rela));
      uint64_t index = ELF64_R_SYM(entry.r_info);
      if (index >= elfSymbols.size())
        fail("a relocation refers to no symbol");
      if (index != 0 && addresses[index] == 0)
        fail("a relocation refers to a section that is not loaded");
      uint32_t type = ELF64_R_TYPE(entry.r_info);
      uint64_t width = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
      if (entry.r_offset > size || width > size - entry.r_offset)
        fail("a relocation lies outside its section");
      uint8_t *where = memory + base + entry.r_offset;
      uint64_t place = reinterpret_cast<uint64_t>(where);
      bool outside = stubOf[index] >= 0;
      // Calls of functions outside go through their stubs, which are near.
      uint64_t target =
          outside && width == 4 ? reinterpret_cast<uint64_t>(stubAt(index)) : addresses[index];
      uint64_t value = target + uint64_t(entry.r_addend);
      switch (type) {
      case R_X86_64_NONE:
        break;
      case R_X86_64_64:
        std::memcpy(where, &value, 8);
        break;
      case R_X86_64_PC64:
        value -= place;
        std::memcpy(where, &value, 8);
        break;
      case R_X86_64_PC32:
      case R_X86_64_PLT32:
        store32(where, int64_t(value - place));
        break;
      case R_X86_64_GOTPCREL:
      case relocGotPcRelX:
      case relocRexGotPcRelX:
        if (!outside)
          fail("it takes the address of its own code through a table");
        store32(where, int64_t(reinterpret_cast<uint64_t>(stubAt(index)) + offsetof(Stub, address) +
                               uint64_t(entry.r_addend) - place));
        break;
      default:
        fail("it has a relocation of kind " + std::to_string(type));
      }
    }
  }

  /// Copies the line table, with addresses for its references to code.
  void readLines() {
    for (size_t i = 0; i < sections.size() && !sectionNames.empty(); ++i) {
      if (sections[i].sh_type != SHT_PROGBITS ||
          Bytes::string(sectionNames, sections[i].sh_name) != ".debug_line")
        continue;
      lines = std::string(file.slice(sections[i].sh_offset, sections[i].sh_size));
      for (const Elf64_Shdr &section : sections) {
        if (section.sh_type != SHT_RELA || section.sh_info != i)
          continue;
        for (uint64_t k = 0; k < section.sh_size / sizeof(Elf64_Rela); ++k) {
          auto entry = file.read<Elf64_Rela>(section.sh_offset + k * sizeof(Elf64_Rela));
          uint64_t index = ELF64_R_SYM(entry.r_info);
          // The others refer to names of files, which say nothing.
          if (ELF64_R_TYPE(entry.r_info) != R_X86_64_64 || index >= addresses.size())
            continue;
          if (entry.r_offset > lines.size() || lines.size() - entry.r_offset < 8)
            fail("its line table is damaged");
          uint64_t value = addresses[index] + uint64_t(entry.r_addend);
          std::memcpy(lines.data() + entry.r_offset, &value, 8);
        }
      }
      return;
    }
  }

  static void store32(uint8_t *where, int64_t value) {
    if (value != int32_t(value))
      fail("two of its parts are too far apart");
    int32_t narrow = int32_t(value);
    std::memcpy(where, &narrow, 4);
  }

  void protect() {
    const int access[NumGroups] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
    for (int group = Code; group < NumGroups; ++group) {
      uint64_t size = groupStart[group + 1] - groupStart[group];
      if (size && mprotect(memory + groupStart[group], size, access[group]) != 0) {
        systemError = errno;
        fail("the system does not let its memory be executed");
      }
    }
  }

  Bytes file;
  std::string_view name;
  const std::vector<RuntimeSymbol> &symbols;
  std::vector<Elf64_Shdr> sections;
  std::string_view sectionNames;
  std::string lines;            // .debug_line
  std::vector<uint64_t> placed; // offset of each section in the mapping
  std::vector<Elf64_Sym> elfSymbols;
  std::vector<std::string_view> names;
  std::vector<int64_t> stubOf; // -1 for symbols inside
  std::vector<uint64_t> addresses;
  uint64_t groupStart[NumGroups + 1] = {};
  uint64_t stubs = 0, numStubs = 0, total = 0, entry = 0;
  uint8_t *memory = nullptr;
};

} // namespace

KernelCode::~KernelCode() {
  if (memory)
    munmap(memory, bytes);
}

Expected<std::shared_ptr<KernelCode>> KernelCode::load(std::string_view object,
                                                       std::string_view name,
                                                       const std::vector<RuntimeSymbol> &symbols) {
  Linker linker(object, name, symbols);
  try {
    linker.link();
  } catch (const Problem &problem) {
    std::string text =
        "the code of kernel '" + std::string(name) + "' cannot be loaded: " + problem.text;
    if (linker.systemError == 0)
      return Status::error(StatusCode::InvalidArgument, text);
    return Status::error(StatusCode::SystemError,
                         text + " (" + std::strerror(linker.systemError) + ")");
  }
  std::shared_ptr<KernelCode> code(new KernelCode);
  code->function = linker.function();
  code->bytes = linker.size();
  code->codeBytes = linker.codeSize();
  code->lineProgram = linker.takeLines();
  code->memory = linker.takeMemory();
  return code;
}

} // namespace nereid::runtime
