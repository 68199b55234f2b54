// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- cuda_kernel.h - Kernels of the target cuda ----------------*- C++ -*-===//
//
// What the compiler and the runtime agree on for NVIDIA's GPUs. A kernel object is
//
//     nrd_kernel_info and its tables (abi/nereid/kernel.h) | CUDAImage | cubin
//
// It begins with what stands in the section .nereid.kernel of other objects, so that
// everybody reads name, arguments and source locations alike: `section_bytes` is a
// multiple of 8 and says where the image begins, `code_bytes` how long image and cubin
// are together; `architecture` is "sm_90". There are no lines and no entry.
//
// The kernel in the cubin takes the arguments of the object in their order, then, when
// it uses the runtime, five more: rank i32, number of ranks i32, distance of two ranks'
// heaps in units of 16 bytes i64, address of this rank's state words, address of the
// launch's control words; then Triton's global scratch and profile scratch.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_COMMON_CUDA_KERNEL_H
#define NEREID_COMMON_CUDA_KERNEL_H

#include <cstddef>
#include <cstdint>

namespace nereid::cuda {

struct CUDAImage {
  uint32_t size = sizeof(CUDAImage); ///< where the cubin begins
  uint32_t cubinBytes = 0;
  uint32_t numWarps = 4;     ///< a program is 32 times as many threads
  uint32_t numCTAs = 1;      ///< thread blocks of one cluster that run a program
  uint32_t sharedBytes = 0;  ///< of shared memory for each thread block
  uint32_t scratchBytes = 0; ///< of global memory for each thread block
  uint32_t scratchAlign = 1;
  uint32_t usesRuntime = 0; ///< 1: takes the five arguments of the runtime
};

/// Words of the runtime (32 bits) in every rank's heap; zero at first.
namespace state_word {
enum : int32_t {
  arrivals = 0,   ///< programs of this rank at the barrier of all
  ranks = 1,      ///< arrivals of ranks, this one's too; only grows
  generation = 2, ///< barriers that are complete
  count = 64
};
} // namespace state_word

/// The control words of a launch, in memory of its GPU, which the host writes and reads
/// through the driver. Word 0 is not zero when the launch has been given up: a program
/// that waits then writes its report and ends.
struct ControlHead {
  uint32_t givenUp;
  uint32_t reserved[15];
};
/// One for each program, after the head, by the program's number over all axes.
struct ControlReport {
  uint32_t site;      ///< 1 + its number; 0: no report
  int32_t comparison; ///< NRD_CMP_*; -1: in a loop of its own that polls
  int64_t awaited;
  int64_t seen;
  uint64_t address; ///< of the signal
};
static_assert(sizeof(ControlHead) == 64 && sizeof(ControlReport) == 32 &&
              offsetof(ControlReport, comparison) == 4 && offsetof(ControlReport, awaited) == 8 &&
              offsetof(ControlReport, seen) == 16 && offsetof(ControlReport, address) == 24);

} // namespace nereid::cuda

#endif // NEREID_COMMON_CUDA_KERNEL_H
