// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No LLVM in here.
#ifndef NEREID_TARGET_CUDA_INFO_H
#define NEREID_TARGET_CUDA_INFO_H

#include "nereid/Target/TargetInfo.h"

namespace nereid {
const TargetInfo &infoOfCUDA();

namespace cuda {
/// The compute capability to compile for, 90 for sm_90; 0: that of this machine's
/// GPU, and it has none.
int archOf(const OptionValues &options);
} // namespace cuda
} // namespace nereid

#endif // NEREID_TARGET_CUDA_INFO_H
