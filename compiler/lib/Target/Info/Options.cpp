// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options are rows of tables: of each target, and the ones below of all.
// Everybody who takes one reads it here (a launch, the environment, a command
// line), so that a wrong value has the same message everywhere.
//
// At the end stand the options of other compilers. A kernel written for a GPU
// or an NPU passes them with every launch, and is to run unchanged: a name that
// stands there, or in another target's table, has no effect (one is an error that
// says what to do instead), and NEREID_EXPLAIN=1 says so. Any other name is taken
// for a misspelling.
#include "nereid/Target/TargetInfo.h"

#include <charconv>

using namespace nereid;

const std::vector<TargetOption> &nereid::commonOptions() {
  using Kind = TargetOption::Kind;
  static const std::vector<TargetOption> table = {
      {"debug", Kind::Switch, "0", "tl.device_assert is active", {}, "NEREID_DEBUG"},
      {"instrument",
       Kind::Switch,
       "0",
       "the kernel tells observers of its loads, stores and atomics; targets that cannot refuse it",
       {},
       "NEREID_INSTRUMENT"},
      {"portable",
       Kind::Switch,
       "0",
       "what the language has beyond Triton's is an error",
       {},
       "NEREID_PORTABLE"},
      {"unused_token",
       Kind::Text,
       "error",
       "a dl.wait whose token is not used",
       {"error", "warn", "keep"},
       "NEREID_UNUSED_TOKEN"},
  };
  return table;
}

static std::string choicesText(const TargetOption &option) {
  std::string text;
  for (std::string_view choice : option.choices)
    text += (text.empty()                      ? ""
             : choice == option.choices.back() ? " or "
                                               : ", ") +
            std::string(choice);
  return text;
}

static std::string kindText(const TargetOption &option) {
  switch (option.kind) {
  case TargetOption::Kind::Switch:
    return "True or False";
  case TargetOption::Kind::Number:
    return "a whole number";
  case TargetOption::Kind::Text:
    break;
  }
  return option.choices.empty() ? "a text" : choicesText(option);
}

std::string nereid::checkOption(const TargetOption &option, const OptionValue &value) {
  std::string takes = "the option '" + std::string(option.name) + "' takes " + kindText(option);
  if (value.index() != size_t(option.kind))
    return takes;
  if (const auto *text = std::get_if<std::string>(&value); text && !option.choices.empty()) {
    for (std::string_view choice : option.choices)
      if (choice == *text)
        return "";
    return takes + ", not '" + *text + "'";
  }
  return "";
}

std::optional<OptionValue> nereid::parseOption(const TargetOption &option, std::string_view text,
                                               std::string &error) {
  std::optional<OptionValue> value;
  switch (option.kind) {
  case TargetOption::Kind::Switch:
    // As in the environment.
    if (text == "1" || text == "true" || text == "yes" || text == "on")
      value = true;
    else if (text.empty() || text == "0" || text == "false" || text == "no" || text == "off")
      value = false;
    break;
  case TargetOption::Kind::Number: {
    int64_t number = 0;
    auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code == std::errc() && end == text.data() + text.size())
      value = number;
    break;
  }
  case TargetOption::Kind::Text:
    value = std::string(text);
    break;
  }
  error = value ? checkOption(option, *value)
                : "the option '" + std::string(option.name) + "' takes " + kindText(option) +
                      ", not '" + std::string(text) + "'";
  return error.empty() ? value : std::nullopt;
}

OptionValue nereid::optionValue(const TargetOption &option, const OptionValues &values) {
  if (auto found = values.find(option.name); found != values.end())
    return found->second;
  std::string error;
  return *parseOption(option, option.byDefault, error);
}

//===----------------------------------------------------------------------===//
// Options of other compilers
//===----------------------------------------------------------------------===//

namespace {
/// Launch options of Triton's compilers for other machines. Files written for them
/// pass these with every launch. None changes what a kernel computes, except where
/// the row has an error.
struct ForeignRow {
  const char *of;
  std::vector<std::string_view> names;
  const char *error = nullptr;
};
} // namespace

