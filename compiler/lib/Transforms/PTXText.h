// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of inline assembly for NVIDIA's GPUs, as statements.
#ifndef NEREID_LIB_TRANSFORMS_PTXTEXT_H
#define NEREID_LIB_TRANSFORMS_PTXTEXT_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nereid::ptx {

struct Operand {
  enum Kind {
    Name,    ///< a register, a special register, or $N
    Number,  ///< bits
    List,    ///< {a, b}: parts of one register, or of a vector
    Address, ///< [name + number]
  } kind = Name;
  std::string name;
  int64_t number = 0;
  std::vector<Operand> items;
};

/// `@p name.part.part a, b;`
struct Statement {
  std::string text;      ///< the instruction with its parts, as it is written
  std::string predicate; ///< a register, if it has one
  bool negated = false;
  std::vector<llvm::StringRef> parts; ///< of the instruction, the name first
  std::vector<Operand> operands;
};

/// The statements of `text`, which must outlive them, without braces around them and
/// declarations of registers. `wrong` says what cannot be read, if anything.
std::vector<Statement> parse(llvm::StringRef text, std::string &wrong);

} // namespace nereid::ptx

#endif // NEREID_LIB_TRANSFORMS_PTXTEXT_H
