# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The environment variables that the Python package and the compiler read; the
runtime has a table of its own (``_runtime.knobs()``). docs/environment.md shows
both, and a test compares it with them and with the code."""

from __future__ import annotations

import os

from nereid import _runtime


def _option_variables() -> list[tuple[str, str, str]]:
    """Those that set options of the targets."""
    rows = {}
    for target in (*_runtime.target_names(), _runtime.default_target()):
        for row in _runtime.find_target(target)["options"]:
            if row["variable"]:
                default = str(int(row["default"])) if isinstance(row["default"], bool) else str(row["default"])
                choices = f": {', '.join(row['choices'])}" if row["choices"] else ""
                meaning = f"1: {row['help']}, in all kernels" if isinstance(row["default"], bool) else row["help"]
                rows[row["variable"]] = (row["variable"], default, meaning + choices)
    return list(rows.values())


#: (name, default, meaning). A name with default "0" or "1" is a switch.
VARIABLES = [
    ("NEREID_TARGET", _runtime.default_target(), "target to compile for; nereid info lists them"),
    ("NEREID_CACHE_DIR", "~/.cache/nereid", "folder of compiled kernels"),
    ("NEREID_CACHE", "1", "0 switches the disk cache off"),
    ("NEREID_ALWAYS_COMPILE", "0", "1 compiles anew even if the cache has the kernel"),
    ("NEREID_DUMP", "", "folder that gets every stage of each kernel that is launched"),
    ("NEREID_OVERRIDE", "", "folder of KERNEL.ttir files that are compiled in place of the functions of their names"),
    ("NEREID_PRINT_AUTOTUNING", "0", "1 prints what autotuning has measured and chosen"),
    ("NEREID_CACHE_AUTOTUNING", "0", "1 keeps choices of autotuning on disk, as cache_results=True does"),
    ("NEREID_ALLOW_NON_CONSTEXPR_GLOBALS", "0", "1 lets kernels read plain numbers, strings and tuples of their module"),
    ("NEREID_EXPLAIN", "0", "1 says which launch options have no effect on the target"),
    ("NEREID_ASCEND_TOOLS", "", "virtual environment with the vendor's compiler for Ascend; unset: the one beside this "
     "Python's whose name goes on with -ascend"),
    ("NEREID_START", "", "what starts a command on a host for `nereid run --hosts`, with {host} and {command} in it; unset: "
     "ssh -o BatchMode=yes {host} {command}"),
    ("NEREID_RUN_IR_RANK", "", "rank of a process that `nereid run-ir` has started (set by it)"),
    ("NEREID_OPS_CHECK", "0", "1: ranks compare each call of an operator of nereid.ops, not only the first of its kind"),
    ("NEREID_OPS_TABLE", "", "file with the fastest algorithms of nereid.ops on this machine, made by nereid.ops.tune"),
    ("NEREID_OPS_TABLES", "1", "0: nereid.ops chooses algorithms by its model alone, not by measured tables"),
    *_option_variables(),
]


def flag(name: str, default: str = "0") -> bool:
    """Whether a switch is on: set to anything but nothing, 0, false, no or off."""
    return os.environ.get(name, default).strip().lower() not in ("", "0", "false", "no", "off")


#: Those that change what a kernel compiles to; a launch sees them as they are now.
COMPILING = (
    "NEREID_TARGET", "NEREID_PROFILE", "NEREID_ALLOW_NON_CONSTEXPR_GLOBALS", *(row[0] for row in _option_variables())
)


def _table(rows: list[tuple[str, str, str]]) -> str:
    lines = ["| variable | default | meaning |", "| --- | --- | --- |"]
    for name, default, text in rows:
        lines.append(f"| `{name}` | {f'`{default}`' if default else '-'} | {text} |")
    return "\n".join(lines)


def page() -> str:
    """docs/environment.md, which ``python -m nereid._base.environment`` writes."""
    return f"""# Environment variables

Everything that Nereid reads from the environment; `nereid info` shows the values in force. A switch is off when it is
empty, `0`, `false`, `no` or `off`. This page is written by `python -m nereid._base.environment > docs/environment.md`.

## Compiling and launching

{_table(VARIABLES)}

`NEREID_CACHE_DIR` unset means `$XDG_CACHE_HOME/nereid` where that variable is set. While `NEREID_DUMP` is set, kernels
are compiled even when the cache has them, and the folder gets `KERNEL.0-ttir.mlir` and so on, one file per stage.
To try a change of a kernel's IR: `nereid compile k.py:KERNEL -o folder/KERNEL.ttir`, edit the file, and run the program
with `NEREID_OVERRIDE=folder`; a file whose arguments differ from those of a launch is an error.

## Ranks

{_table(_runtime.knobs())}
"""


if __name__ == "__main__":
    print(page(), end="")
