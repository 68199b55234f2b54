// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LoadedKernel.cpp - Kernels of C++ hosts ----------------------------===//
//
// What the dispatcher checks for Python is checked here for C++, before
// anything is launched: the number of arguments, what the compiler was promised
// about each (a multiple of so much, symmetric memory), and that there is a job
// when the kernel needs one. A header that `nereid compile --header` has made
// also says which kernel it was made with: one that was compiled again without
// its header is refused when it is loaded.
//
//===----------------------------------------------------------------------===//
#include "nereid/runtime/LoadedKernel.h"

#include "base/InvalidArgument.h"

#include "nereid/runtime/Devices.h"
#include "nereid/runtime/Launch.h"

#include <cerrno>
#include <cstdio>

namespace nereid::runtime {

Expected<LoadedKernel> LoadedKernel::load(std::string_view object, std::string_view device) {
  Expected<Device *> found = findDevice(device);
  if (!found.ok())
    return found.status();
  Expected<std::shared_ptr<Kernel>> kernel = (*found)->load(object);
  if (!kernel.ok())
    return kernel.status();
  LoadedKernel loaded;
  loaded.kernel = std::move(*kernel);
  return loaded;
}

static std::string signature(std::string_view name, const std::vector<std::string_view> &types) {
  std::string text = std::string(name) + "(";
  for (size_t i = 0; i < types.size(); ++i)
    text += (i ? ", " : "") + std::string(types[i]);
  return text + ")";
}

Expected<LoadedKernel> LoadedKernel::load(std::string_view object, std::string_view name,
                                          const std::vector<std::string_view> &types,
                                          std::string_view device) {
  Expected<LoadedKernel> kernel = load(object, device);
  if (!kernel.ok())
    return kernel.status();
  const KernelDescription &description = kernel->description();
  std::vector<std::string_view> found;
  for (const KernelArgument &argument : description.arguments)
    found.push_back(argument.type);
  if (description.name != name || found != types)
    return invalid("the object file holds the kernel " + signature(description.name, found) +
                   ", not " + signature(name, types) +
                   "; compile it and its header together, with `nereid compile --header`");
  return kernel;
}

Expected<LoadedKernel> LoadedKernel::loadFile(const std::string &path, std::string_view device) {
  std::string bytes;
  errno = 0;
  if (FILE *file = std::fopen(path.c_str(), "rb")) {
    char buffer[65536];
    while (size_t n = std::fread(buffer, 1, sizeof(buffer), file))
      bytes.append(buffer, n);
    bool bad = std::ferror(file) != 0;
    int error = errno;
    std::fclose(file);
    if (bad)
      return Status::error(StatusCode::SystemError,
                           "the file '" + path + "' cannot be read: " + std::strerror(error));
  } else {
    return Status::error(StatusCode::SystemError,
                         "the file '" + path + "' cannot be opened: " + std::strerror(errno));
  }
  Expected<LoadedKernel> kernel = load(bytes, device);
  if (!kernel.ok())
    return Status::error(kernel.status().code(), path + ": " + kernel.status().message());
  return kernel;
}

static std::string place(const KernelDescription &kernel, const KernelArgument &argument) {
  return "kernel '" + kernel.name + "', argument '" + argument.name + "': ";
}

static Status checkDivisible(const KernelDescription &kernel, const KernelArgument &argument,
                             uint64_t slot) {
  uint64_t d = argument.divisibility;
  if (d <= 1 || (argument.isPointer() ? slot % d == 0 : int64_t(slot) % int64_t(d) == 0))
    return {};
  return invalid(place(kernel, argument) + "the kernel was compiled for " +
                 (argument.isPointer() ? "an address" : "a value") + " that is a multiple of " +
                 std::to_string(d) + "; pass such a one, or compile it without ':" +
                 std::to_string(d) + "' in its signature");
}

Expected<LaunchSpec> LoadedKernel::check(Job *job, Grid grid,
                                         const std::vector<uint64_t> &slots) const {
  if (!kernel)
    return invalid("launch: no kernel was loaded");
  const KernelDescription &description = *kernel->description;
  if (slots.size() != description.arguments.size())
    return invalid("kernel '" + description.name + "' takes " +
                   std::to_string(description.arguments.size()) + " arguments, " +
                   std::to_string(slots.size()) + " were given");
  if (!job && needsJob(*kernel))
    return invalid("kernel '" + description.name +
                   "' uses ranks or symmetric memory: launch it with the job that Job::init gives");
  for (size_t i = 0; i < slots.size(); ++i)
    if (Status st = checkDivisible(description, description.arguments[i], slots[i]); !st.ok())
      return st;
  if (std::optional<uint32_t> bad =
          job ? findNonSymmetric(*kernel, slots.data(), *job) : std::nullopt)
    return Status::error(StatusCode::NotSymmetric,
                         place(description, description.arguments[*bad]) +
                             "must be an address in symmetric memory of this rank, as "
                             "Job::allocate gives; this is " +
                             job->describe(reinterpret_cast<const void *>(slots[*bad])),
                         job->rank());
  LaunchSpec spec;
  spec.kernel = kernel.get();
  spec.args = slots.data();
  spec.grid = {grid.x, grid.y, grid.z};
  return spec;
}

Status LoadedKernel::launch(Job *job, Grid grid, const std::vector<uint64_t> &slots) const {
  Expected<LaunchSpec> spec = check(job, grid, slots);
  return spec.ok() ? runtime::launch(job, *spec) : spec.status();
}

Status LoadedKernel::launch(Stream &stream, Grid grid, const std::vector<uint64_t> &slots) const {
  Expected<LaunchSpec> spec = check(stream.job(), grid, slots);
  return spec.ok() ? stream.launch(*spec, kernel) : spec.status();
}

} // namespace nereid::runtime
