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
    : CPUKernel(loaded->description().name, loaded->entry(), loaded) {
  const KernelDescription &kernel = code->description();
  numArgs = int32_t(kernel.arguments.size());
  scratchBytes = kernel.scratchBytes;
  blocking = kernel.blocking;
  lanes = kernel.lanes;
  sites = &kernel.sites;
}

} // namespace nereid::runtime
