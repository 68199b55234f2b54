// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: atomics. Read-modify-writes always carry a mask.
//
// Pointers, values and mask are brought to one shape in two steps: each
// argument may make the block of pointers grow, and in the end all are
// broadcast to what it has become. A single pointer does not grow, since one
// element would be changed many times by what looks like one operation. The
// dtype decides what the IR, which has no signedness, must be told: max and min
// are UMAX and UMIN for unsigned integers, add is FADD for floats.
#include "Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace nereid;
using namespace nereid::frontend;

static Tensor atomicPointer(Semantic &s, const BoundArgs &args) {
  Tensor pointer = tensorArg(s, args, 0);
  if (!pointer.type.isPointerLike())
    fail(Diag::not_a_pointer, args.ranges[0], functionName(args.info), args[0].describe(),
         pointer.type.isBlockPointer() ? "block pointers are not accepted; use a block of pointers"
                                       : "");
  if (pointer.type.element().isConstPointer())
    fail(Diag::store_const, args.ranges[0]);
  return pointer;
}

/// Argument `i` in the pointee's dtype and the pointer's shape. A block makes a
/// smaller block of pointers grow; a single pointer takes scalars only.
static Tensor atomicValue(Semantic &s, const BoundArgs &args, unsigned i, Tensor &pointer) {
  Type pointee = pointer.type.pointee();
  bool plain = args[i].isNumber() && !(args[i].is<double>() && pointee.isInteger());
  if (const Int *number = args[i].getIf<Int>(); number && pointee.isUnsigned() && *number < 0)
    plain = false; // keeps its bits
  Tensor value = plain ? s.constant(args[i], pointee, args.ranges[i]) : tensorArg(s, args, i);
  if (!pointer.type.isBlock() && value.type.isBlock())
    fail(Diag::scalar_pointer_block, args.ranges[i], parameterName(args, i),
         functionName(args.info), args[i].describe());
  std::tie(pointer, value) = s.broadcast(pointer, value, args.info.name, args.range);
  return s.cast(value, pointee, args.range);
}

static Tensor atomicMask(Semantic &s, const BoundArgs &args, unsigned i, Tensor &pointer) {
  if (args[i].isNone())
    return s.full(pointer.type.shape(), true, Scalar::Int1, args.range);
  Tensor mask = tensorArg(s, args, i);
  if (!mask.type.isInteger())
    fail(Diag::mask_not_bool, args.ranges[i], args[i].describe());
  mask = s.toBool(mask, args.ranges[i]);
  if (!pointer.type.isBlock() && mask.type.isBlock())
    fail(Diag::scalar_pointer_block, args.ranges[i], parameterName(args, i),
         functionName(args.info), args[i].describe());
  std::tie(pointer, mask) = s.broadcast(pointer, mask, args.info.name, args.range);
  return mask;
}

static Tensor emitRMW(Semantic &s, const BoundArgs &args, tt::RMWOp kind, const Tensor &pointer,
                      const Tensor &value, const Tensor &mask) {
  auto op =
      s.emit<tt::AtomicRMWOp>(args.range, value.handle.getType(), kind, pointer.handle,
                              value.handle, mask.handle, semArg(s, args, 3), scopeArg(s, args, 4));
  return s.wrap(op.getResult(), value.type, args.range);
}

enum class Kind { Add, Max, Min, And, Or, Xor, Exchange };

template <Kind kind> static Value atomicRMW(Semantic &s, const BoundArgs &args) {
  Tensor pointer = atomicPointer(s, args);
  Type element = pointer.type.pointee();
  bool isFloat = element.isFloating();
  auto refuse = [&](llvm::StringRef help) {
    fail(Diag::atomic_dtype, args.ranges[0], functionName(args.info), element.str(), help);
  };
  if (element.isPointerLike() || element.isBool() || element.isVoid() || element.isFp8())
    refuse("it works on integers of 8 to 64 bits and on fp16, bf16, fp32 and fp64");
  constexpr bool bitwise = kind == Kind::And || kind == Kind::Or || kind == Kind::Xor;
  if (bitwise && isFloat)
    refuse("it works on integers only");
  Tensor value = atomicValue(s, args, 1, pointer);
  Tensor mask = atomicMask(s, args, 2, pointer);
  value = s.broadcastTo(value, pointer.type.shape(), args.range);
  mask = s.broadcastTo(mask, pointer.type.shape(), args.range);
  tt::RMWOp op = tt::RMWOp::ADD;
  switch (kind) {
  case Kind::Add:
    op = isFloat ? tt::RMWOp::FADD : tt::RMWOp::ADD;
    break;
  case Kind::Max:
    op = element.isUnsigned() ? tt::RMWOp::UMAX : tt::RMWOp::MAX;
    break;
  case Kind::Min:
    op = element.isUnsigned() ? tt::RMWOp::UMIN : tt::RMWOp::MIN;
    break;
  case Kind::And:
    op = tt::RMWOp::AND;
    break;
  case Kind::Or:
    op = tt::RMWOp::OR;
    break;
  case Kind::Xor:
    op = tt::RMWOp::XOR;
    break;
  case Kind::Exchange:
    op = tt::RMWOp::XCHG;
    break;
  }
  return emitRMW(s, args, op, pointer, value, mask);
}

