# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Philox, bit for bit: against the published algorithm and its published results."""

import numpy as np
import pytest
from sheet import Sheet, refuse

M32 = 0xFFFFFFFF


def philox(counter, key, rounds=10, bits=32):
    """Salmon et al.'s Philox 4x32 and 4x64."""
    mask = (1 << bits) - 1
    m0, m1 = (0xD2511F53, 0xCD9E8D57) if bits == 32 else (0xD2E7470EE14C6C93, 0xCA5A826395121157)
    w0, w1 = (0x9E3779B9, 0xBB67AE85) if bits == 32 else (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
    c, k = list(counter), list(key)
    for _ in range(rounds):
        high0, low0 = divmod(m0 * c[0], 1 << bits)
        high1, low1 = divmod(m1 * c[2], 1 << bits)
        c = [high1 ^ c[1] ^ k[0], low1, high0 ^ c[3] ^ k[1], low0]
        k = [(k[0] + w0) & mask, (k[1] + w1) & mask]
    return c


def test_the_reference_is_right():
    """Known answers published with the generator."""
    assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert philox([M32] * 4, [M32] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    assert philox([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0]) == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]
    assert philox([0] * 4, [0] * 2, bits=64) == [0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B]


def arrays(rows, dtype):
    return [np.array(column, dtype) for column in zip(*rows)]


def uniform(bits):
    x = np.asarray(bits, np.uint32).view(np.int32).astype(np.int64)
    return np.where(x < 0, -x - 1, x).astype(np.float32) * np.float32(4.6566127342e-10)


@pytest.mark.parametrize("width", [32, 64])
def test_philox(rng, width):
    dtype = f"uint{width}"
    c = [rng.integers(0, 2**width, 9, np.uint64).astype(dtype) for _ in range(4)]
    k = rng.integers(0, 2**width, 2, np.uint64).astype(dtype)
    seed = int(rng.integers(0, 2**63))
    sheet = Sheet()
    for i in range(4):
        sheet.input(f"c{i}", c[i])
    sheet.input("k0", k[0]).input("k1", k[1]).input("seed", np.int64(seed))
    key = [int(v) for v in k]
    seeded = [seed & M32, seed >> 32] if width == 32 else [seed, 0]
    for rounds in (10, 6):
        rows = [philox([int(v[j]) for v in c], key, rounds, width) for j in range(9)]
        sheet.add(f"tl.philox_impl(c0, c1, c2, c3, k0, k1, {rounds})", arrays(rows, dtype))
        rows = [philox([int(v[j]) for v in c], seeded, rounds, width) for j in range(9)]
        sheet.add(f"tl.philox(seed, c0, c1, c2, c3, n_rounds={rounds})", arrays(rows, dtype))
    sheet.run()


@pytest.mark.parametrize("offset", ["int32", "uint32", "int64", "uint64"])
def test_distributions(rng, offset):
    """The counters of an offset; floats from bits; Box and Muller."""
    seed = int(rng.integers(0, 2**62))
    o = rng.integers(0, 2 ** (31 if offset == "int32" else 32 if offset == "uint32" else 62), (3, 11)).astype(offset)
    flat = [philox([int(v) & M32, (int(v) >> 32) & M32, 0, 0], [seed & M32, seed >> 32]) for v in o.ravel()]
    four = [column.reshape(o.shape) for column in arrays(flat, np.uint32)]
    u = [uniform(x) for x in four]
    small = [np.array([philox([int(v) & M32, (int(v) >> 32) & M32, 0, 0], [7, 0], 6)[0] for v in o.ravel()], np.uint32).reshape(o.shape)]

    def normal(u1, u2):
        radius = np.sqrt(-2 * np.log(np.maximum(u1.astype(np.float64), 1e-7)))
        return radius * np.cos(2 * np.pi * u2.astype(np.float64)), radius * np.sin(2 * np.pi * u2.astype(np.float64))

    n = [*normal(u[0], u[1]), *normal(u[2], u[3])]
    sheet = Sheet().input("o", o).input("seed", np.int64(seed)).input("u1", u[0]).input("u2", u[1]).input("b", four[0])
    sheet.add("tl.randint(seed, o)", four[0]).add("tl.randint4x(seed, o)", four).add("tl.randint(7, o, n_rounds=6)", small[0])
    sheet.add("tl.rand(seed, o)", u[0], exact=True).add("tl.rand4x(seed, o)", u, exact=True)
    sheet.add("tl.randn(seed, o)", n[0], rtol=1e-5, atol=2e-6, out=np.float32).add("tl.randn4x(seed, o)", n, rtol=1e-5, atol=2e-6, out=[np.float32] * 4)
    sheet.add("tl.uint_to_uniform_float(b)", u[0], exact=True)
    sheet.add("tl.uint_to_uniform_float(b.to(tl.int32, bitcast=True))", u[0], exact=True)
    sheet.add("tl.pair_uniform_to_normal(u1, u2)", n[:2], rtol=1e-5, atol=2e-6, out=[np.float32] * 2)
    sheet.run()
    assert (u[0] >= 0).all() and (u[0] < 1).all()


def test_refused():
    refuse("tl.rand(0, x)", "integer")
    refuse("tl.randint(x, tl.arange(0, 4))", "integer")
    refuse("tl.rand(0, tl.arange(0, 4), n_rounds=0)", "rounds")
    refuse("tl.uint_to_uniform_float(x)", "32- or 64-bit", arguments=("int16",))
