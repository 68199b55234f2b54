// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Positions in the user's source.
#ifndef NEREID_SUPPORT_SOURCE_H
#define NEREID_SUPPORT_SOURCE_H

#include <memory>
#include <string>
#include <vector>

namespace nereid {

/// One file (or notebook cell) of the user's, split into lines. Lines and
/// columns count from 1; columns count UTF-8 bytes.
struct SourceFile {
  std::string path;
  std::vector<std::string> lines;

  /// Line `number`, or "" when the file does not have it.
  const std::string &line(unsigned number) const;
};

/// A stretch of a file, from the first to behind the last character.
struct SourceRange {
  std::shared_ptr<const SourceFile> file;
  unsigned line = 0, column = 0;
  unsigned endLine = 0, endColumn = 0;

  bool isValid() const { return file && line != 0; }
};

} // namespace nereid

#endif // NEREID_SUPPORT_SOURCE_H
