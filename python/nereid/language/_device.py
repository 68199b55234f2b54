# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How functions and constants of the language look from Python: the generated
modules are made of these. A function carries its row of the compiler's table in
``__nereid_builtin__``; called on the host it says where it belongs."""

from __future__ import annotations

import functools
from typing import Callable


def device_function(module: str, name: str) -> Callable[[Callable], Callable]:
    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def on_host(*args, **kwargs):
            hint = ""
            if name in ("cdiv", "next_power_of_2", "rank", "num_ranks"):
                hint = f"; host code calls nereid.{name}"
            raise RuntimeError(
                f"{module}.{name} is a function of the kernel language: it can only be called inside a function marked "
                f"with @nereid.jit{hint}"
            )

        on_host.__nereid_builtin__ = (module, name)
        return on_host

    return decorate


def usable_in_kernels(module: str, name: str) -> Callable[[Callable], Callable]:
    """Marks a function of the host that kernels may call too: there it is the named
    function of the language."""

    def decorate(function: Callable) -> Callable:
        function.__nereid_builtin__ = (module, name)
        return function

    return decorate


class DeviceConstant(int):
    """A constant of the language. Its number says family and meaning to the
    compiler; only kernels can use it. ``__nereid_team__`` is the handle of the team that
    it names, as nereid.symm has it, or None: that is also a number for the host and for
    run-time parameters of kernels."""

    def __new__(cls, module: str, name: str, value: int) -> "DeviceConstant":
        self = super().__new__(cls, value)
        self.__nereid_constant__ = (module, name)
        # The number's low 32 bits, which are signed (Frontend/ShmemConstants.cpp).
        self.__nereid_team__ = ((value + (1 << 31)) & 0xFFFFFFFF) - (1 << 31) if "_TEAM_" in name else None
        return self

    def __repr__(self) -> str:
        return ".".join(self.__nereid_constant__)
