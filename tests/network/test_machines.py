# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Jobs on several machines, which here are network namespaces: they meet, move data, tell each other what goes wrong,
and leave nothing behind."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import namespaces

ROOT = Path(__file__).parents[2]
NEREID = str(Path(sys.executable).parent / "nereid")
LAUNCHERS = re.compile(r"(NEREID_|RANK$|WORLD_SIZE$|LOCAL_|MASTER_|OMPI_|PMI|SLURM_(?!CONF$))")
WHY_NOT = namespaces.why_not()
needs_namespaces = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))


@pytest.fixture(scope="module")
def two():
    with namespaces.machines(2) as made:
        yield made


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not LAUNCHERS.match(name)}
    return {**kept, "NEREID_HEAP_SIZE": "64M", "NEREID_INIT_TIMEOUT": "40", "NEREID_TIMEOUT": "30", **more}


def port() -> str:
    return str(random.SystemRandom().randrange(30000, 32000))


def script_of(tmp_path, body: str) -> str:
    path = tmp_path / "script.py"
    path.write_text("import os, signal, sys, time\nimport numpy as np\nimport nereid\n" + textwrap.dedent(body),
                    encoding="utf-8")
    return str(path)


def finish(processes: list[subprocess.Popen], timeout: float = 120):
    """Exit codes and outputs; a process that does not end is one left behind."""
    results = []
    try:
        for process in processes:
            out, err = process.communicate(timeout=timeout)
            results.append((process.returncode, out, err))
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
    return results


