# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ways to start a job: nereid run with all its options, torchrun, mpirun, PMI and Slurm environments, signals."""

import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

NEREID = str(Path(sys.executable).parent / "nereid")
CHECK = """
import os, sys
import numpy as np
import nereid
nereid.init()
ranks = nereid.symm.all_gather(np.array([nereid.rank(), nereid.world_size()]))
assert (ranks[:, 0] == np.arange(nereid.world_size())).all(), ranks
sys.stdout.write(f"rank {nereid.rank()} of {nereid.world_size()}\\n")
sys.stdout.flush()
"""
LAUNCHER_VARIABLES = re.compile(r"^(NEREID_(RANK|WORLD|LOCAL|JOB)|RANK$|WORLD_SIZE$|LOCAL_|MASTER_|OMPI_|PMI|SLURM_(?!CONF$))")


def clean_environment(**more: str) -> dict[str, str]:
    return {**{name: value for name, value in os.environ.items() if not LAUNCHER_VARIABLES.match(name)}, **more}


def write(tmp_path, body: str) -> str:
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(body), encoding="utf-8")
    return str(script)


def run(command, timeout=100, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout,
                          **{"env": clean_environment(), **options})
    return done.returncode, done.stdout, done.stderr


# ---- nereid run


def test_prefixes(tmp_path):
    script = write(tmp_path, """
        import nereid, sys
        nereid.init()
        print("to stdout")
        print("to stderr", file=sys.stderr)
        print("no newline at the end", end="")
        """)
    code, out, err = run([NEREID, "run", "-n", "2", "--tag-output", script])
    assert code == 0
    for rank in (0, 1):
        assert f"[{rank}] to stdout\n" in out and f"[{rank}] no newline at the end\n" in out
        assert f"[{rank}] to stderr\n" in err
    code, out, err = run([NEREID, "run", "-n", "2", "--tag-output", "--no-tag-output", script])
    assert code == 0 and "[" not in out


def test_environment_of_all_and_of_one_rank(tmp_path):
    script = write(tmp_path, """
        import os, sys
        sys.stdout.write(f"{os.environ['NEREID_RANK']}: {os.environ['A']} {os.environ['B']}\\n")
        """)
    code, out, _ = run([NEREID, "run", "-n", "3", "--env", "A=file-{rank}", "--env", "B=all", "--rank-env", "1:B=x={rank}",
                        script])
    assert code == 0 and sorted(out.splitlines()) == ["0: file-0 all", "1: file-1 x=1", "2: file-2 all"]


@pytest.mark.parametrize("options, text", [
    (["--rank-env", "A=1"], "RANK:NAME=VALUE"), (["--rank-env", "2:A=1"], "ranks 0 to 1"), (["--env", "A"], "NAME=VALUE"),
])
def test_wrong_environment_options(tmp_path, options, text):
    code, _, err = run([NEREID, "run", "-n", "2", *options, write(tmp_path, "")])
    assert code == 2 and text in err


def test_standard_input_goes_to_rank_0(tmp_path):
    script = write(tmp_path, """
        import os, sys
        sys.stdout.write(f"{os.environ['NEREID_RANK']}: {sys.stdin.read()!r}\\n")
        """)
    code, out, _ = run([NEREID, "run", "-n", "2", script], input="some text")
    assert code == 0 and sorted(out.splitlines()) == ["0: 'some text'", "1: ''"]


def test_modules_programs_and_pytest_inside(tmp_path):
    (tmp_path / "my_module.py").write_text(CHECK)
    code, out, err = run([NEREID, "run", "-n", "2", "-m", "my_module"], cwd=tmp_path)
    assert code == 0 and sorted(out.splitlines()) == ["rank 0 of 2", "rank 1 of 2"], err
    code, out, err = run([NEREID, "run", "-n", "2", sys.executable, "-m", "my_module"], cwd=tmp_path)
    assert code == 0 and sorted(out.splitlines()) == ["rank 0 of 2", "rank 1 of 2"], err
    code, out, err = run([sys.executable, "-m", "nereid", "run", "-n", "2", "-m", "my_module"], cwd=tmp_path)
    assert code == 0 and len(out.splitlines()) == 2, err
    test = tmp_path / "test_inside.py"
    test.write_text("import nereid, numpy as np\n\n\ndef test_sum():\n    nereid.init()\n"
                    "    assert nereid.symm.all_reduce(np.array([2]))[0] == 2 * nereid.world_size()\n")
    code, out, err = run([NEREID, "run", "-n", "2", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null",
                          "--rootdir", str(tmp_path), str(test)])
    assert code == 0 and out.count("1 passed") == 2, out + err


@pytest.mark.parametrize("end, expected", [
    ("sys.exit(5)", 5), ("raise KeyError('lost')", 1), ("os.kill(os.getpid(), signal.SIGKILL)", 137),
    ("os.abort()", 134), ("os._exit(9)", 9),
])
def test_exit_codes(tmp_path, end, expected):
    script = write(tmp_path, f"""
        import os, signal, sys, nereid
        nereid.init()
        if nereid.rank() == 1:
            {end}
        nereid.barrier()
        """)
    code, _, err = run([NEREID, "run", "-n", "3", script])
    assert code == expected and "rank 1" in err, err


