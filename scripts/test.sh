#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sets up, builds and runs the tests of Nereid:
#
#   checks      tools/check: version of the ABI, layering, licence lines, file lengths, links in the docs, formatting
#   unit        GoogleTest programs, through ctest
#   lit         compiler tests, FileCheck
#   sanitizers  the runtime under the thread and address sanitizers (scripts/sanitizers.sh)
#   python      pytest over tests/, the examples on several rank counts among them; then those
#               with random shapes once more, with a new seed that the report prints
#
#   scripts/test.sh              all of them
#   scripts/test.sh unit lit     only these
#
# The stages in C++ run beside pytest; what they say comes when both have ended. Everything
# runs even when something fails; the last lines say what failed.
set -uo pipefail
cd "$(dirname "$0")/.."

stages=()
for arg in "$@"; do
  case "$arg" in
    checks|unit|lit|python|sanitizers) stages+=("$arg") ;;
    -h|--help) sed -n '4,18s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "test.sh: unknown stage '$arg' (known: checks, unit, lit, sanitizers, python)" >&2; exit 2 ;;
  esac
done
[ "${#stages[@]}" -gt 0 ] || stages=(checks unit lit sanitizers python)

scripts/setup.sh --ascend || exit 1
scripts/build.sh || exit 1

venv=${NEREID_VENV:-.venv}
build=build/release
export PATH="$PWD/$venv/bin:$PATH"
# setup.sh installed the tools that tests compare with: a test that misses one fails.
export NEREID_REQUIRE_ORACLES=1
failures=$(mktemp)
output=$(mktemp)
trap 'rm -f "$failures" "$output"' EXIT

run() { # run STAGE command...
  local stage=$1 start=$SECONDS
  shift
  echo "== $stage: $*"
  if "$@"; then
    echo "== $stage: passed in $((SECONDS - start)) s"
  else
    echo "== $stage: FAILED"
    echo "$stage" >>"$failures"
  fi
}

lane() { # lane STAGE... runs these stages, one after the other
  local stage check
  for stage in "$@"; do
    case "$stage" in
      checks) for check in abi layering spdx file_length docs format; do
                run "checks/$check" "$venv/bin/python" "tools/check/$check.py"
              done ;;
      unit)   run unit ctest --test-dir "$build" --output-on-failure --no-tests=error ;;
      lit)    run lit lit -sv "$build/test" ;;
      sanitizers) run sanitizers/thread scripts/sanitizers.sh thread
                  run sanitizers/address scripts/sanitizers.sh address ;;
      python) run python "$venv/bin/python" -m pytest -q tests
              NEREID_TEST_TORCH=/usr/lib/python3/dist-packages run python/torch "$venv/bin/python" -m pytest -q tests/ops/torch
              NEREID_TEST_SEED=random run python/seed "$venv/bin/python" -m pytest -q \
                tests/tiles tests/semantic tests/kernels tests/passes ;;
    esac
  done
}

native=() python=()
for stage in "${stages[@]}"; do
  if [ "$stage" = python ]; then python=(python); else native+=("$stage"); fi
done
if [ "${#native[@]}" -gt 0 ] && [ "${#python[@]}" -gt 0 ]; then
  lane "${native[@]}" >"$output" 2>&1 &
  lane python
  wait
  cat "$output"
else
  lane "${stages[@]}"
fi

if [ -s "$failures" ]; then
  echo "test.sh: failed: $(tr '\n' ' ' <"$failures")"
  exit 1
fi
echo "test.sh: all stages passed: ${stages[*]}"
