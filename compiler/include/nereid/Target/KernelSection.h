// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The section of a kernel's object file in which it says what it is, as
// abi/nereid/kernel.h describes it. Every target whose code a device runs writes it.
#ifndef NEREID_TARGET_KERNELSECTION_H
#define NEREID_TARGET_KERNELSECTION_H

#include "nereid/Target/KernelMetadata.h"
#include "nereid/kernel.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace nereid {

/// The section, growing. Equal strings are stored once.
class KernelSection {
public:
  /// With all that `metadata` knows.
  explicit KernelSection(const KernelMetadata &metadata);

  /// For a field of `info` or of a row that is a string.
  uint32_t string(llvm::StringRef text);

  /// Sizes and positions are filled in by finish(); of the rest, what only the target
  /// knows is its own business: the strings architecture, cpu and features, and what
  /// concerns the section of code.
  nrd_kernel_info info{};
  std::vector<nrd_kernel_line> lines;

  /// The bytes of the section, a multiple of `alignment` of them. Afterwards the file
  /// around them has to be sealed.
  std::string finish(unsigned alignment = 1);

private:
  std::vector<nrd_kernel_arg> args;
  std::vector<uint64_t> symmetric;
  std::vector<nrd_kernel_site> sites;
  std::string strings;
  llvm::StringMap<uint32_t> known;
};

/// Writes size and checksum of the finished file into its section, which begins at
/// `section`.
void sealKernelObject(llvm::MutableArrayRef<char> file, uint64_t section);

} // namespace nereid

#endif // NEREID_TARGET_KERNELSECTION_H
