# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AllGather+GEMM, GEMM+ReduceScatter and a plain product, bf16, against cuBLAS, NCCL and torch's
operators over symmetric memory (those that do not need multicast)."""

import importlib
import random
import sys
import traceback

import configs
from measure import Bench, distance, launch_options, nereid, torch

import kernels

b = Bench(sys.argv[1])
dist, world, rank, bf16 = b.dist, b.world, b.rank, torch.bfloat16
TOLERANCE = 1e-2  # of bf16 results; a lost tile or a stale block is far more
gathered_memory = nereid.symm.zeros(8192 * 4096, "bfloat16")
parts_memory = nereid.symm.zeros(2 * 8192 * 4096, "bfloat16")
ag_kernel = importlib.import_module("11_allgather_gemm_roles").allgather_gemm_roles_kernel
rs_kernel = importlib.import_module("12_gemm_reduce_scatter_roles").gemm_reduce_scatter_roles_kernel


def random_matrix(rows, columns, scale=1.0):
    return (torch.randn(rows, columns, device="cuda") * scale).to(bf16)


def words(*shape):
    return nereid.symm.zeros(shape, "int64")


class AllGatherGemm:
    def __init__(self, m, n, k, constants, warps, stages, movers, programs):
        self.m, self.n, self.k, self.movers, self.programs, self.calls = m, n, k, movers, programs, 0
        self.options = {**constants, **launch_options(warps, stages)}
        self.gathered = gathered_memory.torch()[:world * m * k].view(world * m, k)
        self.ready, self.free = words(world, -(-m // constants["BLOCK_M"])), words(world)
        self.text = f"tile {constants['BLOCK_M']}x{constants['BLOCK_N']}x{constants['BLOCK_K']} warps {warps} stages {stages} " \
                    f"movers {movers} of {programs}, {constants['PIECES']} pieces, block {constants['BLOCK']}"

    def load(self, shard):
        self.gathered.fill_(float("nan"))
        self.gathered[rank * self.m:(rank + 1) * self.m].copy_(shard)

    def __call__(self, right, out):
        self.calls += 1
        ag_kernel[(self.programs,)](gathered_memory, right, out, self.ready, self.free, self.calls, self.m, self.n, self.k,
                                    self.movers, **self.options)


class GemmReduceScatter:
    def __init__(self, m, n, k, constants, warps, stages, movers, programs):
        self.m, self.n, self.k, self.movers, self.programs, self.calls = m, n, k, movers, programs, 0
        self.options = {**constants, **launch_options(warps, stages)}
        tiles = -(-m // constants["BLOCK_M"]) * -(-n // constants["BLOCK_N"])
        self.done, self.ready, self.free = words(world, tiles), words(world, -(-tiles // constants["CARRY"])), words(world)
        self.text = f"tile {constants['BLOCK_M']}x{constants['BLOCK_N']}x{constants['BLOCK_K']} warps {warps} stages {stages} " \
                    f"movers {movers} of {programs}, carry {constants['CARRY']}"

    def __call__(self, left, right, out):
        self.calls += 1
        rs_kernel[(self.programs,)](left, right, out, parts_memory, self.done, self.ready, self.free, self.calls, self.m, self.n,
                                    self.k, self.movers, **self.options)


class GemmReduceScatterDirect:
    def __init__(self, m, n, k, constants, warps, stages, movers, programs):
        self.m, self.n, self.k, self.programs, self.calls = m, n, k, programs, 0
        self.options = {**constants, **launch_options(warps, stages)}
        tiles = -(-m // constants["BLOCK_M"]) * -(-n // constants["BLOCK_N"])
        self.ready, self.free = words(world, tiles), words(world)
        self.text = f"tile {constants['BLOCK_M']}x{constants['BLOCK_N']}x{constants['BLOCK_K']} warps {warps} stages {stages} " \
                    f"of {programs}, stored by who made it"

    def __call__(self, left, right, out):
        self.calls += 1
        kernels.gemm_reduce_scatter_direct[(self.programs,)](left, right, out, parts_memory, self.ready, self.free, self.calls, self.m,
                                                             self.n, self.k, **self.options)


def tried(kind, make, candidates, movers_of, run):
    """(time, operator) of all that give the right result, the quickest first."""
    found = []
    for number, (constants, warps, stages) in enumerate(candidates):
        for movers, programs in movers_of(constants, number):
            try:
                operator = make(constants, warps, stages, movers, programs)
                call, error = run(operator)
                if not b.all(error < TOLERANCE):
                    b.record("wrong", what=kind, config=operator.text, error=error)
                    continue
                found.append((b.ours(call, rounds=3, repeats=20 if operator.m > 1000 else 60), operator))
                b.say(f"   {kind} {operator.text}: {found[-1][0]:.1f} us, error {error:.1e}")
            except (FileNotFoundError, nereid.NereidError) as error:  # every rank gets here: one's failure is the job's
                b.say(f"   {kind} {constants}: {str(error)[:300]}")
                nereid.recover()  # the next candidate can be tried
    return sorted(found, key=lambda item: item[0])


def against(name, ours, peers, **detail):
    """Four rounds of all in turns; the medians."""
    times = {key: [] for key in ("ours", *peers)}
    for _ in range(4):
        for key, (call, ahead) in peers.items():
            times[key].append(b.peer(call, rounds=3, ahead=ahead))
        times["ours"].append(b.ours(ours, rounds=3, repeats=20 if "8192" in name or "4096" in name else 60))
    middle = {key: sum(sorted(values)[1:3]) / 2 for key, values in times.items()}
    b.record(name, **{f"{key}_us": value for key, value in middle.items()}, **detail)
    return middle


def torch_fused(name, *arguments):
    """torch's operator over symmetric memory, or None with the reason said."""
    try:
        import torch.distributed._symmetric_memory as memory

        memory.enable_symm_mem_for_group(dist.group.WORLD.group_name)
        operator = getattr(torch.ops.symm_mem, name)
        operator(*arguments, group_name=dist.group.WORLD.group_name)
        return lambda: operator(*arguments, group_name=dist.group.WORLD.group_name)
    except Exception as error:
        b.record("not run", what=f"torch symm_mem.{name}", reason=str(error)[:200])
        return None


