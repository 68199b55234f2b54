// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a fault of a kernel finds its line. Sites, the places in the source, have
// numbers; the code generator is told that instructions come from "line 1 +
// number" of one nameless file, so that its ordinary line table maps addresses
// to sites. makeKernelObject() reads that table and throws the debug
// information away: the kernel's file has (offset, site) and nothing else.
//
// The places of inlined calls would not fit a line table of one function. As
// numbers they do: each operation's location was resolved to one place before.
#include "Target/CPU/RuntimeToLLVM/LineTable.h"

#include "Target/CPU/RuntimeToLLVM/Passes.h"
#include "nereid/Target/Sites.h"

#include "llvm/BinaryFormat/Dwarf.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

void nereid::cpu::attachLineTable(ModuleOp module) {
  MLIRContext *context = module.getContext();
  SiteTable sites;
  if (auto known = module->getAttrOfType<ArrayAttr>(sitesAttrName))
    sites.load(known);

  // One file without a name: lines are numbers of sites, not lines of a file.
  auto name = StringAttr::get(context, "sites");
  auto file = LLVM::DIFileAttr::get(context, name, StringAttr::get(context, ""));
  auto unit = LLVM::DICompileUnitAttr::get(
      DistinctAttr::create(UnitAttr::get(context)), llvm::dwarf::DW_LANG_Python, file,
      StringAttr::get(context, "nereid"), /*isOptimized=*/true,
      LLVM::DIEmissionKind::LineTablesOnly, LLVM::DINameTableKind::None);
  auto type = LLVM::DISubroutineTypeAttr::get(context, ArrayRef<LLVM::DITypeAttr>());
  auto placeOf = [&](unsigned site) { return FileLineColLoc::get(name, site + 1, 1); };

  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (function.isExternal())
      continue;
    StringAttr symbol = function.getSymNameAttr();
    auto numbered = [&](Location location) -> Location {
      std::optional<unsigned> site = sites.find(location, symbol);
      return site ? Location(placeOf(*site)) : Location(UnknownLoc::get(context));
    };
    function.walk([&](Operation *op) {
      if (op != function.getOperation())
        op->setLoc(numbered(op->getLoc()));
    });
    // Arguments of blocks become phis, which have places too.
    for (Block &block : function.getBody())
      for (BlockArgument argument : block.getArguments())
        argument.setLoc(numbered(argument.getLoc()));
    // What stands before the first operation, such as the reservation of the
    // stack frame, belongs to the function's own place.
    std::optional<unsigned> own = sites.find(function.getLoc(), symbol);
    unsigned line = own ? *own + 1 : 0;
    auto program = LLVM::DISubprogramAttr::get(
        context, DistinctAttr::create(UnitAttr::get(context)), unit, file, symbol, symbol, file,
        line,
        /*scopeLine=*/line,
        LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized, type,
        /*retainedNodes=*/ArrayRef<LLVM::DINodeAttr>(),
        /*annotations=*/ArrayRef<LLVM::DINodeAttr>());
    function->setLoc(FusedLoc::get(context, {Location(UnknownLoc::get(context))}, program));
  }
  module->setAttr(sitesAttrName, sites.toAttribute(context));
}
