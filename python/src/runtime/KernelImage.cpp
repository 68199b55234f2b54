// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelImage.h"
#include "Errors.h"
#include "JobState.h"

#include "nereid/runtime/KernelCode.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nereid;
using namespace nereid::python;

namespace {
/// What Python holds of loaded code.
struct LoadedKernel {
  std::shared_ptr<runtime::KernelCode> code;
};
} // namespace

/// Outside of a job; set_default_profile changes it.
static const TargetProfile *defaultProfile = &targetProfiles[0];

const TargetProfile &python::activeProfile() {
  if (runtime::Job *job = jobState().job)
    return *findTargetProfile(job->profile().name);
  return *defaultProfile;
}

bool python::symmetricArguments(const KernelImage &image, const uint64_t *slots,
                                uint32_t &badSlot) {
  runtime::Job *job = jobState().active() ? jobState().job : nullptr;
  if (runtime::Job *parents = jobState().parents) [[unlikely]]
    for (uint32_t slot = 0; slot < image.numArgs; ++slot)
      if (parents->ownerRank(reinterpret_cast<const void *>(slots[slot])) >= 0) {
        badSlot = slot;
        return false;
      }
  for (uint32_t slot : image.symmetricArgs)
    if (job && !job->isSymmetric(reinterpret_cast<const void *>(slots[slot]))) {
      badSlot = slot;
      return false;
    }
  return true;
}

ImageLaunch python::launchImage(const KernelImage &image, const std::array<int32_t, 3> &grid,
                                const uint64_t *slots, uint32_t &badSlot) {
  runtime::Job *job = jobState().active() ? jobState().job : nullptr;
  if (!job && (image.distributed || !image.symmetricArgs.empty())) {
    job = requireJob("a launch of kernel '" + image.name +
                     "', which uses ranks or symmetric memory,");
    if (!job)
      return ImageLaunch::Raised;
  }
  if (!symmetricArguments(image, slots, badSlot))
    return ImageLaunch::NotSymmetric;

  runtime::LaunchSpec spec;
  spec.kernel = image.kernel.get();
  spec.args = slots;
  spec.grid = grid;

  runtime::Status status;
  Py_BEGIN_ALLOW_THREADS status = runtime::launch(job, spec);
  Py_END_ALLOW_THREADS if (status.ok()) return ImageLaunch::Done;
  setPythonError(status, errorTypes().launch);
  return ImageLaunch::Raised;
}

/// (file, line, column, function, text) -> SourceSite.
static runtime::SourceSite siteFromPython(nb::handle row) {
  nb::sequence fields = nb::cast<nb::sequence>(row);
  runtime::SourceSite site;
  site.file = nb::cast<std::string>(fields[0]);
  site.line = nb::cast<int32_t>(fields[1]);
  site.column = nb::cast<int32_t>(fields[2]);
  site.function = nb::cast<std::string>(fields[3]);
  site.text = nb::cast<std::string>(fields[4]);
  return site;
}

void python::bindKernelImage(nb::module_ &m) {
  nb::class_<KernelImage>(m, "KernelImage",
                          "Machine code of a kernel and what a launch must know about it.")
      .def(
          "__init__",
          [](KernelImage *self, std::string name, uintptr_t address, uint32_t numArgs,
             uint64_t scratchBytes, bool blocking, bool distributed, int32_t lanes,
             std::vector<uint32_t> symmetricArgs, nb::sequence sites, nb::object code) {
            if (!address)
              throw nb::value_error("a kernel image needs the address of its code");
            for (uint32_t slot : symmetricArgs)
              if (slot >= numArgs)
                throw nb::value_error("a symmetric argument beyond the kernel's arguments");
            new (self) KernelImage();
            self->name = std::move(name);
            self->numArgs = numArgs;
            self->distributed = distributed;
            self->symmetricArgs = std::move(symmetricArgs);
            for (nb::handle row : sites)
              self->sites.push_back(siteFromPython(row));
            std::shared_ptr<const runtime::KernelCode> loaded;
            if (nb::isinstance<LoadedKernel>(code))
              loaded = nb::cast<LoadedKernel &>(code).code;
            self->kernel = std::make_shared<runtime::CPUKernel>(
                self->name, reinterpret_cast<nrd_kernel_fn>(address), std::move(loaded));
            self->kernel->scratchBytes = scratchBytes;
            self->kernel->blocking = blocking;
            self->kernel->lanes = lanes;
            self->kernel->sites = &self->sites;
            self->code = std::move(code);
          },
          nb::arg("name"), nb::arg("address"), nb::arg("num_args"), nb::arg("scratch_bytes") = 0,
          nb::arg("blocking") = false, nb::arg("distributed") = false, nb::arg("lanes") = 1,
          nb::arg("symmetric_args") = std::vector<uint32_t>(), nb::arg("sites") = nb::tuple(),
          nb::arg("code").none() = nb::none())
      .def_ro("name", &KernelImage::name)
      .def_ro("num_args", &KernelImage::numArgs)
      .def_prop_ro("scratch_bytes",
                   [](const KernelImage &image) { return image.kernel->scratchBytes; })
      .def_prop_ro("blocking", [](const KernelImage &image) { return image.kernel->blocking; })
      .def_ro("distributed", &KernelImage::distributed)
      .def_prop_ro("lanes", [](const KernelImage &image) { return image.kernel->lanes; })
      .def(
          "launch",
          [](KernelImage &self, std::array<int32_t, 3> grid, std::vector<uint64_t> slots) {
            if (slots.size() != self.numArgs)
              throw nb::value_error("wrong number of argument slots");
            uint32_t bad = 0;
            ImageLaunch result = launchImage(self, grid, slots.data(), bad);
            if (result == ImageLaunch::NotSymmetric)
              setArgumentError(self.name + ": argument slot " + std::to_string(bad) +
                               " must be an address in symmetric memory");
            if (result != ImageLaunch::Done)
              throw nb::python_error();
          },
          nb::arg("grid"), nb::arg("slots"),
          "Runs the kernel on argument slots that are encoded already.");

  nb::class_<LoadedKernel>(m, "LoadedKernel",
                           "Machine code in this process; unloaded with the object.")
      .def_prop_ro(
          "address",
          [](const LoadedKernel &kernel) {
            return reinterpret_cast<uintptr_t>(kernel.code->entry());
          },
          "Address of the kernel's function.");
  m.def(
      "load",
      [](nb::bytes object, const std::string &name) {
        auto code =
            runtime::KernelCode::load(std::string_view(object.c_str(), object.size()), name);
        if (!code.ok())
          throw std::runtime_error(code.status().message());
        return LoadedKernel{*code};
      },
      nb::arg("object"), nb::arg("name"),
      "Links an object file of the compiler into this process. Raises RuntimeError for a file that "
      "is damaged.");
  m.def(
      "active_sub_vec_num", [] { return activeProfile().subVecNum; },
      "Vector cores per AI core of that profile.");
  m.def(
      "set_default_profile",
      [](const std::string &name) {
        const TargetProfile *profile = findTargetProfile(name);
        if (!profile)
          throw nb::value_error(
              ("unknown profile '" + name + "'; known: " + targetProfileNames()).c_str());
        defaultProfile = profile;
      },
      nb::arg("name"), "The profile of launches outside of a job; ValueError for an unknown name.");
  m.def("active_profile", [] { return activeProfile().name; }, "Name of the profile in force.");
}
