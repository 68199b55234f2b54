// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GPU.h - One GPU of this process ------------------------------------===//
//
// The primary context of a GPU, which other libraries of the process share, and what
// is taken from it once: lanes, each a stream with the control words of its launches.
// Lanes are made before the first launch: while a launch waits for one that this
// process has yet to make, the driver must not be asked for memory.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_CUDA_GPU_H
#define NEREID_RUNTIME_DEVICE_CUDA_GPU_H

#include "device/cuda/Driver.h"
#include "nereid/cuda_kernel.h"

#include <memory>
#include <mutex>
#include <vector>

namespace nereid::runtime::cuda {

namespace state_word = ::nereid::cuda::state_word;
using ::nereid::cuda::ControlHead;
using ::nereid::cuda::ControlReport;
using ::nereid::cuda::CUDAImage;

class GPU;

/// A stream of a GPU and the memory that launches in it need, one after the other.
struct Lane {
  GPU &gpu;
  StreamRef stream = nullptr;
  /// Control words and reports of launches. Zero, but for launches that were given up.
  /// Memory of the GPU: a GPU reads one word of the host's for one warp after the other,
  /// a microsecond each, and waiting programs ask often.
  Address control = 0;
  /// State words of launches of a rank that has no heap.
  Address state = 0;
  /// Global scratch of the launch that is running; grows.
  Address scratch = 0;
  uint64_t scratchBytes = 0;

  static constexpr size_t controlBytes = size_t(1) << 20;
};

class GPU {
public:
  /// The GPU of that number. Environment when there is no driver or no such GPU, or
  /// it cannot do what symmetric heaps need.
  static Expected<GPU *> open(Ordinal ordinal);
  /// Those that have been opened.
  static std::vector<GPU *> opened();

  const Driver &driver;
  const Ordinal ordinal;
  Context context = nullptr;
  std::string name;
  int capability = 0; ///< 90 for 9.0
  int multiprocessors = 0;
  int maxGridY = 0, maxGridZ = 0;
  uint64_t granularity = 0; ///< of memory that other processes can map
  /// For copies and updates that the host asks for.
  StreamRef copies = nullptr;
  std::mutex copiesLock;
  /// For words that tell launches to end. They wait for nobody: while another thread
  /// frees memory, the driver keeps even a copy waiting for all launches.
  StreamRef notices = nullptr;

  /// Adds to a word of 4 or 8 bytes that programs may be changing.
  Status add(Address word, uint64_t value, int32_t bytes);

  Expected<Lane *> takeLane();
  /// What ran in it has ended.
  void giveBack(Lane *lane);

  /// Makes the GPU the calling thread's, which it often is: torch uses the same context.
  class Scope {
  public:
    explicit Scope(const GPU &gpu) : gpu(gpu) {
      Context now = nullptr;
      if (gpu.driver.currentContext(&now) == result::success && now == gpu.context)
        return;
      gpu.driver.pushContext(gpu.context);
      pushed = true;
    }
    ~Scope() {
      Context last;
      if (pushed)
        gpu.driver.popContext(&last);
    }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    const GPU &gpu;
    bool pushed = false;
  };

  /// What the calling thread asks the driver for meanwhile is no part of a graph that
  /// another one captures: without it, a look at a stream ends such a capture.
  class OutsideOfCaptures {
  public:
    explicit OutsideOfCaptures(const Driver &driver) : driver(driver) {
      driver.exchangeCaptureMode(&mode);
    }
    ~OutsideOfCaptures() { driver.exchangeCaptureMode(&mode); }
    OutsideOfCaptures(const OutsideOfCaptures &) = delete;
    OutsideOfCaptures &operator=(const OutsideOfCaptures &) = delete;

  private:
    const Driver &driver;
    int mode = relaxedCapture;
  };

private:
  GPU(const Driver &driver, Ordinal ordinal) : driver(driver), ordinal(ordinal) {}
  Status start();
  Status addLanes(size_t count);

  Module updates = nullptr; ///< the kernels of add()

  std::mutex lock;
  std::vector<std::unique_ptr<Lane>> lanes;
  std::vector<Lane *> free;
};

} // namespace nereid::runtime::cuda

#endif // NEREID_RUNTIME_DEVICE_CUDA_GPU_H
