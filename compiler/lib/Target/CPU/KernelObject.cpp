// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   generated ELF ──▶ findCode     section, size and entry of the kernel's function
//                 ──▶ readLines    debug line table -> (offset, site)
//                 ──▶ describe     the section .nereid.kernel (abi/nereid/kernel.h)
//                 ──▶ objcopy      without debug sections, with that section
//                 ──▶ seal         size and checksum of the file, written into it at last
//
// The checksum covers the whole file but for its own place, so it can only be
// known when nothing moves any more.
#include "Target/CPU/KernelObject.h"

#include "nereid/Target/KernelSection.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/ObjCopy/CommonConfig.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <set>

using namespace llvm;
using namespace nereid;

using ElfFile = object::ELF64LEObjectFile;

static Expected<std::unique_ptr<ElfFile>> openElf(StringRef bytes) {
  Expected<ElfFile> file = ElfFile::create(MemoryBufferRef(bytes, "kernel"));
  if (!file)
    return file.takeError();
  return std::make_unique<ElfFile>(std::move(*file));
}

static Error problem(const Twine &text) {
  return createStringError(inconvertibleErrorCode(), text);
}

namespace {

/// Where the kernel's code lies in what was generated.
struct Code {
  uint64_t section = 0, bytes = 0, entry = 0;
};

} // namespace

static Expected<Code> findCode(const ElfFile &file, StringRef name) {
  for (const object::ELFSymbolRef symbol : file.symbols()) {
    Expected<StringRef> symbolName = symbol.getName();
    if (!symbolName)
      return symbolName.takeError();
    if (*symbolName != name)
      continue;
    Expected<object::section_iterator> section = symbol.getSection();
    if (!section)
      return section.takeError();
    Expected<uint64_t> value = symbol.getValue();
    if (!value)
      return value.takeError();
    if (*section == file.section_end() || !(*section)->isText())
      continue;
    return Code{(*section)->getIndex(), (*section)->getSize(), *value};
  }
  return problem("the object file does not define '" + name + "'");
}

/// Rows of the line table: line 1 + N of the generated code stands for site N.
/// 0 means that the code generator knows no place; then the one before it in the
/// same sequence is the best guess.
static Expected<std::vector<nrd_kernel_line>> readLines(const ElfFile &file, const Code &code,
                                                        uint32_t numSites) {
  std::vector<nrd_kernel_line> rows;
  std::unique_ptr<DWARFContext> context = DWARFContext::create(file);
  for (const auto &unit : context->compile_units()) {
    const DWARFDebugLine::LineTable *table = context->getLineTableForUnit(unit.get());
    if (!table)
      continue;
    for (const DWARFDebugLine::Sequence &sequence : table->Sequences) {
      if (sequence.SectionIndex != code.section)
        return problem("the code of the kernel lies in more than one section");
      uint32_t site = NRD_NO_SITE;
      for (unsigned i = sequence.FirstRowIndex; i < sequence.LastRowIndex; ++i) {
        const DWARFDebugLine::Row &row = table->Rows[i];
        if (row.EndSequence)
          site = NRD_NO_SITE;
        else if (row.Line != 0)
          site = row.Line - 1;
        if (site != NRD_NO_SITE && site >= numSites)
          return problem("the line table names place " + Twine(site) + ", but there are only " +
                         Twine(numSites));
        rows.push_back({uint32_t(row.Address.Address), site});
      }
    }
  }
  // Of several rows at one address the last one counts, but a sequence that ends
  // where another begins gives way to it.
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto &a, const auto &b) { return a.offset < b.offset; });
  std::vector<nrd_kernel_line> lines;
  for (const nrd_kernel_line &row : rows) {
    if (!lines.empty() && lines.back().offset == row.offset) {
      if (row.site == NRD_NO_SITE)
        continue;
      lines.pop_back();
    }
    if (lines.empty() ? row.site != NRD_NO_SITE : lines.back().site != row.site)
      lines.push_back(row);
  }
  return lines;
}

