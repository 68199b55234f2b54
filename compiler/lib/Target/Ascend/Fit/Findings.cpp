// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Ascend/Fit/Findings.h"
#include "nereid/Support/AttributeNames.h"

#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Pipelines/Common.h"
#include "nereid/ascend_chips.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::fit;

namespace nereid {
const TargetInfo &infoOfAscend();
} // namespace nereid

static constexpr llvm::StringLiteral findingsAttr = "nereid.fit.findings";
static constexpr llvm::StringLiteral memoryAttr = "nereid.fit.memory";

static void append(ModuleOp module, StringRef name, Attribute entry) {
  SmallVector<Attribute> entries;
  if (auto known = module->getAttrOfType<ArrayAttr>(name))
    llvm::append_range(entries, known);
  // What a loop or an unrolled block repeats is one finding.
  if (llvm::is_contained(entries, entry))
    return;
  entries.push_back(entry);
  module->setAttr(name, ArrayAttr::get(module.getContext(), entries));
}

void nereid::fit::addFinding(ModuleOp module, Location loc, const Check &check, std::string fact,
                             std::string remedy) {
  emitRemark(loc) << "[" << check.name << "] " << fact;
  Builder b(module.getContext());
  NamedAttribute entries[] = {
      b.getNamedAttr("check", b.getStringAttr(check.name)),
      b.getNamedAttr("severity", b.getI32IntegerAttr(int(check.severity))),
      b.getNamedAttr("fact", b.getStringAttr(fact)),
      b.getNamedAttr("remedy", b.getStringAttr(remedy)),
      b.getNamedAttr("location", LocationAttr(loc)),
  };
  append(module, findingsAttr, b.getDictionaryAttr(entries));
}

void nereid::fit::addMemory(ModuleOp module, StringRef kind, int64_t needed, int64_t available) {
  Builder b(module.getContext());
  NamedAttribute entries[] = {
      b.getNamedAttr("kind", b.getStringAttr(kind)),
      b.getNamedAttr("needed", b.getI64IntegerAttr(needed)),
      b.getNamedAttr("available", b.getI64IntegerAttr(available)),
  };
  append(module, memoryAttr, b.getDictionaryAttr(entries));
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// The place in the user's file, then, for inlined functions, those of the calls.
static void resolve(Location location, SmallVectorImpl<FileLineColRange> &places) {
  if (auto file = dyn_cast<FileLineColRange>(location)) {
    places.push_back(file);
  } else if (auto name = dyn_cast<NameLoc>(location)) {
    resolve(name.getChildLoc(), places);
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    resolve(call.getCallee(), places);
    resolve(call.getCaller(), places);
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location inner : fused.getLocations())
      if (places.empty())
        resolve(inner, places);
  }
}

unsigned nereid::fit::lineOf(Location loc) {
  SmallVector<FileLineColRange> places;
  resolve(loc, places);
  return places.empty() ? 0 : places.front().getStartLine();
}

static llvm::json::Object placeJSON(FileLineColRange place, const TargetSettings &settings) {
  std::string file = place.getFilename().getValue().str();
  llvm::json::Object object{{"file", file},
                            {"line", int64_t(place.getStartLine())},
                            {"column", int64_t(place.getStartColumn())}};
  if (place.getEndLine() == place.getStartLine() && place.getEndColumn() > place.getStartColumn())
    object["end_column"] = int64_t(place.getEndColumn());
  if (settings.lineText)
    object["text"] = settings.lineText(file, place.getStartLine());
  return object;
}

