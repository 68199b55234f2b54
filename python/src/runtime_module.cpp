// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/abi.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;

NB_MODULE(_runtime, m) {
  m.doc() = "The runtime of Nereid: jobs, symmetric memory, launches.";
  nb::set_leak_warnings(false);
  m.attr("ABI_VERSION") = NRD_ABI_VERSION;
}
