#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# From a fresh clone to distributed kernels running on this machine: installs
# what is missing, builds, then runs examples/first_light.py on 4 ranks.
#
#   scripts/first-light.sh [-n RANKS] [arguments of examples/first_light.py]
set -euo pipefail
cd "$(dirname "$0")/.."

ranks=4
if [ "${1:-}" = -n ]; then
  ranks=${2:?first-light.sh: -n needs a number of ranks}
  shift 2
fi
scripts/setup.sh --no-tests
scripts/build.sh --no-tests
exec "${NEREID_VENV:-.venv}/bin/nereid" run -n "$ranks" examples/first_light.py "$@"
