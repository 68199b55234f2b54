// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values as text: what messages call them (describe), and what Python would
// print (pythonText), because strings that a kernel makes at compile time, and
// its static_print, are to be those that the same line makes outside.
#include "nereid/Frontend/Value.h"

#include "nereid/Frontend/Builtins.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <charconv>
#include <cmath>

using namespace nereid;
using namespace nereid::frontend;

bool Value::isConstexpr() const {
  if (const Tuple *tuple = getIf<Tuple>())
    return llvm::all_of(tuple->items, [](const Value &item) { return item.isConstexpr(); });
  return isNone() || isNumber() || is<std::string>() || is<Type>();
}

std::string nereid::frontend::toString(Int value) {
  if (value == 0)
    return "0";
  bool negative = value < 0;
  unsigned __int128 rest =
      negative ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  std::string digits;
  for (; rest != 0; rest /= 10)
    digits.insert(digits.begin(), char('0' + int(rest % 10)));
  return negative ? "-" + digits : digits;
}

std::string nereid::frontend::toString(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  // The shortest digits that read back as the same number, as Python prints.
  char buffer[40];
  double magnitude = std::fabs(value);
  bool scientific = magnitude != 0 && (magnitude >= 1e16 || magnitude < 1e-4);
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value,
                           scientific ? std::chars_format::scientific : std::chars_format::fixed);
  std::string text(buffer, end.ptr);
  if (!scientific && text.find('.') == std::string::npos)
    text += ".0";
  return text;
}

static std::string quoted(llvm::StringRef text) {
  char quote = text.contains('\'') && !text.contains('"') ? '"' : '\'';
  std::string result(1, quote);
  for (char c : text) {
    switch (c) {
    case '\n':
      result += "\\n";
      break;
    case '\t':
      result += "\\t";
      break;
    case '\r':
      result += "\\r";
      break;
    case '\\':
      result += "\\\\";
      break;
    default:
      if (c == quote)
        result += '\\';
      result += c;
    }
  }
  return result + quote;
}

std::string nereid::frontend::pythonText(const Value &value, bool repr) {
  if (value.isNone())
    return "None";
  if (const bool *b = value.getIf<bool>())
    return *b ? "True" : "False";
  if (const Int *i = value.getIf<Int>())
    return toString(*i);
  if (const double *d = value.getIf<double>())
    return toString(*d);
  if (const std::string *s = value.getIf<std::string>())
    return repr ? quoted(*s) : *s;
  if (const Type *type = value.getIf<Type>())
    return type->str();
  if (const Tuple *tuple = value.getIf<Tuple>()) {
    std::string text = "(";
    for (auto [i, item] : llvm::enumerate(tuple->items)) {
      text += i ? ", " : "";
      if (i < tuple->names.size() && !tuple->names[i].empty())
        text += tuple->names[i] + "=";
      text += pythonText(item, true);
    }
    return text + (tuple->items.size() == 1 && tuple->names.empty() ? ",)" : ")");
  }
  if (const Tensor *tensor = value.getIf<Tensor>())
    return tensor->type.str();
  return value.describe();
}

std::string Value::describe() const {
  if (const None *none = getIf<None>())
    return none->origin.empty() ? "None" : "None (" + none->origin + ")";
  if (is<bool>() || is<double>() || is<std::string>())
    return "constexpr " + pythonText(*this, true);
  if (const Int *i = getIf<Int>()) {
    if (std::optional<ShmemConstant> constant = ShmemConstant::decode(*i))
      return "constant " + constant->name();
    return "constexpr " + toString(*i);
  }
  if (const Type *type = getIf<Type>())
    return "dtype " + type->str();
  if (const Tensor *tensor = getIf<Tensor>()) {
    switch (tensor->type.kind()) {
    case Type::Kind::Scalar:
      return tensor->type.str() + " scalar";
    case Type::Kind::Pointer:
      return tensor->type.str();
    case Type::Kind::Block:
      return tensor->type.str() + " block";
    case Type::Kind::BlockPointer:
      return "block pointer to " + Type::block(tensor->type.shape(), tensor->type.element()).str();
    case Type::Kind::Descriptor:
      return tensor->type.str();
    }
  }
  if (const Tuple *tuple = getIf<Tuple>(); tuple && tuple->aggregate >= 0)
    return "an aggregate (" + llvm::join(tuple->names, ", ") + ")";
  if (const Tuple *tuple = getIf<Tuple>())
    return llvm::formatv("tuple of {0} item{1}", tuple->items.size(),
                         tuple->items.size() == 1 ? "" : "s")
        .str();
  if (is<Function>())
    return "jit function";
  if (const Builtin *builtin = getIf<Builtin>())
    return builtin->info
               ? llvm::formatv("function {0}.{1}", builtin->info->module, builtin->info->name).str()
               : "function";
  if (const BoundMethod *method = getIf<BoundMethod>())
    return "method '" + method->name + "'";
  if (is<Slice>())
    return "slice";
  if (const Host *host = getIf<Host>())
    return host->description.empty() ? "Python object" : host->description;
  return "value";
}
