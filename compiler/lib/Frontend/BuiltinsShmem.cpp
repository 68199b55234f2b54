// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: libshmem_device. Every call becomes a distributed.extern_call of a
// function of Dialect/Distributed/LibraryFunctions.def. Spellings that differ only
// in who of a program's threads calls (_block, _warp, _wave, _wg) share one; the
// call keeps the one that the user wrote.
//
// Ranks, codes and teams are i32, bytes i64, values of the pointee's type.
// sig_op is NRD_SIG_*, cmp NRD_CMP_*, op NRD_AMO_*, team NRD_TEAM_* or a handle
// of abi/nereid/abi.h, whatever library's constant the kernel names.
// signal_wait_until carries the unit attribute `nereid.unsigned` when the
// signal's dtype is unsigned.
#include "ShmemRules.h"
#include "nereid/Support/AttributeNames.h"

#include "nereid/abi.h"

#include "llvm/ADT/StringMap.h"

#include <deque>

using namespace nereid;
using namespace nereid::frontend;
using Kind = ShmemConstant::Kind;

//===----------------------------------------------------------------------===//
// Ranks and teams
//===----------------------------------------------------------------------===//

static Value query(Semantic &s, const BoundArgs &args) {
  mlir::Operation *op =
      emitShmemCall(s, args, shmemFunction(args).symbol, {}, Type(Scalar::Int32), true);
  return s.wrap(op->getResult(0), Scalar::Int32, args.range);
}

static Value teamQuery(Semantic &s, const BoundArgs &args) {
  Tensor team = shmemCodeArg(s, args, 0, Kind::Team);
  const Int *number = args[0].getIf<Int>();
  std::optional<ShmemConstant> constant = number ? ShmemConstant::decode(*number) : std::nullopt;
  const ShmemFunction &function = shmemFunction(args);
  // The whole job needs no look at tables.
  bool world =
      number && (constant ? constant->number == NRD_TEAM_WORLD : *number == NRD_TEAM_WORLD);
  mlir::Operation *op =
      world ? emitShmemCall(s, args, function.symbolForAll, {}, Type(Scalar::Int32), true)
            : emitShmemCall(s, args, function.symbol, {team}, Type(Scalar::Int32));
  return s.wrap(op->getResult(0), Scalar::Int32, args.range);
}

static Value teamTranslate(Semantic &s, const BoundArgs &args) {
  Tensor from = shmemCodeArg(s, args, 0, Kind::Team), pe = peArg(s, args, 1),
         to = shmemCodeArg(s, args, 2, Kind::Team);
  mlir::Operation *op =
      emitShmemCall(s, args, shmemFunction(args).symbol, {from, pe, to}, Type(Scalar::Int32));
  return s.wrap(op->getResult(0), Scalar::Int32, args.range);
}

/// remote_ptr(ptr, pe); MORI writes remote_ptr(ptr, my_pe, pe).
static Value remotePtr(Semantic &s, const BoundArgs &args) {
  Tensor pointer = shmemPointerArg(s, args, 0), pe = peArg(s, args, args[2].isNone() ? 1 : 2);
  mlir::Operation *op =
      emitShmemCall(s, args, shmemFunction(args).symbol, {pointer, pe}, pointer.type);
  return s.wrap(op->getResult(0), pointer.type, args.range);
}

//===----------------------------------------------------------------------===//
// Barriers, order, collectives
//===----------------------------------------------------------------------===//

static Value plainCall(Semantic &s, const BoundArgs &args) {
  emitShmemCall(s, args, shmemFunction(args).symbol, {});
  return None{};
}

/// fence and quiet towards one rank, or towards all when none is given.
static Value orderPE(Semantic &s, const BoundArgs &args) {
  const ShmemFunction &function = shmemFunction(args);
  if (args[0].isNone())
    emitShmemCall(s, args, function.symbolForAll, {});
  else
    emitShmemCall(s, args, function.symbol, {peArg(s, args, 0)});
  return None{};
}

static Value teamBarrier(Semantic &s, const BoundArgs &args) {
  Tensor team = shmemCodeArg(s, args, 0, Kind::Team);
  const ShmemFunction &function = shmemFunction(args);
  if (shmemConstantArg(s, args, 0, Kind::Team) == NRD_TEAM_WORLD)
    emitShmemCall(s, args, function.symbolForAll, {});
  else
    emitShmemCall(s, args, function.symbol, {team});
  return None{};
}

