# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From the text of a kernel to a cubin, by the stock package triton. No GPU is needed.

compiler/lib/Target/CUDA/CUDATarget.cpp says what requests and answers hold."""

from __future__ import annotations

import base64
import json
import os
import sys
import tempfile
from typing import Any

#: What a launch must know, of Triton's metadata.
METADATA = ("name", "num_warps", "num_ctas", "shared", "global_scratch_size", "global_scratch_align", "cluster_dims")


def compile_text(request: dict[str, Any]) -> dict[str, Any]:
    import triton
    from triton.backends.compiler import GPUTarget

    options = {name: request[name] for name in ("num_warps", "num_stages", "num_ctas", "enable_fp_fusion", "debug")}
    if request["maxnreg"]:
        options["maxnreg"] = request["maxnreg"]
    with tempfile.TemporaryDirectory(prefix="nereid-") as folder:
        path = os.path.join(folder, "kernel.ttir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(request["text"])
        kernel = triton.compile(path, target=GPUTarget("cuda", request["arch"], 32), options=options)
    metadata = {name: getattr(kernel.metadata, name) for name in METADATA if hasattr(kernel.metadata, name)}
    return {
        "ttgir": kernel.asm["ttgir"],
        "ptx": kernel.asm["ptx"],
        "cubin": base64.b64encode(kernel.asm["cubin"]).decode(),
        "metadata": metadata,
    }


def main() -> None:
    # What triton prints goes to the errors: answers have their own stream.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            answer = compile_text(json.loads(line))
        except Exception as error:  # whatever triton raises
            answer = {"error": f"Triton cannot compile this kernel: {type(error).__name__}: {error}"}
        answers.write(json.dumps(answer, default=str) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
