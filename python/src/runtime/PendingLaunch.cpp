// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PendingLaunch.h"
#include "Errors.h"

namespace nb = nanobind;
using namespace nereid::python;

static thread_local PyObject *threadStream = nullptr;

PyObject *nereid::python::currentStream() { return threadStream; }

bool nereid::python::enqueue(PendingLaunch launch) {
  try {
    nb::object pending = nb::cast(std::move(launch));
    nb::handle(threadStream).attr("_enqueue")(pending);
    return true;
  } catch (nb::python_error &error) {
    error.restore();
    return false;
  }
}

void nereid::python::bindStreams(nb::module_ &m) {
  nb::class_<PendingLaunch>(m, "PendingLaunch", "A launch that waits in a stream; a call runs it.")
      .def_ro("name", &PendingLaunch::name)
      .def("__call__", [](PendingLaunch &self) {
        uint32_t bad = 0;
        ImageLaunch result = launchImage(*self.image, self.grid, self.slots.data(), bad);
        if (result == ImageLaunch::NotSymmetric)
          setArgumentError(
              self.name +
              ": memory of a symmetric argument was freed before the launch had its turn");
        if (result != ImageLaunch::Done)
          throw nb::python_error();
      });
  m.def(
      "set_current_stream",
      [](nb::object stream) {
        nb::object before = threadStream ? nb::steal(threadStream) : nb::none();
        threadStream = stream.is_none() ? nullptr : stream.release().ptr();
        return before;
      },
      nb::arg("stream").none(),
      "Where launches of this thread go; returns where they went before.");
  m.def("current_stream", []() -> nb::object {
    return threadStream ? nb::object(nb::borrow(threadStream)) : nb::none();
  });
}
