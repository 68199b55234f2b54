# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Ascend extension: vector cores, scopes, slices
(``from nereid.language.extra.cann.extension import sub_vec_id``)."""

from nereid.language._generated.al import *  # noqa: F401,F403


def register_custom_op(cls):
    """Accepts a class that describes a custom operation, so that modules with such
    classes can be imported; calling it (``al.custom``) is an error on the CPU target."""
    return cls
