// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks, symmetric memory and signals as tt operations and assembly: DeviceCode.h
// says what they consist of, this file which operation is which.
//
// A kernel that has such operations gets five arguments more (addArguments, the
// order of nereid/cuda_kernel.h), which only the runtime passes. Orders need
// nothing of their own here: a wait ends with a barrier of the program, so that
// whatever stands behind it in the program comes after it, and tokens can be
// dropped.
#include "Target/CUDA/LowerDistributed.h"

#include "Target/CUDA/Passes.h"
#include "nereid/Dialect/Ascend/IR/Ascend.h"
#include "nereid/Target/Sites.h"

#include "llvm/ADT/TypeSwitch.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDLOWERDISTRIBUTEDTOTT
#include "Target/CUDA/Passes.h.inc"

using namespace mlir;

namespace {

using cuda::DeviceCode;

/// The smallest divisor of addresses that Triton asks for.
constexpr int32_t alignment = 16;

struct LowerDistributed : impl::NereidLowerDistributedToTTBase<LowerDistributed> {
  using NereidLowerDistributedToTTBase::NereidLowerDistributedToTTBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    lowerVectorCores();
    SmallVector<Operation *> work, yields;
    module.walk([&](Operation *op) {
      if (isa<distributed::YieldOp>(op))
        yields.push_back(op);
      else if (isa<distributed::DistributedDialect>(op->getDialect()))
        work.push_back(op);
    });
    module->setAttr(cuda::distributedAttrName, Builder(&getContext()).getBoolAttr(!work.empty()));
    work.append(yields);
    if (work.empty())
      return;

    auto kernel = work.front()->getParentOfType<tt::FuncOp>();
    for (Operation *op : work)
      if (op->getParentOfType<tt::FuncOp>() != kernel) {
        op->emitError() << "'" << op->getName() << "' stands in a function that was not inlined";
        return signalPassFailure();
      }
    cuda::Choices choices{arch, waitStride, oneProgram, checked, numCTAs, false};
    module.walk([&](Operation *op) { choices.storesByDescriptor |= cuda::isDescriptorStore(op); });
    OpBuilder builder(&getContext());
    cuda::Parameters parameters = addArguments(kernel);
    DeviceCode code(builder, choices, parameters);
    SiteTable sites;
    for (Operation *op : work) {
      builder.setInsertionPoint(op);
      code.loc = op->getLoc();
      code.site = needsSite(op) ? sites.number(op->getLoc(), kernel.getSymNameAttr()) : 0;
      code.needsOneBlock = false;
      Location loc = op->getLoc();
      std::string name = nameOf(op);
      if (failed(lower(code, op)))
        return signalPassFailure();
      if (code.needsOneBlock && numCTAs > 1) {
        emitError(loc)
            << name
            << " cannot be used by programs of several thread blocks, which would not all "
               "get its result: compile with num_ctas=1";
        return signalPassFailure();
      }
    }
    module->setAttr(cuda::sitesAttrName, sites.toAttribute(&getContext()));
  }

private:
  /// A program is one vector core. Profiles of several are refused before.
  void lowerVectorCores() {
    getOperation().walk([&](Operation *op) {
      OpBuilder builder(op);
      if (auto id = dyn_cast<ascend::GetSubVecIdOp>(op)) {
        id.replaceAllUsesWith(
            arith::ConstantOp::create(builder, id.getLoc(), builder.getIntegerAttr(id.getType(), 0))
                .getResult());
        id.erase();
      } else if (auto share = dyn_cast<ascend::ShareOp>(op)) {
        share.replaceAllUsesWith(share.getValue());
        share.erase();
      }
    });
  }

  static std::string nameOf(Operation *op) {
    if (auto call = dyn_cast<distributed::ExternCallOp>(op))
      return (call.getLibname() + "." + call.getWrittenName()).str();
    return op->getName().getStringRef().str();
  }

  /// Places where a program may wait are reported.
  static bool needsSite(Operation *op) {
    if (auto call = dyn_cast<distributed::ExternCallOp>(op))
      return call.getFunction().blocks();
    return isa<distributed::WaitOp, distributed::YieldOp>(op);
  }

