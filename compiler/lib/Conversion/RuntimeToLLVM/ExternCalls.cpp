// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of device library functions: which runtime entry point a symbol of
// `libshmem_device` means, and how its operands are passed. To add a function:
// one row, and a rule if none fits.
#include "Lowering.h"

#include "nereid/Target/CPU/RuntimeABI.h"
#include "nereid/abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {

/// One call on its way down. Operands are the operation's.
struct Call {
  Lowering &l;
  distributed::ExternCallOp op;
  int flag; // of the row: 1 = non-blocking, or a comparison, ...

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
  /// Kinds of the operands: p pointer, s pointer to a 4- or 8-byte integer, i
  /// integer, v any scalar.
  const char *operands;
  Rule rule;
  int flag = 0;
};

} // namespace

/// The libraries number SET and ADD 9 and 10, the runtime as the `distributed`
/// dialect does, 1 and 2. Both are understood.
static Value toSignalOp(Call &c, unsigned i) {
  Value value = c.i32(i);
  OpBuilder &b = c.l.builder;
  Location loc = c.op.getLoc();
  Value isLibrary = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, value, c.constant(9));
  Value shifted = arith::SubIOp::create(b, loc, value, c.constant(8));
  return arith::SelectOp::create(b, loc, isLibrary, shifted, value);
}

static LogicalResult myPE(Call &c) {
  return c.done(loadProgramField(c.l.builder, c.op.getLoc(), c.l.program(), c.flag, c.l.builder.getI32Type()));
}
/// All ranks share one node: teams WORLD (0), SHARED (1) and NODE (2) are the
/// same team here.
static LogicalResult teamPE(Call &c) {
  APInt team;
  if (!matchPattern(c.operand(0), m_ConstantInt(&team)) || team.getSExtValue() < 0 || team.getSExtValue() > 2)
    return c.op.emitError() << "'" << c.op.getSymbol()
                            << "' needs one of the predefined teams WORLD, SHARED and NODE on the CPU";
  return myPE(c);
}
static LogicalResult barrierAll(Call &c) {
  c.l.blocking = true;
  c.call("nrd_barrier_all", {});
  return c.done();
}
static LogicalResult syncAll(Call &c) {
  c.l.blocking = true;
  c.call("nrd_shmem_sync_all", {});
  return c.done();
}
static LogicalResult barrierTeam(Call &c) {
  APInt team;
  if (!matchPattern(c.operand(0), m_ConstantInt(&team)) || team.getSExtValue() < 0 || team.getSExtValue() > 2)
    return c.op.emitError() << "'" << c.op.getSymbol()
                            << "' needs one of the predefined teams WORLD, SHARED and NODE on the CPU";
  return c.flag ? syncAll(c) : barrierAll(c);
}
static LogicalResult fence(Call &c) {
  c.call("nrd_shmem_fence", {});
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
  c.call("nrd_shmem_put_signal", {c.pointer(0), c.pointer(1), c.bytes(2), c.pointer(3), c.i64(4), toSignalOp(c, 5),
                                  c.i32(6), c.constant(c.pointeeBytes(3)), c.constant(c.flag)});
  return c.done();
}
static LogicalResult signalOp(Call &c) {
  c.call("nrd_shmem_signal_op", {c.pointer(0), c.i64(1), toSignalOp(c, 2), c.i32(3), c.constant(c.pointeeBytes(0))});
  return c.done();
}
static LogicalResult putElement(Call &c) {
  Type pointee = cast<tt::PointerType>(c.operand(0).getType()).getPointeeType();
  Value value = c.operand(1);
  if (isa<FloatType>(pointee) != isa<FloatType>(value.getType()) ||
      (isa<FloatType>(pointee) && pointee != value.getType()))
    return c.op.emitError() << "'" << c.op.getSymbol() << "' of a value of type " << value.getType()
                            << " to a pointer to " << pointee << "; cast the value first";
  Value bits = isa<IntegerType>(pointee) ? c.l.toInteger(value, 64) : c.l.toBits64(value);
  c.call("nrd_shmem_p", {c.pointer(0), bits, c.constant(getElementBytes(pointee)), c.i32(2)});
  return c.done();
}
static LogicalResult getElement(Call &c) {
  Value bits = c.call("nrd_shmem_g", {c.pointer(0), c.constant(c.pointeeBytes(0)), c.i32(1)});
  return c.done(c.l.fromBits64(bits, c.resultType()));
}
/// 4-byte signals compare as signed numbers, 8-byte ones as unsigned, as the
/// libraries that have them declare them. flag: 1 signed, 2 unsigned.
static LogicalResult waitUntil(Call &c) {
  c.l.blocking = true;
  unsigned bytes = c.pointeeBytes(0);
  bool isSigned = c.flag == 0 ? bytes == 4 : c.flag == 1;
  Value seen = c.call("nrd_shmem_wait_until",
                      {c.pointer(0), c.i32(1), c.l.toInteger(c.operand(2), 64, isSigned), c.constant(bytes),
                       c.constant(isSigned)});
  return c.done(c.op.getNumResults() ? c.l.fromBits64(seen, c.resultType()) : Value());
}
static LogicalResult waitUntilEquals(Call &c) {
  c.l.blocking = true;
  Value seen = c.call("nrd_shmem_wait_until", {c.pointer(0), c.constant(NRD_CMP_EQ), c.i64(1),
                                               c.constant(c.pointeeBytes(0)), c.constant(0)});
  return c.done(c.op.getNumResults() ? c.l.fromBits64(seen, c.resultType()) : Value());
}

