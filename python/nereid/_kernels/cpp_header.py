# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C++ headers for compiled kernels: ``nereid compile --header``.

A header holds the object file and a class with the kernel's name, whose ``launch``
has a parameter of the right type for each run-time argument.
"""

from __future__ import annotations

import re
from typing import Sequence

from nereid import _runtime

#: C++ types of elements and scalars by their names in signatures.
_TYPES = {
    "i1": "bool", "u1": "bool",
    **{f"i{bits}": f"std::int{bits}_t" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"std::uint{bits}_t" for bits in (8, 16, 32, 64)},
    "fp16": "nereid::runtime::Float16", "bf16": "nereid::runtime::BFloat16", "fp32": "float", "fp64": "double",
}
_RESERVED = frozenset("""
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
concept const const_cast consteval constexpr constinit continue co_await co_return co_yield decltype default delete do
double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace
new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires return
short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef
typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq std nereid job grid load launch
object bytes kernel embedded argumentSlot
""".split())

_TEMPLATE = """\
// Made by `nereid compile --header`: changes are lost when it is made again.
//
// The kernel {name} for {cpu}:
//   {signature}
#ifndef {guard}
#define {guard}

#include <nereid/runtime/LoadedKernel.h>

#include <cstdint>
#include <string_view>

namespace kernels {{

class {class_name} {{
public:
  /// Loads the kernel into this process, from this header or from the bytes of another
  /// object file of it (for another processor, say). Errors: as LoadedKernel::load.
  static nereid::runtime::Expected<{class_name}> load(std::string_view object = embedded()) {{
    auto kernel = nereid::runtime::LoadedKernel::load(object, "{name}", {{{types}}});
    if (!kernel.ok())
      return kernel.status();
    {class_name} result;
    result.kernel = *kernel;
    return result;
  }}

  /// Runs the kernel over the grid; returns when all its programs have ended. Errors: as
  /// LoadedKernel::launch.
{notes}  nereid::runtime::Status launch(nereid::runtime::Job *job, nereid::runtime::Grid grid{parameters}) const {{
    using nereid::runtime::argumentSlot;
    return kernel.launch(job, grid, {{{slots}}});
  }}
  /// The same into a stream, which tells of errors later; see nereid/runtime/Stream.h.
  nereid::runtime::Status launch(nereid::runtime::Stream &stream, nereid::runtime::Grid grid{parameters}) const {{
    using nereid::runtime::argumentSlot;
    return kernel.launch(stream, grid, {{{slots}}});
  }}

  const nereid::runtime::KernelDescription &description() const {{ return kernel.description(); }}

  /// The object file.
  static std::string_view embedded() {{
    return {{reinterpret_cast<const char *>(bytes), sizeof(bytes)}};
  }}

private:
  nereid::runtime::LoadedKernel kernel;
  static constexpr unsigned char bytes[] = {{
{bytes}
  }};
}};

}} // namespace kernels

#endif // {guard}
"""


def _cpp_type(name: str) -> str:
    element = name.lstrip("*")
    stars = "*" * (len(name) - len(element))
    kind = "nereid::runtime::Float8" if element.startswith("fp8") else _TYPES[element.removeprefix("k")]
    return f"{kind} {stars}" if stars else f"{kind} "


def _identifier(name: str, taken: set[str]) -> str:
    text = re.sub(r"\W", "_", name, flags=re.ASCII)
    text = f"_{text}" if text[:1].isdigit() else text
    while text in _RESERVED or text in taken:
        text += "_"
    taken.add(text)
    return text


def header(object_file: bytes, signature: str, types: Sequence[str] | None = None) -> str:
    """The header for a kernel's object file. ``signature`` stands in its first lines;
    ``types`` are those of the run-time arguments where they say more than the object
    file does (u32 for i32)."""
    description = _runtime.describe_object(object_file, "cpu", sites=False)
    args = description["args"]
    known = [argument["type"] for argument in args]
    shown = list(types) if types is not None and len(types) == len(args) else known
    class_name = _identifier(description["name"], set())
    taken = {class_name}
    names = [_identifier(argument["name"], taken) for argument in args]
    notes = ""
    for name, argument in zip(names, args):
        what = []
        if argument["divisibility"] > 1:
            what.append(f"a multiple of {argument['divisibility']}")
        if argument["symmetric"]:
            what.append("in symmetric memory")
        if what:
            notes += f"  /// `{name}`: {', '.join(what)}.\n"
    rows = [", ".join(map(str, object_file[at:at + 24])) for at in range(0, len(object_file), 24)]
    return _TEMPLATE.format(
        name=description["name"],
        class_name=class_name,
        cpu=f"{description['architecture']}, {description['cpu']}",
        signature=" ".join(signature.split()),
        guard=f"NEREID_KERNELS_{class_name.upper()}_H",
        types=", ".join(f'"{kind}"' for kind in known),
        notes=notes,
        parameters="".join(f", {_cpp_type(kind)}{name}" for kind, name in zip(shown, names)),
        slots=", ".join(f"argumentSlot({name})" for name in names),
        bytes=",\n".join(f"      {row}" for row in rows),
    )
