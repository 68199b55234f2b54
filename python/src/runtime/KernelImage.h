// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelImage.h - A compiled kernel in this process --------*- C++ -*-===//
#ifndef NEREID_PYTHON_KERNELIMAGE_H
#define NEREID_PYTHON_KERNELIMAGE_H

#include "nereid/abi.h"
#include "nereid/profiles.h"
#include "nereid/runtime/Launch.h"
#include "nereid/runtime/Status.h"

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace nereid::python {

/// A kernel that a device has loaded, which says how many arguments it has.
struct KernelImage {
  std::shared_ptr<runtime::Kernel> kernel;
  /// Keeps code loaded that is of no object file.
  nanobind::object owner;

  /// For reports; the object file's unless the host chose another one.
  const std::string &name() const { return kernel->name; }
  uint32_t numArgs() const { return uint32_t(kernel->numArgs); }
};

enum class ImageLaunch {
  Done,
  Raised,       ///< a Python exception is set
  NotSymmetric, ///< `badSlot` holds a wrong address: the caller knows its name
};

/// The job that a launch of `image` now belongs to; null outside of any. A world of
/// one rank is joined when the kernel needs a job and there is none.
ImageLaunch findJob(const KernelImage &image, const uint64_t *slots, runtime::Job *&job,
                    uint32_t &badSlot);

/// Runs `image` over `grid` in the job of findJob, with the GIL released.
ImageLaunch launchImage(const KernelImage &image, const std::array<int32_t, 3> &grid,
                        const uint64_t *slots, uint32_t &badSlot);

/// Whether all arguments that must be symmetric are, as far as can be told
/// before there is a job, and none is memory of the job of the process that this
/// one was forked from; else `badSlot` is one that is wrong.
bool symmetricArguments(const KernelImage &image, const uint64_t *slots, uint32_t &badSlot);

/// The profile in force: the job's, else what NEREID_PROFILE says.
const TargetProfile &activeProfile();

void bindKernelImage(nanobind::module_ &m);

} // namespace nereid::python

#endif // NEREID_PYTHON_KERNELIMAGE_H
