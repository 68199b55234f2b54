# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What holds for all tests: the seed of this run's random shapes, and which skips are right.

NEREID_TEST_SEED=N picks another seed, NEREID_TEST_SEED=random a new one; the header of the report
prints it. NEREID_REQUIRE_ORACLES=1 makes every skip a failure that ALLOWED_SKIPS does not name, so
that a stock compiler or a launcher that is missing cannot pass for a test that passed."""

import os
import re
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # shared_memory

#: Reasons for which a test may be skipped where all tools are installed.
ALLOWED_SKIPS = (
    r"exceptions have no notes",  # Python 3.10; ends with its support
    r"needs another number of ranks",  # a protocol that is not defined for that number
    r"integers have no NaN",
    r"there is no Slurm with an idle node here",  # needs daemons that set-up does not start
    r"no NVIDIA GPU here",
    r"could not import 'torch'",  # scripts/test.sh runs tests/ops/torch once more, with Debian's
)


def pytest_configure(config):
    # One seed for collection and for every process of the run.
    seed = os.environ.get("NEREID_TEST_SEED", "0")
    if seed == "random":
        seed = str(int.from_bytes(os.urandom(4), "little") >> 1)
    os.environ["NEREID_TEST_SEED"] = seed


def pytest_runtest_setup(item):
    if item.get_closest_marker("ascend_tools"):
        from nereid._tools import ascend

        try:
            ascend.find()
        except ascend.ToolsMissing as missing:
            pytest.skip(f"not checked against the vendor's compiler: {missing}")


def pytest_report_header(config):
    return f"NEREID_TEST_SEED={os.environ['NEREID_TEST_SEED']}"


def refuse_skip(report):
    """Turns a skip that has no right reason into a failure."""
    if os.environ.get("NEREID_REQUIRE_ORACLES", "0") in ("", "0") or report.outcome != "skipped" or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not any(re.search(allowed, reason) for allowed in ALLOWED_SKIPS):
        report.outcome = "failed"
        report.longrepr = (f"{reason}\nNEREID_REQUIRE_ORACLES is set: what this test needs must be there. "
                           "scripts/setup.sh installs it, or the reason belongs into ALLOWED_SKIPS of tests/conftest.py.")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    refuse_skip(report)
    return report
