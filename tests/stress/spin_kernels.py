# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ways to wait for other programs by a loop written in the kernel.

Each function of WAYS returns when the flags[0..2] that `p` points to are all 1. They are
int32 and part of a group of 16.
"""

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device

WAYS = {}

#: Flags of one program.
GROUP = 16


def way(function):
    WAYS[function.__name__] = function
    return function


@way
@nereid.jit
def plain_load(p):
    while tl.load(p) != 1:
        pass
    while tl.load(p + 1) + tl.load(p + 2) != 2:
        pass


@way
@nereid.jit
def volatile_load(p):
    while tl.load(p + 2, volatile=True) == 0:
        pass


@way
@nereid.jit
def cache_hints(p):
    while tl.load(p + 2, cache_modifier=".cv", eviction_policy="evict_first") < 1:
        pass


@way
@nereid.jit
def compare_and_swap(p):
    while tl.atomic_cas(p + 2, 1, 1, sem="acquire") != 1:
        pass


@way
@nereid.jit
def read_by_adding_zero(p):
    while tl.atomic_add(p + 2, 0, sem="acquire", scope="sys") != 1:
        pass


@way
@nereid.jit
def several_conditions(p):
    while tl.load(p) == 0 or (tl.load(p + 1) == 0 or tl.load(p + 2) == 0):
        pass


@way
@nereid.jit
def flag_from_the_body(p):
    done = 0
    while done != 1:
        done = tl.load(p + 2)


@way
@nereid.jit
def branch_in_the_body(p):
    done = False
    while not done:
        if tl.load(p + 2) == 1:
            done = True


@way
@nereid.jit
def leaves_by_break(p):
    while True:
        if tl.load(p + 2) == 1:
            break


@way
@nereid.jit
def leaves_a_for_loop_by_break(p):
    for _ in range(1 << 30):
        if tl.load(p + 2) == 1:
            break


@way
@nereid.jit
def goes_on_by_continue(p):
    while True:
        if tl.load(p) == 0:
            continue
        if tl.load(p + 2) == 0:
            continue
        break


@way
@nereid.jit
def counts_its_tries(p):
    tries = 0
    while (tl.load(p + 2) == 0) & (tries < 1 << 30):
        tries += 1
    tl.device_assert(tries < 1 << 30)


@nereid.jit
def is_set(p):
    return tl.load(p) != 0


@way
@nereid.jit
def through_a_function(p):
    while not is_set(p + 2):
        pass


@nereid.jit(noinline=True)
def is_set_elsewhere(p):
    return tl.load(p) != 0


@way
@nereid.jit
def through_a_function_that_is_not_inlined(p):
    while not is_set_elsewhere(p + 2):
        pass


@nereid.jit(noinline=True)
def wait_elsewhere(p):
    while tl.load(p) == 0:
        pass


@way
@nereid.jit
def inside_a_function_that_is_not_inlined(p):
    wait_elsewhere(p + 2)


@way
@nereid.jit
def one_after_the_other(p):
    for i in range(3):
        while tl.load(p + i) == 0:
            pass


@way
@nereid.jit
def loop_in_a_loop(p):
    i = 0
    while i < 3:
        while tl.load(p + i) == 0:
            pass
        i += tl.load(p + i)


@way
@nereid.jit
def sweeps(p):
    found = 0
    while found < 3:
        found = 0
        for i in range(3):
            found += tl.load(p + i)


@way
@nereid.jit
def moving_pointer(p):
    q = p
    seen = 0
    while seen < 3:
        up = tl.load(q)
        q += up
        seen += up


@way
@nereid.jit
def count_that_stays(p):
    left = 3
    while left > 0:
        if tl.load(p + left - 1) == 1:
            left -= 1


@way
@nereid.jit
def computed_place(p):
    # The place of the flag is itself read from memory: 2 * flags[0].
    while tl.load(p + 2 * tl.load(p)) == 0:
        pass


@way
@nereid.jit
def masked_tile_and_sum(p):
    lanes = tl.arange(0, 16)
    while tl.sum(tl.load(p + lanes, mask=lanes < 3, other=0)) < 3:
        pass


@way
@nereid.jit
def tile_minimum(p):
    lanes = tl.arange(0, 4)
    while tl.min(tl.load(p + lanes, mask=lanes < 3, other=1), axis=0) != 1:
        pass


@way
@nereid.jit
def tile_from_the_body(p):
    lanes = tl.arange(0, 16)
    tile = tl.zeros((16,), tl.int32)
    while tl.sum(tile, 0) < 3:
        tile = tl.load(p + lanes, mask=lanes < 3, other=0)


@way
@nereid.jit
def atomics_on_a_tile(p):
    lanes = tl.arange(0, 4)
    while tl.sum(tl.atomic_or(p + lanes, 0, mask=lanes < 3)) < 3:
        pass


@way
@nereid.jit
def block_pointer(p):
    block = tl.make_block_ptr(p, (3,), (1,), (0,), (16,), (0,))
    while tl.sum(tl.load(block, boundary_check=(0,), padding_option="zero"), 0) < 3:
        pass


@way
@nereid.jit
def block_pointer_that_advances(p):
    block = tl.make_block_ptr(p, (16,), (1,), (0,), (1,), (0,))
    seen = 0
    while seen < 3:
        if tl.sum(tl.load(block), 0) == 1:
            block = tl.advance(block, (1,))
            seen += 1


@way
@nereid.jit
def descriptor(p):
    flags = tl.make_tensor_descriptor(p, (16,), (1,), (16,))
    while tl.sum(flags.load([0]), 0) < 3:
        pass


@way
@nereid.jit
def poll_function(p):
    tl.atomic_poll(p + 2, 1)


@way
@nereid.jit
def own_address_by_symm_at(p):
    q = dl.symm_at(p, dl.rank())
    while tl.load(q + 2) == 0:
        pass


@way
@nereid.jit
def element_by_get(p):
    value = 0
    while value != 1:
        libshmem_device.getmem(p + 8, p + 2, 4, dl.rank())
        value = tl.load(p + 8)


@nereid.jit
def chain(flags_ptr, order_ptr, turn_ptr, WAIT: tl.constexpr, GROUP: tl.constexpr):
    """Program i waits for program i + 1: all have to be alive, the last one frees the others."""
    pid = tl.program_id(0)
    last = tl.num_programs(0) - 1
    if pid < last:
        WAIT(flags_ptr + (pid + 1) * GROUP)
    tl.store(order_ptr + tl.atomic_add(turn_ptr, 1), pid)
    for i in range(3):
        tl.atomic_xchg(flags_ptr + pid * GROUP + i, 1, sem="release")


# ---- protocols


@nereid.jit
def ticket_lock(words_ptr, count_ptr, rounds):
    """words: next ticket, ticket that is served."""
    for _ in range(rounds):
        ticket = tl.atomic_add(words_ptr, 1)
        while tl.load(words_ptr + 1, volatile=True) != ticket:
            pass
        tl.store(count_ptr, tl.load(count_ptr, volatile=True) + 1)
        tl.atomic_add(words_ptr + 1, 1, sem="release")


@nereid.jit
def test_and_set_lock(words_ptr, count_ptr, rounds):
    for _ in range(rounds):
        while tl.atomic_xchg(words_ptr, 1, sem="acquire") != 0:
            while tl.load(words_ptr) != 0:
                pass
        tl.store(count_ptr, tl.load(count_ptr, volatile=True) + 1)
        tl.atomic_xchg(words_ptr, 0, sem="release")


@nereid.jit
def sense_reversing_barrier(words_ptr, count_ptr, rounds):
    """words: arrivals, generation. Every program counts the others' marks after each barrier."""
    pid = tl.program_id(0)
    programs = tl.num_programs(0)
    for i in range(rounds):
        tl.store(words_ptr + 2 + pid, i + 1)
        generation = tl.load(words_ptr + 1, volatile=True)
        if tl.atomic_add(words_ptr, 1, sem="acq_rel") == programs - 1:
            tl.atomic_xchg(words_ptr, 0)
            tl.atomic_add(words_ptr + 1, 1, sem="release")
        else:
            while tl.load(words_ptr + 1, volatile=True) == generation:
                pass
        if tl.load(words_ptr + 2 + (pid + 1) % programs, volatile=True) > i:
            tl.atomic_add(count_ptr, 1)


@nereid.jit
def token_ring(words_ptr, count_ptr, rounds):
    """A number goes around; each program adds one when it is its turn."""
    pid = tl.program_id(0)
    programs = tl.num_programs(0)
    for i in range(rounds):
        while tl.load(words_ptr) != i * programs + pid:
            pass
        tl.store(count_ptr, tl.load(count_ptr, volatile=True) + 1)
        tl.atomic_xchg(words_ptr, i * programs + pid + 1, sem="release")


PROTOCOLS = {kernel.__name__: kernel for kernel in (ticket_lock, test_and_set_lock, sense_reversing_barrier, token_ring)}
