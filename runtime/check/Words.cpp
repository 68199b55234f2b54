// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "check/Words.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace nereid::runtime::check {

static std::vector<std::string> fieldsOf(const std::string &line) {
  std::vector<std::string> fields(1);
  for (char c : line)
    if (c == '\t')
      fields.emplace_back();
    else
      fields.back() += c;
  return fields;
}

static uint64_t number(const std::string &text) { return std::strtoull(text.c_str(), nullptr, 10); }

Words Words::read(const std::string &path) {
  Words words;
  std::vector<Name> *allocations = nullptr;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> f = fieldsOf(line);
    if (f[0] == "job" && f.size() == 6) {
      words.ranks = int32_t(number(f[2]));
      words.heapBase = number(f[3]);
      words.heapBytes = number(f[4]);
      words.profile = f[5];
    } else if (f[0] == "allocations" && f.size() == 2) {
      allocations = &words.allocations[uint32_t(number(f[1]))];
      allocations->clear();
    } else if (f[0] == "allocation" && f.size() == 4 && allocations) {
      allocations->push_back({number(f[1]), number(f[2]), f[3]});
    } else if (f[0] == "kernel" && f.size() == 5) {
      words.kernels[f[1]].name = f[2];
      words.kernels[f[1]].instrumented = f[3] == "1";
      words.kernels[f[1]].lanes = std::max<uint32_t>(1, uint32_t(number(f[4])));
    } else if (f[0] == "site" && f.size() == 8) {
      SourceSite &site = words.kernels[f[1]].sites[uint32_t(number(f[2]))];
      site.line = int32_t(number(f[3]));
      site.column = int32_t(number(f[4]));
      site.function = f[5];
      site.file = f[6];
      site.text = f[7];
    } else if (f[0] == "launch" && f.size() == 3) {
      words.launches[uint32_t(number(f[1]))] = f[2];
    } else if (f[0] == "deadlock") {
      words.deadlock = true;
    } else if (f[0] == "place" && f.size() == 3) {
      words.places[uint32_t(number(f[1]))] = f[2];
    }
  }
  return words;
}

const Words::KernelWords *Words::kernelOf(uint32_t launch) const {
  auto number = launches.find(launch);
  if (number == launches.end())
    return nullptr;
  auto kernel = kernels.find(number->second);
  return kernel == kernels.end() ? nullptr : &kernel->second;
}

std::string Words::describe(uint64_t begin, uint64_t end, uint32_t launch) const {
  auto range = [](uint64_t first, uint64_t last) {
    return first == last ? "byte " + std::to_string(first)
                         : "bytes " + std::to_string(first) + " to " + std::to_string(last);
  };
  if (auto now = allocations.upper_bound(launch); now != allocations.begin())
    for (const Name &a : std::prev(now)->second)
      if (begin >= a.offset && begin < a.offset + a.bytes)
        return a.text + ", " + range(begin - a.offset, end - 1 - a.offset);
  return range(begin, end - 1) + " of the heap";
}

} // namespace nereid::runtime::check
