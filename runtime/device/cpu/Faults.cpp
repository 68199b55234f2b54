// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Faults.cpp - How a program is left at any instruction --------------===//
//
//   instruction faults / SIGURG        handler                       land(), on the program's
//   in a program of the thread  ────▶  notes why, address, site ───▶ own stack: writes the
//                                      and changes the registers     report, leaves the program
//
// A handler may do next to nothing, so it stores words into the worker's
// FaultLanding and sets the registers such that the thread goes on in land().
// That is ordinary code again, which may allocate and take locks.
//
// Whose fault is it? `running` is the program that the thread is in, entry
// points that it has called included, and null in the scheduler; `reporting` is
// set from the fault on until its report is written. A fault with no program,
// or inside a report, goes to whoever was there before. Preemption (SIGURG) is
// stricter: it acts only at an instruction of the kernel's own code, which
// holds no lock. A mathematical function or an entry point may; there the
// signal does nothing, and the Monitor sends it again. So the handler may even
// ask the host whether the user wants to stop, which runs the host's own
// handlers.
//
// A fiber that has overflowed its stack has none left: the handler runs on an
// alternate stack, and since all frames of the fiber are given up, land()
// begins at the top of its stack again. On a thread's own stack it begins below
// them.
//
// Others install handlers, too. `before` is what was there first; what has
// replaced ours since is put behind us at a later launch and kept in `since`. A
// fault that is passed on restores one of them and returns: the instruction
// faults once more, and they get it first hand.
//
//===----------------------------------------------------------------------===//
#include "device/cpu/Faults.h"

#include "base/FaultGuard.h"
#include "base/Sanitizer.h"
#include "device/cpu/EntryPoints.h"
#include "nereid/runtime/KernelCode.h"

#include <csignal>
#include <cstring>
#include <pthread.h>

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__)) &&                         \
    !defined(NEREID_ASAN) && !defined(NEREID_TSAN)
#define NEREID_CATCH_FAULTS 1
#endif

#if NEREID_CATCH_FAULTS
#include <cerrno>
#include <mutex>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#endif

