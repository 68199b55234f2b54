// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: the threads of a program, as kernels for GPUs know them, and names of what
// only some machines have: shared memory, vectors and instructions of threads. Of
// those the rules know nothing beyond the name; the target says why it lacks one and
// what to write instead.
//
// Every access here is each thread's own; where they meet ThreadLoops.cpp says.
#include "Rules.h"
#include "nereid/Support/AttributeNames.h"

#include "nereid/Dialect/Distributed/IR/Distributed.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

using namespace nereid;
using namespace nereid::frontend;

Value nereid::frontend::targetOnly(Semantic &s, const BoundArgs &args) {
  const TargetInfo &target = *s.options.target;
  const TargetLack *lack = target.lack(args.info.module, args.info.name);
  fail(Diag::target_lacks, args.range, functionName(args.info), std::string(target.name),
       std::string(lack ? lack->why : "the target has no code for it"),
       std::string(lack ? lack->instead : ""));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static constexpr int kThreadsPerWarp = 32;

/// What every rule of threads begins with.
static void needThreads(Semantic &s, const BoundArgs &args) {
  if (s.options.target->lack(args.info.module, args.info.name))
    targetOnly(s, args);
  mlir::Operation *op = s.builder.getInsertionBlock()->getParentOp();
  auto module = llvm::isa<mlir::ModuleOp>(op) ? llvm::cast<mlir::ModuleOp>(op)
                                              : op->getParentOfType<mlir::ModuleOp>();
  module->setAttr(attr::threads, s.builder.getI32IntegerAttr(s.options.threads));
}

static Int axisArg(Semantic &s, const BoundArgs &args) {
  Int axis = s.constexprInt(args, 0);
  if (axis < 0 || axis > 2)
    fail(Diag::argument_out_of_range, args.ranges[0], toString(axis), "axis", "0", "2");
  return axis;
}

static Tensor threadId(Semantic &s, const BoundArgs &args) {
  auto id = s.emit<distributed::ThreadIdOp>(args.range, s.builder.getI32Type());
  return s.wrap(id.getResult(), Scalar::Int32, args.range);
}

static Value tid(Semantic &s, const BoundArgs &args) {
  needThreads(s, args);
  if (axisArg(s, args) > 0) // threads of a program are numbered along the first axis
    return s.constant(Int(0), Scalar::Int32, args.range);
  return threadId(s, args);
}

static Value ntid(Semantic &s, const BoundArgs &args) {
  needThreads(s, args);
  return s.constant(Int(axisArg(s, args) > 0 ? 1 : s.options.threads), Scalar::Int32, args.range);
}

static Value laneid(Semantic &s, const BoundArgs &args) {
  needThreads(s, args);
  return arithmetic(s, BinaryOp::BitAnd, threadId(s, args), Int(kThreadsPerWarp - 1), args.range);
}

static Value threadsPerWarp(Semantic &s, const BoundArgs &args) {
  needThreads(s, args);
  return Int(kThreadsPerWarp);
}
static Value numThreads(Semantic &s, const BoundArgs &args) {
  needThreads(s, args);
  return Int(s.options.threads);
}
static Value numWarps(Semantic &s, const BoundArgs &args) {
  needThreads(s, args);
  return Int(s.options.threads / kThreadsPerWarp);
}

static Value regionOutsideWith(Semantic &, const BoundArgs &args) {
  fail(Diag::not_callable, args.range, "function dl.simt_exec_region",
       "write `with dl.simt_exec_region() as (thread, threads):`");
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

static std::string scopeName(Semantic &s, const BoundArgs &args, unsigned i) {
  return choiceArg(s, args, i,
                   {"cta", "cluster", "gpu", "sys", "agent", "system", "workgroup", "gl"});
}

static Value syncThreads(Semantic &s, const BoundArgs &args) {
  needThreads(s, args);
  s.emit<distributed::ThreadBarrierOp>(args.range);
  return None{};
}

static Value fence(Semantic &s, const BoundArgs &args) {
  needThreads(s, args);
  std::string order = choiceArg(s, args, 0, {"sc", "acq_rel"});
  scopeName(s, args, 1);
  s.emit<mlir::LLVM::FenceOp>(args.range,
                              order == "sc" ? mlir::LLVM::AtomicOrdering::seq_cst
                                            : mlir::LLVM::AtomicOrdering::acq_rel,
                              llvm::StringRef());
  return None{};
}

static Value membar(Semantic &s, const BoundArgs &args) {
  needThreads(s, args);
  scopeName(s, args, 0);
  s.emit<mlir::LLVM::FenceOp>(args.range, mlir::LLVM::AtomicOrdering::seq_cst, llvm::StringRef());
  return None{};
}

//===----------------------------------------------------------------------===//
// Accesses of one thread
//===----------------------------------------------------------------------===//

static Tensor threadPointer(Semantic &s, const BoundArgs &args) {
  Tensor pointer = tensorArg(s, args, 0);
  if (!pointer.type.isPointer())
    fail(Diag::not_a_pointer, args.ranges[0], functionName(args.info), args[0].describe(),
         pointer.type.isPointerLike()
             ? "a thread reads and writes one element: a block of pointers "
               "is for tl.load and tl.store"
             : "");
  Type pointee = pointer.type.pointee();
  if (pointee.isPointerLike() || pointee.isBool() || pointee.isVoid())
    fail(Diag::atomic_dtype, args.ranges[0], functionName(args.info), pointee.str(),
         "it works on numbers of 8 to 64 bits");
  return pointer;
}

/// Says of an access that each thread makes it, and in which order it stands.
static void markEach(Semantic &s, mlir::Operation *op, llvm::StringRef order = "") {
  op->setAttr(attr::eachThread, s.builder.getUnitAttr());
  if (!order.empty())
    op->setAttr(attr::order, s.builder.getStringAttr(order));
}

static Value loadAs(Semantic &s, const BoundArgs &args, const std::string &order) {
  Tensor pointer = threadPointer(s, args);
  auto op =
      s.emit<tt::LoadOp>(args.range, pointer.handle, mlir::Value(), mlir::Value(),
                         /*isVolatile=*/true, tt::CacheModifier::NONE, tt::EvictionPolicy::NORMAL);
  markEach(s, op, order);
  return s.wrap(op.getResult(), pointer.type.pointee(), args.range);
}

static Value ld(Semantic &s, const BoundArgs &args) {
  needThreads(s, args);
  scopeName(s, args, 1);
  return loadAs(s, args, choiceArg(s, args, 2, {"relaxed", "acquire", "volatile", "weak"}));
}
static Value ldAcquire(Semantic &s, const BoundArgs &args) {
  needThreads(s, args);
  scopeName(s, args, 1);
  return loadAs(s, args, "acquire");
}
static Value ldPlain(Semantic &s, const BoundArgs &args) {
  needThreads(s, args);
  return loadAs(s, args, "relaxed");
}

/// Argument `i` as what the pointer points to: numbers by value, and values of
/// another type of the same width by their bits.
static Tensor elementArg(Semantic &s, const BoundArgs &args, unsigned i, const Tensor &pointer) {
  Type pointee = pointer.type.pointee();
  if (args[i].isNumber() && !(args[i].is<double>() && pointee.isInteger()))
    return s.cast(s.constant(args[i], s.naturalType(args[i], args.ranges[i]), args.ranges[i]),
                  pointee, args.ranges[i]);
  Tensor value = tensorArg(s, args, i);
  if (value.type.isBlock())
    fail(Diag::scalar_pointer_block, args.ranges[i], parameterName(args, i),
         functionName(args.info), args[i].describe());
  return value.type.isFloating() != pointee.isFloating() && value.type.bits() == pointee.bits()
             ? s.bitcast(value, pointee, args.ranges[i])
             : s.cast(value, pointee, args.ranges[i]);
}

static Value storeAs(Semantic &s, const BoundArgs &args, const std::string &order) {
  Tensor pointer = threadPointer(s, args);
  if (pointer.type.element().isConstPointer())
    fail(Diag::store_const, args.ranges[0]);
  Tensor value = elementArg(s, args, 1, pointer);
  auto op = s.emit<tt::StoreOp>(args.range, pointer.handle, value.handle, mlir::Value(),
                                tt::CacheModifier::NONE, tt::EvictionPolicy::NORMAL);
  markEach(s, op, order);
  return None{};
}

static Value st(Semantic &s, const BoundArgs &args) {
  needThreads(s, args);
  scopeName(s, args, 2);
  return storeAs(s, args, choiceArg(s, args, 3, {"relaxed", "release", "volatile", "weak"}));
}
static Value stPlain(Semantic &s, const BoundArgs &args) {
  needThreads(s, args);
  return storeAs(s, args, "relaxed");
}

static Tensor updatePointer(Semantic &s, const BoundArgs &args) {
  Tensor pointer = threadPointer(s, args);
  if (pointer.type.element().isConstPointer())
    fail(Diag::store_const, args.ranges[0]);
  return pointer;
}

static tt::MemSemantic orderArg(Semantic &s, const BoundArgs &args, unsigned i) {
  std::string order = choiceArg(s, args, i, {"relaxed", "acquire", "release", "acq_rel"});
  return *tt::symbolizeMemSemantic(order);
}

static Value addAs(Semantic &s, const BoundArgs &args, tt::MemSemantic order) {
  Tensor pointer = updatePointer(s, args);
  Tensor value = elementArg(s, args, 1, pointer);
  Tensor all = s.full({}, true, Scalar::Int1, args.range);
  auto op = s.emit<tt::AtomicRMWOp>(
      args.range, value.handle.getType(),
      pointer.type.pointee().isFloating() ? tt::RMWOp::FADD : tt::RMWOp::ADD, pointer.handle,
      value.handle, all.handle, order, tt::MemSyncScope::SYSTEM);
  markEach(s, op);
  return s.wrap(op.getResult(), value.type, args.range);
}

static Value atomicAdd(Semantic &s, const BoundArgs &args) {
  needThreads(s, args);
  scopeName(s, args, 2);
  return addAs(s, args, orderArg(s, args, 3));
}

static Value redRelease(Semantic &s, const BoundArgs &args) {
  needThreads(s, args);
  scopeName(s, args, 2);
  addAs(s, args, tt::MemSemantic::RELEASE);
  return None{};
}

static Value atomicCas(Semantic &s, const BoundArgs &args) {
  needThreads(s, args);
  Tensor pointer = updatePointer(s, args);
  Tensor expected = elementArg(s, args, 1, pointer), value = elementArg(s, args, 2, pointer);
  scopeName(s, args, 3);
  auto op =
      s.emit<tt::AtomicCASOp>(args.range, value.handle.getType(), pointer.handle, expected.handle,
                              value.handle, orderArg(s, args, 4), tt::MemSyncScope::SYSTEM);
  markEach(s, op);
  return s.wrap(op.getResult(), value.type, args.range);
}

//===----------------------------------------------------------------------===//
// Exchanges among the threads of a warp
//===----------------------------------------------------------------------===//

/// Argument `i`, a scalar of 32 bits, as an int32.
static Tensor wordArg(Semantic &s, const BoundArgs &args, unsigned i) {
  Tensor value = args[i].isNumber() ? s.constant(args[i], Scalar::Int32, args.ranges[i])
                                    : tensorArg(s, args, i);
  if (value.type.isBlock())
    fail(Diag::scalar_pointer_block, args.ranges[i], parameterName(args, i),
         functionName(args.info), args[i].describe());
  if (value.type.isPointerLike() || value.type.isBool() || value.type.bits() != 32)
    fail(Diag::atomic_dtype, args.ranges[i], functionName(args.info), value.type.str(),
         "it exchanges numbers of 32 bits");
  return value.type.isFloating() ? s.bitcast(value, Scalar::Int32, args.ranges[i])
                                 : s.cast(value, Scalar::Int32, args.ranges[i]);
}

/// One instruction of a warp, as inline assembly of NVIDIA's GPUs.
static Tensor warpInstruction(Semantic &s, const BoundArgs &args, const std::string &text,
                              const std::string &constraints,
                              llvm::ArrayRef<mlir::Value> operands) {
  auto op = s.emit<tt::ElementwiseInlineAsmOp>(args.range,
                                               llvm::ArrayRef<mlir::Type>{s.builder.getI32Type()},
                                               text, constraints, /*pure=*/false, 1, operands);
  return s.wrap(op.getResult()[0], Scalar::Int32, args.range);
}

static Value shuffleAs(Semantic &s, const BoundArgs &args, const std::string &mode,
                       const std::string &clamp) {
  needThreads(s, args);
  Tensor value = wordArg(s, args, 1), by = wordArg(s, args, 2);
  Tensor result =
      warpInstruction(s, args, "shfl.sync." + mode + ".b32 $0, $1, $2, " + clamp + ", 0xffffffff;",
                      "=r,r,r", {value.handle, by.handle});
  if (args[1].isNumber())
    return result;
  Type type = tensorArg(s, args, 1).type;
  return type.isFloating() ? s.bitcast(result, type, args.range) : s.cast(result, type, args.range);
}
static Value shuffle(Semantic &s, const BoundArgs &args) { return shuffleAs(s, args, "idx", "31"); }
static Value shuffleUp(Semantic &s, const BoundArgs &args) { return shuffleAs(s, args, "up", "0"); }
static Value shuffleDown(Semantic &s, const BoundArgs &args) {
  return shuffleAs(s, args, "down", "31");
}
static Value shuffleXor(Semantic &s, const BoundArgs &args) {
  return shuffleAs(s, args, "bfly", "31");
}

static Value ballot(Semantic &s, const BoundArgs &args) {
  needThreads(s, args);
  Tensor condition = s.toBool(s.toTensor(args[1], args.ranges[1]), args.ranges[1]);
  if (condition.type.isBlock())
    fail(Diag::scalar_pointer_block, args.ranges[1], parameterName(args, 1),
         functionName(args.info), args[1].describe());
  Tensor word = s.cast(condition, Scalar::Int32, args.ranges[1]);
  return warpInstruction(s, args,
                         "{ .reg .pred p; setp.ne.b32 p, $1, 0; "
                         "vote.sync.ballot.b32 $0, p, 0xffffffff; }",
                         "=r,r", {word.handle});
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

#define NEREID_LACKING(MODULE, NAME)                                                               \
  {MODULE, NAME, "*args, **options", false, targetOnly, "Only on machines with such threads."}
#define NEREID_EXTRA(NAME) NEREID_LACKING("language_extra", NAME)

static const BuiltinInfo rows[] = {
    {"dl", "simt_exec_region", "", false, regionOutsideWith,
     "`with dl.simt_exec_region() as (thread, threads):` is code of single threads: thread is "
     "tid(0), threads is ntid(0), and all threads meet before and after it."},
    NEREID_LACKING("dl", "extract"),
    NEREID_LACKING("dl", "insert"),
    NEREID_LACKING("dl", "vector"),
    NEREID_LACKING("dl", "make_vector"),
    NEREID_LACKING("dl", "zeros_vector"),
    NEREID_LACKING("dl", "ld_vector"),
    NEREID_LACKING("dl", "st_vector"),
    NEREID_LACKING("dl", "allocate_smem"),
    NEREID_LACKING("dl", "smem_index"),
    NEREID_LACKING("dl", "smem_load"),
    NEREID_LACKING("dl", "smem_store"),
    NEREID_LACKING("dl", "smem_get_ptr"),
    NEREID_LACKING("dl", "smem_dealloc"),
    NEREID_LACKING("dl", "get_smem_shared_address_u32"),
    NEREID_LACKING("dl", "tma"),
    {"language_extra", "tid", "axis", false, tid,
     "Which thread of its program runs this, an int32 scalar from 0 to ntid(axis) - 1; threads "
     "are numbered along axis 0.\n\n"
     "What depends on it differs from thread to thread. Blocks belong to the whole program and "
     "cannot."},
    {"language_extra", "ntid", "axis", false, ntid,
     "Threads of a program along an axis, an int32 scalar: 32 * num_warps along axis 0, 1 along "
     "the others."},
    {"language_extra", "laneid", "", false, laneid,
     "The thread's number within its warp of 32, an int32 scalar."},
    NEREID_EXTRA("smid"),
    {"language_extra", "num_warps", "", false, numWarps,
     "Warps of a program, a constant: the launch option num_warps (4)."},
    {"language_extra", "num_threads", "", false, numThreads,
     "Threads of a program, a constant: 32 * num_warps."},
    {"language_extra", "threads_per_warp", "", false, threadsPerWarp,
     "Threads of a warp, the constant 32."},
    {"language_extra", "__syncthreads", "", false, syncThreads,
     "All threads of the program meet: what each did before is there for all after it. An error "
     "where control flow depends on the thread."},
    {"language_extra", "membar", "scope=\"cta\"", false, membar,
     "Orders the thread's earlier accesses before its later ones. scope: \"cta\", \"gl\", "
     "\"gpu\" or \"sys\"."},
    {"language_extra", "__fence", "semantic=\"sc\", scope=\"gpu\"", false, fence,
     "Orders the thread's earlier accesses before its later ones. semantic: \"sc\" or "
     "\"acq_rel\"; scope: \"cta\", \"gpu\" or \"sys\"."},
    {"language_extra", "fence", "semantic=\"sc\", scope=\"gpu\"", false, fence, "As __fence."},
    {"language_extra", "ld", "ptr, scope=\"gpu\", semantic=\"relaxed\"", false, ld,
     "What the thread reads at ptr, in one piece and each time anew.\n\n"
     "ptr: a pointer to numbers of 8 to 64 bits. scope: \"cta\", \"gpu\" or \"sys\"; semantic: "
     "\"relaxed\" or \"acquire\"."},
    {"language_extra", "st", "ptr, val, scope=\"gpu\", semantic=\"relaxed\"", false, st,
     "The thread writes val at ptr, in one piece.\n\n"
     "ptr: a pointer to numbers of 8 to 64 bits; val is cast to them. scope: \"cta\", \"gpu\" or "
     "\"sys\"; semantic: \"relaxed\" or \"release\"."},
    {"language_extra", "st_b32", "ptr, val", false, stPlain, "As st, relaxed."},
    {"language_extra", "ld_acquire", "ptr, scope=\"gpu\"", false, ldAcquire,
     "As ld with semantic=\"acquire\"."},
    {"language_extra", "red_release", "ptr, value, scope=\"gpu\"", false, redRelease,
     "Each thread adds value to the number at ptr, which releases what it did before."},
    {"language_extra", "atomic_add", "ptr, value, scope=\"gpu\", semantic=\"relaxed\"", false,
     atomicAdd,
     "Each thread that gets here adds value to the number at ptr; returns the old value.\n\n"
     "scope: \"cta\", \"gpu\" or \"sys\"; semantic: \"relaxed\", \"acquire\", \"release\" or "
     "\"acq_rel\"."},
    {"language_extra", "atomic_cas", "ptr, value, target_value, scope, semantic", false, atomicCas,
     "For each thread that gets here: the number at ptr becomes target_value where it is value; "
     "returns the old one."},
    NEREID_EXTRA("atomic_add_per_warp"),
    NEREID_EXTRA("pack"),
    NEREID_EXTRA("unpack"),
    NEREID_EXTRA("pack_b32_v2"),
    NEREID_EXTRA("globaltimer"),
    {"language_extra", "__shfl_sync_i32", "mask, value, laneid", false, shuffle,
     "The value that thread number laneid of the warp gives, in value's type.\n\nvalue: a scalar "
     "of 32 bits. All threads of the warp that get here together take part, whatever mask says."},
    {"language_extra", "__shfl_up_sync_i32", "mask, value, delta", false, shuffleUp,
     "As __shfl_sync_i32, from the thread that is delta before; a thread that has none gets its "
     "own."},
    {"language_extra", "__shfl_down_sync_i32", "mask, value, delta", false, shuffleDown,
     "As __shfl_sync_i32, from the thread that is delta behind; a thread that has none gets its "
     "own."},
    {"language_extra", "__shfl_xor_sync_i32", "mask, value, delta", false, shuffleXor,
     "As __shfl_sync_i32, from the thread whose number in the warp is this one's with the bits of "
     "delta flipped."},
    {"language_extra", "__ballot_sync", "mask, predicate", false, ballot,
     "An int32 whose bit n says whether predicate holds for thread n of the warp; 0 for threads "
     "that do not get here."},
    {"language_extra", "ld_b32", "ptr", false, ldPlain, "As ld, relaxed."},
    NEREID_EXTRA("ld_vector"),
    NEREID_EXTRA("st_vector"),
    NEREID_EXTRA("load_v2_b64"),
    NEREID_EXTRA("load_v4_u32"),
    NEREID_EXTRA("st_v2_u32"),
    NEREID_EXTRA("st_v4_b32"),
    NEREID_EXTRA("multimem_st_b32"),
    NEREID_EXTRA("multimem_st_b64"),
    NEREID_EXTRA("multimem_st_p_b32"),
    NEREID_EXTRA("multimem_st_v2"),
    NEREID_EXTRA("multimem_st_v4"),
    NEREID_EXTRA("multimem_ld_reduce_v4"),
    NEREID_EXTRA("sync_grid"),
    NEREID_EXTRA("wait_eq"),
    NEREID_EXTRA("arrive_inc"),
    NEREID_EXTRA("tma_sync"),
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::threadRows() { return rows; }
