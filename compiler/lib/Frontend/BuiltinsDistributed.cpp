// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: dl (ranks, symmetric addresses, signals, tokens) and the Ascend
// extension.
//
// What can be known is refused here, at the argument: a rank that is no integer
// of 32 bits, a signal word that the profile's library does not have (on
// NVIDIA's waits take 32 or 64 bits, notify 64), a negative count, a call of a
// library function that the verifier would refuse (checkLibraryCall). A value
// that is known at run time only and wider than the word is checked there. A
// constant keeps its bits: -1 is the all-ones value of an unsigned signal.
#include "Rules.h"
#include "ShmemRules.h"

#include "nereid/Dialect/Ascend/IR/Ascend.h"
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/Support/PassDiagnostics.h"

using namespace nereid;
using namespace nereid::frontend;

//===----------------------------------------------------------------------===//
// Ranks and symmetric addresses
//===----------------------------------------------------------------------===//

template <typename Op> static Value rankQuery(Semantic &s, const BoundArgs &args) {
  Tensor axis = intScalarArg(s, args, 0, Scalar::Int32);
  return s.wrap(s.emit<Op>(args.range, s.builder.getI32Type(), axis.handle).getResult(),
                Scalar::Int32, args.range);
}

/// A rank: an integer scalar of at most 32 bits.
static Tensor rankArg(Semantic &s, const BoundArgs &args, unsigned i) {
  if (const Tensor *tensor = args[i].getIf<Tensor>();
      tensor && (!tensor->type.isScalar() || !tensor->type.isInteger() || tensor->type.bits() > 32))
    fail(Diag::rank_dtype, args.ranges[i], args[i].describe());
  return intScalarArg(s, args, i, Scalar::Int32);
}

static Value symmAt(Semantic &s, const BoundArgs &args) {
  Tensor pointer = tensorArg(s, args, 0);
  if (!pointer.type.isPointer()) {
    if (pointer.type.isPointerLike()) {
      Diagnostic diagnostic =
          makeDiagnostic(Diag::symm_at_block, args.ranges[0], args[0].describe());
      noteValue(diagnostic, args[0], "the block of pointers");
      throw CompileError(std::move(diagnostic));
    }
    fail(Diag::not_a_pointer, args.ranges[0], "dl.symm_at", args[0].describe(),
         "pass a pointer into a symmetric tensor");
  }
  Tensor rank = rankArg(s, args, 1);
  return s.wrap(s.emit<distributed::SymmAtOp>(args.range, pointer.handle.getType(), pointer.handle,
                                              rank.handle)
                    .getResult(),
                pointer.type, args.range);
}

//===----------------------------------------------------------------------===//
// Signals and tokens
//===----------------------------------------------------------------------===//

/// A scalar pointer to integers. What waits and notifies on a GPU takes no
/// narrow words.
static Tensor signalArg(Semantic &s, const BoundArgs &args, unsigned i, unsigned leastBitsOfCuda) {
  Tensor pointer = tensorArg(s, args, i);
  Type pointee = pointer.type.pointee();
  if (!pointer.type.isPointer() || !pointee.isInteger() || pointee.isBool())
    fail(Diag::signal_pointer, args.ranges[i], functionName(args.info), args[i].describe());
  const TargetProfile &profile = *s.options.profile;
  if (profile.library == ShmemLibrary::NVSHMEM && pointee.bits() < leastBitsOfCuda)
    fail(Diag::signal_width, args.ranges[i], functionName(args.info),
         leastBitsOfCuda == 64 ? "64-bit" : "32- or 64-bit", profile.name, args[i].describe(),
         leastBitsOfCuda == 64 ? "uint64" : "int32");
  return pointer;
}

/// A scalar integer as the pointee of `signal`.
static Tensor signalValue(Semantic &s, const BoundArgs &args, unsigned i, const Tensor &signal) {
  Type pointee = signal.type.pointee();
  // A constant keeps its bits: -1 is the all-ones signal of an unsigned type.
  if (const Int *number = args[i].getIf<Int>(); number && *number < 0 && pointee.isUnsigned())
    return s.cast(s.constant(args[i], Scalar::Int64, args.ranges[i]), pointee, args.ranges[i]);
  // A value that is only known at run time is checked there.
  if (const Tensor *value = args[i].getIf<Tensor>();
      value && value->type.isScalar() && value->type.isInteger())
    return castToWord(s, *value, pointee, args.ranges[i]);
  return intScalarArg(s, args, i, pointee);
}

