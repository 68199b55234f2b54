// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: libshmem_device. Every call becomes a distributed.extern_call with
// libname "libshmem_device" and one of these symbols; spellings that differ only
// in who of a program's threads calls (_block, _warp, _wave, _wg) share one.
//
// | symbol             | operands (all scalars)                                | result      |
// | ------------------ | ----------------------------------------------------- | ----------- |
// | my_pe, n_pes       |                                                       | i32 (pure)  |
// | team_my_pe,        | i32 team                                              | i32         |
// | team_n_pes         |                                                       |             |
// | team_translate_pe  | i32 team, i32 pe, i32 team                            | i32         |
// | remote_ptr         | ptr, i32 pe                                           | type of ptr |
// | putmem, putmem_nbi | ptr dest, ptr source, i64 bytes, i32 pe               |             |
// | getmem, getmem_nbi | ptr dest, ptr source, i64 bytes, i32 pe               |             |
// | putmem_signal,     | ptr dest, ptr source, i64 bytes, ptr signal,          |             |
// | putmem_signal_nbi  | value (pointee of signal), i32 sig_op, i32 pe         |             |
// | signal_op          | ptr signal, value (pointee), i32 sig_op, i32 pe       |             |
// | signal_wait_until  | ptr signal, i32 cmp, value (pointee)                  | the pointee |
// | p                  | ptr dest, value (pointee of dest), i32 pe             |             |
// | g                  | ptr source, i32 pe                                    | the pointee |
// | atomic_update      | ptr dest, value (pointee), i32 op, i32 pe             |             |
// | atomic_fetch       | ptr dest, value, compare (pointee), i32 op, i32 pe    | the pointee |
// | fence, quiet       |                                                       |             |
// | fence_pe, quiet_pe | i32 pe                                                |             |
// | barrier_all, barrier_all_vec, sync_all |                                   |             |
// | barrier, team_sync | i32 team                                              |             |
// | broadcast          | i32 team, ptr dest, ptr source, i64 bytes, i32 root   |             |
// | fcollect           | i32 team, ptr dest, ptr source, i64 bytes             |             |
//
// sig_op is NRD_SIG_*, cmp NRD_CMP_*, op NRD_AMO_*, team NRD_TEAM_* or a handle
// of abi/nereid/abi.h, whatever library's constant the kernel names.
// signal_wait_until carries the unit attribute `nereid.unsigned` when the
// signal's dtype is unsigned.
#include "ShmemRules.h"

#include "nereid/abi.h"

#include "llvm/ADT/StringMap.h"

#include <deque>

using namespace nereid;
using namespace nereid::frontend;
using Kind = ShmemConstant::Kind;

/// Name of the function without the suffix that says which threads call it.
static std::string canonicalName(llvm::StringRef name) {
  for (llvm::StringRef suffix : {"_block", "_warp", "_wave", "_wg"})
    if (name.consume_back(suffix))
      break;
  std::string canonical = name.str();
  // Transfers forced over the network card are ordinary transfers here.
  if (size_t at = canonical.find("_rma"); at != std::string::npos)
    canonical.erase(at, 4);
  if (canonical == "putmem_nbi_signal")
    return "putmem_signal_nbi";
  return canonical;
}

//===----------------------------------------------------------------------===//
// Ranks and teams
//===----------------------------------------------------------------------===//

static Value query(Semantic &s, const BoundArgs &args) {
  mlir::Operation *op = emitShmemCall(s, args.range, args.info.name, {}, Type(Scalar::Int32), true);
  return s.wrap(op->getResult(0), Scalar::Int32, args.range);
}

static Value teamQuery(Semantic &s, const BoundArgs &args) {
  Tensor team = shmemCodeArg(s, args, 0, Kind::Team);
  const Int *number = args[0].getIf<Int>();
  std::optional<ShmemConstant> constant = number ? ShmemConstant::decode(*number) : std::nullopt;
  llvm::StringRef name = args.info.name;
  // The whole job needs no look at tables.
  bool world =
      number && (constant ? constant->number == NRD_TEAM_WORLD : *number == NRD_TEAM_WORLD);
  mlir::Operation *op = world ? emitShmemCall(s, args.range, name.drop_front(strlen("team_")), {},
                                              Type(Scalar::Int32), true)
                              : emitShmemCall(s, args.range, name, {team}, Type(Scalar::Int32));
  return s.wrap(op->getResult(0), Scalar::Int32, args.range);
}