def test_tracebacks_are_in_one_piece(tmp_path):
    script = write(tmp_path, """
        import nereid
        nereid.init()

        def deeper(depth):
            if depth == 0:
                raise ValueError(f"from {nereid.rank()}")
            deeper(depth - 1)

        deeper(8)
        """)
    for _ in range(2):
        code, _, err = run([NEREID, "run", "-n", "4", script], env=clean_environment(PYTHONUNBUFFERED="1"))
        assert code == 1
        pieces = re.findall(r"rank (\d):\nTraceback \(most recent call last\):\n(?:  .*\n)*ValueError: from (\d)\n", err)
        assert sorted(pieces) == [(str(rank), str(rank)) for rank in range(4)], err


def processes_of(marker: str) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (folder / "cmdline").read_bytes() and "State:\tZ" not in (folder / "status").read_text():
                found.append(int(folder.name))
        except OSError:
            pass
    return found


STOPPED = """
import os, sys, time
import numpy as np
import nereid
import nereid.distributed as dl
import nereid.language as tl

@nereid.jit
def kernel(signal_ptr, x_ptr):
    token = dl.wait(signal_ptr, 1, "gpu", "acquire")
    tl.store(dl.consume_token(x_ptr, token), 1.0)

nereid.init(timeout=0)
signals, x = nereid.symm.zeros(1, np.int64), nereid.symm.zeros(1)
nereid.barrier()
sys.stdout.write("READY\\n")
sys.stdout.flush()
if nereid.rank() == 0:
    time.sleep(1000)
elif nereid.rank() == 1:
    kernel[(1,)](signals, x)
else:
    nereid.barrier()
"""


