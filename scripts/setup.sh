#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what a fresh Debian 12 lacks to build, run and test Nereid, and makes
# the virtual environment .venv. Safe to run again: it only adds what is missing
# and returns at once when nothing is.
#
#   scripts/setup.sh             everything
#   scripts/setup.sh --no-tests  only what building and running needs
#   scripts/setup.sh --ascend    everything, and the open part of the compiler for Ascend
#                                in a virtual environment of its own (docs/ascend.md)
#
# NEREID_PYTHON        the Python to make .venv from (default /usr/bin/python3, whose
#                      headers come with python3-dev)
# NEREID_VENV          where the virtual environment lies (default .venv)
# NEREID_ASCEND_TOOLS  where that for Ascend lies (default .venv-ascend, which goes by .venv)
set -euo pipefail
cd "$(dirname "$0")/.."

tests=1
ascend=0
for arg in "$@"; do
  case "$arg" in
    --no-tests) tests=0 ;;
    --ascend) ascend=1 ;;
    -h|--help) sed -n '4,18s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "setup.sh: unknown option '$arg' (known: --no-tests, --ascend, --help)" >&2; exit 2 ;;
  esac
done

packages=(
  cmake ninja-build ccache            # the build
  clang-22 lld-22                     # compiler and linker
  llvm-22-dev libmlir-22-dev mlir-22-tools  # LLVM, MLIR, mlir-tblgen
  libzstd-dev libcurl4-openssl-dev libedit-dev  # named by LLVM's CMake package
  libboost-context-dev                # fibers
  libucx-dev                          # the transport ucx: headers; libucx0 comes with it
  python3-dev python3-venv
)
if [ "$tests" = 1 ]; then
  packages+=(
    libgtest-dev llvm-22-tools        # GoogleTest, FileCheck
    clang-format-22                   # tools/check/format.py
    libclang-rt-22-dev                # sanitizer presets
    openmpi-bin python3-torch         # mpirun and torchrun start jobs in tests
    iproute2                          # network namespaces, which are machines in tests
  )
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ "${#missing[@]}" -gt 0 ]; then
  as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
      echo "setup.sh: these packages are missing and neither root rights nor sudo are at hand:" >&2
      echo "  apt-get install ${missing[*]}" >&2
      exit 1
    }
    as_root=(sudo)
  fi
  echo "setup.sh: installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  if ! apt-cache show libmlir-22-dev >/dev/null 2>&1; then
    echo "setup.sh: apt offers no libmlir-22-dev. Debian 12 has LLVM 22 in its security" >&2
    echo "archive: enable bookworm-security in the sources of apt." >&2
    exit 1
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

python=${NEREID_PYTHON:-/usr/bin/python3}
venv=${NEREID_VENV:-.venv}
requirements=(-r scripts/requirements-build.txt)
# Generates code of the target cuda, and is the oracle for TTIR: its compiler must accept
# what `nereid compile --emit=ttir` writes.
triton=$(sed -n 's/^cuda = \["\(triton==[0-9.]*\)"\].*/\1/p' pyproject.toml)
[ "$tests" = 1 ] && requirements+=(-r scripts/requirements-test.txt "$triton")

# The stamp: what .venv was last filled from, and whether with the test packages.
pins=$({ "$python" -V; echo "$triton"
          cat scripts/requirements-build.txt scripts/requirements-test.txt; } |
       sha256sum | cut -d' ' -f1)
stamp="$venv/.nereid-requirements"
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
if ! grep -qsx "$pins tests" "$stamp" &&
   ! { [ "$tests" = 0 ] && grep -qsx "$pins build" "$stamp"; }; then
  echo "setup.sh: installing Python packages into $venv"
  "$venv/bin/python" -m pip install --disable-pip-version-check --quiet "${requirements[@]}"
  if [ "$tests" = 1 ]; then echo "$pins tests"; else echo "$pins build"; fi >"$stamp"
fi

if [ "$ascend" = 1 ]; then
  tools=${NEREID_ASCEND_TOOLS:-$venv-ascend}
  pins=$({ "$python" -V; cat scripts/requirements-ascend.txt; } | sha256sum | cut -d' ' -f1)
  stamp="$tools/.nereid-requirements"
  [ -x "$tools/bin/python" ] || "$python" -m venv "$tools"
  if ! grep -qsx "$pins" "$stamp"; then
    echo "setup.sh: installing the compiler for Ascend into $tools"
    "$tools/bin/python" -m pip install --disable-pip-version-check --quiet --no-deps \
      -r scripts/requirements-ascend.txt
    echo "$pins" >"$stamp"
  fi
  NEREID_ASCEND_TOOLS="$tools" "$venv/bin/python" python/nereid/_tools/ascend.py
fi
