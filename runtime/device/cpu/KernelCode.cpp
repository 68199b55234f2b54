// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelCode.cpp - Loads a compiled kernel ---------------------------===//
//
// A linker for one relocatable object file (ELF, x86-64) into memory of this
// process. A general JIT would do, too, and bring all of LLVM, none of which
// the runtime links. Kernels need little: a few sections, a handful of
// relocations, and functions outside from tables that are known.
//
//    mapping   code, one stub per symbol outside │ constants │ data
//              read, execute                     │ read      │ read, write
//
// Code reaches other code and constants by distances of 32 bits, so all of a
// kernel is one mapping. Functions outside may be farther away than that: their
// calls go to a stub, a jump through an address that stands next to it (which
// also serves where code takes the address from a table, GOTPCREL). The memory
// is writable while it is filled and relocated, then what may be executed is
// not writable any more.
//
// The file may come from a cache or from anywhere. Its checksum was compared
// (KernelObject.cpp), and still every offset, size and index is checked before
// it is used; in the sections that are loaded, what the linker does not know is
// an error.
//
//===----------------------------------------------------------------------===//
#include "nereid/runtime/KernelCode.h"

#include "device/cpu/LibrarySymbols.h"
#include "device/cpu/ProcessorFeatures.h"
#include "kernel/ObjectBytes.h"

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

[[noreturn]] void fail(std::string text) { rejectObject(std::move(text)); }

