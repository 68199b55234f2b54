# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The seed of this run's random shapes, in the header of the report."""

import os


def pytest_configure(config):
    # One seed for collection and for every process of the run.
    os.environ.setdefault("NEREID_TEST_SEED", str(int.from_bytes(os.urandom(4), "little") >> 1))


def pytest_report_header(config):
    return f"NEREID_TEST_SEED={os.environ['NEREID_TEST_SEED']}"