namespace nereid::runtime {

#if NEREID_CATCH_FAULTS

static thread_local FaultLanding *current = nullptr;
static constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
static struct sigaction before[std::size(kSignals)];
// What others have put in place of our handlers since, and has not had its turn.
static struct sigaction since[std::size(kSignals)];
static std::atomic<bool> hasSince[std::size(kSignals)];
// Ignored by default and of no use to a host program.
static constexpr int kPreemptSignal = SIGURG;
static struct sigaction beforePreempt;

static std::string otherNodeText(const Job::Impl &job, int32_t owner, uintptr_t address) {
  auto place = [&](int32_t rank) {
    return "rank " + std::to_string(rank) + " (node " +
           std::to_string(job.transport->nodeOf(rank)) + ")";
  };
  return place(job.rank) + " dereferences memory of " + place(owner) + ": " +
         job.describe(reinterpret_cast<const void *>(address)) +
         "; a pointer from symm_at can be used only inside a node. Move the "
         "data with libshmem_device.getmem or putmem, or putmem_signal and "
         "signal_wait_until";
}

static std::string faultText(const Program &p, int sig, uintptr_t address) {
  size_t page = size_t(sysconf(_SC_PAGESIZE));
  uintptr_t stack = reinterpret_cast<uintptr_t>(p.stackBase);
  if (sig == SIGSEGV && p.fiber && address < stack && address >= stack - page)
    return "the kernel needs more stack than the " + sizeText(p.stackBytes) +
           " of a program (NEREID_STACK_SIZE)";
  switch (sig) {
  case SIGFPE:
    return "integer division by zero (or of the smallest integer by -1)";
  case SIGILL:
    return "illegal instruction: the kernel was compiled for another processor";
  default:
    break;
  }
  const Job::Impl &job = p.launch->job;
  uint64_t inHeaps = uint64_t(address - reinterpret_cast<uintptr_t>(job.heapBase));
  uint64_t owner = job.heapBase ? inHeaps / job.heapBytes : ~uint64_t(0);
  if (owner < uint64_t(job.worldSize) && !p.transport->reachable(int32_t(owner)))
    return otherNodeText(job, int32_t(owner), address);
  std::string what;
  if (p.worker->landing.addressKnown)
    what = address < page ? "address " + std::to_string(address) + ", which a null pointer leads to"
                          : job.describe(reinterpret_cast<const void *>(address));
  else
    what = "an address that no pointer can have";
  return "access to memory that does not exist: " + what +
         "; a mask or an offset lets the kernel leave its arrays";
}

static void reportFault(Program &p) {
  const FaultLanding &landing = p.worker->landing;
  std::string text = faultText(p, landing.signal, landing.address);
  uint32_t site = landing.site;
  if (!p.launch->site(site).known())
    // Where exactly is not known; not far from here, though.
    if (SourceSite last = p.launch->site(p.site); last.known())
      text += "; this program's last call of the runtime was at " + last.str();
  noteFailure(p, StatusCode::KernelFault, std::move(text), site);
}

/// Runs on the program's stack in place of the instruction it had come to.
[[noreturn]] static void land(Program *p) {
  FaultLanding &landing = p->worker->landing;
  // Reports and their strings end before the jump.
  switch (landing.why) {
  case Landing::Fault:
    reportFault(*p);
    break;
  case Landing::Interrupt:
    // Another rank may have been interrupted first: then this is what it tells.
    p->launch->noteRunning(*p, landing.site);
    noteFailure(*p, StatusCode::Interrupted, "interrupted", landing.site);
    break;
  case Landing::Stop:
    p->launch->noteRunning(*p, landing.site);
    break;
  }
  landing.reporting = false;
  p->worker->leave(*p);
}

/// To who came last first; one that passes it on in turn comes back here.
static void passOn(int sig, const siginfo_t *info) {
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (kSignals[i] == sig)
      sigaction(sig, hasSince[i].exchange(false) ? &since[i] : &before[i], nullptr);
  // A fault happens again on return; a signal from kill() does not.
  if (info->si_code <= 0)
    raise(sig);
}

namespace {
/// The registers that a handler looks at and changes.
struct Machine {
  explicit Machine(void *raw) : context(static_cast<ucontext_t *>(raw)->uc_mcontext) {}

#if defined(__x86_64__)
  uintptr_t pc() const { return uintptr_t(context.gregs[REG_RIP]); }
  uintptr_t sp() const { return uintptr_t(context.gregs[REG_RSP]); }
  /// Goes on with land(p) on a stack that begins below `stack`.
  void redirect(uintptr_t stack, Program *p) {
    context.gregs[REG_RSP] = greg_t((stack & ~uintptr_t(15)) - 8);
    context.gregs[REG_RIP] = reinterpret_cast<greg_t>(&land);
    context.gregs[REG_RDI] = reinterpret_cast<greg_t>(p);
    context.gregs[REG_EFL] &= ~greg_t(0x400); // direction flag
  }
#else
  uintptr_t pc() const { return context.pc; }
  uintptr_t sp() const { return context.sp; }
  void redirect(uintptr_t stack, Program *p) {
    context.sp = stack & ~uintptr_t(15);
    context.pc = reinterpret_cast<uintptr_t>(&land);
    context.regs[0] = reinterpret_cast<uintptr_t>(p);
  }
#endif

private:
  mcontext_t &context;
};
} // namespace

static void goToLanding(Machine &machine, Program *p, Landing why, uint32_t site) {
  FaultLanding &landing = p->worker->landing;
  // A second fault, while the first one is reported, is final.
  landing.reporting = true;
  landing.why = why;
  landing.site = site;
  // A fiber's frames are given up, so its whole stack is free again (it may
  // just have overflowed); on the thread's own stack stay below them.
  machine.redirect(p->fiber ? reinterpret_cast<uintptr_t>(p->stackBase) + p->stackBytes - 256
                            : machine.sp() - 512,
                   p);
}

/// The place in the kernel that `pc` belongs to: its own, or that of the call
/// which led out of the kernel's code, by the return address on the stack.
static uint32_t siteOf(const Program &p, uintptr_t pc, uintptr_t sp) {
  const KernelCode *code = p.launch->kernel.code.get();
  if (!code)
    return KernelCode::kNoSite;
  if (code->contains(pc))
    return code->siteAt(pc);
  uintptr_t begin = sp & ~uintptr_t(7), end = begin + 4096;
  if (p.fiber) {
    uintptr_t base = reinterpret_cast<uintptr_t>(p.stackBase);
    begin = begin < base ? base : begin;
    end = base + p.stackBytes;
    if (begin > end)
      return KernelCode::kNoSite;
  }
  for (uintptr_t at = begin; at + 8 <= end; at += 8) {
    uintptr_t word = *reinterpret_cast<const uintptr_t *>(at);
    if (code->contains(word - 1))
      return code->siteAt(word - 1);
  }
  return KernelCode::kNoSite;
}

// In this order: memory that the runtime touches on purpose (FaultGuard.h), which jumps back; a
// program's fault, which is landed; all else is passed on. si_code > 0 says that the system raised
// the signal for an instruction of this thread.
static void onFault(int sig, siginfo_t *info, void *raw) {
  if (faultReturn && info->si_code > 0) {
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, sig);
    pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
    siglongjmp(*faultReturn, 1);
  }
  FaultLanding *landing = current;
  Program *p = landing ? landing->running : nullptr;
  // A handler that was put in place of this one has told of a fault and raises the
  // signal again: on return the instruction faults once more, and comes here.
  if (p && !landing->reporting && info->si_code == SI_TKILL && info->si_pid == getpid())
    return;
  if (!p || landing->reporting || info->si_code <= 0)
    return passOn(sig, info);
  landing->signal = sig;
  landing->address = reinterpret_cast<uintptr_t>(info->si_addr);
  landing->addressKnown = info->si_code != SI_KERNEL;
  Machine machine(raw);
  goToLanding(machine, p, Landing::Fault, siteOf(*p, machine.pc(), machine.sp()));
}

