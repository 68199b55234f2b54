# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Distributed tile kernels: compiled to native code, run on N ranks that share
a symmetric heap."""

from nereid._errors import ArgumentError, CompilationError, JobError, LaunchError, NereidError

__version__ = "0.1.0"
