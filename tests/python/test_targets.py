# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Targets as the package knows them: their stages and options, notes about options of
others, and what is said when they are used wrongly."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nereid
import nereid.language as tl
from nereid import _runtime
from nereid._base import targets as _targets
from nereid._kernels import cache as _cache

KERNEL = '''\
import nereid
import nereid.language as tl


@nereid.jit(example_signature="x_ptr=*fp32, n=i32, N=64")
def double(x_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, 2 * tl.load(x_ptr + i, mask=i < n), mask=i < n)
'''
LAUNCH = KERNEL + '''

import numpy as np
x = np.ones(64, np.float32)
for _ in range(2):
    double[(1,)](x, 64, 64, num_warps=8, multibuffer=True, num_stages=None)
print(x[0], nereid.runtime.current_profile(), nereid.runtime.driver.active.get_current_target().backend)
'''


@pytest.fixture
def run(tmp_path):
    def call(*words, **environment):
        done = subprocess.run(
            [sys.executable, *map(str, words)], text=True, capture_output=True, timeout=300,
            env={**os.environ, "NEREID_CACHE_DIR": str(tmp_path / "cache"), **environment},
        )
        return done.returncode, done.stdout, done.stderr

    return call


@pytest.fixture
def kernel_file(tmp_path):
    path = tmp_path / "double.py"
    path.write_text(KERNEL)
    return path


@nereid.jit
def store(x_ptr, value):
    tl.store(x_ptr, value)


# ---- the registry


FACTS = """
import nereid
from nereid.runtime import GPUTarget, driver

assert nereid.runtime.current_target() == GPUTarget("cuda", 80, 32), nereid.runtime.current_target()
assert driver.active.get_device_capability() == (8, 0) and driver.active.utils.get_arch() == "80"
few, many = nereid.Config({}, num_warps=4), nereid.Config({}, num_warps=8)
assert few._same_code(set()) != many._same_code(set())
"""