llvm::json::Value nereid::fit::findingsJSON(ModuleOp module, const TargetSettings &settings,
                                            StringRef kernel) {
  static constexpr const char *severities[] = {"refused", "wrong", "slow", "note"};
  llvm::json::Array findings, memory;
  if (auto entries = module->getAttrOfType<ArrayAttr>(findingsAttr))
    for (auto entry : entries.getAsRange<DictionaryAttr>()) {
      auto text = [&](StringRef name) { return entry.getAs<StringAttr>(name).getValue().str(); };
      SmallVector<FileLineColRange> places;
      resolve(Location(entry.getAs<LocationAttr>("location")), places);
      llvm::json::Object finding{
          {"check", text("check")},
          {"severity", severities[entry.getAs<IntegerAttr>("severity").getInt()]},
          {"fact", text("fact")},
          {"remedy", text("remedy")}};
      if (!places.empty())
        finding["place"] = placeJSON(places.front(), settings);
      llvm::json::Array callers;
      for (FileLineColRange place : ArrayRef(places).drop_front(places.empty() ? 0 : 1))
        callers.push_back(placeJSON(place, settings));
      finding["called_from"] = std::move(callers);
      findings.push_back(std::move(finding));
    }
  if (auto entries = module->getAttrOfType<ArrayAttr>(memoryAttr))
    for (auto entry : entries.getAsRange<DictionaryAttr>())
      memory.push_back(
          llvm::json::Object{{"kind", entry.getAs<StringAttr>("kind").getValue().str()},
                             {"needed", entry.getAs<IntegerAttr>("needed").getInt()},
                             {"available", entry.getAs<IntegerAttr>("available").getInt()},
                             {"estimated", true}});
  auto mode = module->getAttrOfType<StringAttr>(attr::launchMode);
  auto blocking = module->getAttrOfType<BoolAttr>(attr::blocking);
  const AscendChip &chip =
      *findAscendChip(optionValue<std::string>(infoOfAscend(), "fit_chip", settings.options));
  bool isMixed = mode && mode.getValue() == "cv1:2";
  return llvm::json::Object{{"kernel", kernel.str()},
                            {"chip", chip.name},
                            {"compiler_name", chip.compilerName},
                            {"mode", isMixed ? "mixed" : "vector"},
                            {"cores", isMixed ? chip.aiCores : chip.vectorCores},
                            {"waits", blocking && blocking.getValue()},
                            {"findings", std::move(findings)},
                            {"memory", std::move(memory)}};
}

//===----------------------------------------------------------------------===//
// Words and pointers
//===----------------------------------------------------------------------===//

std::string nereid::fit::bytesText(int64_t bytes) {
  if (bytes % 1024 == 0 && bytes)
    return std::to_string(bytes / 1024) + " KiB";
  if (bytes < 1024)
    return std::to_string(bytes) + " bytes";
  return llvm::formatv("{0:F1} KiB", double(bytes) / 1024).str();
}

std::string nereid::fit::typeText(Type element) { return signatureName(element); }

Value nereid::fit::rootOf(Value pointer) {
  llvm::SmallPtrSet<void *, 8> seen;
  while (seen.insert(pointer.getAsOpaquePointer()).second) {
    if (auto argument = dyn_cast<BlockArgument>(pointer)) {
      auto loop = dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
      OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
      if (!init)
        return pointer;
      pointer = init->get();
      continue;
    }
    Operation *op = pointer.getDefiningOp();
    if (isa<tt::AddPtrOp, tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::BitcastOp,
            tt::ReshapeOp, tt::TransOp, distributed::ConsumeTokenOp>(op)) {
      pointer = op->getOperand(0);
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      pointer = select.getTrueValue();
    } else if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
      unsigned number = cast<OpResult>(pointer).getResultNumber();
      if (number >= loop.getInits().size())
        return pointer;
      pointer = loop.getInits()[number];
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      pointer = branch.thenYield().getOperand(cast<OpResult>(pointer).getResultNumber());
    } else {
      return pointer;
    }
  }
  return pointer;
}

bool nereid::fit::isOfPeer(Value pointer) {
  Operation *op = rootOf(pointer).getDefiningOp();
  if (!op)
    return false;
  if (auto cast = dyn_cast<tt::IntToPtrOp>(op))
    op = cast.getSrc().getDefiningOp();
  if (auto call = dyn_cast_or_null<distributed::ExternCallOp>(op))
    return call.getFunction().id == distributed::LibraryFunctionId::remote_ptr;
  return isa_and_nonnull<distributed::SymmAtOp>(op);
}
