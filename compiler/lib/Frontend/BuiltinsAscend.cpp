// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules of the Ascend extension: hints, synchronisation inside an AI core, other
// names of functions of the language, and what only the hardware has. Slices,
// indexed accesses, sorting and sub_vec_id stand with their families.
#include "Rules.h"

using namespace nereid;
using namespace nereid::frontend;

//===----------------------------------------------------------------------===//
// Hints
//===----------------------------------------------------------------------===//

static Value compileHint(Semantic &s, const BoundArgs &args) {
  tensorArg(s, args, 0);
  s.constexprString(args, 1);
  if (!args[2].isNone() && !args[2].isConstexpr())
    fail(Diag::not_constexpr, args.ranges[2], "hint_val", functionName(args.info),
         args[2].describe());
  return args[0];
}

static Value multibuffer(Semantic &s, const BoundArgs &args) {
  tensorArg(s, args, 0);
  Int size = s.constexprInt(args, 1);
  if (size != 2)
    fail(Diag::argument_out_of_range, args.ranges[1], toString(size), "the number of buffers", "2",
         "2");
  return args[0];
}

//===----------------------------------------------------------------------===//
// Synchronisation
//===----------------------------------------------------------------------===//

static void checkEvent(Semantic &s, const BoundArgs &args, unsigned i) {
  if (args[i].isTensor()) {
    intScalarArg(s, args, i, Scalar::Int64);
    return;
  }
  Int event = s.constexprInt(args, i);
  if (event < 0 || event > 15)
    fail(Diag::argument_out_of_range, args.ranges[i], toString(event), "event_id", "0", "15");
}

/// With several vector cores only one of them runs with the cube code; the flags
/// that the others would wait for do not exist.
static void refuseSeveralCores(Semantic &s, const BoundArgs &args) {
  if (s.options.profile->subVecNum > 1)
    fail(Diag::target_lacks, args.range, functionName(args.info) + " with several vector cores",
         std::string(s.options.target->name), "vector cores have no flags from the cube core",
         "use the host profile, which has one vector core: nereid info names the profiles");
}

/// "cube", the sender; its receiver is the other kind of core.
static std::string senderArg(Semantic &s, const BoundArgs &args) {
  std::string sender = choiceArg(s, args, 0, {"cube", "vector"});
  std::string receiver = choiceArg(s, args, 1, {"cube", "vector"});
  if (sender == receiver)
    fail(Diag::argument_kind, args.ranges[1], "receiver", functionName(args.info),
         "the other kind of core than sender", "'" + receiver + "'",
         "a core does not signal itself");
  checkEvent(s, args, 2);
  return sender;
}

static std::string flagName(const BoundArgs &args, const std::string &sender) {
  return sender + " " + (args[2].is<Int>() ? toString(args[2].as<Int>()) : std::string("?"));
}

/// A program runs its cube and its vector code in the order in which they are
/// written, so a flag that is set above the wait is there. One that is set below
/// would never come.
static Value syncBlockSet(Semantic &s, const BoundArgs &args) {
  refuseSeveralCores(s, args);
  s.coreFlags.insert(flagName(args, senderArg(s, args)));
  s.emit<tt::BarrierOp>(args.range);
  return None{};
}

static Value syncBlockWait(Semantic &s, const BoundArgs &args) {
  refuseSeveralCores(s, args);
  std::string sender = senderArg(s, args);
  bool known = s.coreFlags.contains(flagName(args, sender)) || s.coreFlags.contains(sender + " ?");
  if (!args[2].is<Int>())
    known = llvm::any_of(s.coreFlags, [&](const auto &flag) {
      return llvm::StringRef(flag).starts_with(sender + " ");
    });
  if (!known)
    fail(Diag::core_flag_order, args.range, sender,
         args[2].is<Int>() ? "event " + toString(args[2].as<Int>()) : std::string("this event"));
  s.emit<tt::BarrierOp>(args.range);
  return None{};
}

static Value syncBlockAll(Semantic &s, const BoundArgs &args) {
  std::string mode = choiceArg(s, args, 0, {"all_cube", "all_vector", "all", "all_sub_vector"});
  checkEvent(s, args, 1);
  if (mode == "all_sub_vector" && s.options.profile->subVecNum == 1) {
    s.emit<tt::BarrierOp>(args.range); // one vector core: nobody to wait for
    return None{};
  }
  fail(Diag::target_lacks, args.range, "al.sync_block_all('" + mode + "')",
       std::string(s.options.target->name), "programs of a launch have no barrier of their own",
       "split the kernel into two launches, or call libshmem_device.barrier_all() when all ranks "
       "run this kernel");
}

//===----------------------------------------------------------------------===//
// Other names
//===----------------------------------------------------------------------===//

static Value castRule(Semantic &s, const BoundArgs &args) {
  return findBuiltin("tl", "cast")->rule(s, args);
}
static Value libdeviceRule(Semantic &s, const BoundArgs &args) {
  return findBuiltin("libdevice", args.info.name)->rule(s, args);
}

static Value int64Rule(Semantic &s, const BoundArgs &args) {
  if (args[0].is<Int>() || args[0].is<bool>())
    return s.constant(args[0], Scalar::Int64, args.range);
  return intScalarArg(s, args, 0, Scalar::Int64);
}

//===----------------------------------------------------------------------===//
// What only the hardware has
//===----------------------------------------------------------------------===//

