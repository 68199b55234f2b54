// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inline assembly for NVIDIA's GPUs, by its meaning.
//
// Kernels write in PTX what their language has no name for: several words in one
// access, an order of memory, two halves of a register. Its statements become
// operations one by one. A register is the value that was last written to it; what an
// instruction takes is brought to the type that its suffix names, by its bits:
//
//     mov.b32 {a, b}, $2;          a = low half of $2, b = its high half
//     cvt.f32.bf16 $0, a;          $0 = extf(a as bf16)
//     @p st.global.b32 [$1+4], b;  store(($1 as *i8) + 4 as *i32, b as i32, mask p)
//
// Accesses are of one thread where operands are scalars, else of each element.
#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/Support/PassDiagnostics.h"
#include "nereid/Transforms/Passes.h"

#include "PTXText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDREADPTX
#include "nereid/Transforms/Passes.h.inc"

using namespace mlir;

namespace {

class Reader {
public:
  explicit Reader(tt::ElementwiseInlineAsmOp assembly)
      : assembly(assembly), builder(assembly), loc(assembly.getLoc()) {
    for (Type type : llvm::concat<Type>(llvm::to_vector(assembly->getOperandTypes()),
                                        llvm::to_vector(assembly->getResultTypes())))
      if (auto block = dyn_cast<RankedTensorType>(type))
        shape = block.getShape();
  }

  LogicalResult run() {
    unsigned results = assembly->getNumResults();
    for (auto [i, operand] : llvm::enumerate(assembly.getArgs()))
      registers["$" + std::to_string(results + i)] = operand;
    std::string wrong;
    std::vector<ptx::Statement> statements = ptx::parse(assembly.getAsmString(), wrong);
    if (!wrong.empty())
      return refuse(wrong);
    for (const ptx::Statement &statement : statements) {
      current = &statement;
      if (failed(read(statement)))
        return failure();
    }
    SmallVector<Value> values;
    for (auto [i, type] : llvm::enumerate(assembly->getResultTypes())) {
      // A result that is only there because assembly must have one.
      Value value = registers.lookup("$" + std::to_string(i));
      values.push_back(as(value ? value : number(0, builder.getI64Type()), type));
      if (!values.back())
        return failure();
    }
    assembly->replaceAllUsesWith(values);
    assembly->erase();
    return success();
  }

private:
  //===--- values ---------------------------------------------------------===//

  LogicalResult refuse(const llvm::Twine &what) {
    reportError(loc, Diag::inline_assembly).attachNote(loc) << what;
    return failure();
  }
  Value noValue(const llvm::Twine &what) { return (void)refuse(what), Value(); }

  Type like(Type element) const {
    return shape.empty() ? element : Type(RankedTensorType::get(shape, element));
  }
  static Type elementOf(Type type) { return getElementTypeOrSelf(type); }
  Type integer(unsigned bits) { return builder.getIntegerType(bits); }

  Value number(int64_t value, Type element) {
    Attribute attribute;
    if (auto type = dyn_cast<FloatType>(element))
      attribute = builder.getFloatAttr(
          type, APFloat(type.getFloatSemantics(), APInt(type.getWidth(), uint64_t(value), false,
                                                        /*implicitTrunc=*/true)));
    else
      attribute = builder.getIntegerAttr(
          element, APInt(element.getIntOrFloatBitWidth(), uint64_t(value), false, true));
    if (!shape.empty())
      attribute = DenseElementsAttr::get(cast<RankedTensorType>(like(element)), attribute);
    return arith::ConstantOp::create(builder, loc, like(element), cast<TypedAttr>(attribute));
  }

  Value spread(Value value) {
    if (shape.empty() || isa<RankedTensorType>(value.getType()))
      return value;
    return tt::SplatOp::create(builder, loc, like(value.getType()), value);
  }

