#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The bench of the target cuda in one command, on a machine with two GPUs: RESULTS/results.json and a table.
#
#     bench/cuda/run.sh RESULTS [PART...]        # parts: fused operations single kills
#
# PYTHON is the interpreter that has nereid and torch. NEREID_BENCH_OBJECTS names a folder of kernels
# that compile.py has made; without it they are compiled when they are first launched.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd); shift
parts=${*:-fused operations single kills}
PYTHON=${PYTHON:-python3}
# No multicast over NVLink: neither in NCCL nor in torch.
export NEREID_TARGET=cuda NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1 NVSHMEM_DISABLE_NVLS=1 PYTHONUNBUFFERED=1
lines=$out/results.jsonl
for part in $parts; do
  echo "== $part"
  case $part in
    fused) timeout ${FUSED_SECONDS:-300} $PYTHON -W ignore -m nereid run --heap-size 4G -n 2 --target cuda "$here/fused.py" "$lines" ;;
    operations) timeout ${OPERATIONS_SECONDS:-200} $PYTHON -W ignore -m nereid run --heap-size 4G -n 2 --target cuda "$here/operations.py" "$lines" ;;
    single) timeout ${SINGLE_SECONDS:-120} $PYTHON -W ignore -m nereid run --heap-size 4G -n 1 --target cuda "$here/single.py" "$lines" ;;
    kills) timeout $((${KILLS_SECONDS:-300} + 60)) $PYTHON -W ignore "$here/kills.py" "$lines" ${KILLS:-50} ;;
    *) echo "no part $part" ;;
  esac 2>&1 | tee "$out/$part.log"
done
$PYTHON "$here/table.py" "$lines" "$out/results.json"
