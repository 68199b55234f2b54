// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One relation, read in both directions: forwards from a use (where can this
// value turn up?) and backwards from a value (what can this be?). The two
// functions must name the same steps; whoever teaches one an operation teaches
// the other too. Both give one step only: the caller keeps the list of what it
// has seen, because loops and recursive calls make cycles.
//
//   forwards, of a use                                  backwards, of a value
//   init or yield of scf.for -> argument, result        argument or result -> init, yield
//   init or yield of scf.while -> argument before       argument before -> init, yield
//   operand of scf.condition -> argument after, result  argument after or result -> that operand
//   yield of scf.if -> result                           result -> both yields
//   either value of select -> result                    result -> both values
//   operand of a branch -> argument of its successor    argument of a block -> all predecessors'
//   operand of a call -> argument of the callee         argument of a function -> all its calls'
//   operand of return -> result of every call           result of a call -> all its returns'
#include "nereid/Transforms/ValueFlow.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace nereid {

CallGraph::CallGraph(ModuleOp module) {
  for (auto function : module.getOps<tt::FuncOp>())
    functions[function.getName()] = function;
  module.walk([&](tt::CallOp call) {
    if (tt::FuncOp callee = getCallee(call))
      callers[callee].push_back(call);
  });
}

ArrayRef<tt::CallOp> CallGraph::getCallers(tt::FuncOp function) const {
  auto it = callers.find(function);
  return it == callers.end() ? ArrayRef<tt::CallOp>() : ArrayRef<tt::CallOp>(it->second);
}

UseKind getForwardedValues(OpOperand &use, const CallGraph &calls,
                           SmallVectorImpl<Value> &targets) {
  Operation *op = use.getOwner();
  unsigned index = use.getOperandNumber();

  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    if (index < loop.getNumControlOperands())
      return UseKind::Control;
    targets.push_back(loop.getRegionIterArgs()[index - loop.getNumControlOperands()]);
    targets.push_back(loop.getResult(index - loop.getNumControlOperands()));
    return UseKind::Forwarded;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    targets.push_back(loop.getBeforeArguments()[index]);
    return UseKind::Forwarded;
  }
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
    return UseKind::Control;
  if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
    if (index == 0)
      return UseKind::Control;
    auto loop = cast<scf::WhileOp>(op->getParentOp());
    targets.push_back(loop.getAfterArguments()[index - 1]);
    targets.push_back(loop.getResult(index - 1));
    return UseKind::Forwarded;
  }
  if (isa<scf::YieldOp>(op)) {
    Operation *parent = op->getParentOp();
    if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      targets.push_back(loop.getBeforeArguments()[index]);
      return UseKind::Forwarded;
    }
    targets.push_back(parent->getResult(index));
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      targets.push_back(loop.getRegionIterArgs()[index]);
    return UseKind::Forwarded;
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    if (index == 0)
      return UseKind::Other;
    targets.push_back(select.getResult());
    return UseKind::Forwarded;
  }
  if (auto branch = dyn_cast<BranchOpInterface>(op)) {
    if (std::optional<BlockArgument> argument = branch.getSuccessorBlockArgument(index)) {
      targets.push_back(*argument);
      return UseKind::Forwarded;
    }
    return UseKind::Control;
  }
  if (auto call = dyn_cast<tt::CallOp>(op)) {
    tt::FuncOp callee = calls.getCallee(call);
    if (!callee || callee.isExternal())
      return UseKind::Other;
    targets.push_back(callee.getArgument(index));
    return UseKind::Forwarded;
  }
  if (isa<tt::ReturnOp>(op)) {
    for (tt::CallOp call : calls.getCallers(op->getParentOfType<tt::FuncOp>()))
      targets.push_back(call->getResult(index));
    return UseKind::Forwarded;
  }
  return UseKind::Other;
}

static void appendYielded(Region &region, unsigned index, SmallVectorImpl<Value> &sources) {
  for (Block &block : region)
    if (auto yield = dyn_cast<scf::YieldOp>(block.getTerminator()))
      sources.push_back(yield.getOperand(index));
}

bool getSourceValues(Value value, const CallGraph &calls, SmallVectorImpl<Value> &sources) {
  if (auto result = dyn_cast<OpResult>(value)) {
    Operation *op = result.getOwner();
    unsigned index = result.getResultNumber();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      sources.push_back(loop.getInitArgs()[index]);
      sources.push_back(loop.getYieldedValues()[index]);
      return true;
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      sources.push_back(loop.getConditionOp().getArgs()[index]);
      return true;
    }
    if (isa<scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp>(op)) {
      for (Region &region : op->getRegions())
        appendYielded(region, index, sources);
      return true;
    }
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      sources.push_back(select.getTrueValue());
      sources.push_back(select.getFalseValue());
      return true;
    }
    if (auto call = dyn_cast<tt::CallOp>(op)) {
      tt::FuncOp callee = calls.getCallee(call);
      if (!callee || callee.isExternal())
        return false;
      for (Block &block : callee.getBody())
        if (auto ret = dyn_cast<tt::ReturnOp>(block.getTerminator()))
          sources.push_back(ret.getOperand(index));
      return true;
    }
    return false;
  }

  auto argument = cast<BlockArgument>(value);
  Block *block = argument.getOwner();
  Operation *parent = block->getParentOp();
  unsigned index = argument.getArgNumber();
  if (!block->isEntryBlock()) {
    for (auto it = block->pred_begin(), end = block->pred_end(); it != end; ++it)
      if (auto branch = dyn_cast<BranchOpInterface>((*it)->getTerminator()))
        if (Value source = branch.getSuccessorOperands(it.getSuccessorIndex())[index])
          sources.push_back(source);
    return true;
  }
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    if (index < loop.getNumInductionVars())
      return false;
    sources.push_back(loop.getInitArgs()[index - loop.getNumInductionVars()]);
    sources.push_back(loop.getYieldedValues()[index - loop.getNumInductionVars()]);
    return true;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    if (block == loop.getBeforeBody()) {
      sources.push_back(loop.getInits()[index]);
      sources.push_back(loop.getYieldOp().getOperand(index));
    } else {
      sources.push_back(loop.getConditionOp().getArgs()[index]);
    }
    return true;
  }
  if (auto function = dyn_cast<tt::FuncOp>(parent)) {
    ArrayRef<tt::CallOp> callers = calls.getCallers(function);
    for (tt::CallOp call : callers)
      sources.push_back(call.getArgOperands()[index]);
    return !callers.empty();
  }
  return false;
}

SmallVector<Value> getControl(Operation *op) {
  SmallVector<Value> values;
  for (Operation *parent = op->getParentOp(); parent && !isa<tt::FuncOp, ModuleOp>(parent);
       parent = parent->getParentOp()) {
    if (auto loop = dyn_cast<scf::WhileOp>(parent))
      values.push_back(loop.getConditionOp().getCondition());
    else if (auto loop = dyn_cast<scf::ForOp>(parent))
      values.append({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    else
      llvm::append_range(values, parent->getOperands());
  }
  return values;
}

void walkSources(ValueRange start, const CallGraph &calls, llvm::function_ref<bool(Value)> visit) {
  llvm::SetVector<Value> work;
  work.insert_range(start);
  for (size_t i = 0; i < work.size(); ++i) {
    Value value = work[i];
    if (!visit(value))
      continue;
    SmallVector<Value> sources;
    getSourceValues(value, calls, sources);
    if (Operation *op = value.getDefiningOp()) {
      llvm::append_range(sources, op->getOperands());
      llvm::append_range(sources, getControl(op));
    }
    work.insert_range(sources);
  }
}

} // namespace nereid
