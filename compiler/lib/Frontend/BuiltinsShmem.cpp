// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: libshmem_device. Every call becomes a distributed.extern_call with
// libname "libshmem_device" and one of these symbols; spellings that differ only
// in who of a program's threads calls (_block, _warp, _wave, _wg) share one.
//
// | symbol             | operands (all scalars)                                | result      |
// | ------------------ | ----------------------------------------------------- | ----------- |
// | my_pe, n_pes       |                                                       | i32 (pure)  |
// | remote_ptr         | ptr, i32 pe                                           | type of ptr |
// | putmem, putmem_nbi | ptr dest, ptr source, i64 bytes, i32 pe               |             |
// | getmem, getmem_nbi | ptr dest, ptr source, i64 bytes, i32 pe               |             |
// | putmem_signal,     | ptr dest, ptr source, i64 bytes, ptr signal,          |             |
// | putmem_signal_nbi  | value (pointee of signal), i32 sig_op, i32 pe         |             |
// | signal_op          | ptr signal, value (pointee), i32 sig_op, i32 pe       |             |
// | signal_wait_until  | ptr signal, i32 cmp, value (pointee)                  | the pointee |
// | p                  | ptr dest, value (pointee of dest), i32 pe             |             |
// | g                  | ptr source, i32 pe                                    | the pointee |
// | fence, quiet       |                                                       |             |
// | barrier_all        |                                                       |             |
// | barrier_all_vec    |                                                       |             |
// | sync_all           |                                                       |             |
//
// sig_op is NRD_SIG_SET or NRD_SIG_ADD, cmp is NRD_CMP_* of abi/nereid/abi.h,
// whatever library's constant the kernel names; both are constants. `signal`
// points to 32- or 64-bit integers. signal_wait_until carries the unit attribute
// `nereid.unsigned` when the signal's dtype is unsigned. Teams are folded: those
// of one node are the whole job.
#include "Rules.h"

#include "nereid/Dialect/Distributed/IR/Distributed.h"

using namespace nereid;
using namespace nereid::frontend;
using ConstantKind = ShmemConstant::Kind;

