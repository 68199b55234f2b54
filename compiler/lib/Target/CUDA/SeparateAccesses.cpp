// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers between accesses of one program that may be to the same memory.
//
// The walk follows the order of the program and remembers the accesses since the
// last barrier: by which arguments of the kernel, whether they write, whether by a
// descriptor. At an access that one of them may clash with, a barrier is set before
// it and the memory is empty. A branch leaves what either side leaves; a loop is
// walked until its end brings nothing new to its beginning, and since a barrier that
// was set stays, each walk only adds what the round before makes necessary. A loop
// whose own accesses cannot clash gets its barrier once, before it: Triton loads ahead
// in loops without barriers only.
#include "Target/CUDA/DeviceCode.h"
#include "Target/CUDA/Passes.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/Transforms/ValueFlow.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/SetVector.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDSEPARATEACCESSES
#include "Target/CUDA/Passes.h.inc"

using namespace mlir;

namespace {

/// The arguments of the kernel that a pointer may come from.
struct Roots {
  llvm::SmallSetVector<Value, 2> arguments;
  bool unknown = false;
};

struct Access {
  const Roots *roots;
  bool writes;
  /// A copy that Triton may leave under way.
  bool byDescriptor;
  /// A barrier came after it that did not wait for the copy.
  bool crossed = false;
  bool operator==(const Access &other) const {
    return roots == other.roots && writes == other.writes && byDescriptor == other.byDescriptor &&
           crossed == other.crossed;
  }
};

/// Accesses since the last barrier, none twice.
struct Pending {
  SmallVector<Access, 4> accesses;

  void add(const Access &access) {
    if (!llvm::is_contained(accesses, access))
      accesses.push_back(access);
  }
  void add(const Pending &other) {
    for (const Access &access : other.accesses)
      add(access);
  }
  /// Every thread has waited for its copies.
  void finishCopies() {
    for (Access &access : accesses)
      access.byDescriptor = false;
  }
  /// Only stores by descriptors reach across a barrier that does not wait for them.
  void meet() {
    llvm::erase_if(accesses, [](const Access &a) { return !a.writes || !a.byDescriptor; });
    SmallVector<Access, 4> all;
    std::swap(all, accesses);
    for (Access access : all) {
      access.crossed = true;
      add(access);
    }
  }
};

class Separator {
public:
  Separator(tt::FuncOp kernel, int arch, int numCTAs)
      : kernel(kernel), calls(kernel->getParentOfType<ModuleOp>()), arch(arch), numCTAs(numCTAs) {}

  void run() {
    Pending pending;
    walk(kernel.getBody(), pending);
  }

private:
  /// `pending` comes in and goes out. Blocks that branch to each other count as if
  /// each could follow each.
  void walk(Region &region, Pending &pending) {
    if (region.empty())
      return;
    if (region.hasOneBlock())
      return walk(region.front(), pending);
    for (size_t before = ~size_t(0); before != pending.accesses.size();) {
      before = pending.accesses.size();
      Pending all = pending;
      for (Block &block : region) {
        Pending here = pending;
        walk(block, here);
        all.add(here);
      }
      pending = all;
    }
  }

