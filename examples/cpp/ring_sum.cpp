// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A job of N ranks in C++: each rank adds the vector of the rank before it to its
// own. The kernel was compiled when the program was; no Python is in the process.
//
//   nereid run -n 4 ./ring_sum        (or mpirun, torchrun --no_python)
#include "ring_sum.h" // made by nereid_add_kernel

#include <nereid/runtime/Job.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace nereid::runtime;

static void check(const Status &status) {
  if (!status.ok()) {
    std::fprintf(stderr, "%s", status.report().c_str());
    std::exit(1);
  }
}

template <typename T> static T get(Expected<T> result) {
  check(result.status());
  return std::move(*result);
}

static float element(int rank, int i) { return float(rank * 1000 + i % 997); }

int main() {
  auto job = get(Job::init());
  auto ring_sum = get(kernels::ring_sum::load());

  const int n = 5003, block = 64, programs = (n + block - 1) / block;
  // Fresh memory of the heap is zero; allocate() waits for all ranks.
  auto *inbox =
      static_cast<float *>(get(job->allocate(n * sizeof(float), {"inbox", "float32", "(5003)"})));
  auto *signal = static_cast<int64_t *>(
      get(job->allocate(programs * sizeof(int64_t), {"signal", "int64", "(79)"})));
  std::vector<float> x(n), out(n);
  for (int i = 0; i < n; ++i)
    x[i] = element(job->rank(), i);

  check(ring_sum.launch(job.get(), {programs}, x.data(), inbox, signal, out.data(), n));

  int before = (job->rank() + job->worldSize() - 1) % job->worldSize();
  for (int i = 0; i < n; ++i)
    if (float want = x[i] + element(before, i); out[i] != want) {
      std::fprintf(stderr, "rank %d: out[%d] is %g instead of %g\n", job->rank(), i, out[i], want);
      return 1;
    }
  check(job->barrier());
  std::printf("rank %d of %d: the sum of %d elements is right\n", job->rank(), job->worldSize(), n);
  check(job->finalize());
}
