# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The host functions of NVSHMEM (``nvshmem.core``, and its bindings under the name
``pynvshmem``) on a job of Nereid. What is given to a stream happens when the stream has ended
all that it was given before, for which the call waits; it is complete when it returns."""

from __future__ import annotations

import enum
import os
import secrets
from typing import Any, Sequence

import nereid
from nereid.compat import _join, _memory, _streams


class Teams(enum.IntEnum):
    """The teams that there are from the start."""

    TEAM_INVALID = int(nereid.symm.TEAM_INVALID)
    TEAM_WORLD = int(nereid.symm.TEAM_WORLD)
    TEAM_SHARED = int(nereid.symm.TEAM_SHARED)
    TEAM_NODE = int(nereid.symm.TEAM_NODE)
    TEAM_SAME_MYPE_NODE = int(nereid.symm.TEAM_SAME_PE_NODE)


class SignalOp(enum.IntEnum):
    """What put_signal does to the signal."""

    SIGNAL_SET = 9
    SIGNAL_ADD = 10


class TeamConfig:
    """Settings of a new team: there are none."""


class UniqueID(bytes):
    """By what the ranks of a new job know each other."""


class NvshmemError(RuntimeError):
    """Raised where a call cannot be right."""


def get_unique_id(empty: bool = False) -> UniqueID:
    """A new id, or with `empty` room for one that the script brings from another rank."""
    return UniqueID() if empty else UniqueID(f"{os.getpid()}.{secrets.token_hex(16)}".encode())


def init(device: Any = None, uid: bytes | None = None, rank: int | None = None, nranks: int | None = None,
         mpi_comm: Any = None, initializer_method: str = "") -> None:
    """Joins the job: as rank `rank` of `nranks` that know each other by `uid`, or, with
    initializer_method "mpi" or "emulated_mpi", as the environment says. Collective."""
    if initializer_method == "uid":
        if not uid or rank is None or nranks is None:
            raise NvshmemError("nvshmem.core.init: initializer_method 'uid' needs uid, rank and nranks")
        _join.join("nvshmem.core.init", int(rank), int(nranks), bytes(uid).hex())
    elif initializer_method in ("mpi", "emulated_mpi"):
        _join.join("nvshmem.core.init")
    else:
        raise NvshmemError(f"nvshmem.core.init: initializer_method is 'uid' or 'mpi', not {initializer_method!r}")


def finalize() -> None:
    """Leaves the job."""
    nereid.synchronize()
    _memory.forget()
    nereid.finalize()


def my_pe() -> int:
    """This rank's number."""
    return nereid.rank()


def n_pes() -> int:
    """Number of ranks."""
    return nereid.world_size()


# ---- memory

#: The library gives memory out in pieces of so many bytes; files use what lies behind small arrays of signals.
_PIECE = 512


