# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the parts of the bench share: the job, torch beside it, times and records.

Times are of the GPU's work, by its events, behind a kernel that keeps it waiting while the host
gives the work, so that the host's time for a call does not count. Ours and what we are compared
with go into the same stream of torch's.
"""

import json
import os
import statistics
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "examples")]
os.environ.update(NCCL_NVLS_ENABLE="0", TORCH_SYMM_MEM_DISABLE_MULTICAST="1", NVSHMEM_DISABLE_NVLS="1")

import nereid  # noqa: E402
import torch  # noqa: E402

import kernels  # noqa: E402
import objects  # noqa: E402


class Bench:
    """One rank of a part of the bench. `ranks` as processes, one GPU each."""

    def __init__(self, output: str, distributed: bool = True, timeout: float = 10.0):
        if os.environ.get("NEREID_BENCH_OBJECTS"):
            objects.use(Path(os.environ["NEREID_BENCH_OBJECTS"]))
        nereid.init(target="cuda", timeout=timeout)
        self.rank, self.world = nereid.rank(), nereid.world_size()
        if torch.cuda.device_count() < self.world:
            raise SystemExit(f"this bench wants a GPU for each of {self.world} ranks; there are {torch.cuda.device_count()}")
        torch.cuda.set_device(self.rank)
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
        torch.manual_seed(100 + self.rank)
        self.sms = torch.cuda.get_device_properties(self.rank).multi_processor_count
        self.stream = nereid.Stream(native=torch.cuda.current_stream())
        self.output = Path(output)
        self.dist = None
        if distributed and self.world > 1:
            import torch.distributed as dist

            dist.init_process_group("nccl", init_method=os.environ.get("NEREID_BENCH_MEET", "tcp://127.0.0.1:29531"), rank=self.rank,
                                    world_size=self.world, device_id=torch.device("cuda", self.rank))
            self.dist = dist

    def say(self, *words) -> None:
        if self.rank == 0:
            print(*words, flush=True)

    def record(self, name: str, **values) -> None:
        """One line of the results, written at once."""
        if self.rank == 0:
            with self.output.open("a") as file:
                file.write(json.dumps({"name": name, **values}) + "\n")
            print(name, " ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in values.items()), flush=True)

    def sync(self) -> None:
        self.stream.synchronize()
        torch.cuda.synchronize()
        nereid.barrier()

    def slowest(self, value: float) -> float:
        return float(nereid.symm.all_gather(np.array([value])).max())

    def all(self, good: bool) -> bool:
        return bool(nereid.symm.all_gather(np.array([int(good)])).min())

    def ours(self, call, repeats: int = 20, rounds: int = 5) -> float:
        """Microseconds a call."""
        with self.stream:
            micros = self.peer(call, repeats, rounds)
        self.stream.synchronize()  # raises what went wrong
        return micros

    def peer(self, call, repeats: int = 20, rounds: int = 5, ahead: float = 6.0) -> float:
        """Microseconds a call of something that goes into torch's stream; the host runs `ahead` ms ahead."""
        times = []
        for i in range(3):
            call(i)
        for _ in range(rounds):
            self.sync()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            torch.cuda._sleep(int(ahead * 1.9e6))
            begin.record()
            for i in range(repeats):
                call(i)
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) * 1e3 / repeats)
        return self.slowest(statistics.median(times))

    def once(self, call) -> None:
        """One call of ours, to its end on all ranks."""
        self.sync()
        with self.stream:
            call(0)
        self.sync()


def distance(got: torch.Tensor, want: torch.Tensor) -> float:
    """Relative, in the 2-norm; NaN where an element was not written."""
    return float((got.float() - want.float()).norm() / want.float().norm())


def launch_options(warps: int, stages: int = 3) -> dict:
    return dict(num_warps=warps, num_stages=stages)
