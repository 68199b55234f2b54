// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Recorder.h - Writes what one rank does into the log ----------------===//
#ifndef NEREID_RUNTIME_CHECK_RECORDER_H
#define NEREID_RUNTIME_CHECK_RECORDER_H

#include "check/Log.h"
#include "nereid/runtime/Device.h"
#include "nereid/runtime/Job.h"

#include <mutex>
#include <unordered_map>

namespace nereid::runtime::check {

class Recorder final : public Observer {
public:
  /// For the rank of `job`, which must outlive it; the log is at `path`.
  static Expected<std::unique_ptr<Recorder>> make(Job &job, const std::string &path);
  ~Recorder() override;

  uint64_t before(const EventRecord &event, uint64_t tag) override;
  void after(const EventRecord &event, uint64_t tag) override;

private:
  Recorder(Job &job, std::unique_ptr<Log> log, int words)
      : job(job), rank(job.rank()), log(std::move(log)), words(words) {}
  /// Writes one line of words.
  void say(const std::string &line);
  void sayLaunch(const EventRecord &event, const LaunchSpec &spec);
  void sayAllocations(uint32_t launch);
  void sayPlace(const EventRecord &event);
  uint64_t beforeAtomic(const EventRecord &event);
  void endStep(const EventRecord &event);

  Job &job; ///< only while it makes calls
  const int32_t rank;
  const std::unique_ptr<Log> log;
  const int words; ///< a descriptor
  std::mutex lock; ///< guards what follows
  /// Kernels that have been described, by what was said of them, with their number there.
  std::unordered_map<std::string, std::string> kernels;
  std::string allocations; ///< as last said
};

} // namespace nereid::runtime::check

#endif // NEREID_RUNTIME_CHECK_RECORDER_H
