// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nereid-opt: reads IR, runs passes and pipelines by name, prints IR.
#include "nereid/Registry/Registry.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  nereid::registerAllDialects(registry);
  nereid::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Nereid optimizer driver\n", registry));
}
