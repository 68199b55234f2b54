// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rendezvous.h - Hands the job's memory to all its ranks -------------===//
//
//     rank 0                                 rank r
//     memfd_create
//     listen on @nereid.<uid>.<hash of job>  connect (again until it is there)
//               <-- hello {version, rank, world size, heap size}
//     check     --> verdict {code, text} + descriptor (SCM_RIGHTS)
//
// The socket's name is abstract: it is in no file system and vanishes with
// rank 0. When one rank does not fit, all ranks that have called get the same
// verdict. A rank that finds no rank 0 of its own user looks for one of another:
// both then end with an error that names the two users.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_LAUNCH_RENDEZVOUS_H
#define NEREID_RUNTIME_LAUNCH_RENDEZVOUS_H

#include "control/interface/ControlPlane.h"
#include "launch/Environment.h"

namespace nereid::runtime {

/// `slots`: the memory has room for so many ranks, when others than those that meet here
/// belong to the job.
Expected<std::shared_ptr<ControlPlane>> rendezvous(const RankInfo &info, uint64_t heapBytes,
                                                   double timeoutSeconds, int32_t slots = 0);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_LAUNCH_RENDEZVOUS_H
