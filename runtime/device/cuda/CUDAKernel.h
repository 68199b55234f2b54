// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CUDAKernel.h - Kernels of NVIDIA's GPUs ----------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_CUDA_CUDAKERNEL_H
#define NEREID_RUNTIME_DEVICE_CUDA_CUDAKERNEL_H

#include "device/cuda/GPU.h"
#include "nereid/runtime/Device.h"

#include <map>

namespace nereid::runtime::cuda {

/// A kernel in the context of one GPU.
struct LoadedCode {
  Module module = nullptr;
  Function function = nullptr;
  /// Thread blocks of it that a multiprocessor holds at once.
  int perMultiprocessor = 0;
};

class CUDAKernel final : public Kernel {
public:
  /// The kernel of an object (nereid/cuda_kernel.h), whose code has been verified.
  CUDAKernel(Device &device, std::shared_ptr<const KernelDescription> object, CUDAImage image,
             std::string cubin)
      : Kernel(device, std::move(object)), image(image), cubin(std::move(cubin)) {}
  ~CUDAKernel() override;

  const CUDAImage image;

  unsigned threads() const { return 32 * image.numWarps; }
  /// Loads it into the context of `gpu`, which is the calling thread's, unless that
  /// has been done. InvalidArgument when the GPU cannot run it, OutOfMemory,
  /// SystemError.
  Expected<const LoadedCode *> on(GPU &gpu);

private:
  Status loadOn(GPU &gpu, LoadedCode &code) const;

  const std::string cubin;
  std::mutex lock;
  std::map<GPU *, LoadedCode> loaded; // addresses of entries stay
};

} // namespace nereid::runtime::cuda

#endif // NEREID_RUNTIME_DEVICE_CUDA_CUDAKERNEL_H