/// Symbols without the suffixes that say which threads of a GPU take part.
static constexpr Row table[] = {
    {"my_pe", "", myPE, program_offset::rank},
    {"n_pes", "", myPE, program_offset::numRanks},
    {"team_my_pe", "i", teamPE, program_offset::rank},
    {"team_n_pes", "i", teamPE, program_offset::numRanks},
    {"ptr", "pi", remotePtr},
    {"remote_ptr", "pi", remotePtr},
    {"barrier_all", "", barrierAll},
    {"barrier", "i", barrierTeam, 0},
    {"sync_all", "", syncAll},
    {"sync", "i", barrierTeam, 1},
    {"team_sync", "i", barrierTeam, 1},
    {"fence", "", fence},
    {"quiet", "", quiet},
    {"putmem", "ppii", put, 0},
    {"putmem_nbi", "ppii", put, 1},
    {"putmem_rma", "ppii", put, 0},
    {"putmem_rma_nbi", "ppii", put, 1},
    {"getmem", "ppii", get, 0},
    {"getmem_nbi", "ppii", get, 1},
    {"putmem_signal", "ppisiii", putSignal, 0},
    {"putmem_signal_nbi", "ppisiii", putSignal, 1},
    {"putmem_signal_rma", "ppisiii", putSignal, 0},
    {"putmem_signal_rma_nbi", "ppisiii", putSignal, 1},
    {"signal_op", "siii", signalOp},
    {"signal_wait_until", "sii", waitUntil, 0},
    {"int_wait_until", "sii", waitUntil, 1},
    {"uint32_wait_until", "sii", waitUntil, 2},
    {"ulong_wait_until", "sii", waitUntil, 2},
    {"uint64_wait_until", "sii", waitUntil, 2},
    {"uint64_wait_until_equals", "si", waitUntilEquals},
    {"p", "pvi", putElement},
    {"int_p", "pvi", putElement},
    {"g", "pi", getElement},
    {"int_g", "pi", getElement},
};

static const Row *findRow(StringRef symbol) {
  auto find = [](StringRef name) -> const Row * {
    const Row *row = llvm::find_if(table, [&](const Row &row) { return name == row.symbol; });
    return row == std::end(table) ? nullptr : row;
  };
  if (const Row *row = find(symbol))
    return row;
  for (StringRef suffix : {"_block", "_warp", "_wave", "_wg", "_vec"})
    if (symbol.consume_back(suffix))
      return find(symbol);
  return nullptr;
}

static const char *describe(char kind) {
  switch (kind) {
  case 'p':
    return "a pointer";
  case 's':
    return "a pointer to a 32- or 64-bit integer";
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
    return pointer && (pointer.getPointeeType().isInteger(32) || pointer.getPointeeType().isInteger(64));
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
    return op.emitError() << "'" << op.getLibname() << "." << symbol << "' does not exist on the CPU";
  StringRef kinds = row->operands;
  if (op.getSrcs().size() != kinds.size())
    return op.emitError() << "'" << symbol << "' takes " << kinds.size() << " arguments, not " << op.getSrcs().size();
  for (auto [i, kind] : llvm::enumerate(kinds))
    if (!matches(kind, op.getSrcs()[i].getType()))
      return op.emitError() << "argument " << i + 1 << " of '" << symbol << "' must be " << describe(kind)
                            << ", not a value of type " << op.getSrcs()[i].getType();
  if (op.getNumResults() > 1)
    return op.emitError() << "'" << symbol << "' with several results";
  l.distributed = true;
  Call call{l, op, row->flag};
  return row->rule(call);
}
