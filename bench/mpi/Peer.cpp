// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Peer.cpp - MPI's collectives, for bench/cases/operators.py ---------------------===//
//
// Each function makes `calls` calls, so that the Python around it costs MPI
// nothing. Elements are floats; counts are elements. They return 0 or an error of
// MPI.
//
//===----------------------------------------------------------------------===//
#define OMPI_SKIP_MPICXX // its C++ interface is of the past
#include <mpi.h>

#include <vector>

namespace {

template <typename Call> int repeat(int calls, Call call) {
  for (int i = 0; i < calls; ++i)
    if (int error = call())
      return error;
  return MPI_SUCCESS;
}

int ranks() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

} // namespace

extern "C" {

int peer_init() {
  int done = 0;
  MPI_Initialized(&done);
  return done ? MPI_SUCCESS : MPI_Init(nullptr, nullptr);
}

int peer_finalize() { return MPI_Finalize(); }

int peer_rank() {
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// to: ranks * count.
int peer_all_gather(const float *from, float *to, int count, int calls) {
  return repeat(calls, [&] {
    return MPI_Allgather(from, count, MPI_FLOAT, to, count, MPI_FLOAT, MPI_COMM_WORLD);
  });
}

int peer_all_reduce(const float *from, float *to, int count, int calls) {
  return repeat(calls,
                [&] { return MPI_Allreduce(from, to, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
}

/// from: ranks * count.
int peer_reduce_scatter(const float *from, float *to, int count, int calls) {
  const std::vector<int> counts(ranks(), count);
  return repeat(calls, [&] {
    return MPI_Reduce_scatter(from, to, counts.data(), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  });
}

/// The same by MPI_Alltoall and a sum; `parts`: ranks * count.
int peer_reduce_scatter_by_parts(const float *from, float *to, float *parts, int count, int calls) {
  const int n = ranks();
  return repeat(calls, [&] {
    if (int error = MPI_Alltoall(from, count, MPI_FLOAT, parts, count, MPI_FLOAT, MPI_COMM_WORLD))
      return error;
    for (int i = 0; i < count; ++i)
      to[i] = parts[i];
    for (int rank = 1; rank < n; ++rank)
      for (int i = 0; i < count; ++i)
        to[i] += parts[static_cast<long>(rank) * count + i];
    return MPI_SUCCESS;
  });
}

/// from, to: ranks * count.
int peer_all_to_all(const float *from, float *to, int count, int calls) {
  return repeat(calls, [&] {
    return MPI_Alltoall(from, count, MPI_FLOAT, to, count, MPI_FLOAT, MPI_COMM_WORLD);
  });
}

} // extern "C"
