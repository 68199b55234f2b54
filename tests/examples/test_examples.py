# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples as a user runs them: `nereid run -n RANKS examples/NAME.py ...`.

Each example checks its results itself; these tests choose rank counts, shapes and
schedules. Shapes are random and odd: the seed stands in the header of the test run, and
NEREID_TEST_SEED repeats it.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
NEREID = Path(sys.executable).parent / "nereid"

SEED = int(os.environ["NEREID_TEST_SEED"])  # set by conftest.py when the caller did not
RANKS = [1, 2, 3, 4, 8]

#: Arguments of each distributed example; {odd} stands for a list of random shapes.
DISTRIBUTED = {
    "04_producer_consumer": ["--size", "{odd:5000}", "--dtype", "float32"],
    "05_all_gather": ["--size", "{odd:5000}", "--dtype", "float16"],
    "06_all_to_all": ["--shape", "{odd:40,4,80}", "--dtype", "float32"],
    "07_allgather_gemm": ["--shape", "{odd:130,130,130}", "--dtype", "float16"],
    "08_gemm_reduce_scatter": ["--shape", "{odd:130,130,130}", "--dtype", "float16"],
    "09_allgather_gemm_signals": ["--shape", "{odd:130,130,130}", "--dtype", "float16"],
    "10_all_gather_over_nodes": ["--size", "{odd:5000}", "--dtype", "float32"],
    "11_allgather_gemm_roles": ["--shape", "{odd:130,130,16*8}", "--dtype", "float16"],
    "12_gemm_reduce_scatter_roles": ["--shape", "{odd:130,130,16*8}", "--dtype", "float16"],
}


def generator(*key) -> np.random.Generator:
    return np.random.default_rng([SEED, *(int.from_bytes(str(part).encode(), "little") for part in key)])


