# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples in the descriptions of passes are run: what the pass makes of the first half has to
be the second half, up to the names of values. A block of a description reads

    IR                                   IR
    // becomes ...            or         // fails: MESSAGE      or // reports: MESSAGE
    IR                                                          (a remark; the pass changes no operation)

and may begin with `// options: NAME=VALUE ...`."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEREID_OPT = ROOT / "build" / "release" / "tools" / "nereid-opt" / "nereid-opt"
PASS = re.compile(r'^def \w+\s*:\s*Pass<"(?P<name>[\w-]+)".*?^}', re.S | re.M)
BLOCK = re.compile(r"^ *```mlir\n(?P<text>.*?)^ *```$", re.S | re.M)


def examples() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for file in sorted((ROOT / "compiler").rglob("Passes.td")):
        for match in PASS.finditer(file.read_text(encoding="utf-8")):
            found[match["name"]] = [block["text"] for block in BLOCK.finditer(match[0])]
    return found


EXAMPLES = examples()


def opt(text: str, *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run([NEREID_OPT, *arguments, "-"], input=text, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def test_every_pass_has_an_example():
    assert len(EXAMPLES) >= 16
    assert [name for name, blocks in EXAMPLES.items() if not blocks] == []


@pytest.mark.parametrize("name, index", [(name, index) for name, blocks in EXAMPLES.items() for index in range(len(blocks))])
def test_example(name, index):
    before, kind, rest = re.split(r"^ *// (becomes|fails|reports)", EXAMPLES[name][index], maxsplit=1, flags=re.M)
    options = re.match(r"\s*// options: (.*)\n", before)
    argument = f"-{name}={options[1]}" if options else f"-{name}"
    code, output, errors = opt(before, argument)
    first, _, after = rest.partition("\n")
    if kind == "fails":
        assert code != 0
        assert first.removeprefix(":").strip() in errors
        return
    if kind == "reports":
        assert code == 0
        assert first.removeprefix(":").strip() in errors
        return
    assert (code, errors) == (0, "")
    code, wanted, errors = opt(after)
    assert (code, errors) == (0, ""), f"the second half cannot be read; the pass gives\n{output}"
    assert output == wanted
