// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Teams of ranks for python/nereid/_job/teams.py.
#include "Teams.h"
#include "Errors.h"
#include "JobState.h"

#include "nereid/runtime/Team.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nereid;
using namespace nereid::python;

/// The job; throws when there is none.
static runtime::Job &job(const char *who) {
  runtime::Job *found = requireJob(std::string("nereid.symm.") + who);
  if (!found)
    throw nb::python_error();
  return *found;
}

/// Runs `call` without the GIL and gives its value; throws its failure.
template <typename Call> static auto collective(Call call) {
  auto result = [&] {
    nb::gil_scoped_release release;
    return call();
  }();
  checkJob(result.status());
  return *result;
}

void python::bindTeams(nb::module_ &m) {
  m.def("team_split_strided", [](int32_t parent, int32_t start, int32_t stride, int32_t size) {
    runtime::Job &current = job("team_split_strided()");
    return collective(
        [&] { return runtime::teamSplitStrided(current, parent, start, stride, size); });
  });
  m.def("team_split_2d", [](int32_t parent, int32_t xRange) {
    runtime::Job &current = job("team_split_2d()");
    auto pair = collective([&] { return runtime::teamSplit2D(current, parent, xRange); });
    return nb::make_tuple(pair[0], pair[1]);
  });
  m.def("team_destroy", [](int32_t team) {
    runtime::Job &current = job("team_destroy()");
    runtime::Status status;
    {
      nb::gil_scoped_release release;
      status = runtime::teamDestroy(current, team);
    }
    checkJob(status);
  });
  m.def("team_barrier", [](int32_t team) {
    runtime::Job &current = job("Team.barrier()");
    runtime::Status status;
    {
      nb::gil_scoped_release release;
      status = runtime::teamBarrier(current, team);
    }
    checkJob(status);
  });
  m.def("team_ranks", [](int32_t team) {
    auto ranks = runtime::teamRanks(job("Team"), team);
    checkJob(ranks.status());
    return *ranks;
  });
}
