// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Transforms/ExportForm.h"

#include "nereid/Dialect/Ascend/IR/Ascend.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"

using namespace mlir;
using namespace nereid;

/// Attributes that mean something to this project only.
static bool isOwnAttribute(StringRef name) {
  StringRef dialect = name.split('.').first;
  return name.contains('.') && (dialect == "nereid" || dialect == "ascend" ||
                                dialect == "distributed" || dialect == "cpu");
}

static void stripFunctionAttributes(tt::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    SmallVector<NamedAttribute> kept;
    for (NamedAttribute attr : function_interface_impl::getArgAttrs(function, i))
      if (!isOwnAttribute(attr.getName()))
        kept.push_back(attr);
    function_interface_impl::setArgAttrs(function, i,
                                         DictionaryAttr::get(function.getContext(), kept));
  }
  if (!function->hasAttr("noinline"))
    function->setAttr("noinline", BoolAttr::get(function.getContext(), false));
}

void nereid::stripOwnAttributes(Operation *op) {
  SmallVector<StringAttr> own;
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (isOwnAttribute(attr.getName()))
      own.push_back(attr.getName());
  for (StringAttr name : own)
    op->removeDiscardableAttr(name);
  if (auto function = dyn_cast<tt::FuncOp>(op))
    stripFunctionAttributes(function);
}

std::string nereid::userNameOf(Operation *op) {
  if (auto call = dyn_cast<distributed::ExternCallOp>(op))
    return (call.getLibname() + "." + call.getWrittenName()).str();
  StringRef name = op->getName().stripDialect();
  if (isa<distributed::GetRankOp>(op))
    return "dl.rank";
  if (isa<distributed::GetNumRanksOp>(op))
    return "dl.num_ranks";
  if (isa<ascend::GetSubVecIdOp>(op))
    return "sub_vec_id";
  if (isa<distributed::ThreadIdOp>(op))
    return "tid";
  if (isa<distributed::ThreadBarrierOp>(op))
    return "__syncthreads";
  if (isa<distributed::DistributedDialect>(op->getDialect()))
    return ("dl." + name).str();
  return op->getName().getStringRef().str();
}
