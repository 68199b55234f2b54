# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fixtures: launches that end in a C function instead of a compiled kernel, a cache
folder of the test's own, a check that nothing stays in shared memory."""

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import nereid
from nereid import _runtime
from nereid._kernels import compile as _compile

import shared_memory

# With it, ranks that print at the same time mix their lines.
os.environ.pop("PYTHONUNBUFFERED", None)

ABI = Path(__file__).resolve().parents[2] / "abi"


@pytest.fixture(autouse=True)
def nothing_left_in_shared_memory():
    before = shared_memory.names()
    yield
    assert not shared_memory.left_since(before)


@pytest.fixture
def cache_folder(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("NEREID_CACHE_DIR", str(folder))
    return folder


@pytest.fixture(scope="session")
def build_c(tmp_path_factory):
    """Compiles C text against abi.h; returns the loaded library."""
    compiler = shutil.which("cc") or shutil.which("clang-22")
    assert compiler is not None, "there is no C compiler; scripts/setup.sh installs clang-22"
    folder = tmp_path_factory.mktemp("c")

    def build(text: str) -> ctypes.CDLL:
        source = folder / f"k{len(list(folder.iterdir()))}.c"
        source.write_text('#include "nereid/abi.h"\n#include <string.h>\n' + text)
        library = source.with_suffix(".so")
        subprocess.run([compiler, "-O1", "-shared", "-fPIC", f"-I{ABI}", str(source), "-o", str(library)], check=True)
        return ctypes.CDLL(str(library))

    return build


#: Copies its argument slots to `seen`; counts the programs that ran.
RECORDER = """
uint64_t seen[64];
int64_t count, last_pid[3], last_grid[3];
void record(nrd_program *p, const uint64_t *args) {
  if (NUM_ARGS) memcpy(seen, args, 8 * NUM_ARGS);
  __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
  for (int i = 0; i < 3; ++i) { last_pid[i] = p->pid[i]; last_grid[i] = p->grid[i]; }
}
"""


class Recorder:
    """Stands in for the compiler: every kernel becomes `record`. Keeps what the
    compiler was asked for and what the kernel got."""

    def __init__(self, build):
        self.build = build
        self.libraries = {}
        self.requests = []
        self.library = None
        self.metadata = {}

    def compile_or_load(self, function, specs, options):
        self.requests.append((function, specs, options))
        count = self.count_slots(specs)
        if count not in self.libraries:
            self.libraries[count] = self.build(RECORDER.replace("NUM_ARGS", str(count)))
        self.library = self.libraries[count]
        kernel = type("Kernel", (), {})()
        kernel.name = function.__name__
        kernel._image = _runtime.KernelImage.of_address(
            name=function.__name__,
            address=ctypes.cast(self.library.record, ctypes.c_void_p).value,
            num_args=count,
            owner=self.library,
            **self.metadata,
        )
        return kernel

    def count_slots(self, specs):
        total = 0
        for spec in specs:
            if spec[0] == "tuple":
                total += self.count_slots(spec[1])
            elif spec[0] != "constexpr":
                total += 1
        return total

    @property
    def specs(self):
        return self.requests[-1][1]

    @property
    def slots(self):
        return list((ctypes.c_uint64 * 64).in_dll(self.library, "seen"))[: self.count_slots(self.specs)]

    def programs(self):
        return ctypes.c_int64.in_dll(self.library, "count").value

    def grid(self):
        return tuple((ctypes.c_int64 * 3).in_dll(self.library, "last_grid"))


@pytest.fixture
def recorder(build_c, monkeypatch):
    stand_in = Recorder(build_c)
    monkeypatch.setattr(_compile, "compile_or_load", stand_in.compile_or_load)
    return stand_in


@pytest.fixture
def refused():
    """`refused(call, *words)`: the call raises ArgumentError whose text has all of
    the words; returns the text."""

    def check(call, *words):
        with pytest.raises(nereid.ArgumentError) as caught:
            call()
        text = str(caught.value)
        for word in words:
            assert word in text, text
        return text

    return check
