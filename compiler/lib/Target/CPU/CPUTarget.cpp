// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU target as the registry knows it.
#include "Target/CPU/FloatToLLVM/Passes.h"
#include "Target/CPU/IR/CPU.h"
#include "Target/CPU/KernelObject.h"
#include "Target/CPU/ObjectEmitter.h"
#include "Target/CPU/Pipeline.h"
#include "Target/CPU/RuntimeToLLVM/LineTable.h"
#include "Target/CPU/RuntimeToLLVM/Passes.h"
#include "Target/CPU/TilesToLoops/Passes.h"
#include "nereid/Support/AttributeNames.h"
#include "nereid/Target/Sites.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;
using namespace nereid;

namespace nereid {
const TargetInfo &infoOfCPU();
std::unique_ptr<Target> createCPU();
} // namespace nereid

/// What the lowering left in attributes of the module.
static void describe(ModuleOp module, const TargetSettings &settings, KernelMetadata &metadata) {
  auto flag = [&](llvm::StringRef name) {
    auto attribute = module->getAttrOfType<BoolAttr>(name);
    return attribute && attribute.getValue();
  };
  if (auto bytes = module->getAttrOfType<IntegerAttr>(cpu::scratchBytesAttrName))
    metadata.scratchBytes = bytes.getValue().getZExtValue();
  metadata.blocking = flag(cpu::blockingAttrName) || flag(attr::blocking);
  metadata.distributed = flag(cpu::distributedAttrName);
  metadata.instrumented = optionValue<bool>(infoOfCPU(), "instrument", settings.options);
  if (auto types = module->getAttrOfType<ArrayAttr>(cpu::argumentsAttrName))
    for (auto [argument, type] : llvm::zip(metadata.arguments, types.getAsRange<StringAttr>()))
      argument.type = type.str();
  if (auto indices = module->getAttrOfType<DenseI32ArrayAttr>(cpu::symmetricArgumentsAttrName))
    for (int32_t index : indices.asArrayRef())
      metadata.arguments[size_t(index)].symmetric = true;
  if (auto sites = module->getAttrOfType<ArrayAttr>(cpu::sitesAttrName))
    metadata.sites = readSites(sites, settings.lineText);
}

namespace {
class CPUTarget : public Target {
public:
  CPUTarget() : Target(infoOfCPU()) {}

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<cpu::CPUDialect, vector::VectorDialect, LLVM::LLVMDialect>();
    arith::registerConvertArithToLLVMInterface(registry);
    cf::registerConvertControlFlowToLLVMInterface(registry);
    registerConvertFuncToLLVMInterface(registry);
    registerConvertMathToLLVMInterface(registry);
    index::registerConvertIndexToLLVMInterface(registry);
    ub::registerConvertUBToLLVMInterface(registry);
    vector::registerConvertVectorToLLVMInterface(registry);
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
  }

  void registerPasses() const override {
    registerConvertVectorToLLVMPass();
    registerConvertToLLVMPass();
    registerSCFToControlFlowPass();
    registerReconcileUnrealizedCastsPass();
    registerNereidFloatToLLVMPasses();
    registerNereidRuntimeToLLVMPasses();
    registerNereidTilesToLoopsPasses();
    cpu::registerPipelines();
  }

  std::vector<Phase> phases(const TargetSettings &settings) const override {
    return cpu::phases(cpu::PipelineOptions::of(settings));
  }

  FailureOr<std::string> emit(ModuleOp module, const TargetStage &stage,
                              const TargetSettings &settings,
                              KernelMetadata &metadata) const override {
    cpu::PipelineOptions options = cpu::PipelineOptions::of(settings);
    cpu::EmitOptions emitOptions;
    emitOptions.target = options.target;
    emitOptions.enableFPFusion = options.enableFPFusion;
    if (stage.name == "llvm")
      return cpu::emitCode(module, emitOptions, cpu::EmitKind::LLVMIR);
    if (stage.name == "asm")
      return cpu::emitCode(module, emitOptions, cpu::EmitKind::Assembly);
    // Only the object says which instruction comes from which line: texts are
    // easier to read without.
    cpu::attachLineTable(module);
    describe(module, settings, metadata);
    FailureOr<std::string> generated = cpu::emitCode(module, emitOptions, cpu::EmitKind::Object);
    if (failed(generated))
      return failure();
    auto object = cpu::makeKernelObject(*generated, metadata, options.target);
    if (!object)
      return module.emitError("the object file: ") << llvm::toString(object.takeError());
    return std::move(*object);
  }
};
} // namespace

std::unique_ptr<Target> nereid::createCPU() { return std::make_unique<CPUTarget>(); }