static Value teamTranslate(Semantic &s, const BoundArgs &args) {
  Tensor from = shmemCodeArg(s, args, 0, Kind::Team), pe = peArg(s, args, 1),
         to = shmemCodeArg(s, args, 2, Kind::Team);
  mlir::Operation *op =
      emitShmemCall(s, args.range, "team_translate_pe", {from, pe, to}, Type(Scalar::Int32));
  return s.wrap(op->getResult(0), Scalar::Int32, args.range);
}

/// remote_ptr(ptr, pe); MORI writes remote_ptr(ptr, my_pe, pe).
static Value remotePtr(Semantic &s, const BoundArgs &args) {
  Tensor pointer = shmemPointerArg(s, args, 0), pe = peArg(s, args, args[2].isNone() ? 1 : 2);
  mlir::Operation *op = emitShmemCall(s, args.range, "remote_ptr", {pointer, pe}, pointer.type);
  return s.wrap(op->getResult(0), pointer.type, args.range);
}

//===----------------------------------------------------------------------===//
// Barriers, order, collectives
//===----------------------------------------------------------------------===//

static Value plainCall(Semantic &s, const BoundArgs &args) {
  emitShmemCall(s, args.range, canonicalName(args.info.name), {});
  return None{};
}

/// fence and quiet towards one rank, or towards all when none is given.
static Value orderPE(Semantic &s, const BoundArgs &args) {
  llvm::StringRef name = llvm::StringRef(args.info.name).starts_with("fence") ? "fence" : "quiet";
  if (args[0].isNone())
    emitShmemCall(s, args.range, name, {});
  else
    emitShmemCall(s, args.range, (name + "_pe").str(), {peArg(s, args, 0)});
  return None{};
}

static Value teamBarrier(Semantic &s, const BoundArgs &args) {
  Tensor team = shmemCodeArg(s, args, 0, Kind::Team);
  llvm::StringRef name = args.info.name;
  bool isBarrier = name.starts_with("barrier");
  std::optional<int32_t> known = shmemConstantArg(s, args, 0, Kind::Team);
  if (known == NRD_TEAM_WORLD)
    emitShmemCall(s, args.range,
                  name == "barrier_vec" ? "barrier_all_vec"
                  : isBarrier           ? "barrier_all"
                                        : "sync_all",
                  {});
  else
    emitShmemCall(s, args.range, isBarrier ? "barrier" : "team_sync", {team});
  return None{};
}

/// Bytes of `count` elements, or of bytes when the name says so.
static Tensor collectiveBytes(Semantic &s, const BoundArgs &args, unsigned i, const Tensor &dest,
                              const Tensor &source) {
  Tensor count = countArg(s, args, i);
  if (llvm::StringRef(args.info.name).contains("mem"))
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
  emitShmemCall(s, args.range, "broadcast", {team, dest, source, bytes, root});
  return None{};
}

static Value collect(Semantic &s, const BoundArgs &args) {
  Tensor team = shmemCodeArg(s, args, 0, Kind::Team), dest = shmemPointerArg(s, args, 1),
         source = shmemPointerArg(s, args, 2);
  emitShmemCall(s, args.range, "fcollect",
                {team, dest, source, collectiveBytes(s, args, 3, dest, source)});
  return None{};
}

//===----------------------------------------------------------------------===//
// Transfers and signals
//===----------------------------------------------------------------------===//

static Value transfer(Semantic &s, const BoundArgs &args) {
  Tensor operands[] = {shmemPointerArg(s, args, 0), shmemPointerArg(s, args, 1),
                       countArg(s, args, 2), peArg(s, args, 3)};
  emitShmemCall(s, args.range, canonicalName(args.info.name), operands);
  return None{};
}

static Value transferSignal(Semantic &s, const BoundArgs &args) {
  Tensor dest = shmemPointerArg(s, args, 0), source = shmemPointerArg(s, args, 1),
         bytes = countArg(s, args, 2);
  Tensor signal = shmemSignalArg(s, args, 3), value = pointeeArg(s, args, 4, signal);
  Tensor op = shmemCodeArg(s, args, 5, Kind::Signal), pe = peArg(s, args, 6);
  std::string symbol = canonicalName(args.info.name);
  if (symbol == "ulong_put_signal") {
    // Counts 8-byte elements, not bytes.
    bytes = s.binary(BinaryOp::Mult, bytes, Int(8), args.range).as<Tensor>();
    symbol = "putmem_signal";
  }
  emitShmemCall(s, args.range, symbol, {dest, source, bytes, signal, value, op, pe});
  return None{};
}

