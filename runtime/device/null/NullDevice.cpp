// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NullDevice.cpp - A device that runs nothing ------------------------===//
//
// The skeleton that a new device starts from, and the proof that nothing outside
// runtime/device/cpu relies on programs being run by the calling thread: launches
// that are put into a queue end only when somebody waits for it. A kernel is a text:
//
//     null kernel NAME
//     args 3              the launch must have arguments
//     lanes 2             vector cores per program
//     blocking            its programs wait for each other
//     fault MESSAGE       launches of it end with this fault in program (0, 0, 0)
//
//===----------------------------------------------------------------------===//
#include "symmetric/HostHeap.h"

#include <charconv>
#include <sstream>

namespace nereid::runtime {

Device &nullDevice();

namespace {
class NullKernel final : public Kernel {
public:
  explicit NullKernel(std::string name) : Kernel(nullDevice(), std::move(name)) {}
  std::string fault;
};

class NullQueue final : public DeviceQueue {
public:
  /// What the first launch that failed has come to; after it a queue does nothing.
  std::unique_ptr<LaunchFailure> failure;
};

class NullExecutor final : public Executor {
public:
  std::unique_ptr<DeviceQueue> makeQueue() override { return std::make_unique<NullQueue>(); }

  std::unique_ptr<LaunchFailure> run(const LaunchSpec &launch, DeviceQueue *queue) override {
    auto failure = end(static_cast<const NullKernel &>(*launch.kernel));
    if (!queue)
      return failure;
    auto &kept = static_cast<NullQueue *>(queue)->failure;
    if (!kept)
      kept = std::move(failure);
    return nullptr;
  }

  std::unique_ptr<LaunchFailure> synchronize(DeviceQueue *queue) override {
    return queue ? std::exchange(static_cast<NullQueue *>(queue)->failure, nullptr) : nullptr;
  }

private:
  static std::unique_ptr<LaunchFailure> end(const NullKernel &kernel) {
    if (kernel.fault.empty())
      return nullptr;
    auto failure = std::make_unique<LaunchFailure>();
    FailureDetail &error = failure->error.emplace();
    error.code = StatusCode::KernelFault;
    error.message = kernel.fault;
    error.kernel = kernel.name;
    error.program = {0, 0, 0};
    return failure;
  }
};

class NullDevice final : public HostMemoryDevice {
public:
  const char *name() const override { return "null"; }

  Expected<std::shared_ptr<Kernel>> load(std::string_view object, std::string_view name) override {
    std::istringstream text{std::string(object)};
    std::string line;
    static constexpr std::string_view head = "null kernel ";
    if (!std::getline(text, line) || !line.starts_with(head) || line.size() == head.size())
      return damaged("it does not begin with 'null kernel NAME'");
    if (line.substr(head.size()) != name)
      return damaged("it does not define '" + std::string(name) + "'");
    auto kernel = std::make_shared<NullKernel>(std::string(name));
    while (std::getline(text, line)) {
      size_t space = line.find(' ');
      std::string key = line.substr(0, space);
      std::string value = space == std::string::npos ? "" : line.substr(space + 1);
      if (key == "args" && number(value, kernel->numArgs))
        continue;
      if (key == "lanes" && number(value, kernel->lanes))
        continue;
      if (line == "blocking")
        kernel->blocking = true;
      else if (key == "fault" && !value.empty())
        kernel->fault = value;
      else
        return damaged("it does not know the line '" + line + "'");
    }
    return std::shared_ptr<Kernel>(std::move(kernel));
  }

  std::unique_ptr<Executor> open(Job &) override { return std::make_unique<NullExecutor>(); }

private:
  static Status damaged(const std::string &why) {
    return Status::error(StatusCode::InvalidArgument,
                         "the device 'null' cannot load this object: " + why);
  }
  static bool number(const std::string &text, int32_t &value) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && value >= 0;
  }
};
} // namespace

Device &nullDevice() {
  static NullDevice instance;
  return instance;
}

} // namespace nereid::runtime
