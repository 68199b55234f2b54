// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of library functions, and what a call has to satisfy.
//
// The table comes from LibraryFunctions.def, whose columns are explained there.
// Contradictions between columns of a row fail the build (isConsistent). The
// verifier checks a call against its row: kinds of operands, the type that the
// first pointer points to, the result. Whoever lowers a call can then take
// operands as they are.
#include "nereid/Dialect/Distributed/LibraryFunctions.h"

#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Support/PassDiagnostics.h"

using namespace mlir;

namespace nereid::distributed {

using enum LibraryOperand;

// A row's operands stand in parentheses.
#define OPERANDS(...) {__VA_ARGS__}
static constexpr LibraryFunction functions[] = {
#define LIBRARY_FUNCTION(symbol, operands, result, waiting, cores, ordering, effects)              \
  {LibraryFunctionId::symbol, #symbol,                                                             \
   OPERANDS operands,         LibraryResult::result,                                               \
   LibraryWaiting::waiting,   LibraryCores::cores,                                                 \
   LibraryOrdering::ordering, LibraryEffects::effects},
#include "nereid/Dialect/Distributed/LibraryFunctions.def"
};
#undef OPERANDS

namespace {
struct OperandRow {
  LibraryOperandKind kind;
  LibraryPlace place;
  LibraryAccess access;
};
} // namespace

static constexpr OperandRow operandRows[] = {
#define LIBRARY_OPERAND(role, kind, place, access)                                                 \
  {LibraryOperandKind::kind, LibraryPlace::place, LibraryAccess::access},
#include "nereid/Dialect/Distributed/LibraryFunctions.def"
};

/// Who meets does so with the vector cores of all programs; who does not, alone.
static constexpr bool isConsistent(const LibraryFunction &function) {
  bool together =
      function.cores == LibraryCores::Together || function.cores == LibraryCores::TogetherWithCube;
  return function.meets() == together &&
         (!function.blocks() || function.effects == LibraryEffects::Memory);
}
static_assert(
    [] {
      for (const LibraryFunction &function : functions)
        if (!isConsistent(function))
          return false;
      return true;
    }(),
    "a row of LibraryFunctions.def contradicts itself");

LibraryOperandKind kindOf(LibraryOperand role) { return operandRows[unsigned(role)].kind; }
LibraryAccess accessOf(LibraryOperand role) { return operandRows[unsigned(role)].access; }
bool isSymmetric(LibraryOperand role) {
  return operandRows[unsigned(role)].place == LibraryPlace::Symmetric;
}

ArrayRef<LibraryFunction> libraryFunctions() { return functions; }

const LibraryFunction *findLibraryFunction(StringRef libname, StringRef symbol) {
  if (libname != libraryName)
    return nullptr;
  const LibraryFunction *row = llvm::find_if(
      functions, [&](const LibraryFunction &function) { return function.symbol == symbol; });
  return row == std::end(functions) ? nullptr : row;
}

//===----------------------------------------------------------------------===//
// ExternCallOp
//===----------------------------------------------------------------------===//

static bool isScalar(Type type) { return type.isIntOrFloat() || isa<tt::PointerType>(type); }

/// What a single pointer points to; null for other types and for block pointers.
static Type getPointee(Type type) {
  auto pointer = dyn_cast<tt::PointerType>(type);
  return pointer && isScalar(pointer.getPointeeType()) ? pointer.getPointeeType() : Type();
}

/// Can `value` be stored as `element`? Integers are cut or extended.
static bool fits(Type value, Type element) {
  if (isa<IntegerType>(element))
    return isa<IntegerType>(value);
  return isa<tt::PointerType>(element) ? isa<tt::PointerType>(value) : value == element;
}

static bool matches(LibraryOperandKind kind, Type type, Type element) {
  Type pointee = getPointee(type);
  switch (kind) {
  case LibraryOperandKind::Integer:
    return isa<IntegerType>(type);
  case LibraryOperandKind::Pointer:
    return pointee != nullptr;
  case LibraryOperandKind::SignalPointer:
    return pointee && isa<IntegerType>(pointee) && !pointee.isInteger(1);
  case LibraryOperandKind::AtomicPointer:
    return pointee && pointee.isIntOrFloat() &&
           llvm::is_contained({32u, 64u}, pointee.getIntOrFloatBitWidth());
  case LibraryOperandKind::Element:
    return element && fits(type, element);
  }
  llvm_unreachable("unknown kind of operand");
}

static std::string describe(LibraryOperandKind kind, Type element) {
  switch (kind) {
  case LibraryOperandKind::Integer:
    return "an integer";
  case LibraryOperandKind::Pointer:
    return "a pointer";
  case LibraryOperandKind::SignalPointer:
    return "a pointer to integers";
  case LibraryOperandKind::AtomicPointer:
    return "a pointer to 32- or 64-bit elements";
  case LibraryOperandKind::Element:
    if (isa<IntegerType>(element))
      return "an integer, which argument 1 points to";
    return "a value of type '" + printed(element) + "', which argument 1 points to";
  }
  llvm_unreachable("unknown kind of operand");
}

static bool matches(LibraryResult result, Type type, Type element) {
  switch (result) {
  case LibraryResult::Nothing:
    return false;
  case LibraryResult::Int32:
    return type.isInteger(32);
  case LibraryResult::Address:
    return getPointee(type) || type.isInteger(64);
  case LibraryResult::Element:
    return isScalar(type) && llvm::divideCeil(tt::getElementBits(type), 8) ==
                                 llvm::divideCeil(tt::getElementBits(element), 8);
  }
  llvm_unreachable("unknown kind of result");
}

static std::string describe(LibraryResult result, Type element) {
  switch (result) {
  case LibraryResult::Nothing:
    return "nothing";
  case LibraryResult::Int32:
    return "a 32-bit integer";
  case LibraryResult::Address:
    return "a pointer";
  case LibraryResult::Element:
    return "a value as wide as '" + printed(element) + "', which argument 1 points to";
  }
  llvm_unreachable("unknown kind of result");
}

const LibraryFunction &ExternCallOp::getFunction() {
  const LibraryFunction *function = findLibraryFunction(getLibname(), getSymbol());
  assert(function && "the call has not been verified");
  return *function;
}

StringRef ExternCallOp::getWrittenName() { return getSpelling().value_or(getSymbol()); }

LogicalResult ExternCallOp::verify() {
  const LibraryFunction *function = findLibraryFunction(getLibname(), getSymbol());
  StringRef name = getWrittenName();
  if (!function)
    return reportError(getLoc(), Diag::extern_symbol, getLibname(), getSymbol());
  ArrayRef<LibraryOperand> roles = function->operands();
  if (getSrcs().size() != roles.size())
    return reportError(getLoc(), Diag::extern_count, name, roles.size(), getSrcs().size());
  Type element = roles.empty() ? Type() : getPointee(getSrcs()[0].getType());
  for (auto [i, role] : llvm::enumerate(roles)) {
    Type type = getSrcs()[i].getType();
    if (!matches(kindOf(role), type, element))
      return reportError(getLoc(), Diag::extern_argument, i + 1, name,
                         describe(kindOf(role), element), "'" + printed(type) + "'");
  }
  if (getNumResults() > 1 ||
      (getNumResults() == 1 && !matches(function->result, getResultTypes()[0], element)))
    return reportError(getLoc(), Diag::extern_result, name, describe(function->result, element),
                       getNumResults() > 1 ? std::to_string(getNumResults()) + " values"
                                           : "'" + printed(getResultTypes()[0]) + "'");
  if (getPure() && function->effects != LibraryEffects::NoMemory)
    return reportError(getLoc(), Diag::extern_pure, name);
  return success();
}

} // namespace nereid::distributed