/// Features of x86 for system software, or for code that asks for them by name: the
/// code generator uses none of them unasked.
static bool isNeverGenerated(StringRef feature) {
  static const StringSet<> names = {
      "amx-avx512", "amx-bf16", "amx-complex", "amx-fp16",   "amx-fp8", "amx-int8", "amx-movrs",
      "amx-tf32",   "amx-tile", "cldemote",    "clflushopt", "clwb",    "clzero",   "enqcmd",
      "fsgsbase",   "hreset",   "invpcid",     "kl",         "lwp",     "movrs",    "mwaitx",
      "pconfig",    "pku",      "prefetchi",   "ptwrite",    "rdpid",   "rdpru",    "rdrnd",
      "rdseed",     "rtm",      "serialize",   "sgx",        "shstk",   "tsxldtrk", "uintr",
      "usermsr",    "waitpkg",  "wbnoinvd",    "widekl",     "xsave",   "xsavec",   "xsaveopt",
      "xsaves"};
  return names.contains(feature);
}

/// What the code may use of the processor, sorted, "avx,avx2,fma".
static std::string usedFeatures(const cpu::TargetFeatures &target) {
  std::set<std::string> used;
  SmallVector<StringRef> names;
  if (X86::parseArchX86(target.cpu) != X86::CK_None)
    X86::getFeaturesForCPU(target.cpu, names);
  used.insert(names.begin(), names.end());
  SmallVector<StringRef> given;
  StringRef(target.features).split(given, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef feature : given)
    if (feature.consume_front("+"))
      used.insert(feature.str());
    else if (feature.consume_front("-"))
      used.erase(feature.str());
  std::string text;
  for (const std::string &feature : used)
    if (!isNeverGenerated(feature))
      text += (text.empty() ? "" : ",") + feature;
  return text;
}

static std::string describe(const KernelMetadata &metadata, const cpu::TargetFeatures &target,
                            const Code &code, std::vector<nrd_kernel_line> lines) {
  KernelSection section(metadata);
  section.info.code_bytes = uint32_t(code.bytes);
  section.info.entry = uint32_t(code.entry);
  section.info.architecture = section.string(Triple(target.triple).getArchName());
  section.info.cpu = section.string(target.cpu);
  section.info.features = section.string(usedFeatures(target));
  section.lines = std::move(lines);
  return section.finish();
}

/// Writes the size and the checksum of the finished file into it.
static Error seal(SmallVectorImpl<char> &bytes) {
  auto file = openElf(StringRef(bytes.data(), bytes.size()));
  if (!file)
    return file.takeError();
  for (const object::ELFSectionRef section : (*file)->sections()) {
    Expected<StringRef> name = section.getName();
    if (!name)
      return name.takeError();
    if (*name != NRD_KERNEL_SECTION)
      continue;
    sealKernelObject(bytes, section.getOffset());
    return Error::success();
  }
  return problem("the object file has lost its section " NRD_KERNEL_SECTION);
}

Expected<std::string> nereid::cpu::makeKernelObject(StringRef generated,
                                                    const KernelMetadata &metadata,
                                                    const TargetFeatures &target) {
  auto file = openElf(generated);
  if (!file)
    return file.takeError();
  Expected<Code> code = findCode(**file, metadata.name);
  if (!code)
    return code.takeError();
  auto lines = readLines(**file, *code, uint32_t(metadata.sites.size()));
  if (!lines)
    return lines.takeError();
  std::string section = describe(metadata, target, *code, std::move(*lines));

  objcopy::ConfigManager config;
  config.Common.StripDebug = true;
  config.Common.AddSection.emplace_back(
      NRD_KERNEL_SECTION,
      MemoryBuffer::getMemBuffer(section, "", /*RequiresNullTerminator=*/false));
  objcopy::SectionFlagsUpdate flags;
  flags.Name = NRD_KERNEL_SECTION;
  flags.NewFlags = objcopy::SectionFlag(objcopy::SecAlloc | objcopy::SecReadonly);
  config.Common.SetSectionFlags[NRD_KERNEL_SECTION] = flags;
  config.Common.SetSectionAlignment[NRD_KERNEL_SECTION] = alignof(nrd_kernel_info);
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  if (Error error = objcopy::executeObjcopyOnBinary(config, **file, stream))
    return std::move(error);
  if (Error error = seal(bytes))
    return std::move(error);
  return std::string(bytes.begin(), bytes.end());
}
