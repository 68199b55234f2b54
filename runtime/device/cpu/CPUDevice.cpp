// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CPUDevice.cpp - The processor that the host runs on ----------------===//
#include "device/cpu/WorkerPool.h"
#include "nereid/runtime/KernelCode.h"
#include "symmetric/HostHeap.h"

namespace nereid::runtime {

namespace {
class CPUDevice final : public HostMemoryDevice {
public:
  const char *name() const override { return "cpu"; }

  Expected<std::shared_ptr<Kernel>> load(std::string_view object, std::string_view name) override {
    Expected<std::shared_ptr<KernelCode>> code = KernelCode::load(object);
    if (!code.ok())
      return code.status();
    if ((*code)->description().name != name)
      return Status::error(StatusCode::InvalidArgument, "the object file holds the kernel '" +
                                                            (*code)->description().name +
                                                            "', not '" + std::string(name) + "'");
    return std::shared_ptr<Kernel>(std::make_shared<CPUKernel>(*code));
  }

  std::unique_ptr<Executor> open(Job &job) override {
    return std::make_unique<WorkerPool>(job.impl());
  }
};
} // namespace

Device &cpuDevice() {
  static CPUDevice instance;
  return instance;
}

CPUKernel::CPUKernel(std::string name, nrd_kernel_fn function,
                     std::shared_ptr<const KernelCode> code)
    : Kernel(cpuDevice(), std::move(name)), function(function), code(std::move(code)) {}

CPUKernel::CPUKernel(std::shared_ptr<const KernelCode> loaded)
    : CPUKernel(loaded->description().name, loaded->entry(), loaded) {
  const KernelDescription &kernel = code->description();
  numArgs = int32_t(kernel.arguments.size());
  scratchBytes = kernel.scratchBytes;
  blocking = kernel.blocking;
  lanes = kernel.lanes;
  sites = &kernel.sites;
}

} // namespace nereid::runtime