  void walk(Block &block, Pending &pending) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isa<tt::BarrierOp, gpu::BarrierOp>(op)) {
        pending.meet();
      } else if (auto assembly = dyn_cast<tt::ElementwiseInlineAsmOp>(op)) {
        if (assembly.getAsmString().contains(cuda::waitForCopies))
          pending.finishCopies();
      } else if (std::optional<Access> access = getAccess(&op)) {
        bool byDescriptor = access->byDescriptor;
        bool clashes = llvm::any_of(pending.accesses, [&](const Access &earlier) {
          bool clash = mayClash(earlier, *access);
          byDescriptor |= clash && earlier.byDescriptor;
          return clash;
        });
        if (clashes) {
          insertBarrier(&op, byDescriptor);
          pending.accesses.clear();
        }
        pending.add(*access);
      } else if (op.getNumRegions() && !op.hasTrait<OpTrait::IsIsolatedFromAbove>()) {
        walkRegions(&op, pending);
      }
    }
  }

  /// Sets the barrier before `loop` that its accesses need because of earlier ones.
  void separateBefore(Operation *loop, Pending &pending) {
    Pending inside;
    loop->walk([&](Operation *op) {
      if (std::optional<Access> access = getAccess(op))
        inside.add(*access);
    });
    bool clashes = false, byDescriptor = false;
    for (const Access &access : inside.accesses) {
      for (const Access &other : inside.accesses)
        if (mayClash(other, access))
          return;
      for (const Access &earlier : pending.accesses)
        if (mayClash(earlier, access)) {
          clashes = true;
          byDescriptor |= earlier.byDescriptor || access.byDescriptor;
        }
    }
    if (!clashes)
      return;
    insertBarrier(loop, byDescriptor);
    pending.accesses.clear();
  }

  void walkRegions(Operation *op, Pending &pending) {
    bool repeats = isa<LoopLikeOpInterface>(op);
    if (repeats)
      separateBefore(op, pending);
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      // The condition is evaluated at least once, and once more than the body.
      Pending leaving;
      for (size_t before = ~size_t(0); before != pending.accesses.size();) {
        before = pending.accesses.size();
        Pending round = pending;
        walk(loop.getBefore(), round);
        leaving = round;
        walk(loop.getAfter(), round);
        pending.add(round);
      }
      pending = leaving;
      return;
    }
    for (size_t before = ~size_t(0); before != pending.accesses.size();) {
      before = pending.accesses.size();
      Pending all;
      bool hasAll = false;
      // A loop may have no round; an `if` runs one of its sides, or nothing.
      auto keep = [&](const Pending &end) {
        all.add(end);
        hasAll = true;
      };
      auto branch = dyn_cast<scf::IfOp>(op);
      if (!branch || branch.getElseRegion().empty())
        keep(pending);
      for (Region &region : op->getRegions()) {
        if (region.empty())
          continue;
        Pending side = pending;
        walk(region, side);
        keep(side);
      }
      assert(hasAll);
      (void)hasAll;
      if (!repeats) {
        pending = all;
        return;
      }
      pending.add(all);
    }
  }

  std::optional<Access> getAccess(Operation *op) {
    using Result = std::optional<Access>;
    if (auto load = dyn_cast<tt::LoadOp>(op))
      return Access{rootsOf(load.getPtr()), false, false};
    if (auto store = dyn_cast<tt::StoreOp>(op))
      return Access{rootsOf(store.getPtr()), true, false};
    if (auto atomic = dyn_cast<tt::AtomicRMWOp>(op))
      return Access{rootsOf(atomic.getPtr()), true, false};
    if (auto atomic = dyn_cast<tt::AtomicCASOp>(op))
      return Access{rootsOf(atomic.getPtr()), true, false};
    if (isa<tt::DescriptorLoadOp, tt::DescriptorGatherOp>(op))
      return Access{rootsOf(op->getOperand(0)), false, true};
    if (cuda::isDescriptorStore(op))
      return Access{rootsOf(op->getOperand(0)), true, true};
    return Result();
  }

  bool mayClash(const Access &a, const Access &b) const {
    if (!a.writes && !b.writes)
      return false;
    if (a.roots->unknown || b.roots->unknown)
      return true;
    // Outputs are often written by descriptors: only what is the same for sure
    // waits for such a copy when a barrier stands between already.
    bool sameOnly = a.crossed;
    for (Value x : a.roots->arguments)
      for (Value y : b.roots->arguments)
        if (x == y || (!has(x, cuda::runtimesAttrName) && !has(y, cuda::runtimesAttrName) &&
                       !sameOnly && (has(x, attr::symmetric) || has(y, attr::symmetric))))
          return true;
    return false;
  }

  bool has(Value argument, StringRef attribute) const {
    tt::FuncOp function = kernel;
    return bool(function.getArgAttr(cast<BlockArgument>(argument).getArgNumber(), attribute));
  }

  void insertBarrier(Operation *op, bool byDescriptor) {
    OpBuilder builder(op);
    cuda::Choices choices;
    choices.arch = arch;
    choices.numCTAs = numCTAs;
    choices.storesByDescriptor = byDescriptor;
    cuda::Parameters none;
    cuda::DeviceCode code(builder, choices, none);
    code.loc = op->getLoc();
    code.separate();
  }

  /// Follows a pointer (or tile of pointers, or descriptor) to the arguments that it
  /// is made from.
  const Roots *rootsOf(Value pointer) {
    auto [entry, isNew] = known.try_emplace(pointer);
    if (!isNew)
      return entry->second;
    auto roots = std::make_unique<Roots>();
    llvm::SetVector<Value> worklist;
    worklist.insert(pointer);
    for (size_t i = 0; i < worklist.size(); ++i) {
      Value value = worklist[i];
      SmallVector<Value> sources;
      if (getSourceValues(value, calls, sources)) {
        worklist.insert(sources.begin(), sources.end());
        continue;
      }
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        if (argument.getOwner() == &kernel.getBody().front())
          roots->arguments.insert(value);
        else
          roots->unknown = true;
        continue;
      }
      Operation *op = value.getDefiningOp();
      if (isa<tt::AddPtrOp, tt::BitcastOp, tt::SplatOp, tt::UnsplatOp, tt::BroadcastOp,
              tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp, tt::MakeTensorDescOp, tt::IntToPtrOp,
              tt::PtrToIntOp>(op)) {
        worklist.insert(op->getOperand(0));
      } else if (isa<tt::JoinOp, tt::CatOp, tt::SplitOp, arith::AddIOp, arith::SubIOp,
                     arith::AndIOp>(op)) {
        // Of a sum of an address and an offset, whichever is an address.
        worklist.insert(op->operand_begin(), op->operand_end());
      } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
        worklist.insert(select.getTrueValue());
        worklist.insert(select.getFalseValue());
      } else if (isOffset(op)) {
        // Takes no part in where the memory lies.
      } else {
        roots->unknown = true;
      }
    }
    roots->unknown |= roots->arguments.empty();
    // An address in an integer comes from one pointer; the rest are offsets.
    llvm::SmallSetVector<Value, 2> pointers;
    for (Value argument : roots->arguments)
      if (isa<tt::PointerType>(argument.getType()))
        pointers.insert(argument);
    roots->unknown |= pointers.empty();
    roots->arguments = pointers;
    owned.push_back(std::move(roots));
    return known[pointer] = owned.back().get();
  }

  /// A value that is computed and is no address: an offset in a sum.
  static bool isOffset(Operation *op) {
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    return isa<IntegerType>(element) &&
           isa<arith::ArithDialect, tt::TritonDialect>(op->getDialect()) && isPure(op);
  }

  tt::FuncOp kernel;
  CallGraph calls;
  int arch, numCTAs;
  DenseMap<Value, const Roots *> known;
  std::vector<std::unique_ptr<Roots>> owned;
};

