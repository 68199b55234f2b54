# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From lines of results to one JSON and a table of the bars.

    python table.py results.jsonl results.json
"""

import json
import sys
from pathlib import Path


def rows(found: list[dict]) -> list[tuple[str, str, float | None, bool | None]]:
    """(what, bar, measured, whether it holds); measured is None for what was not run."""
    result = []

    def one(name, **also):
        fitting = [line for line in found if line["name"] == name and all(line.get(k) == v for k, v in also.items())]
        return fitting[-1] if fitting else {}

    def bar(what, measured, most=None, least=None):
        text = f"<= {most:g}" if most is not None else f">= {least:g}"
        holds = None if measured is None else (measured <= most if most is not None else measured >= least)
        result.append((what, text, measured, holds))

    def ratio(line, above, below):
        return line[above] / line[below] if line.get(above) and line.get(below) else None

    for what, alone, nccl, fused in (("AllGather+GEMM", 1.10, 1.15, 1.03), ("GEMM+ReduceScatter", 1.15, 1.18, 1.05)):
        line = one(f"{what} 8192 rows")
        bar(f"{what}, 8192 rows: of matmul alone", ratio(line, "ours_us", "matmul_us"), most=alone)
        bar(f"{what}, 8192 rows: faster than NCCL + matmul", ratio(line, "nccl_matmul_us", "ours_us"), least=nccl)
        bar(f"{what}, 8192 rows: faster than torch's symmetric-memory operator", ratio(line, "torch_fused_us", "ours_us"), least=fused)
    for what, least in (("AllGather+GEMM", 1.12), ("GEMM+ReduceScatter", 1.2)):
        bar(f"{what}, 512 rows: faster than NCCL + matmul", ratio(one(f"{what} 512 rows"), "nccl_matmul_us", "ours_us"), least=least)
    for size in (4096, 8192):
        bar(f"plain GEMM, {size} rows: of cuBLAS", ratio(one(f"plain GEMM {size} rows"), "ours_us", "matmul_us"), most=1.08)
    for number in ("07", "09"):
        bar(f"example {number}, 8192 rows: of matmul alone", ratio(one(f"example {number} 8192 rows"), "ours_us", "matmul_us"), most=1.65)
    for line in (one("all-gather", bytes=1 << n) or {"bytes": 1 << n} for n in (10, 14, 17, 20, 23, 25, 27)):
        size = f"{line['bytes'] >> 20} MB" if line["bytes"] >> 20 else f"{line['bytes'] >> 10} KB"
        bar(f"all-gather of {size} a rank: faster than NCCL", ratio(line, "nccl_us", "ours_us"), least=1.3 if line["bytes"] >> 20 else 0.87)
    for name in ("put", "get"):
        bar(f"{name}, 32 programs: of the copy engine", ratio(one(f"{name} of 128 MB", programs=32), "engine_us", "ours_us"), least=0.85)
    trip = one("signal round trip").get("ours_us")
    floor = one("unordered floor").get("ours_us")
    barrier = max((line for line in found if line["name"] == "barrier_all"), key=lambda line: line["programs"], default={}).get("ours_us")
    bar("signal round trip: of the unordered floor", trip / floor if trip and floor else None, most=2.2)
    bar("barrier_all, one program an SM: of the signal round trip", barrier / trip if trip and barrier else None, most=2)
    line = one("launch")
    bar("launch from Python, 5 arguments: of triton.jit", line.get("stream_of_triton"), most=0.5)
    for kernel in ("softmax_rows", "layer_norm_rows", "attention", "matmul_tiles"):
        bar(f"{kernel} on one GPU: as fast as through Triton's front end", ratio(one("single GPU", kernel=kernel), "triton_us", "ours_us"),
            least=0.98)
    stress = [one(name) for name in ("stress messages", "stress barriers")]
    bar("wrong words in 10^5 rounds of messages and of barriers", float(sum(s["wrong"] for s in stress)) if all(stress) else None, most=0)
    fresh = [line for line in found if line["name"].startswith("fresh data")]
    calls = sum(line["calls"] for line in fresh)
    bar(f"wrong results in {calls or 1500} fused calls with fresh data", float(sum(line["wrong"] for line in fresh)) if fresh else None, most=0)
    line = one("kills")
    bar(f"{line.get('kills', 50)} kills of a rank: reports, context usable", line["right"] / line["kills"] if line.get("kills") else None, least=1)
    return result


def main() -> int:
    found = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    table = rows(found)
    Path(sys.argv[2]).write_text(json.dumps({
        "bars": [dict(what=what, bar=text, measured=value, holds=holds) for what, text, value, holds in table],
        "results": found}, indent=1))
    print("| what | bar | measured | |\n| --- | --- | --- | --- |")
    for what, text, value, holds in table:
        print(f"| {what} | {text} | {'' if value is None else f'{value:.3g}'} | {'not run' if holds is None else 'holds' if holds else 'MISSES'} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
