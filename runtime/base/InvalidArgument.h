// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InvalidArgument.h - The commonest error ------------------*- C++ -*-===//
#ifndef NEREID_RUNTIME_BASE_INVALIDARGUMENT_H
#define NEREID_RUNTIME_BASE_INVALIDARGUMENT_H

#include "nereid/runtime/Status.h"

#include <string>
#include <utility>

namespace nereid::runtime {

/// What a caller gave is wrong; `text` says what and what to give instead.
inline Status invalid(std::string text) {
  return Status::error(StatusCode::InvalidArgument, std::move(text));
}

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_BASE_INVALIDARGUMENT_H
