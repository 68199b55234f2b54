# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel of ring_sum.cpp."""

import nereid
import nereid.distributed as dl
import nereid.language as tl


@nereid.jit
def ring_sum(x_ptr, inbox_ptr, signal_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """out = x + (the x of the rank before this one), block by block."""
    next_rank = (dl.rank() + 1) % dl.num_ranks()
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    mine = tl.load(x_ptr + offs, mask=mask)
    tl.store(dl.symm_at(inbox_ptr, next_rank) + offs, mine, mask=mask)
    dl.notify(signal_ptr + pid, next_rank, signal=1, sig_op="set", comm_scope="intra_node")
    token = dl.wait(signal_ptr + pid, 1, "gpu", "acquire", waitValue=1)
    theirs = tl.load(dl.consume_token(inbox_ptr, token) + offs, mask=mask)
    tl.store(out_ptr + offs, mine + theirs, mask=mask)
