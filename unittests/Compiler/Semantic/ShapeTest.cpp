// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Fixture.h"

using namespace nereid;
using namespace nereid::frontend;

namespace {

class ShapeTest : public SemanticTest {};

TEST_F(ShapeTest, Creation) {
  expectType(tl("arange", {Int(0), Int(20)}), Type::block({20}, i32));
  expectType(tl("full", {shape({4, 8}), Int(3), Type(fp16)}), Type::block({4, 8}, fp16));
  expectType(tl("full", {shape({}), 1.0, Type(fp32)}), fp32);
  expectType(tl("full", {shape({4}), value(i32), Type(fp32)}), Type::block({4}, fp32));
  expectType(tl("zeros", {shape({3, 5}), Type(i1)}), Type::block({3, 5}, i1));
  expectType(tl("zeros", {tuple({Int(7)}), Type(fp8e5)}), Type::block({7}, fp8e5));
  expectType(tl("zeros_like", {block({9}, bf16)}), Type::block({9}, bf16));
  expectIR({"tt.make_range {end = 20 : i32, start = 0 : i32}",
            "dense<3.000000e+00> : tensor<4x8xf16>", "dense<false> : tensor<3x5xi1>", "tt.splat"});
}

TEST_F(ShapeTest, CreationErrors) {
  expectError(Diag::arange_empty, "greater than the start",
              [&] { tl("arange", {Int(4), Int(4)}); });
  expectError(Diag::arange_range, "4294967296", [&] { tl("arange", {Int(0), Int(1) << 32}); });
  expectError(Diag::not_constexpr, "argument 'end' of tl.arange",
              [&] { tl("arange", {Int(0), value(i32)}); });
  expectError(Diag::block_too_large, "1048576",
              [&] { tl("zeros", {shape({2048, 1024}), Type(fp32)}); });
  expectError(Diag::shape_not_positive, "size 0 in shape [4, 0]",
              [&] { tl("zeros", {shape({4, 0}), Type(fp32)}); });
  expectError(Diag::number_out_of_range, "int8",
              [&] { tl("full", {shape({4}), Int(1000), Type(i8)}); });
  expectError(Diag::argument_kind, "a number or a scalar",
              [&] { tl("full", {shape({4}), block({4}, i32), Type(i32)}); });
  expectError(Diag::constexpr_kind, "a tuple of integers",
              [&] { tl("zeros", {tuple({1.5}), Type(fp32)}); });
  expectError(Diag::not_constexpr, "'shape' of tl.zeros",
              [&] { tl("zeros", {tuple({value(i32)}), Type(fp32)}); });
}

TEST_F(ShapeTest, ProgramModel) {
  expectType(tl("program_id", {Int(0)}), i32);
  expectType(tl("num_programs", {}, {{"axis", Int(2)}}), i32);
  expectIR({"tt.get_program_id x : i32", "tt.get_num_programs z : i32"});
  expectError(Diag::program_axis, "axes 0, 1 and 2", [&] { tl("program_id", {Int(3)}); });
  expectError(Diag::not_constexpr, "'axis'", [&] { tl("program_id", {value(i32)}); });
}

TEST_F(ShapeTest, Reshaping) {
  Tensor x = block({4, 6}, fp32);
  expectType(tl("reshape", {x, shape({24})}), Type::block({24}, fp32));
  expectType(tl("reshape", {x, Int(2), Int(12)}), Type::block({2, 12}, fp32));
  expectType(tl("view", {x, Int(24)}), Type::block({24}, fp32));
  expectType(tl("ravel", {x}), Type::block({24}, fp32));
  expectType(tl("reshape", {block({1, 1}, i32), tuple({})}), i32);
  expectType(tl("permute", {x, Int(1), Int(0)}), Type::block({6, 4}, fp32));
  expectType(tl("permute", {x, shape({-1, 0})}), Type::block({6, 4}, fp32));
  expectType(tl("trans", {x}), Type::block({6, 4}, fp32));
  expectType(tl("trans", {block({2, 3, 4}, i8)}), Type::block({2, 4, 3}, i8));
  expectType(tl("expand_dims", {x, Int(0)}), Type::block({1, 4, 6}, fp32));
  expectType(tl("expand_dims", {x, Int(-1)}), Type::block({4, 6, 1}, fp32));
  expectType(tl("expand_dims", {x, shape({0, 2})}), Type::block({1, 4, 1, 6}, fp32));
  expectType(tl("unsqueeze", {x, Int(1)}), Type::block({4, 1, 6}, fp32));
  expectType(tl("squeeze", {block({4, 1}, i32), Int(1)}), Type::block({4}, i32));
  expectType(tl("broadcast_to", {block({4, 1}, i32), Int(4), Int(6)}), Type::block({4, 6}, i32));
  expectType(tl("broadcast_to", {value(i32), shape({3, 3})}), Type::block({3, 3}, i32));
  expectType(call("tensor", "item", {block({1}, fp16)}), fp16);
  expectIR({"tt.reshape", "tt.trans", "order = array<i32: 1, 0>", "tt.unsplat", "tt.expand_dims",
            "tt.broadcast"});
  expectError(Diag::reshape_mismatch, "24 elements against 25",
              [&] { tl("reshape", {x, Int(25)}); });
  expectError(Diag::permute_invalid, "not a permutation",
              [&] { tl("permute", {x, Int(0), Int(0)}); });
  expectError(Diag::permute_invalid, "not a permutation", [&] { tl("trans", {block({4}, i32)}); });
  expectError(Diag::axis_out_of_range, "from -3 to 2", [&] { tl("expand_dims", {x, Int(3)}); });
  expectError(Diag::broadcast_to_mismatch, "dimension 1 is 6, not 7",
              [&] { tl("broadcast_to", {x, Int(4), Int(7)}); });
  expectError(Diag::broadcast_to_mismatch, "the ranks differ",
              [&] { tl("broadcast_to", {x, Int(24)}); });
  expectError(Diag::argument_kind, "one element", [&] { call("tensor", "item", {x}); });
  expectError(Diag::reshape_mismatch, "", [&] { tl("squeeze", {x, Int(0)}); });
}

TEST_F(ShapeTest, Joining) {
  Tensor x = block({4, 6}, fp32), y = block({4, 6}, fp32);
  expectType(tl("join", {x, y}), Type::block({4, 6, 2}, fp32));
  expectType(tl("join", {value(i32), value(i32)}), Type::block({2}, i32));
  expectType(tl("interleave", {x, y}), Type::block({4, 12}, fp32));
  expectType(tl("cat", {x, y}), Type::block({8, 6}, fp32));
  expectType(tl("cat", {x, y}, {{"dim", Int(1)}}), Type::block({4, 12}, fp32));
  expectType(tl("cat", {block({5}, i8), block({5}, i8)}, {{"can_reorder", true}}),
             Type::block({10}, i8));
  Value halves = tl("split", {block({3, 2}, fp16)});
  ASSERT_EQ(halves.as<Tuple>().items.size(), 2u);
  expectType(halves.as<Tuple>().items[0], Type::block({3}, fp16));
  expectType(tl("split", {block({2}, i32)}).as<Tuple>().items[1], i32);
  Value pair = tl("broadcast", {block({4, 1}, i32), block({6}, fp32)});
  expectType(pair.as<Tuple>().items[0], Type::block({4, 6}, i32));
  expectType(pair.as<Tuple>().items[1], Type::block({4, 6}, fp32));
  expectIR({"tt.join", "tt.split"});
  expectError(Diag::split_shape, "last dimension of size 2", [&] { tl("split", {x}); });
  expectError(Diag::cat_shape, "same shape", [&] { tl("cat", {block({4}, i8), block({6}, i8)}); });
  expectError(Diag::cat_shape, "same dtype", [&] { tl("cat", {block({4}, i8), block({4}, i32)}); });
}

TEST_F(ShapeTest, Selection) {
  expectType(tl("where", {block({4, 1}, i1), block({6}, fp16), 0.0}), Type::block({4, 6}, fp16));
  expectType(tl("where", {value(i1), value(i32), Int(3)}), i32);
  expectType(tl("where", {value(i32), block({4}, i8), block({4}, i32)}), Type::block({4}, i32));
  expectType(tl("where", {block({4}, i1), pointers({4}, fp32), pointer(fp32)}),
             Type::block({4}, Type::pointer(fp32)));
  expectType(tl("gather", {block({8, 4}, fp32), block({3, 4}, i32), Int(0)}),
             Type::block({3, 4}, fp32));
  expectType(tl("flip", {block({5, 7}, fp32)}), Type::block({5, 7}, fp32));
  expectType(tl("flip", {block({5, 7}, fp32), Int(0)}), Type::block({5, 7}, fp32));
  expectIR({"arith.select", "tt.gather"});
  expectError(Diag::gather_shape, "along axis 0",
              [&] { tl("gather", {block({8, 4}, fp32), block({3, 5}, i32), Int(0)}); });
  expectError(Diag::argument_kind, "a block of integers",
              [&] { tl("gather", {block({8}, fp32), block({3}, fp32), Int(0)}); });
}

TEST_F(ShapeTest, Windows) {
  Tensor x = block({6, 8}, fp32);
  Value window =
      call("al", "extract_slice", {x, tuple({value(i32), Int(1)}), shape({2, 3}), shape({1, 2})});
  expectType(window, Type::block({2, 3}, fp32));
  expectType(call("al", "insert_slice",
                  {x, window, tuple({Int(0), value(i64)}), shape({2, 3}), shape({1, 2})}),
             Type::block({6, 8}, fp32));
  expectType(call("al", "get_element", {x, tuple({value(i32), Int(3)})}), fp32);
  expectIR({"tt.gather", "tt.unsplat"});
  expectError(Diag::block_pointer_rank, "sizes of rank 1",
              [&] { call("al", "extract_slice", {x, shape({0, 0}), shape({2}), shape({1, 1})}); });
  expectError(Diag::broadcast_to_mismatch, "shape of the window", [&] {
    call("al", "insert_slice", {x, x, shape({0, 0}), shape({2, 3}), shape({1, 1})});
  });
  expectError(Diag::argument_kind, "non-negative", [&] {
    call("al", "extract_slice", {x, shape({0, 0}), shape({2, 3}), shape({1, -1})});
  });
  expectError(Diag::target_lacks, "al.sync_block_all",
              [&] { call("al", "sync_block_all", {std::string("all"), Int(0)}); });
}

TEST_F(ShapeTest, Swizzle) {
  Value folded = tl("swizzle2d", {Int(3), Int(1), Int(4), Int(4), Int(2)});
  // Walk order by hand: linear 13, group of 8: second group, rows 2 and 3.
  EXPECT_EQ(folded.as<Tuple>().items[0].as<Int>(), Int(3));
  EXPECT_EQ(folded.as<Tuple>().items[1].as<Int>(), Int(2));
  Value emitted = tl("swizzle2d", {value(i32), value(i32), value(i32), Int(4), Int(2)});
  expectType(emitted.as<Tuple>().items[0], i32);
  ir();
}

} // namespace
