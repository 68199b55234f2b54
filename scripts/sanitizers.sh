#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds with sanitizers and runs what they can judge.
#
#   scripts/sanitizers.sh thread     conformance and memory-order suites of the runtime
#   scripts/sanitizers.sh address    the conformance suite, and the compiler tests of test/
#
# Of LLVM's archives nothing is built with sanitizers: checks that need both sides
# of a container or an arena to be (container overflow, poisoned arenas) are off.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=${NEREID_VENV:-.venv}
suite() { # suite BUILD: the runtime's tests, without those that kill ranks or count on speed
  cmake --build "$1" --target NereidConformanceTests NereidRuntimeTests NereidRankProbe
  "$1/unittests/Runtime/NereidConformanceTests"
  "$1/unittests/Runtime/NereidRuntimeTests" --gtest_filter='Litmus*:*Signals*:Schedule*:Waits*:Heap*'
}
case "${1:-}" in
  thread)
    cmake --preset tsan >/dev/null
    export TSAN_OPTIONS="suppressions=$PWD/scripts/tsan.supp"
    suite build/tsan
    ;;
  address)
    cmake --preset asan >/dev/null
    export ASAN_OPTIONS=detect_container_overflow=0:allow_user_poisoning=0
    cmake --build build/asan --target nereid-opt
    "$venv/bin/lit" -sv build/asan/test
    suite build/asan
    ;;
  -h|--help) sed -n '4,10s/^# \{0,1\}//p' "$0" ;;
  *) echo "sanitizers.sh: '${1:-}' is not a kind of sanitizer (known: thread, address, --help)" >&2; exit 2 ;;
esac
