// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a name or an expression of a kernel stands for while it is compiled: a
// compile-time constant, a run-time scalar or block, a function, a tuple, ...
#ifndef NEREID_FRONTEND_VALUE_H
#define NEREID_FRONTEND_VALUE_H

#include "nereid/Frontend/Type.h"
#include "nereid/Support/Source.h"
#include "nereid/profiles.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace nereid::frontend {

struct BuiltinInfo;
struct FunctionDef; // AST of a jit function (AST.h)
class Value;

/// Python's None. `origin`, for messages, says where it comes from: "" when the
/// kernel writes it.
struct None {
  std::string origin;
  bool operator==(const None &) const { return true; }
};

/// A compile-time integer. Python's are unbounded; the language's fit 64 bits
/// signed or unsigned, so 128 bits hold every one and every intermediate that
/// a kernel can use. Overflow of 128 bits is an error where it happens.
using Int = __int128;

/// A run-time scalar, block, block pointer or descriptor.
struct Tensor {
  mlir::Value handle;
  Type type;
  /// Where it was defined, for notes.
  SourceRange range;
};

/// Tuples and lists (the language does not tell them apart); names are those of
/// a namedtuple or of the fields of an aggregate, empty otherwise.
struct Tuple {
  std::vector<Value> items;
  std::vector<std::string> names;
  /// Of an instance of an aggregate: the Environment's key of its class.
  int64_t aggregate = -1;
};

/// A jit function; `def` outlives the compilation.
struct Function {
  const FunctionDef *def = nullptr;
};

/// A function or class of tl, dl, libshmem_device, ...
struct Builtin {
  const BuiltinInfo *info = nullptr;
};

/// A method taken from a value: `x.to`, `x.sum`, `desc.load`.
struct BoundMethod {
  std::shared_ptr<Value> self;
  std::string name;
  const BuiltinInfo *info = nullptr; // null: a jit function in `function`
  Function function;
};

/// A slice in a subscript: `x[a:b:c]`; absent parts are None.
struct Slice {
  std::shared_ptr<Value> start, stop, step;
};

/// A Python object the compiler knows only through the Environment: modules,
/// namespaces, host constants it has no other form for. `id` is the
/// environment's key, `description` is for messages.
struct Host {
  int64_t id = -1;
  std::string description;
};

/// A value. Constants (None, bool, Int, double, string, Type, tuples of them)
/// are exactly the language's constexprs.
class Value {
public:
  using Storage = std::variant<None, bool, Int, double, std::string, Type, Tensor, Tuple, Function,
                               Builtin, BoundMethod, Slice, Host>;
  Value() = default; // None
  template <typename T>
    requires std::is_constructible_v<Storage, T &&> && (!std::is_same_v<std::decay_t<T>, Value>)
  /*implicit*/ Value(T &&value) : storage(std::forward<T>(value)) {}

  template <typename T> bool is() const { return std::holds_alternative<T>(storage); }
  template <typename T> const T &as() const { return std::get<T>(storage); }
  template <typename T> const T *getIf() const { return std::get_if<T>(&storage); }

  bool isNone() const { return is<None>(); }
  bool isTensor() const { return is<Tensor>(); }
  /// bool, Int or double: a Python number.
  bool isNumber() const { return is<bool>() || is<Int>() || is<double>(); }
  /// Known at compile time, through and through.
  bool isConstexpr() const;
  /// "int32 scalar", "fp16[128, 64] block", "constexpr 3", "function foo": for
  /// messages.
  std::string describe() const;

  Storage storage;
};

/// Decimal digits of a compile-time integer; Python's spelling of a float.
std::string toString(Int value);
std::string toString(double value);
/// What Python's str() (or repr()) prints of a constant; of anything else, its
/// type. For f-strings, static_print and messages.
std::string pythonText(const Value &value, bool repr = false);

/// A constant of libshmem_device. The same name has different numbers in the
/// libraries (NVSHMEM's CMP_GE is ACLSHMEM's CMP_LE), so a constant keeps its
/// library: it is a compile-time integer outside the range of ordinary ones, from
/// which library and meaning are read back where it is used.
struct ShmemConstant {
  using Family = ShmemLibrary;
  enum class Kind : uint8_t { Compare, Signal, Team, Atomic };
  /// What Atomic constants mean; those up to Xor return nothing.
  enum Atomic : int32_t {
    Inc,
    Set,
    Add,
    And,
    Or,
    Xor,
    Fetch,
    FetchInc,
    FetchAdd,
    FetchAnd,
    FetchOr,
    FetchXor,
    Swap,
    CompareSwap
  };
  Family family;
  Kind kind;
  /// Compare: NRD_CMP_*; Signal: NRD_SIG_*; Team: NRD_TEAM_*; Atomic: above.
  int32_t number;

  Int encode() const;
  static std::optional<ShmemConstant> decode(Int value);
  /// The constant of that name.
  static std::optional<ShmemConstant> find(llvm::StringRef name);
  static std::vector<std::string> allNames();
  /// What `number` means as a plain number of that library; nullopt when it is
  /// none.
  static std::optional<int32_t> fromNative(Family family, Kind kind, int64_t number);
  /// The number in the library's own header.
  int64_t nativeNumber() const;
  std::string name() const;
  /// The constant of another library that means the same, or nullopt.
  std::optional<ShmemConstant> in(Family other) const;
};

} // namespace nereid::frontend

#endif // NEREID_FRONTEND_VALUE_H
