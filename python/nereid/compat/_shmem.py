# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The host functions of the NPU's symmetric memory (``import shmem as ash``) on a job of
Nereid: tensors are torch tensors over the symmetric heap, addresses are those of the
process. Functions that give a status return 0; errors are exceptions."""

from __future__ import annotations

import enum
import os
import secrets
from types import SimpleNamespace
from typing import Any, Sequence

import nereid
from nereid import _runtime
from nereid.compat import _join, _memory, _streams

__all__ = [
    "InitAttr", "InitStatus", "OpEngineType", "aclshmem_align", "aclshmem_calloc", "aclshmem_create_tensor",
    "aclshmem_finalize", "aclshmem_finialize", "aclshmem_free", "aclshmem_free_tensor", "aclshmem_get_unique_id",
    "aclshmem_getmem", "aclshmem_getmem_nbi", "aclshmem_global_exit", "aclshmem_info_get_name", "aclshmem_info_get_version",
    "aclshmem_init", "aclshmem_init_using_unique_id", "aclshmem_malloc", "aclshmem_ptr", "aclshmem_putmem",
    "aclshmem_putmem_nbi", "aclshmem_signal_wait_until", "aclshmemx_get_heap_base", "aclshmemx_init_status",
    "aclshmemx_putmem_signal", "aclshmemx_putmem_signal_nbi", "get_ffts_config", "my_pe", "n_pes", "pe_count",
    "set_conf_store_tls", "set_conf_store_tls_key", "set_extern_logger", "set_log_level", "team_destroy", "team_my_pe",
    "team_n_pes", "team_split_2d", "team_split_strided", "team_translate_pe",
]


class OpEngineType(enum.IntFlag):
    """What moves the data on the NPU; of no meaning here."""

    MTE = 1
    SDMA = 2
    ROCE = 4
    UDMA = 8


class InitStatus(enum.IntEnum):
    """Whether this process has joined."""

    NOT_INITIALIZED = 0
    SHM_CREATED = 1
    INITIALIZED = 2


class InitAttr:
    """What a process says when it joins: its rank, the number of ranks, the bytes of its
    heap, and the address by which the ranks find each other (any text, the same on all of
    them). The engine belongs to the NPU."""

    def __init__(self) -> None:
        self.my_rank = 0
        self.n_ranks = 1
        self.local_mem_size = 0
        self.ip_port = ""
        self.option_attr = SimpleNamespace(data_op_engine_type=OpEngineType.MTE)


# ---- joining and leaving


def set_conf_store_tls(enable: bool, tls_info: str) -> int:
    """Nothing to encrypt between processes of one machine; returns 0."""
    return 0


def set_conf_store_tls_key(*_key: Any) -> int:
    """As set_conf_store_tls."""
    return 0


def set_log_level(level: int) -> int:
    """The NPU library's log: there is none here. Returns 0."""
    return 0


def set_extern_logger(function: Any) -> int:
    """As set_log_level."""
    return 0


def aclshmem_init(attributes: InitAttr) -> int:
    """Joins the job as rank ``my_rank`` of ``n_ranks``; returns 0. Under a launcher the
    numbers have to be those of the job, else the ranks find each other by ``ip_port``. The
    heap has ``local_mem_size`` bytes unless a launcher or NEREID_HEAP_SIZE says otherwise.
    Collective. Raises JobError."""
    _join.join("aclshmem_init", int(attributes.my_rank), int(attributes.n_ranks), str(attributes.ip_port) or None,
               int(attributes.local_mem_size))
    return 0


def aclshmem_get_unique_id() -> bytes:
    """Something by which the ranks of a new job know each other: made on one, brought to
    the others by the script."""
    return f"{os.getpid()}.{secrets.token_hex(16)}".encode()


def aclshmem_init_using_unique_id(mype: int, npes: int, mem_size: int, uid: bytes) -> int:
    """As aclshmem_init, by the bytes of aclshmem_get_unique_id."""
    _join.join("aclshmem_init_using_unique_id", int(mype), int(npes), bytes(uid).hex(), int(mem_size))
    return 0


