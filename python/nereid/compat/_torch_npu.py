# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``torch_npu``: torch for NPUs. What it adds to torch is in torch.npu here, too."""

from __future__ import annotations

from typing import Any


def modules() -> dict[str, dict[str, Any]]:
    """Contents by module name."""
    import torch

    from nereid.compat import _torch

    _torch.apply(torch)
    npu = {name: value for name, value in vars(torch.npu).items() if not name.startswith("__")}
    return {"torch_npu": {"npu": torch.npu, **npu}, "torch_npu.npu": npu, "torch_npu.npu.streams": npu}
