// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Check.h"
#include "DeviceMemory.h"
#include "Dispatcher.h"
#include "Errors.h"
#include "JobState.h"
#include "KernelImage.h"
#include "LanguageObjects.h"
#include "PreparedCall.h"
#include "StreamBindings.h"
#include "Symmetric.h"
#include "Targets.h"
#include "Teams.h"
#include "Watch.h"

#include "nereid/abi.h"

namespace nb = nanobind;

NB_MODULE(_runtime, m) {
  m.doc() = "The runtime of Nereid: jobs, symmetric memory, launches.";
  nb::set_leak_warnings(false);
  // Now: an import is impossible later, when an interrupt is already pending.
  nereid::python::errorTypes();
  m.attr("ABI_VERSION") = NRD_ABI_VERSION;
  nereid::python::bindSymmetric(m);
  nereid::python::bindJob(m);
  nereid::python::bindDeviceMemory(m);
  nereid::python::bindTeams(m);
  nereid::python::bindKernelImage(m);
  nereid::python::bindWatch(m);
  nereid::python::bindDispatcher(m);
  nereid::python::bindPreparedCalls(m);
  nereid::python::bindStreams(m);
  nereid::python::bindLanguageObjects(m);
  nereid::python::bindTargets(m);
  nereid::python::bindCheck(m);
}