def aclshmemx_init_status() -> InitStatus:
    """Whether this process has joined."""
    return InitStatus.INITIALIZED if nereid.is_initialized() else InitStatus.NOT_INITIALIZED


def aclshmem_finalize() -> int:
    """Leaves the job when all streams are done; returns 0."""
    nereid.synchronize()
    _memory.forget()
    nereid.finalize()
    return 0


aclshmem_finialize = aclshmem_finalize  # scripts spell it so, too


def aclshmem_global_exit(status: int) -> None:
    """Ends this process; the others are told that it has left them."""
    _runtime.abort(f"aclshmem_global_exit({status})")
    os._exit(status)


def aclshmem_info_get_version() -> tuple[int, int]:
    """Of Nereid: (major, minor)."""
    major, minor = nereid.__version__.split(".")[:2]
    return int(major), int(minor)


def aclshmem_info_get_name() -> str:
    """Whose functions these are."""
    return f"Nereid {nereid.__version__}"


def get_ffts_config() -> int:
    """A number that kernels of the NPU are given for their barriers; 0, since none is needed."""
    return 0


# ---- memory


def aclshmem_create_tensor(shape: Sequence[int], dtype: Any = None, device_id: int = 0) -> Any:
    """A torch tensor of zeros in symmetric memory. Collective."""
    import torch

    return _memory.allocate(shape, torch.float32 if dtype is None else dtype).torch()


def aclshmem_free_tensor(tensor: Any) -> None:
    """Gives a tensor of aclshmem_create_tensor back. Collective."""
    _memory.free("aclshmem_free_tensor", tensor.data_ptr())


def aclshmem_malloc(size: int) -> int:
    """Address of `size` bytes of symmetric memory, all zero. Collective."""
    return _memory.allocate((int(size),), "uint8").data_ptr()


def aclshmem_calloc(nmemb: int, size: int) -> int:
    """Address of `nmemb` times `size` bytes. Collective."""
    return aclshmem_malloc(nmemb * size)


def aclshmem_align(alignment: int, size: int) -> int:
    """As aclshmem_malloc, at a multiple of `alignment`, a power of two. Collective."""
    address = aclshmem_malloc(size)
    if alignment < 1 or alignment & (alignment - 1) or address % alignment:
        aclshmem_free(address)
        raise ValueError(f"aclshmem_align: alignment is a power of two that allocations have, not {alignment}")
    return address


def aclshmem_free(address: int) -> None:
    """Gives the memory of aclshmem_malloc back. Collective."""
    _memory.free("aclshmem_free", address)


def aclshmem_ptr(address: int, pe: int) -> int:
    """Where `pe` has what lies at `address` here."""
    return _memory.peer_address("aclshmem_ptr", address, pe)


def aclshmemx_get_heap_base() -> int:
    """Address of this rank's symmetric heap."""
    info = _runtime.job_info()
    return info["heap_base"] + info["rank"] * info["heap_bytes"]


# ---- transfers, complete on return


def aclshmem_putmem(dst: int, src: int, elem_size: int, pe: int) -> None:
    """Copies `elem_size` bytes from `src` to `dst` on `pe`."""
    _memory.put("aclshmem_putmem", dst, src, elem_size, pe)


def aclshmem_getmem(dst: int, src: int, elem_size: int, pe: int) -> None:
    """Copies `elem_size` bytes from `src` on `pe` to `dst`."""
    _memory.get("aclshmem_getmem", dst, src, elem_size, pe)


aclshmem_putmem_nbi, aclshmem_getmem_nbi = aclshmem_putmem, aclshmem_getmem


def aclshmemx_putmem_signal(dst: int, src: int, elem_size: int, sig_addr: int, signal: int, sig_op: int, pe: int) -> None:
    """aclshmem_putmem, then sets the 4-byte signal on `pe` (`sig_op` 0) or adds to it (1)."""
    if sig_op not in (0, 1):
        raise ValueError(f"aclshmemx_putmem_signal: sig_op is 0 (set) or 1 (add), not {sig_op}")
    _memory.put("aclshmemx_putmem_signal", dst, src, elem_size, pe)
    _memory.signal("aclshmemx_putmem_signal", sig_addr, signal, sig_op == 1, 4, pe)