static void onPreempt(int sig, siginfo_t *info, void *raw) {
  int error = errno;
  FaultLanding *landing = current;
  Program *p = landing ? landing->running : nullptr;
  Machine machine(raw);
  // Outside the kernel's code locks may be held, and the runtime looks at
  // interrupts and failures by itself.
  if (p && !landing->reporting && p->launch->kernel.code &&
      p->launch->kernel.code->contains(machine.pc())) {
    PreemptRequest request = landing->takeRequest();
    if (request == PreemptRequest::CheckInterrupt) {
      // The host's handlers may run anything: its faults are its own.
      landing->running = nullptr;
      bool stop = interruptRequested();
      landing->running = p;
      if (stop)
        goToLanding(machine, p, Landing::Interrupt, p->launch->kernel.code->siteAt(machine.pc()));
    } else if (request == PreemptRequest::Leave) {
      goToLanding(machine, p, Landing::Stop, p->launch->kernel.code->siteAt(machine.pc()));
    }
  }
  // Others may use the signal too.
  if (beforePreempt.sa_flags & SA_SIGINFO)
    beforePreempt.sa_sigaction(sig, info, raw);
  else if (beforePreempt.sa_handler != SIG_DFL && beforePreempt.sa_handler != SIG_IGN)
    beforePreempt.sa_handler(sig);
  errno = error;
}

namespace {
/// A stack for the handlers, since the program's may be full. Another one that
/// the thread has (of Python's faulthandler) is too small for what the host does
/// when it is asked for interrupts.
struct HandlerStack {
  static constexpr size_t kBytes = 256 * 1024;
  void *memory = nullptr;
  stack_t previous;

  void ensure() {
    if (memory || sigaltstack(nullptr, &previous) != 0 || (previous.ss_flags & SS_ONSTACK) ||
        (!(previous.ss_flags & SS_DISABLE) && previous.ss_size >= kBytes))
      return;
    memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      memory = nullptr;
      return;
    }
    stack_t own;
    own.ss_sp = memory;
    own.ss_size = kBytes;
    own.ss_flags = 0;
    sigaltstack(&own, nullptr);
  }
  ~HandlerStack() {
    if (!memory)
      return;
    // Somebody may have put a stack of their own in place of ours.
    stack_t current;
    if (sigaltstack(nullptr, &current) == 0 && current.ss_sp == memory)
      sigaltstack(&previous, nullptr);
    munmap(memory, kBytes);
  }
};
} // namespace

static void installFaultHandlers(struct sigaction *replaced, std::atomic<bool> *has) {
  struct sigaction action;
  std::memset(&action, 0, sizeof(action));
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction now;
    if (sigaction(kSignals[i], nullptr, &now) != 0 ||
        ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == onFault))
      continue;
    replaced[i] = now;
    if (has)
      has[i].store(true);
    sigaction(kSignals[i], &action, nullptr);
  }
}

static void installHandlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    installFaultHandlers(before, nullptr);
    struct sigaction action;
    std::memset(&action, 0, sizeof(action));
    action.sa_sigaction = onPreempt;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(kPreemptSignal, &action, &beforePreempt);
  });
  // Somebody may have replaced them, as Python's faulthandler.enable() does. Asking
  // the system at every launch would be dear; the clock's coarse tick, some
  // milliseconds, is not.
  static std::atomic<int64_t> lastTick{0};
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  const int64_t tick = int64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
  if (lastTick.load(std::memory_order_relaxed) == tick)
    return;
  static std::mutex lock;
  std::lock_guard<std::mutex> guard(lock);
  if (lastTick.exchange(tick, std::memory_order_relaxed) != 0)
    installFaultHandlers(since, hasSince);
}

/// Makes faults of this thread land in `landing`; null lets them pass.
static void catchFaults(FaultLanding *landing) {
  if (landing) {
    static thread_local HandlerStack stack;
    stack.ensure();
    installHandlers();
  }
  current = landing;
}

static FaultLanding *caughtBy() { return current; }

bool canPreempt() { return true; }
int preemptSignal() { return kPreemptSignal; }

#else

bool canPreempt() { return false; }
int preemptSignal() { return 0; }

static void catchFaults(FaultLanding *) {}
static FaultLanding *caughtBy() { return nullptr; }

#endif

void FaultLanding::preempt(PreemptRequest request) {
  if (!open.load(std::memory_order_acquire))
    return;
  requested.store(uint32_t(request), std::memory_order_release);
  pthread_kill(thread, preemptSignal());
}

FaultScope::FaultScope(FaultLanding &landing) : landing(landing), before(caughtBy()) {
  landing.running = nullptr;
  landing.reporting = false;
  landing.thread = pthread_self();
  landing.requested.store(0, std::memory_order_relaxed);
  landing.open.store(true, std::memory_order_release);
  catchFaults(&landing);
}

FaultScope::~FaultScope() {
  catchFaults(before);
  landing.open.store(false, std::memory_order_release);
}

} // namespace nereid::runtime
