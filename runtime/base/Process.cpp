// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/Process.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>

namespace nereid::runtime {

Status systemError(const std::string &what, int error) {
  return Status::error(StatusCode::SystemError, what + ": " + std::strerror(error));
}

/// Reads fields `first`.. of a stat file, counting from 1 as proc(5) does.
static bool readStat(const char *path, int first, int count, uint64_t *out) {
  FILE *file = std::fopen(path, "re");
  if (!file)
    return false;
  char text[1024];
  size_t n = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  text[n] = 0;
  // The command name is in parentheses and may hold anything.
  char *at = std::strrchr(text, ')');
  if (!at || at[1] == 0 || at[2] == 'Z' || at[2] == 'X')
    return false;
  ++at;
  for (int field = 3; field < first && at; ++field)
    at = std::strchr(at + 1, ' ');
  for (int i = 0; i < count; ++i) {
    if (!at)
      return false;
    out[i] = std::strtoull(at + 1, &at, 10);
  }
  return true;
}

uint64_t processStartTime(int32_t pid) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%d/stat", int(pid));
  uint64_t start = 0;
  return readStat(path, 22, 1, &start) ? start : 0;
}

uint64_t threadCpuTicks(int32_t pid, int32_t thread) {
  char path[96];
  std::snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", int(pid), int(thread));
  uint64_t times[2] = {0, 0};
  return readStat(path, 14, 2, times) ? times[0] + times[1] : 0;
}

uint64_t processCpuTicks(int32_t pid, char &state) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%d/stat", int(pid));
  state = 0;
  if (FILE *file = std::fopen(path, "re")) {
    char text[256];
    size_t n = std::fread(text, 1, sizeof(text) - 1, file);
    std::fclose(file);
    text[n] = 0;
    const char *at = std::strrchr(text, ')');
    state = at && at[1] ? at[2] : 0;
  }
  uint64_t times[2] = {0, 0};
  return readStat(path, 14, 2, times) ? times[0] + times[1] : 0;
}

std::string exitText(int waitStatus) {
  if (WIFSIGNALED(waitStatus)) {
    int sig = WTERMSIG(waitStatus);
    return "was killed by signal " + std::to_string(sig) + " (" + strsignal(sig) + ")";
  }
  return "exited with code " + std::to_string(WEXITSTATUS(waitStatus));
}

} // namespace nereid::runtime
