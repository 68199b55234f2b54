# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Channel must give: messages go round the ring of ranks, each rank to the next."""

from __future__ import annotations

import nereid
from nereid.ops.channel.op import Channel
from nereid.ops.core.conformance import Case, Expected, numbers


class Ring:
    """A channel from each member of a group to the next. All ranks of the job make equally many, whatever
    the size of their group; some are not used."""

    def __init__(self, shape, dtype, group, **options):
        n, world = group.size, nereid.world_size()
        self.channels = [Channel(shape, dtype, r % n, (r + 1) % n, group=group, **options) if n > 1 else
                         Channel(shape, dtype, 0, 1, **options) for r in range(world if world > 1 else 0)]
        self.me, self.n = group.me, n

    def pass_on(self, x):
        if self.n == 1:
            return x
        self.channels[self.me].send(x)
        return self.channels[(self.me - 1) % self.n].recv()

    @property
    def workspaces(self):
        return [channel._workspace for channel in self.channels]

    def close(self):
        for channel in self.channels:
            channel.close()


def cases():
    def case(name, shape, dtype, **options):
        return Case(name, lambda group: Ring(shape, dtype, group, **options), ("",),
                    lambda variant, rng, member, ranks: (numbers(rng, shape, dtype),),
                    lambda variant, everyone, member: Expected(everyone[member - 1][0]),
                    lambda ring, args: ring.pass_on(*args))

    yield case("small", (37,), "float32")
    yield case("one slot, pieces", (131, 257), "float16", slots=1, programs=2)
    yield case("three slots, empty", (0,), "int64", slots=3)
    yield case("three slots", (3, 5, 7), "bfloat16", slots=3, programs=3)
