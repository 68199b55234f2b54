// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device/cuda/CUDAKernel.h"

namespace nereid::runtime::cuda {

/// What a thread block may have of shared memory without asking for it.
static constexpr uint32_t kPlainShared = 48 * 1024;

CUDAKernel::~CUDAKernel() {
  for (auto &[gpu, code] : loaded) {
    GPU::Scope scope(*gpu);
    gpu->driver.unloadModule(code.module);
  }
}

Expected<const LoadedCode *> CUDAKernel::on(GPU &gpu) {
  std::lock_guard<std::mutex> guard(lock);
  auto [place, isNew] = loaded.try_emplace(&gpu);
  if (isNew)
    if (Status st = loadOn(gpu, place->second); !st.ok()) {
      if (place->second.module)
        gpu.driver.unloadModule(place->second.module);
      loaded.erase(place);
      return st;
    }
  return &place->second;
}

Status CUDAKernel::loadOn(GPU &gpu, LoadedCode &code) const {
  const Driver &driver = gpu.driver;
  GPU::OutsideOfCaptures outside(driver);
  const std::string begin = "kernel '" + name + "' cannot be loaded on GPU " +
                            std::to_string(gpu.ordinal) + " (" + gpu.name + ", sm_" +
                            std::to_string(gpu.capability) + "): ";
  auto fail = [&](Result result, const char *what) {
    Status st = driver.check(result, what);
    bool isKernels = result == result::noBinaryForGPU || result == result::invalidImage ||
                     result == result::unsupportedPTX || result == result::invalidValue;
    return Status::error(
        isKernels ? StatusCode::InvalidArgument : st.code(),
        begin + st.message() +
            (isKernels ? "; it was compiled for " + description->architecture : ""));
  };
  if (Result r = driver.loadModule(&code.module, cubin.data()))
    return fail(r, "cuModuleLoadData");
  if (Result r = driver.moduleFunction(&code.function, code.module, description->name.c_str()))
    return fail(r, "cuModuleGetFunction");
  if (image.sharedBytes > kPlainShared)
    if (Result r = driver.setFunctionAttribute(code.function, function_attribute::dynamicShared,
                                               int(image.sharedBytes)))
      return fail(r, "cuFuncSetAttribute");
  if (Result r = driver.occupancy(&code.perMultiprocessor, code.function, int(threads()),
                                  image.sharedBytes))
    return fail(r, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return {};
}

} // namespace nereid::runtime::cuda
