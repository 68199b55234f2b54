# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`with al.scope(core_mode=...)`: what vector cores and the cube core run."""

import os
import subprocess
import sys

import pytest
from frontend_kernels import build, load, refused

HEAD = """
        import nereid.language.extra.cann.extension as al
"""

#: Both vector cores of an AI core count how often they come to each place.
COUNTING = (
    HEAD
    + """
        @nereid.jit
        def kernel(out_ptr, SCOPE: tl.constexpr):
            a = tl.dot(tl.full((16, 16), 1.0, tl.float32), tl.full((16, 16), 1.0, tl.float32))
            if SCOPE == "cube":
                with al.scope(core_mode="cube", noinline=True, disable_auto_sync=True):
                    tl.atomic_add(out_ptr + 2, 1.0)
                    tl.store(out_ptr + 3, tl.max(a))
            else:
                with al.scope(core_mode="vector"):
                    tl.atomic_add(out_ptr + al.sub_vec_id(), 1.0)
"""
)


def test_cores_of_a_mixed_launch(tmp_path):
    _, path, _ = load(tmp_path, COUNTING)
    with path.open("a") as file:
        file.write(
            "\nimport numpy as np\n"
            "for scope in ('vector', 'cube'):\n"
            "    out = np.zeros(4, np.float32)\n"
            "    kernel[(1,)](out, scope)\n"
            "    print(*out)\n"
        )
    # The profile is that of the process.
    environment = dict(os.environ, NEREID_PROFILE="ascend910b")
    result = subprocess.run([sys.executable, path], env=environment, capture_output=True, text=True, timeout=60)
    assert result.stdout.splitlines() == ["1.0 1.0 0.0 0.0", "0.0 0.0 1.0 16.0"], result.stderr


CUBE_RESULT = (
    HEAD
    + """
        @nereid.jit
        def kernel(x_ptr, n):
            a = n
            with al.scope(core_mode="cube"):
                a = a + 1
                b = a * 2
                if n > 7:
                    c = a
                else:
                    c = b
            tl.store(x_ptr, (a + b + c).to(tl.float32))
"""
)


@pytest.mark.parametrize("cores", [1, 2])
def test_what_a_cube_scope_computes_all_cores_know(cores, tmp_path):
    text = build(tmp_path, CUBE_RESULT, options={"sub_vec_num": cores})
    assert ("ascend.cube_scope" in text) == (cores == 2)
    assert text.count("scf.if") == 1  # the scope itself needs none


@pytest.mark.parametrize("body, mode", [("tl.store(x_ptr, 1.0)", "store"), ("dl.notify(s_ptr, 0)", "notify")])
def test_what_a_cube_scope_writes_is_written_once(body, mode, tmp_path):
    source = f"""{HEAD}
        @nereid.jit
        def kernel(x_ptr, s_ptr):
            with al.scope("cube"):
                {body}
"""
    assert "scf.if" not in build(tmp_path, source, options={"sub_vec_num": 1})
    text = build(tmp_path, source, options={"sub_vec_num": 2})
    assert "ascend.get_sub_vec_id" in text and "scf.if" in text


def test_variables_of_a_cube_scope_that_writes(tmp_path):
    source = f"""{HEAD}
        @nereid.jit
        def kernel(x_ptr, n):
            a = n
            with al.scope(core_mode="cube"):
                a = n + 1
                tl.store(x_ptr, 1.0)
            ⟦a⟧ + 1
"""
    error = refused(tmp_path, source, options={"sub_vec_num": 2})
    assert error.message == "'a' was assigned in a cube scope that writes memory, which one core alone runs"
    assert "it was assigned here" in str(error)
    build(tmp_path, source.replace("⟦", "").replace("⟧", ""), options={"sub_vec_num": 1})


@pytest.mark.parametrize(
    "header, message, help_text",
    [
        ('al.scope(core_mode=⟦"scalar"⟧)', "core_mode='scalar' is not accepted by al.scope", "'cube', 'vector'"),
        ("⟦al.scope()⟧", "al.scope() is missing the argument 'core_mode'", "core_mode"),
        ('al.scope("cube", ⟦1⟧)', "al.scope() takes at most 1 positional arguments, but got 2", ""),
        ('al.scope("cube", other=⟦n⟧)', "argument 'other' of al.scope must be known at compile time, but it is int32 scalar", ""),
    ],
)
def test_headers(header, message, help_text, tmp_path):
    source = f"""{HEAD}
        @nereid.jit
        def kernel(n):
            with {header}:
                pass
"""
    error = refused(tmp_path, source)
    assert error.message == message and help_text in error.help


def test_scope_without_with(tmp_path):
    error = refused(tmp_path, f"{HEAD}\n        @nereid.jit\n        def kernel(n):\n            ⟦al.scope('cube')⟧\n")
    assert error.message == "function al.scope cannot be called" and "`with al.scope" in error.help


@pytest.mark.parametrize("core", ["vector", "cube"])
def test_return_from_a_scope(core, tmp_path):
    source = f"""{HEAD}
        @nereid.jit
        def kernel(x_ptr, n):
            with al.scope(core_mode="{core}"):
                if n > 3:
                    return
                m = n + 1
            tl.store(x_ptr, m.to(tl.float32))
"""
    build(tmp_path, source, options={"sub_vec_num": 2})


def test_return_from_a_cube_scope_that_writes(tmp_path):
    source = f"""{HEAD}
        @nereid.jit
        def kernel(x_ptr, n):
            with al.scope(core_mode="cube"):
                tl.store(x_ptr, 1.0)
                if n > 3:
                    ⟦return⟧
"""
    error = refused(tmp_path, source, options={"sub_vec_num": 2})
    assert error.message == "leaving a cube scope that writes memory cannot be used in a kernel"