/// Argument `i`, elements or bytes as the function counts, in bytes.
static Tensor collectiveBytes(Semantic &s, const BoundArgs &args, unsigned i, const Tensor &dest,
                              const Tensor &source) {
  Tensor count = countArg(s, args, i);
  if (shmemFunction(args).unitBytes)
    return count;
  if (dest.type != source.type)
    fail(Diag::shmem_typed_pointer, args.ranges[2], args.info.name, dest.type.pointee().str(),
         "source", args[2].describe(), "dest and source hold elements of one type");
  return s
      .binary(BinaryOp::Mult, count, Int(std::max(8u, dest.type.pointee().bits()) / 8), args.range)
      .as<Tensor>();
}

static Value broadcast(Semantic &s, const BoundArgs &args) {
  Tensor team = shmemCodeArg(s, args, 0, Kind::Team), dest = shmemPointerArg(s, args, 1),
         source = shmemPointerArg(s, args, 2);
  Tensor bytes = collectiveBytes(s, args, 3, dest, source), root = peArg(s, args, 4);
  emitShmemCall(s, args, shmemFunction(args).symbol, {team, dest, source, bytes, root});
  return None{};
}

static Value collect(Semantic &s, const BoundArgs &args) {
  Tensor team = shmemCodeArg(s, args, 0, Kind::Team), dest = shmemPointerArg(s, args, 1),
         source = shmemPointerArg(s, args, 2);
  emitShmemCall(s, args, shmemFunction(args).symbol,
                {team, dest, source, collectiveBytes(s, args, 3, dest, source)});
  return None{};
}

//===----------------------------------------------------------------------===//
// Transfers and signals
//===----------------------------------------------------------------------===//

static Value transfer(Semantic &s, const BoundArgs &args) {
  Tensor operands[] = {shmemPointerArg(s, args, 0), shmemPointerArg(s, args, 1),
                       countArg(s, args, 2), peArg(s, args, 3)};
  emitShmemCall(s, args, shmemFunction(args).symbol, operands);
  return None{};
}

static Value transferSignal(Semantic &s, const BoundArgs &args) {
  Tensor dest = shmemPointerArg(s, args, 0), source = shmemPointerArg(s, args, 1),
         bytes = countArg(s, args, 2);
  Tensor signal = shmemSignalArg(s, args, 3), value = pointeeArg(s, args, 4, signal);
  Tensor op = shmemCodeArg(s, args, 5, Kind::Signal), pe = peArg(s, args, 6);
  const ShmemFunction &function = shmemFunction(args);
  if (function.unitBytes != 1)
    bytes = s.binary(BinaryOp::Mult, bytes, Int(function.unitBytes), args.range).as<Tensor>();
  emitShmemCall(s, args, function.symbol, {dest, source, bytes, signal, value, op, pe});
  return None{};
}

static Value signalOp(Semantic &s, const BoundArgs &args) {
  Tensor signal = shmemSignalArg(s, args, 0), value = pointeeArg(s, args, 1, signal);
  Tensor op = shmemCodeArg(s, args, 2, Kind::Signal), pe = peArg(s, args, 3);
  emitShmemCall(s, args, shmemFunction(args).symbol, {signal, value, op, pe});
  return None{};
}

Value nereid::frontend::emitWaitUntil(Semantic &s, const BoundArgs &args, const Tensor &signal,
                                      const Tensor &comparison, const Tensor &value) {
  Type pointee = signal.type.pointee();
  mlir::Operation *op =
      emitShmemCall(s, args, shmemFunction(args).symbol, {signal, comparison, value}, pointee);
  if (pointee.isUnsigned())
    op->setAttr(attr::isUnsigned, s.builder.getUnitAttr());
  return s.wrap(op->getResult(0), pointee, args.range);
}

static Value signalWaitUntil(Semantic &s, const BoundArgs &args) {
  Tensor signal = shmemSignalArg(s, args, 0), comparison = shmemCodeArg(s, args, 1, Kind::Compare);
  return emitWaitUntil(s, args, signal, comparison, pointeeArg(s, args, 2, signal));
}

static Value put(Semantic &s, const BoundArgs &args) {
  Tensor dest = shmemPointerArg(s, args, 0), value = pointeeArg(s, args, 1, dest),
         pe = peArg(s, args, 2);
  emitShmemCall(s, args, shmemFunction(args).symbol, {dest, value, pe});
  return None{};
}

