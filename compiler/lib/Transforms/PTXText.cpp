// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PTXText.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace nereid::ptx;
using llvm::StringRef;

namespace {

/// Words, numbers included, and single characters.
std::vector<StringRef> tokensOf(StringRef text) {
  std::vector<StringRef> tokens;
  auto isWord = [](char c) { return llvm::isAlnum(c) || StringRef("_.%$:").contains(c); };
  for (size_t i = 0; i < text.size();) {
    StringRef rest = text.substr(i);
    if (llvm::isSpace(text[i])) {
      ++i;
    } else if (rest.starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
    } else if (rest.starts_with("/*")) {
      size_t end = text.find("*/", i);
      i = end == StringRef::npos ? text.size() : end + 2;
    } else {
      StringRef word = rest.take_while(isWord);
      tokens.push_back(word.empty() ? rest.take_front(1) : word);
      i += tokens.back().size();
    }
  }
  return tokens;
}

class Parser {
public:
  Parser(StringRef text, std::string &wrong) : tokens(tokensOf(text)), wrong(wrong) {}

  std::vector<Statement> run() {
    std::vector<Statement> statements;
    while (at < tokens.size() && wrong.empty()) {
      // A brace before an instruction opens or closes a scope of names.
      if (take(";") || take("{") || take("}"))
        continue;
      if (peek().starts_with(".reg")) {
        while (at < tokens.size() && !take(";"))
          ++at;
        continue;
      }
      statements.push_back(statement());
    }
    return statements;
  }

private:
  StringRef peek() const { return at < tokens.size() ? tokens[at] : StringRef(); }
  bool take(StringRef token) {
    bool found = peek() == token;
    at += found;
    return found;
  }
  StringRef next() { return at < tokens.size() ? tokens[at++] : StringRef(); }
  void fail(StringRef token) {
    if (wrong.empty())
      wrong = token.empty() ? "its text ends inside of a statement"
                            : "'" + token.str() + "' stands where it cannot";
  }

  Statement statement() {
    Statement result;
    if (take("@")) {
      result.negated = take("!");
      result.predicate = next().str();
    }
    StringRef word = next();
    if (word.empty() || !llvm::isAlpha(word.front()))
      fail(word);
    result.text = word.str();
    llvm::SmallVector<StringRef> parts;
    word.split(parts, '.');
    result.parts.assign(parts.begin(), parts.end());
    if (peek() != ";" && at < tokens.size())
      do
        result.operands.push_back(operand());
      while (take(",") && wrong.empty());
    // The last statement may have no semicolon.
    if (!take(";") && at < tokens.size() && peek() != "}")
      fail(peek());
    return result;
  }

  Operand operand() {
    Operand result;
    if (take("{")) {
      result.kind = Operand::List;
      do
        result.items.push_back(operand());
      while (take(",") && wrong.empty());
      if (!take("}"))
        fail(peek());
      return result;
    }
    if (take("[")) {
      result.kind = Operand::Address;
      result.name = next().str();
      if (take("+"))
        result.number = number(next());
      else if (take("-"))
        result.number = -number(next());
      if (!take("]"))
        fail(peek());
      return result;
    }
    bool negative = take("-");
    StringRef word = next();
    if (!word.empty() && llvm::isDigit(word.front())) {
      result.kind = Operand::Number;
      result.number = negative ? -number(word) : number(word);
      return result;
    }
    if (word.empty() || negative || StringRef(",;[]{}()!@<>+").contains(word.front()))
      fail(word);
    result.name = word.str();
    return result;
  }

  int64_t number(StringRef word) {
    // 0f and 0d begin the bits of a float.
    if (word.size() > 2 && word[0] == '0' && StringRef("fFdD").contains(word[1])) {
      uint64_t bits;
      if (!word.drop_front(2).getAsInteger(16, bits))
        return int64_t(bits);
    }
    word.consume_back("U");
    uint64_t value;
    if (word.getAsInteger(0, value))
      fail(word);
    return wrong.empty() ? int64_t(value) : 0;
  }

  std::vector<StringRef> tokens;
  std::string &wrong;
  size_t at = 0;
};

} // namespace

std::vector<Statement> nereid::ptx::parse(StringRef text, std::string &wrong) {
  return Parser(text, wrong).run();
}
