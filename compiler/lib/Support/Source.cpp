// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Support/Source.h"

namespace nereid {

const std::string &SourceFile::line(unsigned number) const {
  static const std::string empty;
  return number == 0 || number > lines.size() ? empty : lines[number - 1];
}

} // namespace nereid