static Value get(Semantic &s, const BoundArgs &args) {
  Tensor source = shmemPointerArg(s, args, 0), pe = peArg(s, args, 1);
  Type pointee = source.type.pointee().isBool() ? Type(Scalar::Int8) : source.type.pointee();
  return s.wrap(
      emitShmemCall(s, args, shmemFunction(args).symbol, {source, pe}, pointee)->getResult(0),
      pointee, args.range);
}

static Value nothing(Semantic &, const BoundArgs &) { return None{}; }

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static const char *const barrierDoc =
    "Barrier over all ranks; every write and transfer before it is visible after it.\n\n"
    "Every program of the launch on every rank must call it the same number of times; under the "
    "profile cuda, exactly\n"
    "one program of each rank.";
static const char *const teamBarrierDoc =
    "Barrier over the members of a team; every write and transfer of a member before it is visible "
    "after it.\n\n"
    "team: a constant or the integer that nereid.symm.team_split_strided returns. Who of a rank's "
    "programs calls it is\n"
    "as with barrier_all. A rank that is not a member must not call it.";
static const char *const syncDoc = "barrier_all that does not complete outstanding transfers: only "
                                   "writes before it are visible after it.";
static const char *const teamSyncDoc =
    "barrier among the members of a team that does not complete outstanding transfers.";
static const char *const putDoc = "Copies nbytes bytes from source to dest in pe's heap; returns "
                                  "when source may be reused. dest is symmetric.";
static const char *const putNbiDoc = "Starts to copy nbytes bytes from source to dest in pe's "
                                     "heap; complete after quiet(). dest is symmetric.";
static const char *const getDoc =
    "Copies nbytes bytes from source in pe's heap to dest. source is symmetric.";
static const char *const getNbiDoc = "Starts to copy nbytes bytes from source in pe's heap to "
                                     "dest; complete after quiet(). source is symmetric.";
static const char *const putSignalDoc =
    "putmem, then updates sig_addr in pe's heap; the data is visible before the signal is.\n\n"
    "sig_addr: pointer to integers; signal: the value; sig_op: NVSHMEM_SIGNAL_SET or "
    "NVSHMEM_SIGNAL_ADD (or another\n"
    "library's, but only one library's in a kernel).";
static const char *const putSignalNbiDoc =
    "putmem_signal that only starts the transfer; complete after quiet().";
static const char *const broadcastDoc =
    "Copies nelems elements (bytes for broadcastmem) from source of member pe_root to dest of "
    "every member, itself\n"
    "included. Collective as barrier is; returns when dest is complete and source may be reused.";
static const char *const collectDoc =
    "Copies nelems elements (bytes for fcollectmem) of every member's source to dest of every "
    "member, one member after\n"
    "the other. Collective as barrier is; returns when dest is complete and source may be reused.";

namespace {
/// Functions, rows and libraries, made once.
struct Table {
  std::deque<ShmemFunction> functions; // rows point into it
  std::vector<BuiltinInfo> rows;
  llvm::StringMap<const ShmemFunction *> byName;
};
} // namespace

