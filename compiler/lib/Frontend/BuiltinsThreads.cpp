// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: what kernels for GPUs say about single threads: their numbers, barriers
// among them, shared memory, vectors, instructions. A program is one thread on the
// CPU, and code that divides work by thread numbers would do a part of it only, so
// each is an error that says what to write instead.
#include "Rules.h"

using namespace nereid;
using namespace nereid::frontend;

static const char *const threads =
    "a program is one thread on the CPU, so work that is divided by threads would be lost";
static const char *const sharedMemory = "there is no memory shared by the threads of a program";
static const char *const vectors = "vectors belong to single threads of a GPU";
static const char *const instructions = "it is an instruction of NVIDIA's GPUs";

/// Why a name is not there, and what stands for it.
static std::pair<const char *, const char *> explain(llvm::StringRef module, llvm::StringRef name) {
  if (name.starts_with("smem") || name.contains("smem"))
    return {sharedMemory, "keep the values in a block: tl.zeros, tl.where, tl.gather"};
  if (name == "tma")
    return {instructions, "use tl.make_tensor_descriptor with desc.load and desc.store"};
  if (name == "simt_exec_region")
    return {threads,
            "write its body for blocks of elements: tl.arange, tl.load and tl.store with masks"};
  if (name.contains("vector") || name == "extract" || name == "insert")
    return {vectors, "load and store blocks of elements: tl.load(ptr + tl.arange(0, N))"};
  if (name == "ld" || name == "st" || name == "ld_acquire")
    return {threads,
            "use tl.load(ptr, volatile=True), tl.store, or dl.wait and dl.notify for signals"};
  if (name.starts_with("atomic") || name == "red_release")
    return {threads, "use tl.atomic_add, tl.atomic_cas with sem= and scope="};
  if (name == "__syncthreads" || name == "membar")
    return {threads, "leave it out: the accesses of a program happen in order; tl.debug_barrier() "
                     "marks the place"};
  if (name.contains("sync") || name.starts_with("wait") || name.starts_with("arrive"))
    return {instructions, "use dl.wait and dl.notify, or libshmem_device's signals"};
  if (name.contains("ld_") || name.contains("load_") || name.contains("st_") ||
      name.contains("multimem"))
    return {instructions, "use tl.load and tl.store on blocks of pointers"};
  return {threads, "use tl.arange for the elements, tl.program_id for the program"};
}

static Value lacking(Semantic &, const BoundArgs &args) {
  auto [why, instead] = explain(args.info.module, args.info.name);
  fail(Diag::target_lacks, args.range, functionName(args.info), why, instead);
}

#define NEREID_LACKING(MODULE, NAME)                                                               \
  {MODULE, NAME, "*args, **options", false, lacking, "Not on the CPU target."}
#define NEREID_EXTRA(NAME) NEREID_LACKING("language_extra", NAME)

static const BuiltinInfo rows[] = {
    NEREID_LACKING("dl", "simt_exec_region"),
    NEREID_LACKING("dl", "extract"),
    NEREID_LACKING("dl", "insert"),
    NEREID_LACKING("dl", "vector"),
    NEREID_LACKING("dl", "make_vector"),
    NEREID_LACKING("dl", "zeros_vector"),
    NEREID_LACKING("dl", "ld_vector"),
    NEREID_LACKING("dl", "st_vector"),
    NEREID_LACKING("dl", "allocate_smem"),
    NEREID_LACKING("dl", "smem_index"),
    NEREID_LACKING("dl", "smem_load"),
    NEREID_LACKING("dl", "smem_store"),
    NEREID_LACKING("dl", "smem_get_ptr"),
    NEREID_LACKING("dl", "smem_dealloc"),
    NEREID_LACKING("dl", "get_smem_shared_address_u32"),
    NEREID_LACKING("dl", "tma"),
    NEREID_EXTRA("tid"),
    NEREID_EXTRA("ntid"),
    NEREID_EXTRA("laneid"),
    NEREID_EXTRA("smid"),
    NEREID_EXTRA("num_warps"),
    NEREID_EXTRA("num_threads"),
    NEREID_EXTRA("threads_per_warp"),
    NEREID_EXTRA("__syncthreads"),
    NEREID_EXTRA("membar"),
    NEREID_EXTRA("ld"),
    NEREID_EXTRA("st"),
    NEREID_EXTRA("ld_acquire"),
    NEREID_EXTRA("red_release"),
    NEREID_EXTRA("atomic_add"),
    NEREID_EXTRA("atomic_cas"),
    NEREID_EXTRA("atomic_add_per_warp"),
    NEREID_EXTRA("pack"),
    NEREID_EXTRA("unpack"),
    NEREID_EXTRA("pack_b32_v2"),
    NEREID_EXTRA("globaltimer"),
    NEREID_EXTRA("__shfl_sync_i32"),
    NEREID_EXTRA("__shfl_up_sync_i32"),
    NEREID_EXTRA("__shfl_down_sync_i32"),
    NEREID_EXTRA("__shfl_xor_sync_i32"),
    NEREID_EXTRA("__ballot_sync"),
    NEREID_EXTRA("ld_b32"),
    NEREID_EXTRA("ld_vector"),
    NEREID_EXTRA("st_vector"),
    NEREID_EXTRA("load_v2_b64"),
    NEREID_EXTRA("load_v4_u32"),
    NEREID_EXTRA("st_v2_u32"),
    NEREID_EXTRA("st_v4_b32"),
    NEREID_EXTRA("multimem_st_b32"),
    NEREID_EXTRA("multimem_st_b64"),
    NEREID_EXTRA("multimem_st_p_b32"),
    NEREID_EXTRA("multimem_st_v2"),
    NEREID_EXTRA("multimem_st_v4"),
    NEREID_EXTRA("multimem_ld_reduce_v4"),
    NEREID_EXTRA("sync_grid"),
    NEREID_EXTRA("wait_eq"),
    NEREID_EXTRA("arrive_inc"),
    NEREID_EXTRA("tma_sync"),
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::threadRows() { return rows; }
