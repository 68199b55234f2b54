// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Target/TargetInfo.h"

namespace nereid {
#define NEREID_TARGET(NAME) const TargetInfo &infoOf##NAME();
#include "Targets.def"
#undef NEREID_TARGET
} // namespace nereid

using namespace nereid;

const std::vector<TargetStage> &nereid::commonStages() {
  static const std::vector<TargetStage> table = {
      {"ttir", "mlir", true, "the kernel as the front end wrote it, or as it was read"},
  };
  return table;
}

const TargetStage *TargetInfo::stage(std::string_view wanted) const {
  for (const std::vector<TargetStage> *table : {&stages, &commonStages()})
    for (const TargetStage &row : *table)
      if (row.name == wanted)
        return &row;
  return nullptr;
}

bool TargetInfo::isCommonStage(std::string_view wanted) const {
  const TargetStage *row = stage(wanted);
  return row && row >= commonStages().data() && row < commonStages().data() + commonStages().size();
}

std::vector<TargetStage> TargetInfo::allStages() const {
  std::vector<TargetStage> rows;
  for (const TargetStage &row : commonStages())
    if (isCommonStage(row.name))
      rows.push_back(row);
  rows.insert(rows.end(), stages.begin(), stages.end());
  return rows;
}

std::string TargetInfo::stageNames() const {
  std::string names;
  for (const TargetStage &row : allStages())
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

const TargetLack *TargetInfo::lack(std::string_view module, std::string_view wanted) const {
  for (const TargetLack &row : lacks)
    if (row.module == module && (row.name == wanted || row.name == "*"))
      return &row;
  return nullptr;
}

const TargetOption *TargetInfo::option(std::string_view wanted) const {
  for (const std::vector<TargetOption> *table : {&options, &commonOptions()})
    for (const TargetOption &row : *table)
      if (row.name == wanted)
        return &row;
  return nullptr;
}

const std::vector<const TargetInfo *> &nereid::targetInfos() {
  static const std::vector<const TargetInfo *> table = {
#define NEREID_TARGET(NAME) &infoOf##NAME(),
#include "Targets.def"
#undef NEREID_TARGET
  };
  return table;
}

const TargetInfo *nereid::findTargetInfo(std::string_view name) {
  for (const TargetInfo *target : targetInfos())
    if (target->name == name)
      return target;
  return nullptr;
}

const TargetInfo &nereid::defaultTargetInfo() {
  static const TargetInfo none = {"none", "no target: nothing can be compiled",
                                  "host", "",
                                  {},     {},
                                  {},     [](const OptionValues &) { return std::string(); }};
  return targetInfos().empty() ? none : *targetInfos().front();
}

std::string nereid::unknownTarget(std::string_view name) {
  std::string text = "unknown target '" + std::string(name) + "'; this build has ";
  if (targetInfos().empty())
    return text + "no targets";
  text += targetInfos().size() == 1 ? "the target " : "the targets ";
  for (const TargetInfo *target : targetInfos())
    text += (target == targetInfos().front() ? "" : ", ") + std::string(target->name);
  return text;
}
