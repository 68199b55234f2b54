# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files written for triton run as they are: nereid run --as-triton, nereid.compat.triton."""

import subprocess
import sys
import textwrap

import pytest

SCRIPT = """
import sys
import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.tools.tensor_descriptor import TensorDescriptor
from triton.runtime import driver


@triton.autotune(configs=[triton.Config({"BLOCK": b}, num_warps=4) for b in (32, 64)], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(y_ptr + offs, libdevice.pow(tl.load(x_ptr + offs, mask=mask, other=0.0), 2.0) + EVEN, mask=mask)


x = np.arange(100, dtype=np.float32)
y = np.zeros_like(x)
kernel[lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)](x, y, x.size)
triton.testing.assert_close(y, x * x)
print("done", sys.argv[1:], __name__, triton.language.float32, driver.active.get_current_device())
"""

DISTRIBUTED = """
import numpy as np
import triton
import triton.language as tl
import triton_dist.language as dl
from triton_dist.language.extra import libshmem_device
from triton.language.extra.cann.extension import sub_vec_id
import nereid


@triton.jit
def put(x_ptr):
    peer = (dl.rank() + 1) % dl.num_ranks()
    if sub_vec_id() == 0:
        libshmem_device.int_p(x_ptr, 10 + dl.rank(), peer)
    libshmem_device.barrier_all()


nereid.init()
x = nereid.symm.zeros(1, np.int32)
put[(1,)](x)
print("got", int(x.numpy()[0]))
"""


def run(*command, code=0):
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def write(path, text):
    path.write_text(textwrap.dedent(text))
    return path


def test_script(tmp_path, cache_folder):
    script = write(tmp_path / "script.py", SCRIPT)
    done = run("-m", "nereid", "run", "--as-triton", script, "a", "-b")
    assert done.stdout.strip() == "done ['a', '-b'] __main__ fp32 0"


def test_module_beside_the_script(tmp_path, cache_folder):
    write(tmp_path / "kernels.py", SCRIPT)
    script = write(tmp_path / "main.py", "import kernels\nprint(kernels.kernel.__name__)")
    assert run("-m", "nereid", "run", "--as-triton", script).stdout.split()[-1] == "kernel"


def test_ranks(tmp_path, cache_folder):
    script = write(tmp_path / "script.py", DISTRIBUTED)
    done = run("-m", "nereid", "run", "-n", "3", "--as-triton", script)
    assert sorted(done.stdout.split("\n")[:3]) == ["got 10", "got 11", "got 12"]


def test_what_is_not_there(tmp_path):
    script = write(tmp_path / "script.py", """
        import triton
        try:
            import triton.experimental.gluon
        except ModuleNotFoundError as error:
            print(error)
    """)
    assert "No module named 'triton.experimental': Nereid stands in for triton here" in run(
        "-m", "nereid", "run", "--as-triton", script).stdout
    script = write(tmp_path / "names.py", """
        import triton
        try:
            from triton.testing import no_such_name
        except ImportError as error:
            print(error)
        print(hasattr(triton, "no_such_name"), triton.language.float32)
        triton.no_such_name
    """)
    done = run("-m", "nereid", "run", "--as-triton", script, code=1)
    assert "cannot import name 'no_such_name' from 'triton.testing'" in done.stdout and "False fp32" in done.stdout
    assert "module 'triton' has no attribute 'no_such_name': Nereid stands in for it here" in done.stderr


def test_in_process(tmp_path):
    """Asked for by an import, not before; given back; refused when it comes too late."""
    script = write(tmp_path / "script.py", """
        import sys
        import nereid
        assert "triton" not in sys.modules
        from nereid.compat import triton as compat
        import triton, importlib.util
        assert triton.jit is nereid.jit and importlib.util.find_spec("triton.language") is not None
        compat.install()
        compat.uninstall()
        assert "triton" not in sys.modules and not compat.is_installed()
        import types
        sys.modules["triton"] = types.ModuleType("triton")
        try:
            compat.install()
        except ImportError as error:
            print(error)
    """)
    assert "triton has been imported already" in run(script).stdout


# ---- processes that a script starts


CHILDREN = """
import multiprocessing, subprocess, sys

def child(results):
    import triton, triton.language as tl, shmem
    import nereid
    results.put((triton.jit is nereid.jit, shmem.InitAttr().n_ranks))

if __name__ == "__main__":
    for method in ("spawn", "fork", "forkserver"):
        context = multiprocessing.get_context(method)
        results = context.Queue()
        process = context.Process(target=child, args=(results,))
        process.start()
        print(method, *results.get(timeout=60))
        process.join()
    code = "import triton, nereid; print('subprocess', triton.jit is nereid.jit)"
    print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip())
"""