def by_hand(script, variables, inside=None):
    """A process for each of `variables`, in namespace inside[i]."""
    return [subprocess.Popen([*(inside[i] if inside else []), sys.executable, script], env=environment(**own),
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for i, own in enumerate(variables)]


def ranks_by_hand(script, meet, world, inside=None, **each):
    rows = [{"NEREID_RANK": str(r), "NEREID_WORLD_SIZE": str(world), "NEREID_RENDEZVOUS": meet,
             **{name: value[r] for name, value in each.items() if value[r] is not None}} for r in range(world)]
    return by_hand(script, rows, inside)


def run_hosts(two, script, counts=(2, 2), *options: str, timeout=150, arguments=(), env=None):
    job = start_hosts(two, script, counts, *options, arguments=arguments, env=env)
    out, err = job.communicate(timeout=timeout)
    return job.returncode, out, err


def start_hosts(two, script, counts=(2, 2), *options: str, arguments=(), env=None):
    return subprocess.Popen(
        [NEREID, "run", "--hosts", two.hosts(*counts), "--start", two.start, "--rendezvous", two.rendezvous(int(port())),
         *options, script, *arguments], env=env or environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=ROOT)


def left_behind(script: str) -> list[str]:
    """Processes that still run it, after a moment."""
    for _ in range(100):
        found = subprocess.run(["pgrep", "-f", re.escape(script)], capture_output=True, text=True).stdout.split()
        if not found:
            return []
        time.sleep(0.1)
    return found


# ---- meeting; on one machine, over the loopback interface

JOINS = """
nereid.init()
world = nereid.world_size()
assert (nereid.symm.all_gather(np.array([nereid.rank()])).ravel() == np.arange(world)).all()
print("rank", nereid.rank(), "of", world)
"""


def test_ranks_of_one_machine_that_meet_over_the_network_are_a_job_like_any_other(tmp_path):
    results = finish(ranks_by_hand(script_of(tmp_path, JOINS), f"127.0.0.1:{port()}", 3))
    assert [code for code, _, _ in results] == [0, 0, 0], results
    assert sorted(out for _, out, _ in results) == [f"rank {rank} of 3\n" for rank in range(3)]


@pytest.mark.parametrize("name, own, other, text", [
    ("NEREID_PROFILE", "host", "cuda", r"rank 1 on host \S+ has NEREID_PROFILE=cuda, rank 0 on host \S+ has "
     "NEREID_PROFILE=host; set it alike on all hosts"),
    ("NEREID_HEAP_SIZE", "64M", "32M", "has NEREID_HEAP_SIZE=33554432, rank 0 .* has NEREID_HEAP_SIZE=67108864"),
    ("NEREID_TRANSPORT", "ucx", "remote", "has NEREID_TRANSPORT=remote, rank 0 on host .* has NEREID_TRANSPORT=ucx"),
    ("NEREID_SECRET", "one", "another", "rank 1 on host .* has another NEREID_SECRET than rank 0 on host"),
    ("NEREID_SECRET", None, "another", "has another NEREID_SECRET"),
    ("NEREID_WORLD_SIZE", "2", "3", "has '3' for the number of ranks, rank 0 on host .* has '2' for the number of ranks"),
    ("NEREID_RANK", "0", "0", "two processes are rank 0|another rank 0 of this one, listens there"),
])
def test_what_ranks_have_set_unlike_is_named_with_both_sides(tmp_path, name, own, other, text):
    each = {name: [own, other]}
    if name == "NEREID_RANK":
        each["NEREID_INIT_TIMEOUT"] = ["6", "6"]
    results = finish(ranks_by_hand(script_of(tmp_path, JOINS), f"127.0.0.1:{port()}", 2, **each))
    assert 0 not in [code for code, _, _ in results], results
    assert any(re.search(text, err) for _, _, err in results), results
    if name != "NEREID_RANK":
        assert all(re.search(text, err) for _, _, err in results), results


def test_two_processes_with_one_rank_are_named(tmp_path):
    rows = [{"NEREID_RANK": rank, "NEREID_WORLD_SIZE": "4", "NEREID_RENDEZVOUS": f"127.0.0.1:{port()}"}
            for rank in ("0", "1", "3", "3")]
    rows = [{**row, "NEREID_RENDEZVOUS": rows[0]["NEREID_RENDEZVOUS"]} for row in rows]
    results = finish(by_hand(script_of(tmp_path, JOINS), rows))
    assert 0 not in [code for code, _, _ in results], results
    assert all(re.search(r"two processes are rank 3 of this job: process \d+ on host \S+ and process \d+ on host", err)
               for _, _, err in results), results


@pytest.mark.parametrize("meet, text", [
    ("nowhere", "NEREID_RENDEZVOUS='nowhere': expected host:port"),
    ("127.0.0.1:0", "expected host:port"),
    ("no-such-host.invalid:4000", "there is no address of 'no-such-host.invalid', where NEREID_RENDEZVOUS says"),
    ("192.0.2.1:4000", "cannot listen at 192.0.2.1:4000, .*it must be an address of the host on which rank 0 runs"),
])
def test_places_to_meet_that_are_none(tmp_path, meet, text):
    (code, _, err), = finish(by_hand(script_of(tmp_path, JOINS), [
        {"NEREID_RANK": "0", "NEREID_WORLD_SIZE": "2", "NEREID_RENDEZVOUS": meet}]))
    assert code == 1 and re.search(text, err), err


@pytest.mark.parametrize("rank, text", [
    ("0", r"after 1 s 1 of 2 ranks have not joined at 127.0.0.1:\d+: rank 1; heard from host"),
    ("1", r"after 1 s rank 1 on host \S+ has not reached rank 0 at 127.0.0.1:\d+, which NEREID_RENDEZVOUS gives"),
])
def test_ranks_that_do_not_come(tmp_path, rank, text):
    (code, _, err), = finish(by_hand(script_of(tmp_path, JOINS), [
        {"NEREID_RANK": rank, "NEREID_WORLD_SIZE": "2", "NEREID_RENDEZVOUS": f"127.0.0.1:{port()}",
         "NEREID_INIT_TIMEOUT": "1"}]))
    assert code == 1 and re.search(text, err), err


def test_launchers_that_do_not_say_where_to_meet(tmp_path):
    (code, _, err), = finish(by_hand(script_of(tmp_path, JOINS), [
        {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}]))
    assert code == 1 and "set NEREID_RENDEZVOUS=host:port on all of them" in err, err


# ---- what `nereid run` is told


@pytest.mark.parametrize("options, text", [
    (["--hosts=a:2,b:x"], "'b:x' is not HOST or HOST:RANKS"),
    (["--hosts=a:2,b:4"], "a has 2 ranks and b 4: each host must have as many, but for the last one"),
    (["--hosts=a:2,a:2"], "the host a is there twice"),
    (["--hosts="], "there are no hosts"),
    (["--hosts=a:2,b:2", "-n", "5"], "-n 5: the hosts have room for 4 ranks"),
    (["--hosts=a:2", "--start=rsh {host}"], "{command} must be a word of it"),
    (["--hosts=a:2", "--schedule=random:1"], "need all ranks on one machine"),
    (["--start=rsh {command}"], "--start and --rendezvous go with --hosts"),
    (["--hostfile=/nowhere"], "--hostfile: /nowhere: No such file"),
])
def test_hosts_that_make_no_sense(tmp_path, options, text):
    done = subprocess.run([NEREID, "run", *options, script_of(tmp_path, JOINS)], env=environment(), capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 2 and text in done.stderr, done.stderr


def test_host_files(tmp_path):
    from nereid.cli import hosts

    path = tmp_path / "hosts"
    path.write_text("# ours\nalpha slots=4\nbeta:4  # the second\n\n[fe80::1]:2\n")
    listed = hosts.parse_hostfile(str(path))
    assert [(host.name, host.ranks) for host in listed] == [("alpha", 4), ("beta", 4), ("[fe80::1]", 2)]
    assert [host.ranks for host in hosts.place(listed, 6)] == [4, 2]
    path.write_text("alpha 4\n")
    with pytest.raises(hosts.UsageError, match=":1: expected HOST"):
        hosts.parse_hostfile(str(path))


# ---- two machines

MOVES = """
from nereid import symm
nereid.init()
rank, world = nereid.rank(), nereid.world_size()
rows = [symm.zeros((SIZE,), np.float64) for _ in range(world)]
flags = symm.zeros((world,), np.uint64)
nereid.barrier()
print("ready", flush=True)
time.sleep(PAUSE)
part = lambda r, round: np.random.default_rng((r, round)).uniform(-1, 1, SIZE)
for round in range(1, 4):
    for peer in range(world):
        symm.put(rows[rank], part(rank, round), peer)
        symm.signal_op(flags, round, peer, index=rank)
    for other in range(world):
        symm.signal_wait_until(flags, round, index=other)
        np.testing.assert_array_equal(rows[other].numpy(), part(other, round))
    back = symm.get(rows[rank], (rank + 1) % world)
    np.testing.assert_array_equal(back, part(rank, round))
    nereid.barrier()
print("fine", rank, *(os.environ.get(name, "-") for name in ("LOCAL_RANK", "LOCAL_WORLD_SIZE", "WORLD_SIZE")))
"""


def moves(size: int, pause: float = 0) -> str:
    return MOVES.replace("SIZE)", f"{size})").replace("SIZE,", f"{size},").replace("PAUSE", str(pause))


@needs_namespaces
@pytest.mark.parametrize("counts", [(2, 2), (2, 1), (1, 1)])
def test_hosts_run_one_job(tmp_path, two, counts):
    code, out, err = run_hosts(two, script_of(tmp_path, moves(100_003)), counts)
    assert code == 0, out + err
    want = [f"[{first + i}@{two.names[m]}] fine {first + i} {i} {count} {sum(counts)}"
            for m, (first, count) in enumerate(zip((0, counts[0]), counts)) for i in range(count)]
    assert sorted(line for line in out.splitlines() if "fine" in line) == sorted(want), out + err


@needs_namespaces
def test_example_over_two_machines(two):
    code, out, err = run_hosts(two, str(ROOT / "examples/10_all_gather_over_nodes.py"), (2, 2), "--no-tag-output")
    assert code == 0 and out.strip(), out + err


@needs_namespaces
def test_pointers_to_other_machines_are_errors_of_their_line(two):
    script = ROOT / "examples/07_allgather_gemm.py"
    line = next(i for i, text in enumerate(script.read_text().splitlines(), 1) if "tl.store(remote_ptrs" in text)
    code, _, err = run_hosts(two, str(script), (1, 1), "--no-tag-output")
    assert code == 1 and re.search(rf"07_allgather_gemm.py:{line}:\d+: error: rank \d \(node \d\) dereferences memory of rank",
                                   err) and "libshmem_device.getmem or putmem" in err, err


@needs_namespaces
def test_torchrun_variables_are_enough(tmp_path, two):
    at = port()
    rows = [{"RANK": str(r), "WORLD_SIZE": "4", "LOCAL_RANK": str(r % 2), "LOCAL_WORLD_SIZE": "2",
             "MASTER_ADDR": two.addresses[0], "MASTER_PORT": at, "TORCHELASTIC_RUN_ID": "x"} for r in range(4)]
    results = finish(by_hand(script_of(tmp_path, moves(5000)), rows, [two.inside(r // 2) for r in range(4)]))
    assert [code for code, _, _ in results] == [0] * 4, results


@needs_namespaces
@pytest.mark.skipif(shutil.which("torchrun") is None, reason="there is no torchrun here (Debian: python3-torch)")
def test_torchrun_on_each_machine(tmp_path, two):
    at, script = port(), script_of(tmp_path, moves(5000))
    agents = [subprocess.Popen(
        two.inside(machine, "torchrun", "--nnodes=2", "--nproc_per_node=2", f"--node_rank={machine}",
                   f"--master_addr={two.addresses[0]}", f"--master_port={at}", "--redirects=0:1,1:1", "--tee=0:1,1:1",
                   "--no_python", sys.executable, script),
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for machine in range(2)]
    results = finish(agents)
    assert [code for code, _, _ in results] == [0, 0], results
    assert sorted(re.findall(r"fine (\d)", "".join(out for _, out, _ in results))) == list("0123"), results


@needs_namespaces
def test_ranks_that_alternate_between_hosts_are_refused(tmp_path, two):
    inside = [two.inside(r % 2) for r in range(4)]
    results = finish(ranks_by_hand(script_of(tmp_path, JOINS), two.rendezvous(int(port())), 4, inside))
    for code, _, err in results:
        assert code == 1 and re.search(r"consecutive ranks must share a host.* has the ranks 0, 2; host \S+ has the ranks 1, 3",
                                       err), err


@needs_namespaces
@pytest.mark.parametrize("transport", ["remote", "delayed:shared_memory"])
def test_transports_of_one_machine_are_refused(tmp_path, two, transport):
    code, _, err = run_hosts(two, script_of(tmp_path, JOINS), (1, 1), f"--transport={transport}")
    assert code == 1 and "1 of 2" in err and "ucx" in err, err


# ---- what goes wrong

DIES = """
nereid.init()
victim, how, where = int(sys.argv[1]), sys.argv[2], sys.argv[3]
flag = nereid.symm.zeros((1,), np.uint64)
nereid.barrier()
if nereid.rank() == victim:
    time.sleep(0.3)
    if how == "raise":
        raise ValueError("something odd")
    if how == "leave":
        os._exit(0)
    os.kill(os.getpid(), getattr(signal, how))
begin = time.monotonic()
try:
    if where == "barrier":
        nereid.barrier()
    else:
        nereid.symm.signal_wait_until(flag, 1)
except nereid.JobError as error:
    print(f"SURVIVOR {nereid.rank()} {time.monotonic() - begin:.2f} {error}".replace(chr(10), " | "), flush=True)
    sys.exit(9)
"""


GOES = {
    "SIGKILL": r"rank {0} \(process \d+\) (ended without finalizing|was killed by signal 9 \(Killed\))",
    "leave": r"rank {0} \(process \d+\) (ended without finalizing|exited with code 0)",
    "raise": r"rank {0} stopped: ValueError: something odd",
}


@needs_namespaces
@pytest.mark.parametrize("victim, how, where", [
    (0, "SIGKILL", "barrier"), (2, "SIGKILL", "barrier"), (3, "SIGKILL", "signal"), (0, "leave", "signal"),
    (2, "leave", "barrier"), (0, "raise", "barrier"), (3, "raise", "signal")])
def test_a_rank_that_goes_is_named_on_all_machines(tmp_path, two, victim, how, where):
    script = script_of(tmp_path, DIES)
    code, out, err = run_hosts(two, script, (2, 2), arguments=(str(victim), how, where))
    told = re.findall(r"SURVIVOR (\d) (\S+) (.*)", out)
    assert sorted(int(rank) for rank, _, _ in told) == [r for r in range(4) if r != victim], out + err
    for _, _, report in told:
        assert re.search(GOES[how].format(victim), report), report
    assert code == (137 if how == "SIGKILL" else code) and code != 0, err
    assert left_behind(script) == []


@needs_namespaces
@pytest.mark.parametrize("machine", [0, 1])
def test_a_machine_that_is_cut_off_is_lost_on_both_sides(tmp_path, two, machine):
    script = script_of(tmp_path, """
        nereid.init()
        nereid.barrier()
        print("ready", flush=True)
        if nereid.rank() == 0:
            time.sleep(30)
        try:
            nereid.barrier()
        except nereid.JobError as error:
            print(f"SURVIVOR {nereid.rank()} {error}".replace(chr(10), " | "), flush=True)
            sys.exit(9)
        """)
    inside = [two.inside(r // 2) for r in range(4)]
    ranks = ranks_by_hand(script, two.rendezvous(int(port())), 4, inside, NEREID_NODE_TIMEOUT=["2"] * 4)
    try:
        for rank in ranks:
            assert rank.stdout.readline() == "ready\n"
        two.cut(machine)
        results = finish(ranks[1:], 60)
    finally:
        two.join(machine)
        ranks[0].kill()
        finish(ranks[:1])
    # Each side names the other.
    for rank, (code, out, err) in enumerate(results, 1):
        lost = r"host \S+ \(ranks 0 to 1\)" if rank >= 2 else r"host \S+ \(ranks 2 to 3\)"
        assert code == 9 and re.search(f"SURVIVOR {rank} .*{lost} has not answered for 2 s: it is down, or the network to it",
                                       out), (rank, out, err)
    assert left_behind(script) == []


@needs_namespaces
def test_a_network_that_comes_back_in_time_is_no_failure(tmp_path, two):
    script = script_of(tmp_path, moves(5000, 2.0))
    ranks = ranks_by_hand(script, two.rendezvous(int(port())), 4, [two.inside(r // 2) for r in range(4)],
                          NEREID_NODE_TIMEOUT=["20"] * 4)
    for rank in ranks:
        assert rank.stdout.readline() == "ready\n"
    two.cut(1)
    time.sleep(1)
    two.join(1)
    results = finish(ranks)
    assert [code for code, _, _ in results] == [0] * 4, results


@needs_namespaces
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopping_the_launcher_stops_all_hosts(tmp_path, two, number):
    script = script_of(tmp_path, """
        nereid.init()
        print("ready", flush=True)
        nereid.barrier()
        time.sleep(100)
        """)
    job = start_hosts(two, script, (2, 2))
    for _ in range(4):
        assert "ready" in job.stdout.readline()
    job.send_signal(number)
    job.communicate(timeout=60)
    assert job.returncode == (-9 if number == signal.SIGKILL else 128 + number)
    assert left_behind(script) == []


@needs_namespaces
def test_a_host_that_cannot_be_reached(tmp_path, two):
    job = subprocess.run([NEREID, "run", "--hosts", f"{two.names[0]}:1,nrd-nowhere:1", "--start", two.start, "--rendezvous",
                          two.rendezvous(int(port())), script_of(tmp_path, JOINS)], env=environment(), capture_output=True,
                         text=True, timeout=90, cwd=ROOT)
    assert job.returncode != 0 and "nrd-nowhere" in job.stderr, job.stderr
