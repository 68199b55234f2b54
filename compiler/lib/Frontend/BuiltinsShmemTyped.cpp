// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: functions of libshmem_device with a C type in their name.
//
// Names are made, not listed: prefix + C type + suffix, with the libraries that
// have the name.
//
//   uint64_p   float_g   put_uint32_nbi   int32_wait_until_equals   long_atomic_fetch_add
//
// All are typed spellings of a few functions: p, g, putmem_nbi,
// signal_wait_until, and for the atomics atomic_update and atomic_fetch, which
// take the operation as a number. The type in the name is checked against the
// pointer's, and a wrong one gets the name of the right function.
#include "ShmemRules.h"

#include "nereid/abi.h"

using namespace nereid;
using namespace nereid::frontend;
using Atomic = ShmemConstant::Atomic;

static constexpr CType types[] = {
    {"int", Scalar::Int32},     {"long", Scalar::Int64},    {"longlong", Scalar::Int64},
    {"short", Scalar::Int16},   {"char", Scalar::Int8},     {"schar", Scalar::Int8},
    {"uint", Scalar::UInt32},   {"ulong", Scalar::UInt64},  {"ulonglong", Scalar::UInt64},
    {"ushort", Scalar::UInt16}, {"uchar", Scalar::UInt8},   {"int8", Scalar::Int8},
    {"int16", Scalar::Int16},   {"int32", Scalar::Int32},   {"int64", Scalar::Int64},
    {"uint8", Scalar::UInt8},   {"uint16", Scalar::UInt16}, {"uint32", Scalar::UInt32},
    {"uint64", Scalar::UInt64}, {"size", Scalar::UInt64},   {"ptrdiff", Scalar::Int64},
    {"half", Scalar::Fp16},     {"bfloat16", Scalar::BF16}, {"float", Scalar::Fp32},
    {"double", Scalar::Fp64},
};

llvm::ArrayRef<CType> nereid::frontend::cTypes() { return types; }

//===----------------------------------------------------------------------===//
// Single elements, several elements
//===----------------------------------------------------------------------===//

static Value put(Semantic &s, const BoundArgs &args) {
  Tensor dest = typedPointerArg(s, args, 0);
  Tensor value = pointeeArg(s, args, 1, dest), pe = peArg(s, args, 2);
  emitShmemCall(s, args, shmemFunction(args).symbol, {dest, value, pe});
  return None{};
}

static Value get(Semantic &s, const BoundArgs &args) {
  Tensor source = typedPointerArg(s, args, 0), pe = peArg(s, args, 1);
  Type pointee = source.type.pointee();
  return s.wrap(
      emitShmemCall(s, args, shmemFunction(args).symbol, {source, pe}, pointee)->getResult(0),
      pointee, args.range);
}

