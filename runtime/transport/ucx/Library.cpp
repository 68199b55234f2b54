// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/ucx/Library.h"

#include "base/Knobs.h"

#include <cstdlib>
#include <dlfcn.h>
#include <string>

namespace nereid::runtime::ucx {

static constexpr unsigned kOldestMajor = 1, kOldestMinor = 12;

static Status missing(const std::string &text) {
  return Status::error(StatusCode::Environment,
                       "NEREID_TRANSPORT=ucx needs UCX " + std::to_string(kOldestMajor) + "." +
                           std::to_string(kOldestMinor) + " or later (Debian: libucx0): " + text);
}

static Expected<const Library *> load() {
  // Read when the library is loaded or makes its first context. Its handlers of faults
  // would take those of kernels away; its hooks in mmap and munmap are for memory that a
  // program may take away, which it never gets; its segments of 8 KB cost most of the
  // bandwidth.
  setenv("UCX_HANDLE_ERRORS", "none", /*overwrite=*/1);
  setenv("UCX_MEM_EVENTS", "n", 0);
  setenv("UCX_TCP_TX_SEG_SIZE", "256K", 0);
  setenv("UCX_TCP_RX_SEG_SIZE", "512K", 0);
  const std::string name = knobText("NEREID_UCX_LIBRARY");
  void *handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *why = dlerror();
    return missing(name + " cannot be loaded (" + (why ? why : "no reason given") + ")");
  }
  static Library library;
  std::string lacks;
#define NEREID_UCX_FUNCTION(NAME)                                                                  \
  library.NAME = reinterpret_cast<decltype(&::NAME)>(dlsym(handle, #NAME));                        \
  if (!library.NAME)                                                                               \
    lacks += std::string(lacks.empty() ? "" : ", ") + #NAME;
#include "transport/ucx/Functions.def"
#undef NEREID_UCX_FUNCTION
  unsigned major = 0, minor = 0, release = 0;
  if (library.ucp_get_version)
    library.ucp_get_version(&major, &minor, &release);
  if (major != kOldestMajor || minor < kOldestMinor || !lacks.empty())
    return missing(name + " is of version " + std::to_string(major) + "." + std::to_string(minor) +
                   (lacks.empty() ? "" : " and lacks " + lacks));
  return &library;
}

Expected<const Library *> Library::get() {
  static const Expected<const Library *> loaded = load();
  return loaded;
}

} // namespace nereid::runtime::ucx
