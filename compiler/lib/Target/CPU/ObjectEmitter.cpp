// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a module of the LLVM dialect to LLVM IR, through a short list of LLVM's
// passes, to text or an object file. The loops are explicit vector code
// already: the usual -O2 would spend most of its time on looking for what was
// done before. A module has a context of its own and nothing here is global but
// the registry of targets, so kernels may be compiled at the same time.
#include "Target/CPU/ObjectEmitter.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;
using namespace nereid::cpu;

/// Enough for explicit vector code: values instead of stack slots, merged
/// loads, folded arithmetic, loop invariants out of loops. No unrolling and no
/// vectorizer: they cost three times the rest and gain nothing here.
static constexpr llvm::StringLiteral passPipeline =
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-simplifycfg,licm),simplifycfg)";

static std::unique_ptr<llvm::TargetMachine> createTargetMachine(const EmitOptions &options,
                                                                std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
  llvm::Triple triple(options.target.triple);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions targetOptions;
  targetOptions.AllowFPOpFusion =
      options.enableFPFusion ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, options.target.cpu, options.target.features, targetOptions, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, /*JIT=*/false));
}

static LogicalResult optimize(llvm::Module &module, llvm::TargetMachine &machine, ModuleOp source) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (auto error = builder.parsePassPipeline(passes, passPipeline))
    return source.emitError("LLVM pass pipeline: ") << llvm::toString(std::move(error));
  passes.run(module, modules);
  return success();
}

FailureOr<std::string> nereid::cpu::emitCode(ModuleOp module, const EmitOptions &options,
                                             EmitKind kind) {
  std::string error;
  auto machine = createTargetMachine(options, error);
  if (!machine)
    return module.emitError("no code generator for ") << options.target.triple << ": " << error;

  llvm::LLVMContext context;
  auto llvmModule = translateModuleToLLVMIR(module, context, "kernel");
  if (!llvmModule)
    return module.emitError("could not translate the kernel to LLVM IR");
  llvmModule->setDataLayout(machine->createDataLayout());
  llvmModule->setTargetTriple(machine->getTargetTriple());
  for (llvm::Function &function : *llvmModule) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", options.target.cpu);
    if (!options.target.features.empty())
      function.addFnAttr("target-features", options.target.features);
    function.addFnAttr("prefer-vector-width", std::to_string(options.target.vectorBits));
    function.addFnAttr("min-legal-vector-width", std::to_string(options.target.vectorBits));
  }
  if (failed(optimize(*llvmModule, *machine, module)))
    return failure();

  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  if (kind == EmitKind::LLVMIR) {
    llvmModule->print(stream, nullptr);
    return std::string(text);
  }
  llvm::legacy::PassManager passes;
  auto type = kind == EmitKind::Assembly ? llvm::CodeGenFileType::AssemblyFile
                                         : llvm::CodeGenFileType::ObjectFile;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, type))
    return module.emitError("the code generator cannot emit this kind of file");
  passes.run(*llvmModule);
  return std::string(text);
}