uint64_t alignTo(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// One load, step by step.
class Linker {
public:
  Linker(std::string_view object, const CPUKernelDescription &kernel,
         const std::vector<RuntimeSymbol> &symbols)
      : file(object), kernel(kernel), symbols(symbols), sections(file) {}
  ~Linker() {
    if (memory)
      munmap(memory, total);
  }

  void link() {
    readSymbols();
    place();
    copy();
    resolve();
    for (const Elf64_Shdr &section : sections.headers)
      if (section.sh_type == SHT_RELA && section.sh_info < sections.headers.size() &&
          placed[section.sh_info] != unplaced)
        relocate(section);
      else if (section.sh_type == SHT_REL)
        fail("it has relocations of another kind than x86-64 uses");
    protect();
  }

  nrd_kernel_fn function() const { return reinterpret_cast<nrd_kernel_fn>(entry); }
  void *takeMemory() { return std::exchange(memory, nullptr); }
  size_t codeSize() const { return groupStart[Code + 1]; }
  /// Where the section that the kernel's lines are about lies in the mapping.
  size_t codeStart() const { return entry - reinterpret_cast<uintptr_t>(memory) - kernel.entry; }
  size_t size() const { return total; }
  /// The system's error, when it gave no memory.
  int systemError = 0;

private:
  static constexpr uint64_t unplaced = ~uint64_t(0);
  static constexpr uint64_t largest = uint64_t(1) << 30;

  void readSymbols() {
    for (const Elf64_Shdr &section : sections.headers) {
      if (section.sh_type != SHT_SYMTAB)
        continue;
      if (section.sh_link >= sections.headers.size())
        fail("its symbols have no names");
      const Elf64_Shdr &strings = sections.headers[section.sh_link];
      std::string_view table = file.slice(strings.sh_offset, strings.sh_size);
      uint64_t count = section.sh_size / sizeof(Elf64_Sym);
      file.slice(section.sh_offset, section.sh_size);
      for (uint64_t i = 0; i < count; ++i) {
        elfSymbols.push_back(file.read<Elf64_Sym>(section.sh_offset + i * sizeof(Elf64_Sym)));
        names.push_back(ObjectBytes::string(table, elfSymbols.back().st_name));
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
    placed.assign(sections.headers.size(), unplaced);
    size_t description = sections.find(NRD_KERNEL_SECTION); // read already
    uint64_t offset = 0;
    for (int group = Code; group < NumGroups; ++group) {
      groupStart[group] = offset;
      for (size_t i = 0; i < sections.headers.size(); ++i) {
        const Elf64_Shdr &section = sections.headers[i];
        if (!(section.sh_flags & SHF_ALLOC) || groupOf(section) != group ||
            section.sh_type == typeUnwind || i == description)
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
    for (size_t i = 0; i < sections.headers.size(); ++i)
      if (placed[i] != unplaced && sections.headers[i].sh_type != SHT_NOBITS) {
        std::string_view bytes =
            file.slice(sections.headers[i].sh_offset, sections.headers[i].sh_size);
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
      } else if (symbol.st_shndx < sections.headers.size() && placed[symbol.st_shndx] != unplaced) {
        if (symbol.st_value > sections.headers[symbol.st_shndx].sh_size)
          fail("a symbol lies outside its section");
        addresses[i] =
            reinterpret_cast<uint64_t>(memory) + placed[symbol.st_shndx] + symbol.st_value;
        const Elf64_Shdr &section = sections.headers[symbol.st_shndx];
        if (names[i] == kernel.name && ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL &&
            groupOf(section) == Code && symbol.st_value == kernel.entry &&
            section.sh_size == kernel.codeBytes)
          entry = addresses[i];
      }
    }
    if (!missing.empty())
      fail("nothing defines " + missing);
    if (!entry)
      fail("it does not define the function '" + kernel.name + "'");
  }

  uint8_t *stubAt(size_t symbol) const {
    return memory + stubs + uint64_t(stubOf[symbol]) * sizeof(Stub);
  }

  // The symbol's address plus the addend, less the place for relative ones. A function outside is
  // its stub in a field of 4 bytes, its address in one of 8.
  void relocate(const Elf64_Shdr &section) {
    uint64_t base = placed[section.sh_info], size = sections.headers[section.sh_info].sh_size;
    if (sections.headers[section.sh_info].sh_type == SHT_NOBITS)
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

  ObjectBytes file;
  const CPUKernelDescription &kernel;
  const std::vector<RuntimeSymbol> &symbols;
  ObjectSections sections;
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

static std::string listOf(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

Expected<std::shared_ptr<KernelCode>> KernelCode::load(std::string_view object,
                                                       const std::vector<RuntimeSymbol> &symbols) {
  Expected<CPUKernelDescription> kernel = describeKernel(object);
  if (!kernel.ok())
    return kernel.status();
  std::string text = "kernel '" + kernel->name + "' cannot be loaded: ";
  if (std::vector<std::string> missing = missingFeatures(kernel->features); !missing.empty())
    return Status::error(
        StatusCode::InvalidArgument,
        text + "it was compiled for the processor '" + kernel->cpu + "' and may use " +
            listOf(missing) +
            ", which this one lacks; compile it on this machine, or with NEREID_CPU "
            "set to a level that both have, such as x86-64-v3");
  int systemError = 0;
  try {
    Linker linker(object, *kernel, symbols);
    try {
      linker.link();
    } catch (const ObjectProblem &) {
      systemError = linker.systemError;
      throw;
    }
    std::shared_ptr<KernelCode> code(new KernelCode);
    code->function = linker.function();
    code->bytes = linker.size();
    code->codeBytes = linker.codeSize();
    code->codeStart = linker.codeStart();
    code->memory = linker.takeMemory();
    code->kernel = std::move(*kernel);
    return code;
  } catch (const ObjectProblem &problem) {
    if (systemError == 0)
      return Status::error(StatusCode::InvalidArgument, text + problem.text);
    return Status::error(StatusCode::SystemError,
                         text + problem.text + " (" + std::strerror(systemError) + ")");
  }
}

uint32_t KernelCode::siteAt(uintptr_t pc) const {
  uintptr_t offset = pc - (reinterpret_cast<uintptr_t>(memory) + codeStart);
  if (offset >= kernel.codeBytes)
    return kNoSite;
  // The last row at or before it.
  size_t low = 0, high = kernel.lines.size();
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (kernel.lines[middle].offset <= offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 ? kNoSite : kernel.lines[low - 1].site;
}

} // namespace nereid::runtime
