// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Fixture.h"

using namespace nereid;
using namespace nereid::frontend;

namespace {

class TypeTest : public SemanticTest {
protected:
  std::string lowered(const Type &type) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    type.lower(&context).print(stream);
    return text;
  }
};

TEST_F(TypeTest, Names) {
  EXPECT_EQ(Type(fp32).str(), "fp32");
  EXPECT_EQ(Type::pointer(fp16).str(), "pointer<fp16>");
  EXPECT_EQ(Type::block({128, 64}, fp32).str(), "fp32[128, 64]");
  EXPECT_EQ(Type::block({4}, Type::pointer(i64)).str(), "pointer<int64>[4]");
  EXPECT_EQ(Type::blockPointer({4, 2}, bf16).str(), "pointer<bf16[4, 2]>");
  EXPECT_EQ(Type::descriptor({8, 8}, fp16).str(), "tensor_descriptor<fp16[8, 8]>");
}

TEST_F(TypeTest, Lowering) {
  EXPECT_EQ(lowered(Type::pointer(fp32)), "!tt.ptr<f32>");
  EXPECT_EQ(lowered(Type::pointer(i1)), "!tt.ptr<i8>") << "int1 is a byte in memory";
  EXPECT_EQ(lowered(Type::pointer(u16, 3)), "!tt.ptr<i16, 3>");
  EXPECT_EQ(lowered(Type::block({4}, i1)), "tensor<4xi1>");
  EXPECT_EQ(lowered(Type::block({4, 8}, Type::pointer(bf16))), "tensor<4x8x!tt.ptr<bf16>>");
  EXPECT_EQ(lowered(Type::blockPointer({4, 8}, fp16)), "!tt.ptr<tensor<4x8xf16>>");
  EXPECT_EQ(lowered(Type::descriptor({4, 8}, fp16)), "!tt.tensordesc<4x8xf16>");
  EXPECT_EQ(lowered(Type(fp8e4)), "f8E4M3FN");
  EXPECT_EQ(lowered(Type(Scalar::Fp8E5B16)), "f8E5M2FNUZ");
  EXPECT_EQ(lowered(Type(u64)), "i64");
}

TEST_F(TypeTest, Parse) {
  EXPECT_EQ(Type::parse("*fp16")->str(), "pointer<fp16>");
  EXPECT_EQ(Type::parse("*ki32")->str(), "const_pointer<int32>");
  EXPECT_TRUE(Type::parse("*ki32")->isConstPointer());
  EXPECT_EQ(Type::parse("const *fp32")->str(), "const_pointer<fp32>");
  EXPECT_EQ(Type::parse("u1")->str(), "int1");
  EXPECT_EQ(Type::parse("i1")->str(), "int1");
  EXPECT_EQ(Type::parse("u8")->str(), "uint8");
  EXPECT_EQ(Type::parse("**i64")->str(), "pointer<pointer<int64>>");
  EXPECT_EQ(Type::parse("fp8e4nv")->str(), "fp8e4nv");
  EXPECT_EQ(Type::parse("float8e5")->str(), "fp8e5");
  EXPECT_EQ(Type::parse("bfloat16")->str(), "bf16");
  EXPECT_FALSE(Type::parse("int7"));
  EXPECT_FALSE(Type::parse("*"));
  EXPECT_FALSE(Type::parse("const i32"));
}

TEST_F(TypeTest, Equality) {
  EXPECT_EQ(Type::block({4}, i32), Type::block({4}, i32));
  EXPECT_NE(Type::block({4}, i32), Type::block({4}, u32));
  EXPECT_NE(Type::pointer(fp32), Type::pointer(fp32, 1, true));
  EXPECT_NE(Type::block({4}, i32), Type::blockPointer({4}, i32));
  EXPECT_EQ(Type::block({4, 2}, i32).withElement(fp16), Type::block({4, 2}, fp16));
  EXPECT_EQ(Type(fp16).withElement(i8), Type(i8));
  EXPECT_TRUE(Type(i1).isUnsigned());
  EXPECT_FALSE(Type(i1).isSigned());
}

TEST_F(TypeTest, PythonText) {
  EXPECT_EQ(pythonText(Int(-12)), "-12");
  EXPECT_EQ(pythonText(Int(1) << 100), "1267650600228229401496703205376");
  EXPECT_EQ(pythonText(1.0), "1.0");
  EXPECT_EQ(pythonText(0.1), "0.1");
  EXPECT_EQ(pythonText(1e20), "1e+20");
  EXPECT_EQ(pythonText(true), "True");
  EXPECT_EQ(pythonText(std::string("a'b")), "a'b");
  EXPECT_EQ(pythonText(std::string("a'b"), true), "\"a'b\"");
  EXPECT_EQ(pythonText(tuple({Int(1)})), "(1,)");
  EXPECT_EQ(pythonText(tuple({Int(1), std::string("x")})), "(1, 'x')");
}

TEST_F(TypeTest, Descriptions) {
  EXPECT_EQ(Value(value(i32)).describe(), "int32 scalar");
  EXPECT_EQ(Value(block({128, 64}, fp16)).describe(), "fp16[128, 64] block");
  EXPECT_EQ(Value(value(Type::blockPointer({4, 2}, bf16))).describe(),
            "block pointer to bf16[4, 2]");
  EXPECT_EQ(Value(Int(3)).describe(), "constexpr 3");
  EXPECT_EQ(Value(std::string("x")).describe(), "constexpr 'x'");
  EXPECT_EQ(Value().describe(), "None");
  EXPECT_EQ(Value(Builtin{findBuiltin("tl", "load")}).describe(), "function tl.load");
  EXPECT_EQ(findConstant("libshmem_device", "NVSHMEM_CMP_GE")->describe(),
            "constant NVSHMEM_CMP_GE");
}

TEST_F(TypeTest, Locations) {
  semantic.callStack = {at(3, 7)};
  Tensor x = semantic.toTensor(Int(1), at(9, 2));
  auto call = mlir::dyn_cast<mlir::CallSiteLoc>(x.handle.getLoc());
  ASSERT_TRUE(call);
  auto callee = mlir::dyn_cast<mlir::FileLineColRange>(call.getCallee());
  auto caller = mlir::dyn_cast<mlir::FileLineColRange>(call.getCaller());
  ASSERT_TRUE(callee && caller);
  EXPECT_EQ(callee.getStartLine(), 9u);
  EXPECT_EQ(callee.getStartColumn(), 2u);
  EXPECT_EQ(caller.getStartLine(), 3u);
  EXPECT_EQ(callee.getFilename().getValue(), "kernel.py");
}

} // namespace
