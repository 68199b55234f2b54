// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Status.cpp - Reports of failures -----------------------------------===//
//
// A report is made for the terminal of a user who has only this text:
//
//       kernel.py:12:9: error: the message
//           x = tl.load(ptr)
//               ^
//         in kernel 'k', rank 1, program (0, 0, 0)
//         state of the job:
//           rank 0:
//             4 programs ...: wait on flags: value 0, waits for 1
//               at kernel.py:8:5 in k
//
// What is not known is left out, line by line: a failure of host code has no
// kernel, one outside of a job no rank. The source text comes with the failure
// (SourceSite::text): the file may lie on another machine, or have changed
// since.
//
//===----------------------------------------------------------------------===//
#include "nereid/runtime/Status.h"

namespace nereid::runtime {

const char *statusCodeName(StatusCode code) {
  switch (code) {
  case StatusCode::Ok:
    return "ok";
  case StatusCode::InvalidArgument:
    return "invalid argument";
  case StatusCode::Environment:
    return "bad environment";
  case StatusCode::Bootstrap:
    return "bootstrap failed";
  case StatusCode::OutOfMemory:
    return "out of memory";
  case StatusCode::Mismatch:
    return "collective mismatch";
  case StatusCode::BadRank:
    return "bad rank";
  case StatusCode::NotSymmetric:
    return "not symmetric";
  case StatusCode::AssertFailed:
    return "assertion failed";
  case StatusCode::BadAccess:
    return "bad access";
  case StatusCode::BarrierMismatch:
    return "barrier mismatch";
  case StatusCode::Deadlock:
    return "deadlock";
  case StatusCode::Timeout:
    return "timeout";
  case StatusCode::RankDied:
    return "rank died";
  case StatusCode::RankFinalized:
    return "rank finalized";
  case StatusCode::RankRaised:
    return "rank raised";
  case StatusCode::Interrupted:
    return "interrupted";
  case StatusCode::SystemError:
    return "system error";
  case StatusCode::KernelFault:
    return "kernel fault";
  case StatusCode::Internal:
    return "internal error";
  }
  return "unknown error";
}

std::string SourceSite::str() const {
  if (!known())
    return file.empty() ? "<unknown>" : file;
  std::string out = file + ":" + std::to_string(line);
  if (column > 0)
    out += ":" + std::to_string(column);
  return out;
}

Status Status::error(StatusCode code, std::string message, int32_t rank) {
  FailureDetail detail;
  detail.code = code;
  detail.message = std::move(message);
  detail.rank = rank;
  return Status(std::move(detail));
}

const std::string &Status::message() const {
  static const std::string none;
  return detail ? detail->message : none;
}

/// The source line with a caret below the column.
static void appendSource(std::string &out, const SourceSite &site, const char *indent) {
  if (site.text.empty())
    return;
  size_t begin = site.text.find_first_not_of(" \t");
  if (begin == std::string::npos)
    return;
  out += indent + site.text.substr(begin) + "\n";
  if (site.column < 1 || size_t(site.column) < begin + 1 ||
      size_t(site.column) > site.text.size() + 1)
    return;
  out += indent;
  // Tabs stay tabs so that the caret lines up in any terminal.
  for (size_t i = begin; i + 1 < size_t(site.column); ++i)
    out += site.text[i] == '\t' ? '\t' : ' ';
  out += "^\n";
}

static std::string programText(const std::array<int32_t, 3> &program) {
  return "(" + std::to_string(program[0]) + ", " + std::to_string(program[1]) + ", " +
         std::to_string(program[2]) + ")";
}

std::string Status::report() const {
  if (!detail)
    return "ok";
  const FailureDetail &f = *detail;
  std::string out;
  if (f.site.known())
    out += f.site.str() + ": ";
  out += std::string("error: ") + f.message + "\n";
  appendSource(out, f.site, "    ");
  if (!f.kernel.empty() || f.program[0] >= 0 || f.rank >= 0) {
    out += "  in ";
    bool first = true;
    auto item = [&](const std::string &text) {
      if (!first)
        out += ", ";
      first = false;
      out += text;
    };
    if (!f.kernel.empty())
      item("kernel '" + f.kernel + "'");
    if (f.rank >= 0)
      item("rank " + std::to_string(f.rank));
    if (f.program[0] >= 0)
      item("program " + programText(f.program));
    out += "\n";
  }
  if (!f.blocked.empty())
    out += "  state of the job:\n";
  int32_t lastRank = -1;
  for (const BlockedGroup &g : f.blocked) {
    if (g.rank != lastRank)
      out += "    rank " + std::to_string(g.rank) + ":\n";
    lastRank = g.rank;
    out += "      ";
    if (g.programCount > 0)
      out += std::to_string(g.programCount) + (g.programCount == 1 ? " program " : " programs ") +
             g.programs + ": ";
    out += g.kind;
    if (!g.address.empty())
      out += " on " + g.address;
    if (g.hasValues)
      out += ": value " + std::to_string(g.currentValue) + ", waits for " +
             (g.comparison == "==" ? "" : g.comparison + " ") + std::to_string(g.awaitedValue);
    if (!g.note.empty())
      out += " (" + g.note + ")";
    if (g.site.known()) {
      out += "\n        at " + g.site.str();
      if (!g.site.function.empty())
        out += " in " + g.site.function;
    }
    out += "\n";
    appendSource(out, g.site, "          ");
  }
  return out;
}

} // namespace nereid::runtime
