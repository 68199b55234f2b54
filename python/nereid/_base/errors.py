# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exceptions of the package."""


class NereidError(Exception):
    """Base class of all errors that Nereid raises on its own account."""


class CompilationError(NereidError, RuntimeError):
    """A kernel cannot be compiled.

    ``str(error)`` is the rendered diagnostic: file, line, column, what is wrong,
    the source line with a caret, and what to write instead.
    """


class LaunchError(NereidError, RuntimeError):
    """A launch failed while it ran: a deadlock, a rank that died, a bad rank in
    ``dl.symm_at``, a failed ``tl.device_assert`` ...

    ``str(error)`` is the runtime's report; ``error.code`` is its kind as words
    ("deadlock", "rank died", ...), ``error.rank`` the rank at fault or -1,
    ``error.message`` the report's first sentence. ``kernel``, ``program`` (x, y, z),
    ``file``, ``line`` and ``column`` say where it happened, None where there is no
    such place. ``blocked`` lists what the programs of all ranks were waiting for.
    """

    code = "internal"
    message = ""
    rank = -1
    kernel = None
    program = None
    file = None
    line = None
    column = None
    blocked = ()


class JobError(LaunchError):
    """A call of the host API failed: joining a job, a collective call that the
    ranks made differently, a full symmetric heap."""


class ArgumentError(NereidError, TypeError):
    """An argument of a launch that cannot work: its number, kind, layout or
    device. The text names the kernel and the parameter."""


class OutOfResources(NereidError, RuntimeError):
    """A kernel needs more of something than the target has."""

    def __init__(self, required: int, limit: int, name: str):
        self.required = required
        self.limit = limit
        self.name = name
        super().__init__(f"out of resource: {name}, required: {required}, limit: {limit}")

    def __reduce__(self):
        return type(self), (self.required, self.limit, self.name)


class InterpreterError(NereidError, RuntimeError):
    """An error of a kernel that runs in an interpreter. Nereid has none and never
    raises it; the name is there for code that catches it."""

    def __init__(self, error_message: str = ""):
        self.error_message = error_message
        super().__init__(error_message)


for _class in (
    NereidError, CompilationError, LaunchError, JobError, ArgumentError, OutOfResources, InterpreterError
):
    _class.__module__ = "nereid"
