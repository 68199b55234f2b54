// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of what only some machines have: single threads, their shared memory,
// vectors and instructions. The rules of the language know nothing of them beyond
// the name; the target says why it lacks one and what to write instead.
#include "Rules.h"

using namespace nereid;
using namespace nereid::frontend;

Value nereid::frontend::targetOnly(Semantic &s, const BoundArgs &args) {
  const TargetInfo &target = *s.options.target;
  const TargetLack *lack = target.lack(args.info.module, args.info.name);
  fail(Diag::target_lacks, args.range, functionName(args.info), std::string(target.name),
       std::string(lack ? lack->why : "the target has no code for it"),
       std::string(lack ? lack->instead : ""));
}

#define NEREID_LACKING(MODULE, NAME)                                                               \
  {MODULE, NAME, "*args, **options", false, targetOnly, "Only on machines with such threads."}
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
