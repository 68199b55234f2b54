// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelImage.h"
#include "Errors.h"
#include "JobState.h"

#include "nereid/runtime/KernelCode.h"
#include "nereid/runtime/KernelObject.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nereid;
using namespace nereid::python;

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

ImageLaunch python::findJob(const KernelImage &image, const uint64_t *slots, runtime::Job *&job,
                            uint32_t &badSlot) {
  job = jobState().active() ? jobState().job : nullptr;
  if (!job && (image.distributed || !image.symmetricArgs.empty())) {
    job = requireJob("a launch of kernel '" + image.name +
                     "', which uses ranks or symmetric memory,");
    if (!job)
      return ImageLaunch::Raised;
  }
  return symmetricArguments(image, slots, badSlot) ? ImageLaunch::Done : ImageLaunch::NotSymmetric;
}

ImageLaunch python::launchImage(const KernelImage &image, const std::array<int32_t, 3> &grid,
                                const uint64_t *slots, uint32_t &badSlot) {
  runtime::Job *job = nullptr;
  if (ImageLaunch found = findJob(image, slots, job, badSlot); found != ImageLaunch::Done)
    return found;

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

/// Text of a file that may be in any encoding.
static nb::object text(const std::string &bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), Py_ssize_t(bytes.size()), "replace"));
}

/// What an object file says, as JSON could hold it.
static nb::dict describe(const runtime::KernelDescription &kernel, bool sites) {
  nb::dict result;
  result["name"] = kernel.name;
  nb::list args;
  for (const runtime::KernelArgument &argument : kernel.arguments) {
    nb::dict row;
    row["name"] = text(argument.name);
    row["type"] = argument.type;
    row["divisibility"] = argument.divisibility;
    row["symmetric"] = argument.symmetric;
    args.append(row);
  }
  result["args"] = args;
  result["scratch_bytes"] = kernel.scratchBytes;
  result["blocking"] = kernel.blocking;
  result["distributed"] = kernel.distributed;
  result["lanes"] = kernel.lanes;
  result["launch_mode"] = kernel.launchMode;
  result["abi_version"] = kernel.abiVersion;
  result["architecture"] = kernel.architecture;
  result["cpu"] = kernel.cpu;
  result["features"] = kernel.features;
  if (sites) {
    nb::list rows;
    for (const runtime::SourceSite &site : kernel.sites) {
      nb::dict row;
      row["file"] = text(site.file);
      row["line"] = site.line;
      row["column"] = site.column;
      row["function"] = text(site.function);
      row["text"] = text(site.text);
      rows.append(row);
    }
    result["sites"] = rows;
  }
  return result;
}

static KernelImage loadImage(nb::bytes object) {
  auto code = runtime::KernelCode::load(std::string_view(object.c_str(), object.size()));
  if (!code.ok())
    throw std::runtime_error(code.status().message());
  const runtime::KernelDescription &kernel = (*code)->description();
  KernelImage image;
  image.name = kernel.name;
  image.kernel = std::make_shared<runtime::CPUKernel>(*code);
  image.distributed = kernel.distributed;
  image.numArgs = uint32_t(kernel.arguments.size());
  for (uint32_t slot = 0; slot < image.numArgs; ++slot)
    if (kernel.arguments[slot].symmetric)
      image.symmetricArgs.push_back(slot);
  return image;
}

void python::bindKernelImage(nb::module_ &m) {
  nb::class_<KernelImage>(m, "KernelImage", "A compiled kernel in this process.")
      .def(
          "__init__",
          [](KernelImage *self, nb::bytes object) { new (self) KernelImage(loadImage(object)); },
          nb::arg("object"),
          "Links a kernel's object file, given as bytes, into this process. Raises RuntimeError "
          "for a file that is damaged, no kernel's, or made for another version or processor.")
      .def_static(
          "of_address",
          [](std::string name, uintptr_t address, uint32_t numArgs, bool distributed,
             std::vector<uint32_t> symmetricArgs, nb::object owner) {
            if (!address)
              throw nb::value_error("a kernel image needs the address of its code");
            for (uint32_t slot : symmetricArgs)
              if (slot >= numArgs)
                throw nb::value_error("a symmetric argument beyond the kernel's arguments");
            KernelImage image;
            image.kernel = std::make_shared<runtime::CPUKernel>(
                name, reinterpret_cast<nrd_kernel_fn>(address));
            image.kernel->numArgs = int32_t(numArgs);
            image.name = std::move(name);
            image.numArgs = numArgs;
            image.distributed = distributed;
            image.symmetricArgs = std::move(symmetricArgs);
            image.owner = std::move(owner);
            return image;
          },
          nb::arg("name"), nb::arg("address"), nb::arg("num_args"), nb::arg("distributed") = false,
          nb::arg("symmetric_args") = std::vector<uint32_t>(), nb::arg("owner").none() = nb::none(),
          "A function of another library in place of a kernel, for tests of what launches pass. "
          "`owner` keeps it loaded.")
      .def_prop_ro(
          "description",
          [](const KernelImage &image) -> nb::object {
            return image.kernel->code ? describe(image.kernel->code->description(), false)
                                      : nb::object(nb::none());
          },
          "What the object file says, without its table of places; see describe_object.")
      .def_prop_rw(
          "name", [](const KernelImage &image) { return image.name; },
          [](KernelImage &image, const std::string &name) {
            image.name = image.kernel->name = name;
          })
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

  m.def(
      "describe_object",
      [](nb::bytes object, bool sites) {
        auto kernel = runtime::describeKernel(std::string_view(object.c_str(), object.size()));
        if (!kernel.ok())
          throw std::runtime_error(kernel.status().message());
        return describe(*kernel, sites);
      },
      nb::arg("object"), nb::arg("sites") = true,
      "What a kernel's object file says of it, as a dict: name, args (name, type, divisibility, "
      "symmetric), scratch_bytes, blocking, distributed, lanes, launch_mode, abi_version, "
      "architecture, cpu, features and sites (file, line, column, function, text). Raises "
      "RuntimeError for a file that is damaged, no kernel's or of another version.");
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
