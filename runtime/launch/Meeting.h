// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Meeting.h - How ranks on several machines meet ---------------------===//
//
//     rank 0                                rank r
//     listens at the job's address          connects (again until it is there)
//               greeting {version, number} ──▶
//               ◀── hello {rank, world size, machine, host, settings}, proof
//     check     ── verdict {what is wrong, or who is where}, proof ──▶
//
// A proof is a hash of what is said, of the number and of the job's secret, which so is
// not sent. When one rank does not fit, all that have called get the same verdict. The
// first rank of each machine keeps its connection for the control plane.
//
// Which machine a rank is on is what the kernel says of itself: its boot, the network it
// sees and the user. Containers with networks of their own are machines.
//
// Ranks of one machine then share its memory, which their launcher has made or which
// they make as ranks of a job on one machine do (Rendezvous.h).
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_LAUNCH_MEETING_H
#define NEREID_RUNTIME_LAUNCH_MEETING_H

#include "base/Knobs.h"
#include "control/interface/ControlPlane.h"
#include "launch/Environment.h"

namespace nereid::runtime {

/// The plane of a job whose ranks meet at `info.meetAt`. When all turn out to be on one
/// machine it is that of such jobs. `device`: its name, for the comparison.
Expected<std::shared_ptr<ControlPlane>> meetMachines(const RankInfo &info, const Settings &settings,
                                                     const std::string &device);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_LAUNCH_MEETING_H
