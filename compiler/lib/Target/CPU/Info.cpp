// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What launches know of the CPU target. No LLVM in here.
#include "nereid/Target/TargetInfo.h"

#include <fstream>

namespace nereid {
const TargetInfo &infoOfCPU();
}

using namespace nereid;

/// The processor that code is made for: the level, or this machine's model and
/// features.
static std::string cacheId(const OptionValues &options) {
  std::string level = optionValue<std::string>(infoOfCPU(), "cpu", options);
  if (level != "host")
    return level;
  static const std::string host = [] {
    std::string id = "host";
    std::ifstream info("/proc/cpuinfo");
    // The lines of the first processor.
    for (std::string line; std::getline(info, line) && !line.empty();) {
      std::string name = line.substr(0, line.find_first_of("\t:"));
      for (const char *wanted : {"model name", "flags", "Features", "CPU implementer", "CPU part"})
        if (name == wanted)
          id += "\n" + line;
    }
    return id;
  }();
  return host;
}

//===----------------------------------------------------------------------===//
// What the CPU lacks
//===----------------------------------------------------------------------===//

static constexpr std::string_view sharedMemory =
    "there is no memory shared by the threads of a program";
static constexpr std::string_view vectors = "vectors belong to single threads of a GPU";
static constexpr std::string_view instructions = "it is an instruction of NVIDIA's GPUs";
static constexpr std::string_view memories =
    "it moves data between memories inside an AI core of Ascend 950";
static constexpr std::string_view custom = "custom operations are device code for Ascend";
static constexpr std::string_view buffers =
    "buffers of on-chip memory are changed in place, which values of the kernel are not";

static constexpr std::string_view useBlockValues =
    "keep the values in a block: tl.zeros, tl.where, tl.gather";
static constexpr std::string_view useBlockAccess =
    "load and store blocks of elements: tl.load(ptr + tl.arange(0, N))";
static constexpr std::string_view useBlockPointers =
    "use tl.load and tl.store on blocks of pointers";
static constexpr std::string_view useAtomics =
    "use tl.atomic_add, tl.atomic_cas with sem= and scope=";
static constexpr std::string_view useSignals =
    "use dl.wait and dl.notify, or libshmem_device's signals";
static constexpr std::string_view useNothing =
    "leave it out: values of the kernel need no place on the CPU";
static constexpr std::string_view useExtensions =
    "write it with functions of tl and al; for the built-in ones use al.index_select_simd, "
    "al.index_put, al.gather_out_to_ub, al.scatter_ub_to_out";
static constexpr std::string_view useBlocks =
    "use blocks: tl.zeros, al.insert_slice, al.extract_slice";

static std::vector<TargetLack> lacks() {
  return {
      {"dl", "extract", vectors, useBlockAccess},
      {"dl", "insert", vectors, useBlockAccess},
      {"dl", "vector", vectors, useBlockAccess},
      {"dl", "make_vector", vectors, useBlockAccess},
      {"dl", "zeros_vector", vectors, useBlockAccess},
      {"dl", "ld_vector", vectors, useBlockAccess},
      {"dl", "st_vector", vectors, useBlockAccess},
      {"dl", "allocate_smem", sharedMemory, useBlockValues},
      {"dl", "smem_index", sharedMemory, useBlockValues},
      {"dl", "smem_load", sharedMemory, useBlockValues},
      {"dl", "smem_store", sharedMemory, useBlockValues},
      {"dl", "smem_get_ptr", sharedMemory, useBlockValues},
      {"dl", "smem_dealloc", sharedMemory, useBlockValues},
      {"dl", "get_smem_shared_address_u32", sharedMemory, useBlockValues},
      {"dl", "tma", instructions, "use tl.make_tensor_descriptor with desc.load and desc.store"},

      {"language_extra", "atomic_add_per_warp", instructions, useAtomics},
      {"language_extra", "smid", instructions, "use tl.program_id for the program"},
      {"language_extra", "globaltimer", instructions, "measure time on the host"},
      {"language_extra", "pack", vectors, useBlockAccess},
      {"language_extra", "unpack", vectors, useBlockAccess},
      {"language_extra", "pack_b32_v2", instructions, "use shifts and |"},
      {"language_extra", "sync_grid", instructions, useSignals},
      {"language_extra", "tma_sync", instructions, useSignals},
      {"language_extra", "wait_eq", instructions, useSignals},
      {"language_extra", "arrive_inc", instructions, useSignals},
      {"language_extra", "ld_vector", vectors, useBlockAccess},
      {"language_extra", "st_vector", vectors, useBlockAccess},
      {"language_extra", "load_v2_b64", instructions, useBlockPointers},
      {"language_extra", "load_v4_u32", instructions, useBlockPointers},
      {"language_extra", "st_v2_u32", instructions, useBlockPointers},
      {"language_extra", "st_v4_b32", instructions, useBlockPointers},
      {"language_extra", "multimem_st_b32", instructions, useBlockPointers},
      {"language_extra", "multimem_st_b64", instructions, useBlockPointers},
      {"language_extra", "multimem_st_p_b32", instructions, useBlockPointers},
      {"language_extra", "multimem_st_v2", instructions, useBlockPointers},
      {"language_extra", "multimem_st_v4", instructions, useBlockPointers},
      {"language_extra", "multimem_ld_reduce_v4", instructions, useBlockPointers},

      {"libshmem_device", "remote_mc_ptr", "it has no multicast addresses",
       "write to each rank with dl.symm_at or putmem"},

      {"al", "custom", custom, useExtensions},
      {"al", "custom_semantic", custom, useExtensions},
      {"al", "copy", memories, useNothing},
      {"al", "copy_from_ub_to_l1", memories, useNothing},
      {"al", "fixpipe", memories, useNothing},
      {"bl", "*", buffers, useBlocks},
  };
}

//===----------------------------------------------------------------------===//
// The target
//===----------------------------------------------------------------------===//

const TargetInfo &nereid::infoOfCPU() {
  using Kind = TargetOption::Kind;
  static const TargetInfo info = {
      "cpu",
      "machine code for x86-64 processors, in vectors of 128 to 512 bits",
      "host",
      "cpu",
      {
          {"enable_fp_fusion", Kind::Switch, "1", "a * b + c may be rounded once instead of twice"},
          {"cpu",
           Kind::Text,
           "host",
           "the processor to compile for",
           {"host", "x86-64-v2", "x86-64-v3", "x86-64-v4"},
           "NEREID_CPU"},
      },
      {
          {"simplified", "mlir", true, "TTIR after the passes that all targets share", "simplify"},
          {"cpu-tiles", "mlir", true, "loops over vectors and buffers", "tiles"},
          {"llvm-dialect", "mlir", true, "the kernel's function in MLIR's LLVM dialect",
           "lowering"},
          {"llvm", "ll", true, "optimised LLVM IR"},
          {"asm", "s", true, "assembly"},
          {"obj", "o", false, "a relocatable object file"},
      },
      lacks(),
      cacheId,
      /*tool=*/"",
      /*tellsAccesses=*/true,
  };
  return info;
}
