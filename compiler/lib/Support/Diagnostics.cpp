// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages stand in Diagnostics.def, one row for each; this file gives them
// their form:
//
//   kernel.py:12:9: error: the message
//      12 |     x = tl.load(ptr, mask)
//         |                 ^~~
//     help: what to write instead
//     kernel.py:8:5: note: what else is of interest, with its line
//
// Columns of a source range are bytes, carets stand by columns of a terminal:
// tabs are repeated, wide characters take two.
#include "nereid/Support/Diagnostics.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace nereid {
namespace {

struct CatalogueEntry {
  const char *name, *message, *help;
};

constexpr CatalogueEntry catalogue[] = {
#define NEREID_DIAG(id, message, help) {#id, message, help},
#include "nereid/Support/Diagnostics.def"
};

const CatalogueEntry &entry(Diag id) { return catalogue[static_cast<size_t>(id)]; }

/// Columns that `text` takes on a terminal; bytes when it is not valid UTF-8.
unsigned displayWidth(llvm::StringRef text) {
  int width = llvm::sys::unicode::columnWidthUTF8(text);
  return width < 0 ? text.size() : width;
}

/// What stands below `text`, keeping tabs so that the caret lines up.
void blank(llvm::raw_ostream &os, llvm::StringRef text) {
  while (!text.empty()) {
    auto [run, rest] = text.split('\t');
    os.indent(displayWidth(run));
    if (run.size() < text.size())
      os << '\t';
    text = rest;
  }
}

/// The source line with its number, and below it the caret and tildes.
void printExcerpt(llvm::raw_ostream &os, const SourceRange &range) {
  llvm::StringRef line = range.file->line(range.line);
  if (line.empty())
    return;
  size_t begin = std::min<size_t>(range.column ? range.column - 1 : 0, line.size());
  size_t end = range.endLine == range.line
                   ? std::min<size_t>(range.endColumn ? range.endColumn - 1 : 0, line.size())
                   : line.rtrim().size();
  // Of a very long line, the part around the place.
  constexpr size_t longest = 300, around = 100;
  std::string part;
  if (line.size() > longest) {
    auto boundary = [&](size_t at) { // no UTF-8 sequence is cut
      while (at > 0 && at < line.size() && (line[at] & 0xC0) == 0x80)
        --at;
      return at;
    };
    size_t from = boundary(begin > around ? begin - around : 0);
    size_t to = boundary(std::min(line.size(), std::max(from + 2 * around, begin + 1)));
    part = (from > 0 ? "..." : "") + line.slice(from, to).str() + (to < line.size() ? "..." : "");
    size_t shift = from > 0 ? 3 : 0;
    begin = begin - from + shift;
    end = std::min(std::max(end, from), to) - from + shift;
    line = part;
  }
  std::string number = std::to_string(range.line);
  os.indent(number.size() < 5 ? 5 - number.size() : 0) << number << " | " << line << "\n";

  // A range of several lines is underlined to the end of its first one.
  os.indent(std::max<size_t>(number.size(), 5)) << " | ";
  blank(os, line.take_front(begin));
  os << '^';
  unsigned width = end > begin ? displayWidth(line.slice(begin, end)) : 0;
  for (unsigned i = 1; i < width; ++i)
    os << '~';
  os << "\n";
}

void printPosition(llvm::raw_ostream &os, const SourceRange &range) {
  if (range.isValid())
    os << range.file->path << ':' << range.line << ':' << range.column << ": ";
}

} // namespace

const char *diagName(Diag id) { return entry(id).name; }
const char *diagFormat(Diag id) { return entry(id).message; }
const char *diagHelp(Diag id) { return entry(id).help; }

std::string render(const Diagnostic &diagnostic) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printPosition(os, diagnostic.range);
  switch (diagnostic.severity) {
  case Severity::Error:
    os << "error: ";
    break;
  case Severity::Warning:
    os << "warning: ";
    break;
  case Severity::Note:
    os << "note: ";
    break;
  }
  os << diagnostic.message << "\n";
  if (diagnostic.range.isValid())
    printExcerpt(os, diagnostic.range);
  if (!diagnostic.help.empty())
    os << "  help: " << diagnostic.help << "\n";
  for (const Note &note : diagnostic.notes) {
    os << "  ";
    printPosition(os, note.range);
    os << "note: " << note.message << "\n";
    if (note.range.isValid())
      printExcerpt(os, note.range);
  }
  return text;
}

char DiagnosticError::ID = 0;

Diagnostic takeDiagnostic(llvm::Error error) {
  Diagnostic found;
  found.id = Diag::internal_error;
  llvm::handleAllErrors(
      std::move(error), [&](DiagnosticError &e) { found = std::move(e.diagnostic); },
      [&](const llvm::ErrorInfoBase &other) { found.message = other.message(); });
  return found;
}

} // namespace nereid
