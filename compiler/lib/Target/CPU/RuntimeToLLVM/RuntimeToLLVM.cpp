// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions become kernels of the runtime's interface, and everything that is
// not arithmetic becomes a load from nrd_program, an instruction, or a call of
// abi.h:
//
//   tt.func public @k(%x: !tt.ptr<f32>, %n: i32)
//   llvm.func @k(%program: !llvm.ptr, %args: !llvm.ptr)   slots of 8 bytes, read on entry
//
// Functions come first, then all operations one by one, then pointers change
// their type everywhere (Lowering.h says why they keep their tt types until
// then). What nobody has replaced is reported where it stands, never left to
// the translation to LLVM.
//
// The walk also collects what the launcher has to know: whether the kernel can
// wait, whether it needs ranks, which arguments must be symmetric, and the
// places in the source that calls carry as a number.
#include "Target/CPU/RuntimeToLLVM/Passes.h"
#include "nereid/Support/AttributeNames.h"

#include "Lowering.h"
#include "Target/CPU/IR/CPU.h"
#include "Target/CPU/RuntimeABI.h"
#include "nereid/Dialect/Ascend/IR/Ascend.h"
#include "nereid/Pipelines/Common.h"
#include "nereid/Support/PassDiagnostics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace nereid {
#define GEN_PASS_DEF_NEREIDCPULOWERRUNTIME
#include "Target/CPU/RuntimeToLLVM/Passes.h.inc"
} // namespace nereid

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

Value Lowering::program() const {
  auto function = current->getParentOfType<LLVM::LLVMFuncOp>();
  return function.getBody().front().getArgument(0);
}

Value Lowering::constant(int64_t value, unsigned bits) {
  return arith::ConstantOp::create(builder, loc(),
                                   builder.getIntegerAttr(builder.getIntegerType(bits), value));
}

Value Lowering::site() {
  auto function = current->getParentOfType<LLVM::LLVMFuncOp>();
  return constant(sites.number(loc(), function.getSymNameAttr()), 32);
}

Value Lowering::toLLVM(Value value) {
  if (!isa<tt::PointerType>(value.getType()))
    return value;
  if (auto cast = value.getDefiningOp<UnrealizedConversionCastOp>())
    if (cast.getNumOperands() == 1 && cast.getOperand(0).getType() == pointerType)
      return cast.getOperand(0);
  return UnrealizedConversionCastOp::create(builder, loc(), pointerType, value).getResult(0);
}

Value Lowering::fromLLVM(Value value, Type type) {
  if (value.getType() == type)
    return value;
  assert(isa<tt::PointerType>(type) && value.getType() == pointerType &&
         "only pointers have two forms");
  return UnrealizedConversionCastOp::create(builder, loc(), type, value).getResult(0);
}

Value Lowering::toInteger(Value value, unsigned bits, bool isSigned) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  Type type = builder.getIntegerType(bits);
  if (width == bits)
    return value;
  if (width > bits)
    return arith::TruncIOp::create(builder, loc(), type, value);
  if (isSigned && width != 1)
    return arith::ExtSIOp::create(builder, loc(), type, value);
  return arith::ExtUIOp::create(builder, loc(), type, value);
}

Value Lowering::toBits64(Value value) {
  value = toLLVM(value);
  if (value.getType() == pointerType)
    return LLVM::PtrToIntOp::create(builder, loc(), builder.getI64Type(), value);
  if (isa<FloatType>(value.getType()))
    value = arith::BitcastOp::create(
        builder, loc(), builder.getIntegerType(value.getType().getIntOrFloatBitWidth()), value);
  return toInteger(value, 64, /*isSigned=*/false);
}

Value Lowering::fromBits64(Value bits, Type type) {
  if (isa<tt::PointerType>(type))
    return fromLLVM(LLVM::IntToPtrOp::create(builder, loc(), pointerType, bits), type);
  Value narrow = toInteger(bits, type.getIntOrFloatBitWidth());
  return isa<FloatType>(type) ? arith::BitcastOp::create(builder, loc(), type, narrow).getResult()
                              : narrow;
}