static const std::vector<ForeignRow> &foreignRows() {
  static const std::vector<ForeignRow> rows = {
      {"an option of the compilers for GPUs",
       {"num_warps",
        "num_ctas",
        "num_stages",
        "maxnreg",
        "minnreg",
        "cluster_dims",
        "ptx_version",
        "ptx_options",
        "launch_cooperative_grid",
        "launch_cluster",
        "launch_pdl",
        "enable_warp_specialization",
        "enable_persistent",
        "optimize_epilogue",
        "num_buffers_warp_spec",
        "num_consumer_groups",
        "num_dynamic_multicast",
        "reg_dec_producer",
        "reg_inc_consumer",
        "supported_fp8_dtypes",
        "deprecated_fp8_dtypes",
        "deprecated_fp8_dot_operand_dtypes",
        "max_num_imprecise_acc_default",
        "backend_name",
        "instrumentation_mode",
        "schedule_hint",
        "sched_hint",
        "grf_mode",
        "threads_per_warp",
        "loop_scheduling",
        "default_dot_input_precision",
        "allowed_dot_input_precisions",
        "extern_libs",
        "arch",
        "sanitize_overflow",
        "warp_size",
        "waves_per_eu",
        "matrix_instr_nonkdim",
        "kpack",
        "allow_fp8e4nv"}},
      {"an option of the compilers for Ascend",
       {"multibuffer",
        "enable_auto_bind_sub_block",
        "auto_tile_and_bind_subblock",
        "enable_hivm_auto_cv_balance",
        "sync_solver",
        "unit_flag",
        "inject_barrier_all",
        "inject_block_all",
        "limit_auto_multi_buffer_only_for_local_buffer",
        "limit_auto_multi_buffer_of_local_buffer",
        "set_workspace_multibuffer",
        "tile_mix_vector_loop",
        "tile_mix_cube_loop",
        "disable_auto_inject_block_sync",
        "enable_nd2nz_on_vector",
        "enable_select_analysis",
        "enable_mixed_cv",
        "enable_ubuf_saving",
        "optimize_dynamic_offset",
        "enable_mask_fallback_conversion",
        "auto_blockify_size",
        "compile_mode",
        "force_simt_only",
        "force_simt_template",
        "mix_mode",
        "parallel_mode",
        "shared_mem_dynamic_size",
        "bisheng_options",
        "use_bytecode",
        "enable_linearize",
        "enable_flatten",
        "enable_drop_unit_dims",
        "enable_auto_vectorize_v2",
        "enable_vf_fusion",
        "enable_bishengir_simt_optimization",
        "simt_stack_limit",
        "disable_size_align_for_cast",
        "enable_cce_vf_auto_sync",
        "enable_cce_vf_remove_membar",
        "enable_auto_blockify",
        "add_auto_scheduling",
        "enable_sync_block_lock"}},
      {"the name of a file that replaces the kernel's code",
       {"ir_override"},
       "put the kernel's IR into a folder as KERNEL.ttir and set NEREID_OVERRIDE to it"},
  };
  return rows;
}

std::optional<ForeignOption> nereid::foreignOption(const TargetInfo &target,
                                                   std::string_view name) {
  if (target.option(name))
    return std::nullopt;
  std::string subject = "'" + std::string(name) + "' is ";
  std::string without = "; the target " + std::string(target.name);
  for (const TargetInfo *other : targetInfos())
    for (const TargetOption &row : other->options)
      if (row.name == name)
        return ForeignOption{subject + "an option of the target " + std::string(other->name) +
                             without + " has none of that name, so that it has no effect"};
  for (const ForeignRow &row : foreignRows())
    for (std::string_view known : row.names)
      if (known == name)
        return row.error ? ForeignOption{subject + row.of + without + " takes none: " + row.error,
                                         /*isError=*/true}
                         : ForeignOption{subject + row.of + without +
                                         " does without, so that it has no effect"};
  return std::nullopt;
}

std::vector<std::string> nereid::foreignOptionNames(const TargetInfo &target) {
  std::vector<std::string> names;
  auto add = [&](std::string_view name) {
    if (!target.option(name))
      names.emplace_back(name);
  };
  for (const TargetInfo *other : targetInfos())
    for (const TargetOption &row : other->options)
      add(row.name);
  for (const ForeignRow &row : foreignRows())
    for (std::string_view name : row.names)
      add(name);
  return names;
}
