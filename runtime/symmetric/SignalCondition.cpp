// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "symmetric/SignalCondition.h"

#include "symmetric/Programs.h"

namespace nereid::runtime {

void SignalCondition::describe(const Job::Impl &job, BlockedGroup &group) const {
  auto shown = [&](uint64_t word) { return isSigned ? signExtend(word, bytes) : int64_t(word); };
  group.address = job.describe(address);
  group.hasValues = true;
  group.currentValue = shown(seen);
  group.awaitedValue = shown(value);
  group.comparison = comparisonText(comparison);
  if (count > 1) {
    group.note = "slot " + std::to_string(next) + " of " + std::to_string(count);
    if (stride != bytes)
      group.note += "; the profile " + std::string(job.settings.profile.name) +
                    " puts the signals of one wait " + std::to_string(stride) +
                    " bytes apart: signal i is element " + std::to_string(stride / bytes) +
                    " * i, not element i";
  }
  if (comparison == NRD_CMP_EQ && group.currentValue > group.awaitedValue)
    group.note += std::string(group.note.empty() ? "" : "; ") +
                  "the signal has passed the awaited value: waits compare for equality";
}

} // namespace nereid::runtime