def all_gather_gemm(total, n, k, candidates, movers_of):
    m = total // world
    shard, right = random_matrix(m, k), random_matrix(n, k, k**-0.5)
    full, out = torch.empty(total, k, dtype=bf16, device="cuda"), torch.empty(total, n, dtype=bf16, device="cuda")
    dist.all_gather_into_tensor(full, shard)
    want = full.float() @ right.float().t()
    own = full[rank * m:(rank + 1) * m]

    def run(operator):
        operator.load(shard)
        out.fill_(float("nan"))
        b.once(lambda i: operator(right, out))
        return (lambda i: operator(right, out)), distance(out, want)

    found = tried("AllGather+GEMM", lambda *config: AllGatherGemm(m, n, k, *config), candidates, movers_of, run)
    if not found:
        return None
    operator = found[0][1]

    def nccl(i):
        dist.all_gather_into_tensor(full, own)
        torch.matmul(full, right.t(), out=out)

    peers = {"matmul": (lambda i: torch.matmul(full, right.t(), out=out), 6.0), "nccl_matmul": (nccl, 6.0)}
    fused = torch_fused("fused_all_gather_matmul", shard, [right.t()], 0)
    if fused:
        error = distance(fused()[1][0], want)
        peers["torch_fused"] = (lambda i: fused(), 25.0)
        b.say(f"   torch's operator: error {error:.1e}")
    call, error = run(operator)
    against(f"AllGather+GEMM {total} rows", call, peers, config=operator.text, error=error, shape=f"{total} x {n} x {k}")
    return operator


