// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_TRITON_DIALECT_TD
#define NEREID_TRITON_DIALECT_TD

include "mlir/IR/DialectBase.td"

def Triton_Dialect : Dialect {
  let name = "tt";
  let cppNamespace = "::nereid::tt";
  let summary = "Tile programs, text-compatible with Triton's TTIR";
  let description = [{
    What a kernel says about tiles: pointers, blocks of pointers, loads and
    stores under masks, shape operations, reductions, `dot`, atomics. A program
    is one call of the module's public `tt.func`; values are scalars or
    statically shaped tensors. Element-wise arithmetic comes from `arith` and
    `math`, control flow from `scf` and `cf`.

    The textual form equals that of upstream Triton for the operations both
    have, so that kernels can be handed to the stock code generator and TTIR
    dumps can be read. The definitions and their semantics are our own;
    docs/dialects.md lists the differences. The largest: a tensor dimension may
    have any positive size, not only a power of two.

    ```
        language front end            stock TTIR dumps
                 \                      /
                  tt + arith + math + scf        <- this dialect
                 /          |          \
             cpu tiles    nvidia      ascend
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::cf::ControlFlowDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerTypes();

    /// Which reader the text is printed for. Types and cache hints are written
    /// differently by the versions of upstream Triton; all forms are read.
    enum class TextForm { Nereid, Triton36, Triton39 };
    TextForm getTextForm() const { return textForm; }
    void setTextForm(TextForm form) { textForm = form; }

  private:
    TextForm textForm = TextForm::Nereid;

  public:
  }];
}

#endif // NEREID_TRITON_DIALECT_TD
