# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every pass runs alone, in a context that has loaded nothing but what its input and its own list of
dialects name: the CPU's pipeline, one pass to a process, gives what it gives as a whole."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEREID_OPT = ROOT / "build" / "release" / "tools" / "nereid-opt" / "nereid-opt"

KERNEL = '''\
import nereid
import nereid.distributed as dl
import nereid.language as tl
import nereid.language.extra.cann.extension as al
from nereid import libshmem_device
from nereid.language.extra import libdevice


@nereid.jit
def shift(x, by):
    return x + by * 2


@nereid.jit
def larger(a, b):
    return tl.maximum(a, b)


@nereid.jit
def kernel(x, y, sig, n):
    o = tl.arange(0, 32)
    p = x + o[:, None] * 32 + o[None, :]
    acc = tl.zeros((32, 32), tl.float32)
    for i in range(n):
        a = tl.load(p, mask=o[:, None] < n, other=0.0)
        acc += tl.dot(a, tl.trans(a))
        p += 32
    half = tl.load(y + o).to(tl.float16)
    token = dl.wait(sig, 1, "sys", "acquire", waitValue=1)
    ready = dl.consume_token(y, token)
    tl.store(ready + o, tl.exp(tl.sum(acc, 1)) + half + libdevice.erfinv(tl.load(ready + o)))
    desc = tl.make_tensor_descriptor(x, [32, 32], [32, 1], [16, 16])
    desc.store([0, 0], desc.load([16, 16]) + tl.rand(n, tl.arange(0, 16))[None, :])
    block = tl.make_block_ptr(x, (32, 32), (32, 1), (0, 0), (4, 4), (1, 0))
    tl.store(tl.advance(block, (4, n)), tl.load(block, boundary_check=(0, 1)), boundary_check=(0, 1))
    tl.atomic_max(sig + o, tl.cumsum(o) // tl.maximum(n, 1))
    tl.store(sig + shift(n, 3), tl.reduce(o, 0, larger))
    tl.device_print("n", n)
    tl.device_assert(n > 0, "n")
    peer = dl.symm_at(y, (dl.rank() + 1) % dl.num_ranks())
    tl.store(peer, 1.0)
    dl.notify(sig, 0, signal=1, sig_op="add", comm_scope="intra_node")
    libshmem_device.barrier_all()
    if al.sub_vec_id() == 0:
        libshmem_device.putmem(y, y, 4, 0)
    while tl.atomic_add(sig, 0) != 3:
        pass
'''


def run(*arguments, text=None):
    done = subprocess.run([NEREID_OPT, *arguments], input=text, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def ttir(tmp_path_factory):
    path = tmp_path_factory.mktemp("passes") / "kernel.py"
    path.write_text(KERNEL, encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "nereid", "compile", f"{path}:kernel", "--emit=ttir",
                           "--signature", "x=*fp32, y=*fp32, sig=*i32, n=i32"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    # With places, which some passes put into what they make.
    return run("--mlir-print-debuginfo", "-", text=done.stdout)[0]


def passes_of(pipeline: str, ttir: str) -> list[str]:
    """The passes with their options, as the pipeline names them."""
    _, text = run(f"--{pipeline}", "--dump-pass-pipeline", "-o", "/dev/null", "-", text=ttir)
    listed = text[text.index("builtin.module(") :]
    return [line.strip().rstrip(",") for line in listed.splitlines()[1:] if line.startswith("  ")]


PIPELINE = "nereid-cpu-pipeline"


def test_one_pass_to_a_process(ttir):
    passes = passes_of(PIPELINE, ttir)
    assert len(passes) >= 30
    wanted, _ = run(f"--{PIPELINE}", "-", text=ttir)
    text = ttir
    for each in passes:
        text, _ = run(f"--pass-pipeline=builtin.module({each})", "--mlir-print-debuginfo", "-", text=text)
    assert run("-", text=text)[0] == wanted


def test_all_passes_are_run_alone(ttir):
    """Here, or by the example of their description."""
    listed, _ = run("--help")
    registered = set(re.findall(r"^\s*--(nereid-[\w-]+)\s", listed[: listed.index("Pass Pipelines:")], re.M))
    described = {name for file in (ROOT / "compiler").rglob("Passes.td")
                 for name in re.findall(r'^def \w+\s*:\s*Pass<"([\w-]+)"', file.read_text(encoding="utf-8"), re.M)}
    assert registered == described and len(registered) >= 16
    run_here = {re.split(r"[{]", each)[0] for each in passes_of(PIPELINE, ttir)}
    examples = {name for name, blocks in _examples().items() if blocks}
    assert registered <= run_here | examples


def _examples():
    sys.path.insert(0, str(Path(__file__).parent))
    from test_documented_examples import EXAMPLES

    return EXAMPLES