static Value signalOp(Semantic &s, const BoundArgs &args) {
  Tensor signal = shmemSignalArg(s, args, 0), value = pointeeArg(s, args, 1, signal);
  Tensor op = shmemCodeArg(s, args, 2, Kind::Signal), pe = peArg(s, args, 3);
  emitShmemCall(s, args.range, "signal_op", {signal, value, op, pe});
  return None{};
}

Value nereid::frontend::emitWaitUntil(Semantic &s, const BoundArgs &args, const Tensor &signal,
                                      const Tensor &comparison, const Tensor &value) {
  Type pointee = signal.type.pointee();
  mlir::Operation *op =
      emitShmemCall(s, args.range, "signal_wait_until", {signal, comparison, value}, pointee);
  if (pointee.isUnsigned())
    op->setAttr("nereid.unsigned", s.builder.getUnitAttr());
  return s.wrap(op->getResult(0), pointee, args.range);
}

static Value signalWaitUntil(Semantic &s, const BoundArgs &args) {
  Tensor signal = shmemSignalArg(s, args, 0), comparison = shmemCodeArg(s, args, 1, Kind::Compare);
  return emitWaitUntil(s, args, signal, comparison, pointeeArg(s, args, 2, signal));
}

static Value put(Semantic &s, const BoundArgs &args) {
  Tensor dest = shmemPointerArg(s, args, 0), value = pointeeArg(s, args, 1, dest),
         pe = peArg(s, args, 2);
  emitShmemCall(s, args.range, "p", {dest, value, pe});
  return None{};
}

