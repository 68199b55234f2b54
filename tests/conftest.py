# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The seed of this run's random shapes, in the header of the report.

NEREID_TEST_SEED=N picks another one, NEREID_TEST_SEED=random a new one each time."""

import os


def pytest_configure(config):
    # One seed for collection and for every process of the run.
    seed = os.environ.get("NEREID_TEST_SEED", "0")
    if seed == "random":
        seed = str(int.from_bytes(os.urandom(4), "little") >> 1)
    os.environ["NEREID_TEST_SEED"] = seed


def pytest_report_header(config):
    return f"NEREID_TEST_SEED={os.environ['NEREID_TEST_SEED']}"
