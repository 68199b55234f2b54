# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""barrier_all of the target cuda (DeviceCode::barrierAll) as a model whose states are all
visited: what docs/nvidia.md says of its words. Counters wrap at 8 instead of 2^32, and a
waiting program has two threads that look one after the other. The load of the generation
returns some time after it was begun, with what stands there then."""

import pytest

WRAP = 8


def at_least(seen: int, wanted: int) -> bool:
    return (seen - wanted) % WRAP < WRAP // 2


def equal(seen: int, wanted: int) -> bool:
    return (seen - wanted) % WRAP == 0


def moves(state, ranks, programs, rounds, compare, waits_for_load):
    """What each program can do next. Of a rank: arrivals, ranks, generation; of a program:
    its round, its line, and the generation that it has read; None: it has not come yet."""
    words, threads = state
    for number, (turn, line, before) in enumerate(threads):
        if turn == rounds:
            continue
        rank = number // programs
        new = [list(row) for row in words]
        arrivals, counter, generation = new[rank]
        last_signal = 3 + ranks
        if line > 0 and before is None:  # the load returns
            yield words, (*threads[:number], (turn, line, generation), *threads[number + 1:])
        if before is None and (line >= last_signal or line == 1 and waits_for_load):
            continue
        if line == 0:  # begins to read the generation
            program = (turn, 1, None)
        elif line == 1:  # arrives
            new[rank][0] += 1
            program = (turn, 2 if arrivals == programs - 1 else 100, before)
        elif line == 2:
            new[rank][0] = 0
            program = (turn, 3, before)
        elif line < last_signal:  # tells every rank
            peer = (rank + line - 3) % ranks
            new[peer][1] = (new[peer][1] + 1) % WRAP
            program = (turn, line + 1, before)
        elif line < last_signal + 2:  # each thread waits for the ranks
            if not compare(counter, (before + 1) * ranks):
                continue
            program = (turn, line + 1, before)
        elif line < 100:  # lets its rank go
            new[rank][2] = (before + 1) % WRAP
            program = (turn + 1, 0, None)
        else:  # each thread waits for the generation
            if not equal(generation, before + 1):
                continue
            program = (turn, 101, before) if line == 100 else (turn + 1, 0, None)
        yield tuple(map(tuple, new)), (*threads[:number], program, *threads[number + 1:])


def explore(ranks, programs, rounds, compare, waits_for_load=True):
    """Every state; the first one in which nothing moves though programs are left."""
    first = (((0, 0, 0),) * ranks, ((0, 0, None),) * (ranks * programs))
    known, work = {first}, [first]
    while work:
        state = work.pop()
        nexts = list(moves(state, ranks, programs, rounds, compare, waits_for_load))
        turns = [thread[0] for thread in state[1]]
        if not nexts and any(turn != rounds for turn in turns):
            return state
        # Who has left a barrier has seen all arrive at it.
        for turn, line, _ in state[1]:
            assert not (line < 2 and turn < max(turns)), state
        for other in nexts:
            if other not in known:
                known.add(other)
                work.append(other)
    return None


@pytest.mark.parametrize("ranks, programs, rounds", [(1, 3, 3), (2, 1, 9), (2, 2, 5), (3, 1, 5)])
def test_every_program_leaves_every_barrier(ranks, programs, rounds):
    assert explore(ranks, programs, rounds, at_least) is None


def test_equality_can_miss_a_rank_that_has_gone_on():
    """Why the counter of ranks is compared by "at least": a rank that comes to its next barrier
    first adds to a counter that another has not looked at yet."""
    assert explore(2, 1, 3, equal) is not None


def test_a_late_generation_hangs():
    """Why one thread reads the generation and has it before the program arrives: a load that
    returns after the end of the barrier makes its program wait for the end of the next."""
    words, threads = explore(1, 2, 2, at_least, waits_for_load=False)
    (turn, line, before), (other, _, _) = sorted(threads)
    # Its barrier has ended, the other has left it, and it has read the number after the end.
    assert line == 100 and other == turn + 1 == words[0][2] == before
    assert explore(1, 2, 2, at_least) is None
