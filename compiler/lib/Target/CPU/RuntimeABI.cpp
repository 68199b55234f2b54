// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/RuntimeABI.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace nereid::cpu;

static constexpr RuntimeFunction table[] = {
#define NRD_ENTRY(NAME, SIGNATURE) {#NAME, SIGNATURE, true},
#define NRD_ENTRY_NO_RETURN(NAME, SIGNATURE) {#NAME, SIGNATURE, false},
#include "nereid/entry_points.def"
};

llvm::ArrayRef<RuntimeFunction> nereid::cpu::runtimeFunctions() { return table; }

static Type decodeType(MLIRContext *context, char letter) {
  switch (letter) {
  case 'v':
    return LLVM::LLVMVoidType::get(context);
  case 'p':
    return LLVM::LLVMPointerType::get(context);
  case 'i':
    return IntegerType::get(context, 32);
  default:
    assert(letter == 'l' && "unknown letter in a runtime signature");
    return IntegerType::get(context, 64);
  }
}

static ModuleOp enclosingModule(OpBuilder &builder) {
  Operation *op = builder.getInsertionBlock()->getParentOp();
  return isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
}

Value nereid::cpu::loadProgramField(OpBuilder &builder, Location loc, Value program, int32_t offset,
                                    Type type) {
  Value address = program;
  if (offset != 0)
    address = LLVM::GEPOp::create(builder, loc, program.getType(), builder.getI8Type(), program,
                                  ArrayRef<LLVM::GEPArg>{offset});
  auto load = LLVM::LoadOp::create(builder, loc, type, address);
  load.setInvariant(true);
  return load;
}

LLVM::CallOp nereid::cpu::callRuntime(OpBuilder &builder, Location loc, StringRef name,
                                      ValueRange operands) {
  const auto *row = llvm::find_if(table, [&](const RuntimeFunction &f) { return name == f.name; });
  assert(row != std::end(table) && "not in entry_points.def");
  MLIRContext *context = builder.getContext();
  ModuleOp module = enclosingModule(builder);
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    SmallVector<Type> parameters;
    for (const char *letter = row->signature + 1; *letter; ++letter)
      parameters.push_back(decodeType(context, *letter));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    function = LLVM::LLVMFuncOp::create(
        builder, module.getLoc(), name,
        LLVM::LLVMFunctionType::get(decodeType(context, row->signature[0]), parameters));
    if (!row->returns)
      function.setPassthroughAttr(builder.getStrArrayAttr({"noreturn", "cold"}));
  }
  assert(llvm::equal(function.getFunctionType().getParams(), operands.getTypes()) &&
         "operands do not fit abi.h");
  return LLVM::CallOp::create(builder, loc, function, operands);
}

Value nereid::cpu::getStringConstant(OpBuilder &builder, Location loc, StringRef text) {
  ModuleOp module = enclosingModule(builder);
  std::string value = (text + StringRef("\0", 1)).str();
  LLVM::GlobalOp global;
  unsigned number = 0;
  for (auto other : module.getOps<LLVM::GlobalOp>()) {
    auto initial = dyn_cast_or_null<StringAttr>(other.getValueAttr());
    if (!other.getSymName().starts_with("__nereid_text_"))
      continue;
    ++number;
    if (initial && initial.getValue() == value)
      global = other;
  }
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    global = LLVM::GlobalOp::create(
        builder, module.getLoc(), LLVM::LLVMArrayType::get(builder.getI8Type(), value.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, "__nereid_text_" + std::to_string(number),
        builder.getStringAttr(value));
  }
  return LLVM::AddressOfOp::create(builder, loc, global);
}

Value nereid::cpu::getStackSlot(OpBuilder &builder, Location loc, Type type, int64_t count) {
  Operation *op = builder.getInsertionBlock()->getParentOp();
  auto function = isa<FunctionOpInterface>(op) ? cast<FunctionOpInterface>(op)
                                               : op->getParentOfType<FunctionOpInterface>();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getFunctionBody().front());
  Value size = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                        builder.getI64IntegerAttr(count));
  return LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
                                type, size,
                                /*alignment=*/16);
}
