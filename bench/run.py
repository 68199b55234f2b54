# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`nereid bench`: measures rows of table.py, each in a process (or a job) of its own, so that threads,
the processor's level and what a row has left behind are settled before anything is loaded.

    this process    picks rows, says how far it is, prints and writes figures
      '- --measure  one row: sets up its case, takes turns (harness.py), prints figures as JSON;
                    on several ranks it starts them, under mpirun where MPI is a peer
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import harness  # noqa: E402
import report  # noqa: E402
import table  # noqa: E402

#: Seconds after which a row is given up.
LONGEST = 1800


def words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="nereid bench",
        description="Measures speed beside what one would use otherwise, in turns, and says which bars are reached. A "
        "row is named by its name, by how it begins or by words of it; without names all rows are measured, which takes "
        "an hour or two.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help='for example "matmul 1024 64x64x32", matmul, "softmax rows of 1000"')
    parser.add_argument("--list", action="store_true", help="print the rows with their peers and bars, measure nothing")
    parser.add_argument("--against", type=words, metavar="PEERS", help=f"only these peers, with commas: {', '.join(table.PEERS)}")
    parser.add_argument("--threads", type=words, metavar="N", help="only these numbers of threads (default: 1 and, where a row has them, 2)")
    parser.add_argument("--ranks", type=words, metavar="N", help="only rows on these numbers of ranks")
    parser.add_argument("--rounds", type=int, default=9, metavar="N",
                        help=f"interleaved rounds (default 9); fewer than {harness.ROUNDS_THAT_COUNT} give no verdict")
    parser.add_argument("--cpu", choices=list(harness.CAPS), default="native",
                        help="x86-64-v3: code for AVX2 on both sides (default native)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, with the processor's name")
    parser.add_argument("--table", action="store_true", help="print all figures as a table in Markdown at the end")
    parser.add_argument("--write", type=Path, metavar="PAGE.md",
                        help="write the table between the lines of a page that name this command's rows and options")
    parser.add_argument("--png", type=Path, metavar="FILE", help="write a picture of measured / bar (needs matplotlib)")
    parser.add_argument("--measure", metavar="JSON", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.rounds < 1:
        parser.error("--rounds takes a number of 1 or more")
    if unknown := [peer for peer in args.against or [] if peer not in table.PEERS]:
        parser.error(f"--against: there is no peer '{unknown[0]}'; the peers are {', '.join(table.PEERS)}")
    for option in ("threads", "ranks"):
        for word in getattr(args, option) or []:
            if not word.isdecimal() or int(word) < 1:
                parser.error(f"--{option} takes numbers with commas, not '{word}'")
        if getattr(args, option) is not None:
            setattr(args, option, [int(word) for word in getattr(args, option)])
    return args


# ---- the child


def measure_here(row: table.Row, bars: dict, rounds: int) -> list[dict]:
    """In this process, which is a rank where the row has several. Collective."""
    import nereid

    module, function = row.case.split(":")
    nereid.init()
    if row.ranks > 1:
        assert nereid.world_size() == row.ranks, f"{nereid.world_size()} ranks, not {row.ranks}"
    case = getattr(importlib.import_module(f"cases.{module}"), function)(**row.arguments)
    one_thread = row.ranks == 1 and os.environ["NEREID_NUM_THREADS"] == "1"
    return [asdict(figure) for figure in harness.run(case, bars, rounds, one_thread)]


def pin(rank: int) -> None:
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[rank % len(cores)]})


def on_a_rank(row_name: str, peers: list[str], rounds: int) -> list[dict]:
    import nereid

    pin(nereid.rank())
    (row,) = table.find([row_name])
    return measure_here(row, {peer: row.bars[peer] for peer in peers}, rounds)


def measure_row(given: dict) -> list[dict]:
    row = next(row for row in table.ROWS if row.name == given["row"])
    peers, rounds = given["peers"], given["rounds"]
    bars = {peer: row.bars[peer] for peer in peers}
    if row.measures:
        module, function = row.case.split(":")
        figures = getattr(importlib.import_module(f"cases.{module}"), function)(**row.arguments, rounds=rounds, bars=bars)
        return [asdict(figure) for figure in figures]
    if row.ranks == 1:
        return measure_here(row, bars, rounds)
    missing = []
    if "mpi" in peers:
        try:
            from cases import operators

            if not (mpirun := shutil.which("mpirun")):
                raise harness.Missing("there is no mpirun (Debian: openmpi-bin)")
            harness.built("nereid-bench-mpi.so", "Open MPI's collectives are", operators.MPI_NEEDS)
            return _under_mpi(mpirun, row, peers, rounds)
        except harness.Missing as reason:
            missing = [asdict(harness.Figure("mpi", missing=str(reason)))]
            peers = [peer for peer in peers if peer != "mpi"]
    import nereid

    return missing + (nereid.testing.spawn(on_a_rank, row.ranks, (row.name, peers, rounds), timeout=LONGEST)[0] if peers else [])


