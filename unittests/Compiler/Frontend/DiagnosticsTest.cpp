// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Support/Diagnostics.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <gtest/gtest.h>

using namespace nereid;

namespace {

std::shared_ptr<const SourceFile> source(std::vector<std::string> lines) {
  auto file = std::make_shared<SourceFile>();
  file->path = "dir/kernel.py";
  file->lines = std::move(lines);
  return file;
}

TEST(Diagnostics, LineCaretHelpAndNotes) {
  auto file = source({"def f(a):", "    x = a + bb", "    return x"});
  Diagnostic d =
      makeDiagnostic(Diag::unknown_name, {file, 2, 13, 2, 15}, "bb", "did you mean 'b'?");
  d.notes.push_back({{file, 1, 7, 1, 8}, "the parameter"});
  EXPECT_EQ(render(d), "dir/kernel.py:2:13: error: name 'bb' is not defined\n"
                       "    2 |     x = a + bb\n"
                       "      |             ^~\n"
                       "  help: did you mean 'b'?\n"
                       "  dir/kernel.py:1:7: note: the parameter\n"
                       "    1 | def f(a):\n"
                       "      |       ^\n");
}

TEST(Diagnostics, TabsAndWideCharacters) {
  auto file = source({"\tx = 'é漢' + yy"});
  // Columns count bytes: é has two, 漢 three.
  SourceRange range{file, 1, 16, 1, 18};
  EXPECT_EQ(file->line(1).substr(range.column - 1, 2), "yy");
  EXPECT_EQ(render(makeDiagnostic(Diag::unknown_name, range, "yy", "")),
            "dir/kernel.py:1:16: error: name 'yy' is not defined\n"
            "    1 | \tx = 'é漢' + yy\n"
            "      | \t            ^~\n");
}

TEST(Diagnostics, RangesOfSeveralLinesAndBehindTheEnd) {
  auto file = source({"f(a,   ", "  b)"});
  EXPECT_EQ(render(makeDiagnostic(Diag::unknown_name, {file, 1, 1, 2, 5}, "f", "")),
            "dir/kernel.py:1:1: error: name 'f' is not defined\n"
            "    1 | f(a,   \n"
            "      | ^~~~\n");
  // A file that changed since: no line to show, no crash.
  EXPECT_EQ(render(makeDiagnostic(Diag::unknown_name, {file, 9, 4, 9, 5}, "f", "")),
            "dir/kernel.py:9:4: error: name 'f' is not defined\n");
  EXPECT_EQ(render(makeDiagnostic(Diag::unknown_name, {file, 2, 40, 2, 50}, "f", "")),
            "dir/kernel.py:2:40: error: name 'f' is not defined\n"
            "    2 |   b)\n"
            "      |     ^\n");
  EXPECT_EQ(render(makeDiagnostic(Diag::unknown_name, SourceRange(), "f", "")),
            "error: name 'f' is not defined\n");
}

TEST(Diagnostics, CatalogueIsWellFormed) {
  llvm::StringSet<> names, messages;
  for (int i = 0;; ++i) {
    Diag id = static_cast<Diag>(i);
    llvm::StringRef name = diagName(id), message = diagFormat(id), help = diagHelp(id);
    EXPECT_TRUE(names.insert(name).second) << name.str();
    EXPECT_TRUE(messages.insert(message).second) << name.str();
    EXPECT_FALSE(message.empty()) << name.str();
    // Messages are parts of a sentence: no capital at the start, no full stop.
    EXPECT_FALSE(message.ends_with(".")) << name.str();
    EXPECT_FALSE(help.ends_with(".") && !help.ends_with("...")) << name.str();
    if (id == Diag::invalid_ir)
      break;
  }
}

} // namespace