static Value atomicCas(Semantic &s, const BoundArgs &args) {
  Tensor pointer = atomicPointer(s, args);
  Type element = pointer.type.pointee();
  if (element.isPointerLike() || element.isBool() || element.isVoid() || element.isFp8())
    fail(Diag::atomic_dtype, args.ranges[0], functionName(args.info), element.str(),
         "it works on elements of 8 to 64 bits");
  Tensor expected = atomicValue(s, args, 1, pointer);
  Tensor value = atomicValue(s, args, 2, pointer);
  expected = s.broadcastTo(expected, pointer.type.shape(), args.range);
  auto op =
      s.emit<tt::AtomicCASOp>(args.range, value.handle.getType(), pointer.handle, expected.handle,
                              value.handle, semArg(s, args, 3), scopeArg(s, args, 4));
  return s.wrap(op.getResult(), value.type, args.range);
}

static Value atomicPoll(Semantic &s, const BoundArgs &args) {
  Tensor pointer = atomicPointer(s, args);
  Type element = pointer.type.pointee();
  if (!pointer.type.isPointer() || !element.isInteger())
    fail(Diag::signal_pointer, args.ranges[0], functionName(args.info), args[0].describe());
  if (element.bits() < 32)
    fail(Diag::atomic_dtype, args.ranges[0], functionName(args.info), element.str(),
         "it works on 32- or 64-bit integers");
  Tensor expected = intScalarArg(s, args, 1, element);
  tt::MemSemantic sem = args[2].isNone() ? tt::MemSemantic::ACQUIRE : semArg(s, args, 2);
  tt::MemSyncScope scope = scopeArg(s, args, 3);
  mlir::Value timeout;
  if (!args[4].isNone())
    timeout = intScalarArg(s, args, 4, Scalar::Int64).handle;
  auto op = s.emit<tt::AtomicPollOp>(args.range, s.builder.getI1Type(), pointer.handle,
                                     expected.handle, timeout, sem, scope);
  return s.wrap(op.getResult(), Scalar::Int1, args.range);
}

#define NEREID_ATOMIC(NAME, KIND, DOC)                                                             \
  {"tl",                                                                                           \
   NAME,                                                                                           \
   "pointer, val, mask=None, sem=None, scope=None",                                                \
   true,                                                                                           \
   atomicRMW<KIND>,                                                                                \
   DOC "\n\n"                                                                                      \
       "pointer: a pointer or block of pointers; val and mask are broadcast with it, val is cast " \
       "to the element\n"                                                                          \
       "type. Lanes where mask is false do nothing and return an undefined value.\n"               \
       "sem: \"acquire\", \"release\", \"acq_rel\" (default) or \"relaxed\". scope: \"gpu\" "      \
       "(default), \"npu\",\n"                                                                     \
       "\"cta\" or \"sys\". Returns the old values; lanes of one address take their turns in "     \
       "row-major order."}

static const BuiltinInfo rows[] = {
    NEREID_ATOMIC("atomic_add", Kind::Add,
                  "Atomically adds val (integers, fp16, bf16, fp32, fp64)."),
    NEREID_ATOMIC("atomic_max", Kind::Max,
                  "Atomically takes the greater of memory and val. Numbers win against NaN, +0 "
                  "against -0."),
    NEREID_ATOMIC("atomic_min", Kind::Min,
                  "Atomically takes the lesser of memory and val. Numbers win against NaN, -0 "
                  "against +0."),
    NEREID_ATOMIC("atomic_and", Kind::And, "Atomic bitwise and (integers)."),
    NEREID_ATOMIC("atomic_or", Kind::Or, "Atomic bitwise or (integers)."),
    NEREID_ATOMIC("atomic_xor", Kind::Xor, "Atomic bitwise exclusive or (integers)."),
    NEREID_ATOMIC("atomic_xchg", Kind::Exchange, "Atomically replaces memory by val."),
    {"tl", "atomic_cas", "pointer, cmp, val, sem=None, scope=None", true, atomicCas,
     "Atomic compare and swap: memory becomes val where it equals cmp (bit by bit). Returns the "
     "old values.\n\n"
     "pointer: a pointer or block of pointers to elements of 8 to 64 bits; sem and scope as of "
     "tl.atomic_add."},
    {"tl", "atomic_poll", "pointer, expected_value, sem=None, scope=None, timeout_ns=None", true,
     atomicPoll,
     "Spins until the 32- or 64-bit integer at pointer equals expected_value; returns int1, False "
     "when timeout_ns\n"
     "nanoseconds went by. sem defaults to \"acquire\"."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::atomicRows() { return rows; }
