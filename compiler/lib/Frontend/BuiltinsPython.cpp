// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python's questions about values: isinstance, hasattr, getattr. They need names
// and classes of the host, so the walker answers them (WalkerCalls.cpp); the rows
// give their parameters.
#include "Rules.h"

using namespace nereid;
using namespace nereid::frontend;

/// Reached only from inside another rule, which has no host to ask.
static Value walkerOnly(Semantic &, const BoundArgs &args) {
  throw CompileError(makeDiagnostic(Diag::not_callable, args.range,
                                    std::string("function ") + args.info.name,
                                    "call it in the kernel itself"));
}

static const BuiltinInfo rows[] = {
    {"python", "isinstance", "obj, classinfo", false, walkerOnly,
     "Whether a value is of a kind, at compile time: tl.tensor, tl.constexpr, "
     "tl.tensor_descriptor, tl.dtype, tuple, "
     "list, int, float, bool, str, or one of a tuple of these."},
    {"python", "hasattr", "obj, name", false, walkerOnly,
     "Whether a value has an attribute, at compile time."},
    {"python", "getattr", "obj, name, *default", false, walkerOnly,
     "An attribute by its name, which is a compile-time string; the default when there is none."},
};

llvm::ArrayRef<BuiltinInfo> nereid::frontend::pythonRows() { return rows; }
