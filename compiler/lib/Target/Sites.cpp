// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Target/Sites.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nereid;

namespace {
struct Place {
  StringAttr file;
  unsigned line = 0, column = 0;
  StringAttr function;
};
} // namespace

/// Finds the innermost place of a location: the callee's of an inlined call,
/// the first that has one of a fused location. A named location names the
/// function.
static bool resolve(Location location, Place &place) {
  return llvm::TypeSwitch<LocationAttr, bool>(location)
      .Case([&](FileLineColRange loc) {
        place.file = loc.getFilename();
        place.line = loc.getStartLine();
        place.column = loc.getStartColumn();
        return true;
      })
      .Case([&](NameLoc loc) {
        if (!resolve(loc.getChildLoc(), place))
          return false;
        if (!place.function)
          place.function = loc.getName();
        return true;
      })
      .Case([&](CallSiteLoc loc) {
        // The caller's place is better than none.
        return resolve(loc.getCallee(), place) || resolve(loc.getCaller(), place);
      })
      .Case([&](FusedLoc loc) {
        return llvm::any_of(loc.getLocations(),
                            [&](Location inner) { return resolve(inner, place); });
      })
      .Case([&](OpaqueLoc loc) { return resolve(loc.getFallbackLocation(), place); })
      .Default([](LocationAttr) { return false; });
}

std::optional<unsigned> SiteTable::find(Location location, StringAttr function) {
  Place place;
  if (!resolve(location, place))
    return std::nullopt;
  return number(location, function);
}

void SiteTable::load(ArrayAttr rows) {
  for (Attribute row : rows)
    table.insert({row, unsigned(table.size())});
}

unsigned SiteTable::number(Location location, StringAttr function) {
  Place place;
  resolve(location, place);
  MLIRContext *context = location.getContext();
  if (!place.file)
    place.file = StringAttr::get(context, "");
  if (!place.function)
    place.function = function ? function : StringAttr::get(context, "");
  Builder builder(context);
  Attribute key = builder.getArrayAttr({place.file, builder.getI64IntegerAttr(place.line),
                                        builder.getI64IntegerAttr(place.column), place.function});
  return table.insert({key, unsigned(table.size())}).first->second;
}

ArrayAttr SiteTable::toAttribute(MLIRContext *context) const {
  SmallVector<Attribute> rows;
  for (const auto &row : table)
    rows.push_back(row.first);
  return ArrayAttr::get(context, rows);
}

std::vector<Site>
nereid::readSites(ArrayAttr rows,
                  const std::function<std::string(StringRef file, unsigned line)> &lineText) {
  std::vector<Site> sites;
  for (auto row : rows.getAsRange<ArrayAttr>()) {
    Site &site = sites.emplace_back();
    site.file = cast<StringAttr>(row[0]).str();
    site.line = unsigned(cast<IntegerAttr>(row[1]).getInt());
    site.column = unsigned(cast<IntegerAttr>(row[2]).getInt());
    site.function = cast<StringAttr>(row[3]).str();
    if (!site.file.empty() && lineText)
      site.text = lineText(site.file, site.line);
  }
  return sites;
}
