# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the machine code of a GPU says of itself: an ELF file, whose section .nv.info has a row
for each property of a function."""

from __future__ import annotations

import struct

_REGISTERS, _FRAME = 0x2F, 0x11
#: Rows of this form have a size, a symbol's number and a value.
_SIZED = 4


def resources(cubin: bytes) -> tuple[int, int]:
    """Registers of a thread, and bytes that it keeps in memory for want of more; the most of any
    function."""
    offset, = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", cubin, offset + i * size) for i in range(count)]
    found = {_REGISTERS: 0, _FRAME: 0}
    for name, _, _, _, begin, length in headers:
        name += headers[names][4]
        if cubin[name:cubin.index(b"\0", name)] != b".nv.info":
            continue
        at, end = begin, begin + length
        while at + 4 <= end:
            form, what, value = struct.unpack_from("<BBH", cubin, at)
            at += 4
            if form != _SIZED:
                continue
            if what in found:
                found[what] = max(found[what], struct.unpack_from("<II", cubin, at)[1])
            at += value
    return found[_REGISTERS], found[_FRAME]
