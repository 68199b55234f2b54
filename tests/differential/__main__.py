# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m tests.differential --seeds 0:1000: random kernels, run in four ways."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from .generate import generate
from .harness import Harness, Outcome
from .minimise import minimise
from .program import Program


def parse_seeds(text: str) -> range:
    first, colon, last = text.partition(":")
    return range(int(first), int(last)) if colon else range(int(first), int(first) + 1)


def report(outcome: Outcome, source: str | None = None) -> str:
    program = outcome.program
    lines = [f"==== seed {program.seed}: {outcome.kind}"]
    lines += [problem.rstrip() for problem in outcome.problems[:4]]
    lines.append(describe(program))
    return "\n".join(lines)


def describe(program: Program) -> str:
    """The kernel, and what it is launched with."""
    used = [argument for argument in program.arguments]
    lines = [program.source.rstrip(), f"# grid {program.grid}"]
    for argument in used:
        what = f"array of {argument.value.size}" if argument.is_pointer else repr(argument.value)
        lines.append(f"#   {argument.name}: {argument.signature} = {what}")
    lines += [f"#   {name} = {value!r}" for name, value in program.constants.items()]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--seeds", default="0:100", metavar="FIRST:LAST", help="kernels to make (default 0:100)")
    parser.add_argument("--odd", choices=("no", "yes", "both"), default="both",
                        help="tiles whose sizes are no powers of two")
    parser.add_argument("--accept", action="store_true",
                        help="take what we export through the stock compiler as far as PTX (slow)")
    parser.add_argument("--show", action="store_true", help="print the kernel of each seed")
    parser.add_argument("--no-minimise", action="store_true", help="show failing kernels as they are")
    parser.add_argument("--keep", metavar="FOLDER", help="write failing kernels there")
    parser.add_argument("--stop-after", type=int, default=20, metavar="N", help="failures after which to stop (default 20)")
    args = parser.parse_args()
    kinds: Counter[str] = Counter()
    ran = failed = 0
    start = time.monotonic()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # What is known so far is reported also when somebody stops it.
    with Harness() as harness, contextlib.suppress(KeyboardInterrupt):
        for seed in parse_seeds(args.seeds):
            for odd in {"no": (False,), "yes": (True,), "both": (seed % 4 == 3,)}[args.odd]:
                program = generate(seed, odd)
                if args.show:
                    print(describe(program))
                outcome = harness.run(program, args.accept)
                ran += 1
                if not outcome.failed:
                    continue
                failed += 1
                kinds[outcome.kind] += 1
                if kinds[outcome.kind] <= 2:
                    if not args.no_minimise:
                        outcome = minimise(harness, outcome)
                    print(report(outcome), flush=True)
                    if args.keep:
                        Path(args.keep).mkdir(parents=True, exist_ok=True)
                        (Path(args.keep) / f"seed{seed}{'odd' if odd else ''}.py").write_text(report(outcome))
                if failed >= args.stop_after:
                    break
            if failed >= args.stop_after:
                break
    seconds = time.monotonic() - start
    print(f"{ran} kernels in {seconds:.0f} s, {failed} failed")
    for kind, count in kinds.most_common():
        print(f"  {count} x {kind}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
