// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The targets of this build for Python: what a launch, the command line and the
// cache must know of them before the compiler is loaded.
#include "Targets.h"

#include "nereid/Target/TargetInfo.h"
#include "nereid/runtime/Config.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>

namespace nb = nanobind;
using namespace nereid;

static nb::str text(std::string_view view) { return nb::str(view.data(), view.size()); }

static const TargetInfo &require(const std::string &name) {
  const TargetInfo *target = findTargetInfo(name);
  if (!target && name == defaultTargetInfo().name)
    target = &defaultTargetInfo(); // "none", in a build without targets
  if (!target)
    throw nb::value_error(unknownTarget(name).c_str());
  return *target;
}

static nb::object toPython(const OptionValue &value) {
  if (const bool *flag = std::get_if<bool>(&value))
    return nb::bool_(*flag);
  if (const int64_t *number = std::get_if<int64_t>(&value))
    return nb::int_(*number);
  return nb::str(std::get<std::string>(value).c_str());
}

/// A Python value as an option's; one of a wrong type is refused by checkOption.
static OptionValue fromPython(nb::handle value) {
  if (nb::isinstance<nb::bool_>(value))
    return nb::cast<bool>(value);
  if (nb::isinstance<nb::int_>(value))
    return nb::cast<int64_t>(value);
  return std::string(nb::str(value).c_str());
}

static nb::dict optionRow(const TargetOption &option) {
  nb::dict row;
  row["name"] = text(option.name);
  row["default"] = toPython(optionValue(option, {}));
  row["help"] = text(option.help);
  nb::list choices;
  for (std::string_view choice : option.choices)
    choices.append(text(choice));
  row["choices"] = choices;
  row["variable"] = text(option.variable);
  return row;
}

static nb::dict targetRow(const TargetInfo &target) {
  nb::dict row;
  row["name"] = text(target.name);
  row["description"] = text(target.description);
  row["default_profile"] = text(target.defaultProfile);
  row["device"] = text(target.device);
  row["tool"] = text(target.tool);
  nb::list options, stages;
  for (const std::vector<TargetOption> *table : {&commonOptions(), &target.options})
    for (const TargetOption &option : *table)
      options.append(optionRow(option));
  for (const TargetStage &stage : target.allStages()) {
    nb::dict entry;
    entry["name"] = text(stage.name);
    entry["extension"] = text(stage.extension);
    entry["is_text"] = stage.isText;
    entry["help"] = text(stage.help);
    stages.append(entry);
  }
  row["options"] = options;
  row["stages"] = stages;
  return row;
}

static const TargetOption &requireOption(const TargetInfo &target, const std::string &name) {
  const TargetOption *option = target.option(name);
  if (!option)
    throw nb::value_error(
        ("the target " + std::string(target.name) + " has no option '" + name + "'").c_str());
  return *option;
}

std::string nereid::python::activeDevice() {
  const char *name = std::getenv("NEREID_TARGET");
  const TargetInfo *target = name && *name ? findTargetInfo(name) : nullptr;
  std::string_view device = (target ? *target : defaultTargetInfo()).device;
  return device.empty() ? runtime::JobOptions().device : std::string(device);
}

bool nereid::python::kernelsRunOnGPU() { return activeDevice() == "cuda"; }

void nereid::python::bindTargets(nb::module_ &m) {
  m.def(
      "target_names",
      [] {
        std::vector<std::string> names;
        for (const TargetInfo *target : targetInfos())
          names.emplace_back(target->name);
        return names;
      },
      "The targets of this build; the first is the default.");
  m.def(
      "default_target", [] { return std::string(defaultTargetInfo().name); },
      "Name of the target that is compiled for when none is asked for.");
  m.def(
      "find_target", [](const std::string &name) { return targetRow(require(name)); },
      nb::arg("name"), "What a target declares, as a dict; ValueError for an unknown name.");
  m.def(
      "target_lack",
      [](const std::string &name, const std::string &module,
         const std::string &function) -> nb::object {
        const TargetLack *lack = require(name).lack(module, function);
        return lack ? nb::object(nb::make_tuple(text(lack->why), text(lack->instead)))
                    : nb::object(nb::none());
      },
      nb::arg("target"), nb::arg("module"), nb::arg("function"),
      "(why, what to write instead) when the target lacks a function of the language, else None.");
  m.def(
      "foreign_options",
      [](const std::string &name) {
        const TargetInfo &target = require(name);
        nb::dict rows;
        for (const std::string &option : foreignOptionNames(target)) {
          std::optional<ForeignOption> row = foreignOption(target, option);
          rows[option.c_str()] = nb::make_tuple(row->note, row->isError);
        }
        return rows;
      },
      nb::arg("target"),
      "Launch options that only other compilers know: name -> (note, leaving it out is an error).");
  m.def(
      "parse_option",
      [](const std::string &name, const std::string &option, const std::string &value) {
        std::string problem;
        std::optional<OptionValue> parsed =
            parseOption(requireOption(require(name), option), value, problem);
        if (!parsed)
          throw nb::value_error(problem.c_str());
        return toPython(*parsed);
      },
      nb::arg("target"), nb::arg("option"), nb::arg("text"),
      "The value that a text stands for; ValueError says what the option takes.");
  m.def(
      "check_option",
      [](const std::string &name, const std::string &option, nb::handle value) {
        std::string problem = checkOption(requireOption(require(name), option), fromPython(value));
        if (!problem.empty())
          throw nb::value_error(problem.c_str());
      },
      nb::arg("target"), nb::arg("option"), nb::arg("value"),
      "ValueError, with what the option takes, when the value is none that it can have.");
  m.def(
      "target_cache_id",
      [](const std::string &name, const nb::dict &options) {
        const TargetInfo &target = require(name);
        OptionValues values;
        for (auto [key, value] : options)
          if (std::string option = nb::cast<std::string>(key);
              target.option(option) && !value.is_none())
            values[option] = fromPython(value);
        return std::string(target.name) + "\n" + target.cacheId(values);
      },
      nb::arg("target"), nb::arg("options"),
      "What decides the target's code beside sources and options, e.g. the processor.");
}
