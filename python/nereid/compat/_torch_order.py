# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of torch in the order of streams.

They are done by the calling thread. While a stream has something to do, a mode of torch's
dispatcher looks at each of them: one that reads or writes memory of tensors waits until
the current stream has ended what it was given before, as it would on a device.
Those that only make a tensor, or look at one in another shape, do not wait.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

from torch.utils import _python_dispatch

from nereid.compat import _streams

_MAKE_ONLY = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")


@functools.lru_cache(maxsize=None)
def _touches_memory(operation: Any) -> bool:
    schema = operation._schema
    infos = [argument.alias_info for argument in schema.arguments]
    is_view = any(infos) and not any(info is not None and info.is_write for info in infos)
    return not is_view and schema.name.rpartition("::")[2] not in _MAKE_ONLY


class _InOrder(_python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if _touches_memory(operation):
            _streams.current().finish()
        return operation(*args, **(kwargs or {}))


_mode = _InOrder()
_main = threading.get_ident()
_looks = False


def begin() -> None:
    """A stream has something to do: operations of the main thread are looked at from now on."""
    global _looks
    if not _looks and threading.get_ident() == _main:
        _looks = True
        _mode.__enter__()


def end() -> None:
    """Operations are no longer looked at, unless a stream has something to do, or the script has
    entered a mode of its own since."""
    global _looks
    if _looks and threading.get_ident() == _main and not _streams.anything_pending():
        if _python_dispatch._get_current_dispatch_mode() is _mode:
            _looks = False
            _mode.__exit__(None, None, None)


_streams.on_pending = begin
