# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""On-chip buffers (``import nereid.extension.buffer.language as bl``). The names are
there so that modules can be imported; using them in a kernel is an error on the CPU."""

from nereid.language._generated.bl import *  # noqa: F401,F403


class address_space:
    """A memory of an AI core."""


class buffer_type:
    """Type of a buffer, for annotations."""


class buffer:
    """A buffer, for annotations."""
