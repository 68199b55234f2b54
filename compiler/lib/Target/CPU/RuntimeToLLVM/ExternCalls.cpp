// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of device library functions: which runtime entry point a symbol of
// `libshmem_device` means, and how its operands are passed. To add a function:
// one row, and a rule if none fits.
#include "Lowering.h"

#include "Target/CPU/RuntimeABI.h"
#include "nereid/Support/PassDiagnostics.h"
#include "nereid/abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {

/// One call on its way down. Operands are the operation's.
struct Call {
  Lowering &l;
  distributed::ExternCallOp op;
  int flag; // of the row: 1 = non-blocking, or an offset

  Value operand(unsigned i) { return op.getSrcs()[i]; }
  Value pointer(unsigned i) { return l.toLLVM(operand(i)); }
  Value i32(unsigned i) { return l.toInteger(operand(i), 32); }
  Value i64(unsigned i) { return l.toInteger(operand(i), 64); }
  /// Byte counts are unsigned where the type says so only by being 64 bits wide.
  Value bytes(unsigned i) { return l.toInteger(operand(i), 64); }
  Value constant(int64_t value) { return l.constant(value, 32); }
  unsigned pointeeBytes(unsigned i) {
    return getElementBytes(cast<tt::PointerType>(operand(i).getType()).getPointeeType());
  }
  Type resultType() { return op.getResultTypes()[0]; }

  Value call(StringRef name, SmallVector<Value> operands) {
    operands.insert(operands.begin(), l.program());
    operands.push_back(l.site());
    auto result = callRuntime(l.builder, op.getLoc(), name, operands);
    return result.getNumResults() ? result.getResult() : Value();
  }
  LogicalResult done(Value result = {}) {
    SmallVector<Value> results;
    if (op.getNumResults() == 1 && result)
      results.push_back(result);
    else if (op.getNumResults() != 0)
      return op.emitError() << "'" << op.getSymbol() << "' returns nothing";
    l.replace(results);
    return success();
  }
};

using Rule = LogicalResult (*)(Call &);

struct Row {
  const char *symbol;
  /// Kinds of the operands: p pointer, s pointer to integers, a pointer to 4- or
  /// 8-byte elements, i integer, v any scalar.
  const char *operands;
  Rule rule;
  int flag = 0;
};

} // namespace

