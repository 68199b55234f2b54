# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tutorials.py through our front end and, its two imports changed, through Triton's own, on one GPU.
Times are of the GPU's work: many launches ahead, in a stream of ours, on torch's stream for Triton."""

import importlib.util
import math
import sys
import tempfile
from pathlib import Path

from measure import HERE, Bench, distance, torch

import tutorials

b = Bench(sys.argv[1], distributed=False)
text = (HERE / "tutorials.py").read_text().replace("import nereid.language as tl", "import triton.language as tl")
text = text.replace("import nereid\n", "import triton\n").replace("@nereid.jit", "@triton.jit")
path = Path(tempfile.mkdtemp(), "tutorials_of_triton.py")
path.write_text(text)
spec = importlib.util.spec_from_file_location("tutorials_of_triton", path)
stock = importlib.util.module_from_spec(spec)
spec.loader.exec_module(stock)

bf16 = torch.bfloat16


def compared(name, grid, arguments, out, want, options, repeats):
    times = {}
    for who, module in (("ours", tutorials), ("triton", stock)):
        kernel = getattr(module, name)
        out.fill_(float("nan"))
        torch.cuda.synchronize()
        kernel[grid](*arguments, **options)
        torch.cuda.synchronize()
        error = distance(out, want)
        if not error < 1e-2:
            b.record("wrong", what=f"{name} {who}", error=error)
            return
    for _ in range(5):
        for who, module in (("triton", stock), ("ours", tutorials)):
            kernel = getattr(module, name)
            timer = b.ours if who == "ours" else b.peer
            times.setdefault(who, []).append(timer(lambda i: kernel[grid](*arguments, **options), repeats=repeats, rounds=3))
    ours, triton = (sorted(times[who])[2] for who in ("ours", "triton"))
    b.record("single GPU", kernel=name, ours_us=ours, triton_us=triton)


x = torch.randn(16384, 4096, device="cuda").to(bf16)
out = torch.empty_like(x)
compared("softmax_rows", (b.sms * 8,), (out, x, 4096, 16384, 4096), out, torch.softmax(x.float(), 1), dict(BLOCK=4096, num_warps=8), 100)
weight, bias = torch.randn(4096, device="cuda").to(bf16), torch.randn(4096, device="cuda").to(bf16)
compared("layer_norm_rows", (16384,), (out, x, weight, bias, 4096, 4096, 1e-5), out,
         torch.nn.functional.layer_norm(x.float(), (4096,), weight.float(), bias.float()), dict(BLOCK=4096, num_warps=8), 100)
q, k, v = (torch.randn(64, 4096, 64, device="cuda").to(bf16) for _ in range(3))
result = torch.empty_like(q)
want = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0]
compared("attention", (4096 // 128, 64), (q, k, v, result, math.log2(math.e) / 8, 4096), result, want,
         dict(BLOCK_M=128, BLOCK_N=64, HEAD=64, num_warps=8, num_stages=3), 20)
left, right = (torch.randn(4096, 4096, device="cuda") / 8).to(bf16), (torch.randn(4096, 4096, device="cuda") / 8).to(bf16)
product = torch.empty(4096, 4096, dtype=bf16, device="cuda")
compared("matmul_tiles", (32 * 16,), (left, right, product, 4096, 4096, 4096, 4096, 4096, 4096), product, left.float() @ right.float(),
         dict(BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, GROUP_M=8, num_warps=8, num_stages=3), 40)
