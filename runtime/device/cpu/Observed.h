// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Observed.h - What entry points tell an observer --------------------===//
//
// Called only when there is one (Program::observer), on the stack of the program.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_DEVICE_CPU_OBSERVED_H
#define NEREID_RUNTIME_DEVICE_CPU_OBSERVED_H

#include "base/Clock.h"
#include "device/cpu/Program.h"
#include "nereid/runtime/Events.h"
#include "transport/interface/Operation.h"

namespace nereid::runtime {

/// An event of `p` at p.site, from now on.
EventRecord eventOf(const Program &p, EventKind kind);
/// Its place in the heaps, if it is in one of them.
void setPlace(EventRecord &event, const Program &p, const void *at, uint64_t bytes);
/// Tells of an event that has ended.
void tellAfter(const Program &p, EventRecord &event, uint64_t tag = 0);

/// Runs the kernel from its begin to its end for `p`, and says so.
void runObserved(Program &p);
/// It has had the core since p.resumedAt.
void tellRun(const Program &p);
/// The words of p.condition.signal have come.
void tellWait(const Program &p, uint64_t begin, uint8_t slot);
/// It is about to wait for p.condition.signal, which does not hold.
void tellBlocked(const Program &p, uint32_t site);
/// A fence has been made; `completes`: it was a quiet as well.
void tellFence(const Program &p, int32_t pe, bool completes);
/// The program came around in a loop that waits.
void tellPoll(Program &p, bool first);
/// It gives the core away there.
void tellPolls(Program &p);
/// A value goes from vector core 0 of the program to the others, or is taken.
void tellShare(const Program &p, bool gives, uint64_t number);
/// Numbers `operation` and says that it is asked for.
EventRecord tellIssue(const Program &p, Operation &operation);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_DEVICE_CPU_OBSERVED_H