/// put_<type>_nbi: counts elements.
static Value putElements(Semantic &s, const BoundArgs &args) {
  unsigned bytesEach = Type(shmemFunction(args).type->scalar).bits() / 8;
  Tensor dest = typedPointerArg(s, args, 0), source = typedPointerArg(s, args, 1);
  Tensor bytes =
      s.binary(BinaryOp::Mult, countArg(s, args, 2), Int(bytesEach), args.range).as<Tensor>();
  emitShmemCall(s, args, shmemFunction(args).symbol, {dest, source, bytes, peArg(s, args, 3)});
  return None{};
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

static Value waitFixed(Semantic &s, const BoundArgs &args, int32_t comparison) {
  Tensor signal = typedPointerArg(s, args, 0);
  return emitWaitUntil(s, args, signal, s.constant(Int(comparison), Scalar::Int32, args.range),
                       pointeeArg(s, args, 1, signal));
}
static Value waitEquals(Semantic &s, const BoundArgs &args) {
  return waitFixed(s, args, NRD_CMP_EQ);
}
static Value waitGreater(Semantic &s, const BoundArgs &args) {
  return waitFixed(s, args, NRD_CMP_GT);
}
static Value waitUntil(Semantic &s, const BoundArgs &args) {
  Tensor signal = typedPointerArg(s, args, 0);
  Tensor comparison = shmemCodeArg(s, args, 1, ShmemConstant::Kind::Compare);
  return emitWaitUntil(s, args, signal, comparison, pointeeArg(s, args, 2, signal));
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// Our own number of the operation.
static int32_t runtimeCode(Atomic op) {
  switch (op) {
  case Atomic::Set:
    return NRD_AMO_SET;
  case Atomic::And:
  case Atomic::FetchAnd:
    return NRD_AMO_AND;
  case Atomic::Or:
  case Atomic::FetchOr:
    return NRD_AMO_OR;
  case Atomic::Xor:
  case Atomic::FetchXor:
    return NRD_AMO_XOR;
  case Atomic::Fetch:
    return NRD_AMO_FETCH;
  case Atomic::Swap:
    return NRD_AMO_SWAP;
  case Atomic::CompareSwap:
    return NRD_AMO_COMPARE_SWAP;
  default:
    return NRD_AMO_ADD;
  }
}

static Value emitAtomic(Semantic &s, const BoundArgs &args, Atomic op, const Tensor &dest,
                        Tensor value, std::optional<Tensor> compare, const Tensor &pe) {
  Type pointee = dest.type.pointee();
  auto constant = [&](int32_t number, Type type) {
    return pointee.isFloating() && type == pointee ? s.constant(double(number), type, args.range)
                                                   : s.constant(Int(number), type, args.range);
  };
  if (op == Atomic::Inc || op == Atomic::FetchInc)
    value = constant(1, pointee);
  if (!compare)
    compare = constant(0, pointee);
  Tensor code = s.constant(Int(runtimeCode(op)), Scalar::Int32, args.range);
  if (op < Atomic::Fetch) {
    emitShmemCall(s, args, shmemFunction(args).symbol, {dest, value, code, pe});
    return None{};
  }
  mlir::Operation *call = emitShmemCall(s, args, shmemFunction(args).symbol,
                                        {dest, value, *compare, code, pe}, pointee);
  return s.wrap(call->getResult(0), pointee, args.range);
}

static constexpr AtomicName atomicNames[] = {
    {"inc", Atomic::Inc, "dest, pe, qp_id=0", "Adds 1 at dest's place in pe's heap.", false},
    {"set", Atomic::Set, "dest, value, pe, qp_id=0",
     "Sets the element at dest's place in pe's heap.", true},
    {"add", Atomic::Add, "dest, value, pe, qp_id=0", "Adds value at dest's place in pe's heap.",
     false},
    {"and", Atomic::And, "dest, value, pe, qp_id=0", "Bitwise and at dest's place in pe's heap.",
     false},
    {"or", Atomic::Or, "dest, value, pe, qp_id=0", "Bitwise or at dest's place in pe's heap.",
     false},
    {"xor", Atomic::Xor, "dest, value, pe, qp_id=0",
     "Bitwise exclusive or at dest's place in pe's heap.", false},
    {"fetch", Atomic::Fetch, "source, pe, qp_id=0", "The element at source's place in pe's heap.",
     true},
    {"fetch_inc", Atomic::FetchInc, "dest, pe, qp_id=0",
     "Adds 1 at dest's place in pe's heap; returns the old value.", false},
    {"fetch_add", Atomic::FetchAdd, "dest, value, pe, qp_id=0",
     "Adds value at dest's place in pe's heap; returns the old value.", false},
    {"fetch_and", Atomic::FetchAnd, "dest, value, pe, qp_id=0",
     "Bitwise and at dest's place in pe's heap; returns the old value.", false},
    {"fetch_or", Atomic::FetchOr, "dest, value, pe, qp_id=0",
     "Bitwise or at dest's place in pe's heap; returns the old value.", false},
    {"fetch_xor", Atomic::FetchXor, "dest, value, pe, qp_id=0",
     "Bitwise exclusive or at dest's place in pe's heap; returns the old value.", false},
    {"swap", Atomic::Swap, "dest, value, pe, qp_id=0",
     "Sets the element at dest's place in pe's heap; returns the old value.", true},
    {"compare_swap", Atomic::CompareSwap, "dest, cond, value, pe, qp_id=0",
     "Sets the element at dest's place in pe's heap to value if it equals cond; returns the old "
     "value.",
     false},
};

static Value typedAtomic(Semantic &s, const BoundArgs &args) {
  const AtomicName *atomic = shmemFunction(args).atomic;
  Tensor dest = typedPointerArg(s, args, 0);
  switch (atomic->op) {
  case Atomic::Inc:
  case Atomic::FetchInc:
  case Atomic::Fetch: {
    Type pointee = dest.type.pointee();
    Tensor zero = pointee.isFloating() ? s.constant(0.0, pointee, args.range)
                                       : s.constant(Int(0), pointee, args.range);
    return emitAtomic(s, args, atomic->op, dest, zero, std::nullopt, peArg(s, args, 1));
  }
  case Atomic::CompareSwap:
    return emitAtomic(s, args, atomic->op, dest, pointeeArg(s, args, 2, dest),
                      pointeeArg(s, args, 1, dest), peArg(s, args, 3));
  default:
    return emitAtomic(s, args, atomic->op, dest, pointeeArg(s, args, 1, dest), std::nullopt,
                      peArg(s, args, 2));
  }
}

/// The operation named by argument `i`, which must (or must not) return the old
/// value.
static Atomic atomicArg(Semantic &s, const BoundArgs &args, unsigned i, bool fetches) {
  std::optional<int32_t> code = shmemConstantArg(s, args, i, ShmemConstant::Kind::Atomic);
  if (!code)
    fail(Diag::not_constexpr, args.ranges[i], parameterName(args, i), functionName(args.info),
         args[i].describe());
  if ((*code >= Atomic::Fetch) != fetches)
    fail(Diag::argument_kind, args.ranges[i], parameterName(args, i), functionName(args.info),
         fetches
             ? "an operation that returns the old value (MORI_AMO_FETCH_ADD, MORI_AMO_SWAP, ...)"
             : "an operation that returns nothing (MORI_AMO_ADD, MORI_AMO_SET, ...)",
         args[i].describe(), "");
  return Atomic(*code);
}

static Value atomicNonfetch(Semantic &s, const BoundArgs &args) {
  Tensor dest = typedPointerArg(s, args, 0);
  Tensor value = pointeeArg(s, args, 1, dest);
  return emitAtomic(s, args, atomicArg(s, args, 2, false), dest, value, std::nullopt,
                    peArg(s, args, 3));
}

static Value atomicFetch(Semantic &s, const BoundArgs &args) {
  Tensor dest = typedPointerArg(s, args, 0);
  Tensor value = pointeeArg(s, args, 1, dest), compare = pointeeArg(s, args, 2, dest);
  return emitAtomic(s, args, atomicArg(s, args, 3, true), dest, value, compare, peArg(s, args, 4));
}

void nereid::frontend::appendTypedFunctions(std::vector<ShmemFunction> &list) {
  /// prefix + type + suffix, which becomes a call of the library function `symbol`.
  auto add = [&](const char *symbol, const std::string &prefix, const CType &type,
                 const std::string &suffix, const std::string &params, BuiltinRule rule,
                 const std::string &doc, unsigned libraries, const AtomicName *atomic = nullptr) {
    list.push_back(ShmemFunction{.name = prefix + type.name + suffix,
                                 .params = params,
                                 .rule = rule,
                                 .doc = doc,
                                 .libraries = uint8_t(libraries),
                                 .symbol = symbol,
                                 .type = &type,
                                 .prefix = prefix,
                                 .suffix = suffix,
                                 .atomic = atomic});
  };
  auto isOneOf = [](llvm::StringRef name, std::initializer_list<llvm::StringRef> names) {
    return llvm::is_contained(names, name);
  };
  for (const CType &type : types) {
    std::string name = type.name, element = Type(type.scalar).str();
    bool isInteger = Type(type.scalar).isInteger();
    bool acl = isOneOf(name, {"char", "half", "bfloat16", "float", "int8", "int16", "int32",
                              "int64", "uint8", "uint16", "uint32", "uint64"});
    bool mori =
        isOneOf(name, {"long", "longlong", "float", "double", "char", "short", "uint", "ulong",
                       "ulonglong", "uchar", "ushort", "int32", "int64", "uint32", "uint64"});
    add("p", "", type, "_p", "dest, value, pe, qp_id=0", put,
        "Stores one " + element + " at dest's place in pe's heap.",
        name == "int" ? unsigned(Every) : (acl ? ACL : 0) | (mori ? MORI : 0) | NV | MX);
    add("g", "", type, "_g", "source, pe", get,
        "Reads one " + element + " at source's place in pe's heap.", Every);
    if (isOneOf(name, {"uint32", "uint64", "float", "double"}))
      add("putmem_nbi", "put_", type, "_nbi", "dest, source, nelems, pe, qp_id=0", putElements,
          "putmem_nbi of nelems elements of " + element + ".", MORI);
    if (isInteger && isOneOf(name, {"int", "long", "uint", "ulong", "int8", "int16", "int32",
                                    "int64", "uint8", "uint16", "uint32", "uint64"}))
      add("signal_wait_until", "", type, "_wait_until", "addr, cmp_, cmp_val", waitUntil,
          "signal_wait_until of a signal of " + element + "; returns the value that satisfied it.",
          acl ? unsigned(Every & ~MORI) : NV | ROC | MX);
    if (isOneOf(name, {"int32", "int64", "uint32", "uint64"})) {
      add("signal_wait_until", "", type, "_wait_until_equals", "addr, val", waitEquals,
          "Waits until the signal equals val; returns it.", MORI);
      add("signal_wait_until", "", type, "_wait_until_greater_than", "addr, val", waitGreater,
          "Waits until the signal is greater than val; returns it.", MORI);
      add("atomic_update", "atomic_", type, "_nonfetch", "dest, val, amo_type, pe, qp_id=0",
          atomicNonfetch, "The atomic that amo_type names (MORI_AMO_ADD, ...), without a result.",
          MORI);
      add("atomic_fetch", "atomic_", type, "_fetch", "dest, val, compare, amo_type, pe, qp_id=0",
          atomicFetch,
          "The atomic that amo_type names (MORI_AMO_FETCH_ADD, ...); returns the old value.", MORI);
    }
    bool both = isOneOf(name, {"int32", "int64", "uint32", "uint64"});
    bool isReal = isOneOf(name, {"float", "double"});
    if (both || isReal || isOneOf(name, {"int", "long", "uint", "ulong"}))
      for (const AtomicName &atomic : atomicNames) {
        if (isReal && !atomic.takesFloats)
          continue;
        const char *symbol = atomic.op < Atomic::Fetch ? "atomic_update" : "atomic_fetch";
        add(symbol, "", type, std::string("_atomic_") + atomic.name, atomic.params, typedAtomic,
            atomic.doc, MORI, &atomic);
        if (!both)
          continue;
        // This form calls its value `val`.
        std::string params = atomic.params;
        if (size_t at = params.find("value"); at != std::string::npos)
          params.replace(at, 5, "val");
        add(symbol, std::string("atomic_") + atomic.name + "_", type, "", params, typedAtomic,
            atomic.doc, MORI, &atomic);
      }
  }
}