def odd_shapes(rng: np.random.Generator, limits: str, count: int = 2) -> list[str]:
    """`count` shapes with odd sizes up to the limits, as the examples take them; "16*8": an odd number up
    to 16, times 8."""
    def size(limit: str) -> int:
        most, _, factor = limit.partition("*")
        return (int(rng.integers(0, (int(most) + 1) // 2)) * 2 + 1) * int(factor or 1)

    return [",".join(str(size(limit)) for limit in limits.split(",")) for _ in range(count)]


def expand(arguments: list[str], rng: np.random.Generator) -> list[str]:
    expanded = []
    for argument in arguments:
        match = re.fullmatch(r"\{odd:([\d,*]+)\}", argument)
        expanded += odd_shapes(rng, match.group(1)) if match else [argument]
    return expanded


def run_example(name: str, arguments: list[str], ranks: int | None = None, **environment: str) -> str:
    """Standard output of the example; fails the test with everything it printed when it fails."""
    command = [str(NEREID), "run", "-n", str(ranks)] if ranks else [sys.executable]
    command += [str(EXAMPLES / f"{name}.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, cwd=ROOT,
                          env={**os.environ, **environment})
    if done.returncode:
        settings = " ".join(f"{key}={value}" for key, value in environment.items())
        pytest.fail(f"NEREID_TEST_SEED={SEED}; {settings} {' '.join(command)}\n"
                    f"exit code {done.returncode}\n{done.stdout}{done.stderr}", pytrace=False)
    return done.stdout


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
def test_vector_add(dtype):
    sizes = odd_shapes(generator("add", dtype), "100000")
    output = run_example("01_vector_add", ["--dtype", dtype, "--size", "1", *sizes])
    assert output.count("ok\n") == 1 + len(sizes)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_softmax(dtype):
    shapes = odd_shapes(generator("softmax", dtype), "200,2000", 3)
    assert run_example("02_softmax", ["--dtype", dtype, "--shape", *shapes]).count("ok\n") == 3


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("transposed", [False, True], ids=["row-major", "transposed"])
def test_matmul(dtype, transposed):
    shapes = odd_shapes(generator("matmul", dtype, transposed), "300,300,300", 3)
    arguments = ["--dtype", dtype, "--shape", *shapes] + ["--transposed"] * transposed
    assert run_example("03_matmul", arguments).count("ok\n") == 3


def test_single_rank_example_on_several_ranks():
    assert run_example("01_vector_add", ["--size", "777"], ranks=3).count("ok\n") == 1


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", DISTRIBUTED)
def test_distributed(name, ranks):
    arguments = expand(DISTRIBUTED[name], generator(name, ranks))
    assert run_example(name, arguments, ranks).count("ok\n") == 2


@pytest.mark.parametrize("repeat", range(3))
@pytest.mark.parametrize("name", DISTRIBUTED)
def test_distributed_under_random_schedules(name, repeat):
    """The order of programs shuffled and yields injected: results must not depend on it."""
    rng = generator(name, "schedule", repeat)
    arguments = expand(DISTRIBUTED[name], rng)
    schedule = f"random:{rng.integers(1, 2**31)}"
    output = run_example(name, [*arguments, "--seed", str(repeat)], int(rng.integers(2, 5)), NEREID_SCHEDULE=schedule)
    assert output.count("ok\n") == 2


@pytest.mark.parametrize("programs", [1, 3, 7])
@pytest.mark.parametrize("name", ["05_all_gather", "06_all_to_all", "07_allgather_gemm", "08_gemm_reduce_scatter",
                                  "09_allgather_gemm_signals"])
def test_any_number_of_programs(name, programs):
    arguments = expand(DISTRIBUTED[name], generator(name, "programs", programs))
    assert run_example(name, [*arguments, "--programs", str(programs)], 2).count("ok\n") == 2


@pytest.mark.parametrize("per_node", ["1", "2"])
def test_over_several_nodes(per_node):
    arguments = expand(DISTRIBUTED["10_all_gather_over_nodes"], generator("nodes", per_node))
    assert run_example("10_all_gather_over_nodes", arguments, 4, NEREID_RANKS_PER_NODE=per_node).count("ok\n") == 2


def test_a_forgotten_fence_is_found():
    command = [str(NEREID), "run", "-n", "3", "--schedule=random:1..10", str(EXAMPLES / "10_all_gather_over_nodes.py"),
               "--forget-fence", "--size", "257", "--rounds", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, cwd=ROOT)
    assert done.returncode != 0 and "To repeat it:" in done.stderr, done.stderr


@pytest.mark.parametrize("wire", ["float16", "float32"])
def test_partial_sums_in_either_type(wire):
    shapes = odd_shapes(generator("wire", wire), "150,150,150")
    run_example("08_gemm_reduce_scatter", ["--shape", *shapes, "--wire", wire, "--dtype", "float16"], 3)


def test_narrow_queue():
    """One slot and one lane: producer and consumer take strict turns."""
    run_example("04_producer_consumer", ["--size", "1111", "--slots", "1", "--lanes", "1"], 3)


@pytest.mark.parametrize("ranks", [1, 4])
def test_first_light_prints_its_table(ranks):
    shapes = odd_shapes(generator("first light", ranks), "100,100,100")
    output = run_example("first_light", ["--shape", *shapes, "--repeats", "2"], ranks)
    rows = [line.split() for line in output.splitlines() if line.startswith(("AllGather+GEMM", "GEMM+ReduceScatter"))]
    assert len(rows) == 4
    for row in rows:
        # kernel, m x n x k, ranks, largest error, allowed error, time, unit, GFLOP/s
        assert row[6] == str(ranks)
        assert float(row[7]) <= float(row[8])
        assert float(row[9]) > 0 and row[10] == "ms" and float(row[11]) >= 0


def test_wrong_result_is_found(tmp_path):
    """The examples' own check can fail: a kernel that is off by one element is caught."""
    source = (EXAMPLES / "05_all_gather.py").read_text(encoding="utf-8")
    assert "rank * n_elements + offs" in source
    broken = tmp_path / "broken.py"
    broken.write_text(source.replace("rank * n_elements + offs", "rank * n_elements + offs * 0"), encoding="utf-8")
    done = subprocess.run([str(NEREID), "run", "-n", "2", str(broken)], capture_output=True, text=True, timeout=240,
                          env={**os.environ, "PYTHONPATH": str(EXAMPLES)})
    assert done.returncode != 0
    assert "elements are off" in done.stdout + done.stderr