def tensor(shape: Sequence[int] | int, dtype: Any = None, **_options: Any) -> Any:
    """A torch tensor of zeros in symmetric memory. Collective."""
    import torch

    like = torch.empty(shape, dtype=torch.float32 if dtype is None else dtype, device="meta")
    nbytes = like.numel() * like.element_size()
    piece = _memory.allocate(max(1, -(-nbytes // _PIECE)) * _PIECE, torch.uint8).torch()
    return piece[:nbytes].view(like.dtype).reshape(like.shape)


def bytetensor(shape: Sequence[int] | int, dtype: Any = None, **_options: Any) -> Any:
    """`tensor` of bytes."""
    import torch

    return tensor(shape, torch.uint8)


def get_peer_tensor(tensor: Any, peer_pe: int) -> Any:
    """A torch tensor over what `peer_pe` has in place of a symmetric one."""
    return _memory.peer_view("nvshmem.core.get_peer_tensor", tensor, peer_pe)


def free_tensor(tensor: Any) -> None:
    """Gives a tensor back. Collective."""
    _memory.free("nvshmem.core.free_tensor", tensor.data_ptr())


# ---- teams


def _team(team: Any) -> int:
    """A team's handle: of the host, or a constant of libshmem_device."""
    constant = getattr(team, "__nereid_team__", None)
    return int(team) if constant is None else constant


def team_translate_pe(src_team: int, src_pe: int, dest_team: int) -> int:
    """The number in `dest_team` of the rank that is `src_pe` in `src_team`, -1 when there is none."""
    return nereid.symm.team_translate_pe(_team(src_team), int(src_pe), _team(dest_team))


def team_my_pe(team: int) -> int:
    """This rank's number in the team, -1 outside of it."""
    return nereid.symm.team_my_pe(_team(team))


def team_n_pes(team: int) -> int:
    """Number of members."""
    return nereid.symm.team_n_pes(_team(team))


def team_split_strided(parent: int, start: int, stride: int, size: int, *_config: Any, **_options: Any) -> int:
    """nereid.symm.team_split_strided."""
    return nereid.symm.team_split_strided(_team(parent), start, stride, size)


def team_split_2d(parent: int, x_range: int, *_config: Any, **_options: Any) -> tuple[int, int]:
    """nereid.symm.team_split_2d."""
    return nereid.symm.team_split_2d(_team(parent), x_range)


def team_destroy(team: int) -> None:
    """nereid.symm.team_destroy."""
    nereid.symm.team_destroy(_team(team))


def barrier(team: int = Teams.TEAM_WORLD, stream: Any = None) -> None:
    """Barrier of the members' hosts."""
    _streams.of(stream).finish()
    if _team(team) == Teams.TEAM_WORLD:
        nereid.barrier()
    else:
        nereid.symm.Team(_team(team)).barrier()


def sync(team: int = Teams.TEAM_WORLD, stream: Any = None) -> None:
    """As barrier."""
    barrier(team, stream)


def quiet(stream: Any = None) -> None:
    """Host transfers are complete when they return."""
    _streams.of(stream).finish()


# ---- transfers


def _flat(who: str, tensor: Any) -> tuple[int, int]:
    if not tensor.is_contiguous():
        raise NvshmemError(f"{who} takes contiguous tensors")
    return tensor.data_ptr(), tensor.numel() * tensor.element_size()


def _sizes(who: str, dst: Any, src: Any) -> tuple[int, int, int]:
    (to, room), (source, nbytes) = _flat(who, dst), _flat(who, src)
    if room != nbytes:
        raise NvshmemError(f"{who}: the source has {nbytes} bytes, the destination {room}")
    return to, source, nbytes


def put(dst: Any, src: Any, remote_pe: int = -1, stream: Any = None) -> None:
    """Copies `src` to what `remote_pe` has in place of `dst`."""
    _streams.of(stream).finish()
    to, source, nbytes = _sizes("nvshmem.core.put", dst, src)
    _memory.put("nvshmem.core.put", to, source, nbytes, remote_pe)


def get(dst: Any, src: Any, remote_pe: int = -1, stream: Any = None) -> None:
    """Copies what `remote_pe` has in place of `src` to `dst`."""
    _streams.of(stream).finish()
    to, source, nbytes = _sizes("nvshmem.core.get", dst, src)
    _memory.get("nvshmem.core.get", to, source, nbytes, remote_pe)


def _signal(who: str, address: int, value: int, operation: int, pe: int) -> None:
    try:
        operation = SignalOp(int(operation))
    except ValueError:
        raise NvshmemError(f"{who}: the operation is SignalOp.SIGNAL_SET or SIGNAL_ADD, not {operation}") from None
    _memory.signal(who, address, int(value), operation == SignalOp.SIGNAL_ADD, 8, pe)


def put_signal(dst: Any, src: Any, signal_var: Any, signal_val: int, signal_op: int, remote_pe: int = -1,
               stream: Any = None) -> None:
    """`put`, then sets the 8-byte signal on `remote_pe`, or adds to it."""
    put(dst, src, remote_pe, stream)
    _signal("nvshmem.core.put_signal", signal_var.data_ptr(), signal_val, signal_op, remote_pe)


def signal_op(signal_var: Any, signal_val: int, signal_op: int, remote_pe: int = -1, stream: Any = None) -> None:
    """Sets the 8-byte signal on `remote_pe`, or adds to it."""
    _streams.of(stream).finish()
    _signal("nvshmem.core.signal_op", signal_var.data_ptr(), signal_val, signal_op, remote_pe)


def _putmem_on_stream(dst: int, src: int, nbytes: int, pe: int, stream: Any = None) -> None:
    _streams.of(stream).finish()
    _memory.put("putmem_on_stream", dst, src, nbytes, pe)


def _putmem_signal_on_stream(dst: int, src: int, nbytes: int, signal: int, value: int, operation: int, pe: int,
                             stream: Any = None) -> None:
    _putmem_on_stream(dst, src, nbytes, pe, stream)
    _signal("putmem_signal_on_stream", signal, value, operation, pe)


def modules() -> dict[str, dict[str, Any]]:
    """Contents by module name."""
    names = (
        "NvshmemError SignalOp TeamConfig Teams UniqueID barrier bytetensor finalize free_tensor get get_peer_tensor "
        "get_unique_id init my_pe n_pes put put_signal quiet signal_op sync team_destroy team_my_pe team_n_pes "
        "team_split_2d team_split_strided tensor"
    )
    core = {name: globals()[name] for name in names.split()}
    numbers = ("my_pe", "n_pes", "team_my_pe", "team_n_pes")
    core["team_translate_pe"] = team_translate_pe
    bindings = {
        "team_translate_pe": team_translate_pe, **{name: core[name] for name in numbers}, **{f"nvshmem_{name}": core[name] for name in numbers},
        "putmem_on_stream": _putmem_on_stream, "putmem_signal_on_stream": _putmem_signal_on_stream,
    }
    return {
        "nvshmem": {"__version__": nereid.__version__}, "nvshmem.core": core,
        "nvshmem.bindings": bindings, "nvshmem.bindings.nvshmem": bindings, "pynvshmem": bindings,
    }