def gemm_reduce_scatter(total, n, k, candidates, movers_of, direct=()):
    m = total // world
    left, right = random_matrix(total, k), random_matrix(n, k, k**-0.5)
    full, part = torch.empty(total, n, dtype=bf16, device="cuda"), torch.empty(m, n, dtype=bf16, device="cuda")
    want = left.float() @ right.float().t()
    dist.all_reduce(want)
    want = want[rank * m:(rank + 1) * m].clone()
    out = torch.empty(m, n, dtype=bf16, device="cuda")

    def run(operator):
        parts_memory.torch().fill_(float("nan"))
        out.fill_(float("nan"))
        b.once(lambda i: operator(left, right, out))
        return (lambda i: operator(left, right, out)), distance(out, want)

    found = tried("GEMM+ReduceScatter", lambda *config: GemmReduceScatter(m, n, k, *config), candidates, movers_of, run)
    found += tried("GEMM+ReduceScatter", lambda *config: GemmReduceScatterDirect(m, n, k, *config), direct, lambda c, i: [(0, b.sms), (0, 2 * b.sms)], run)
    found.sort(key=lambda item: item[0])
    if not found:
        return None
    operator = found[0][1]

    def nccl(i):
        torch.matmul(left, right.t(), out=full)
        dist.reduce_scatter_tensor(part, full)

    peers = {"matmul": (lambda i: torch.matmul(left, right.t(), out=full), 6.0), "nccl_matmul": (nccl, 6.0)}
    fused = torch_fused("fused_matmul_reduce_scatter", left, right.t(), "sum", 0)
    if fused:
        b.say(f"   torch's operator: error {distance(fused(), want):.1e}")
        peers["torch_fused"] = (lambda i: fused(), 25.0)
    call, error = run(operator)
    against(f"GEMM+ReduceScatter {total} rows", call, peers, config=operator.text, error=error, shape=f"{total} x {n} x {k}")
    return operator


def plain_gemm(total, n, k):
    left, right, out = random_matrix(total, k), random_matrix(n, k, k**-0.5), torch.empty(total, n, dtype=bf16, device="cuda")
    want, best = left.float() @ right.float().t(), None
    for constants, warps, stages in configs.GEMM:
        def call(i, constants=constants, warps=warps, stages=stages):
            kernels.persistent_gemm[(b.sms,)](left, right, out, total, n, k, **constants, **launch_options(warps, stages))
        try:
            out.fill_(float("nan"))
            b.once(call)
        except (FileNotFoundError, nereid.NereidError) as error:
            b.say(f"   {str(error)[:300]}")
            nereid.recover()
            continue
        error = distance(out, want)
        if not b.all(error < TOLERANCE):
            b.record("wrong", what="plain GEMM", config=str(constants), error=error)
            continue
        time = b.ours(call, rounds=3)
        b.say(f"   plain GEMM {constants} stages {stages}: {time:.1f} us")
        if best is None or time < best[0]:
            best = (time, call, f"{constants['BLOCK_M']}x{constants['BLOCK_N']}x{constants['BLOCK_K']} stages {stages} "
                                f"{'descriptor' if constants['DESCRIPTOR'] else 'pointer'} stores")
    if best:
        against(f"plain GEMM {total} rows", best[1], {"matmul": (lambda i: torch.matmul(left, right.t(), out=out), 6.0)}, config=best[2])


