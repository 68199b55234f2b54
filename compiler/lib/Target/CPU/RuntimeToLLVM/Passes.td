// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_TARGET_CPU_RUNTIMETOLLVM_PASSES_TD
#define NEREID_TARGET_CPU_RUNTIMETOLLVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def NereidCPULowerRuntime : Pass<"nereid-cpu-lower-runtime", "::mlir::ModuleOp"> {
  let summary = "Lowers functions, scalar operations and runtime calls to the CPU's kernel ABI";
  let description = [{
    Runs after tiles became loops. A public `tt.func` becomes a function of two
    pointers, to the program and to the arguments, as abi/nereid/abi.h describes;
    scalar `tt` operations become `llvm` and
    `arith` operations; `distributed` and `ascend` operations become loads of
    `nrd_program` and calls of `nrd_*`. Pointers carried by `scf` and `cf` become
    `!llvm.ptr`. Afterwards no operation or type of `tt`, `distributed`, `ascend`
    and `cpu` is left; each that cannot be lowered is an error at its location.

    Module attributes that it sets: `cpu.sites` (source locations by number, each
    `[file, line, column, function]`), `cpu.blocking` (a call may wait for another
    program), `cpu.distributed`, `cpu.arguments` (type names of the kernel's
    arguments), `cpu.symmetric_arguments` (numbers of those that have
    `nereid.symmetric`).

    ```mlir
    tt.func public @k(%p: !tt.ptr<i32>) {
      %axis = arith.constant -1 : i32
      %rank = distributed.get_rank %axis : i32
      tt.store %p, %rank : !tt.ptr<i32>
      tt.return
    }
    // becomes
    module attributes {cpu.arguments = ["*i32"], cpu.blocking = false, cpu.distributed = true, cpu.sites = [], cpu.symmetric_arguments = array<i32>} {
      llvm.func @k(%program: !llvm.ptr, %arguments: !llvm.ptr) attributes {passthrough = ["nounwind", "null_pointer_is_valid"]} {
        %0 = llvm.getelementptr %arguments[0] : (!llvm.ptr) -> !llvm.ptr, i8
        %1 = llvm.load %0 invariant {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
        %c-1_i32 = arith.constant -1 : i32
        %2 = llvm.getelementptr %program[24] : (!llvm.ptr) -> !llvm.ptr, i8
        %3 = llvm.load %2 invariant : !llvm.ptr -> i32
        llvm.store %3, %1 {alignment = 4 : i64} : i32, !llvm.ptr
        llvm.return
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
}

def NereidCPUGuardDivisions : Pass<"nereid-cpu-guard-divisions"> {
  let summary = "Makes integer divisions by zero and shifts by too much harmless";
  let description = [{
    A tile divides in all its lanes, also in those whose result a mask or a
    `select` drops, and their divisor may be zero. The language leaves such a
    lane undefined; the processor would stop the program. The divisor becomes 1
    where it is 0, and where the quotient of the smallest integer by -1 would
    overflow. Divisions by constants stay as they are.

    A shift by the width or more gives 0, or copies of the sign for `shrsi`, as
    shifting step by step would; processors and LLVM disagree on it otherwise.

    ```mlir
    tt.func @k(%n: i32, %d: i32) -> i32 {
      %q = arith.divui %n, %d : i32
      tt.return %q : i32
    }
    // becomes
    tt.func @k(%n: i32, %d: i32) -> i32 {
      %c0 = arith.constant 0 : i32
      %z = arith.cmpi eq, %d, %c0 : i32
      %c1 = arith.constant 1 : i32
      %s = arith.select %z, %c1, %d : i32
      %q = arith.divui %n, %s : i32
      tt.return %q : i32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // NEREID_TARGET_CPU_RUNTIMETOLLVM_PASSES_TD
