# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Warnings of the compiler are Python's warnings, at the user's file and line."""

import warnings

import nereid
import pytest
from frontend_kernels import arguments, load
from nereid import _compiler

WAIT = """
    @nereid.jit
    def kernel(s_ptr, x_ptr):
        token = dl.wait(s_ptr, 1, "gpu", "release")
        tl.store(dl.consume_token(x_ptr, token), 1.0)
    """


def build(module):
    return _compiler.build_ttir(module.kernel, arguments(module.kernel, {}), {})


def test_warning_with_place(tmp_path):
    module, path, _ = load(tmp_path, WAIT)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        build(module)
    assert len(caught) == 1
    line = next(i for i, text in enumerate(path.read_text().splitlines(), 1) if "dl.wait" in text)
    assert (caught[0].filename, caught[0].lineno) == (str(path), line)
    text = str(caught[0].message)
    assert text.startswith(f"{path}:{line}:") and ": warning: " in text and "'release'" in text and "^" in text


def test_warning_as_an_error(tmp_path):
    module, _, _ = load(tmp_path, WAIT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="release"):
            build(module)
        with pytest.raises(nereid.CompilationError):
            build(load(tmp_path, WAIT.replace('"release"', '"never"'))[0])


def test_plain_number_for_a_comparison(tmp_path):
    module, path, _ = load(
        tmp_path,
        """
    import nereid.libshmem_device as shmem

    @nereid.jit
    def kernel(s_ptr):
        shmem.signal_wait_until(s_ptr, 3, 1)
    """,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        build(module)
    assert len(caught) == 1 and caught[0].filename == str(path)
    assert "the plain number 3 means" in str(caught[0].message) and "^" in str(caught[0].message)