Type Lowering::getMemoryType(Type element) {
  if (isa<tt::PointerType>(element))
    return pointerType;
  return element.getIntOrFloatBitWidth() <= 8 ? Type(builder.getI8Type()) : element;
}

Value Lowering::toMemory(Value value) {
  Type type = value.getType();
  if (type.isInteger(1))
    return arith::ExtUIOp::create(builder, loc(), builder.getI8Type(), value);
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8)
    return arith::BitcastOp::create(builder, loc(), builder.getI8Type(), value);
  return toLLVM(value);
}

Value Lowering::fromMemory(Value value, Type element) {
  if (element.isInteger(1))
    return arith::CmpIOp::create(builder, loc(), arith::CmpIPredicate::ne, value, constant(0, 8));
  if (isa<FloatType>(element) && value.getType() != element)
    return arith::BitcastOp::create(builder, loc(), element, value);
  return fromLLVM(value, element);
}

void Lowering::replace(ValueRange results) {
  current->replaceAllUsesWith(results);
  current->erase();
  current = nullptr;
}

unsigned nereid::cpu::getElementBytes(Type type) {
  return isa<tt::PointerType, LLVM::LLVMPointerType>(type)
             ? 8
             : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static LogicalResult checkArgumentType(tt::FuncOp function, Type type) {
  if (auto pointer = dyn_cast<tt::PointerType>(type))
    if (!isa<RankedTensorType>(pointer.getPointeeType()))
      return success();
  if (type.isIntOrFloat())
    return success();
  return function.emitOpError()
         << "takes an argument of type " << type
         << ", which kernels on the CPU cannot; pass a pointer, its shape and its strides";
}

/// Result of a device function: none, one, or several in a struct.
static Type getReturnType(Lowering &lowering, TypeRange results) {
  MLIRContext *context = lowering.builder.getContext();
  auto convert = [&](Type type) {
    return isa<tt::PointerType>(type) ? lowering.pointerType : type;
  };
  if (results.empty())
    return LLVM::LLVMVoidType::get(context);
  if (results.size() == 1)
    return convert(results[0]);
  return LLVM::LLVMStructType::getLiteral(context,
                                          llvm::to_vector(llvm::map_range(results, convert)));
}

FailureOr<LLVM::LLVMFuncOp> nereid::cpu::lowerFunction(Lowering &lowering, tt::FuncOp function) {
  OpBuilder &builder = lowering.builder;
  lowering.begin(function);
  Location loc = function.getLoc();
  bool isKernel = function.isPublic();
  if (isKernel)
    for (Type type : function.getArgumentTypes())
      if (failed(checkArgumentType(function, type)))
        return failure();
  if (isKernel && !function.getResultTypes().empty())
    return function.emitOpError("is a kernel and must not return a value");

  SmallVector<Type> parameters{lowering.pointerType};
  if (isKernel)
    parameters.push_back(lowering.pointerType);
  else
    for (Type type : function.getArgumentTypes())
      parameters.push_back(isa<tt::PointerType>(type) ? lowering.pointerType : type);
  auto type =
      LLVM::LLVMFunctionType::get(getReturnType(lowering, function.getResultTypes()), parameters);
  auto result =
      LLVM::LLVMFuncOp::create(builder, loc, function.getName(), type,
                               isKernel ? LLVM::Linkage::External : LLVM::Linkage::Internal);
  // A null pointer, such as remote_ptr of another node gives, is an error of the
  // program that uses it, not a promise that it never gets there.
  result.setPassthroughAttr(builder.getStrArrayAttr({"nounwind", "null_pointer_is_valid"}));
  result.getBody().takeBody(function.getBody());
  function.erase();

  Block &entry = result.getBody().front();
  unsigned count = entry.getNumArguments();
  builder.setInsertionPointToStart(&entry);
  entry.insertArgument(0u, lowering.pointerType, loc);
  if (!isKernel) {
    for (BlockArgument old : llvm::to_vector(entry.getArguments().drop_front())) {
      if (!isa<tt::PointerType>(old.getType()))
        continue;
      Type pointer = old.getType();
      old.setType(lowering.pointerType);
      auto cast = UnrealizedConversionCastOp::create(builder, loc, pointer, old);
      old.replaceAllUsesExcept(cast.getResult(0), cast);
    }
    return result;
  }
  Value slots = entry.insertArgument(1u, lowering.pointerType, loc);
  lowering.begin(&entry.front()); // after the casts nothing was inserted yet
  for (unsigned i = 0; i < count; ++i) {
    BlockArgument old = entry.getArgument(2 + i);
    Value address = LLVM::GEPOp::create(builder, loc, lowering.pointerType, builder.getI8Type(),
                                        slots, ArrayRef<LLVM::GEPArg>{int32_t(8 * i)});
    auto load = LLVM::LoadOp::create(builder, loc, lowering.getMemoryType(old.getType()), address,
                                     /*alignment=*/8);
    load.setInvariant(true);
    old.replaceAllUsesWith(lowering.fromMemory(load, old.getType()));
  }
  entry.eraseArguments(2, count);
  return result;
}

/// Calls of functions that were not inlined: the program comes first.
static LogicalResult lowerCall(Lowering &lowering, tt::CallOp call) {
  lowering.begin(call);
  auto callee = call->getParentOfType<ModuleOp>().lookupSymbol<LLVM::LLVMFuncOp>(call.getCallee());
  if (!callee)
    return call.emitOpError() << "calls " << call.getCallee()
                              << ", which is not a function of this module";
  SmallVector<Value> operands{lowering.program()};
  for (Value operand : call.getArgOperands())
    operands.push_back(lowering.toLLVM(operand));
  auto lowered = LLVM::CallOp::create(lowering.builder, call.getLoc(), callee, operands);
  SmallVector<Value> results;
  for (auto [i, type] : llvm::enumerate(call.getResultTypes())) {
    Value value =
        call.getNumResults() == 1
            ? lowered.getResult()
            : LLVM::ExtractValueOp::create(lowering.builder, call.getLoc(), lowered.getResult(),
                                           ArrayRef<int64_t>{int64_t(i)})
                  .getResult();
    results.push_back(lowering.fromLLVM(value, type));
  }
  lowering.replace(results);
  return success();
}

static void lowerReturn(Lowering &lowering, tt::ReturnOp op) {
  lowering.begin(op);
  OpBuilder &builder = lowering.builder;
  SmallVector<Value> values;
  for (Value value : op.getSrcs())
    values.push_back(lowering.toLLVM(value));
  if (values.size() > 1) {
    Value aggregate = LLVM::UndefOp::create(builder, op.getLoc(),
                                            getReturnType(lowering, op.getSrcs().getTypes()));
    for (auto [i, value] : llvm::enumerate(values))
      aggregate = LLVM::InsertValueOp::create(builder, op.getLoc(), aggregate, value,
                                              ArrayRef<int64_t>{int64_t(i)});
    values = {aggregate};
  }
  LLVM::ReturnOp::create(builder, op.getLoc(), values);
  op.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct LowerRuntime : nereid::impl::NereidCPULowerRuntimeBase<LowerRuntime> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Lowering lowering(&getContext());

    bool failedAny = false;
    for (auto function : llvm::to_vector(module.getOps<tt::FuncOp>())) {
      if (function.isPublic()) {
        SmallVector<std::string> names;
        for (Type type : function.getArgumentTypes())
          if (isa<tt::PointerType>(type) || type.isIntOrFloat())
            names.push_back(signatureName(type));
        module->setAttr(argumentsAttrName,
                        lowering.builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(names)));
        SmallVector<int32_t> symmetric;
        for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
          if (function.getArgAttr(i, attr::symmetric))
            symmetric.push_back(i);
        module->setAttr(symmetricArgumentsAttrName,
                        lowering.builder.getDenseI32ArrayAttr(symmetric));
      }
      failedAny |= failed(lowerFunction(lowering, function));
    }
    if (failedAny)
      return signalPassFailure();

    SmallVector<Operation *> operations;
    module.walk([&](Operation *op) {
      if (isa_and_nonnull<tt::TritonDialect, distributed::DistributedDialect, ascend::AscendDialect,
                          CPUDialect>(op->getDialect()))
        operations.push_back(op);
    });
    for (Operation *op : operations)
      failedAny |= failed(lowerOperation(lowering, op));
    if (failedAny)
      return signalPassFailure();
    retypePointers(module);
    if (failed(checkNothingLeft(module)))
      return signalPassFailure();

    Builder builder(&getContext());
    module->setAttr(sitesAttrName, lowering.sites.toAttribute(&getContext()));
    module->setAttr(blockingAttrName, builder.getBoolAttr(lowering.blocking));
    module->setAttr(distributedAttrName, builder.getBoolAttr(lowering.distributed));
  }

  static LogicalResult lowerOperation(Lowering &lowering, Operation *op) {
    if (auto call = dyn_cast<tt::CallOp>(op))
      return lowerCall(lowering, call);
    if (auto ret = dyn_cast<tt::ReturnOp>(op)) {
      lowerReturn(lowering, ret);
      return success();
    }
    lowering.begin(op);
    if (isa<ProgramOp>(op)) {
      lowering.replace(lowering.program());
      return success();
    }
    if (isa<SiteOp>(op)) {
      lowering.replace(lowering.site());
      return success();
    }
    if (auto scratch = dyn_cast<ScratchOp>(op)) {
      Value base = loadProgramField(lowering.builder, op->getLoc(), lowering.program(),
                                    program_offset::scratch, lowering.pointerType);
      lowering.replace(LLVM::GEPOp::create(lowering.builder, op->getLoc(), lowering.pointerType,
                                           lowering.builder.getI8Type(), base,
                                           ArrayRef<LLVM::GEPArg>{int32_t(scratch.getOffset())})
                           .getResult());
      return success();
    }
    bool onTensors = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) ||
                     llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
    if (!onTensors) {
      if (auto result = lowerScalarOp(lowering, op))
        return *result;
      if (auto result = lowerDistributedOp(lowering, op))
        return *result;
    }
    if (isa<tt::ElementwiseInlineAsmOp>(op))
      return reportError(op->getLoc(), Diag::inline_assembly);
    return op->emitError() << "'" << op->getName() << "' is not supported on the CPU";
  }

  /// All values of type !tt.ptr become !llvm.ptr; casts between the two vanish.
  static void retypePointers(ModuleOp module) {
    Type pointer = LLVM::LLVMPointerType::get(module.getContext());
    auto retype = [&](Value value) {
      if (isa<tt::PointerType>(value.getType()))
        value.setType(pointer);
    };
    SmallVector<UnrealizedConversionCastOp> casts;
    module.walk([&](Operation *op) {
      llvm::for_each(op->getResults(), retype);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), retype);
      if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op))
        casts.push_back(cast);
    });
    for (auto cast : casts)
      if (cast->getNumOperands() == 1 && cast->getNumResults() == 1 &&
          cast.getOperand(0).getType() == cast.getResult(0).getType()) {
        cast.getResult(0).replaceAllUsesWith(cast.getOperand(0));
        cast.erase();
      }
  }

  /// Tensors that other dialects' operations still hold.
  static LogicalResult checkNothingLeft(ModuleOp module) {
    bool clean = true;
    module.walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        if (isa<RankedTensorType, tt::TensorDescType>(type)) {
          op->emitError() << "'" << op->getName() << "' with a result of type " << type
                          << " is not supported on the CPU";
          clean = false;
          break;
        }
    });
    return success(clean);
  }
};

} // namespace
