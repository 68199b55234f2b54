// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of builtins itself: names, parameters, documentation, matching of
// arguments.
#include "Fixture.h"

#include <set>

using namespace nereid;
using namespace nereid::frontend;

namespace {

class TableTest : public SemanticTest {};

TEST_F(TableTest, RowsAreComplete) {
  std::set<std::string> seen;
  for (const BuiltinInfo *info : allBuiltins()) {
    std::string name = std::string(info->module) + "." + info->name;
    EXPECT_TRUE(seen.insert(name).second) << name << " twice";
    EXPECT_GT(std::string(info->doc).size(), 8u) << name;
    EXPECT_NE(info->rule, nullptr) << name;
    EXPECT_EQ(findBuiltin(info->module, info->name), info) << name;
    bool optional = false;
    for (const Parameter &parameter : parameters(*info)) {
      EXPECT_FALSE(parameter.name.empty()) << name;
      EXPECT_FALSE(optional && !parameter.hasDefault && !parameter.isKeywordOnly)
          << name << ": " << parameter.name;
      optional |= parameter.hasDefault;
    }
    if (info->isMethod) {
      EXPECT_NE(findMethod(info->name), nullptr) << name;
      EXPECT_FALSE(parameters(*info).empty()) << name;
    }
  }
}

TEST_F(TableTest, NamesOfTheLanguage) {
  const char *const names[] = {"program_id",
                               "num_programs",
                               "arange",
                               "full",
                               "zeros",
                               "zeros_like",
                               "cast",
                               "to_tensor",
                               "broadcast",
                               "broadcast_to",
                               "expand_dims",
                               "reshape",
                               "view",
                               "ravel",
                               "permute",
                               "trans",
                               "join",
                               "split",
                               "interleave",
                               "cat",
                               "squeeze",
                               "unsqueeze",
                               "dot",
                               "dot_scaled",
                               "load",
                               "store",
                               "make_block_ptr",
                               "advance",
                               "make_tensor_descriptor",
                               "load_tensor_descriptor",
                               "store_tensor_descriptor",
                               "where",
                               "gather",
                               "flip",
                               "swizzle2d",
                               "exp",
                               "exp2",
                               "log",
                               "log2",
                               "sin",
                               "cos",
                               "sqrt",
                               "rsqrt",
                               "erf",
                               "floor",
                               "ceil",
                               "sqrt_rn",
                               "div_rn",
                               "abs",
                               "fdiv",
                               "fma",
                               "umulhi",
                               "maximum",
                               "minimum",
                               "clamp",
                               "add",
                               "sub",
                               "mul",
                               "cdiv",
                               "sigmoid",
                               "softmax",
                               "reduce",
                               "sum",
                               "max",
                               "min",
                               "argmax",
                               "argmin",
                               "xor_sum",
                               "reduce_or",
                               "associative_scan",
                               "cumsum",
                               "cumprod",
                               "histogram",
                               "atomic_add",
                               "atomic_max",
                               "atomic_min",
                               "atomic_and",
                               "atomic_or",
                               "atomic_xor",
                               "atomic_xchg",
                               "atomic_cas",
                               "atomic_poll",
                               "range",
                               "static_range",
                               "condition",
                               "multiple_of",
                               "max_contiguous",
                               "max_constancy",
                               "assume",
                               "debug_barrier",
                               "static_print",
                               "static_assert",
                               "device_print",
                               "device_assert",
                               "inline_asm_elementwise",
                               "pointer_type",
                               "constexpr"};
  for (const char *name : names)
    EXPECT_NE(findBuiltin("tl", name), nullptr) << name;
  for (const char *name :
       {"to", "sum", "load", "store", "trans", "reshape", "atomic_add", "exp", "advance", "item"})
    EXPECT_NE(findMethod(name), nullptr) << name;
  EXPECT_EQ(findMethod("arange"), nullptr);
  EXPECT_EQ(findBuiltin("tl", "no_such_function"), nullptr);
}

TEST_F(TableTest, Constants) {
  EXPECT_EQ(findConstant("tl", "float32")->as<Type>().str(), "fp32");
  EXPECT_EQ(findConstant("tl", "pi32_t")->as<Type>().str(), "pointer<int32>");
  EXPECT_EQ(findConstant("tl", "TRITON_MAX_TENSOR_NUMEL")->as<Int>(), Int(1048576));
  EXPECT_FALSE(findConstant("tl", "float31"));
  for (const char *module : {"tl", "tl.PropagateNan", "libshmem_device"}) {
    std::vector<std::string> names = constantNames(module);
    EXPECT_FALSE(names.empty());
    for (const std::string &name : names)
      EXPECT_TRUE(findConstant(module, name)) << name;
  }
}

TEST_F(TableTest, Defaults) {
  const BuiltinInfo *load = findBuiltin("tl", "load");
  llvm::ArrayRef<Parameter> params = parameters(*load);
  ASSERT_EQ(params.size(), 9u);
  EXPECT_FALSE(params[0].hasDefault);
  EXPECT_TRUE(params[1].defaultValue.isNone());
  EXPECT_TRUE(params[3].defaultValue.is<Tuple>());
  EXPECT_EQ(params[5].defaultValue.as<std::string>(), "");
  EXPECT_EQ(params[7].defaultValue.as<bool>(), false);
  llvm::ArrayRef<Parameter> print = parameters(*findBuiltin("tl", "static_print"));
  EXPECT_TRUE(print[0].isVariadic);
  EXPECT_TRUE(print[1].isKeywordOnly);
  EXPECT_EQ(print[2].defaultValue.as<std::string>(), "\n");
  EXPECT_EQ(parameters(*findBuiltin("dl", "rank"))[0].defaultValue.as<Int>(), Int(-1));
}

TEST_F(TableTest, Binding) {
  expectError(Diag::missing_argument, "is missing the argument 'other'",
              [&] { tl("dot", {block({4, 4}, fp32)}); });
  expectError(Diag::unknown_keyword, "no parameter 'msk'",
              [&] { tl("load", {pointer(fp32)}, {{"msk", true}}); });
  expectError(Diag::doubled_argument, "'mask' twice",
              [&] { tl("load", {pointer(fp32), true}, {{"mask", true}}); });
  expectError(Diag::surplus_argument, "at most 2 positional arguments, but got 3",
              [&] { tl("arange", {Int(0), Int(4), Int(8)}); });
  EXPECT_EQ(last.range.column, 40u) << "the caret is under the third argument";
}

} // namespace