@pytest.mark.parametrize("how", ["SIGINT to the launcher", "SIGTERM to the launcher", "SIGINT to the group", "SIGHUP"])
def test_signals_stop_a_job(tmp_path, how):
    script = write(tmp_path, STOPPED)
    number = getattr(signal, how.split()[0])
    job = subprocess.Popen([NEREID, "run", "-n", "3", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           env=clean_environment(), start_new_session=True)
    try:
        for _ in range(3):
            assert job.stdout.readline() == "READY\n"
        time.sleep(0.3)
        if how.endswith("group"):
            os.killpg(job.pid, number)
        else:
            job.send_signal(number)
        start = time.monotonic()
        output, _ = job.communicate(timeout=60)
    finally:
        job.kill()
        job.wait()
    assert job.returncode == 128 + number, output
    assert time.monotonic() - start < 10
    assert processes_of(script) == []
    if number == signal.SIGINT:
        assert "KeyboardInterrupt" in output, output


# ---- environments of other launchers


def start_by_environment(tmp_path, environments: list[dict[str, str]], body: str = CHECK):
    script = write(tmp_path, body)
    ranks = [subprocess.Popen([sys.executable, script], env=clean_environment(**{"NEREID_INIT_TIMEOUT": "20", **environment}),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for environment in environments]
    results = [rank.communicate(timeout=60) for rank in ranks]
    return [rank.returncode for rank in ranks], "".join(out for out, _ in results), "".join(err for _, err in results)


CONVENTIONS = {
    "torchrun": lambda rank, size, key: {
        "RANK": rank, "WORLD_SIZE": size, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": size, "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": key, "TORCHELASTIC_RUN_ID": "none", "TORCHELASTIC_RESTART_COUNT": "0"},
    "Open MPI": lambda rank, size, key: {
        "OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": size, "OMPI_COMM_WORLD_LOCAL_SIZE": size,
        "PMIX_NAMESPACE": key},
    "PMI": lambda rank, size, key: {"PMI_RANK": rank, "PMI_SIZE": size, "PMI_JOBID": key},
    "Slurm": lambda rank, size, key: {
        "SLURM_PROCID": rank, "SLURM_NTASKS": size, "SLURM_STEP_NUM_TASKS": size, "SLURM_JOB_ID": key,
        "SLURM_STEP_ID": "0"},
}


def test_names_of_torchrun(tmp_path):
    """The ranks of nereid run find what torch.distributed reads, with a port on which one of them can listen; so do
    those of nereid.testing.spawn."""
    code, out, err = run([NEREID, "run", "-n", "3", "--env", "MASTER_ADDR=localhost", write(tmp_path, """
        import os, socket, sys
        import nereid
        nereid.init()
        names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE")
        if nereid.rank() == 0:
            listener = socket.create_server(("127.0.0.1", int(os.environ["MASTER_PORT"])))
        nereid.barrier()
        if nereid.rank():
            socket.create_connection((os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])), timeout=20).close()
        nereid.barrier()
        sys.stdout.write(" ".join(os.environ[name] for name in names) + "\\n")

        def inner():
            return [os.environ[name] for name in names], os.environ["MASTER_PORT"]

        if nereid.rank() == 0:
            nereid.finalize()
            (first, port), (second, same) = nereid.testing.spawn(inner, 2)
            assert (first, second) == (["0", "0", "2", "2"], ["1", "1", "2", "2"]) and port == same
            assert port != os.environ["MASTER_PORT"]
        """)], env=clean_environment(RANK="7", WORLD_SIZE="9", MASTER_PORT="1"))
    assert code == 0 and sorted(out.splitlines()) == ["0 0 3 3", "1 1 3 3", "2 2 3 3"], out + err


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_environments_of_other_launchers(tmp_path, convention):
    key = str(os.getpid())
    codes, out, err = start_by_environment(
        tmp_path, [CONVENTIONS[convention](str(rank), "2", key) for rank in range(2)])
    assert codes == [0, 0] and sorted(out.splitlines()) == ["rank 0 of 2", "rank 1 of 2"], err


@pytest.mark.parametrize("environment, text", [
    ({"RANK": "0"}, "WORLD_SIZE"),
    ({"WORLD_SIZE": "2"}, "RANK"),
    ({"RANK": "2", "WORLD_SIZE": "2"}, "ranks 0..1"),
    ({"RANK": "one", "WORLD_SIZE": "2"}, "not a whole number"),
    ({"RANK": "0", "WORLD_SIZE": "0"}, "1..4096"),
    ({"RANK": "0", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2"}, "several machines"),
    ({"RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "3"}, "contradicts"),
    ({"NEREID_RANK": "0", "NEREID_WORLD_SIZE": "2", "NEREID_JOB_FD": "99"}, "NEREID_JOB_FD"),
])
def test_missing_or_contradictory_variables(tmp_path, environment, text):
    codes, _, err = start_by_environment(tmp_path, [environment])
    assert codes == [1] and text in err and "JobError" in err, err


def test_ranks_that_never_come_and_ranks_that_come_twice(tmp_path):
    make = CONVENTIONS["torchrun"]
    codes, _, err = start_by_environment(tmp_path, [{**make("0", "2", "1"), "NEREID_INIT_TIMEOUT": "1"}],
                                         CHECK.replace("nereid.init()", "nereid.init(init_timeout=1)"))
    assert codes == [1] and "rank 1" in err, err
    key = str(os.getpid())
    codes, _, err = start_by_environment(tmp_path, [make("0", "3", key), make("1", "3", key), make("1", "3", key)],
                                         CHECK.replace("nereid.init()", "nereid.init(init_timeout=5)"))
    assert 0 not in codes and "rank 1" in err, err


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="there is no mpirun here (Debian: openmpi-bin)")
def test_mpirun(tmp_path):
    command = ["mpirun", "-n", "3", "--oversubscribe", "--mca", "btl", "self,vader", "--mca", "oob_tcp_if_include", "lo"]
    if os.geteuid() == 0:
        command.append("--allow-run-as-root")
    code, out, err = run([*command, sys.executable, write(tmp_path, CHECK)])
    assert code == 0 and sorted(out.splitlines()) == [f"rank {rank} of 3" for rank in range(3)], out + err
    script = write(tmp_path, """
        import os, signal, sys, nereid
        nereid.init()
        if nereid.rank() == 1:
            os._exit(6)
        try:
            nereid.barrier()
        except nereid.JobError as error:
            sys.stdout.write(f"SURVIVOR {error}\\n")
            sys.stdout.flush()
            raise
        """)
    code, out, err = run([*command, sys.executable, script])
    assert code != 0


def slurm_answers() -> bool:
    if shutil.which("srun") is None or shutil.which("sinfo") is None:
        return False
    try:
        return "idle" in subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True, timeout=5).stdout
    except subprocess.TimeoutExpired:
        return False


def test_srun(tmp_path):
    if not slurm_answers():
        pytest.skip("there is no Slurm with an idle node here (Debian: slurmctld, slurmd, slurm-client)")
    code, out, err = run(["srun", "-n", "3", "--overcommit", "--mpi=none", sys.executable, write(tmp_path, CHECK)])
    assert code == 0 and sorted(out.splitlines()) == [f"rank {rank} of 3" for rank in range(3)], out + err


@pytest.mark.skipif(shutil.which("torchrun") is None, reason="there is no torchrun here (Debian: python3-torch)")
def test_torchrun(tmp_path):
    """torchrun may belong to another Python than this one, so it is given a command to run. It is told
    what to do with each rank's output, since torch 1.13 under Python 3.11 fails by default."""
    code, out, err = run(["torchrun", "--standalone", "--nnodes=1", "--nproc_per_node=2", "--redirects=0:1,1:1", "--tee=0:1,1:1", "--no_python",
                          sys.executable, write(tmp_path, CHECK)])
    assert code == 0 and "rank 0 of 2" in out and "rank 1 of 2" in out, out + err
