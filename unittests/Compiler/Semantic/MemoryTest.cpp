// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Fixture.h"

using namespace nereid;
using namespace nereid::frontend;

namespace {

class MemoryTest : public SemanticTest {};

TEST_F(MemoryTest, Loads) {
  expectType(tl("load", {pointer(fp32)}), fp32);
  expectType(tl("load", {pointers({8}, fp16)}), Type::block({8}, fp16));
  expectType(tl("load", {pointers({8}, fp16), None{}}), Type::block({8}, fp16));
  expectType(tl("load", {pointers({8, 4}, i64), block({8, 1}, i1)}, {{"other", Int(-1)}}),
             Type::block({8, 4}, i64));
  expectType(tl("load", {pointers({8}, i1)}), Type::block({8}, i1));
  expectType(tl("load", {pointer(u8), value(i1), value(i32)}), u8);
  expectType(tl("load", {pointers({8}, i32), block({8}, i1), 0.0}), Type::block({8}, i32));
  expectIR({"tt.load", "dense<-1> : tensor<8x4xi64>", "arith.fptosi"});
}

TEST_F(MemoryTest, MaskedLoadReadsZero) {
  tl("load", {pointers({8}, fp16), block({8}, i1)});
  expectIR({"dense<0.000000e+00> : tensor<8xf16>", "tt.load %arg0, %arg1, %cst"});
}

TEST_F(MemoryTest, CarePadding) {
  tl("load", {pointers({8}, fp16), block({8}, i1)}, {{"care_padding", false}});
  expectIR({"tt.load %arg0, %arg1 :"});
}

TEST_F(MemoryTest, Hints) {
  tl("load", {pointer(i32)},
     {{"volatile", true},
      {"cache_modifier", std::string(".cg")},
      {"eviction_policy", std::string("evict_first")}});
  tl("store", {pointer(i32), Int(1)}, {{"cache_modifier", std::string(".wt")}});
  expectIR({"cacheModifier = cg evictionPolicy = evict_first {isVolatile = true}",
            "cacheModifier = wt"});
  Tensor p = pointer(i32);
  expectError(Diag::bad_string, "'.ca', '.cg', '.cs', '.cv'",
              [&] { tl("load", {p}, {{"cache_modifier", std::string(".xx")}}); });
  expectError(Diag::bad_string, "'.wb', '.cg', '.cs', '.wt'",
              [&] { tl("store", {p, Int(1)}, {{"cache_modifier", std::string(".ca")}}); });
  expectError(Diag::bad_string, "evict_last",
              [&] { tl("load", {p}, {{"eviction_policy", std::string("never")}}); });
}

TEST_F(MemoryTest, LoadErrors) {
  Tensor p = pointer(fp32), ps = pointers({8}, fp32);
  expectError(Diag::not_a_pointer, "int32 scalar", [&] { tl("load", {value(i32)}); });
  expectError(Diag::other_without_mask, "without a mask", [&] { tl("load", {ps, None{}, 0.0}); });
  expectError(Diag::scalar_pointer_block, "add a block of offsets",
              [&] { tl("load", {p, block({8}, i1)}); });
  expectError(Diag::mask_not_bool, "offsets < n", [&] { tl("load", {ps, block({8}, fp32)}); });
  expectError(Diag::broadcast_mismatch, "mask of tl.load",
              [&] { tl("load", {ps, block({9}, i1)}); });
  expectError(Diag::boundary_without_block_pointer, "boundary_check",
              [&] { tl("load", {ps}, {{"boundary_check", shape({0})}}); });
}

TEST_F(MemoryTest, Stores) {
  tl("store", {pointer(fp32), 1.5});
  tl("store", {pointers({8}, fp16), block({8}, fp32)});
  tl("store", {pointers({8, 4}, i8), block({4}, i32), block({8, 1}, i1)});
  tl("store", {pointers({8}, i1), block({8}, i1)});
  tl("store", {pointers({8}, fp32), Int(0), true});
  expectIR({"tt.store", "arith.truncf", "arith.extui", "tt.broadcast"});
  Tensor p = pointer(fp32), ps = pointers({8}, fp32);
  expectError(Diag::scalar_pointer_block, "'value' of tl.store",
              [&] { tl("store", {p, block({8}, fp32)}); });
  expectError(Diag::store_shape, "pointers of shape [8]",
              [&] { tl("store", {ps, block({4, 8}, fp32)}); });
  expectError(Diag::store_const, "tl.const",
              [&] { tl("store", {value(Type::pointer(fp32, 1, true)), 1.0}); });
  expectError(Diag::not_a_pointer, "tl.store", [&] { tl("store", {value(i32), Int(1)}); });
}

TEST_F(MemoryTest, BlockPointers) {
  Value p =
      tl("make_block_ptr", {pointer(fp16), tuple({value(i32), Int(64)}), tuple({Int(64), Int(1)}),
                            tuple({value(i64), Int(0)}), shape({16, 20}), shape({1, 0})});
  expectType(p, Type::blockPointer({16, 20}, fp16));
  expectType(tl("advance", {p, tuple({Int(0), value(i32)})}), Type::blockPointer({16, 20}, fp16));
  expectType(tl("load", {p}), Type::block({16, 20}, fp16));
  expectType(tl("load", {p}, {{"boundary_check", shape({1, 0})}}), Type::block({16, 20}, fp16));
  expectType(
      tl("load", {p}, {{"boundary_check", shape({0})}, {"padding_option", std::string("nan")}}),
      Type::block({16, 20}, fp16));
  tl("store", {p, block({16, 20}, fp32)}, {{"boundary_check", shape({0, 1})}});
  expectIR({"tt.make_tensor_ptr", "order = array<i32: 1, 0>", "tt.advance",
            "boundaryCheck = array<i32: 0, 1>", "padding = 1", "padding = 2", "arith.extsi",
            "arith.trunci"});
  expectError(Diag::block_pointer_mask, "not 'mask'",
              [&] { tl("load", {p, block({16, 20}, i1)}); });
  expectError(Diag::boundary_check_invalid, "dimension 2",
              [&] { tl("load", {p}, {{"boundary_check", shape({2})}}); });
  expectError(Diag::boundary_check_invalid, "twice",
              [&] { tl("load", {p}, {{"boundary_check", shape({0, 0})}}); });
  expectError(Diag::bad_string, "'zero', 'nan'", [&] {
    tl("load", {p}, {{"boundary_check", shape({0})}, {"padding_option", std::string("one")}});
  });
  expectError(Diag::block_pointer_rank, "offsets of rank 1",
              [&] { tl("advance", {p, tuple({Int(1)})}); });
  expectError(Diag::argument_kind, "a block pointer",
              [&] { tl("advance", {pointer(fp32), tuple({Int(1)})}); });
  expectError(Diag::block_pointer_rank, "strides of rank 1", [&] {
    tl("make_block_ptr",
       {pointer(fp16), shape({8, 8}), shape({8}), shape({0, 0}), shape({4, 4}), shape({1, 0})});
  });
  Value ints = tl("make_block_ptr",
                  {pointer(i32), shape({8}), shape({1}), shape({0}), shape({4}), shape({0})});
  expectError(Diag::padding_nan_integer, "int32", [&] {
    tl("load", {ints}, {{"boundary_check", shape({0})}, {"padding_option", std::string("nan")}});
  });
}

TEST_F(MemoryTest, Descriptors) {
  Value d = tl("make_tensor_descriptor", {pointer(fp16), tuple({value(i32), value(i64)}),
                                          tuple({value(i32), Int(1)}), shape({16, 24})});
  expectType(d, Type::descriptor({16, 24}, fp16));
  auto method = [&](const char *name, std::vector<Value> args) {
    args.insert(args.begin(), d);
    return call("descriptor", name, args);
  };
  expectType(method("load", {tuple({value(i32), Int(0)})}), Type::block({16, 24}, fp16));
  method("store", {tuple({Int(0), Int(0)}), block({16, 24}, fp32)});
  method("atomic_add", {tuple({Int(0), Int(0)}), block({16, 24}, fp16)});
  EXPECT_EQ(pythonText(*semantic.attribute(d, "block_shape", range)), "(16, 24)");
  EXPECT_EQ(semantic.attribute(d, "dtype", range)->as<Type>().str(), "fp16");
  EXPECT_EQ(semantic.attribute(d, "shape", range)->as<Tuple>().items.size(), 2u);
  EXPECT_EQ(semantic.attribute(d, "load", range)->as<BoundMethod>().info,
            findBuiltin("descriptor", "load"));
  Value rows =
      tl("make_tensor_descriptor", {pointer(fp32), shape({64, 64}), shape({64, 1}), shape({1, 8})});
  expectType(call("descriptor", "gather", {rows, block({4}, i32), Int(8)}),
             Type::block({4, 8}, fp32));
  call("descriptor", "scatter", {rows, block({4, 8}, fp32), block({4}, i32), Int(8)});
  expectIR({"tt.make_tensor_descriptor", "tt.descriptor_load", "tt.descriptor_store",
            "tt.descriptor_reduce add", "tt.descriptor_gather", "tt.descriptor_scatter"});
  expectError(Diag::descriptor_rank, "offsets has 1 entries",
              [&] { method("load", {tuple({Int(0)})}); });
  expectError(Diag::descriptor_invalid, "the last stride", [&] {
    tl("make_tensor_descriptor",
       {pointer(fp16), shape({8, 8}), tuple({Int(8), value(i32)}), shape({8, 8})});
  });
  expectError(Diag::descriptor_invalid, "at least 16", [&] {
    tl("make_tensor_descriptor", {pointer(fp16), shape({8, 8}), shape({8, 1}), shape({8, 4})});
  });
  expectError(Diag::descriptor_invalid, "blocks of one row",
              [&] { method("gather", {block({4}, i32), Int(0)}); });
  expectError(Diag::atomic_dtype, "integers only",
              [&] { method("atomic_and", {tuple({Int(0), Int(0)}), block({16, 24}, fp16)}); });
  expectError(Diag::descriptor_invalid, "make_tensor_descriptor made it",
              [&] { semantic.attribute(value(Type::descriptor({4, 8}, fp32)), "shape", range); });
  expectError(Diag::not_a_pointer, "desc.load", [&] { tl("load", {d}); });
}

TEST_F(MemoryTest, DebugAndHints) {
  Tensor x = block({8}, i32);
  tl("multiple_of", {semantic.binary(BinaryOp::Add, x, Int(1), range), Int(16)});
  tl("max_contiguous", {semantic.binary(BinaryOp::Add, x, Int(2), range), tuple({Int(8)})});
  Tensor n = value(i32);
  tl("multiple_of", {n, Int(8)});
  tl("assume", {semantic.compare(CompareOp::Gt, n, Int(0), range)});
  tl("debug_barrier", {});
  tl("device_print", {std::string("x"), x, n}, {{"hex", true}});
  call("python", "print", {std::string("value"), Int(3), n});
  tl("device_assert", {value(i1), std::string("off")});
  expectIR({"tt.divisibility = dense<16>", "tt.contiguity = dense<8>", "tt.divisibility = 8 : i32",
            "llvm.intr.assume", "tt.debug_barrier",
            "tt.print \" x: \" {hex = true, isSigned = array<i32: 1, 1>}",
            "tt.print \" value 3: \""});
  expectNoIR("tt.assert");
  options.debug = true;
  tl("device_assert", {block({8}, i1), std::string("off"), block({8}, i1)});
  expectIR({"tt.assert", "\"off\""});
  expectError(Diag::hint_values, "2 values",
              [&] { tl("multiple_of", {x, tuple({Int(1), Int(2)})}); });
  expectError(Diag::print_prefix, "ASCII", [&] { tl("device_print", {std::string("\xc3\xa9")}); });
  tl("static_assert", {true});
  expectError(Diag::static_assert_failed, "static assertion failed: BLOCK too small",
              [&] { tl("static_assert", {false, std::string("BLOCK too small")}); });
  expectError(Diag::static_assert_kind, "tl.device_assert",
              [&] { tl("static_assert", {value(i1)}); });
  expectType(tl("inline_asm_elementwise",
                {std::string("nop"), std::string("=r,r"), tuple({x}), Type(i32), true, Int(1)}),
             Type::block({8}, i32));
  expectError(Diag::not_supported_yet, "for i in tl.range", [&] { tl("range", {Int(4)}); });
}

} // namespace