@pytest.mark.skipif("cuda" not in nereid._runtime.target_names(), reason="this build has no target cuda")
def test_facts_of_the_target_cuda():
    environment = {**os.environ, "NEREID_TARGET": "cuda", "NEREID_CUDA_ARCH": "sm_80"}
    done = subprocess.run([sys.executable, "-c", FACTS], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    few, many = nereid.Config({}, num_warps=4), nereid.Config({}, num_warps=8)
    assert few._same_code(set()) == many._same_code(set())  # a program of the CPU has no warps


def test_the_cpu():
    row = _targets.find("cpu")
    assert row["device"] == "cpu" and row["default_profile"] == "host"
    assert _targets.stage_names("cpu")[0] == "ttir" and _targets.stage_names("cpu")[-1] == "obj"
    assert [stage["name"] for stage in row["stages"] if not stage["is_text"]] == ["obj"]
    assert all(option["help"] for option in row["options"]) and all(stage["help"] for stage in row["stages"])
    assert "NVIDIA" in _runtime.target_lack("cpu", "language_extra", "sync_grid")[0]
    assert _runtime.target_lack("cpu", "tl", "load") is None


def test_every_function_without_code_is_lacking_somewhere():
    """What a target says about functions of the language is about functions that there are."""
    from nereid import _compiler

    rows = {(module, name) for module, name, *_ in _compiler.builtin_table()}
    only = [(module, name) for module, name, _, _, doc in _compiler.builtin_table() if doc.startswith("Only on ")]
    assert len(only) > 40
    for module, name in only:
        why, instead = _runtime.target_lack("cpu", module, name)
        assert why and instead, (module, name)
    assert ("libshmem_device", "remote_mc_ptr") in rows and _runtime.target_lack("cpu", "libshmem_device", "remote_mc_ptr")


@pytest.mark.parametrize("option, text, value", [
    ("debug", "1", True), ("debug", "off", False), ("cpu", "x86-64-v3", "x86-64-v3"), ("unused_token", "keep", "keep"),
])
def test_options_from_text(option, text, value):
    assert _runtime.parse_option("cpu", option, text) == value


@pytest.mark.parametrize("option, text, words", [
    ("debug", "maybe", "takes True or False, not 'maybe'"),
    ("cpu", "native", "takes host, x86-64-v2, x86-64-v3 or x86-64-v4, not 'native'"),
    ("num_warps", "4", "the target cpu has no option 'num_warps'"),
])
def test_wrong_options(option, text, words):
    with pytest.raises(ValueError, match=words):
        _runtime.parse_option("cpu", option, text)


def test_unknown_target():
    with pytest.raises(ValueError, match="unknown target 'moon'; this build has the target"):
        _targets.find("moon")


def test_what_decides_the_code():
    host = _targets.cache_id({"target": "cpu"})
    assert host.startswith("cpu\nhost") and host == _targets.cache_id({"target": "cpu", "cpu": "host", "profile": "cuda"})
    assert _targets.cache_id({"target": "cpu", "cpu": "x86-64-v2"}) == "cpu\nx86-64-v2"
    keys = {_cache.entry_key(["a"], {"target": "cpu", **options}) for options in ({}, {"cpu": "x86-64-v2"}, {"cpu": "x86-64-v3"})}
    assert len(keys) == 3


def test_the_environment_sets_options(monkeypatch):
    monkeypatch.setenv("NEREID_CPU", "x86-64-v2")
    monkeypatch.setenv("NEREID_DEBUG", "1")
    assert _targets.settings("cpu") == {"cpu": "x86-64-v2", "debug": True}
    options = store._options({"enable_fp_fusion": False})
    assert (options["cpu"], options["debug"], options["enable_fp_fusion"]) == ("x86-64-v2", True, False)
    monkeypatch.setenv("NEREID_CPU", "z80")
    with pytest.raises(ValueError, match="NEREID_CPU: the option 'cpu' takes host"):
        store._options({})


# ---- kernels


def test_stages_of_a_kernel():
    x = np.zeros(1, np.float32)
    kernel = store[(1,)](x, 2.5)
    assert x[0] == 2.5 and kernel.target == "cpu"
    assert tuple(kernel.asm) == _targets.stage_names("cpu")
    for name in kernel.asm:
        assert isinstance(kernel.asm[name], str if _targets.stage("cpu", name)["is_text"] else bytes)
    assert "tt.store" in kernel.asm["simplified"] and "llvm.func" in kernel.asm["llvm-dialect"]
    with pytest.raises(KeyError, match="'ptx': the stages of the target cpu are ttir, "):
        kernel.asm["ptx"]


def test_the_processor_is_an_option_of_a_launch():
    x = np.zeros(64, np.float32)

    @nereid.jit
    def fill(x_ptr):
        tl.store(x_ptr + tl.arange(0, 64), 3.0)

    code = fill[(1,)](x, cpu="x86-64-v2").asm["asm"]
    assert (x == 3).all() and "xmm" in code and "ymm" not in code and "zmm" not in code


def test_compile_takes_the_target_in_force():
    source = nereid.compiler.ASTSource(store, {"x_ptr": "*fp32", "value": "fp32"})
    target = nereid.runtime.current_target()
    assert nereid.compile(source, target).target == target.backend == "cpu"
    with pytest.raises(ValueError, match="the target in force is cpu, not 'cuda'"):
        nereid.compile(source, nereid.runtime.GPUTarget("cuda", 90, 32))
    with pytest.raises(ValueError, match="'ir_override' is the name of a file"):
        nereid.compile(source, options={"ir_override": "x.ttir"})


# ---- the command line and the environment


def test_info(run):
    code, out, _ = run("-m", "nereid", "info")
    assert code == 0
    for word in ("Targets: where code runs", "cpu-tiles", "enable_fp_fusion", "NEREID_TARGET", "Profiles: by which rules"):
        assert word in out


@pytest.mark.parametrize("words, message", [
    (["--target", "moon"], "nereid compile: unknown target 'moon'; this build has the target"),
    (["--profile", "moon"], "nereid compile: unknown profile 'moon'; known: host, cuda, ascend910b"),
    (["--emit", "ptx"], "the stages of the target cpu are ttir, simplified, cpu-tiles"),
    (["--option", "cpu=z80"], "the option 'cpu' takes host, x86-64-v2"),
    (["--option", "cpu"], "--option takes NAME=VALUE, not 'cpu'"),
    (["--option", "nothing=1"], "the target cpu has no option 'nothing'"),
    (["--option", "num_warps=4"], "'num_warps' is an option of the target cuda; the target cpu has none of that name"),
])
def test_wrong_commands(run, kernel_file, words, message):
    code, out, err = run("-m", "nereid", "compile", f"{kernel_file}:double", *words)
    assert code == 2 and not out and message in err and "Traceback" not in err, err


def test_commands_with_options(run, kernel_file):
    code, out, err = run("-m", "nereid", "compile", f"{kernel_file}:double", "--target=cpu", "--option", "cpu=x86-64-v2",
                         "--emit=asm")
    assert code == 0 and "xmm" in out and "ymm" not in out, err
    code, out, err = run("-m", "nereid", "compile", f"{kernel_file}:double", "--emit=asm", NEREID_CPU="x86-64-v3")
    assert code == 0 and "ymm" in out and "zmm" not in out, err
    # An object for the terminal of a pipe is bytes.
    code, out, err = run("-m", "nereid", "compile", f"{kernel_file}:double", "--emit=obj", "-o", kernel_file.with_suffix(".o"))
    assert code == 0 and kernel_file.with_suffix(".o").read_bytes()[:4] == b"\x7fELF"


def test_options_of_others_are_explained_once(run, tmp_path):
    script = tmp_path / "launch.py"
    script.write_text(LAUNCH)
    code, out, err = run(script)
    assert (code, out) == (0, "4.0 host cpu\n") and not err
    code, out, err = run("-m", "nereid", "run", "--explain", script)
    assert code == 0 and out == "4.0 host cpu\n"
    assert err.count("nereid: double: 'num_warps' is an option of the target cuda; the target cpu has none of that name") == 1
    assert err.count("'multibuffer' is an option of the compilers for Ascend") == 1 and "num_stages" not in err


def test_a_profile_is_no_target(run, tmp_path):
    script = tmp_path / "launch.py"
    script.write_text(LAUNCH)
    code, out, err = run("-m", "nereid", "run", "--profile=cuda", "--target=cpu", script)
    assert (code, out) == (0, "4.0 cuda cpu\n"), err


@pytest.mark.parametrize("variable, words", [
    ("NEREID_TARGET", "unknown target 'moon'; this build has the target"), ("NEREID_PROFILE", "unknown profile 'moon'"),
    ("NEREID_CPU", "NEREID_CPU: the option 'cpu' takes host"),
])
def test_wrong_variables(run, tmp_path, variable, words):
    script = tmp_path / "launch.py"
    script.write_text(LAUNCH)
    code, out, err = run(script, **{variable: "moon"})
    assert code == 1 and not out and words in err


VECTORS = {"host": "", "x86-64-v2": "xmm", "x86-64-v3": "ymm", "x86-64-v4": "zmm"}


@pytest.mark.parametrize("processor", VECTORS)
def test_each_processor(run, tmp_path, processor):
    """NEREID_CPU chooses the widest vectors of the code; a machine that has them runs it."""
    assert _targets.option("cpu", "cpu")["choices"] == list(VECTORS)
    file = tmp_path / "fill.py"
    file.write_text("import nereid\nimport nereid.language as tl\nimport numpy as np\n\n\n@nereid.jit\ndef fill(x):\n"
                    "    o = tl.arange(0, 64)\n    tl.store(x + o, tl.load(x + o) * 3.0)\n\n\n"
                    "if __name__ == '__main__':\n    a = np.ones(64, np.float32)\n    fill[(1,)](a)\n    print(a.sum())\n")
    code, out, err = run("-m", "nereid", "compile", f"{file}:fill", "--signature", "x=*fp32", "--emit=asm", NEREID_CPU=processor)
    assert code == 0, err
    wider = {"xmm": ["ymm", "zmm"], "ymm": ["zmm"]}.get(VECTORS[processor], [])
    assert VECTORS[processor] in out and not any(name in out for name in wider)
    flags = set(re.search(r"^flags\s*:(.*)", Path("/proc/cpuinfo").read_text(), re.M)[1].split())
    needed = {"x86-64-v3": "avx2", "x86-64-v4": "avx512vl"}.get(processor)
    code, out, err = run(file, NEREID_CPU=processor)
    if needed and needed not in flags:
        assert code == 1 and "which this one lacks" in err, err
    else:
        assert (code, out) == (0, "192.0\n"), err


@pytest.mark.parametrize("value", ["native", "x86-64", "X86-64-V3", "skylake", " host"])
def test_other_processors_are_refused(run, kernel_file, value):
    code, out, err = run("-m", "nereid", "compile", f"{kernel_file}:double", "--emit=asm", NEREID_CPU=value)
    assert code != 0 and not out and "Traceback" not in err, err
    assert f"NEREID_CPU: the option 'cpu' takes host, x86-64-v2, x86-64-v3 or x86-64-v4, not '{value}'" in err, err


def test_options_of_other_targets_make_no_kernels():
    """A launch looks at the options that its target declares: others change nothing, not even the number
    of compiled kernels."""
    x = np.zeros(4, np.float32)
    store._clear()
    for warps in (1, 4, "many"):
        store[(1,)](x, 1.0, num_warps=warps, num_stages=warps, maxnreg=None, arch="sm_90")
    assert len(store.device_caches[0][0]) == 1
    store[(1,)](x, 1.0, enable_fp_fusion=False)
    assert len(store.device_caches[0][0]) == 2


def test_a_target_that_is_chosen_has_its_options(monkeypatch):
    if "cuda" not in nereid._runtime.target_names():
        pytest.skip("this build has no target cuda")
    monkeypatch.setenv("NEREID_TARGET", "cpu")
    try:
        _targets.choose("cuda")
        with pytest.raises(ValueError, match="'num_warps' takes a"):
            store.warmup(np.zeros(4, np.float32), 1.0, num_warps="many")
    finally:
        _targets.choose("cpu")
    store[(1,)](np.zeros(4, np.float32), 1.0, num_warps="many")


def test_one_version_of_a_tool_is_taken(monkeypatch):
    from nereid._base import tools

    rows = [_targets.find(name) for name in nereid._runtime.target_names() if _targets.find(name)["tool"]]
    for row in rows:
        assert f'"{row["tool"]}"' in (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
        own = {"target": row["name"], "arch": "sm_90"}
        key = _targets.cache_id(own)
        monkeypatch.setattr(tools.importlib.metadata, "version", lambda name: "3.5.9")
        assert _targets.cache_id(own) != key
        package = row["tool"].partition("==")[0]
        assert f"{row['tool']}, but {package}==3.5.9 is installed" in tools.run(row["tool"], "{}")
