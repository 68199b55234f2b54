// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Check.h"

#include "Errors.h"

#include "nereid/runtime/Check.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace nereid::python {

namespace check = runtime::check;

static nb::dict endOf(const check::End &end) {
  nb::dict out;
  out["file"] = end.site.file;
  out["line"] = end.site.line;
  out["column"] = end.site.column;
  out["source"] = end.site.text;
  out["rank"] = end.rank;
  out["program"] = end.program;
  out["kernel"] = end.kernel;
  out["what"] = end.what;
  return out;
}

static nb::tuple checkLog(const std::string &path) {
  runtime::Expected<check::Verdict> verdict = [&] {
    nb::gil_scoped_release release;
    return check::checkLog(path);
  }();
  if (!verdict.ok())
    raiseJobError(verdict.status());
  nb::list findings;
  for (const check::Finding &f : verdict->findings) {
    nb::dict out;
    out["code"] = f.code;
    out["title"] = f.title;
    out["first"] = endOf(f.first);
    out["second"] = endOf(f.second);
    out["bytes"] = f.bytes;
    out["order"] = f.order;
    out["help"] = f.help;
    out["note"] = f.note;
    out["more"] = f.more;
    out["text"] = f.text();
    findings.append(out);
  }
  return nb::make_tuple(findings, verdict->summary(), verdict->lost);
}

void bindCheck(nb::module_ &m) {
  m.def(
      "create_check_log",
      [](const std::string &path, uint64_t events) {
        if (runtime::Status st = check::createLog(path, events); !st.ok())
          raiseJobError(st);
      },
      nb::arg("path"), nb::arg("events"), "Makes the log of a checked run.");
  m.def("check_log", checkLog, nb::arg("path"),
        "The verdict on a checked run: findings, a line that sums them up, events lost.");
}

} // namespace nereid::python
