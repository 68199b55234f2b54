// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How tiles progress along their dimensions.
#include "nereid/Analysis/TileStrides.h"

#include "nereid/Dialect/Distributed/IR/Distributed.h"
#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace nereid;

namespace {

class TileStridesTest : public ::testing::Test {
protected:
  TileStridesTest() {
    context.loadDialect<tt::TritonDialect, distributed::DistributedDialect, arith::ArithDialect>();
  }

  /// Strides of the result of the last operation before the return.
  std::string strides(const std::string &body) {
    std::string text = "tt.func @f(%p: !tt.ptr<f32>, %n: i32, %m: i32, %w: i64, %t: i32) {\n"
                       "%r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>\n"
                       "%s = tt.splat %n : i32 -> tensor<8xi32>\n" +
                       body + "\ntt.return }";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    tt::FuncOp function = *module->getOps<tt::FuncOp>().begin();
    Operation *last = function.getBody().front().getTerminator()->getPrevNode();
    TileStrides analysis;
    std::string result;
    auto type = cast<RankedTensorType>(last->getResult(0).getType());
    for (int64_t d = 0; d < type.getRank(); ++d) {
      TileStride stride = analysis.get(last->getResult(0), d);
      result += d ? " " : "";
      result += stride.isConstant()                 ? std::to_string(stride.value)
                : stride.kind == TileStride::Linear ? "linear"
                                                    : "unknown";
    }
    return result;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(TileStridesTest, Ranges) {
  EXPECT_EQ(strides("%a = arith.addi %r, %s : tensor<8xi32>"), "1");
  EXPECT_EQ(strides("%a = arith.subi %s, %r : tensor<8xi32>"), "-1");
  EXPECT_EQ(
      strides(
          "%c = arith.constant dense<6> : tensor<8xi32>\n%a = arith.muli %c, %r : tensor<8xi32>"),
      "6");
  EXPECT_EQ(
      strides(
          "%c = arith.constant dense<3> : tensor<8xi32>\n%a = arith.shli %r, %c : tensor<8xi32>"),
      "8");
  EXPECT_EQ(strides("%a = arith.muli %r, %s : tensor<8xi32>"), "linear");
  EXPECT_EQ(strides("%a = arith.muli %r, %r : tensor<8xi32>"), "unknown");
  EXPECT_EQ(strides("%a = arith.muli %s, %s : tensor<8xi32>"), "0");
  EXPECT_EQ(strides("%a = arith.remsi %r, %s : tensor<8xi32>"), "unknown");
  EXPECT_EQ(
      strides("%a = arith.remsi %r, %s {tt.contiguity = dense<8> : tensor<1xi32>} : tensor<8xi32>"),
      "1");
  EXPECT_EQ(
      strides("%a = arith.remsi %r, %s {tt.contiguity = dense<4> : tensor<1xi32>} : tensor<8xi32>"),
      "unknown");
}

TEST_F(TileStridesTest, Casts) {
  EXPECT_EQ(strides("%a = arith.extsi %r : tensor<8xi32> to tensor<8xi64>"), "1");
  EXPECT_EQ(strides("%a = arith.extui %r : tensor<8xi32> to tensor<8xi64>"), "1");
  // A negative start would wrap.
  EXPECT_EQ(strides("%b = arith.addi %r, %s : tensor<8xi32>\n%a = arith.extui %b : tensor<8xi32> "
                    "to tensor<8xi64>"),
            "unknown");
  EXPECT_EQ(strides("%b = arith.trunci %r : tensor<8xi32> to tensor<8xi8>\n"
                    "%a = arith.extsi %b : tensor<8xi8> to tensor<8xi32>"),
            "unknown");
  EXPECT_EQ(strides("%b = arith.cmpi slt, %r, %s : tensor<8xi32>\n"
                    "%a = arith.extui %b : tensor<8xi1> to tensor<8xi32>"),
            "unknown");
}

TEST_F(TileStridesTest, Shapes) {
  const std::string two =
      "%e = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>\n"
      "%c = tt.expand_dims %r {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>\n"
      "%ms = tt.splat %m : i32 -> tensor<8x1xi32>\n%x = arith.muli %e, %ms : tensor<8x1xi32>\n"
      "%eb = tt.broadcast %x : tensor<8x1xi32> -> tensor<8x8xi32>\n"
      "%cb = tt.broadcast %c : tensor<1x8xi32> -> tensor<8x8xi32>\n"
      "%o = arith.addi %eb, %cb : tensor<8x8xi32>\n";
  EXPECT_EQ(strides(two), "linear 1");
  EXPECT_EQ(
      strides(two +
              "%q = tt.trans %o {order = array<i32: 1, 0>} : tensor<8x8xi32> -> tensor<8x8xi32>"),
      "1 linear");
  EXPECT_EQ(strides(two + "%ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x8x!tt.ptr<f32>>\n"
                          "%q = tt.addptr %ps, %o : tensor<8x8x!tt.ptr<f32>>, tensor<8x8xi32>"),
            "linear 1");
  EXPECT_EQ(strides(two + "%q = arith.remsi %eb, %o : tensor<8x8xi32>"), "unknown unknown");
  EXPECT_EQ(strides(two + "%q = arith.divsi %eb, %eb : tensor<8x8xi32>"), "unknown 0");
}

TEST_F(TileStridesTest, Reshapes) {
  const std::string long_ =
      "%l = tt.make_range {end = 24 : i32, start = 0 : i32} : tensor<24xi32>\n";
  EXPECT_EQ(strides(long_ + "%a = tt.reshape %l : tensor<24xi32> -> tensor<4x6xi32>"), "6 1");
  EXPECT_EQ(strides(long_ + "%a = tt.reshape %l : tensor<24xi32> -> tensor<2x3x4xi32>"), "12 4 1");
  EXPECT_EQ(strides(long_ + "%b = tt.reshape %l : tensor<24xi32> -> tensor<4x6xi32>\n"
                            "%a = tt.reshape %b : tensor<4x6xi32> -> tensor<24xi32>"),
            "1");
  // Dimensions that are cut unevenly.
  EXPECT_EQ(
      strides(long_ +
              "%b = tt.reshape %l : tensor<24xi32> -> tensor<4x6xi32>\n"
              "%v = tt.trans %b {order = array<i32: 1, 0>} : tensor<4x6xi32> -> tensor<6x4xi32>\n"
              "%a = tt.reshape %v : tensor<6x4xi32> -> tensor<3x8xi32>"),
      "2 unknown");
}

TEST_F(TileStridesTest, Signs) {
  strides("%a = arith.addi %r, %s : tensor<8xi32>");
  tt::FuncOp function = *module->getOps<tt::FuncOp>().begin();
  TileStrides analysis;
  for (Operation &op : function.getBody().front())
    if (isa<tt::MakeRangeOp>(op))
      EXPECT_TRUE(analysis.isNonNegative(op.getResult(0)));
    else if (op.getNumResults())
      EXPECT_FALSE(analysis.isNonNegative(op.getResult(0)));
}

} // namespace
