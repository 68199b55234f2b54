// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What launches know of the target for NVIDIA's GPUs. No LLVM in here.
#include "Info.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace nereid;

/// The compute capability of this machine's first GPU, 90 for 9.0; 0: there is none.
static int hostArch() {
  static const int arch = [] {
    const char *named = std::getenv("NEREID_CUDA_DRIVER"); // as the runtime's device
    void *library = dlopen(named && *named ? named : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return 0;
    auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"));
    auto get = reinterpret_cast<int (*)(int *, int)>(dlsym(library, "cuDeviceGet"));
    auto ask = reinterpret_cast<int (*)(int *, int, int)>(dlsym(library, "cuDeviceGetAttribute"));
    int device = 0, major = 0, minor = 0;
    constexpr int majorAttribute = 75, minorAttribute = 76; // CU_DEVICE_ATTRIBUTE_COMPUTE_...
    if (!init || !get || !ask || init(0) != 0 || get(&device, 0) != 0 ||
        ask(&major, majorAttribute, device) != 0 || ask(&minor, minorAttribute, device) != 0)
      return 0;
    return major * 10 + minor;
  }();
  return arch;
}

int nereid::cuda::archOf(const OptionValues &options) {
  std::string arch = optionValue<std::string>(infoOfCUDA(), "arch", options);
  return arch == "host" ? hostArch() : std::stoi(arch.substr(3));
}

static std::string cacheId(const OptionValues &options) {
  return "sm_" + std::to_string(cuda::archOf(options));
}

//===----------------------------------------------------------------------===//
// What the target lacks
//===----------------------------------------------------------------------===//

static constexpr std::string_view threads =
    "the threads of a program are Triton's, which divides blocks among them";
static constexpr std::string_view memories =
    "it moves data between memories inside an AI core of Ascend 950";
static constexpr std::string_view custom = "custom operations are device code for Ascend";
static constexpr std::string_view buffers =
    "buffers of on-chip memory are changed in place, which values of the kernel are not";

static constexpr std::string_view useBlocks =
    "write blocks of elements: tl.arange, tl.load and tl.store with masks";
static constexpr std::string_view useSignals =
    "use dl.wait and dl.notify, libshmem_device's signals, or tl.atomic_* with sem= and scope=";
static constexpr std::string_view useNothing =
    "leave it out: Triton finds places for the values of a kernel";

static std::vector<TargetLack> lacks() {
  return {
      {"dl", "simt_exec_region", threads, useBlocks},
      {"dl", "extract", threads, useBlocks},
      {"dl", "insert", threads, useBlocks},
      {"dl", "vector", threads, useBlocks},
      {"dl", "make_vector", threads, useBlocks},
      {"dl", "zeros_vector", threads, useBlocks},
      {"dl", "ld_vector", threads, useBlocks},
      {"dl", "st_vector", threads, useBlocks},
      {"dl", "allocate_smem", threads, useNothing},
      {"dl", "smem_index", threads, useNothing},
      {"dl", "smem_load", threads, useNothing},
      {"dl", "smem_store", threads, useNothing},
      {"dl", "smem_get_ptr", threads, useNothing},
      {"dl", "smem_dealloc", threads, useNothing},
      {"dl", "get_smem_shared_address_u32", threads, useNothing},
      {"dl", "tma", threads, "use tl.make_tensor_descriptor with desc.load and desc.store"},
      {"language_extra", "*", threads, useSignals},
      {"libshmem_device", "remote_mc_ptr", "nothing here uses multicast addresses",
       "write to each rank with dl.symm_at or putmem"},
      {"al", "custom", custom, useBlocks},
      {"al", "custom_semantic", custom, useBlocks},
      {"al", "copy", memories, useNothing},
      {"al", "copy_from_ub_to_l1", memories, useNothing},
      {"al", "fixpipe", memories, useNothing},
      {"bl", "*", buffers, "use blocks: tl.zeros, al.insert_slice, al.extract_slice"},
  };
}

//===----------------------------------------------------------------------===//
// The target
//===----------------------------------------------------------------------===//

const TargetInfo &nereid::infoOfCUDA() {
  using Kind = TargetOption::Kind;
  static const TargetInfo info = {
      "cuda",
      "machine code for NVIDIA's GPUs from compute capability 8.0 on, by the package triton",
      "host",
      /*device=*/"cuda",
      {
          {"num_warps", Kind::Number, "4", "groups of 32 threads that run a program"},
          {"num_stages", Kind::Number, "3", "how many rounds of a loop Triton loads ahead"},
          {"num_ctas", Kind::Number, "1", "thread blocks, of one cluster, that run a program"},
          {"maxnreg", Kind::Number, "0", "most registers of a thread; 0: as Triton chooses"},
          {"enable_fp_fusion", Kind::Switch, "1", "a * b + c may be rounded once instead of twice"},
          {"arch",
           Kind::Text,
           "host",
           "the GPU to compile for",
           {"host", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120"},
           "NEREID_CUDA_ARCH"},
      },
      {
          {"simplified", "mlir", true, "TTIR after the passes that all targets share", "simplify"},
          {"cuda-ttir", "ttir", true, "what Triton reads: operations between ranks are lowered"},
          {"ttgir", "ttgir", true, "Triton's IR for GPUs"},
          {"ptx", "ptx", true, "assembly of NVIDIA's virtual machine"},
          {"cubin", "cubin", false, "machine code for the GPU"},
          {"obj", "o", false, "the object file: the machine code, and what a launch must know"},
      },
      lacks(),
      cacheId,
      "triton==" NEREID_TRITON_VERSION,
  };
  return info;
}
