// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares runtime/device/cuda/DriverTypes.h and Driver.def with NVIDIA's cuda.h. Only
// compiled: test_cuda_driver.py finds a cuda.h and a compiler.
#include <cuda.h>

#include "device/cuda/DriverTypes.h"

#include <type_traits>

namespace own = nereid::runtime::cuda;

#define SAME_NUMBER(OURS, THEIRS) static_assert(int(own::OURS) == int(THEIRS))
SAME_NUMBER(result::success, CUDA_SUCCESS);
SAME_NUMBER(result::invalidValue, CUDA_ERROR_INVALID_VALUE);
SAME_NUMBER(result::outOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME_NUMBER(result::noDevice, CUDA_ERROR_NO_DEVICE);
SAME_NUMBER(result::invalidImage, CUDA_ERROR_INVALID_IMAGE);
SAME_NUMBER(result::noBinaryForGPU, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME_NUMBER(result::unsupportedPTX, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME_NUMBER(result::notReady, CUDA_ERROR_NOT_READY);
SAME_NUMBER(result::illegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME_NUMBER(result::tooManyResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
SAME_NUMBER(result::assertFailed, CUDA_ERROR_ASSERT);
SAME_NUMBER(result::illegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
SAME_NUMBER(result::misalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
SAME_NUMBER(result::launchFailed, CUDA_ERROR_LAUNCH_FAILED);
SAME_NUMBER(result::cooperativeTooLarge, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
SAME_NUMBER(attribute::maxGridY, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
SAME_NUMBER(attribute::maxGridZ, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
SAME_NUMBER(attribute::multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME_NUMBER(attribute::capabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME_NUMBER(attribute::capabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME_NUMBER(attribute::cooperativeLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
SAME_NUMBER(attribute::sharedOptIn, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME_NUMBER(attribute::virtualMemory, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
SAME_NUMBER(attribute::memoryByDescriptor,
            CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
SAME_NUMBER(between::access, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED);
SAME_NUMBER(between::nativeAtomics, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED);
SAME_NUMBER(function_attribute::localBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME_NUMBER(function_attribute::registers, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME_NUMBER(function_attribute::dynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME_NUMBER(pointer_attribute::memoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME_NUMBER(pointer_attribute::device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME_NUMBER(fileDescriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
SAME_NUMBER(nonBlockingStream, CU_STREAM_NON_BLOCKING);
SAME_NUMBER(eventWithoutTiming, CU_EVENT_DISABLE_TIMING);
SAME_NUMBER(launch_attribute::cooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
SAME_NUMBER(launch_attribute::clusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
static_assert(own::MemoryLocation().type == CU_MEM_LOCATION_TYPE_DEVICE);
static_assert(own::AccessDescription().flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);

#define SAME_PLACE(OURS, OUR_MEMBER, THEIRS, THEIR_MEMBER)                                         \
  static_assert(sizeof(own::OURS) == sizeof(THEIRS) &&                                             \
                offsetof(own::OURS, OUR_MEMBER) == offsetof(THEIRS, THEIR_MEMBER))
SAME_PLACE(AllocationProperties, type, CUmemAllocationProp, type);
SAME_PLACE(AllocationProperties, exportableAs, CUmemAllocationProp, requestedHandleTypes);
SAME_PLACE(AllocationProperties, location, CUmemAllocationProp, location);
SAME_PLACE(AllocationProperties, flags, CUmemAllocationProp, allocFlags);
SAME_PLACE(AccessDescription, flags, CUmemAccessDesc, flags);
SAME_PLACE(LaunchAttribute, id, CUlaunchAttribute, id);
SAME_PLACE(LaunchAttribute, bytes, CUlaunchAttribute, value);
SAME_PLACE(LaunchConfiguration, gridX, CUlaunchConfig, gridDimX);
SAME_PLACE(LaunchConfiguration, blockX, CUlaunchConfig, blockDimX);
SAME_PLACE(LaunchConfiguration, sharedBytes, CUlaunchConfig, sharedMemBytes);
SAME_PLACE(LaunchConfiguration, stream, CUlaunchConfig, hStream);
SAME_PLACE(LaunchConfiguration, attributes, CUlaunchConfig, attrs);
SAME_PLACE(LaunchConfiguration, numAttributes, CUlaunchConfig, numAttrs);

namespace {
/// Kinds of arguments: what the calling convention sees of a type.
template <typename T> inline constexpr int kind = int(sizeof(T));
template <typename A, typename B> struct SameCall;
template <typename RA, typename... A, typename RB, typename... B>
struct SameCall<RA(A...), RB(B...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(A) != sizeof...(B))
      return false;
    else
      return ((kind<A> == kind<B>) && ...);
  }();
};
using namespace nereid::runtime::cuda;
} // namespace

// The versions of functions that cuda.h means by their names are those that the
// table asks the library for, so the names without a version are compared.
#define CHECK(NAME, FUNCTION, PARAMETERS)                                                          \
  static_assert(SameCall<own::Result PARAMETERS, decltype(FUNCTION)>::value, #NAME);