static Value wait(Semantic &s, const BoundArgs &args) {
  Tensor signal = signalArg(s, args, 0, 32);
  if (const Int *number = args[1].getIf<Int>(); number && *number < 0)
    fail(Diag::negative_count, args.ranges[1], parameterName(args, 1), functionName(args.info),
         toString(*number));
  Tensor count = intScalarArg(s, args, 1, Scalar::Int32);
  std::string scope = choiceArg(s, args, 2, {"gpu", "npu", "sys", "cta"});
  std::string semantic = choiceArg(s, args, 3, {"acquire", "relaxed", "release", "acq_rel"});
  if (semantic == "release" || semantic == "acq_rel") {
    Diagnostic warning = makeDiagnostic(Diag::wait_semantic, args.ranges[3], semantic);
    warning.severity = Severity::Warning;
    s.sink.report(warning);
    semantic = "acquire";
  }
  Tensor value = signalValue(s, args, 4, signal);
  auto memScope = scope == "npu" ? tt::MemSyncScope::GPU : *tt::symbolizeMemSyncScope(scope);
  auto op =
      s.emit<distributed::WaitOp>(args.range, s.builder.getI32Type(), signal.handle, count.handle,
                                  value.handle, memScope, *tt::symbolizeMemSemantic(semantic));
  return s.wrap(op.getToken(), Scalar::Int32, args.range);
}

static Value consumeToken(Semantic &s, const BoundArgs &args) {
  Tensor value = tensorArg(s, args, 0);
  const Tensor *token = args[1].getIf<Tensor>();
  if (!token || !token->type.isScalar() || !token->type.isInteger())
    fail(Diag::token_dtype, args.ranges[1], args[1].describe());
  auto op = s.emit<distributed::ConsumeTokenOp>(args.range, value.handle.getType(), value.handle,
                                                token->handle);
  return s.wrap(op.getResult(), value.type, args.range);
}

static Value notify(Semantic &s, const BoundArgs &args) {
  Tensor signal = signalArg(s, args, 0, 64);
  Tensor rank = rankArg(s, args, 1);
  Tensor value = signalValue(s, args, 2, signal);
  std::string sigOp = choiceArg(s, args, 3, {"set", "add"});
  std::string scope = choiceArg(s, args, 4, {"gpu", "npu", "intra_node", "inter_node"});
  s.emit<distributed::NotifyOp>(args.range, signal.handle, value.handle, rank.handle,
                                *distributed::symbolizeSignalOp(sigOp),
                                *distributed::symbolizeCommScope(scope == "npu" ? "gpu" : scope));
  return None{};
}

/// Refuses what the verifier would, at the place of the call.
static void checkLibraryCall(distributed::ExternCallOp op, const SourceRange &range) {
  Diagnostic fault;
  fault.range = range;
  {
    mlir::ScopedDiagnosticHandler handler(op.getContext(), [&](mlir::Diagnostic &report) {
      fault.id = reportedEntry(report).value_or(Diag::pass_error);
      fault.message = report.str();
      fault.help = diagHelp(fault.id);
      return mlir::success();
    });
    if (mlir::succeeded(op.verify()))
      return;
  }
  throw CompileError(std::move(fault));
}

/// Calls a device library function whose symbol is picked by the exact types of
/// the arguments. The table is a tuple of (types, (symbol, result types)) pairs.
static Value externCall(Semantic &s, const BoundArgs &args) {
  std::string library = s.constexprString(args, 0), path = s.constexprString(args, 1);
  std::vector<Tensor> operands;
  std::string wanted;
  for (const Value &item : itemsArg(args, 2)) {
    operands.push_back(s.toTensor(item, args.ranges[2]));
    wanted += (wanted.empty() ? "" : ", ") + operands.back().type.str();
  }
  std::string known;
  for (const Value &entry : itemsArg(args, 3)) {
    const Tuple *pair = entry.getIf<Tuple>();
    const Tuple *target = pair && pair->items.size() == 2 ? pair->items[1].getIf<Tuple>() : nullptr;
    if (!target || target->items.size() != 2 || !target->items[0].is<std::string>())
      fail(Diag::argument_kind, args.ranges[3], "arg_type_symbol_dict", "dl.extern_call",
           "a dict of (dtypes): (symbol, result dtypes)", entry.describe(), "");
    auto types = [](const Value &value) {
      std::vector<Value> items =
          value.is<Tuple>() ? value.as<Tuple>().items : std::vector<Value>{value};
      std::vector<Type> result;
      for (const Value &item : items)
        if (const Type *type = item.getIf<Type>())
          result.push_back(*type);
      return result;
    };
    std::vector<Type> inputs = types(pair->items[0]);
    std::string spelled;
    bool match = inputs.size() == operands.size();
    for (size_t i = 0; i < inputs.size(); ++i) {
      spelled += (i ? ", " : "") + inputs[i].str();
      match = match && operands[i].type == inputs[i];
    }
    known += (known.empty() ? "(" : "; (") + spelled + ")";
    if (!match)
      continue;
    llvm::SmallVector<mlir::Value> handles;
    for (const Tensor &operand : operands)
      handles.push_back(operand.handle);
    std::vector<Type> results = types(target->items[1]);
    llvm::SmallVector<mlir::Type> lowered;
    for (const Type &type : results)
      lowered.push_back(type.lower(s.builder.getContext()));
    auto op = s.emit<distributed::ExternCallOp>(args.range, lowered, handles, library, path,
                                                target->items[0].as<std::string>(),
                                                s.constexprBool(args, 4), mlir::StringAttr());
    checkLibraryCall(op, args.range);
    Tuple tuple;
    for (auto [value, type] : llvm::zip(op.getResult(), results))
      tuple.items.push_back(s.wrap(value, type, args.range));
    if (tuple.items.empty())
      return None{};
    return tuple.items.size() == 1 ? tuple.items[0] : Value(tuple);
  }
  fail(Diag::extern_overload, args.range, wanted, known);
}