def test_children(tmp_path):
    """However a script starts processes, names mean the same in them."""
    script = write(tmp_path / "script.py", CHILDREN)
    expected = ["spawn True 1", "fork True 1", "forkserver True 1", "subprocess True"]
    for start in (["-m", "nereid", "run", "--as-triton"], ["-m", "nereid.compat"]):
        assert run(*start, script).stdout.split("\n")[:4] == expected
    done = run("-m", "nereid", "run", "--as-triton", "bash", "-c", f"{sys.executable} {script}")
    assert done.stdout.split("\n")[:4] == expected
    # Only there.
    assert run("-c", "import sys; print(any('_FirstImport' in str(finder) for finder in sys.meta_path))").stdout == "False\n"


def test_pytest(tmp_path):
    write(tmp_path / "test_it.py", """
        import triton, nereid, shmem
        def test_names():
            nereid.init()
            assert triton.jit is nereid.jit and nereid.world_size() == 2
        """)
    done = run("-m", "nereid", "run", "-n", "2", "--as-triton", "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path)
    assert done.stdout.count("1 passed") == 2, done.stdout


def test_start_up_files_of_others(tmp_path):
    """The start-up file that ours hides runs all the same; PYTHONPATH of --env is kept."""
    write(tmp_path / "sitecustomize.py", "print('hidden one')\n")
    write(tmp_path / "beside.py", "value = 5\n")
    script = write(tmp_path / "scripts.py", "import triton, nereid, beside; print(triton.jit is nereid.jit, beside.value)")
    done = run("-m", "nereid", "run", "--as-triton", f"--env=PYTHONPATH={tmp_path}", script)
    assert done.stdout == "hidden one\nTrue 5\n"


def test_another_python(tmp_path):
    """A Python that has no Nereid runs what does not need it, and is told where it does."""
    import os

    script = write(tmp_path / "script.py", """
        import subprocess, sys
        other = [sys.executable, "-S", "-c"]
        start = "import runpy, sys; runpy.run_path(sys.path[1] + '/sitecustomize.py'); "
        print(subprocess.run([*other, start + "print('fine')"], capture_output=True, text=True).stdout.strip())
        print(subprocess.run([*other, start + "import triton"], capture_output=True, text=True).stderr.strip())
    """)
    done = run("-m", "nereid", "run", "--as-triton", f"--env=PYTHONPATH={os.path.dirname(os.__file__)}", script)
    assert done.stdout.startswith("fine\n")
    assert "cannot import Nereid: No module named 'nereid'" in done.stdout.splitlines()[-1], done.stdout


OWN_RANKS = """
import multiprocessing, os
import numpy as np

def rank_process(rank, size, port, results):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    import nereid
    nereid.init()
    results.put((rank, int(nereid.symm.all_reduce(np.array([rank + 1]))[0]), nereid.world_size()))

if __name__ == "__main__":
    context = multiprocessing.get_context("METHOD")
    results = context.Queue()
    port = os.environ.get("MASTER_PORT", "29511")
    children = [context.Process(target=rank_process, args=(rank, 3, port, results)) for rank in range(3)]
    for child in children:
        child.start()
    print(sorted(results.get(timeout=60) for _ in children))
    for child in children:
        child.join()
"""


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_ranks_that_the_script_starts(tmp_path, method):
    """One process under the launcher, or none, that starts the ranks itself."""
    script = write(tmp_path / "script.py", OWN_RANKS.replace("METHOD", method))
    for start in (["-m", "nereid", "run", "-n", "1"], []):
        assert run(*start, script).stdout == "[(0, 6, 3), (1, 6, 3), (2, 6, 3)]\n"


@pytest.mark.parametrize("name", [
    "triton.language.extra.cann.extension", "triton.language.math", "triton.language.standard", "triton.runtime.jit",
    "triton.runtime.autotuner", "triton.runtime.errors", "triton.compiler.errors", "triton.backends.compiler",
    "triton.backends.ascend.driver", "triton.language.extra.cuda.libdevice", "triton_dist.language.extra",
    "triton_dist.language.extra.libshmem_device", "triton.tools.tensor_descriptor", "triton.testing",
])
def test_names(name):
    from nereid.compat import _names

    assert name in _names.modules()


# ---- orders of tiles, the NPU's host library


def order_kernel(function, names):
    import nereid
    import nereid.language as tl

    @nereid.jit
    def one(out_ptr, rank_size, rows, columns, tile_rows, tile_columns, OFFSET: tl.constexpr, COUNT: tl.constexpr):
        step = tl.program_id(0)
        if COUNT == 2:
            found = function(step, rows, columns, tile_rows, tile_columns, OFFSET)
        else:
            found = function(step, rank_size, rows, columns, tile_rows, tile_columns, OFFSET)
        for i in tl.static_range(COUNT):
            tl.store(out_ptr + step * COUNT + i, found[i])

    return one


def test_orders_visit_every_tile_once():
    import numpy as np

    from nereid.compat import _orders

    rng = np.random.default_rng(3)
    for _ in range(6):
        rows, columns, height, width, offset = (int(n) for n in rng.integers((1, 1, 1, 1, 1), (40, 40, 9, 9, 8)))
        grid = (-(-rows // height), -(-columns // width))
        tiles = grid[0] * grid[1]
        out = np.zeros((tiles, 2), np.int32)
        order_kernel(_orders.gemm_swizzle2d_Nz, 2)[(tiles,)](out, 1, rows, columns, height, width, OFFSET=offset, COUNT=2)
        assert {tuple(tile) for tile in out} == {(r, c) for r in range(grid[0]) for c in range(grid[1])}
        ranks = int(rng.integers(1, 6))
        out = np.zeros((tiles * ranks, 5), np.int32)
        order_kernel(_orders.dist_swizzle2d_Nz, 5)[(tiles * ranks,)](
            out, ranks, rows, columns, height, width, OFFSET=1, COUNT=5)
        assert len({tuple(tile) for tile in out[:, :3]}) == tiles * ranks and set(out[:, 2]) == set(range(ranks))
        area = (out[:, 3] * out[:, 4]).sum()
        assert area == ranks * rows * columns


SHMEM = """
import os
import shmem as ash
import torch
import triton
import triton.language as tl
from triton_dist.language.extra import libshmem_device


@triton.jit
def put(x_ptr):
    libshmem_device.int_p(x_ptr, 7 + libshmem_device.my_pe(), (libshmem_device.my_pe() + 1) % libshmem_device.n_pes())
    libshmem_device.barrier_all()


attributes = ash.InitAttr()
attributes.my_rank, attributes.n_ranks = int(os.environ["NEREID_RANK"]), int(os.environ["NEREID_WORLD_SIZE"])
attributes.local_mem_size = 1 << 20
attributes.option_attr.data_op_engine_type = ash.OpEngineType.MTE
assert ash.set_conf_store_tls(False, "") == 0 and ash.aclshmem_init(attributes) == 0
x = ash.aclshmem_create_tensor([4], dtype=torch.int32, device_id=0)
put[(1,)](x)
print("got", int(x[0]))
ash.aclshmem_free_tensor(x)
assert ash.aclshmem_finialize() == 0
"""


def test_host_library_of_the_npu(tmp_path, cache_folder):
    pytest.importorskip("torch")
    script = write(tmp_path / "script.py", SHMEM)
    done = run("-m", "nereid", "run", "-n", "2", "--as-triton", script)
    assert sorted(done.stdout.split("\n")[:2]) == ["got 7", "got 8"]


AGGREGATES = """
import numpy as np
import triton
import triton.language as tl
from triton.language.core import _aggregate as aggregate, builtin


@builtin
def low_level(x, _semantic=None):
    return _semantic.add(x, x)


@aggregate
class Pair:
    a: tl.tensor
    K: tl.constexpr

    def __init__(self, a, K):
        self.a = a
        self.K = K


@triton.jit
def kernel(x_ptr, BAD: tl.constexpr):
    pair = Pair(tl.load(x_ptr), tl.constexpr(3))
    tl.store(x_ptr, pair.a * pair.K)
    if BAD:
        low_level(3)


x = np.array([5])
kernel[(1,)](x, False)
assert x[0] == 15
try:
    kernel[(1,)](x, True)
except triton.CompilationError as error:
    print("low_level" in str(error), "@builtin" in str(error))
"""


def test_aggregates_and_builtins_of_core(tmp_path):
    file = tmp_path / "aggregates.py"
    file.write_text(AGGREGATES)
    result = subprocess.run(
        [sys.executable, "-m", "nereid", "run", "--as-triton", str(file)], capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, result.stderr
    assert "True True" in result.stdout, result.stdout
