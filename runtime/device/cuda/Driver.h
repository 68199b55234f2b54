// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Driver.h - NVIDIA's driver, loaded when it is needed ---------------===//
//
// Nothing of the runtime links it: the same library runs on machines without a GPU,
// where everything that needs one says what is missing.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_CUDA_DRIVER_H
#define NEREID_RUNTIME_DEVICE_CUDA_DRIVER_H

#include "device/cuda/DriverTypes.h"
#include "nereid/runtime/Status.h"

namespace nereid::runtime::cuda {

/// The driver's functions by the names of Driver.def.
struct Driver {
#define NEREID_CUDA_FUNCTION(NAME, SYMBOL, PARAMETERS) Result(*NAME) PARAMETERS = nullptr;
#include "device/cuda/Driver.def"
#undef NEREID_CUDA_FUNCTION

  int version = 0; ///< 12040 for 12.4
  int devices = 0; ///< at least 1

  /// The driver, loaded by the first call; NEREID_CUDA_DRIVER says which library it
  /// is. Environment: no library, one that is too old, no GPU.
  static Expected<const Driver *> get();

  /// "cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (out of memory)", or success.
  Status check(Result result, const char *what) const;
  std::string describe(Result result) const;
};

} // namespace nereid::runtime::cuda

#endif // NEREID_RUNTIME_DEVICE_CUDA_DRIVER_H
