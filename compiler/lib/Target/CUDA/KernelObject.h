// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Object files of kernels for NVIDIA's GPUs: nereid/cuda_kernel.h has the form.
#ifndef NEREID_LIB_TARGET_CUDA_KERNELOBJECT_H
#define NEREID_LIB_TARGET_CUDA_KERNELOBJECT_H

#include "nereid/Target/KernelMetadata.h"
#include "nereid/cuda_kernel.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace nereid::cuda {

/// Bytes of each parameter of the function `name` of a text in PTX, in their order.
/// Error: there is no such function, or the list is of a form that nobody has seen.
llvm::Expected<std::vector<uint32_t>> parameterBytes(llvm::StringRef ptx, llvm::StringRef name);

/// The object file of a kernel for compute capability `arch` (90 for 9.0). `image` is
/// complete but for the size of `cubin`, what the driver loads.
std::string makeKernelObject(llvm::StringRef cubin, const KernelMetadata &metadata, int arch,
                             CUDAImage image);

} // namespace nereid::cuda

#endif // NEREID_LIB_TARGET_CUDA_KERNELOBJECT_H
