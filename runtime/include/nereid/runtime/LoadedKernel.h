// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LoadedKernel.h - Kernels for C++ hosts -------------------*- C++ -*-===//
//
// Loads a kernel's object file and launches it with checked arguments. Headers
// that `nereid compile --header` writes give each kernel a launch function with
// typed parameters on top of this.
//
//   Expected<LoadedKernel> kernel = LoadedKernel::loadFile("scale.o");
//   Status done = kernel->launch(job, {8}, {argumentSlot(x), argumentSlot(2.0f)});
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_LOADEDKERNEL_H
#define NEREID_RUNTIME_LOADEDKERNEL_H

#include "nereid/runtime/Device.h"
#include "nereid/runtime/Job.h"
#include "nereid/runtime/Status.h"
#include "nereid/runtime/Stream.h"

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace nereid::runtime {

/// Programs along each axis; each at least 1, their product below 2^31.
struct Grid {
  int32_t x = 1, y = 1, z = 1;
};

/// Element types that C++ has no name for, as their bits.
struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};
struct Float8 {
  uint8_t bits;
};

/// `value` as the slot of an argument: pointers as addresses, signed integers with
/// their sign, all others in the low bytes.
template <typename T> uint64_t argumentSlot(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>, "not an argument of a kernel");
  uint64_t slot = 0;
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    slot = uint64_t(int64_t(value));
  else
    std::memcpy(&slot, &value, sizeof(value));
  return slot;
}

/// A kernel in this process. Copies share the code, which is unloaded with the last
/// of them; a launch that is going on must not outlive it.
class LoadedKernel {
public:
  /// No kernel; only to be assigned to.
  LoadedKernel() = default;

  /// The kernel of an object file, given as its bytes (copied), on a device of this
  /// build. Errors: as Device::load, and InvalidArgument for an unknown device.
  static Expected<LoadedKernel> load(std::string_view object, std::string_view device = "cpu");
  /// The same, and it must be the kernel `name` with arguments of these types
  /// ("*fp32", "i32"); InvalidArgument, with both, when it is another one.
  static Expected<LoadedKernel> load(std::string_view object, std::string_view name,
                                     const std::vector<std::string_view> &types,
                                     std::string_view device = "cpu");
  /// From a file; SystemError when it cannot be read.
  static Expected<LoadedKernel> loadFile(const std::string &path, std::string_view device = "cpu");

  const KernelDescription &description() const { return *kernel->description; }

  /// Runs the kernel over the grid and returns when all its programs have ended, as
  /// launch() does. `slots`: one for each argument. `job` may be null for a kernel
  /// that uses neither ranks nor symmetric memory. Errors: those of launch(), and
  /// InvalidArgument for another number of arguments or a value that the kernel was
  /// not compiled for (`divisibility`), NotSymmetric for an address outside this
  /// rank's symmetric memory.
  Status launch(Job *job, Grid grid, const std::vector<uint64_t> &slots) const;
  /// Puts the launch into `stream`, in whose job it will run, and returns: the checks
  /// of arguments are made now, what goes wrong later is told by Stream::synchronize.
  /// The kernel's code is kept until the launch has ended, the memory behind the slots
  /// is for the caller to keep.
  Status launch(Stream &stream, Grid grid, const std::vector<uint64_t> &slots) const;

private:
  /// What can be said of the arguments before the launch, and its LaunchSpec.
  Expected<LaunchSpec> check(Job *job, Grid grid, const std::vector<uint64_t> &slots) const;

  std::shared_ptr<const Kernel> kernel;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_LOADEDKERNEL_H
