// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a function of libshmem_device means: the rows of LibraryFunctions.def.
#ifndef NEREID_DIALECT_DISTRIBUTED_LIBRARYFUNCTIONS_H
#define NEREID_DIALECT_DISTRIBUTED_LIBRARYFUNCTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <initializer_list>

namespace nereid::distributed {

/// One enumerator for each row; its name is the symbol.
enum class LibraryFunctionId {
#define LIBRARY_FUNCTION(symbol, operands, result, waiting, cores, ordering, effects) symbol,
#include "nereid/Dialect/Distributed/LibraryFunctions.def"
};

/// What an operand is to the function, in the order of the call.
enum class LibraryOperand : uint8_t {
#define LIBRARY_OPERAND(role, kind, place, access) role,
#include "nereid/Dialect/Distributed/LibraryFunctions.def"
};

// The columns; LibraryFunctions.def says what each word means.
enum class LibraryOperandKind { Integer, Pointer, SignalPointer, AtomicPointer, Element };
enum class LibraryPlace { Anywhere, Symmetric };
enum class LibraryAccess { Untouched, Reads, Writes, Updates };
enum class LibraryResult { Nothing, Int32, Address, Element };
enum class LibraryWaiting { Never, Waits, Meets };
enum class LibraryCores { Each, Once, Together, TogetherWithCube };
enum class LibraryOrdering { None, Starts, Returns, Fences, Completes };
enum class LibraryEffects { NoMemory, Memory };

LibraryOperandKind kindOf(LibraryOperand role);
LibraryAccess accessOf(LibraryOperand role);
/// Must the pointer point into a symmetric allocation?
bool isSymmetric(LibraryOperand role);

/// A row.
struct LibraryFunction {
  /// Operands in a form that a constant table can hold.
  struct Operands {
    std::array<LibraryOperand, 8> roles{};
    unsigned count = 0;
    constexpr Operands(std::initializer_list<LibraryOperand> list) {
      for (LibraryOperand role : list)
        roles[count++] = role;
    }
  };

  LibraryFunctionId id;
  llvm::StringLiteral symbol;
  Operands operandRoles;
  LibraryResult result;
  LibraryWaiting waiting;
  LibraryCores cores;
  LibraryOrdering ordering;
  LibraryEffects effects;

  llvm::ArrayRef<LibraryOperand> operands() const {
    return llvm::ArrayRef(operandRoles.roles).take_front(operandRoles.count);
  }
  /// May it return only after another program or rank has acted?
  constexpr bool blocks() const { return waiting != LibraryWaiting::Never; }
  /// Is it a barrier or a collective?
  constexpr bool meets() const { return waiting == LibraryWaiting::Meets; }
};

/// The library whose functions the table holds, as `libname` says it.
inline constexpr llvm::StringLiteral libraryName = "libshmem_device";

llvm::ArrayRef<LibraryFunction> libraryFunctions();
/// The row of `symbol` of the library `libname`; null when there is none.
const LibraryFunction *findLibraryFunction(llvm::StringRef libname, llvm::StringRef symbol);

} // namespace nereid::distributed

#endif // NEREID_DIALECT_DISTRIBUTED_LIBRARYFUNCTIONS_H
