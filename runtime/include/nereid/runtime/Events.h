// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Events.h - What happens in a job, for those who watch ----*- C++ -*-===//
//
// One observer may watch a rank (Job::observe): a trace, a checker, a log. It hears
// of everything that programs and host code do to each other, at two moments:
//
//   before   it is about to take effect. Nobody can have seen it yet: what an
//            observer has to make known before a value is there, it writes here.
//   after    it has taken effect, with the time that it took and what came of it.
//
// An operation on memory is up to three events with the same `id`:
//
//   Issue ───────────▶ Transfer ───────▶ Update
//   a program or the   its bytes are     its word changes
//   host asks for it   moved
//
// where the last two come from whoever carries it out: the asking thread, a thread
// of a transport, or the process of the target. What before() returns for the Issue
// travels with the operation, in this process and between processes, and is the
// `tag` of the other two. Transfer and Update of one operation are told to the
// observer of the process in which they happen.
//
// Without an observer nothing of this is executed but one test in some entry points;
// operations on memory of ranks that are reached directly have none at all, since
// watching gives a rank an engine for them (transport/Router.h).
//
// Loads, stores and atomics of generated code make events in kernels that were
// compiled with the option `instrument` (KernelDescription::instrumented); others do
// what they do unseen. An Access is told of before it happens, with its rows:
//
//     offset ─▶ |■■■■ bytes ■■■■|          |■■■■■■■■■■■■■|          |■■■...
//               └───────── value ─────────┘└──────── ... `id` rows in all
//
// A tile whose rows do not follow one another evenly is several of them.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_EVENTS_H
#define NEREID_RUNTIME_EVENTS_H

#include <cstdint>

namespace nereid::runtime {

enum class EventKind : uint8_t {
  Launch,   ///< a launch of this rank: before its first program, after its last. value: the
            ///< address of its LaunchSpec (Device.h)
  Program,  ///< a program: before its first instruction, after its last. id: the worker's number
  Run,      ///< a program had the core from begin to end; after. id: the worker's number
  Issue,    ///< an operation is asked for. value: the address here that it reads or writes, or the
            ///< operand of an update without data
  Transfer, ///< `bytes` bytes at `offset` of `pe` are written, or read (kReads)
  Update,   ///< the word changes. value, after: what it is now
  Wait,     ///< before: a signal has not come yet; value: what the wait compares the word with.
            ///< After: it has; value: the word; id: 1 + the number of a wait that orders only what
            ///< depends on its token, else 0
  Poll,     ///< rounds of a loop that waits. value: how many; after, when the core is given away
  Fence,    ///< after. pe: -1 = all ranks
  Quiet,    ///< before: it is asked for; after: it is complete. pe as above
  Barrier,  ///< before: it arrives; after: it leaves. id: team; value: number of the barrier. The
            ///< last to arrive is who has the latest `begin`. Of hosts also what is asked for
            ///< ("barrier()", "allocate ..."): `bytes` characters at the address `offset`
  Share,    ///< a value goes from vector core 0 to the others (kWrites) or is taken; after
  Access, ///< generated code reads or writes (kReads, kWrites) rows of bytes, host code one row by
          ///< the methods of symmetric tensors (id: number of the operation); before
  Atomic, ///< one atomic operation of generated code on a word. Before: when it may change the
          ///< word. After: value is what the word is now
};

/// 64 bytes; a reference to one is good during the call.
struct EventRecord {
  static constexpr uint64_t kOutside = ~uint64_t(0);
  static constexpr uint32_t kHost = ~uint32_t(0);
  static constexpr uint32_t kNoSite = ~uint32_t(0);

  enum Flag : uint8_t {
    kReads = 1,       ///< Issue, Transfer: reads memory of `pe`
    kWrites = 2,      ///< writes it
    kNonBlocking = 4, ///< Issue: complete only at a quiet
    kSignals = 8,     ///< Issue: of data with a signal behind it
    kFetches = 16,    ///< Issue: somebody waits for the old value
    kCompletes = 32,  ///< Fence, Barrier: also a quiet
    kUnsigned = 8,    ///< Wait: how words are compared and shown
    kVolatile = 4,    ///< Access: each element is read in one piece, whoever changes it
  };

  uint64_t begin = 0;         ///< when it began, in ticks (base/Clock.h)
  uint64_t end = 0;           ///< now
  uint64_t offset = kOutside; ///< first byte in the heap of `pe`; kOutside: in none. Access,
                              ///< Atomic: the address when pe is -1
  uint64_t bytes = 0;
  uint64_t value = 0;
  uint32_t id = 0;          ///< of the operation, counted per rank; 0 = none. Access: rows
  uint32_t launch = 0;      ///< the rank's launches are counted from 1
  uint32_t program = kHost; ///< number in the launch, times the vector cores, plus its own
  uint32_t site = kNoSite;  ///< of the kernel's table
  int16_t pe = -1;          ///< whose memory it is
  int16_t rank = -1;        ///< who does it: for Transfer and Update who has asked for it
  EventKind kind = EventKind::Launch;
  uint8_t width = 0; ///< bytes of the word
  /// Access: a bit for each slot of waits on whose tokens a load depends; all of them when
  /// that is not known. Issue, Update, Atomic: NRD_AMO_*. Wait: NRD_CMP_*. Barrier: NRD_BARRIER_*.
  uint8_t how = 0;
  uint8_t flags = 0;
  /// Issue of a notify: NRD_COMM_*, otherwise 0. It orders more than other signals do.
  /// Atomic: NRD_SCOPE_*.
  uint8_t scope() const { return flags >> 6; }
  /// Atomic: NRD_SEM_*.
  uint8_t sem() const { return (flags >> 2) & 7; }
};
static_assert(sizeof(EventRecord) == 64);

class Observer {
public:
  virtual ~Observer() = default;
  /// Called by the thread that does it, which must not be kept waiting for others.
  /// `tag`: of the operation; 0 for events that are none.
  virtual uint64_t before(const EventRecord &event, uint64_t tag) {
    (void)event;
    return tag;
  }
  virtual void after(const EventRecord &event, uint64_t tag) {
    (void)event;
    (void)tag;
  }
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_EVENTS_H