  cuda::Parameters addArguments(tt::FuncOp kernel) {
    Builder b(&getContext());
    auto add = [&](StringRef name, Type type) -> Value {
      unsigned number = kernel.getNumArguments();
      NamedAttrList attributes;
      attributes.set(cuda::runtimesAttrName, b.getUnitAttr());
      if (isa<tt::PointerType>(type))
        attributes.set("tt.divisibility", b.getI32IntegerAttr(alignment));
      Location loc = NameLoc::get(b.getStringAttr(name), kernel.getLoc());
      (void)kernel.insertArgument(number, type, attributes.getDictionary(&getContext()), loc);
      return kernel.getArgument(number);
    };
    Type words = tt::PointerType::get(b.getI32Type(), 1);
    cuda::Parameters parameters;
    parameters.rank = add("nrd_rank", b.getI32Type());
    parameters.numRanks = add("nrd_num_ranks", b.getI32Type());
    parameters.stride16 = add("nrd_stride16", b.getI64Type());
    parameters.state = add("nrd_state", words);
    parameters.control = add("nrd_control", words);
    return parameters;
  }

  static LogicalResult replace(Operation *op, Value result) {
    if (op->getNumResults())
      op->getResult(0).replaceAllUsesWith(result);
    op->erase();
    return success();
  }

  static LogicalResult lower(DeviceCode &code, distributed::WaitOp op) {
    auto bits = cuda::signalBits(op, op.getSlots());
    if (failed(bits))
      return failure();
    Value value = code.narrow(op.getValue(), *bits, /*isWord=*/true);
    APInt count;
    if (matchPattern(op.getCount(), m_ConstantInt(&count)) && count.isOne()) {
      code.wait(op.getSlots(), value, {/*code=*/0});
    } else {
      int64_t stride = code.choices.waitStride ? code.choices.waitStride : *bits / 8;
      Value slots = code.narrow(op.getCount(), 32);
      if (!matchPattern(op.getCount(), m_ConstantInt(&count)))
        code.assertThat(arith::CmpIOp::create(code.b, op.getLoc(), arith::CmpIPredicate::sge, slots,
                                              code.i32(0)),
                        "the number of signals to wait for is negative");
      code.waitForAll(op.getSlots(), slots, value, stride);
    }
    // What its users depended on is the order of the program.
    return replace(
        op, arith::ConstantOp::create(code.b, op.getLoc(), code.b.getIntegerAttr(op.getType(), 0)));
  }

  static LogicalResult lower(DeviceCode &code, distributed::NotifyOp op) {
    auto bits = cuda::signalBits(op, op.getSignal());
    if (failed(bits))
      return failure();
    // Only what stays on this GPU may be released to this GPU alone.
    bool own = isa_and_nonnull<distributed::GetRankOp>(op.getRank().getDefiningOp()) ||
               op.getRank() == code.parameters.rank;
    Value slot = own ? op.getSignal() : code.symmAt(op.getSignal(), op.getRank());
    code.release(slot, code.narrow(op.getValue(), *bits, /*isWord=*/true),
                 op.getSigOp() == distributed::SignalOp::ADD,
                 own && op.getCommScope() == distributed::CommScope::GPU);
    return replace(op, {});
  }

  static LogicalResult lower(DeviceCode &code, distributed::SymmAtOp op) {
    if (!isa<tt::PointerType>(op.getPtr().getType()))
      return op.emitError()
             << "symm_at of a value of type " << op.getPtr().getType()
             << "; take symm_at of the scalar base pointer and add offsets to the result";
    return replace(op, code.symmAt(op.getPtr(), op.getRank()));
  }

  static LogicalResult lower(DeviceCode &code, Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<distributed::WaitOp, distributed::NotifyOp, distributed::SymmAtOp>(
            [&](auto typed) { return lower(code, typed); })
        .Case([&](distributed::GetRankOp) { return replace(op, code.parameters.rank); })
        .Case([&](distributed::GetNumRanksOp) { return replace(op, code.parameters.numRanks); })
        .Case([&](distributed::ConsumeTokenOp token) { return replace(op, token.getValue()); })
        .Case([&](distributed::YieldOp) {
          code.checkGivenUp();
          return replace(op, {});
        })
        .Case([&](distributed::ExternCallOp call) -> LogicalResult {
          Value result;
          if (failed(cuda::lowerLibraryCall(code, call, result)))
            return failure();
          return replace(op, result);
        })
        .Default([](Operation *other) {
          return other->emitError()
                 << "the target cuda has no form for '" << other->getName() << "'";
        });
  }
};

} // namespace
} // namespace nereid