static LogicalResult myPE(Call &c) {
  return c.done(loadProgramField(c.l.builder, c.op.getLoc(), c.l.program(), c.flag,
                                 c.l.builder.getI32Type()));
}
/// NRD_BARRIER_*: `flag` of the row, and whether one vector core calls for its
/// program.
static Value barrierFlags(Call &c) {
  return c.constant(c.flag | (c.op->hasAttr("nereid.gated") ? NRD_BARRIER_GATED : 0));
}
static LogicalResult barrierAll(Call &c) {
  c.l.blocking = true;
  // With several vector cores it matters who calls.
  if (c.op->getParentOfType<ModuleOp>()->hasAttr("ascend.lanes"))
    c.call("nrd_team_barrier", {c.constant(NRD_TEAM_WORLD), barrierFlags(c)});
  else
    c.call(c.flag & NRD_BARRIER_SYNC ? "nrd_shmem_sync_all" : "nrd_barrier_all", {});
  return c.done();
}
static LogicalResult teamBarrier(Call &c) {
  c.l.blocking = true;
  c.call("nrd_team_barrier", {c.i32(0), barrierFlags(c)});
  return c.done();
}
static LogicalResult broadcast(Call &c) {
  c.l.blocking = true;
  c.call("nrd_team_broadcast",
         {c.i32(0), c.pointer(1), c.pointer(2), c.bytes(3), c.i32(4), barrierFlags(c)});
  return c.done();
}
static LogicalResult fcollect(Call &c) {
  c.l.blocking = true;
  c.call("nrd_team_fcollect", {c.i32(0), c.pointer(1), c.pointer(2), c.bytes(3), barrierFlags(c)});
  return c.done();
}
static LogicalResult teamMyPE(Call &c) { return c.done(c.call("nrd_team_my_pe", {c.i32(0)})); }
static LogicalResult teamNPEs(Call &c) { return c.done(c.call("nrd_team_n_pes", {c.i32(0)})); }
static LogicalResult teamTranslate(Call &c) {
  return c.done(c.call("nrd_team_translate_pe", {c.i32(0), c.i32(1), c.i32(2)}));
}
static LogicalResult fence(Call &c) {
  c.call("nrd_shmem_fence", {});
  return c.done();
}
static LogicalResult fencePE(Call &c) {
  c.call("nrd_shmem_fence_pe", {c.i32(0)});
  return c.done();
}
static LogicalResult quietPE(Call &c) {
  c.call("nrd_shmem_quiet_pe", {c.i32(0)});
  return c.done();
}
static LogicalResult quiet(Call &c) {
  c.call("nrd_shmem_quiet", {});
  return c.done();
}
static LogicalResult remotePtr(Call &c) {
  Value address = c.call("nrd_shmem_ptr", {c.pointer(0), c.i32(1)});
  if (!isa<tt::PointerType>(c.resultType()))
    return c.done(c.l.toBits64(address));
  return c.done(c.l.fromLLVM(address, c.resultType()));
}
static LogicalResult put(Call &c) {
  c.call("nrd_shmem_put", {c.pointer(0), c.pointer(1), c.bytes(2), c.i32(3), c.constant(c.flag)});
  return c.done();
}
static LogicalResult get(Call &c) {
  c.call("nrd_shmem_get", {c.pointer(0), c.pointer(1), c.bytes(2), c.i32(3), c.constant(c.flag)});
  return c.done();
}
static LogicalResult putSignal(Call &c) {
  c.call("nrd_shmem_put_signal",
         {c.pointer(0), c.pointer(1), c.bytes(2), c.pointer(3), c.i64(4), c.i32(5), c.i32(6),
          c.constant(c.pointeeBytes(3)), c.constant(c.flag)});
  return c.done();
}
static LogicalResult signalOp(Call &c) {
  c.call("nrd_shmem_signal_op",
         {c.pointer(0), c.i64(1), c.i32(2), c.i32(3), c.constant(c.pointeeBytes(0))});
  return c.done();
}
/// Operand `i` as bits of the element that operand 0 points to; null after an
/// error.
static Value elementBits(Call &c, unsigned i) {
  Type pointee = cast<tt::PointerType>(c.operand(0).getType()).getPointeeType();
  Value value = c.operand(i);
  if (isa<FloatType>(pointee) != isa<FloatType>(value.getType()) ||
      (isa<FloatType>(pointee) && pointee != value.getType())) {
    c.op.emitError() << "'" << c.op.getSymbol() << "' of a value of type " << value.getType()
                     << " to a pointer to " << pointee << "; cast the value first";
    return {};
  }
  return isa<IntegerType>(pointee) ? c.l.toInteger(value, 64) : c.l.toBits64(value);
}
static LogicalResult putElement(Call &c) {
  Value bits = elementBits(c, 1);
  if (!bits)
    return failure();
  c.call("nrd_shmem_p", {c.pointer(0), bits, c.constant(c.pointeeBytes(0)), c.i32(2)});
  return c.done();
}
/// Operands: pointer, value, compare (when the old value is returned), NRD_AMO_*,
/// rank.
static LogicalResult atomic(Call &c) {
  const bool fetches = c.flag == 0;
  Value value = elementBits(c, 1);
  Value compare = fetches ? elementBits(c, 2) : c.l.constant(0, 64);
  if (!value || !compare)
    return failure();
  Value code = c.i32(fetches ? 3 : 2), pe = c.i32(fetches ? 4 : 3);
  if (!fetches)
    code = arith::OrIOp::create(c.l.builder, c.op.getLoc(), code, c.constant(NRD_AMO_NO_RESULT));
  Value old = c.call("nrd_shmem_atomic",
                     {c.pointer(0), value, compare, code, c.constant(c.pointeeBytes(0)), pe});
  return c.done(fetches ? c.l.fromBits64(old, c.resultType()) : Value());
}
static LogicalResult getElement(Call &c) {
  Value bits = c.call("nrd_shmem_g", {c.pointer(0), c.constant(c.pointeeBytes(0)), c.i32(1)});
  return c.done(c.l.fromBits64(bits, c.resultType()));
}
/// Signals compare as signed numbers unless their dtype is unsigned.
static LogicalResult waitUntil(Call &c) {
  c.l.blocking = true;
  bool isSigned = !c.op->hasAttr("nereid.unsigned");
  Value seen = c.call("nrd_shmem_wait_until",
                      {c.pointer(0), c.i32(1), c.l.toInteger(c.operand(2), 64, isSigned),
                       c.constant(c.pointeeBytes(0)), c.constant(isSigned)});
  return c.done(c.op.getNumResults() ? c.l.fromBits64(seen, c.resultType()) : Value());
}