def _under_mpi(mpirun: str, row: table.Row, peers: list[str], rounds: int) -> list[dict]:
    """By shared memory alone."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "figures.json"
        work = json.dumps(dict(row=row.name, peers=peers, rounds=rounds, result=str(result)))
        command = [mpirun, "-n", str(row.ranks), "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "--mca", "btl",
                   "self,vader", "--mca", "oob_tcp_if_include", "lo", sys.executable, __file__, "--measure", work]
        done = subprocess.run(command, stdout=sys.stderr, timeout=LONGEST)
        if done.returncode or not result.is_file():
            raise RuntimeError(f"the job under mpirun has failed ({done.returncode})")
        return json.loads(result.read_text())


def rank_of_mpi(given: dict) -> None:
    import nereid

    nereid.init()
    figures = on_a_rank(given["row"], given["peers"], given["rounds"])
    if nereid.rank() == 0:
        Path(given["result"]).write_text(json.dumps(figures))
    from cases.operators import Mpi

    Mpi.get().check("peer_finalize")


# ---- this process


def command_of(row: table.Row, threads: int, args: argparse.Namespace, peer: str | None = None) -> str:
    command = ["nereid", "bench", row.name]
    if peer is not None:
        command += ["--against", peer]
    if len(row.threads) > 1:
        command += ["--threads", str(threads)]
    if args.cpu != "native":
        command += ["--cpu", args.cpu]
    if args.rounds != 9:
        command += ["--rounds", str(args.rounds)]
    return shlex.join(command)


def result_of(row: table.Row, threads: int, args: argparse.Namespace, figure: dict) -> dict:
    """A figure with its bar, whether that is reached, and the command that repeats it."""
    bar = row.bars[figure["peer"]]
    if not figure["detail"].get("has_bar", True):
        bar = table.Bar(at_most=bar.at_most)
    counts = args.rounds >= harness.ROUNDS_THAT_COUNT and not figure["missing"] and not figure["noisy"]
    return dict(row=row.name, threads=threads, ranks=row.ranks, cpu=args.cpu, rounds=args.rounds, **figure, bar=str(bar),
                bar_value=bar.value, at_most=bar.at_most, reached=bar.reached(figure["value"]) if counts else None,
                command=command_of(row, threads, args, figure["peer"]))


def results_of(row: table.Row, threads: int, args: argparse.Namespace, peers: list[str]) -> list[dict]:
    """Of a row in a process of its own."""
    given = json.dumps(dict(row=row.name, peers=peers, rounds=args.rounds))
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        done = subprocess.run([sys.executable, __file__, "--measure", given], stdout=answer.open("w"), stderr=subprocess.PIPE,
                              text=True, env=harness.environment(threads, args.cpu), timeout=LONGEST)
        if done.returncode:
            raise RuntimeError(f"{row.name}: {done.stderr.strip() or f'ended with {done.returncode}'}")
        figures = json.loads(answer.read_text().splitlines()[-1])
    return [result_of(row, threads, args, figure) for figure in figures]


def main(argv: list[str]) -> int:
    args = arguments(argv)
    if args.measure:
        given = json.loads(args.measure)
        if "result" in given:
            rank_of_mpi(given)
        else:
            figures = measure_row(given)
            print("\n" + json.dumps(figures))
        return 0
    try:
        rows = table.find(args.rows)
    except KeyError as unknown:
        print(f"nereid bench: no row is called {unknown}; nereid bench --list has them all", file=sys.stderr)
        return 2
    work = [(row, threads, peers) for row in rows for threads in row.threads
            if (args.threads is None or threads in args.threads) and (args.ranks is None or row.ranks in args.ranks)
            and (peers := [peer for peer in row.bars if args.against is None or peer in args.against])]
    if not work:
        print("nereid bench: none of these rows has such a peer, number of threads or number of ranks; "
              "nereid bench --list says what they have", file=sys.stderr)
        return 2
    if args.list:
        for row in {row.name: row for row, _, _ in work}.values():
            bars = ", ".join(f"{peer} {bar}".strip() for peer, bar in row.bars.items())
            print(f"{row.name:<48} {f'{row.ranks} ranks' if row.ranks > 1 else '1, 2 threads' if len(row.threads) > 1 else '':<13} {bars}")
        return 0
    try:
        if args.png:
            report.check_png()
        results, failed = [], 0
        start = time.monotonic()
        for number, (row, threads, peers) in enumerate(work, 1):
            print(f"[{number} of {len(work)}, {time.monotonic() - start:.0f} s] {row.name}", file=sys.stderr, flush=True)
            try:
                results += (found := results_of(row, threads, args, peers))
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"nereid bench: {error}\n    {command_of(row, threads, args)}", file=sys.stderr, flush=True)
                continue
            for result in found:
                print(report.line(result), flush=True)
        print(report.summary(results))
        machine = harness.machine()
        if args.table:
            print("\n" + report.table(machine, results))
        if args.json:
            report.write_json(args.json, machine, results)
        if args.write:
            options = [word for word in argv if word != "--write" and word != str(args.write)]
            report.write_page(args.write, shlex.join(options), report.table(machine, results))
        if args.png:
            report.write_png(args.png, machine, results)
    except report.ReportError as error:
        print(f"nereid bench: {error}", file=sys.stderr)
        return 2
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
