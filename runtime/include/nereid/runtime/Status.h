// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Status.h - What every call of the runtime returns --------*- C++ -*-===//
//
// A call either succeeds or says what went wrong as data (code, rank, program,
// source line, who waits for what) and as text. The runtime throws nothing.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_STATUS_H
#define NEREID_RUNTIME_STATUS_H

#include <array>
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nereid::runtime {

enum class StatusCode : uint32_t {
  Ok = 0,
  InvalidArgument, ///< a host call got arguments that cannot work
  Environment,     ///< rank or world size missing, malformed, contradictory
  Bootstrap,       ///< the ranks of the job did not find each other in time
  OutOfMemory,     ///< symmetric heap full, or the system gave no memory
  Mismatch,        ///< ranks made different collective calls
  BadRank,         ///< a program named a rank outside the job
  NotSymmetric,    ///< a program passed an address that is not symmetric
  AssertFailed,    ///< tl.device_assert
  BadAccess,       ///< misaligned signal, transfer that leaves the heap
  BarrierMismatch, ///< programs that cannot reach a barrier others wait at
  Deadlock,        ///< every program is blocked and nothing can change that
  Timeout,         ///< nothing moved for NEREID_TIMEOUT seconds
  RankDied,        ///< a rank's process died or left without finalizing
  RankFinalized,   ///< a rank finalized while others still wait for it
  RankRaised,      ///< a rank reported an exception of its host code
  Interrupted,     ///< the interrupt check said stop (Ctrl-C)
  SystemError,     ///< an operating system call failed
  KernelFault,     ///< wild access, division by zero, stack overflow
  Internal,        ///< a broken promise between compiler and runtime
};

/// Lower-case words for `code`, e.g. "not symmetric".
const char *statusCodeName(StatusCode code);

/// A place in the user's kernel. Lines and columns count from 1; 0 = unknown.
struct SourceSite {
  std::string file;
  int32_t line = 0;
  int32_t column = 0;
  std::string function;
  /// The text of that line, without its newline; may be empty.
  std::string text;

  bool known() const { return line > 0; }
  /// "file.py:12:5", or "<unknown>" when nothing is known.
  std::string str() const;
};

/// The source locations of one kernel; the `site` arguments of the entry
/// points in abi.h index it. An index outside the table means "unknown".
using SiteTable = std::vector<SourceSite>;

/// One group of programs that wait at the same place for the same thing,
/// as it was when the launch failed.
struct BlockedGroup {
  int32_t rank = 0;
  /// What they wait in: "wait", "signal_wait_until", "barrier_all",
  /// "spin loop", "host barrier", "host code", "finished".
  std::string kind;
  /// Program ids; all of them, in ascending order of the linear index.
  std::string programs;
  int64_t programCount = 0;
  /// The awaited address as "allocation + offset"; empty when there is none.
  std::string address;
  bool hasValues = false;
  int64_t currentValue = 0;
  int64_t awaitedValue = 0;
  /// "==", ">=" ...
  std::string comparison;
  /// Says more, e.g. that the signal has passed the awaited value.
  std::string note;
  SourceSite site;
};

/// Everything known about a failure.
struct FailureDetail {
  StatusCode code = StatusCode::Internal;
  /// One sentence, without position and without newline.
  std::string message;
  /// The rank at fault or that noticed it; -1 when not about one rank.
  int32_t rank = -1;
  /// The program at fault; -1 in [0] when not about one program.
  std::array<int32_t, 3> program{-1, -1, -1};
  std::string kernel;
  SourceSite site;
  /// Who waited for what, of all ranks that could still tell.
  std::vector<BlockedGroup> blocked;
};

/// Success, or a FailureDetail. Copying is cheap; success allocates nothing.
class [[nodiscard]] Status {
public:
  Status() = default;
  explicit Status(FailureDetail detail)
      : detail(std::make_shared<const FailureDetail>(std::move(detail))) {}
  static Status error(StatusCode code, std::string message, int32_t rank = -1);

  bool ok() const { return !detail; }
  explicit operator bool() const = delete;
  StatusCode code() const { return detail ? detail->code : StatusCode::Ok; }
  /// The one-sentence message; empty on success.
  const std::string &message() const;
  /// Only valid when !ok().
  const FailureDetail &failure() const {
    assert(detail && "a successful status has no failure");
    return *detail;
  }
  /// The whole story for a terminal: position, message, source line with
  /// caret, kernel, rank and program, then the table of blocked programs.
  std::string report() const;

private:
  std::shared_ptr<const FailureDetail> detail;
};

/// A value or the reason why there is none.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : content(std::move(value)) {}
  Expected(Status status) : failed(std::move(status)) {
    assert(!failed.ok() && "an Expected without value needs an error");
  }

  bool ok() const { return failed.ok(); }
  const Status &status() const { return failed; }
  T &operator*() {
    assert(ok());
    return content;
  }
  const T &operator*() const {
    assert(ok());
    return content;
  }
  T *operator->() { return &**this; }

private:
  T content{};
  Status failed;
};

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_STATUS_H
