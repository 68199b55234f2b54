# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The targets of this build: where code runs, as opposed to the profile, which says
by which rules it is written. What a target declares (options, stages, what it
lacks) comes from the registry of the compiler; nothing of it is repeated here."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from typing import Any

from nereid import _runtime
from nereid._base import environment as _environment
from nereid._base import tools as _tools


@functools.lru_cache(maxsize=None)
def find(name: str) -> dict[str, Any]:
    """What the target of that name declares: name, description, default_profile,
    device, tool, options and stages (lists of dicts). ValueError for an unknown name."""
    return _runtime.find_target(name)


def active() -> str:
    """Name of the target that kernels are compiled for: NEREID_TARGET, else the
    first of this build. ValueError when this build does not have it."""
    name = os.environ.get("NEREID_TARGET") or _runtime.default_target()
    if name != _told:
        _tell(name)
    return name


def choose(name: str) -> None:
    """From now on kernels are compiled for that target. ValueError for an unknown name."""
    find(name)
    os.environ["NEREID_TARGET"] = name
    active()


_told: str | None = None


def _tell(name: str) -> None:
    """Tells launches which keywords the target takes: they look at no others."""
    global _told
    own = {row["name"] for row in find(name)["options"]}
    others = foreign(name)
    ignored = {option for option, (_, is_error) in others.items() if not is_error}
    refused = {option: text for option, (text, is_error) in others.items() if is_error}
    _runtime.register_launch_options(name, own, ignored, refused)
    _told = name


def stage_names(target: str) -> tuple[str, ...]:
    """Everything that ``--emit`` writes for a target, in order."""
    return tuple(stage["name"] for stage in find(target)["stages"])


def stage(target: str, name: str) -> dict[str, Any]:
    """A stage's row. KeyError for a name that the target does not have."""
    for row in find(target)["stages"]:
        if row["name"] == name:
            return row
    raise KeyError(f"{name!r}: the stages of the target {target} are {', '.join(stage_names(target))}")


def is_launch_option(name: str) -> bool:
    """Whether launches take that keyword, with or without an effect on this target."""
    target = active()
    return option(target, name) is not None or not foreign(target).get(name, ("", True))[1]


def option(target: str, name: str) -> dict[str, Any] | None:
    """An option's row; None when the target has none of that name."""
    return next((row for row in find(target)["options"] if row["name"] == name), None)


def unused_token() -> tuple[str, ...]:
    """What may be done about a dl.wait whose token is not used; the same on all targets."""
    return tuple(option(_runtime.default_target(), "unused_token")["choices"])


def settings(target: str) -> dict[str, Any]:
    """The options of a target that environment variables set. ValueError names the
    variable and what it takes."""
    values = {}
    for row in find(target)["options"]:
        variable = row["variable"]
        if not variable or variable not in os.environ:
            continue
        if isinstance(row["default"], bool):
            values[row["name"]] = _environment.flag(variable)
            continue
        if not os.environ[variable]:
            continue
        try:
            values[row["name"]] = _runtime.parse_option(target, row["name"], os.environ[variable])
        except ValueError as error:
            raise ValueError(f"{variable}: {error}") from None
    return values


@functools.lru_cache(maxsize=None)
def foreign(target: str) -> dict[str, tuple[str, bool]]:
    """Launch options that only other compilers know: name -> (what it is, whether
    leaving it out is an error)."""
    return _runtime.foreign_options(target)


_noted: set[tuple[str, str]] = set()


def note(kernel: str, name: str, target: str | None = None) -> None:
    """With NEREID_EXPLAIN, says once that a launch option has no effect."""
    if not _environment.flag("NEREID_EXPLAIN") or (kernel, name) in _noted:
        return
    _noted.add((kernel, name))
    print(f"nereid: {kernel}: {foreign(target or active())[name][0]}", file=sys.stderr)


def cache_id(options: dict[str, Any]) -> str:
    """What decides the code beside sources and options, e.g. the processor."""
    own = _runtime.target_cache_id(options["target"], options)
    tool = find(options["target"])["tool"]
    return f"{own}\n{_tools.installed(tool)}" if tool else own


def profile() -> str:
    """By which rules kernels are written: the job's profile, else NEREID_PROFILE, else
    the default of the target. ValueError for an unknown name."""
    if not _runtime.is_initialized():
        name = os.environ.get("NEREID_PROFILE")
        _runtime.set_default_profile(name or find(active())["default_profile"])
    return _runtime.active_profile()


_tell(_runtime.default_target())
with contextlib.suppress(ValueError):  # a launch reports it
    active()
    profile()