static void appendFunctions(std::vector<ShmemFunction> &list) {
  auto add = [&](const std::string &name, const char *params, BuiltinRule rule, const char *doc,
                 unsigned libraries, const char *symbol = "",
                 const char *symbolForAll = "") -> ShmemFunction & {
    return list.emplace_back(ShmemFunction{.name = name,
                                           .params = params,
                                           .rule = rule,
                                           .doc = doc,
                                           .libraries = uint8_t(libraries),
                                           .symbol = symbol,
                                           .symbolForAll = symbolForAll});
  };
  /// One function in the spellings of those who may call it: alone, and with
  /// _warp, _block, _wave, _wg; 0 = no library has that one.
  struct Symbols {
    const char *one, *forAll = "";
    uint8_t unitBytes = 1;
  };
  auto groups = [&](const std::string &name, const char *params, BuiltinRule rule, const char *doc,
                    Symbols symbols, unsigned plain, unsigned warp, unsigned block, unsigned wave) {
    std::tuple<const char *, unsigned, const char *> spellings[] = {{"", plain, ""},
                                                                    {"_warp", warp, "warp"},
                                                                    {"_block", block, "block"},
                                                                    {"_wave", wave, "warp"},
                                                                    {"_wg", wave, "block"}};
    for (auto [suffix, libraries, together] : spellings) {
      if (!libraries)
        continue;
      auto &function =
          add(name + suffix, params, rule, doc, libraries, symbols.one, symbols.forAll);
      function.unitBytes = symbols.unitBytes;
      function.together = together;
    }
  };
  const unsigned nv = NV | MX;

  add("my_pe", "", query, "This rank's number, int32; the same as dl.rank().", Every, "my_pe");
  add("n_pes", "", query, "Number of ranks, int32; the same as dl.num_ranks().", Every, "n_pes");
  add("team_my_pe", "team", teamQuery,
      "This rank's number in the team, int32; -1 when it is not a member.", nv | ACL, "team_my_pe",
      "my_pe");
  add("team_n_pes", "team", teamQuery, "Number of members of the team, int32.", nv | ACL,
      "team_n_pes", "n_pes");
  add("team_translate_pe", "src_team, src_pe, dest_team", teamTranslate,
      "The number in dest_team of the rank that is src_pe in src_team, int32; -1 when there is "
      "none.",
      nv | ACL, "team_translate_pe");
  add("remote_ptr", "local_ptr, pe, dest_pe=None", remotePtr,
      "Address of local_ptr's place in pe's heap; null when pe is on another node.\n\n"
      "With three arguments, as MORI has them, they are the pointer, this rank and the other rank.",
      Every, "remote_ptr");
  add("remote_mc_ptr", "team, ptr", targetOnly,
      "Multicast address of ptr's place in the heaps of the team. Only on GPUs with NVLink.", nv);

  groups("barrier_all", "", plainCall, barrierDoc, {"barrier_all"}, Every, nv, nv | MORI, ROC);
  add("barrier_all_vec", "", plainCall, "barrier_all among vector cores only.", ACL,
      "barrier_all_vec");
  groups("barrier", "team", teamBarrier, teamBarrierDoc, {"barrier", "barrier_all"}, nv | ACL, nv,
         nv, 0);
  add("barrier_vec", "team", teamBarrier, "barrier among vector cores only.", ACL, "barrier",
      "barrier_all_vec");
  groups("sync_all", "", plainCall, syncDoc, {"sync_all"}, nv, nv, nv, 0);
  add("sync", "team", teamBarrier, teamSyncDoc, nv, "team_sync", "sync_all");
  groups("team_sync", "team", teamBarrier, teamSyncDoc, {"team_sync", "sync_all"}, 0, nv, nv, 0);

  add("fence", "", plainCall, "Orders transfers and signals to each rank; does not complete them.",
      Every, "fence");
  add("quiet", "", plainCall, "Completes all outstanding transfers of this rank.", nv | MORI | ACL,
      "quiet");
  add("fence_pe", "pe=None, qp_id=0", orderPE, "fence() for one rank; without pe, for all.", MORI,
      "fence_pe", "fence");
  add("quiet_pe", "pe=None, qp_id=0", orderPE, "quiet() for one rank; without pe, for all.", MORI,
      "quiet_pe", "quiet");
  const char *queueDoc = "As fence_pe or quiet_pe: a rank has one queue here, whatever qp_id says.";
  add("fence_pe_qp", "pe, qp_id", orderPE, queueDoc, MORI, "fence_pe", "fence");
  add("quiet_pe_qp", "pe, qp_id", orderPE, queueDoc, MORI, "quiet_pe", "quiet");

  const char *transferParams = "dest, source, nbytes, pe, qp_id=0";
  groups("putmem", transferParams, transfer, putDoc, {"putmem"}, nv | ROC | ACL, nv | MORI, nv,
         ROC);
  groups("putmem_nbi", transferParams, transfer, putNbiDoc, {"putmem_nbi"}, Every, nv | MORI,
         nv | MORI, ROC);
  groups("putmem_rma", transferParams, transfer, putDoc, {"putmem"}, NV, NV, NV, 0);
  groups("putmem_rma_nbi", transferParams, transfer, putNbiDoc, {"putmem_nbi"}, NV, NV, NV, 0);
  groups("getmem", transferParams, transfer, getDoc, {"getmem"}, nv | ROC | ACL, nv | MORI, nv,
         ROC);
  groups("getmem_nbi", transferParams, transfer, getNbiDoc, {"getmem_nbi"}, Every, nv | MORI,
         nv | MORI, ROC);

  const char *signalParams = "dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0";
  groups("putmem_signal", signalParams, transferSignal, putSignalDoc, {"putmem_signal"},
         nv | ROC | ACL, nv | MORI, nv, ROC);
  groups("putmem_signal_nbi", signalParams, transferSignal, putSignalNbiDoc, {"putmem_signal_nbi"},
         Every, nv, nv | MORI, ROC);
  groups("putmem_signal_rma", signalParams, transferSignal, putSignalDoc, {"putmem_signal"}, NV, NV,
         NV, 0);
  groups("putmem_signal_rma_nbi", signalParams, transferSignal, putSignalNbiDoc,
         {"putmem_signal_nbi"}, NV, NV, NV, 0);
  groups("putmem_nbi_signal", signalParams, transferSignal, putSignalNbiDoc, {"putmem_signal_nbi"},
         MORI, MORI, MORI, 0);
  add("ulong_put_signal", "dest, source, nelems, sig_addr, signal, sig_op, pe", transferSignal,
      "putmem_signal of nelems 8-byte elements.", nv | ROC, "putmem_signal")
      .unitBytes = 8;
  add("signal_op", "sig_addr, signal, sig_op, pe", signalOp,
      "Sets or adds to the signal at sig_addr's place in pe's heap; not ordered after earlier puts "
      "without fence().",
      nv | MORI | ACL, "signal_op");
  add("signal_wait_until", "sig_addr, cmp_, cmp_val", signalWaitUntil,
      "Waits until the signal compares to cmp_val as cmp_ says (NVSHMEM_CMP_EQ, ...); returns the "
      "value that did.",
      Every, "signal_wait_until");

  add("p", "dest, value, pe, qp_id=0", put,
      "Stores one element, cast to dest's dtype, in pe's heap.", Every, "p");
  add("g", "source, pe", get, "Reads one element from pe's heap.", Every, "g");

  const char *broadcastParams = "team, dest, source, nelems, pe_root",
             *collectParams = "team, dest, source, nelems";
  groups("broadcast", broadcastParams, broadcast, broadcastDoc, {"broadcast", "", 0}, nv, nv, nv,
         0);
  groups("broadcastmem", broadcastParams, broadcast, broadcastDoc, {"broadcast"}, nv, nv, nv, 0);
  groups("fcollect", collectParams, collect, collectDoc, {"fcollect", "", 0}, nv, nv, nv, 0);
  groups("fcollectmem", collectParams, collect, collectDoc, {"fcollect"}, nv, nv, nv, 0);
  add("set_rocshmem_ctx", "ctx", nothing, "Nothing to set up: accepted and ignored.", ROC);
  appendTypedFunctions(list);
}

