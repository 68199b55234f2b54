# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests on several ranks, for pytest.

    @pytest.mark.ranks(4)
    def test_ring():
        x = nereid.symm.zeros(16)
        ...
        assert nereid.world_size() == 4

The function, which may be ``async def``, runs on each rank of a new job, in processes forked from pytest's; parameters and fixtures are made
once, before. It passes when it passes on all ranks; else the report has the traceback and the output of each rank
that failed. ``ranks(2, 4)`` makes a test for each number, ``timeout=`` and ``environment=`` are those of
``nereid.testing.spawn``. A rank that skips makes the test skip.

The fixture ``ranks`` is for parts of a test: ``results = ranks(2, function, *args)``.

The plugin is active when Nereid is installed; ``-p nereid.pytest_plugin`` loads it otherwise.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, Callable

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "ranks(n, ..., timeout=120, environment=None): run the test function on n ranks of a job (nereid.testing.spawn)",
    )


def _marker(node: Any) -> tuple[list[int], dict[str, Any]] | None:
    mark = node.get_closest_marker("ranks")
    if mark is None:
        return None
    unknown = set(mark.kwargs) - {"timeout", "environment"}
    numbers = list(mark.args)
    bad = not numbers or any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in numbers)
    if unknown or bad:
        raise pytest.UsageError(
            f"{node.nodeid}: write @pytest.mark.ranks(4), with timeout= or environment= if needed, not "
            f"ranks({', '.join([*map(repr, mark.args), *(f'{k}={v!r}' for k, v in mark.kwargs.items())])})"
        )
    return numbers, mark.kwargs


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    found = _marker(metafunc.definition)
    if found is None:
        return
    # A parameter that no function takes: it makes one test for each number of ranks.
    metafunc.fixturenames.append("_nereid_rank_count")
    metafunc.parametrize("_nereid_rank_count", found[0], ids=[f"{n}-ranks" for n in found[0]])


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    found = _marker(pyfuncitem)
    if found is None:
        return None
    function = pyfuncitem.obj
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    count = pyfuncitem.callspec.params["_nereid_rank_count"]

    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        pytest.fail(f"{pyfuncitem.nodeid}: a test on ranks cannot yield", pytrace=False)

    def body() -> None:
        result = function(**arguments)
        if inspect.isawaitable(result):  # an async def: each rank has an event loop of its own

            async def run() -> None:
                await result

            asyncio.run(run())

    body.__name__ = pyfuncitem.name
    run_on_ranks(count, body, **found[1])
    return True


def run_on_ranks(
    count: int, function: Callable, timeout: float = 120.0, environment: dict | None = None, args: tuple = ()
) -> list[Any]:
    """Results by rank; fails or skips the running test."""
    __tracebackhide__ = True
    from nereid.testing import SpawnError, spawn

    try:
        return spawn(function, count, args, timeout=timeout, environment=environment, capture=True)
    except SpawnError as error:
        for failure in error.failures:
            # Its class cannot be pickled.
            if failure.reason.startswith("Skipped: "):
                pytest.skip(f"rank {failure.rank}: {failure.reason.removeprefix('Skipped: ')}")
        text = str(error)
    pytest.fail(text, pytrace=False)


@pytest.fixture
def ranks() -> Callable:
    """``ranks(n, function, *args, timeout=120, environment=None)``: calls a function on
    n ranks of a new job and returns the results by rank; the test fails with the
    traceback and output of each rank when one does."""

    def run(count: int, function: Callable, *args: Any, timeout: float = 120.0, environment: dict | None = None):
        __tracebackhide__ = True
        return run_on_ranks(count, function, timeout, environment, args)

    return run
