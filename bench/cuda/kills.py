# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kills a rank while the other's programs wait for it, again and again: the other gets a report and
can use its GPU afterwards.

    python kills.py RESULTS TIMES
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "examples")]

import torch  # noqa: E402

import nereid  # noqa: E402
from nereid import testing  # noqa: E402


def rank():
    import kernels
    import objects

    if os.environ.get("NEREID_BENCH_OBJECTS"):
        objects.use(Path(os.environ["NEREID_BENCH_OBJECTS"]))
    words = nereid.symm.zeros(256, "int64", name="signals")
    nereid.barrier()
    if nereid.rank() == 1:
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
    start = time.time()
    try:
        kernels.wait_forever[(132,)](words, 7, num_warps=4)
        return "the wait ended"
    except nereid.NereidError as error:
        text = str(error)
    seconds = time.time() - start
    # The job is over, and with it our launches; the GPU's context is the process's.
    x = torch.arange(1 << 20, dtype=torch.int64, device="cuda:0")
    usable = int(x.sum()) == (1 << 19) * ((1 << 20) - 1)
    Path(os.environ["KILLS_RESULT"]).write_text(json.dumps(dict(text=text, seconds=seconds, usable=usable)))
    return usable


def main() -> int:
    output, times = Path(sys.argv[1]), int(sys.argv[2])
    result = output.with_name(f"kills.{os.getpid()}.json")
    good, seconds, first = 0, [], ""
    deadline = time.time() + float(os.environ.get("KILLS_SECONDS", "1e9"))
    done = 0
    while done < times and time.time() < deadline:
        result.unlink(missing_ok=True)
        shown = ""
        try:
            testing.spawn(rank, 2, timeout=40, capture=True, environment={
                "NEREID_TARGET": "cuda", "NEREID_TIMEOUT": "15", "NEREID_HEAP_SIZE": "64M", "KILLS_RESULT": str(result)})
        except testing.SpawnError as error:
            shown = str(error)
        done += 1
        found = json.loads(result.read_text()) if result.exists() else None
        if found and found["usable"] and "signals" in found["text"]:
            good += 1
            seconds.append(found["seconds"])
            first = first or found["text"]
        elif good + 3 > done:
            print(f"kill {done}: {found or shown[:1500]}", flush=True)
    line = dict(name="kills", kills=done, right=good, seconds=sorted(seconds)[len(seconds) // 2] if seconds else None)
    with output.open("a") as file:
        file.write(json.dumps(line) + "\n")
    print(line, flush=True)
    print(first, flush=True)
    return 0 if good == done else 1


if __name__ == "__main__":
    sys.exit(main())