  /// The bits of `value` as an integer of `bits` bits: narrower ones have zeros above.
  Value asInteger(Value value, unsigned bits) {
    value = spread(value);
    Type element = elementOf(value.getType());
    if (isa<tt::PointerType>(element))
      value = tt::PtrToIntOp::create(builder, loc, like(integer(64)), value);
    else if (isa<FloatType>(element))
      value = tt::BitcastOp::create(builder, loc, like(integer(element.getIntOrFloatBitWidth())),
                                    value);
    unsigned now = elementOf(value.getType()).getIntOrFloatBitWidth();
    if (now < bits)
      return arith::ExtUIOp::create(builder, loc, like(integer(bits)), value);
    return now > bits ? Value(arith::TruncIOp::create(builder, loc, like(integer(bits)), value))
                      : value;
  }

  /// The bits of `value` as a value of `type`.
  Value as(Value value, Type type) {
    Type element = elementOf(type);
    if (elementOf(value.getType()) == element)
      return spread(value);
    if (isa<tt::PointerType>(element)) {
      if (isa<tt::PointerType>(elementOf(value.getType())))
        return tt::BitcastOp::create(builder, loc, like(element), spread(value));
      return tt::IntToPtrOp::create(builder, loc, like(element), asInteger(value, 64));
    }
    unsigned bits = element.getIntOrFloatBitWidth();
    Value whole = asInteger(value, bits);
    return isa<FloatType>(element)
               ? Value(tt::BitcastOp::create(builder, loc, like(element), whole))
               : whole;
  }

  /// The type that a suffix names; null for what is none.
  Type suffixType(StringRef suffix) {
    return llvm::StringSwitch<Type>(suffix)
        .Cases({"b8", "u8", "s8"}, integer(8))
        .Cases({"b16", "u16", "s16"}, integer(16))
        .Cases({"b32", "u32", "s32", "f16x2", "bf16x2"}, integer(32))
        .Cases({"b64", "u64", "s64"}, integer(64))
        .Case("pred", integer(1))
        .Case("f16", builder.getF16Type())
        .Case("bf16", builder.getBF16Type())
        .Case("f32", builder.getF32Type())
        .Case("f64", builder.getF64Type())
        .Default(Type());
  }
  Type typeOf(const ptx::Statement &s) { return suffixType(s.parts.back()); }
  static bool isSigned(StringRef suffix) { return suffix.starts_with("s"); }

  //===--- operands -------------------------------------------------------===//

  /// The name of 64 bytes, zeros at first, that a kernel's launches have: barriers of all
  /// programs, which leave them as they have found them, are built on them.
  StringRef workspace() {
    constexpr StringRef kName = "nereid.grid_workspace";
    auto module = assembly->getParentOfType<ModuleOp>();
    if (!module.lookupSymbol(kName)) {
      OpBuilder start = OpBuilder::atBlockBegin(module.getBody());
      auto type = LLVM::LLVMArrayType::get(start.getI8Type(), 64);
      LLVM::GlobalOp::create(start, loc, type, /*isConstant=*/false, LLVM::Linkage::Internal, kName,
                             start.getZeroAttr(RankedTensorType::get({64}, start.getI8Type())),
                             /*alignment=*/64);
    }
    return kName;
  }

