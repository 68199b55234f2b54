// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NullDevice.cpp - A device that runs nothing ------------------------===//
//
// The skeleton that a new device starts from, and the proof that nothing outside
// runtime/device/cpu relies on programs being run by the calling thread: launches
// that are put into a queue end only when somebody waits for it. A kernel is a text:
//
//     null kernel NAME
//     arg NAME TYPE       the launch must have this argument: "arg x *fp32"
//     args 3              and three more
//     symmetric 1         argument 1 must be an address in symmetric memory
//     lanes 2             vector cores per program
//     blocking            its programs wait for each other
//     distributed         it uses ranks: launches need a job
//     fault MESSAGE       launches of it end with this fault in program (0, 0, 0)
//
//===----------------------------------------------------------------------===//
#include "symmetric/HostHeap.h"

#include <charconv>
#include <cstring>
#include <sstream>

namespace nereid::runtime {

Device &nullDevice();

namespace {
struct NullObject : KernelDescription {
  std::string fault;
};

class NullKernel final : public Kernel {
public:
  explicit NullKernel(std::shared_ptr<const NullObject> object)
      : Kernel(nullDevice(), object), fault(object->fault) {}
  const std::string fault;
};

class NullQueue final : public DeviceQueue {
public:
  Status put(const QueuedPut &put) override {
    if (failure)
      return {};
    if (put.after)
      return Status::error(StatusCode::InvalidArgument, "the device has no streams of its own");
    std::memcpy(put.to, put.from, put.bytes);
    if (put.word && put.wordBytes == 4)
      __atomic_store_n(static_cast<uint32_t *>(put.word), uint32_t(put.value), __ATOMIC_RELEASE);
    else if (put.word)
      __atomic_store_n(static_cast<uint64_t *>(put.word), put.value, __ATOMIC_RELEASE);
    return {};
  }
  bool isIdle() override { return true; }
  /// What the first launch that failed has come to; after it a queue does nothing.
  std::unique_ptr<LaunchFailure> failure;
};

class NullExecutor final : public Executor {
public:
  std::unique_ptr<DeviceQueue> makeQueue(std::optional<uintptr_t> native) override {
    return native ? nullptr : std::make_unique<NullQueue>();
  }

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
  std::string description() const override {
    return "runs nothing, for tests of what surrounds a device";
  }

  Expected<std::shared_ptr<Kernel>> load(std::string_view object) override {
    Expected<NullObject> read = parse(object);
    if (!read.ok())
      return read.status();
    return std::shared_ptr<Kernel>(
        std::make_shared<NullKernel>(std::make_shared<NullObject>(std::move(*read))));
  }

  Expected<KernelDescription> describe(std::string_view object) override {
    Expected<NullObject> read = parse(object);
    if (!read.ok())
      return read.status();
    return KernelDescription(std::move(*read));
  }

  std::unique_ptr<Executor> open(Job &) override { return std::make_unique<NullExecutor>(); }

private:
  static Expected<NullObject> parse(std::string_view object) {
    std::istringstream text{std::string(object)};
    std::string line;
    static constexpr std::string_view head = "null kernel ";
    if (!std::getline(text, line) || !line.starts_with(head) || line.size() == head.size())
      return damaged("it does not begin with 'null kernel NAME'");
    NullObject kernel;
    kernel.name = line.substr(head.size());
    kernel.architecture = "null";
    while (std::getline(text, line)) {
      size_t space = line.find(' ');
      std::string key = line.substr(0, space);
      std::string value = space == std::string::npos ? "" : line.substr(space + 1);
      int32_t count = 0;
      if (key == "args" && number(value, count)) {
        for (int32_t i = 0; i < count; ++i)
          kernel.arguments.push_back(
              {.name = "arg" + std::to_string(kernel.arguments.size()), .type = "i64"});
      } else if (size_t end = value.find(' '); key == "arg" && end != 0 && end < value.size() - 1) {
        kernel.arguments.push_back({.name = value.substr(0, end), .type = value.substr(end + 1)});
      } else if (key == "symmetric" && number(value, count) &&
                 size_t(count) < kernel.arguments.size()) {
        kernel.arguments[size_t(count)].symmetric = true;
      } else if (key == "lanes" && number(value, count)) {
        kernel.lanes = count;
      } else if (line == "blocking") {
        kernel.blocking = true;
      } else if (line == "distributed") {
        kernel.distributed = true;
      } else if (key == "fault" && !value.empty()) {
        kernel.fault = value;
      } else {
        return damaged("it does not know the line '" + line + "'");
      }
    }
    return kernel;
  }
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
