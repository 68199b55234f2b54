// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_TARGET_ASCEND_PASSES_TD
#define NEREID_TARGET_ASCEND_PASSES_TD

include "mlir/Pass/PassBase.td"

def NereidAscendExportTTIR : Pass<"nereid-ascend-export-ttir", "::mlir::ModuleOp"> {
  let summary = "Brings one simplified kernel into the form that triton-ascend 3.2 reads";
  let description = [{
    | ours | there |
    | --- | --- |
    | hints (`llvm.intr.assume`), attributes of our dialects, `distributed.yield` | left out |
    | scalar `atomic_rmw` | under its mask in an `scf.if`, with the mask `true`: its lowering loses masks of scalar atomics, and crashes where there is none |
    | comparison of a uniform value with lanes | of the lanes with the value: it knows no other masks that are ranges |
    | masked load without `other` | `other` of zeros: it fills nothing by itself |
    | values that are never read (`ub.poison`) | zeros |
    | `math.isnan`, `isinf`, `isfinite`, `trunc`, `copysign` | comparisons, `ceil` and `floor`, bits |
    | `math.round` | `__hmf_roundf` of its device library |
    | `tt.debug_barrier` | `gpu.barrier` |

    An error at its location is what has no such form: operations between ranks and
    of vector cores, atomic loads and stores, functions of NVIDIA's device library.

    ```mlir
    tt.func @k(%p: !tt.ptr<i32>, %v: i32, %m: i1) {
      %old = tt.atomic_rmw add, acq_rel, gpu, %p, %v, %m : (!tt.ptr<i32>, i32, i1) -> i32
      tt.store %p, %old : !tt.ptr<i32>
      tt.return
    }
    // becomes
    tt.func @k(%p: !tt.ptr<i32>, %v: i32, %m: i1) attributes {noinline = false} {
      %0 = scf.if %m -> (i32) {
        %true = arith.constant true
        %1 = tt.atomic_rmw add, acq_rel, gpu, %p, %v, %true : (!tt.ptr<i32>, i32, i1) -> i32
        scf.yield %1 : i32
      } else {
        %c0_i32 = arith.constant 0 : i32
        scf.yield %c0_i32 : i32
      }
      tt.store %p, %0 : !tt.ptr<i32>
      tt.return
    }
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::gpu::GPUDialect"];
}

def NereidPlainLocations : Pass<"nereid-plain-locations", "::mlir::ModuleOp"> {
  let summary = "Leaves file, line and column of every location";
  let description = [{
    Readers that are built on LLVM 20 or older know no ranges: `loc("k.py":3:4 to :9)`
    becomes `loc("k.py":3:4)`, also inside of other locations.

    ```mlir
    tt.func @k(%p: !tt.ptr<f32>, %x: f32) {
      tt.store %p, %x : !tt.ptr<f32> loc("k.py":3:4 to :9)
      tt.return
    }
    // becomes, with its locations printed, one with loc("k.py":3:4)
    tt.func @k(%p: !tt.ptr<f32>, %x: f32) {
      tt.store %p, %x : !tt.ptr<f32>
      tt.return
    }
    ```
  }];
}

//===----------------------------------------------------------------------===//
// nereid fit: each finds what some rows of Fit/Checks.def say. They change nothing,
// and report remarks and entries of module attributes (Fit/Findings.h). For one
// inlined kernel, after nereid-mark-spin-loops and nereid-infer-launch-mode.
//===----------------------------------------------------------------------===//

def NereidFitAccesses : Pass<"nereid-fit-accesses", "::mlir::ModuleOp"> {
  let summary = "Finds blocks that are not moved as rows, and masks that are no ranges";
  let description = [{
    Looks at the addresses and masks of every load and store of a block as the
    vendor's lowering does (Fit/Blocks.h).

    ```mlir
    tt.func @k(%p: tensor<8x!tt.ptr<f32>>, %x: tensor<8xf32>) {
      tt.store %p, %x : tensor<8x!tt.ptr<f32>>
      tt.return
    }
    // reports: [discrete_access]
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def NereidFitSignals : Pass<"nereid-fit-signals", "::mlir::ModuleOp"> {
  let summary = "Finds signals that overtake data, are sent more than once, or share a line";
  let description = [{
    Follows stores of blocks through the control flow to the next signal, and asks
    what the address of a signal grows by from one rank or program to the next.

    ```mlir
    tt.func @k() {
      distributed.extern_call  {libname = "libshmem_device", libpath = "", pure = false, symbol = "barrier_all"} : () -> ()
      tt.return
    }
    // reports: [cube_barrier]
    ```
  }];
}

def NereidFitWaits : Pass<"nereid-fit-waits", "::mlir::ModuleOp"> {
  let summary = "Finds loops that the compiler deletes, and grids that cannot end";
  let description = [{
    ```mlir
    tt.func @k(%p: !tt.ptr<i32>, %one: i32) {
      scf.while : () -> () {
        %x = tt.load %p : !tt.ptr<i32>
        %c = arith.cmpi ne, %x, %one : i32
        scf.condition(%c)
      } do {
        distributed.yield
        scf.yield
      }
      tt.return
    }
    // reports: [spin_loop]
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"ascend910b3\"", "a row of ascend_chips.def">,
    Option<"grid", "grid", "int64_t", "0", "programs of a launch; 0: not known">
  ];
}

def NereidFitAtomics : Pass<"nereid-fit-atomics", "::mlir::ModuleOp"> {
  let summary = "Finds atomic operations that are emulated, or not what is written";
  let description = [{
    ```mlir
    tt.func @k(%p: !tt.ptr<i32>, %a: i32, %b: i32) -> i32 {
      %old = tt.atomic_cas acq_rel, gpu, %p, %a, %b : (!tt.ptr<i32>, i32, i32) -> i32
      tt.return %old : i32
    }
    // reports: [cas_result]
    ```
  }];
}

def NereidFitMemory : Pass<"nereid-fit-memory", "::mlir::ModuleOp"> {
  let summary = "Estimates the on-chip memory that a program needs";
  let description = [{
    Plans the blocks of a kernel one operation after the other; Fit/Memory.cpp says
    how. The peak of each kind of memory becomes an entry of `nereid.fit.memory`.

    ```mlir
    tt.func @k(%p: tensor<65536x!tt.ptr<f32>>) {
      %x = tt.load %p : tensor<65536x!tt.ptr<f32>>
      tt.store %p, %x : tensor<65536x!tt.ptr<f32>>
      tt.return
    }
    // reports: [memory_overflow] about 256 KiB of the unified buffer
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"ascend910b3\"", "a row of ascend_chips.def">
  ];
}

def NereidFitTypes : Pass<"nereid-fit-types", "::mlir::ModuleOp"> {
  let summary = "Finds operations on types that the compiler refuses or computes element by element";
  let description = [{
    Asks Fit/Types.def, which holds what the vendor's tools answered. Offsets and
    masks that are folded into transfers are no data and are not asked.

    ```mlir
    tt.func @k(%p: tensor<8x!tt.ptr<i64>>) {
      %x = tt.load %p : tensor<8x!tt.ptr<i64>>
      %y = arith.addi %x, %x : tensor<8xi64>
      tt.store %p, %y : tensor<8x!tt.ptr<i64>>
      tt.return
    }
    // reports: [type_scalar] + of blocks of i64
    ```
  }];
}

#endif // NEREID_TARGET_ASCEND_PASSES_TD