/// Operands: a value of 64 bits, the bits that it is about to be cut to, whether
/// it is signed.
static LogicalResult checkWord(Call &c) {
  c.call("nrd_check_word", {c.i64(0), c.i32(1), c.i32(2)});
  return c.done();
}

/// Names are those of the front end's table (BuiltinsShmem.cpp), in which
/// spellings that differ only in who of a program's threads calls share one.
static constexpr Row table[] = {
    {"my_pe", "", myPE, program_offset::rank},
    {"n_pes", "", myPE, program_offset::numRanks},
    {"remote_ptr", "pi", remotePtr},
    {"team_my_pe", "i", teamMyPE},
    {"team_n_pes", "i", teamNPEs},
    {"team_translate_pe", "iii", teamTranslate},
    {"barrier_all", "", barrierAll},
    {"barrier_all_vec", "", barrierAll},
    {"sync_all", "", barrierAll, NRD_BARRIER_SYNC},
    {"barrier", "i", teamBarrier},
    {"team_sync", "i", teamBarrier, NRD_BARRIER_SYNC},
    {"broadcast", "ippii", broadcast},
    {"fcollect", "ippi", fcollect},
    {"fence", "", fence},
    {"quiet", "", quiet},
    {"fence_pe", "i", fencePE},
    {"quiet_pe", "i", quietPE},
    {"putmem", "ppii", put, 0},
    {"putmem_nbi", "ppii", put, 1},
    {"getmem", "ppii", get, 0},
    {"getmem_nbi", "ppii", get, 1},
    {"putmem_signal", "ppisiii", putSignal, 0},
    {"putmem_signal_nbi", "ppisiii", putSignal, 1},
    {"signal_op", "siii", signalOp},
    {"signal_wait_until", "sii", waitUntil},
    {"p", "pvi", putElement},
    {"g", "pi", getElement},
    {"fits_word", "iii", checkWord},
    {"atomic_update", "avii", atomic, 1},
    {"atomic_fetch", "avvii", atomic, 0},
};

static const Row *findRow(StringRef symbol) {
  const Row *row = llvm::find_if(table, [&](const Row &row) { return symbol == row.symbol; });
  return row == std::end(table) ? nullptr : row;
}

static const char *describe(char kind) {
  switch (kind) {
  case 'p':
    return "a pointer";
  case 's':
    return "a pointer to integers";
  case 'a':
    return "a pointer to 32- or 64-bit elements";
  case 'i':
    return "an integer";
  default:
    return "a scalar";
  }
}

static bool matches(char kind, Type type) {
  auto pointer = dyn_cast<tt::PointerType>(type);
  switch (kind) {
  case 'p':
    return pointer && !isa<RankedTensorType>(pointer.getPointeeType());
  case 's':
    return pointer && isa<IntegerType>(pointer.getPointeeType()) &&
           !pointer.getPointeeType().isInteger(1);
  case 'a':
    return pointer && pointer.getPointeeType().isIntOrFloat() &&
           llvm::is_contained({32u, 64u}, pointer.getPointeeType().getIntOrFloatBitWidth());
  case 'i':
    return isa<IntegerType>(type);
  default:
    return type.isIntOrFloat() || pointer;
  }
}

LogicalResult nereid::cpu::lowerExternCall(Lowering &l, distributed::ExternCallOp op) {
  StringRef symbol = op.getSymbol();
  const Row *row = op.getLibname() == "libshmem_device" ? findRow(symbol) : nullptr;
  if (!row)
    return reportError(op.getLoc(), Diag::extern_symbol, op.getLibname(), symbol);
  StringRef kinds = row->operands;
  if (op.getSrcs().size() != kinds.size())
    return reportError(op.getLoc(), Diag::extern_count, symbol, kinds.size(), op.getSrcs().size());
  for (auto [i, kind] : llvm::enumerate(kinds))
    if (!matches(kind, op.getSrcs()[i].getType()))
      return reportError(op.getLoc(), Diag::extern_argument, i + 1, symbol, describe(kind),
                         "'" + printed(op.getSrcs()[i].getType()) + "'");
  if (op.getNumResults() > 1)
    return op.emitError() << "'" << symbol << "' with several results";
  l.distributed = true;
  Call call{l, op, row->flag};
  return row->rule(call);
}