static Value get(Semantic &s, const BoundArgs &args) {
  Tensor source = shmemPointerArg(s, args, 0), pe = peArg(s, args, 1);
  Type pointee = source.type.pointee().isBool() ? Type(Scalar::Int8) : source.type.pointee();
  return s.wrap(emitShmemCall(s, args.range, "g", {source, pe}, pointee)->getResult(0), pointee,
                args.range);
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
    "as with barrier_all. A rank that is no member must not call it.";
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
  auto add = [&](const char *name, const char *params, BuiltinRule rule, const char *doc,
                 unsigned libraries) {
    list.push_back({name, params, rule, doc, uint8_t(libraries)});
  };
  /// One function in the spellings of those who may call it: alone, and with
  /// _warp, _block, _wave, _wg; 0 = no library has that one.
  auto groups = [&](const std::string &name, const char *params, BuiltinRule rule, const char *doc,
                    unsigned plain, unsigned warp, unsigned block, unsigned wave) {
    std::pair<const char *, unsigned> spellings[] = {
        {"", plain}, {"_warp", warp}, {"_block", block}, {"_wave", wave}, {"_wg", wave}};
    for (auto [suffix, libraries] : spellings)
      if (libraries)
        list.push_back({name + suffix, params, rule, doc, uint8_t(libraries)});
  };
  const unsigned nv = NV | MX;

  add("my_pe", "", query, "This rank's number, int32; the same as dl.rank().", Every);
  add("n_pes", "", query, "Number of ranks, int32; the same as dl.num_ranks().", Every);
  add("team_my_pe", "team", teamQuery,
      "This rank's number in the team, int32; -1 when it is no member.", nv | ACL);
  add("team_n_pes", "team", teamQuery, "Number of members of the team, int32.", nv | ACL);
  add("team_translate_pe", "src_team, src_pe, dest_team", teamTranslate,
      "The number in dest_team of the rank that is src_pe in src_team, int32; -1 when there is "
      "none.",
      nv | ACL);
  add("remote_ptr", "local_ptr, pe, dest_pe=None", remotePtr,
      "Address of local_ptr's place in pe's heap; null when pe is on another node.\n\n"
      "With three arguments, as MORI has them, they are the pointer, this rank and the other rank.",
      Every);
  add("remote_mc_ptr", "team, ptr", targetOnly,
      "Multicast address of ptr's place in the heaps of the team. Only on GPUs with NVLink.", nv);

  groups("barrier_all", "", plainCall, barrierDoc, Every, nv, nv | MORI, ROC);
  add("barrier_all_vec", "", plainCall, "barrier_all among vector cores only.", ACL);
  groups("barrier", "team", teamBarrier, teamBarrierDoc, nv | ACL, nv, nv, 0);
  add("barrier_vec", "team", teamBarrier, "barrier among vector cores only.", ACL);
  groups("sync_all", "", plainCall, syncDoc, nv, nv, nv, 0);
  add("sync", "team", teamBarrier, teamSyncDoc, nv);
  groups("team_sync", "team", teamBarrier, teamSyncDoc, 0, nv, nv, 0);

  add("fence", "", plainCall, "Orders transfers and signals to each rank; does not complete them.",
      Every);
  add("quiet", "", plainCall, "Completes all outstanding transfers of this rank.", nv | MORI | ACL);
  for (const char *name : {"fence_pe", "quiet_pe"})
    add(name, "pe=None, qp_id=0", orderPE,
        name[0] == 'f' ? "fence() for one rank; without pe, for all."
                       : "quiet() for one rank; without pe, for all.",
        MORI);
  for (const char *name : {"fence_pe_qp", "quiet_pe_qp"})
    add(name, "pe, qp_id", orderPE,
        "fence_pe or quiet_pe for one queue pair; all of a rank's are one here.", MORI);

  const char *transferParams = "dest, source, nbytes, pe, qp_id=0";
  groups("putmem", transferParams, transfer, putDoc, nv | ROC | ACL, nv | MORI, nv, ROC);
  groups("putmem_nbi", transferParams, transfer, putNbiDoc, Every, nv | MORI, nv | MORI, ROC);
  groups("putmem_rma", transferParams, transfer, putDoc, NV, NV, NV, 0);
  groups("putmem_rma_nbi", transferParams, transfer, putNbiDoc, NV, NV, NV, 0);
  groups("getmem", transferParams, transfer, getDoc, nv | ROC | ACL, nv | MORI, nv, ROC);
  groups("getmem_nbi", transferParams, transfer, getNbiDoc, Every, nv | MORI, nv | MORI, ROC);

  const char *signalParams = "dest, source, nbytes, sig_addr, signal, sig_op, pe, qp_id=0";
  groups("putmem_signal", signalParams, transferSignal, putSignalDoc, nv | ROC | ACL, nv | MORI, nv,
         ROC);
  groups("putmem_signal_nbi", signalParams, transferSignal, putSignalNbiDoc, Every, nv, nv | MORI,
         ROC);
  groups("putmem_signal_rma", signalParams, transferSignal, putSignalDoc, NV, NV, NV, 0);
  groups("putmem_signal_rma_nbi", signalParams, transferSignal, putSignalNbiDoc, NV, NV, NV, 0);
  groups("putmem_nbi_signal", signalParams, transferSignal, putSignalNbiDoc, MORI, MORI, MORI, 0);
  add("ulong_put_signal", "dest, source, nelems, sig_addr, signal, sig_op, pe", transferSignal,
      "putmem_signal of nelems 8-byte elements.", nv | ROC);
  add("signal_op", "sig_addr, signal, sig_op, pe", signalOp,
      "Sets or adds to the signal at sig_addr's place in pe's heap; not ordered after earlier puts "
      "without fence().",
      nv | MORI | ACL);
  add("signal_wait_until", "sig_addr, cmp_, cmp_val", signalWaitUntil,
      "Waits until the signal compares to cmp_val as cmp_ says (NVSHMEM_CMP_EQ, ...); returns the "
      "value that did.",
      Every);

  add("p", "dest, value, pe, qp_id=0", put,
      "Stores one element, cast to dest's dtype, in pe's heap.", Every);
  add("g", "source, pe", get, "Reads one element from pe's heap.", Every);

  const char *broadcastParams = "team, dest, source, nelems, pe_root",
             *collectParams = "team, dest, source, nelems";
  groups("broadcast", broadcastParams, broadcast, broadcastDoc, nv, nv, nv, 0);
  groups("broadcastmem", broadcastParams, broadcast, broadcastDoc, nv, nv, nv, 0);
  groups("fcollect", collectParams, collect, collectDoc, nv, nv, nv, 0);
  groups("fcollectmem", collectParams, collect, collectDoc, nv, nv, nv, 0);
  add("set_rocshmem_ctx", "ctx", nothing, "Nothing to set up: accepted and ignored.", ROC);
  appendTypedFunctions(list);
}

static const Table &table();

/// The rule of every row: is the function there, then its own rule.
static Value shmemRule(Semantic &s, const BoundArgs &args) {
  const ShmemFunction &function = *table().byName.find(args.info.name)->second;
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

uint8_t nereid::frontend::shmemLibraries(llvm::StringRef name) {
  auto found = table().byName.find(name);
  return found == table().byName.end() ? uint8_t(0) : found->second->libraries;
}

llvm::ArrayRef<BuiltinInfo> nereid::frontend::shmemRows() { return table().rows; }