def examples(total, n, k):
    """07 and 09 as they stand, with tiles of this machine."""
    m = total // world
    shard, right = random_matrix(m, k), random_matrix(k, n, k**-0.5)
    full, out = torch.empty(total, k, dtype=bf16, device="cuda"), torch.empty(total, n, dtype=bf16, device="cuda")
    dist.all_gather_into_tensor(full, shard)
    want = full.float() @ right.float()
    matmul = (lambda i: torch.matmul(full, right, out=out), 6.0)
    k07 = importlib.import_module("07_allgather_gemm").allgather_gemm_kernel
    k09 = importlib.import_module("09_allgather_gemm_signals").allgather_gemm_signals_kernel
    sizes = (m, n, k, k, 1, n, 1, n, 1)
    for name in ("07", "09"):
        best = None
        for constants, warps, stages in configs.EXAMPLE_TILES:
            if name == "07":
                def call(i, c=constants):
                    k07[(b.sms,)](shard, right, out, gathered_memory, *sizes, **c, GROUP_M=8, COMM_BLOCK_M=32, COMM_BLOCK_K=256,
                                  **launch_options(8, 3))
                    kernels.only_barriers[(1,)](1, num_warps=4)  # nobody pushes what another still reads
            else:
                ready, calls = words(world, -(-m // constants["BLOCK_M"])), [0]

                def call(i, c=constants, ready=ready, calls=calls):
                    calls[0] += 1
                    k09[(b.sms,)](shard, right, out, gathered_memory, ready, calls[0], *sizes, **c, COMM_BLOCK_K=128,
                                  **launch_options(8, 3))
                    kernels.only_barriers[(1,)](1, num_warps=4)
            gathered_memory.torch().fill_(float("nan"))
            out.fill_(float("nan"))
            try:
                b.once(call)
            except (FileNotFoundError, nereid.NereidError) as error:
                b.say(f"   {str(error)[:300]}")
                nereid.recover()
                continue
            error = distance(out, want)
            if not b.all(error < TOLERANCE):
                b.record("wrong", what=f"example {name}", config=str(constants), error=error)
                continue
            time = b.ours(call, rounds=3)
            b.say(f"   example {name} {constants}: {time:.1f} us, error {error:.1e}")
            if best is None or time < best[0]:
                best = (time, call, str(constants))
        if best:
            against(f"example {name} {total} rows", best[1], {"matmul": matmul}, config=best[2])


def fresh_data(name, operator, calls, seed):
    """Calls with new data, poisoned memory and a rank that comes late; every result is checked."""
    if operator is None:
        return
    chance, wrong, largest = random.Random(seed), 0, 0.0
    m, n, k, total = operator.m, operator.n, operator.k, operator.m * world
    right = random_matrix(n, k, k**-0.5)
    for i in range(calls):
        late, cycles = chance.randrange(world), chance.choice((0, 0, 3000, 100000, 600000))
        if isinstance(operator, AllGatherGemm):
            shard = random_matrix(m, k)
            operator.load(shard)
            full, out = torch.empty(total, k, dtype=bf16, device="cuda"), torch.full((total, n), float("nan"), dtype=bf16, device="cuda")
            dist.all_gather_into_tensor(full, shard)
            want, arguments = torch.matmul(full, right.t()), (right, out)
        else:
            left, out = random_matrix(total, k), torch.full((m, n), float("nan"), dtype=bf16, device="cuda")
            parts_memory.torch().fill_(float("nan"))
            want = torch.matmul(left, right.t()).float()
            dist.all_reduce(want)
            want, arguments = want[rank * m:(rank + 1) * m], (left, right, out)
        b.sync()
        if rank == late and cycles:
            torch.cuda._sleep(cycles)
            torch.cuda.synchronize()
        with b.stream:
            operator(*arguments)
        b.sync()
        error = distance(out, want)
        if not error < TOLERANCE:
            wrong += 1
        else:
            largest = max(largest, error)
    wrong = int(nereid.symm.all_reduce(torch.tensor([float(wrong)]).numpy())[0])
    b.record(f"fresh data {name}", calls=calls, wrong=wrong, largest_error=largest)


def small(constants, number):
    programs = [b.sms, 2 * b.sms] if constants["BLOCK_M"] * constants["BLOCK_N"] < 128 * 256 else [b.sms]
    return [(movers, count) for count in programs for movers in (8, 16, 32, 44, 64)]


def part(function, *arguments):
    """What fails is recorded; the rest goes on."""
    try:
        return function(*arguments)
    except Exception as error:
        print(f"rank {rank}: {function.__name__}: {traceback.format_exc()[-1500:]}", flush=True)
        b.record("failed", part=f"{function.__name__} {arguments[0]}", error=f"{type(error).__name__}: {str(error)[:600]}")
        nereid.recover()
        return None


ag_large = part(all_gather_gemm, 8192, 5504, 4096, configs.AG_LARGE,
                lambda c, i: [(v, b.sms) for v in ((3, 4, 6, 8) if i == 0 else (4,))])
rs_large = part(gemm_reduce_scatter, 8192, 4096, 5504, configs.RS_LARGE,
                lambda c, i: [(v, b.sms) for v in ((3, 4, 6, 8) if i == 0 else (4,))])
ag_small = part(all_gather_gemm, 512, 5504, 4096, configs.AG_SMALL, small)
rs_small = part(gemm_reduce_scatter, 512, 4096, 5504, configs.RS_SMALL, small, configs.RS_DIRECT)
for rows in (4096, 8192):
    part(plain_gemm, rows, 5504, 4096)
part(examples, 8192, 5504, 4096)
for what, operator, calls in (("AllGather+GEMM 8192", ag_large, 150), ("GEMM+ReduceScatter 8192", rs_large, 150),
                              ("AllGather+GEMM 512", ag_small, 600), ("GEMM+ReduceScatter 512", rs_small, 600)):
    part(fresh_data, what, operator, calls, 5)