aclshmemx_putmem_signal_nbi = aclshmemx_putmem_signal


def aclshmem_signal_wait_until(sig_addr: int, cmp: int, cmp_val: int) -> None:
    """Waits until the 4-byte signal compares to `cmp_val`: `cmp` is 0 to 5 for eq, ne, gt, ge, lt, le."""
    # The order of the NPU's numbers, in those of the runtime.
    row = {0: 0, 1: 1, 2: 2, 3: 5, 4: 4, 5: 3}
    if cmp not in row:
        raise ValueError(f"aclshmem_signal_wait_until: cmp is 0 to 5, not {cmp}")
    _runtime.signal_wait_until(
        _memory.place("aclshmem_signal_wait_until", sig_addr, 4), row[cmp], cmp_val & 0xFFFFFFFF, 4, True)


# ---- ranks and teams


def my_pe(team: int = 0) -> int:
    """This rank's number in the job."""
    return nereid.rank()


def pe_count() -> int:
    """Number of ranks."""
    return nereid.world_size()


n_pes = pe_count


def team_split_strided(parent: int, start: int, stride: int, size: int) -> int:
    """nereid.symm.team_split_strided."""
    return nereid.symm.team_split_strided(parent, start, stride, size)


def team_split_2d(parent: int, x_range: int) -> tuple[int, int]:
    """nereid.symm.team_split_2d."""
    return nereid.symm.team_split_2d(parent, x_range)


def team_destroy(team: int) -> int:
    """nereid.symm.team_destroy; returns 0."""
    nereid.symm.team_destroy(team)
    return 0


team_my_pe, team_n_pes = nereid.symm.team_my_pe, nereid.symm.team_n_pes
team_translate_pe = nereid.symm.team_translate_pe


# ---- shmem.core, the newer form


class AclshmemError(RuntimeError):
    """What shmem.core raises for what went wrong."""


class AclshmemInvalid(ValueError):
    """What shmem.core raises for arguments that cannot be right."""


def _core_init(device: Any = None, uid: Any = None, rank: int | None = None, nranks: int | None = None, mpi_comm: Any = None,
               initializer_method: str = "", mem_size: int | None = None) -> None:
    """Joins by a unique id; `device` and `mpi_comm` have no meaning."""
    if initializer_method != "uid":
        raise AclshmemInvalid(f"shmem.core.init: initializer_method is 'uid', not {initializer_method!r}")
    if uid is None or rank is None or nranks is None or mem_size is None:
        raise AclshmemInvalid("shmem.core.init needs uid, rank, nranks and mem_size")
    aclshmem_init_using_unique_id(rank, nranks, mem_size, uid)


def _core_barrier(team: int, stream: Any = None) -> None:
    """Barrier of the hosts of a team, after all that `stream` (the current one) was given."""
    _streams.of(stream).finish()
    nereid.symm.Team(team).barrier()


def _core_barrier_all(stream: Any = None) -> None:
    """Barrier of all hosts, after all that `stream` (the current one) was given."""
    _streams.of(stream).finish()
    nereid.barrier()


def modules() -> dict[str, dict[str, Any]]:
    """Contents by module name."""
    errors = {"AclshmemError": AclshmemError, "AclshmemInvalid": AclshmemInvalid}
    core = {
        "UniqueID": bytes, "init": _core_init, "finalize": aclshmem_finalize,
        "get_unique_id": lambda empty=False: aclshmem_get_unique_id(),
        "get_version": lambda: "libaclshmem_version={}.{}".format(*aclshmem_info_get_version()),
        "barrier": _core_barrier, "barrier_all": _core_barrier_all, "my_pe": my_pe, "n_pes": pe_count,
        "team_my_pe": team_my_pe, "team_n_pes": team_n_pes, **errors,
    }
    return {"shmem": {name: globals()[name] for name in __all__}, "shmem.core": core, "shmem.core.utils": errors}
