// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Findings.cpp - What a verdict looks like as text -------------------===//
#include "nereid/runtime/Check.h"

namespace nereid::runtime::check {

static std::string sourceLine(const SourceSite &site) {
  if (site.text.empty())
    return "";
  std::string number = std::to_string(site.line);
  number.insert(0, number.size() < 5 ? 5 - number.size() : 0, ' ');
  std::string out = number + " | " + site.text + "\n";
  if (site.column > 0)
    out += "      | " + std::string(size_t(site.column - 1), ' ') + "^\n";
  return out;
}

static std::string who(const End &end) {
  return end.what + ", by rank " + std::to_string(end.rank) +
         (end.program < 0 ? ", host code" : ", program " + std::to_string(end.program)) +
         (end.kernel.empty() ? "" : " of '" + end.kernel + "'");
}

static std::string where(const End &end) {
  if (end.site.known() || !end.site.file.empty())
    return end.site.str();
  return end.program < 0 ? "<host code>" : "<unknown>";
}

std::string Finding::text() const {
  std::string out = where(second) + ": error[" + code + "]: " + title + "\n";
  out += sourceLine(second.site);
  out += "  (2) " + who(second) + "\n";
  if (first.rank >= 0) {
    out += "  (1) " + where(first) + ": " + who(first) + "\n";
    out += sourceLine(first.site);
  }
  out += "  bytes: " + bytes + "\n";
  out += "  order: " + order + "\n";
  out += "  help:  " + help + "\n";
  if (!note.empty())
    out += "  note:  " + note + "\n";
  if (more)
    out += "  and " + std::to_string(more) + (more == 1 ? " more pair" : " more pairs") +
           " of these two lines\n";
  return out;
}

std::string Verdict::summary() const {
  auto count = [](uint64_t n, const std::string &what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  std::string out = "check: " + count(uint64_t(ranks), "rank") + ", " + std::to_string(launches) +
                    (launches == 1 ? " launch, " : " launches, ") + count(records, "event") + ", " +
                    count(findings.size(), "error");
  if (!unseen.empty()) {
    out += "; loads and stores not seen, compiled without instrument=True:";
    for (const std::string &name : unseen)
      out += " " + name;
  }
  if (lost)
    out += "; the log was full: " + count(lost, "event") + " not checked";
  return out;
}

} // namespace nereid::runtime::check