  Value special(StringRef name) {
    auto id = [&](int axis) -> Value {
      return tt::GetProgramIdOp::create(builder, loc, integer(32), tt::ProgramIDDim(axis));
    };
    auto count = [&](int axis) -> Value {
      return tt::GetNumProgramsOp::create(builder, loc, integer(32), tt::ProgramIDDim(axis));
    };
    if (name == "%envreg1" || name == "%envreg2") {
      // High and low half of the address of memory that the launch's programs share.
      Value address = LLVM::PtrToIntOp::create(
          builder, loc, integer(64),
          LLVM::AddressOfOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
                                    workspace()));
      if (name == "%envreg1")
        address = arith::ShRUIOp::create(
            builder, loc, address,
            arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(32)));
      return arith::TruncIOp::create(builder, loc, integer(32), address);
    }
    auto threads = assembly->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>(attr::threads);
    auto thread = [&](bool inWarp) -> Value {
      if (!threads)
        return noValue("'" + name + "' is known in kernels that ask for threads by tid or ntid");
      Value number = distributed::ThreadIdOp::create(builder, loc, integer(32));
      auto value = [&](int n) {
        return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(n));
      };
      if (name == "%warpid")
        return arith::ShRUIOp::create(builder, loc, number, value(5));
      return inWarp ? Value(arith::AndIOp::create(builder, loc, number, value(31))) : number;
    };
    if (name == "%tid.x")
      return thread(false);
    if (name == "%laneid" || name == "%warpid")
      return thread(true);
    if (name == "%ntid.x" && threads)
      return arith::ConstantOp::create(builder, loc, threads);
    if (name.size() == 8 && name.starts_with("%ctaid."))
      return id(name.back() - 'x');
    if (name.size() == 9 && name.starts_with("%nctaid."))
      return count(name.back() - 'x');
    return noValue("it reads '" + name + "'");
  }

  /// What an operand holds; bits of `type` where it is a number.
  Value value(const ptx::Operand &operand, Type type) {
    switch (operand.kind) {
    case ptx::Operand::Number:
      return number(operand.number, type);
    case ptx::Operand::Name: {
      if (Value known = registers.lookup(operand.name))
        return as(known, type);
      if (!StringRef(operand.name).starts_with("%"))
        return noValue("'" + operand.name + "' is read before it is written");
      Value found = special(operand.name);
      return found ? as(found, type) : Value();
    }
    case ptx::Operand::List: { // the first is the lowest part
      Value whole;
      unsigned bits = type.getIntOrFloatBitWidth(), part = bits / unsigned(operand.items.size());
      if (!part)
        return noValue("'" + current->text + "' has too many parts");
      for (auto [i, item] : llvm::enumerate(operand.items)) {
        Value piece = value(item, integer(part));
        if (!piece)
          return {};
        piece = asInteger(piece, bits);
        if (i)
          piece =
              arith::ShLIOp::create(builder, loc, piece, number(int64_t(i * part), integer(bits)));
        whole = whole ? Value(arith::OrIOp::create(builder, loc, whole, piece)) : piece;
      }
      return as(whole, type);
    }
    case ptx::Operand::Address:
      return noValue("'" + current->text + "' takes a value, not an address");
    }
    return {};
  }

  /// Writes a register, or the parts of one. Under a predicate what it held stays.
  LogicalResult write(const ptx::Operand &target, Value value) {
    if (target.kind == ptx::Operand::List) {
      unsigned bits = elementOf(value.getType()).getIntOrFloatBitWidth(),
               part = bits / unsigned(target.items.size());
      for (auto [i, item] : llvm::enumerate(target.items)) {
        Value piece = asInteger(value, bits);
        if (i)
          piece =
              arith::ShRUIOp::create(builder, loc, piece, number(int64_t(i * part), integer(bits)));
        if (failed(write(item, asInteger(piece, part))))
          return failure();
      }
      return success();
    }
    if (target.kind != ptx::Operand::Name)
      return refuse("'" + current->text + "' writes to no register");
    if (target.name == "_")
      return success();
    Value &now = registers[target.name];
    if (predicate && now)
      value = arith::SelectOp::create(builder, loc, predicate, value, as(now, value.getType()));
    now = value;
    return success();
  }

  Value address(const ptx::Operand &operand, Type element, int64_t index = 0) {
    if (operand.kind != ptx::Operand::Address)
      return noValue("'" + current->text + "' takes an address in []");
    Value base = registers.lookup(operand.name);
    if (!base)
      return noValue("'" + operand.name + "' is no register that holds an address");
    Type pointer = tt::PointerType::get(element, 1);
    if (auto known = dyn_cast<tt::PointerType>(elementOf(base.getType())))
      pointer = tt::PointerType::get(element, known.getAddressSpace());
    if (int64_t offset = operand.number) {
      Value bytes = as(base, tt::PointerType::get(integer(8), 1));
      base =
          tt::AddPtrOp::create(builder, loc, bytes.getType(), bytes, number(offset, integer(64)));
    }
    Value place = as(base, pointer);
    if (index)
      place =
          tt::AddPtrOp::create(builder, loc, place.getType(), place, number(index, integer(32)));
    return place;
  }

  //===--- instructions ---------------------------------------------------===//

  LogicalResult read(const ptx::Statement &s) {
    predicate = {};
    if (!s.predicate.empty()) {
      Value condition = registers.lookup(s.predicate);
      if (!condition)
        return refuse("'" + s.predicate + "' is read before it is written");
      predicate = asInteger(condition, 1);
      if (s.negated)
        predicate = arith::XOrIOp::create(builder, loc, predicate, number(1, integer(1)));
    }
    StringRef name = s.parts.front();
    if (name == "ld")
      return load(s);
    if (name == "st")
      return store(s);
    if (name == "atom" || name == "red")
      return update(s, name == "atom");
    if (name == "fence" || name == "membar")
      return fence(s);
    if (name == "bar" || name == "barrier")
      return barrier(s);
    if (llvm::is_contained({"nanosleep", "prefetch", "prefetchu", "discard", "griddepcontrol"},
                           name))
      return success(); // hints
    if (s.operands.empty())
      return unknown();
    if (name == "shfl" || name == "vote")
      return exchange(s);
    if (name == "cvt")
      return convert(s);
    if (name == "setp")
      return compare(s);
    return compute(s);
  }

  LogicalResult unknown() { return refuse("it has '" + current->text + "'"); }

  bool has(StringRef part) const { return llvm::is_contained(current->parts, part); }

  /// Checks the words between an access's name and its type; elements of a vector.
  FailureOr<int64_t> accessWords(const ptx::Statement &s) {
    int64_t count = 1;
    for (StringRef part : ArrayRef(s.parts).drop_front().drop_back()) {
      if (part == "v2" || part == "v4" || part == "v8")
        count = part.back() - '0';
      else if (!llvm::is_contained({"relaxed", "acquire", "release", "acq_rel", "volatile", "weak",
                                    "cta", "cluster", "gpu", "sys", "global", "nc", "ca", "cg",
                                    "cs", "lu", "cv", "wb", "wt"},
                                   part) &&
               !part.contains("::"))
        return (void)unknown(), failure();
    }
    return count;
  }
  StringRef order() const {
    for (StringRef word : {"acquire", "release", "acq_rel", "volatile"})
      if (has(word))
        return word;
    return "relaxed";
  }
  void mark(Operation *op) {
    if (!shape.empty())
      return;
    op->setAttr(attr::eachThread, builder.getUnitAttr());
    if (isa<tt::LoadOp, tt::StoreOp>(op))
      op->setAttr(attr::order, builder.getStringAttr(order()));
  }
  void orderBlocks(LLVM::AtomicOrdering ordering) {
    if (!shape.empty())
      LLVM::FenceOp::create(builder, loc, ordering, StringRef());
  }

  static SmallVector<ptx::Operand> itemsOf(const ptx::Operand &operand) {
    if (operand.kind == ptx::Operand::List)
      return SmallVector<ptx::Operand>(operand.items.begin(), operand.items.end());
    return {operand};
  }

  LogicalResult load(const ptx::Statement &s) {
    Type type = typeOf(s);
    FailureOr<int64_t> count = accessWords(s);
    if (failed(count))
      return failure();
    if (!type || s.operands.size() != 2)
      return unknown();
    SmallVector<ptx::Operand> targets = itemsOf(s.operands[0]);
    if (int64_t(targets.size()) != *count)
      return unknown();
    SmallVector<Value> values;
    for (int64_t i = 0; i < *count; ++i) {
      Value place = address(s.operands[1], type, i);
      if (!place)
        return failure();
      auto op = tt::LoadOp::create(builder, loc, place, predicate, Value(), /*isVolatile=*/true);
      mark(op);
      values.push_back(op.getResult());
    }
    if (order() == "acquire")
      orderBlocks(LLVM::AtomicOrdering::acquire);
    for (auto [target, value] : llvm::zip(targets, values))
      if (failed(write(target, value)))
        return failure();
    return success();
  }

  LogicalResult store(const ptx::Statement &s) {
    Type type = typeOf(s);
    FailureOr<int64_t> count = accessWords(s);
    if (failed(count))
      return failure();
    if (!type || s.operands.size() != 2)
      return unknown();
    SmallVector<ptx::Operand> sources = itemsOf(s.operands[1]);
    if (int64_t(sources.size()) != *count)
      return unknown();
    if (order() == "release")
      orderBlocks(LLVM::AtomicOrdering::release);
    for (int64_t i = 0; i < *count; ++i) {
      Value place = address(s.operands[0], type, i), what = value(sources[i], type);
      if (!place || !what)
        return failure();
      mark(tt::StoreOp::create(builder, loc, place, what, predicate, tt::CacheModifier::NONE));
    }
    return success();
  }

  LogicalResult update(const ptx::Statement &s, bool old) {
    StringRef suffix = s.parts.back();
    Type type = typeOf(s);
    StringRef what = s.parts.size() > 2 ? StringRef(s.parts[s.parts.size() - 2]) : "";
    size_t first = old ? 1 : 0;
    if (!type || suffix.ends_with("x2") || s.operands.size() < first + 2)
      return unknown();
    auto sem = tt::symbolizeMemSemantic(order() == "volatile" ? "relaxed" : order());
    Value place = address(s.operands[first], type), operand = value(s.operands[first + 1], type);
    if (!place || !operand)
      return failure();
    Value result;
    if (what == "cas") {
      Value wanted = s.operands.size() > first + 2 ? value(s.operands[first + 2], type) : Value();
      if (!wanted || predicate)
        return predicate ? unknown() : failure();
      auto op = tt::AtomicCASOp::create(builder, loc, operand.getType(), place, operand, wanted,
                                        *sem, tt::MemSyncScope::SYSTEM);
      mark(op);
      result = op.getResult();
    } else {
      bool isFloat = isa<FloatType>(type), isUnsigned = !isSigned(suffix);
      auto kind = llvm::StringSwitch<std::optional<tt::RMWOp>>(what)
                      .Case("add", isFloat ? tt::RMWOp::FADD : tt::RMWOp::ADD)
                      .Case("min", isUnsigned ? tt::RMWOp::UMIN : tt::RMWOp::MIN)
                      .Case("max", isUnsigned ? tt::RMWOp::UMAX : tt::RMWOp::MAX)
                      .Case("and", tt::RMWOp::AND)
                      .Case("or", tt::RMWOp::OR)
                      .Case("xor", tt::RMWOp::XOR)
                      .Case("exch", tt::RMWOp::XCHG)
                      .Default(std::nullopt);
      if (!kind || (isFloat && what != "add" && what != "exch"))
        return unknown();
      Value all = predicate ? predicate : number(1, integer(1));
      auto op = tt::AtomicRMWOp::create(builder, loc, operand.getType(), *kind, place, operand, all,
                                        *sem, tt::MemSyncScope::SYSTEM);
      mark(op);
      result = op.getResult();
    }
    return old ? write(s.operands[0], result) : success();
  }

  LogicalResult fence(const ptx::Statement &s) {
    if (has("proxy"))
      return success();
    bool weaker = has("acq_rel");
    LLVM::FenceOp::create(builder, loc,
                          weaker ? LLVM::AtomicOrdering::acq_rel : LLVM::AtomicOrdering::seq_cst,
                          StringRef());
    return success();
  }

  LogicalResult barrier(const ptx::Statement &s) {
    if (has("warp")) // threads of a warp that come here are together
      return success();
    if (predicate || !has("sync") || s.operands.size() != 1 ||
        s.operands[0].kind != ptx::Operand::Number)
      return unknown();
    if (assembly->getParentOfType<ModuleOp>()->hasAttr(attr::threads))
      distributed::ThreadBarrierOp::create(builder, loc);
    return success();
  }

  /// Shuffles and ballots of a warp stay, alone in an operation: ThreadLoops.cpp does them.
  LogicalResult exchange(const ptx::Statement &s) {
    const bool votes = s.text == "vote.sync.ballot.b32";
    const bool shuffles = s.parts.size() == 4 && s.parts[1] == "sync" && s.parts[3] == "b32" &&
                          llvm::is_contained({"idx", "up", "down", "bfly"}, s.parts[2]);
    if (predicate || !shape.empty() || (!votes && !shuffles) ||
        s.operands.size() != (votes ? 3u : 5u))
      return unknown();
    if (shuffles) { // whole warps: the other ends of a segment are not read
      const ptx::Operand &clamp = s.operands[3];
      if (clamp.kind != ptx::Operand::Number || clamp.number != (s.parts[2] == "up" ? 0 : 31))
        return refuse("'" + s.text + "' is of a part of a warp");
    }
    if (!assembly->getParentOfType<ModuleOp>()->hasAttr(attr::threads))
      return refuse("'" + s.text + "' is known in kernels that ask for threads by tid or ntid");
    SmallVector<Value> given;
    for (unsigned i = 1; i < (votes ? 2u : 3u); ++i) {
      given.push_back(value(s.operands[i], integer(votes ? 1 : 32)));
      if (!given.back())
        return failure();
    }
    auto op =
        tt::ElementwiseInlineAsmOp::create(builder, loc, TypeRange{integer(32)}, s.text,
                                           votes ? "=r,b" : "=r,r,r", /*pure=*/false, 1, given);
    return write(s.operands[0], op->getResult(0));
  }

  LogicalResult convert(const ptx::Statement &s) {
    if (s.parts.size() < 3 || s.operands.size() < 2 || has("sat"))
      return unknown();
    StringRef to = s.parts[s.parts.size() - 2], from = s.parts.back();
    if (to == "bf16x2" || to == "f16x2") { // the first operand is the upper half
      Type half = suffixType(to.drop_back(2)), wide = suffixType(from);
      if (s.operands.size() != 3 || from != "f32" || !has("rn"))
        return unknown();
      Value whole;
      for (size_t i : {2u, 1u}) {
        Value item = value(s.operands[i], wide);
        if (!item)
          return failure();
        item = arith::TruncFOp::create(builder, loc, like(half), item);
        item = asInteger(item, 32);
        whole = i == 2 ? item
                       : Value(arith::OrIOp::create(
                             builder, loc, whole,
                             arith::ShLIOp::create(builder, loc, item, number(16, integer(32)))));
      }
      return write(s.operands[0], whole);
    }
    Type target = suffixType(to), source = suffixType(from);
    if (!target || !source || s.operands.size() != 2)
      return unknown();
    Value given = value(s.operands[1], source);
    if (!given)
      return failure();
    unsigned narrow = source.getIntOrFloatBitWidth(), wide = target.getIntOrFloatBitWidth();
    const bool fromFloat = isa<FloatType>(source), toFloat = isa<FloatType>(target);
    Value result;
    if (fromFloat && toFloat) {
      if (wide == narrow && target != source)
        return unknown();
      if (wide > narrow)
        result = arith::ExtFOp::create(builder, loc, like(target), given);
      else if (wide < narrow && has("rn"))
        result = arith::TruncFOp::create(builder, loc, like(target), given);
      else if (target == source && s.parts.size() == 3)
        result = given;
      else
        return unknown();
    } else if (fromFloat) { // PTX saturates
      if (!has("rzi") || wide < 32)
        return unknown();
      const bool isSignedTo = isSigned(to);
      Value low = floatNumber(source, isSignedTo ? -std::ldexp(1.0, int(wide) - 1) : 0.0),
            zero = number(0, source);
      Value nan = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, given, given);
      Value bounded = arith::MaximumFOp::create(builder, loc, given, low);
      bounded = arith::SelectOp::create(builder, loc, nan, zero, bounded);
      Value high = floatNumber(source, std::ldexp(1.0, int(wide) - (isSignedTo ? 1 : 0)));
      Value over = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGE, bounded, high);
      Value inside = arith::SelectOp::create(builder, loc, over, zero, bounded);
      Value whole = isSignedTo ? Value(arith::FPToSIOp::create(builder, loc, like(target), inside))
                               : Value(arith::FPToUIOp::create(builder, loc, like(target), inside));
      result = arith::SelectOp::create(
          builder, loc, over,
          number(isSignedTo ? int64_t((uint64_t(1) << (wide - 1)) - 1) : int64_t(-1), target),
          whole);
    } else if (toFloat) {
      if (!has("rn"))
        return unknown();
      result = isSigned(from) ? Value(arith::SIToFPOp::create(builder, loc, like(target), given))
                              : Value(arith::UIToFPOp::create(builder, loc, like(target), given));
    } else if (wide > narrow) {
      result = isSigned(from) ? Value(arith::ExtSIOp::create(builder, loc, like(target), given))
                              : Value(arith::ExtUIOp::create(builder, loc, like(target), given));
    } else {
      result = asInteger(given, wide);
    }
    return write(s.operands[0], result);
  }

  Value floatNumber(Type type, double value) {
    APFloat number(value);
    bool lost;
    number.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
    return this->number(int64_t(number.bitcastToAPInt().getZExtValue()), type);
  }

  LogicalResult compare(const ptx::Statement &s) {
    Type type = typeOf(s);
    if (s.parts.size() != 3 || s.operands.size() != 3 || !type)
      return unknown();
    Value a = value(s.operands[1], type), b = value(s.operands[2], type);
    if (!a || !b)
      return failure();
    StringRef how = s.parts[1];
    if (isa<FloatType>(type)) {
      using P = arith::CmpFPredicate;
      auto predicate = llvm::StringSwitch<std::optional<P>>(how)
                           .Case("eq", P::OEQ)
                           .Case("ne", P::ONE)
                           .Case("lt", P::OLT)
                           .Case("le", P::OLE)
                           .Case("gt", P::OGT)
                           .Case("ge", P::OGE)
                           .Case("equ", P::UEQ)
                           .Case("neu", P::UNE)
                           .Case("nan", P::UNO)
                           .Case("num", P::ORD)
                           .Default(std::nullopt);
      if (!predicate)
        return unknown();
      return write(s.operands[0], arith::CmpFOp::create(builder, loc, *predicate, a, b));
    }
    using P = arith::CmpIPredicate;
    const bool sign = isSigned(s.parts.back());
    auto predicate = llvm::StringSwitch<std::optional<P>>(how)
                         .Case("eq", P::eq)
                         .Case("ne", P::ne)
                         .Case("lt", sign ? P::slt : P::ult)
                         .Case("le", sign ? P::sle : P::ule)
                         .Case("gt", sign ? P::sgt : P::ugt)
                         .Case("ge", sign ? P::sge : P::uge)
                         .Case("lo", P::ult)
                         .Case("ls", P::ule)
                         .Case("hi", P::ugt)
                         .Case("hs", P::uge)
                         .Default(std::nullopt);
    if (!predicate)
      return unknown();
    return write(s.operands[0], arith::CmpIOp::create(builder, loc, *predicate, a, b));
  }

  /// An instruction that makes one register of others of the same type.
  LogicalResult compute(const ptx::Statement &s) {
    StringRef name = s.parts.front(), suffix = s.parts.back();
    Type type = typeOf(s);
    if (!type)
      return unknown();
    if (name == "mov") {
      if (s.operands.size() != 2 || s.parts.size() != 2)
        return unknown();
      Value what = value(s.operands[1], type);
      return what ? write(s.operands[0], what) : failure();
    }
    if (name == "selp") {
      if (s.operands.size() != 4)
        return unknown();
      Value yes = value(s.operands[1], type), no = value(s.operands[2], type),
            which = value(s.operands[3], integer(1));
      if (!yes || !no || !which)
        return failure();
      return write(s.operands[0], arith::SelectOp::create(builder, loc, which, yes, no));
    }
    SmallVector<Value> given;
    for (const ptx::Operand &operand : ArrayRef(s.operands).drop_front()) {
      given.push_back(value(operand, type));
      if (!given.back())
        return failure();
    }
    Value result = suffix.ends_with("x2") ? Value()
                   : isa<FloatType>(type) ? floats(name, given)
                                          : integers(s, given, isSigned(suffix));
    return result ? write(s.operands[0], result) : unknown();
  }

  template <typename Op> Value make(ArrayRef<Value> given) {
    return Op::create(builder, loc, given[0], given[1]);
  }

  Value floats(StringRef name, ArrayRef<Value> given) {
    if (llvm::any_of(ArrayRef(current->parts).drop_front().drop_back(),
                     [](StringRef part) { return part != "rn"; }))
      return {};
    if (given.size() == 2)
      return name == "add"   ? make<arith::AddFOp>(given)
             : name == "sub" ? make<arith::SubFOp>(given)
             : name == "mul" ? make<arith::MulFOp>(given)
             : name == "max" ? make<arith::MaxNumFOp>(given)
             : name == "min" ? make<arith::MinNumFOp>(given)
                             : Value();
    if (given.size() == 3 && name == "fma")
      return math::FmaOp::create(builder, loc, given[0], given[1], given[2]);
    if (given.size() == 1 && name == "neg")
      return arith::NegFOp::create(builder, loc, given[0]);
    return {};
  }

  Value integers(const ptx::Statement &s, ArrayRef<Value> given, bool sign) {
    StringRef name = s.parts.front();
    auto plain = [&](size_t parts, size_t operands) {
      return s.parts.size() == parts && given.size() == operands;
    };
    unsigned bits = elementOf(given.empty() ? builder.getI32Type() : given[0].getType())
                        .getIntOrFloatBitWidth();
    if (plain(2, 1)) {
      if (name == "not")
        return arith::XOrIOp::create(builder, loc, given[0], number(-1, integer(bits)));
      if (name == "neg")
        return arith::SubIOp::create(builder, loc, number(0, integer(bits)), given[0]);
    } else if (plain(2, 2)) {
      if (name == "shl" || name == "shr") {
        // The shift is of 32 bits, and what is shifted out is gone.
        Value by = value(s.operands[2], integer(32)), most = number(int64_t(bits), integer(32));
        Value all = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, by, most);
        Value inside = asInteger(
            arith::SelectOp::create(builder, loc, all, number(int64_t(bits) - 1, integer(32)), by),
            bits);
        Value shifted = name == "shl" ? Value(arith::ShLIOp::create(builder, loc, given[0], inside))
                        : sign ? Value(arith::ShRSIOp::create(builder, loc, given[0], inside))
                               : Value(arith::ShRUIOp::create(builder, loc, given[0], inside));
        if (name == "shr" && sign)
          return shifted;
        return arith::SelectOp::create(builder, loc, all, number(0, integer(bits)), shifted);
      }
      return name == "add"   ? make<arith::AddIOp>(given)
             : name == "sub" ? make<arith::SubIOp>(given)
             : name == "and" ? make<arith::AndIOp>(given)
             : name == "or"  ? make<arith::OrIOp>(given)
             : name == "xor" ? make<arith::XOrIOp>(given)
             : name == "max" ? (sign ? make<arith::MaxSIOp>(given) : make<arith::MaxUIOp>(given))
             : name == "min" ? (sign ? make<arith::MinSIOp>(given) : make<arith::MinUIOp>(given))
                             : Value();
    } else if (plain(3, 2) && name == "mul" && has("lo")) {
      return make<arith::MulIOp>(given);
    } else if (plain(3, 2) && name == "mul" && has("wide") && bits <= 32) {
      auto wide = [&](Value value) -> Value {
        Type type = like(integer(2 * bits));
        return sign ? Value(arith::ExtSIOp::create(builder, loc, type, value))
                    : Value(arith::ExtUIOp::create(builder, loc, type, value));
      };
      return arith::MulIOp::create(builder, loc, wide(given[0]), wide(given[1]));
    } else if (plain(3, 3) && name == "mad" && has("lo")) {
      return arith::AddIOp::create(builder, loc, make<arith::MulIOp>(given.take_front(2)),
                                   given[2]);
    }
    return {};
  }

  tt::ElementwiseInlineAsmOp assembly;
  OpBuilder builder;
  Location loc;
  ArrayRef<int64_t> shape; ///< of the operands' blocks; empty: they are scalars
  llvm::StringMap<Value> registers;
  const ptx::Statement *current = nullptr;
  Value predicate; ///< of the statement that is being read; null: it is always done
};

struct ReadPTX : impl::NereidReadPTXBase<ReadPTX> {
  void runOnOperation() override {
    SmallVector<tt::ElementwiseInlineAsmOp> all;
    getOperation()->walk([&](tt::ElementwiseInlineAsmOp op) { all.push_back(op); });
    for (tt::ElementwiseInlineAsmOp op : all)
      if (failed(Reader(op).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace nereid
