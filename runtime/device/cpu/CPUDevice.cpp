// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CPUDevice.cpp - The processor that the host runs on ----------------===//
#include "device/cpu/ProcessorFeatures.h"
#include "device/cpu/WorkerPool.h"
#include "nereid/runtime/KernelCode.h"
#include "symmetric/HostHeap.h"

namespace nereid::runtime {

namespace {
class CPUDevice final : public HostMemoryDevice {
public:
  const char *name() const override { return "cpu"; }
  std::string description() const override { return processorName(); }

  Expected<std::shared_ptr<Kernel>> load(std::string_view object) override {
    Expected<std::shared_ptr<KernelCode>> code = KernelCode::load(object);
    if (!code.ok())
      return code.status();
    return std::shared_ptr<Kernel>(std::make_shared<CPUKernel>(*code));
  }

  Expected<KernelDescription> describe(std::string_view object) override {
    Expected<CPUKernelDescription> kernel = describeKernel(object);
    if (!kernel.ok())
      return kernel.status();
    return KernelDescription(std::move(*kernel));
  }

  std::unique_ptr<Executor> open(Job &job) override {
    return std::make_unique<WorkerPool>(job.impl());
  }

  void look(const DeviceArea &area, DeviceActivity &activity) const override {
    const WorkerArea &workers = WorkerArea::of(area);
    const uint32_t count = workers.workers.load(std::memory_order_acquire);
    for (uint32_t w = 0; w < count && w < uint32_t(kMaxThreadsPerRank); ++w) {
      const WorkerSlot &worker = workers.slots[w];
      const auto state = WorkerState(worker.state.load(std::memory_order_acquire));
      activity.steps.push_back(worker.progress.load(std::memory_order_acquire));
      if (state == WorkerState::Running)
        activity.running = true;
      if (state != WorkerState::Blocked && state != WorkerState::Polling)
        continue;
      const uint64_t passes = worker.idlePasses.load(std::memory_order_acquire);
      activity.looks.push_back(passes);
      if (state == WorkerState::Polling)
        activity.spinners.push_back({worker.thread.load(std::memory_order_relaxed), passes});
    }
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
    : Kernel(cpuDevice(), std::shared_ptr<const KernelDescription>(loaded, &loaded->description())),
      function(loaded->entry()), code(std::move(loaded)) {}

} // namespace nereid::runtime
