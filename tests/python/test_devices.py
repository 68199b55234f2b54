# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices of the runtime under Python: what they are, kernels of another one than the CPU."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nereid
from nereid import _runtime


def null_kernel(*lines):
    return _runtime.KernelImage("\n".join(["null kernel k", *lines, ""]).encode(), "null")


def test_all_are_listed_with_what_they_are_here():
    rows = dict(_runtime.devices())
    assert list(rows) == ["cpu", "cuda", "null"] and all(rows.values())
    model = re.search(r"^model name\s*:\s*(.*\S)", Path("/proc/cpuinfo").read_text(), re.M)
    if model:  # the system may shorten spaces
        assert rows["cpu"].split() == model[1].split()
    shown = subprocess.run([sys.executable, "-m", "nereid", "info"], capture_output=True, text=True, timeout=60)
    assert shown.returncode == 0 and f"cpu                   {rows['cpu']}\n" in shown.stdout, shown


def outside_a_job(check):
    """Calls a function of this file in a process that has joined no job, which tests before may have done here."""
    call = f"import runpy; runpy.run_path({__file__!r})[{check.__name__!r}]()"
    done = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def launches_of_another_device():
    kernel = null_kernel("arg x *fp32", "arg n i32", "lanes 2", "blocking")
    assert (kernel.name, kernel.device, kernel.num_args, kernel.lanes) == ("k", "null", 2, 2)
    assert kernel.blocking and not kernel.distributed
    assert [(row["name"], row["type"], row["symmetric"]) for row in kernel.description["args"]] == [
        ("x", "*fp32", False), ("n", "i32", False)]
    kernel.launch((3, 1, 2), [0, 5])
    with pytest.raises(ValueError, match="wrong number of argument slots"):
        kernel.launch((1, 1, 1), [0])
    with pytest.raises(RuntimeError, match="every grid dimension must be at least 1"):
        kernel.launch((1, 0, 1), [0, 5])


def test_a_kernel_of_another_device():
    outside_a_job(launches_of_another_device)


def faults_of_another_device():
    with pytest.raises(nereid.LaunchError, match="the device says so"):
        null_kernel("fault the device says so").launch((1, 1, 1), [])
    null_kernel().launch((1, 1, 1), [])


def test_faults_of_another_device():
    outside_a_job(faults_of_another_device)


@pytest.mark.ranks(1)
def test_kernels_run_on_the_device_of_their_job():
    kernel = null_kernel("distributed", "arg x *i64", "symmetric 0")
    word = nereid.symm.zeros(1, np.int64)
    with pytest.raises(RuntimeError, match="loaded for the device 'null', the job runs on 'cpu'"):
        kernel.launch((1, 1, 1), [word._address()])
    with pytest.raises(nereid.ArgumentError, match="argument slot 0 must be an address in symmetric memory"):
        kernel.launch((1, 1, 1), [np.zeros(1, np.int64).ctypes.data])


def test_objects_that_no_device_can_load():
    for device in ("cpu", "cuda", "null"):
        with pytest.raises(RuntimeError):
            _runtime.KernelImage(b"no object of any device", device)
        with pytest.raises(RuntimeError):
            _runtime.describe_object(b"", device)
    with pytest.raises(RuntimeError, match="it does not know the line 'args x'"):
        null_kernel("args x")
    with pytest.raises(ValueError, match="there is no device 'abacus'; known: cpu, cuda, null"):
        _runtime.KernelImage(b"", "abacus")
    assert _runtime.describe_object(b"null kernel k\nargs 1\n", "null")["args"][0]["name"] == "arg0"
