// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Print.cpp - tl.device_print ----------------------------------------===//
#include "device/cpu/EntryPoints.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>

using namespace nereid::runtime;

static void appendElement(std::string &out, const uint8_t *at, int32_t kind, int32_t bytes,
                          bool hex) {
  char text[64];
  uint64_t raw = 0;
  std::memcpy(&raw, at, size_t(bytes));
  if (kind == 3)
    std::snprintf(text, sizeof(text), "0x%016" PRIx64, raw);
  else if (hex)
    std::snprintf(text, sizeof(text), "0x%0*" PRIx64, bytes * 2, raw);
  else if (kind == 2 && bytes == 8) {
    double value;
    std::memcpy(&value, at, 8);
    std::snprintf(text, sizeof(text), "%.17g", value);
  } else if (kind == 2) {
    float value;
    std::memcpy(&value, at, 4);
    std::snprintf(text, sizeof(text), "%.9g", double(value));
  } else if (kind == 0)
    std::snprintf(text, sizeof(text), "%" PRId64, signExtend(raw, unsigned(bytes)));
  else
    std::snprintf(text, sizeof(text), "%" PRIu64, raw);
  out += text;
}

static void print(Program &p, const char *prefix, const void *elements, int64_t count, int32_t kind,
                  int32_t bytes, bool hex) {
  char head[96];
  if (p.abi.num_ranks > 1)
    std::snprintf(head, sizeof(head), "rank %d pid (%d, %d, %d)", p.abi.rank, p.abi.pid[0],
                  p.abi.pid[1], p.abi.pid[2]);
  else
    std::snprintf(head, sizeof(head), "pid (%d, %d, %d)", p.abi.pid[0], p.abi.pid[1], p.abi.pid[2]);
  // A prefix from the user may end in its own colon and spaces.
  std::string label = prefix ? prefix : "";
  while (!label.empty() && (label.back() == ' ' || label.back() == ':'))
    label.pop_back();
  std::string out;
  const uint8_t *at = static_cast<const uint8_t *>(elements);
  if (count == 0)
    out = std::string(head) + " " + label + "\n";
  for (int64_t i = 0; i < count; ++i) {
    out += head;
    if (count > 1)
      out += " idx (" + std::to_string(i) + ")";
    if (!label.empty())
      out += " " + label;
    out += ": ";
    appendElement(out, at + i * bytes, kind, bytes, hex);
    out += "\n";
    if (out.size() > 65536) {
      printLine(out);
      out.clear();
    }
  }
  if (!out.empty())
    printLine(out);
}

extern "C" void nrd_print(nrd_program *prog, const char *prefix, const void *elements,
                          int64_t count, int32_t kind, int32_t elem_bytes, int32_t hex,
                          uint32_t site) {
  Program &p = programOf(prog);
  p.site = site;
  p.worker->landing.reporting = true; // see Faults.h
  print(p, prefix, elements, count, kind, elem_bytes, hex != 0);
  p.worker->landing.reporting = false;
}
