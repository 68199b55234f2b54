# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel for each entry of the catalogue that the rules of the language report: its
parameters and body. ⟦ ⟧ stand around what the error has to point at."""

HEAD = """
import nereid.language.extra.cann.extension as al
import nereid.libshmem_device as shmem


@nereid.jit
def wrong(a, b):
    return a, b


@nereid.jit
def {0}
"""


def _kernel(parameters: str, body: str) -> str:
    lines = "\n".join("    " + line for line in body.splitlines())
    return HEAD.format(f"kernel({parameters}):\n{lines}")


#: Entry: one or more kernels.
CASES = {
    "not_a_runtime_value": _kernel("x_ptr, n", 'tl.store(x_ptr, ⟦"text"⟧)'),
    "number_too_large": _kernel("x_ptr, n", "a = ⟦2**70⟧"),
    "number_out_of_range": _kernel("x_ptr, n", "⟦tl.zeros((4,), tl.int8) + 1000⟧"),
    "argument_out_of_range": _kernel("x_ptr, n", "tl.topk(tl.arange(0, 8), ⟦64⟧)"),
    "comprehension_bound": _kernel("x_ptr, n", "[i for i in range(⟦n⟧)]"),
    "float_to_integer_constant": _kernel("x_ptr, n", "⟦tl.full((4,), 1.5, tl.int32)⟧"),
    "negative_with_unsigned": _kernel("u", "⟦u + -1⟧"),
    "operands_invalid": [
        _kernel("x_ptr, n", "⟦x_ptr + x_ptr⟧"),
        _kernel("f", "⟦f & f⟧"),
    ],
    "operand_invalid": _kernel("f", "⟦~f⟧"),
    "signedness_differs": _kernel("u, n", "⟦u // n⟧"),
    "pointer_comparison": _kernel("x_ptr, y_ptr", "⟦x_ptr == y_ptr⟧"),
    "power_runtime": _kernel("x_ptr, n", "⟦n ** n⟧"),
    "matmul_operator": _kernel("x_ptr, n", "⟦n @ n⟧"),
    "block_condition": _kernel("x_ptr, n", "n = 1 if ⟦tl.arange(0, 4) > 1⟧ else 2"),
    "broadcast_mismatch": _kernel("x_ptr, n", "⟦tl.arange(0, 3) * tl.arange(0, 5)⟧"),
    "broadcast_to_mismatch": _kernel("x_ptr, n", "⟦tl.broadcast_to(tl.arange(0, 3), (5,))⟧"),
    "unsupported_dtype": _kernel("x_ptr, n", "tl.exp(⟦n⟧)"),
    "cast_invalid": _kernel("x_ptr, n", "⟦x_ptr.to(tl.int32)⟧"),
    "bitcast_width": _kernel("x_ptr, n", "⟦n.to(tl.float16, bitcast=True)⟧"),
    "rounding_invalid": _kernel("x_ptr, n", '⟦n.to(tl.float32, fp_downcast_rounding="rtz")⟧'),
    "bad_string": _kernel("x_ptr, n", 'tl.load(x_ptr, cache_modifier=⟦".no"⟧)'),
    "missing_argument": _kernel("x_ptr, n", "⟦tl.arange(0)⟧"),
    "unknown_keyword": _kernel("x_ptr, n", "tl.load(x_ptr, ⟦maks=None⟧)"),
    "doubled_argument": _kernel("x_ptr, n", "tl.load(x_ptr, ⟦pointer=x_ptr⟧)"),
    "surplus_argument": _kernel("x_ptr, n", "tl.program_id(0, ⟦1⟧)"),
    "not_constexpr": _kernel("x_ptr, n", "tl.arange(0, ⟦n⟧)"),
    "constexpr_kind": _kernel("x_ptr, n", "tl.zeros((4,), ⟦3⟧)"),
    "argument_kind": _kernel("x_ptr, n", "len(⟦n⟧)"),
    "unknown_attribute": _kernel("x_ptr, n", "⟦n.lenght⟧"),
    "shape_not_positive": _kernel("x_ptr, n", "tl.zeros(⟦(0, 4)⟧, tl.float32)"),
    "block_too_large": _kernel("x_ptr, n", "tl.zeros(⟦(2048, 2048)⟧, tl.float32)"),
    "axis_out_of_range": _kernel("x_ptr, n", "tl.sum(tl.arange(0, 4), ⟦1⟧)"),
    "arange_empty": _kernel("x_ptr, n", "⟦tl.arange(4, 4)⟧"),
    "arange_range": _kernel("x_ptr, n", "tl.arange(0, ⟦2**40⟧)"),
    "program_axis": _kernel("x_ptr, n", "tl.program_id(⟦3⟧)"),
    "reshape_mismatch": _kernel("x_ptr, n", "⟦tl.arange(0, 6).reshape(4, 2)⟧"),
    "permute_invalid": _kernel("x_ptr, n", "⟦tl.arange(0, 6).reshape(3, 2).permute(0, 0)⟧"),
    "needs_block": _kernel("x_ptr, n", "tl.sum(⟦n⟧, 0)"),
    "split_shape": _kernel("x_ptr, n", "⟦tl.split(tl.arange(0, 6))⟧"),
    "cat_shape": _kernel("x_ptr, n", "⟦tl.cat(tl.arange(0, 4), tl.zeros((2, 2), tl.int32))⟧"),
    "subscript_invalid": _kernel("x_ptr, n", "⟦tl.arange(0, 4)[2]⟧"),
    "subscript_rank": _kernel("x_ptr, n", "⟦tl.arange(0, 4)[:, :]⟧"),
    "power_of_two": _kernel("x_ptr, n", "⟦tl.bitonic_merge(tl.arange(0, 6))⟧"),
    "gather_shape": _kernel("x_ptr, n", "⟦tl.gather(tl.zeros((4, 4), tl.float32), tl.arange(0, 4), 0)⟧"),
    "dot_rank": _kernel("x_ptr, n", "⟦tl.dot(tl.arange(0, 4), tl.arange(0, 4))⟧"),
    "dot_shape": _kernel("x_ptr, n", "⟦tl.dot(tl.zeros((4, 8), tl.float32), tl.zeros((4, 8), tl.float32))⟧"),
    "dot_dtype": _kernel("x_ptr, n", "⟦tl.dot(tl.zeros((4, 4), tl.float32), tl.zeros((4, 4), tl.float16))⟧"),
    "dot_out_dtype": _kernel("x_ptr, n", "h = tl.zeros((4, 4), tl.float16)\ntl.dot(h, h, out_dtype=⟦tl.bfloat16⟧)"),
    "dot_acc": _kernel("x_ptr, n", "tl.dot(tl.zeros((4, 4), tl.float32), tl.zeros((4, 4), tl.float32), acc=⟦tl.zeros((4, 8), tl.float32)⟧)"),
    "dot_precision_twice": _kernel("x_ptr, n", 'tl.dot(tl.zeros((4, 4), tl.float32), tl.zeros((4, 4), tl.float32), input_precision="ieee", allow_tf32=⟦True⟧)'),
    "not_a_pointer": _kernel("x_ptr, n", "tl.load(⟦n⟧)"),
    "other_without_mask": _kernel("x_ptr, n", "tl.load(x_ptr + tl.arange(0, 4), other=⟦0.0⟧)"),
    "scalar_pointer_block": _kernel("x_ptr, n", "tl.store(x_ptr, ⟦tl.zeros((4,), tl.float32)⟧)"),
    "mask_not_bool": _kernel("x_ptr, n", "tl.load(x_ptr + tl.arange(0, 4), mask=⟦tl.zeros((4,), tl.float32)⟧)"),
    "store_shape": _kernel("x_ptr, n", "tl.store(x_ptr + tl.arange(0, 4), ⟦tl.zeros((2, 4), tl.float32)⟧)"),
    "block_pointer_mask": _kernel("x_ptr, n", "p = tl.make_block_ptr(x_ptr, (8,), (1,), (0,), (8,), (0,))\ntl.load(p, mask=⟦n > 3⟧)"),
    "boundary_without_block_pointer": _kernel("x_ptr, n", "tl.load(x_ptr, boundary_check=⟦(0,)⟧)"),
    "boundary_check_invalid": _kernel("x_ptr, n", "p = tl.make_block_ptr(x_ptr, (8,), (1,), (0,), (8,), (0,))\ntl.load(p, boundary_check=⟦(1,)⟧)"),
    "padding_nan_integer": _kernel("i_ptr", 'p = tl.make_block_ptr(i_ptr, (8,), (1,), (0,), (8,), (0,))\ntl.load(p, boundary_check=(0,), padding_option=⟦"nan"⟧)'),
    "block_pointer_rank": _kernel("x_ptr, n", "tl.make_block_ptr(x_ptr, (8,), (1,), ⟦(0, 0)⟧, (8,), (0,))"),
    "descriptor_rank": _kernel("x_ptr, n", "tl.make_tensor_descriptor(x_ptr, ⟦(8, 8)⟧, (1,), (8,))"),
    "descriptor_invalid": _kernel("x_ptr, n", "tl.make_tensor_descriptor(x_ptr, (8, 8), ⟦(8, 2)⟧, (4, 4))"),
    "atomic_dtype": _kernel("x_ptr, n", "tl.atomic_and(⟦x_ptr⟧, 1)"),
    "combine_not_function": _kernel("x_ptr, n", "tl.reduce(tl.arange(0, 4), 0, ⟦3⟧)"),
    "combine_result": _kernel("x_ptr, n", "tl.reduce(tl.arange(0, 4), 0, ⟦wrong⟧)"),
    "reduce_shapes": _kernel("x_ptr, n", "tl.reduce(⟦(tl.arange(0, 4), tl.arange(0, 8))⟧, 0, wrong)"),
    "histogram_invalid": _kernel("x_ptr, n", "tl.histogram(⟦tl.zeros((4,), tl.float32)⟧, 4)"),
    "symm_at_block": _kernel("x_ptr, n", "dl.symm_at(⟦x_ptr + tl.arange(0, 4)⟧, 0)"),
    "signal_pointer": _kernel("x_ptr, n", 'dl.wait(⟦x_ptr⟧, 1, "gpu", "acquire")'),
    "rank_dtype": _kernel("x_ptr, k", "dl.symm_at(x_ptr, ⟦k⟧)"),
    "token_dtype": _kernel("x_ptr, f", "dl.consume_token(x_ptr, ⟦f⟧)"),
    "extern_overload": _kernel("x_ptr, n", '⟦dl.extern_call("l", "", [n], {(tl.float32,): ("f", tl.float32)}, True)⟧'),
    "extern_symbol": _kernel("n", '⟦dl.extern_call("no", "", [n], {(tl.int32,): ("such", tl.int32)}, False)⟧'),
    "extern_count": _kernel("n", '⟦dl.extern_call("libshmem_device", "", [n], {(tl.int32,): ("fence", ())}, False)⟧'),
    "extern_argument": _kernel("x_ptr, f", '⟦dl.extern_call("libshmem_device", "", [f], {(tl.float32,): ("fence_pe", ())}, False)⟧'),
    "extern_result": _kernel("n", '⟦dl.extern_call("libshmem_device", "", [], {(): ("fence", tl.int32)}, False)⟧'),
    "extern_pure": _kernel("n", '⟦dl.extern_call("libshmem_device", "", [], {(): ("fence", ())}, True)⟧'),
    "static_assert_failed": _kernel("x_ptr, n", '⟦tl.static_assert(1 > 2, "no")⟧'),
    "static_assert_kind": _kernel("x_ptr, n", "tl.static_assert(⟦n > 2⟧)"),
    "print_prefix": _kernel("x_ptr, n", 'tl.device_print(⟦"größe"⟧, n)'),
    "hint_values": _kernel("x_ptr, n", "⟦tl.multiple_of(tl.arange(0, 4), (1, 2))⟧"),
    "not_supported_yet": _kernel("x_ptr, n", "⟦tl.range(4)⟧"),
    "shmem_constant": _kernel("s_ptr", "shmem.signal_op(s_ptr, 1, ⟦77⟧, 0)"),
    "shmem_pointer": _kernel("x_ptr, n", "shmem.getmem_block(⟦n⟧, n, 4, 0)"),
    "shmem_family": _kernel("s_ptr, n", "shmem.signal_wait_until(s_ptr, shmem.NVSHMEM_CMP_EQ, 1)\nshmem.signal_wait_until(s_ptr, ⟦shmem.ACLSHMEM_CMP_EQ⟧, 1)"),
    "shmem_call_family": _kernel("s_ptr", "shmem.barrier_vec(⟦shmem.NVSHMEM_TEAM_WORLD⟧)"),
    "shmem_typed_pointer": _kernel("x_ptr, n", "shmem.int_p(⟦x_ptr⟧, 1, 0)"),
    "negative_count": _kernel("s_ptr", 'dl.wait(s_ptr, ⟦-1⟧, "gpu", "acquire")'),
    "target_lacks": _kernel("x_ptr, n", '⟦al.sync_block_all("all", 0)⟧'),
    "core_flag_order": _kernel("x_ptr, n", '⟦al.sync_block_wait("cube", "vector", 0)⟧'),
}

#: The same for what later passes report.
PASSES = {
    "token_not_consumed": _kernel("s_ptr", '⟦dl.wait(s_ptr, 1, "gpu", "acquire")⟧'),
    "token_without_access": _kernel("x_ptr, s_ptr", 'dl.consume_token(x_ptr, ⟦dl.wait(s_ptr, 1, "gpu", "acquire")⟧)'),
    "inline_assembly": _kernel(
        "x_ptr", "a = tl.arange(0, 8)\n"
        'b = ⟦tl.inline_asm_elementwise("mov $0, $1;", "=r,r", [a], tl.int32, True, 1)⟧\ntl.store(x_ptr + a, b * 1.0)'
    ),
}

#: Entries that no kernel of the tables leads to: "file: test" (or "none: why").
ELSEWHERE = {
    "atomic_element": "none: the front end refuses them; for IR from elsewhere",
    "atomic_pointer": "none: the front end refuses them; for IR from elsewhere",
    "code_generator_failed": "unittests/Compiler/Target/CompileTest.cpp: WhenLLVMGivesUp",
    "comparison_invalid": "unittests/Compiler/Semantic/OperatorTest.cpp: Diag::comparison_invalid",
    "consumed_without_access": "tests/diagnostics/test_tokens.py: nothing is accessed through what this consume_token",
    "descriptor_reduction": "none: the front end has no method for them; for IR from elsewhere",
    "descriptor_rows": "none: the front end gathers and scatters rows of matrices only",
    "compilation_cancelled": "unittests/Compiler/Target/CompileTest.cpp: NobodyWantsIt",
    "dump_failed": "unittests/Compiler/Target/CompileTest.cpp: ADumpThatCannotBeWrittenIsAnError",
    "compile_request": "unittests/Compiler/Target/CompileTest.cpp: WrongRequests",
    "phase_broke_promise": "unittests/Compiler/Target/CompileTest.cpp: PhasesKeepTheirPromises",
    "internal_error": "none: no pass fails silently",
    "invalid_ir": "none: the verifier finds no fault in what the walker makes",
    "kernel_argument_constexpr": "unittests/Compiler/Frontend/WalkerTest.cpp: Diag::kernel_argument_constexpr",
    "kernel_argument_count": "unittests/Compiler/Frontend/WalkerTest.cpp: Diag::kernel_argument_count",
    "kernel_argument_type": "unittests/Compiler/Frontend/WalkerTest.cpp: Diag::kernel_argument_type",
    "map_early_return": "none: the front end makes no early returns of calls",
    "map_pack": "none: the front end checks pack; for IR from elsewhere",
    "name_of_cube_scope": "tests/frontend/test_scopes.py: test_variables_of_a_cube_scope_that_writes",
    "nested_too_deeply": "tests/frontend/test_refused.py: test_nested_too_deeply",
    "no_kernel": "tests/ttir/test_run_ir.py: test_no_kernel_and_two_kernels",
    "not_portable": "tests/frontend/test_extensions.py: test_extension_and_its_refusal",
    "pass_error": "none: reports without an entry, of IR from elsewhere",
    "pass_warning": "none: reports without an entry, of IR from elsewhere",
    "shmem_ambiguous": "tests/frontend/test_warnings.py: test_plain_number_for_a_comparison",
    "shmem_missing": "tests/distributed/test_shmem.py: for which the profile cuda stands",
    "signal_width": "tests/distributed/test_shmem.py: 64-bit signals under the profile cuda",
    "store_const": "unittests/Compiler/Semantic/MemoryTest.cpp: Diag::store_const",
    "tiles_unsupported": "none: every operation of the front end has a lowering; for IR from elsewhere",
    "ttir_lacks": "tests/ttir/test_nereid_compile.py: cannot be expressed in the TTIR",
    "ttir_shape": "tests/ttir/test_nereid_compile.py: a tensor of shape",
    "unsupported_default": "tests/frontend/test_refused.py: test_default_that_is_no_constant",
    "wait_semantic": "tests/frontend/test_warnings.py: test_warning_with_place",
}