static mlir::Operation *emitCall(Semantic &s, const SourceRange &range, llvm::StringRef symbol,
                                 llvm::ArrayRef<Tensor> operands, std::optional<Type> result = std::nullopt,
                                 bool pure = false) {
  llvm::SmallVector<mlir::Value> handles;
  for (const Tensor &operand : operands)
    handles.push_back(operand.handle);
  llvm::SmallVector<mlir::Type> types;
  if (result)
    types.push_back(result->lower(s.builder.getContext()));
  return s.emit<distributed::ExternCallOp>(range, types, handles, "libshmem_device", "", symbol, pure);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static Tensor pointerArg(Semantic &s, const BoundArgs &args, unsigned i, bool isSignal = false) {
  Tensor pointer = tensorArg(s, args, i);
  Type pointee = pointer.type.pointee();
  bool valid = pointer.type.isPointer() && (!isSignal || (pointee.isInteger() && pointee.bits() >= 32));
  if (!valid)
    fail(Diag::shmem_pointer, args.ranges[i], parameterName(args, i), args.info.name,
         isSignal ? " to a 32- or 64-bit integer" : "", args[i].describe());
  return pointer;
}

static Tensor peArg(Semantic &s, const BoundArgs &args, unsigned i) {
  return intScalarArg(s, args, i, Scalar::Int32);
}
static Tensor bytesArg(Semantic &s, const BoundArgs &args, unsigned i) {
  return intScalarArg(s, args, i, Scalar::Int64);
}

/// The value of argument `i` as the pointee of `pointer`.
static Tensor pointeeArg(Semantic &s, const BoundArgs &args, unsigned i, const Tensor &pointer) {
  Type pointee = pointer.type.pointee();
  if (pointee.isFloating() && args[i].isNumber())
    return s.constant(args[i], pointee, args.ranges[i]);
  if (const Int *number = args[i].getIf<Int>(); number && *number < 0 && pointee.isUnsigned())
    return s.cast(s.constant(args[i], Scalar::Int64, args.ranges[i]), pointee, args.ranges[i]);
  Tensor value = tensorArg(s, args, i);
  if (value.type.isBlock() || value.type.isPointerLike())
    fail(Diag::argument_kind, args.ranges[i], parameterName(args, i), functionName(args.info), "a scalar",
         args[i].describe(), "");
  return args[i].isNumber() ? s.constant(args[i], pointee, args.ranges[i]) : s.cast(value, pointee, args.ranges[i]);
}

/// Notes which library's constants the kernel uses; mixing them is an error.
static void noteFamily(Semantic &s, const ShmemConstant &constant, const SourceRange &range) {
  if (!s.shmemFamily) {
    s.shmemFamily = {constant.family, range};
    return;
  }
  if (s.shmemFamily->first == constant.family)
    return;
  Diagnostic diagnostic = makeDiagnostic(Diag::shmem_family, range, constant.name(),
                                         ShmemConstant::familyName(constant.family),
                                         ShmemConstant::familyName(s.shmemFamily->first));
  diagnostic.notes.push_back({s.shmemFamily->second, "the first constant is used here"});
  throw CompileError(std::move(diagnostic));
}

/// A comparison, signal operation or team as our own number.
static int32_t constantArg(Semantic &s, const BoundArgs &args, unsigned i, ConstantKind kind) {
  static const char *const kinds[] = {"comparison", "signal operation", "team"};
  static const char *const accepted[] = {
      ("NVSHMEM_CMP_EQ, NVSHMEM_CMP_NE, NVSHMEM_CMP_GT, NVSHMEM_CMP_LE, NVSHMEM_CMP_LT, NVSHMEM_CMP_GE (or those of "
       "ROCSHMEM, ACLSHMEM, MORI, MXSHMEM)"),
      "NVSHMEM_SIGNAL_SET, NVSHMEM_SIGNAL_ADD (or those of ROCSHMEM, ACLSHMEM, MORI, MXSHMEM)",
      "NVSHMEM_TEAM_WORLD, NVSHMEM_TEAM_SHARED, NVSHMEMX_TEAM_NODE"};
  auto refuse = [&]() {
    fail(Diag::shmem_constant, args.ranges[i], args[i].describe(), kinds[int(kind)], accepted[int(kind)]);
  };
  const Int *number = args[i].getIf<Int>();
  if (!number) {
    if (args[i].isTensor())
      fail(Diag::not_constexpr, args.ranges[i], parameterName(args, i), functionName(args.info), args[i].describe());
    refuse();
  }
  if (std::optional<ShmemConstant> constant = ShmemConstant::decode(*number)) {
    if (constant->kind != kind)
      refuse();
    noteFamily(s, *constant, args.ranges[i]);
    return constant->number;
  }
  // A plain number, as C headers number it.
  bool rocNumbers = s.shmemFamily && (s.shmemFamily->first == ShmemConstant::Family::ROCSHMEM ||
                                      s.shmemFamily->first == ShmemConstant::Family::ACLSHMEM);
  switch (kind) {
  case ConstantKind::Compare: {
    if (*number < 0 || *number > 5)
      refuse();
    static const int roc[] = {0, 1, 2, 5, 4, 3}; // GE and LE change places
    int32_t meaning = rocNumbers ? roc[int(*number)] : int32_t(*number);
    if (!s.shmemFamily && (*number == 3 || *number == 5)) {
      ShmemConstant guess{ShmemConstant::Family::NVSHMEM, kind, meaning};
      Diagnostic warning = makeDiagnostic(Diag::shmem_ambiguous, args.ranges[i], toString(*number), guess.name());
      warning.severity = Severity::Warning;
      s.sink.report(warning);
    }
    return meaning;
  }
  case ConstantKind::Signal:
    if (*number == 9 || *number == 0)
      return 1;
    if (*number == 10 || *number == 1)
      return 2;
    refuse();
    break;
  case ConstantKind::Team:
    if (*number < 0 || *number > 2)
      refuse();
    return int32_t(*number);
  }
  return 0;
}

static Tensor constantOperand(Semantic &s, const BoundArgs &args, unsigned i, ConstantKind kind) {
  return s.constant(Int(constantArg(s, args, i, kind)), Scalar::Int32, args.ranges[i]);
}

/// A team that is the whole job.
static void wholeTeam(Semantic &s, const BoundArgs &args, unsigned i) {
  int32_t team = constantArg(s, args, i, ConstantKind::Team);
  if (team < 0 || team > 2)
    fail(Diag::shmem_unsupported, args.ranges[i], args.info.name, "only teams that are the whole job work");
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Name of the function without the suffix that says which threads call it.
static std::string canonicalName(llvm::StringRef name) {
  for (llvm::StringRef suffix : {"_block", "_warp", "_wave", "_wg"})
    if (name.consume_back(suffix))
      break;
  std::string canonical = name.str();
  // Transfers forced over the network card are ordinary transfers here.
  if (size_t at = canonical.find("_rma"); at != std::string::npos)
    canonical.erase(at, 4);
  return canonical;
}

static Value query(Semantic &s, const BoundArgs &args) {
  mlir::Operation *op = emitCall(s, args.range, args.info.name, {}, Type(Scalar::Int32), true);
  return s.wrap(op->getResult(0), Scalar::Int32, args.range);
}

static Value teamQuery(Semantic &s, const BoundArgs &args) {
  wholeTeam(s, args, 0);
  llvm::StringRef symbol = llvm::StringRef(args.info.name).drop_front(strlen("team_"));
  mlir::Operation *op = emitCall(s, args.range, symbol, {}, Type(Scalar::Int32), true);
  return s.wrap(op->getResult(0), Scalar::Int32, args.range);
}

static Value teamTranslate(Semantic &s, const BoundArgs &args) {
  wholeTeam(s, args, 0);
  wholeTeam(s, args, 2);
  return peArg(s, args, 1);
}

static Value remotePtr(Semantic &s, const BoundArgs &args) {
  Tensor pointer = pointerArg(s, args, 0), pe = peArg(s, args, 1);
  mlir::Operation *op = emitCall(s, args.range, "remote_ptr", {pointer, pe}, pointer.type);
  return s.wrap(op->getResult(0), pointer.type, args.range);
}

static Value plainCall(Semantic &s, const BoundArgs &args) {
  emitCall(s, args.range, canonicalName(args.info.name), {});
  return None{};
}

static Value quietCall(Semantic &s, const BoundArgs &args) {
  emitCall(s, args.range, llvm::StringRef(args.info.name).starts_with("fence") ? "fence" : "quiet", {});
  return None{};
}

static Value teamBarrier(Semantic &s, const BoundArgs &args) {
  wholeTeam(s, args, 0);
  llvm::StringRef name = args.info.name;
  emitCall(s, args.range,
           name == "barrier_vec"          ? "barrier_all_vec"
           : name.starts_with("barrier") ? "barrier_all"
                                          : "sync_all",
           {});
  return None{};
}

static Value transfer(Semantic &s, const BoundArgs &args) {
  Tensor operands[] = {pointerArg(s, args, 0), pointerArg(s, args, 1), bytesArg(s, args, 2), peArg(s, args, 3)};
  emitCall(s, args.range, canonicalName(args.info.name), operands);
  return None{};
}

static Value transferSignal(Semantic &s, const BoundArgs &args) {
  Tensor dest = pointerArg(s, args, 0), source = pointerArg(s, args, 1), bytes = bytesArg(s, args, 2);
  Tensor signal = pointerArg(s, args, 3, true), value = pointeeArg(s, args, 4, signal);
  Tensor op = constantOperand(s, args, 5, ConstantKind::Signal), pe = peArg(s, args, 6);
  if (llvm::StringRef(args.info.name) == "ulong_put_signal") {
    // Counts 8-byte elements, not bytes.
    bytes = s.binary(BinaryOp::Mult, bytes, Int(8), args.range).as<Tensor>();
    emitCall(s, args.range, "putmem_signal", {dest, source, bytes, signal, value, op, pe});
    return None{};
  }
  emitCall(s, args.range, canonicalName(args.info.name), {dest, source, bytes, signal, value, op, pe});
  return None{};
}

static Value signalOp(Semantic &s, const BoundArgs &args) {
  Tensor signal = pointerArg(s, args, 0, true), value = pointeeArg(s, args, 1, signal);
  Tensor op = constantOperand(s, args, 2, ConstantKind::Signal), pe = peArg(s, args, 3);
  emitCall(s, args.range, "signal_op", {signal, value, op, pe});
  return None{};
}

static Value emitWait(Semantic &s, const BoundArgs &args, const Tensor &signal, const Tensor &cmp,
                      const Tensor &value) {
  Type pointee = signal.type.pointee();
  mlir::Operation *op = emitCall(s, args.range, "signal_wait_until", {signal, cmp, value}, pointee);
  if (pointee.isUnsigned())
    op->setAttr("nereid.unsigned", s.builder.getUnitAttr());
  return s.wrap(op->getResult(0), pointee, args.range);
}

static Value signalWaitUntil(Semantic &s, const BoundArgs &args) {
  Tensor signal = pointerArg(s, args, 0, true);
  Tensor cmp = constantOperand(s, args, 1, ConstantKind::Compare), value = pointeeArg(s, args, 2, signal);
  return emitWait(s, args, signal, cmp, value);
}

static Value waitEquals(Semantic &s, const BoundArgs &args) {
  Tensor signal = pointerArg(s, args, 0, true), value = pointeeArg(s, args, 1, signal);
  return emitWait(s, args, signal, s.constant(Int(0), Scalar::Int32, args.range), value);
}

static Value put(Semantic &s, const BoundArgs &args) {
  Tensor dest = pointerArg(s, args, 0), value = pointeeArg(s, args, 1, dest), pe = peArg(s, args, 2);
  emitCall(s, args.range, "p", {dest, value, pe});
  return None{};
}

static Value get(Semantic &s, const BoundArgs &args) {
  Tensor source = pointerArg(s, args, 0), pe = peArg(s, args, 1);
  Type pointee = source.type.pointee();
  mlir::Operation *op = emitCall(s, args.range, "g", {source, pe}, pointee.isBool() ? Type(Scalar::Int8) : pointee);
  return s.wrap(op->getResult(0), pointee.isBool() ? Type(Scalar::Int8) : pointee, args.range);
}

static Value nothing(Semantic &, const BoundArgs &) { return None{}; }

static Value unsupported(Semantic &s, const BoundArgs &args) {
  llvm::StringRef name = args.info.name;
  fail(Diag::shmem_unsupported, args.range, args.info.name,
       name == "remote_mc_ptr" ? "there are no multicast addresses; write to each rank with dl.symm_at"
                               : "write the collective with putmem or getmem and a barrier");
}

#define NEREID_PLAIN(NAME, DOC) {"libshmem_device", NAME, "", false, plainCall, DOC}
#define NEREID_TRANSFER(NAME, DOC) {"libshmem_device", NAME, "dest, source, nbytes, pe, qp_id=0", false, transfer, DOC}
#define NEREID_SIGNALLED(NAME, DOC)                                                                                    \
  {"libshmem_device", NAME, "dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0", false, transferSignal, DOC}
#define NEREID_GROUPS(MACRO, NAME, DOC)                                                                                \
  MACRO(NAME, DOC), MACRO(NAME "_block", DOC), MACRO(NAME "_warp", DOC), MACRO(NAME "_wave", DOC),                     \
      MACRO(NAME "_wg", DOC)
#define NEREID_TEAM(NAME, DOC) {"libshmem_device", NAME, "team", false, teamBarrier, DOC}
#define NEREID_BROADCAST(NAME, DOC)                                                                                    \
  {"libshmem_device", NAME, "team, dest, source, nelems, pe_root", false, unsupported, DOC}
#define NEREID_COLLECT(NAME, DOC) {"libshmem_device", NAME, "team, dest, source, nelems", false, unsupported, DOC}

static const char *const collectiveDoc = "Not available: the runtime has no in-kernel collectives.";

static const char *const barrierDoc =
    "Barrier over all programs of all ranks; every write before it is visible after it. Every program of the launch\n"
    "on every rank must call it the same number of times.";
static const char *const putDoc =
    "Copies nbytes bytes from source to dest in pe's heap; returns when source may be reused. dest is symmetric.";
static const char *const putNbiDoc =
    "Starts to copy nbytes bytes from source to dest in pe's heap; complete after quiet(). dest is symmetric.";
static const char *const getDoc = "Copies nbytes bytes from source in pe's heap to dest. source is symmetric.";
static const char *const getNbiDoc =
    "Starts to copy nbytes bytes from source in pe's heap to dest; complete after quiet(). source is symmetric.";
static const char *const putSignalDoc =
    "putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.\n\n"
    "sig_addr: pointer to a 32- or 64-bit integer; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or\n"
    "NVSHMEM_SIGNAL_ADD (or another library's, but only one library's in a kernel).";
static const char *const putSignalNbiDoc = "putmem_signal that only starts the transfer; complete after quiet().";
static const char *const syncDoc = "Barrier over all programs of all ranks without completing outstanding transfers.";

static const BuiltinInfo rows[] = {
    {"libshmem_device", "my_pe", "", false, query, "This rank's number, int32; the same as dl.rank()."},
    {"libshmem_device", "n_pes", "", false, query, "Number of ranks, int32; the same as dl.num_ranks()."},
    {"libshmem_device", "team_my_pe", "team", false, teamQuery, "This rank's number in a team that is the whole job."},
    {"libshmem_device", "team_n_pes", "team", false, teamQuery, "Number of ranks of a team that is the whole job."},
    {"libshmem_device", "team_translate_pe", "src_team, src_pe, dest_team", false, teamTranslate,
     "The rank in dest_team that is src_pe in src_team; both teams are the whole job."},
    {"libshmem_device", "remote_ptr", "local_ptr, pe", false, remotePtr,
     "Address of local_ptr's place in pe's heap; the same as dl.symm_at."},
    {"libshmem_device", "remote_mc_ptr", "team, ptr", false, unsupported,
     "Not available: there are no multicast addresses."},
    NEREID_GROUPS(NEREID_PLAIN, "barrier_all", barrierDoc),
    NEREID_PLAIN("barrier_all_vec", "barrier_all among vector cores only."),
    NEREID_GROUPS(NEREID_TEAM, "barrier", barrierDoc),
    NEREID_TEAM("barrier_vec", "barrier among vector cores only."),
    NEREID_GROUPS(NEREID_PLAIN, "sync_all", syncDoc),
    NEREID_TEAM("sync", syncDoc),
    NEREID_TEAM("team_sync_block", syncDoc),
    NEREID_TEAM("team_sync_warp", syncDoc),
    NEREID_PLAIN("fence", "Orders this program's transfers and signals to each rank; does not complete them."),
    NEREID_PLAIN("quiet", "Completes all outstanding transfers of this program."),
    {"libshmem_device", "quiet_pe", "pe=None, qp_id=0", false, quietCall, "quiet(); completes the transfers to all ranks."},
    {"libshmem_device", "fence_pe", "pe=None, qp_id=0", false, quietCall, "fence(); orders the transfers to all ranks."},
    NEREID_GROUPS(NEREID_TRANSFER, "putmem", putDoc),
    NEREID_GROUPS(NEREID_TRANSFER, "putmem_nbi", putNbiDoc),
    NEREID_GROUPS(NEREID_TRANSFER, "putmem_rma", putDoc),
    NEREID_GROUPS(NEREID_TRANSFER, "putmem_rma_nbi", putNbiDoc),
    NEREID_GROUPS(NEREID_TRANSFER, "getmem", getDoc),
    NEREID_GROUPS(NEREID_TRANSFER, "getmem_nbi", getNbiDoc),
    NEREID_GROUPS(NEREID_SIGNALLED, "putmem_signal", putSignalDoc),
    NEREID_GROUPS(NEREID_SIGNALLED, "putmem_signal_nbi", putSignalNbiDoc),
    NEREID_GROUPS(NEREID_SIGNALLED, "putmem_signal_rma", putSignalDoc),
    NEREID_GROUPS(NEREID_SIGNALLED, "putmem_signal_rma_nbi", putSignalNbiDoc),
    {"libshmem_device", "ulong_put_signal", "dest, source, nelems, sig_addr, signal, sig_op, pe", false,
     transferSignal, "putmem_signal of nelems 8-byte elements."},
    {"libshmem_device", "signal_op", "sig_addr, signal, sig_op, pe", false, signalOp,
     "Sets or adds to the signal at sig_addr's place in pe's heap; not ordered after earlier puts without fence()."},
    {"libshmem_device", "signal_wait_until", "sig_addr, cmp_, cmp_val", false, signalWaitUntil,
     "Waits until the signal compares to cmp_val as cmp_ says (NVSHMEM_CMP_EQ, ...); returns the value that did."},
    {"libshmem_device", "uint64_wait_until_equals", "addr, val", false, waitEquals,
     "Waits until the signal equals val; returns it."},
    {"libshmem_device", "int_p", "dest, value, pe, qp_id=0", false, put,
     "Stores one element, cast to dest's dtype, in pe's heap."},
    {"libshmem_device", "p", "dest, value, pe, qp_id=0", false, put,
     "Stores one element, cast to dest's dtype, in pe's heap."},
    {"libshmem_device", "int_g", "source, pe", false, get, "Reads one element from pe's heap."},
    {"libshmem_device", "g", "source, pe", false, get, "Reads one element from pe's heap."},
    NEREID_GROUPS(NEREID_BROADCAST, "broadcast", collectiveDoc),
    NEREID_GROUPS(NEREID_BROADCAST, "broadcastmem", collectiveDoc),
    NEREID_GROUPS(NEREID_COLLECT, "fcollect", collectiveDoc),
    NEREID_GROUPS(NEREID_COLLECT, "fcollectmem", collectiveDoc),
    {"libshmem_device", "set_rocshmem_ctx", "ctx", false, nothing, "Nothing to set up: accepted and ignored."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::shmemRows() { return rows; }