static const BuiltinInfo rows[] = {
    {"dl", "rank", "axis=-1", false, rankQuery<distributed::GetRankOp>,
     "This rank's number, an int32 scalar from 0 to num_ranks() - 1. axis is accepted and "
     "ignored."},
    {"dl", "num_ranks", "axis=-1", false, rankQuery<distributed::GetNumRanksOp>,
     "Number of ranks of the job, an int32 scalar. axis is accepted and ignored."},
    {"dl", "symm_at", "ptr, rank", false, symmAt,
     "Pointer to the same place in another rank's symmetric heap.\n\n"
     "ptr: a single pointer into this rank's heap (a block of pointers is an error: map the base, "
     "then add offsets).\n"
     "rank: int32, 0 to num_ranks() - 1. The result has ptr's type and works like any pointer; for "
     "the own rank it is\n"
     "ptr itself."},
    {"dl", "wait", "barrierPtrs, numBarriers, scope, semantic, waitValue=1", false, wait,
     "Blocks until each of numBarriers signals from barrierPtrs on equals waitValue; returns an "
     "int32 token.\n\n"
     "barrierPtrs: pointer to integers of any width. numBarriers: any number; 0 returns at once. "
     "The distance between the signals is one element, or what\n"
     "the profile says (64 bytes on Ascend). scope: \"gpu\" (= \"npu\"), \"sys\", \"cta\". "
     "semantic: \"acquire\"\n"
     "or \"relaxed\". Only accesses through a pointer that consume_token tied to the token are "
     "ordered after the wait."},
    {"dl", "consume_token", "value, token", false, consumeToken,
     "Returns value, made to depend on a wait.\n\n"
     "value: a pointer, a block of pointers, a block pointer, a tensor descriptor, or any run-time "
     "value.\n"
     "token: what dl.wait returned, or a sum of such tokens. Costs nothing at run time."},
    {"dl", "notify", "ptr, rank, signal=1, sig_op=\"set\", comm_scope=\"inter_node\"", false,
     notify,
     "Updates the signal at ptr's place in rank's heap after all earlier writes of this "
     "program.\n\n"
     "ptr: pointer to integers of any width (64 bits under the profile cuda). signal: the value, "
     "cast to the signal's dtype.\n"
     "sig_op: \"set\" or \"add\". comm_scope: \"gpu\", \"intra_node\" or \"inter_node\"; with the "
     "last one puts are not\n"
     "among these writes: call libshmem_device.fence() between them and this."},
    {"dl", "extern_call", "lib_name, lib_path, args, arg_type_symbol_dict, is_pure", false,
     externCall,
     "Scalar call of a device library function; the symbol is picked by the exact dtypes of args."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::distributedRows() { return rows; }

//===----------------------------------------------------------------------===//
// The Ascend extension
//===----------------------------------------------------------------------===//

static Value subVecId(Semantic &s, const BoundArgs &args) {
  return s.wrap(s.emit<ascend::GetSubVecIdOp>(args.range, s.builder.getI64Type()).getResult(),
                Scalar::Int64, args.range);
}

static Value subVecNum(Semantic &s, const BoundArgs &) {
  if (mlir::Block *block = s.builder.getInsertionBlock())
    if (mlir::Operation *parent = block->getParentOp())
      if (auto module = parent->getParentOfType<mlir::ModuleOp>())
        module->setAttr(attr::asksVectorCores, s.builder.getUnitAttr());
  return Int(s.options.profile->subVecNum);
}

static Value scopeOutsideWith(Semantic &, const BoundArgs &args) {
  fail(Diag::not_callable, args.range, "function al.scope",
       "write `with al.scope(core_mode=\"vector\"):`");
}

static const BuiltinInfo ascendTable[] = {
    {"al", "sub_vec_id", "", false, subVecId,
     "Index of this vector core inside its AI core, an int64 scalar; 0 in a vector-only launch."},
    {"al", "sub_vec_num", "", false, subVecNum,
     "Vector cores per AI core of the device profile, known at compile time."},
    {"al", "scope", "core_mode, noinline=True, disable_auto_sync=None", false, scopeOutsideWith,
     "`with al.scope(core_mode=...):` runs its body on the cores of one kind.\n\n"
     "core_mode: \"vector\", every vector core of the program; or \"cube\", the one cube core: "
     "what the body computes is\n"
     "known to all vector cores, and what it writes is written once. A body that writes memory "
     "hands no variables on.\n"
     "Other keywords are hints of other compilers: constants without effect."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::ascendRows() { return ascendTable; }
