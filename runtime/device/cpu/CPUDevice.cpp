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
    Expected<std::shared_ptr<KernelCode>> code = KernelCode::load(object, name);
    if (!code.ok())
      return code.status();
    return std::shared_ptr<Kernel>(
        std::make_shared<CPUKernel>(std::string(name), (*code)->entry(), *code));
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

} // namespace nereid::runtime
