#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sets up, builds and runs every test of Nereid, in this order:
#
#   checks   tools/check: layering, licence lines, file lengths, links in the docs, formatting
#   unit     GoogleTest programs, through ctest
#   lit      compiler tests, FileCheck
#   python   pytest over tests/, the examples on several rank counts among them
#
#   scripts/test.sh              all of them
#   scripts/test.sh unit lit     only these
#
# Everything runs even when something fails; the last lines say what failed.
set -uo pipefail
cd "$(dirname "$0")/.."

stages=()
for arg in "$@"; do
  case "$arg" in
    checks|unit|lit|python) stages+=("$arg") ;;
    -h|--help) sed -n '4,15s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "test.sh: unknown stage '$arg' (known: checks, unit, lit, python)" >&2; exit 2 ;;
  esac
done
[ "${#stages[@]}" -gt 0 ] || stages=(checks unit lit python)

scripts/setup.sh || exit 1
scripts/build.sh || exit 1

venv=${NEREID_VENV:-.venv}
build=build/release
export PATH="$PWD/$venv/bin:$PATH"
failed=()

run() { # run STAGE command...
  local stage=$1 start=$SECONDS
  shift
  echo "== $stage: $*"
  if "$@"; then
    echo "== $stage: passed in $((SECONDS - start)) s"
  else
    echo "== $stage: FAILED"
    failed+=("$stage")
  fi
}

for stage in "${stages[@]}"; do
  case "$stage" in
    checks) for check in abi layering spdx file_length docs format; do
              run "checks/$check" "$venv/bin/python" "tools/check/$check.py"
            done ;;
    unit)   run unit ctest --test-dir "$build" --output-on-failure --no-tests=error ;;
    lit)    run lit lit -sv "$build/test" ;;
    python) run python "$venv/bin/python" -m pytest -q tests ;;
  esac
done

if [ "${#failed[@]}" -gt 0 ]; then
  echo "test.sh: failed: ${failed[*]}"
  exit 1
fi
echo "test.sh: all stages passed: ${stages[*]}"
