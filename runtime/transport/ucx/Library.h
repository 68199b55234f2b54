// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Library.h - UCX, as this machine has it ----------------------------===//
//
// Nothing of Nereid is linked with UCX: its library is looked for when a job wants
// it. A build needs its headers alone.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_TRANSPORT_UCX_LIBRARY_H
#define NEREID_RUNTIME_TRANSPORT_UCX_LIBRARY_H

#include "nereid/runtime/Status.h"

#include <ucp/api/ucp.h>

namespace nereid::runtime::ucx {

struct Library {
#define NEREID_UCX_FUNCTION(NAME) decltype(&::NAME) NAME = nullptr;
#include "transport/ucx/Functions.def"
#undef NEREID_UCX_FUNCTION

  /// Loads it, once. Environment when there is none, or too old a one.
  static Expected<const Library *> get();
};

} // namespace nereid::runtime::ucx

#endif // NEREID_RUNTIME_TRANSPORT_UCX_LIBRARY_H