struct SeparateAccesses : impl::NereidSeparateAccessesBase<SeparateAccesses> {
  using NereidSeparateAccessesBase::NereidSeparateAccessesBase;

  void runOnOperation() override {
    if (numCTAs > 1)
      widenBarriers();
    for (auto function : getOperation().getOps<tt::FuncOp>())
      if (!function.isExternal())
        Separator(function, arch, numCTAs).run();
  }

private:
  /// Barriers that the user wrote are the program's, not one thread block's.
  void widenBarriers() {
    auto isOfCluster = [](Operation *op) {
      auto assembly = dyn_cast_or_null<tt::ElementwiseInlineAsmOp>(op);
      return assembly && assembly.getAsmString().contains("barrier.cluster");
    };
    SmallVector<tt::BarrierOp> narrow;
    getOperation().walk([&](tt::BarrierOp op) {
      if (!isOfCluster(op->getPrevNode()) && !isOfCluster(op->getNextNode()))
        narrow.push_back(op);
    });
    cuda::Choices choices;
    choices.numCTAs = numCTAs;
    for (tt::BarrierOp op : narrow) {
      OpBuilder builder(op);
      cuda::Parameters none;
      cuda::DeviceCode code(builder, choices, none);
      code.loc = op.getLoc();
      code.barrier();
      op.erase();
    }
  }
};

} // namespace
} // namespace nereid
