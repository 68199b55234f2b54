// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers for source locations.
#ifndef NEREID_TARGET_SITES_H
#define NEREID_TARGET_SITES_H

#include "nereid/Target/KernelMetadata.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nereid {

/// The table of source locations of one kernel. Equal places get one number.
class SiteTable {
public:
  /// Number of `location`, an operation in function `function`.
  unsigned number(mlir::Location location, mlir::StringAttr function);

  /// The same, or nothing for a location without a place.
  std::optional<unsigned> find(mlir::Location location, mlir::StringAttr function);

  /// Takes over the numbers of an earlier toAttribute().
  void load(mlir::ArrayAttr rows);

  /// [[file, line, column, function], ...] in the order of the numbers.
  mlir::ArrayAttr toAttribute(mlir::MLIRContext *context) const;

private:
  llvm::MapVector<mlir::Attribute, unsigned> table;
};

/// The rows of a SiteTable::toAttribute(), each with its line as `lineText`, which may
/// be null, knows it.
std::vector<Site>
readSites(mlir::ArrayAttr rows,
          const std::function<std::string(llvm::StringRef file, unsigned line)> &lineText);

} // namespace nereid

#endif // NEREID_TARGET_SITES_H
