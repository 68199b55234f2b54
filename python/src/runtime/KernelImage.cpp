// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelImage.cpp - Loading, describing and launching kernels --------===//
//
// A launch: find the job (a world of one is joined when the kernel needs one
// and there is none), look at the arguments that must be symmetric, launch
// without the GIL. Only the number of a wrong argument goes back: the caller
// knows its name, and makes the message.
//
// An argument that lies in the heap of the job of the process that this one was
// forked from is refused too. Its address is valid here, and reads and writes
// would reach the memory of the parent's rank.
//
//===----------------------------------------------------------------------===//
#include "KernelImage.h"
#include "Errors.h"
#include "JobState.h"

#include "nereid/runtime/Devices.h"
#include "nereid/runtime/KernelCode.h"
#include "nereid/runtime/Launch.h"

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
    for (uint32_t slot = 0; slot < image.numArgs(); ++slot)
      if (parents->ownerRank(reinterpret_cast<const void *>(slots[slot])) >= 0) {
        badSlot = slot;
        return false;
      }
  std::optional<uint32_t> bad =
      job ? runtime::findNonSymmetric(*image.kernel, slots, *job) : std::nullopt;
  badSlot = bad.value_or(badSlot);
  return !bad;
}

ImageLaunch python::findJob(const KernelImage &image, const uint64_t *slots, runtime::Job *&job,
                            uint32_t &badSlot) {
  job = jobState().active() ? jobState().job : nullptr;
  const runtime::Kernel &kernel = *image.kernel;
  if (!job && runtime::needsJob(kernel)) {
    job = requireJob("a launch of kernel '" + kernel.name +
                         "', which uses ranks or symmetric memory,",
                     kernel.device.name());
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
  result["shared_bytes"] = kernel.sharedBytes;
  result["blocking"] = kernel.blocking;
  result["distributed"] = kernel.distributed;
  result["instrumented"] = kernel.instrumented;
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

static runtime::Device &deviceOf(const std::string &name) {
  runtime::Expected<runtime::Device *> device = runtime::findDevice(name);
  if (!device.ok())
    throw nb::value_error(device.status().message().c_str());
  return **device;
}

static KernelImage loadImage(nb::bytes object, const std::string &device) {
  auto kernel = deviceOf(device).load(std::string_view(object.c_str(), object.size()));
  if (!kernel.ok())
    throw std::runtime_error(kernel.status().message());
  return {std::move(*kernel), {}};
}

void python::bindKernelImage(nb::module_ &m) {
  nb::class_<KernelImage>(m, "KernelImage", "A compiled kernel in this process.")
      .def(
          "__init__",
          [](KernelImage *self, nb::bytes object, const std::string &device) {
            new (self) KernelImage(loadImage(object, device));
          },
          nb::arg("object"), nb::arg("device"),
          "Loads a kernel's object file, given as bytes, on a device of this build. Raises "
          "RuntimeError for a file that is damaged, no kernel's, or made for another version or "
          "machine, ValueError for an unknown device.")
      .def_static(
          "of_address",
          [](std::string name, uintptr_t address, uint32_t numArgs, bool distributed,
             std::vector<uint32_t> symmetricArgs, nb::object owner) {
            if (!address)
              throw nb::value_error("a kernel image needs the address of its code");
            for (uint32_t slot : symmetricArgs)
              if (slot >= numArgs)
                throw nb::value_error("a symmetric argument beyond the kernel's arguments");
            auto kernel = std::make_shared<runtime::CPUKernel>(
                std::move(name), reinterpret_cast<nrd_kernel_fn>(address));
            kernel->numArgs = int32_t(numArgs);
            kernel->distributed = distributed;
            kernel->symmetricArgs = std::move(symmetricArgs);
            return KernelImage{std::move(kernel), std::move(owner)};
          },
          nb::arg("name"), nb::arg("address"), nb::arg("num_args"), nb::arg("distributed") = false,
          nb::arg("symmetric_args") = std::vector<uint32_t>(), nb::arg("owner").none() = nb::none(),
          "A function of another library in place of a kernel, for tests of what launches pass. "
          "`owner` keeps it loaded.")
      .def_prop_ro(
          "description",
          [](const KernelImage &image) -> nb::object {
            return image.kernel->description ? describe(*image.kernel->description, false)
                                             : nb::object(nb::none());
          },
          "What the object file says, without its table of places; see describe_object.")
      .def_prop_rw("name", &KernelImage::name,
                   [](KernelImage &image, const std::string &name) { image.kernel->name = name; })
      .def_prop_ro("device", [](const KernelImage &image) { return image.kernel->device.name(); })
      .def_prop_ro("num_args", &KernelImage::numArgs)
      .def_prop_ro("scratch_bytes",
                   [](const KernelImage &image) { return image.kernel->scratchBytes; })
      .def_prop_ro("blocking", [](const KernelImage &image) { return image.kernel->blocking; })
      .def_prop_ro("distributed",
                   [](const KernelImage &image) { return image.kernel->distributed; })
      .def_prop_ro("lanes", [](const KernelImage &image) { return image.kernel->lanes; })
      .def(
          "launch",
          [](KernelImage &self, std::array<int32_t, 3> grid, std::vector<uint64_t> slots) {
            if (slots.size() != self.numArgs())
              throw nb::value_error("wrong number of argument slots");
            uint32_t bad = 0;
            ImageLaunch result = launchImage(self, grid, slots.data(), bad);
            if (result == ImageLaunch::NotSymmetric)
              setArgumentError(self.name() + ": argument slot " + std::to_string(bad) +
                               " must be an address in symmetric memory");
            if (result != ImageLaunch::Done)
              throw nb::python_error();
          },
          nb::arg("grid"), nb::arg("slots"),
          "Runs the kernel on argument slots that are encoded already.");

  m.def(
      "describe_object",
      [](nb::bytes object, const std::string &device, bool sites) {
        auto kernel = deviceOf(device).describe(std::string_view(object.c_str(), object.size()));
        if (!kernel.ok())
          throw std::runtime_error(kernel.status().message());
        return describe(*kernel, sites);
      },
      nb::arg("object"), nb::arg("device"), nb::arg("sites") = true,
      "What a kernel's object file for a device says of it, as a dict: name, args (name, type, "
      "divisibility, "
      "symmetric), scratch_bytes, shared_bytes, blocking, distributed, instrumented, lanes, "
      "launch_mode, "
      "abi_version, "
      "architecture, cpu, features and sites (file, line, column, function, text). Raises "
      "RuntimeError for a file that is damaged, no kernel's or of another version, ValueError for "
      "an unknown device.");
  m.def(
      "devices",
      [] {
        nb::list rows;
        for (runtime::Device *device : runtime::devices())
          rows.append(nb::make_tuple(device->name(), device->description()));
        return rows;
      },
      "What this build can run kernels on: names, and what each is on this machine.");
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
