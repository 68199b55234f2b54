// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/runtime/KernelCode.h"

namespace nereid::runtime {

const std::vector<RuntimeSymbol> &runtimeSymbols() {
#define NRD_SYMBOL(name)                                                                           \
  {                                                                                                \
    #name, reinterpret_cast<void *>(&name)                                                         \
  }
  static const std::vector<RuntimeSymbol> symbols = {
      NRD_SYMBOL(nrd_yield),
      NRD_SYMBOL(nrd_clock_ns),
      NRD_SYMBOL(nrd_wait),
      NRD_SYMBOL(nrd_notify),
      NRD_SYMBOL(nrd_fail_rank),
      NRD_SYMBOL(nrd_fail_not_symmetric),
      NRD_SYMBOL(nrd_fail_assert),
      NRD_SYMBOL(nrd_print),
      NRD_SYMBOL(nrd_barrier_all),
      NRD_SYMBOL(nrd_shmem_ptr),
      NRD_SYMBOL(nrd_shmem_put),
      NRD_SYMBOL(nrd_shmem_get),
      NRD_SYMBOL(nrd_shmem_put_signal),
      NRD_SYMBOL(nrd_shmem_signal_op),
      NRD_SYMBOL(nrd_shmem_p),
      NRD_SYMBOL(nrd_shmem_g),
      NRD_SYMBOL(nrd_shmem_wait_until),
      NRD_SYMBOL(nrd_shmem_fence),
      NRD_SYMBOL(nrd_shmem_quiet),
      NRD_SYMBOL(nrd_shmem_sync_all),
      NRD_SYMBOL(nrd_shmem_fence_pe),
      NRD_SYMBOL(nrd_shmem_quiet_pe),
      NRD_SYMBOL(nrd_shmem_atomic),
      NRD_SYMBOL(nrd_team_my_pe),
      NRD_SYMBOL(nrd_team_n_pes),
      NRD_SYMBOL(nrd_team_translate_pe),
      NRD_SYMBOL(nrd_team_barrier),
      NRD_SYMBOL(nrd_team_broadcast),
      NRD_SYMBOL(nrd_team_fcollect),
      NRD_SYMBOL(nrd_lane_share),
  };
#undef NRD_SYMBOL
  return symbols;
}

} // namespace nereid::runtime
