#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds with sanitizers and runs what they can judge.
#
#   scripts/sanitizers.sh thread     the runtime: conformance suites, memory order, waits, schedules, streams
#   scripts/sanitizers.sh address    the same, for addresses and undefined behaviour
#   scripts/sanitizers.sh compiler   the compiler tests of test/, for addresses and undefined behaviour
#
# Of LLVM's archives nothing is built with sanitizers: checks that need both sides
# of a container or an arena to be (container overflow, poisoned arenas) are off.
# Files are compiled several at a time (CMAKE_UNITY_BUILD), which takes a third of the
# time: names in anonymous namespaces must differ between the files of one target.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=${NEREID_VENV:-.venv}
# Without the tests that kill ranks, count on speed or leave no memory, and with one way through the suites
# for each kind of code: ranks that share memory or do not, at once, late, over sockets.
suite() { # suite BUILD [WAY]
  cmake --build "$1" --target NereidConformanceTests NereidRuntimeTests NereidRankProbe
  "$1/unittests/Runtime/NereidRuntimeTests" \
    --gtest_filter='Litmus*:*Signals*:Schedule*:Waits*:Heap*:Streams*:-*Ucx*:Streams.WithoutAThread*'
  "$1/unittests/Runtime/NereidConformanceTests" \
    --gtest_filter='*/threads:*/processes:*/shared_memory_threads:*/delayed_shared_memory:*/random_threads:*/remote_threads:*Control*'"${2:-}"
}
case "${1:-}" in
  thread)
    cmake --preset tsan >/dev/null
    export TSAN_OPTIONS="suppressions=$PWD/scripts/tsan.supp"
    suite build/tsan
    ;;
  address)
    cmake --preset asan >/dev/null
    suite build/asan ':*/ucx'
    ;;
  compiler)
    cmake --preset asan >/dev/null
    export ASAN_OPTIONS=detect_container_overflow=0:allow_user_poisoning=0
    cmake --build build/asan --target nereid-opt
    "$venv/bin/lit" -sv build/asan/test
    ;;
  -h|--help) sed -n '4,13s/^# \{0,1\}//p' "$0" ;;
  *) echo "sanitizers.sh: '${1:-}' is not a kind of sanitizer (known: thread, address, compiler, --help)" >&2; exit 2 ;;
esac