static const BuiltinInfo rows[] = {
    {"al", "compile_hint", "ptr, hint_name, hint_val=None", false, compileHint,
     "A hint for the Ascend compiler; no effect on what the kernel computes. Returns ptr.\n\n"
     "hint_name: a string; hint_val: None, a bool, an integer, a string or a tuple of integers, "
     "known at compile time."},
    {"al", "multibuffer", "src, size", false, multibuffer,
     "A hint that src is buffered twice (size is 2); no effect on what the kernel computes. "
     "Returns src."},
    {"al", "sync_block_set", "sender, receiver, event_id, sender_pipe=None, receiver_pipe=None",
     false, syncBlockSet,
     "Sets a flag from the cube core to the vector cores of its AI core, or the other way "
     "round.\n\n"
     "sender, receiver: \"cube\" and \"vector\". event_id: 0 to 15, or an integer scalar. A "
     "program "
     "runs its\n"
     "cube and vector code in the order of the text, so the flag is there for every later wait."},
    {"al", "sync_block_wait", "sender, receiver, event_id, sender_pipe=None, receiver_pipe=None",
     false, syncBlockWait,
     "Waits for a flag of al.sync_block_set, which must stand above it in the text: below it, it "
     "would never come,\n"
     "and is an error."},
    {"al", "sync_block_all", "mode, event_id", false, syncBlockAll,
     "Barrier among cores: \"all_sub_vector\" among the vector cores of one AI core (where the "
     "profile has one of\n"
     "them), \"all_cube\", \"all_vector\" and \"all\" among those of the whole launch (an error).\n"
     "event_id: 0 to 15."},
    {"al", "cast", "input, dtype, fp_downcast_rounding=None, bitcast=False, overflow_mode=None",
     false, castRule, "tl.cast under the extension's name."},
    {"al", "atan2", "y, x", false, libdeviceRule,
     "Angle of the point (x, y), for floating operands."},
    {"al", "isfinited", "x", false, libdeviceRule, "int1: is it finite?"},
    {"al", "finitef", "x", false, libdeviceRule, "int1: is it finite?"},
    {"al", "int64", "x", false, int64Rule, "A number as an int64 scalar."},
    {"al", "custom", "name, *args, out=None, **attributes", false, targetOnly,
     "Only on Ascend: a custom operation for Ascend."},
    {"al", "custom_semantic", "name, *args, out=None, **attributes", false, targetOnly,
     "Only on Ascend: a custom operation for Ascend."},
    {"al", "copy", "src, dst", false, targetOnly,
     "Only on Ascend: a copy between on-chip buffers."},
    {"al", "copy_from_ub_to_l1", "src, dst", false, targetOnly,
     "Only on Ascend: a copy between on-chip buffers."},
    {"al", "fixpipe", "src, dst, dma_mode=None, dual_dst_mode=None", false, targetOnly,
     "Only on Ascend: a copy from the cube core's accumulator to a buffer."},
    {"bl", "alloc", "etype, shape, _address_space=None, is_mem_unique=False", false, targetOnly,
     "Only on Ascend: an on-chip buffer."},
    {"bl", "to_buffer", "tensor, space=None, bind_buffer=None", false, targetOnly,
     "Only on Ascend: a block as an on-chip buffer."},
    {"bl", "to_tensor", "memref, writable=True, target_shape=None", false, targetOnly,
     "Only on Ascend: an on-chip buffer as a block."},
    {"bl", "subview", "src, offsets, sizes, strides", false, targetOnly,
     "Only on Ascend: a window of a buffer."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::extensionRows() { return rows; }

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

namespace {
struct Enumeration {
  const char *name;
  std::vector<const char *> members; // numbered from 0
};
} // namespace

static const std::vector<Enumeration> &enumerations() {
  static const std::vector<Enumeration> table = {
      {"CORE", {"VECTOR", "CUBE", "CUBE_OR_VECTOR", "CUBE_AND_VECTOR"}},
      {"PIPE",
       {"PIPE_S", "PIPE_V", "PIPE_M", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_ALL",
        "PIPE_FIX"}},
      {"MODE", {"SIMD", "SIMT", "MIX"}},
      {"IteratorType",
       {"Parallel", "Broadcast", "Transpose", "Reduction", "Interleave", "Deinterleave", "Inverse",
        "Pad", "Concat", "Gather", "Cumulative", "Opaque"}},
      {"SYNC_IN_VF",
       {"VV_ALL", "VST_VLD", "VLD_VST", "VST_VST", "VS_ALL", "VST_LD", "VLD_ST", "VST_ST", "SV_ALL",
        "ST_VLD", "LD_VST", "ST_VST"}},
      {"FixpipeDMAMode", {"NZ2DN", "NZ2ND", "NZ2NZ"}},
      {"FixpipeDualDstMode", {"NO_DUAL", "COLUMN_SPLIT", "ROW_SPLIT"}},
      {"ascend_address_space", {"UB", "L1", "L0A", "L0B", "L0C"}},
  };
  return table;
}

std::vector<std::string> nereid::frontend::extensionEnumerations() {
  std::vector<std::string> names;
  for (const Enumeration &enumeration : enumerations())
    names.push_back(std::string("al.") + enumeration.name);
  return names;
}

std::vector<std::string> nereid::frontend::extensionMembers(llvm::StringRef module) {
  std::vector<std::string> names;
  for (const Enumeration &enumeration : enumerations())
    if (module == std::string("al.") + enumeration.name)
      names.assign(enumeration.members.begin(), enumeration.members.end());
  return names;
}
