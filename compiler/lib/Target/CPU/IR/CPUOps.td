// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_CPU_OPS_TD
#define NEREID_CPU_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"

def CPU_Dialect : Dialect {
  let name = "cpu";
  let cppNamespace = "::nereid::cpu";
  let summary = "What tile loops on the CPU need of the running program";
  let description = [{
    A few values that the lowering of tiles to loops uses and the lowering of
    runtime operations supplies: the program's descriptor, its scratch buffers
    and the number of a source location. Tiles live at static offsets of one
    scratch area; the module attribute `cpu.scratch_bytes` says how large it is.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

class CPU_Op<string mnemonic, list<Trait> traits = []> : Op<CPU_Dialect, mnemonic, traits>;

def CPU_ProgramOp : CPU_Op<"program", [Pure]> {
  let summary = "address of the running program's `nrd_program`";
  let description = [{
    ```mlir
    %prog = cpu.program : !llvm.ptr
    ```
  }];
  let results = (outs LLVM_AnyPointer:$result);
  let builders = [OpBuilder<(ins)>];
  let assemblyFormat = "attr-dict `:` type($result)";
}

def CPU_ScratchOp : CPU_Op<"scratch", [Pure]> {
  let summary = "address `offset` bytes into the program's scratch area";
  let description = [{
    The area is 64-byte aligned and at least `cpu.scratch_bytes` long.

    ```mlir
    %acc = cpu.scratch {offset = 4096 : i64} : !llvm.ptr
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$offset);
  let results = (outs LLVM_AnyPointer:$result);
  let builders = [OpBuilder<(ins "int64_t":$offset)>];
  let assemblyFormat = "attr-dict `:` type($result)";
}

def CPU_SiteOp : CPU_Op<"site", [MemoryEffects<[MemWrite]>]> {
  let summary = "number of this operation's source location";
  let description = [{
    Becomes a constant: an index into the table of source locations that is
    written beside the code. Two sites are never merged, since equal operations
    at different places are different sites.

    ```mlir
    %site = cpu.site : i32 loc("k.py":3:5)
    ```
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

#endif // NEREID_CPU_OPS_TD
