#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Configures and builds build/release and installs the Python package into .venv
# so that it reads the Python files of this tree. After the first time it
# rebuilds only what changed.
#
#   scripts/build.sh             the package, nereid-opt and the unit tests
#   scripts/build.sh --no-tests  without the unit tests
#
# CMAKE_BUILD_PARALLEL_LEVEL   jobs at a time (default: the number of cores)
set -euo pipefail
cd "$(dirname "$0")/.."

tests=ON
for arg in "$@"; do
  case "$arg" in
    --no-tests) tests=OFF ;;
    -h|--help) sed -n '4,11s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "build.sh: unknown option '$arg' (known: --no-tests, --help)" >&2; exit 2 ;;
  esac
done

venv=${NEREID_VENV:-.venv}
if [ ! -x "$venv/bin/python" ]; then
  echo "build.sh: $venv is not there; run scripts/setup.sh first" >&2
  exit 1
fi
export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
export NEREID_BUILD_TESTS="$tests"
"$venv/bin/python" -m pip install --disable-pip-version-check --quiet \
  --no-build-isolation --no-deps --editable .
