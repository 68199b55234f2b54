// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Missing.cpp - The row of a build without the headers of UCX --------===//
#include "transport/interface/Transport.h"

namespace nereid::runtime {

Expected<std::unique_ptr<Transport>> make_ucx(const TransportShape &) {
  return Status::error(StatusCode::Environment,
                       "NEREID_TRANSPORT=ucx: this build of Nereid has no UCX in it, as its "
                       "headers (Debian: libucx-dev) were not there when it was built");
}

} // namespace nereid::runtime
