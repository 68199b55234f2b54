// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DriverTypes.h - What the CUDA driver's interface is made of --------===//
//
// The part of cuda.h that the runtime uses, in our words, so that it is built without
// the toolkit: sizes and numbers are those of version 12. A test compares them with
// cuda.h where there is one.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_CUDA_DRIVERTYPES_H
#define NEREID_RUNTIME_DEVICE_CUDA_DRIVERTYPES_H

#include <cstddef>
#include <cstdint>

namespace nereid::runtime::cuda {

using Result = int;
using Ordinal = int;
using Address = uint64_t;
using Context = struct ContextHandle *;
using Module = struct ModuleHandle *;
using Function = struct FunctionHandle *;
using StreamRef = struct StreamHandle *;
using EventRef = struct EventHandle *;
using Allocation = uint64_t; ///< CUmemGenericAllocationHandle

namespace result {
enum : Result {
  success = 0,
  invalidValue = 1,
  outOfMemory = 2,
  noDevice = 100,
  invalidImage = 200,
  noBinaryForGPU = 209,
  unsupportedPTX = 222,
  notReady = 600,
  illegalAddress = 700,
  tooManyResources = 701,
  assertFailed = 710,
  illegalInstruction = 715,
  misalignedAddress = 716,
  launchFailed = 719,
  cooperativeTooLarge = 720,
};
} // namespace result

namespace attribute { // of devices
enum : int {
  maxGridY = 6,
  maxGridZ = 7,
  multiprocessors = 16,
  capabilityMajor = 75,
  capabilityMinor = 76,
  cooperativeLaunch = 95,
  sharedOptIn = 97,
  virtualMemory = 102,
  memoryByDescriptor = 103,
};
} // namespace attribute

namespace between { // two devices
enum : int { access = 2, nativeAtomics = 3 };
} // namespace between

namespace function_attribute {
enum : int { localBytes = 3, registers = 4, dynamicShared = 8 };
} // namespace function_attribute

namespace pointer_attribute {
enum : int { memoryType = 2, device = 9 };
} // namespace pointer_attribute

struct MemoryLocation {
  int type = 1; ///< 1: a device
  int id = 0;
};
struct AllocationProperties {
  int type = 1;         ///< pinned
  int exportableAs = 0; ///< 1: POSIX file descriptor
  MemoryLocation location;
  void *windowsData = nullptr;
  struct {
    unsigned char compression = 0, directRDMA = 0;
    unsigned short usage = 0;
    unsigned char reserved[4] = {};
  } flags;
};
static_assert(sizeof(AllocationProperties) == 32);

struct AccessDescription {
  MemoryLocation location;
  int flags = 3; ///< read and write
};
static_assert(sizeof(AccessDescription) == 12);

inline constexpr int fileDescriptor = 1;
inline constexpr int nonBlockingStream = 1;
inline constexpr int eventWithoutTiming = 2;
inline constexpr int relaxedCapture = 2;

namespace launch_attribute {
enum : int { cooperative = 2, clusterDimension = 4 };
} // namespace launch_attribute

struct LaunchAttribute {
  int id = 0;
  char pad[4] = {};
  union {
    char bytes[64] = {};
    int cooperative;
    struct {
      unsigned x, y, z;
    } cluster;
  };
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfiguration {
  unsigned gridX = 1, gridY = 1, gridZ = 1;
  unsigned blockX = 1, blockY = 1, blockZ = 1;
  unsigned sharedBytes = 0;
  StreamRef stream = nullptr;
  LaunchAttribute *attributes = nullptr;
  unsigned numAttributes = 0;
};
static_assert(sizeof(LaunchConfiguration) == 56);

} // namespace nereid::runtime::cuda

#endif // NEREID_RUNTIME_DEVICE_CUDA_DRIVERTYPES_H
