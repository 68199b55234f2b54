# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Ascend extension."""

import itertools

import numpy as np
import pytest
from sheet import Sheet, floats, integers, load_kernel, offsets, refuse, run, values

import nereid
import nereid.extension.buffer.language as bl
import nereid.language.extra.cann.extension as al
from nereid import _compiler


@pytest.mark.parametrize("name", ["int1", "int8", "int32", "float16", "bfloat16", "float32", "float64", "float8e5"])
def test_slices(rng, name):
    sheet = Sheet()
    for i in range(3):
        shape = tuple(int(n) for n in rng.integers(3, 12 if i < 2 else 6, i + 1))
        x = values(rng, shape, name)
        strides = [int(n) for n in rng.integers(1, 4, i + 1)]
        sizes = [int(rng.integers(1, (n - 1) // s + 2)) for n, s in zip(shape, strides)]
        starts = [int(rng.integers(0, n - (z - 1) * s)) for n, z, s in zip(shape, sizes, strides)]
        window = tuple(slice(a, a + (z - 1) * s + 1, s) for a, z, s in zip(starts, sizes, strides))
        part = values(rng, sizes, name)
        sheet.input(f"x{i}", x).input(f"p{i}", part)
        for d, a in enumerate(starts):
            sheet.input(f"o{i}{d}", np.int32(a))
        dynamic = "(" + "".join(f"o{i}{d}, " for d in range(i + 1)) + ")"
        changed = x.copy()
        changed[window] = part
        for at in (tuple(starts), dynamic):
            sheet.add(f"al.extract_slice(x{i}, {at}, {tuple(sizes)}, {tuple(strides)})", x[window], exact=True)
            sheet.add(f"al.insert_slice(x{i}, p{i}, {at}, {tuple(sizes)}, {tuple(strides)})", changed, exact=True)
            sheet.add(f"al.get_element(x{i}, {at})", x[tuple(starts)], exact=True)
        sheet.add(f"x{i}.insert_slice(p{i}, offsets={tuple(starts)}, sizes={sizes}, strides={strides})", changed, exact=True)
        sheet.add(f"x{i}.get_element({dynamic})", x[tuple(starts)], exact=True)
    sheet.run()


def test_other_names(rng):
    x, y = floats(rng, (3, 13), "float32"), floats(rng, (3, 13), "float32", special=False)
    n = integers(rng, 21, "int64")
    sheet = Sheet().input("x", x).input("y", y).input("n", n)
    sheet.add("al.sort(n)", np.sort(n)).add("al.sort(n, descending=True)", np.sort(n)[::-1]).add("al.flip(x, 0)", x[::-1], exact=True)
    sheet.add("al.flip(x)", x[:, ::-1], exact=True).add("al.isfinited(x)", np.isfinite(x)).add("al.finitef(x)", np.isfinite(x))
    sheet.add("al.atan2(y, y + 1.0)", np.arctan2(y.astype(np.float64), (y + 1).astype(np.float64)), rtol=1e-5, atol=1e-6, out=np.float32)
    sheet.add('al.cast(n, tl.int8, overflow_mode="saturate")', np.clip(n, -128, 127).astype(np.int8))
    sheet.add("al.cast(y, tl.int32, bitcast=True)", y.view(np.int32)).add("al.int64(7)", np.int64(7))
    sheet.run()


def test_cores():
    out = np.full(3, 9, np.int64)
    run("pid = tl.program_id(0)\ntl.store(p0 + pid, al.sub_vec_id() + pid * 10)\ntl.static_assert(al.sub_vec_num() == 1)", out, grid=(3,))
    assert out.tolist() == [0, 10, 20]


def test_hints():
    out = np.zeros(6, np.int32)
    run("""
x = tl.arange(0, 4)
al.compile_hint(x, "hint")
al.compile_hint(x, "number", 3)
al.compile_hint(x, "list", [1, 2])
al.compile_hint(x, "text", "value")
al.multibuffer(x, 2)
al.debug_barrier(al.SYNC_IN_VF.VV_ALL)
al.debug_barrier()
for i in al.parallel(0, 4, bind_sub_block=True):
    tl.store(p0 + i, i * 2)
PIPE: tl.constexpr = al.PIPE.PIPE_MTE2
tl.store(p0 + 5, PIPE)
""", out)
    assert out.tolist() == [0, 2, 4, 6, 0, 4]
    assert al.CORE.CUBE == 1 and al.MODE.MIX == 2 and al.FixpipeDMAMode.NZ2ND == 1 and al.IteratorType.Opaque == 11
    assert al.FixpipeDualDstMode.NO_DUAL == 0 and al.ascend_address_space.UB == 0

    @al.register_custom_op
    class MyOp:
        core = al.CORE.VECTOR

    assert MyOp.core == 0 and bl.buffer and bl.buffer_type and bl.address_space


def test_older_spellings():
    out = np.zeros(4, np.int32)
    run("""
x = tl.insert_slice(tl.arange(0, 4), tl.full((2,), 9, tl.int32), (1,), (2,), (1,))
tl.compile_hint(x, "hint")
for i in tl.parallel(0, 4):
    tl.store(p0 + i, tl.get_element(x, (i,)) + tl.sub_vec_id() + tl.sub_vec_num())
""", out)
    assert out.tolist() == [1, 10, 10, 4]


def test_what_only_gpus_have():
    prelude = "from nereid.language.extra import language_extra\n"
    refuse("language_extra.sync_grid()", "NVIDIA", prelude=prelude)
    refuse("dl.allocate_smem(tl.float32, (4,))", "shared")
    refuse("dl.ld_vector(p0, 4, 'gpu', 'acquire')", "blocks of elements")
    refuse("dl.tma(p0)", "tl.make_tensor_descriptor")


def test_flags():
    """Cube and vector code in the order of the text."""
    out = np.zeros(2, np.int32)
    run("""
tl.store(p0, 5)
al.sync_block_set("cube", "vector", 3, al.PIPE.PIPE_FIX, al.PIPE.PIPE_MTE2)
al.sync_block_wait("cube", "vector", 3)
tl.store(p0 + 1, tl.load(p0) + 1)
al.sync_block_set("vector", "cube", tl.program_id(0))
al.sync_block_wait("vector", "cube", tl.program_id(0))
al.sync_block_all("all_sub_vector", 8)
""", out)
    assert out.tolist() == [5, 6]
    refuse("al.sync_block_wait('cube', 'vector', 3)", "cube code sets no flag", "event 3")
    refuse("al.sync_block_set('cube', 'vector', 2)\nal.sync_block_wait('cube', 'vector', 3)", "event 3")
    refuse("al.sync_block_set('cube', 'vector', 3)\nal.sync_block_wait('vector', 'cube', 3)", "vector code sets no flag")
    refuse("al.sync_block_set('cube', 'cube', 3)", "other kind of core")
    refuse("al.sync_block_set('cube', 'vector', 16)", "16", "15")
    refuse("al.sync_block_all('all', 0)", "no barrier of their own", "barrier_all")
    refuse("al.sync_block_all('some', 0)", "all_sub_vector")
    for call in ("al.sync_block_set('cube', 'vector', 1)", "al.sync_block_wait('cube', 'vector', 1)", "al.sync_block_all('all_sub_vector', 1)"):
        kernel = load_kernel(["@nereid.jit", "def kernel():", f"    {call}"])
        with pytest.raises(nereid.CompilationError, match="not available on the target cpu"):
            _compiler.build_ttir(kernel, [], {"sub_vec_num": 2})


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "int32"])
def test_indexed_accesses(rng, name):
    rows, columns = 9, 11
    source = values(rng, (rows, columns), name, special=False)
    for dim in (0, 1):
        shape = (4, 5)
        index = rng.integers(-1, (rows if dim == 0 else columns) + 2, shape).astype(np.int32)
        start, boundary = [0 if d == dim else int(rng.integers(0, 3)) for d in range(2)], (7 if dim == 0 else 9)
        end = [start[d] + int(rng.integers(1, shape[d] + 1)) if d != dim else int(rng.integers(1, shape[d] + 1)) for d in range(2)]
        gathered, scattered, value = np.zeros(shape, source.dtype), source.copy(), values(rng, shape, name, special=False)
        # Two equal targets of a scatter have no defined winner.
        unique = np.moveaxis(np.stack([rng.permutation(boundary + 2)[: shape[dim]] - 1 for _ in range(shape[1 - dim])], 1), 0, dim)
        unique = np.ascontiguousarray(unique, np.int32)
        run(f"""
i = tl.load(p1 + ({offsets(shape)}))
tl.store(p2 + ({offsets(shape)}), al.gather_out_to_ub(src=p0, index=i, index_boundary={boundary}, dim={dim}, src_stride=({columns}, 1), end_offset={tuple(end)}, start_offset={tuple(start)}, other=3))
u = tl.load(p5 + ({offsets(shape)}))
al.scatter_ub_to_out(ptr=p3, value=tl.load(p4 + ({offsets(shape)})), index=u, index_boundary={boundary}, dim={dim}, dst_stride=({columns}, 1), end_offset={tuple(end)}, start_offset={tuple(start)})
""", source, index, gathered, scattered, value, unique)
        want, written = np.full(shape, 3).astype(source.dtype), source.copy()
        for place in itertools.product(*map(range, shape)):
            inside = all(start[d] + place[d] < end[d] for d in range(2))
            for picked, kind in ((index[place], "gather"), (unique[place], "scatter")):
                at = tuple(int(picked) + start[dim] if d == dim else start[d] + place[d] for d in range(2))
                if inside and 0 <= picked < boundary:
                    if kind == "gather":
                        want[place] = source[at]
                    else:
                        written[at] = value[place]
        np.testing.assert_array_equal(gathered, want)
        np.testing.assert_array_equal(scattered, written)

    picks = rng.permutation(rows)[:4].astype(np.int64)
    put, value = source.copy(), values(rng, (4, 6), name, special=False)
    bounded = picks.copy()
    bounded[0] = rows + 5
    selected = np.zeros((4, 8), source.dtype)
    at = int(rng.integers(0, columns - 3))
    run(f"""
i = tl.load(p1 + tl.arange(0, 4))
al.index_put(ptr=p2, index=i, value=tl.load(p3 + ({offsets((4, 6))})), dim=0, index_boundary={rows}, end_offset=(4, 7), start_offset=(0, 2), dst_stride=({columns}, 1))
s = al.index_select_simd(src=p0, dim=0, index=tl.load(p4 + tl.arange(0, 4)), src_shape=({rows}, {columns}), src_offset=(-1, {at}), read_shape=(-1, 8))
tl.store(p5 + ({offsets((4, 8))}), s)
""", source, bounded, put, value, picks, selected)
    want = source.copy()
    for k in range(1, 4):
        want[bounded[k], 2:7] = value[k, :5]
    np.testing.assert_array_equal(put, want)
    padded = np.concatenate([source, np.zeros((rows, 8), source.dtype)], 1)
    np.testing.assert_array_equal(selected, padded[picks, at : at + 8])


def test_refused():
    refuse("al.extract_slice(x, (0, 0), (4, 4), (1, 1))", "offsets")
    refuse("al.insert_slice(x, x, (0,), (4,), (1,))", "window")
    refuse("al.get_element(x, (0, 1))", "indice")
    refuse("al.extract_slice(x, (10,), (8,), (1,))", "inside", "17")
    refuse("al.extract_slice(x, (0,), (4,), (6,))", "18")
    refuse("al.insert_slice(x, tl.zeros((4,), tl.float32), (-1,), (4,), (1,))", "inside")
    refuse("al.get_element(x, (16,))", "16", "15")
    refuse("al.multibuffer(x, 3)", "3", "2")
    refuse("al.fixpipe(x, x)", "Ascend 950")
    refuse("al.copy(x, x)", "Ascend 950")
    refuse("al.custom('__builtin_index_select', x, out=x)", "al.index_select_simd")
    refuse("bl.alloc(tl.float32, (16,))", "al.insert_slice")
    refuse("bl.to_buffer(x)", "in place")
    refuse("al.index_put(p0, tl.arange(0, 4), x, 0, 4, (4,), (0,), (1,))", "rank 2 to 5")
    refuse("al.gather_out_to_ub(x, tl.arange(0, 4), 4, 0, (1,), (4,), (0,))", "pointer")
    refuse("al.index_select_simd(p0, 0, tl.arange(0, 4), (9, 9), (-1, 0), (4, 4))", "-1")
