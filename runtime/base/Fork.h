// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fork.h - Whether this process is a copy ----------------------------===//
#ifndef NEREID_RUNTIME_BASE_FORK_H
#define NEREID_RUNTIME_BASE_FORK_H

#include <cstdint>

namespace nereid::runtime {

/// How many forks lie between the process that first called this and the calling
/// one. A load, where getpid() is a system call.
uint64_t forkDepth();

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_BASE_FORK_H
