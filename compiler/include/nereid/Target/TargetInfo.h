// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of a target without its code generator: its name, options,
// stages, what it lacks, and what decides the code that it makes. Launches read
// it, so nothing in here needs LLVM; Target.h has the rest.
#ifndef NEREID_TARGET_TARGETINFO_H
#define NEREID_TARGET_TARGETINFO_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace nereid {

/// The value of an option, by its kind.
using OptionValue = std::variant<bool, int64_t, std::string>;

/// An option of a compilation. Its row gives parsing, help and messages.
struct TargetOption {
  enum class Kind { Switch, Number, Text };
  std::string_view name;
  Kind kind;
  std::string_view byDefault; ///< as text: "1", "4", "host"
  std::string_view help;
  std::vector<std::string_view> choices = {}; ///< of a text; empty: any
  std::string_view variable = {};             ///< environment variable that sets it; "": none
};

/// Something that `--emit` writes: the module after a phase, or what the target
/// emits when all phases have run.
struct TargetStage {
  std::string_view name;      ///< "cpu-tiles"
  std::string_view extension; ///< of a file: "mlir"
  bool isText;
  std::string_view help;
  std::string_view phase = {}; ///< the phase after which the module is the stage; "": emitted
};

/// A function of the language that a target lacks.
struct TargetLack {
  std::string_view module;  ///< "dl"
  std::string_view name;    ///< "simt_exec_region"; "*": every other one of the module
  std::string_view why;     ///< "a program is one thread"
  std::string_view instead; ///< what to write
};

/// Options by name, each of the kind that the table says.
using OptionValues = std::map<std::string, OptionValue, std::less<>>;

struct TargetInfo {
  std::string_view name; ///< "cpu"
  std::string_view description;
  std::string_view defaultProfile; ///< rules of the language when none are asked for
  /// The device of the runtime that runs its kernels; "": they can be compiled only.
  std::string_view device;
  std::vector<TargetOption> options; ///< beside those of every target
  /// Beside those of every target, in the order in which they are made; the last is
  /// what is kept and loaded.
  std::vector<TargetStage> stages;
  std::vector<TargetLack> lacks;
  /// Everything outside the sources and options that decides the code: versions and
  /// features of the processor. Part of the key of every cached kernel.
  std::string (*cacheId)(const OptionValues &options);
  /// The Python package that makes the last stages, and the one version of it that
  /// this is made for, "triton==3.6.0"; "": none. Part of the key as well.
  std::string_view tool = {};
  /// Its code can tell observers of its accesses (distributed.access).
  bool tellsAccesses = false;

  /// Of this target, else of every target; null when there is none of that name.
  const TargetStage *stage(std::string_view name) const;
  /// Is that every target's stage, which this one does not replace by its own?
  bool isCommonStage(std::string_view name) const;
  /// Those of every target that it does not replace, then its own.
  std::vector<TargetStage> allStages() const;
  std::string stageNames() const; ///< "ttir, cpu-tiles, ..."
  /// The row for a function of the language; null when the target has it.
  const TargetLack *lack(std::string_view module, std::string_view name) const;
  /// Of this target, or of every target; null when there is none of that name.
  const TargetOption *option(std::string_view name) const;
};

//===----------------------------------------------------------------------===//
// The targets of this build
//===----------------------------------------------------------------------===//

/// In the order of compiler/lib/Target/targets.cmake; the first is the default.
const std::vector<const TargetInfo *> &targetInfos();
const TargetInfo *findTargetInfo(std::string_view name);
/// The default; a target without stages, named "none", in a build without targets.
const TargetInfo &defaultTargetInfo();
/// "unknown target 'x'; this build has the targets cpu", for messages.
std::string unknownTarget(std::string_view name);

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// The stages that every target has: "ttir", the kernel as the front end wrote it.
const std::vector<TargetStage> &commonStages();

/// The options that every target has.
const std::vector<TargetOption> &commonOptions();

/// The value that `text` stands for; nullopt, with the reason in `error`, when it
/// stands for none.
std::optional<OptionValue> parseOption(const TargetOption &option, std::string_view text,
                                       std::string &error);
/// "" when `value` can be the option's, else what is wrong with it.
std::string checkOption(const TargetOption &option, const OptionValue &value);
/// The option's value in `values`, else its default.
OptionValue optionValue(const TargetOption &option, const OptionValues &values);
template <typename T>
T optionValue(const TargetInfo &target, std::string_view name, const OptionValues &values) {
  return std::get<T>(optionValue(*target.option(name), values));
}

/// What a launch option that `target` does not have is elsewhere.
struct ForeignOption {
  std::string note;     ///< "num_warps is an option of ...; the target cpu does without"
  bool isError = false; ///< leaving it out would change what the kernel computes
};
/// nullopt when no target that Nereid knows of has the option.
std::optional<ForeignOption> foreignOption(const TargetInfo &target, std::string_view name);
/// The names that foreignOption knows for `target`.
std::vector<std::string> foreignOptionNames(const TargetInfo &target);

} // namespace nereid

#endif // NEREID_TARGET_TARGETINFO_H
