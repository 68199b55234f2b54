# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The host functions of the NPU's symmetric memory (``import shmem as ash``) on a job of
Nereid: tensors are torch tensors over the symmetric heap."""

from __future__ import annotations

import enum
import os
from types import SimpleNamespace
from typing import Any, Sequence

import nereid

__all__ = [
    "InitAttr", "OpEngineType", "aclshmem_create_tensor", "aclshmem_finialize", "aclshmem_free_tensor", "aclshmem_init",
    "my_pe", "n_pes", "set_conf_store_tls",
]


class OpEngineType(enum.Enum):
    """What moves the data on the NPU; of no meaning here."""

    MTE = 0
    SDMA = 1
    ROCE = 2


class InitAttr:
    """What a process says when it joins: its rank, the number of ranks, the bytes of its
    heap. Address and engine belong to the NPU."""

    def __init__(self) -> None:
        self.my_rank = 0
        self.n_ranks = 1
        self.local_mem_size = 0
        self.ip_port = ""
        self.option_attr = SimpleNamespace(data_op_engine_type=OpEngineType.MTE)


def set_conf_store_tls(enable: bool, tls_info: str) -> int:
    """Nothing to encrypt between processes of one machine; returns 0."""
    return 0


def aclshmem_init(attributes: InitAttr) -> int:
    """Joins the job that the environment describes (nereid run, torchrun); returns 0. The
    heap has ``local_mem_size`` bytes unless a launcher or NEREID_HEAP_SIZE says otherwise. Raises JobError when rank or size
    are not those of the job."""
    if not nereid.is_initialized():
        # Where a launcher has made the job, it has decided on the size.
        decided = any(name in os.environ for name in ("NEREID_JOB_FD", "NEREID_HEAP_SIZE"))
        nereid.init(heap_size=None if decided else max(int(attributes.local_mem_size), 1 << 20))
    if (attributes.my_rank, attributes.n_ranks) != (nereid.rank(), nereid.world_size()):
        raise nereid.JobError(
            f"aclshmem_init: this process is rank {nereid.rank()} of {nereid.world_size()}, but the attributes say rank "
            f"{attributes.my_rank} of {attributes.n_ranks}"
        )
    return 0


_tensors: dict[int, Any] = {}  # symmetric tensors by address


def aclshmem_create_tensor(shape: Sequence[int], dtype: Any = None, device_id: int = 0) -> Any:
    """A torch tensor of zeros in symmetric memory. Collective."""
    import torch

    tensor = nereid.symm.zeros(tuple(shape), torch.float32 if dtype is None else dtype)
    _tensors[tensor.data_ptr()] = tensor
    return tensor.torch()


def aclshmem_free_tensor(tensor: Any) -> None:
    """Gives a tensor of aclshmem_create_tensor back. Collective."""
    symmetric = _tensors.pop(tensor.data_ptr(), None)
    if symmetric is None:
        raise ValueError("aclshmem_free_tensor takes what aclshmem_create_tensor has returned")
    nereid.symm.free(symmetric)


def aclshmem_finialize() -> int:
    """Leaves the job; returns 0. (The name is spelled so.)"""
    _tensors.clear()
    nereid.finalize()
    return 0


def my_pe() -> int:
    return nereid.rank()


def n_pes() -> int:
    return nereid.world_size()


def modules() -> dict[str, dict[str, Any]]:
    """Contents by module name."""
    return {"shmem": {name: globals()[name] for name in __all__}}