static const Table &table();

/// The rule of every row: is the function there, then its own rule.
static Value shmemRule(Semantic &s, const BoundArgs &args) {
  const ShmemFunction &function = shmemFunction(args);
  const TargetProfile &profile = *s.options.profile;
  if (profile.library != ShmemLibrary::Any && !has(function.libraries, profile.library))
    fail(Diag::shmem_missing, args.range, shmemLibraryName(profile.library), profile.name,
         function.name, libraryNames(function.libraries));
  return function.rule(s, args);
}

static const Table &table() {
  static const Table instance = [] {
    Table t;
    std::vector<ShmemFunction> list;
    appendFunctions(list);
    for (ShmemFunction &function : list) {
      // python/generate_language.py reads this for the table in docs.
      bool isLong = llvm::StringRef(function.doc).contains('\n');
      if (function.libraries != Every)
        function.doc += (isLong ? "\nOf " : " Of ") + libraryNames(function.libraries) + ".";
      const ShmemFunction &kept = t.functions.emplace_back(std::move(function));
      t.rows.push_back({"libshmem_device", kept.name.c_str(), kept.params.c_str(), false, shmemRule,
                        kept.doc.c_str()});
      t.byName[kept.name] = &kept;
    }
    return t;
  }();
  return instance;
}

const ShmemFunction *nereid::frontend::findShmemFunction(llvm::StringRef name) {
  return table().byName.lookup(name);
}

const ShmemFunction &nereid::frontend::shmemFunction(const BoundArgs &args) {
  return *findShmemFunction(args.info.name);
}

llvm::ArrayRef<BuiltinInfo> nereid::frontend::shmemRows() { return table().rows; }
