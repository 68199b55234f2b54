// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Dialect/TritonGPU/IR/TritonGPU.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

/// `all`, or names joined by bars.
static ParseResult parseSpaces(OpAsmParser &parser, StringAttr &spaces) {
  std::string text;
  do {
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    text += (text.empty() ? "" : "|") + name.str();
  } while (succeeded(parser.parseOptionalVerticalBar()));
  spaces = parser.getBuilder().getStringAttr(text);
  return success();
}

static void printSpaces(OpAsmPrinter &printer, Operation *, StringAttr spaces) {
  printer << spaces.getValue();
}

#include "nereid/Dialect/TritonGPU/IR/TritonGPUDialect.cpp.inc"

#define GET_OP_CLASSES
#include "nereid/Dialect/TritonGPU/IR/TritonGPUOps.cpp.inc"

void nereid::ttg::TritonGPUDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "nereid/Dialect/TritonGPU/IR/TritonGPUOps.cpp.inc"
      >();
}
